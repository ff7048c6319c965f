//! Tests of reading layers.

use super::*;
use proptest::prelude::*;

fn file(text: &str) -> Layer {
    Layer::from_toml(LayerKind::User, "/s.toml", text).unwrap()
}

fn problems(text: &str) -> Vec<String> {
    file(text).problems().iter().map(ToString::to_string).collect()
}

fn setting(text: &str) -> Layer {
    Layer::from_settings(&[text]).unwrap().remove(0)
}

#[test]
fn the_shipped_defaults_are_read_without_problems() {
    let layer = Layer::from_toml(LayerKind::Default, "defaults.toml", DEFAULTS_TOML).unwrap();
    assert_eq!(layer.problems(), []);
    assert_eq!(defaults().problems(), []);
    assert!(!defaults().is_empty());
}

#[test]
fn every_key_knows_its_line() {
    let leaf = file("\n[tmux]\nsocket = 'x'\n").get(&KeyPath::parse("tmux.socket").unwrap()).unwrap();
    assert_eq!((leaf.origins[0].file(), leaf.origins[0].line()), (Some("/s.toml"), Some(3)));
}

#[test]
fn broken_toml_says_where_and_shows_the_line() {
    let error = Layer::from_toml(LayerKind::User, "/s.toml", "a = 1\nb = = 2\n").unwrap_err();
    assert!(matches!(error, LayerError::Syntax { line: 2, column: 5, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("/s.toml:2:5: broken TOML: "), "{text}");
    assert!(text.contains("2 | b = = 2"), "{text}");
}

#[test]
fn a_broken_file_cannot_write_escapes_to_the_terminal() {
    let error = Layer::from_toml(LayerKind::Project, "/s.toml", "a = \u{1b}[2J\n").unwrap_err();
    assert!(!error.to_string().contains('\u{1b}'));
}

#[test]
fn unknown_keys_get_a_place_and_a_suggestion() {
    assert_eq!(
        problems("prefx = 'a'\n[tmux]\nsoket = ''\n[agent_types.x]\n comand = 'a'\n[zzz]\nq = 1\n"),
        [
            "/s.toml:5:2: `agent_types.x.comand`, did you mean `agent_types.x.command`?",
            "/s.toml:1:1: `prefx`, did you mean `prefix`?",
            "/s.toml:3:1: `tmux.soket`, did you mean `tmux.socket`?",
            "/s.toml:6:2: `zzz`",
        ]
    );
}

#[test]
fn wrong_types_say_what_was_expected_and_found() {
    assert_eq!(
        problems("prefix = 5\ntmux = 1\n[logging]\nfile_level = 'debug'\n[unset_vars]\na = 1\n"),
        [
            "/s.toml:4:1: `logging.file_level`: expected one of `TRACE`, `DEBUG`, `BUILD`, `INFO`, `WARN`, `ERROR`, `NONE`: found `debug`",
            "/s.toml:1:1: `prefix`: expected a name of letters, digits, `_` and `-`, found an integer",
            "/s.toml:2:1: `tmux`: expected a table, found an integer",
            "/s.toml:5:2: `unset_vars`: expected a list of strings, found a table",
        ]
    );
}

#[test]
fn a_wrong_value_is_not_repeated_in_the_message() {
    let text = problems("[agent_types.x.env]\nTOKEN = ['secret']\n").concat();
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn hyphens_become_underscores_in_keys_but_not_in_names() {
    let layer = file(
        "[agent-types.my-type]\ncli-args = ['a']\n[agent-types.my-type.env]\nA-B = '1'\n[commands.snapshot-create]\non-error = 'x'\n",
    );
    let keys: Vec<_> = layer.leaves().into_iter().map(|leaf| leaf.key.to_string()).collect();
    assert_eq!(
        keys,
        ["agent_types.my-type.cli_args", "agent_types.my-type.env.A-B", "commands.snapshot_create.on_error"]
    );
}

#[test]
fn a_key_said_twice_in_one_file_is_a_mistake() {
    assert_eq!(problems("unset_vars = ['A']\nunset_vars__extend = ['B']\n").len(), 1);
    assert_eq!(problems("default-host-dir = 'a'\ndefault_host_dir = 'b'\n").len(), 1);
}

#[test]
fn operators_only_stand_where_they_mean_something() {
    assert_eq!(
        problems("prefix__extend = 'a'\n"),
        ["/s.toml:1:1: `prefix`: `__extend` does not apply to a name of letters, digits, `_` and `-`"]
    );
    assert_eq!(problems("[tmux__assign]\nsocket = ''\n").len(), 1);
    assert_eq!(problems("[commands.create]\nlabel__extend = ['a']\nreuse__extend = true\n").len(), 1);
    assert_eq!(problems("[pre_command_scripts]\ncreate__extend = ['a']\n"), [""; 0]);
    // Names of environment variables are the user's.
    assert_eq!(
        file("[agent_types.x.env]\nA__extend = '1'\n").leaves()[0].key.to_string(),
        "agent_types.x.env.A__extend"
    );
}

#[test]
fn patches_of_other_programs_have_no_operators() {
    assert_eq!(problems("[agent_types.claude.settings_overrides]\nhooks = { a = [1] }\n"), [""; 0]);
    assert_eq!(problems("[agent_types.claude.settings_overrides.hooks]\na__extend = [1]\n").len(), 1);
}

#[test]
fn only_backends_that_are_not_here_keep_unknown_keys() {
    assert_eq!(
        problems("[providers.modal]\napp_name = 'x'\n[providers.big]\nbackend = 'modal'\ngpu = 1\n"),
        [""; 0]
    );
    assert_eq!(problems("[providers.docker]\napp_name = 'x'\n").len(), 1);
    assert_eq!(
        problems("[providers.box]\nbackend = 'ssh'\n[providers.box.hosts.a]\naddres = 'x'\n").len(),
        1
    );
}

#[test]
fn plugins_and_commands_keep_what_only_others_know() {
    assert_eq!(
        problems("[plugins.x]\nenabled = true\nanything = { a = 1 }\n[commands.create]\nwhatever = 1\n"),
        [""; 0]
    );
    assert_eq!(problems("[plugins.x]\nenabled = 'yes'\n").len(), 1);
}

#[test]
fn numbers_beyond_the_settings_range_are_refused() {
    let error = Layer::from_toml(LayerKind::User, "/s.toml", "a = 99999999999999999999\n").unwrap_err();
    assert!(matches!(error, LayerError::Number { line: 1, column: 5, .. }), "{error:?}");
}

#[test]
fn settings_are_split_at_the_first_equals_sign_outside_quotes() {
    let layer = setting("agent_types.\"a=b\".command=x=y");
    assert_eq!(layer.leaves()[0].key.to_string(), "agent_types.\"a=b\".command");
    assert_eq!(layer.leaves()[0].value, Value::String("x=y".into()));
    assert!(matches!(Layer::from_settings(&["prefix"]), Err(LayerError::NotAnAssignment { .. })));
    assert!(matches!(Layer::from_settings(&["=x"]), Err(LayerError::Key(_))));
}

#[test]
fn the_narrowing_guard_cannot_be_lifted_by_an_option() {
    let layer = setting("allow-settings-key-assignment-narrowing=true");
    assert!(layer.leaves().is_empty());
    assert!(matches!(layer.problems()[0].fault, Fault::NotHere));
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*") {
        let _ = Layer::from_toml(LayerKind::Project, "f", &text);
        let _ = Layer::from_settings(&[&text]);
    }

    #[test]
    fn whatever_a_key_holds_is_taken_or_reported(
        key in prop::sample::select(vec!["prefix", "tmux", "tmux.socket", "agent_types.x", "agent_types.x.env",
            "commands.create", "create_templates.x", "pre_command_scripts", "providers.x.hosts", "unset_vars__extend"]),
        value in prop::sample::select(vec!["1", "-1.5", "nan", "'x'", "[]", "[[1]]", "{}", "{a=1}", "{a={b=[]}}", "1979-05-27"]),
    ) {
        let layer = Layer::from_toml(LayerKind::User, "f", &format!("{key} = {value}\n")).unwrap();
        match layer.problems() {
            [] => prop_assert_eq!(layer.leaves().len(), 1),
            problems => prop_assert_eq!(problems.len(), 1),
        }
    }
}
