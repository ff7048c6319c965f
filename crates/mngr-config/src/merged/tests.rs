//! Tests of the merged settings.

use super::*;
use crate::key::KeyPath;
use crate::origin::LayerKind;

fn file(kind: LayerKind, text: &str) -> Layer {
    Layer::from_toml(kind, &format!("{kind}.toml"), text).unwrap()
}

fn build(layers: &[Layer]) -> Result<Merged, ConfigError> {
    Merged::build(layers, &BuildOptions::default())
}

fn key(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap()
}

struct Verbs;

impl KnownOptions for Verbs {
    fn options(&self, verb: &str) -> Option<Vec<String>> {
        (verb == "create").then(|| vec!["type".to_owned(), "label".to_owned()])
    }
}

#[test]
fn the_defaults_alone_are_complete_settings() {
    let merged = build(&[]).unwrap();
    let settings = merged.settings();
    assert_eq!(settings.prefix.as_str(), "mngr-");
    assert_eq!(settings.unset_vars, ["HISTFILE", "PROFILE", "VIRTUAL_ENV"]);
    assert_eq!(settings.retry.connect_retry_delay.get().as_secs(), 5);
    assert_eq!(settings.trash.max_age_days, 30.0);
    assert!(settings.tmux.user_config);
    assert!(settings.connect_command.is_none());
}

#[test]
fn layers_act_by_precedence_whatever_order_they_come_in() {
    let mut layers = vec![
        file(LayerKind::Local, "prefix = 'local'\n"),
        file(LayerKind::User, "prefix = 'user'\n"),
        file(LayerKind::Project, "prefix = 'project'\n"),
    ];
    assert_eq!(build(&layers).unwrap().settings().prefix.as_str(), "local");
    layers.extend(Layer::from_env([("MNGR_PREFIX", "env")]).unwrap());
    assert_eq!(build(&layers).unwrap().settings().prefix.as_str(), "env");
    layers.extend(Layer::from_settings(&["prefix=first", "prefix=last"]).unwrap());
    assert_eq!(build(&layers).unwrap().settings().prefix.as_str(), "last");
}

#[test]
fn each_value_says_where_it_was_set() {
    let merged = build(&[file(LayerKind::User, "\n[tmux]\nsocket = 'x'\n")]).unwrap();
    let (value, origin) = merged.get(&key("tmux.socket")).unwrap();
    assert_eq!((value.as_str(), origin.to_string().as_str()), (Some("x"), "user.toml:3:1"));
    assert_eq!(merged.get(&key("tmux.user-config")).unwrap().1.layer, LayerKind::Default);
    assert!(merged.get(&key("tmux.nope")).is_none());
    assert!(merged.get(&key("prefix.below")).is_none());
}

#[test]
fn quoted_names_are_found() {
    let merged = build(&[file(LayerKind::User, "[agent_types.\"my.type\"]\ncommand = 'x'\n")]).unwrap();
    assert_eq!(merged.get(&key("agent_types.\"my.type\".command")).unwrap().0.as_str(), Some("x"));
}

#[test]
fn all_problems_of_all_layers_are_reported_at_once() {
    let error = build(&[
        file(LayerKind::User, "prefx = 'a'\npager = 5\n"),
        file(LayerKind::Local, "[tmux]\nsoket = ''\n"),
    ])
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unknown configuration fields:\n  \
           user.toml:1:1: `prefx`, did you mean `prefix`?\n  \
           local.toml:2:1: `tmux.soket`, did you mean `tmux.socket`?\n\
         invalid configuration:\n  \
           user.toml:2:1: `pager`: expected a string, found an integer"
    );
}

#[test]
fn options_are_checked_with_the_verbs() {
    let options = BuildOptions { options: &Verbs, ..BuildOptions::default() };
    let build = |text: &str| Merged::build(&[file(LayerKind::User, text)], &options);
    let error = build("[commands.create]\ntyp = 'x'\n").unwrap_err().to_string();
    assert!(
        error.ends_with("user.toml:2:1: `commands.create.typ`, did you mean `commands.create.type`?"),
        "{error}"
    );
    assert!(build("[create_templates.a]\nnope = 'x'\n").is_err());
    let fine = "[commands.create]\ntype = 'x'\ndefault_subcommand = 'x'\n[commands.later]\nx = 1\n[create_templates.a]\nlabel = ['a']\nsetting = []\nmodel = 'm'\n";
    assert_eq!(
        build(fine).unwrap().settings().command_default("create", "type").and_then(Value::as_str),
        Some("x")
    );
}

#[test]
fn forgiven_unknown_keys_are_left_out_and_reported() {
    let options = BuildOptions { unknown: Unknown::Warn, options: &Verbs, ..BuildOptions::default() };
    let layer = file(LayerKind::User, "prefx = 'a'\n[commands.create]\nnope = 1\ntype = 'x'\n");
    let merged = Merged::build(&[layer], &options).unwrap();
    assert_eq!(merged.warnings().len(), 2);
    assert!(merged.get(&key("commands.create.nope")).is_none());
    assert!(merged.get(&key("commands.create.type")).is_some());
    let wrong_type = file(LayerKind::User, "prefx = 'a'\npager = 5\n");
    assert!(Merged::build(&[wrong_type], &options).is_err());
}

#[test]
fn a_layer_may_lift_the_narrowing_guard_for_all() {
    let narrow = file(LayerKind::Project, "unset_vars = []\n");
    assert!(matches!(build(std::slice::from_ref(&narrow)), Err(ConfigError::Merge(_))));
    let lift = file(LayerKind::User, "allow_settings_key_assignment_narrowing = true\n");
    assert!(build(&[narrow.clone(), lift.clone()]).unwrap().settings().unset_vars.is_empty());
    let lower = file(LayerKind::Local, "allow_settings_key_assignment_narrowing = false\n");
    assert!(build(&[narrow.clone(), lift, lower]).is_err());
    let repair = BuildOptions { narrowing: Narrowing::Allow, ..BuildOptions::default() };
    assert!(Merged::build(&[narrow], &repair).is_ok());
}

#[test]
fn another_root_name_has_its_own_defaults() {
    let options = BuildOptions { root_name: "acme", ..BuildOptions::default() };
    let merged = Merged::build(&[], &options).unwrap();
    assert_eq!(merged.settings().prefix.as_str(), "acme-");
    assert_eq!(merged.settings().default_host_dir, "~/.acme");
}

#[test]
fn switched_off_plugins_are_listed() {
    let merged =
        build(&[file(LayerKind::User, "[plugins.a]\nenabled = false\n[plugins.b]\nx = 1\n")]).unwrap();
    assert_eq!(merged.settings().disabled_plugins().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn values_do_not_show_in_debug_output() {
    let text = "[agent_types.a]\ncli_args = '--key hunter2'\n[agent_types.a.env]\nTOKEN = 'hunter2'\n\
                [commands.create]\nenv = ['TOKEN=hunter2']\n[plugins.p]\ntoken = 'hunter2'\n";
    let layer = file(LayerKind::User, text);
    let merged = build(std::slice::from_ref(&layer)).unwrap();
    let settings = merged.settings();
    let shown =
        format!("{layer:?} {:?} {merged:?} {:?} {:?}", layer.leaves(), settings, settings.agent_types);
    assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
}
