//! Tests of the merge operators.

use super::*;
use crate::layer::{Layer, defaults};
use crate::origin::LayerKind;
use crate::tree::to_table;
use proptest::prelude::*;

fn layer(kind: LayerKind, text: &str) -> Tree {
    let layer = Layer::from_toml(kind, &format!("{kind}.toml"), text).unwrap();
    assert_eq!(layer.problems(), [], "{text}");
    layer.tree
}

/// User and project file laid over the defaults.
fn merged(user: &str, project: &str) -> Result<toml::Table, MergeError> {
    let mut tree = defaults().tree;
    merge(&mut tree, layer(LayerKind::User, user), Narrowing::Refuse)?;
    merge(&mut tree, layer(LayerKind::Project, project), Narrowing::Refuse)?;
    Ok(to_table(&tree))
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn scalars_of_the_higher_layer_win_and_tables_keep_the_rest() {
    let table = merged("prefix = 'a-'\n[tmux]\nsocket = 'a'\n", "[tmux]\nuser_config = false\n").unwrap();
    assert_eq!(table["prefix"].as_str(), Some("a-"));
    assert_eq!(table["tmux"]["socket"].as_str(), Some("a"));
    assert_eq!(table["tmux"]["user_config"].as_bool(), Some(false));
    assert_eq!(table["tmux"]["primary_window_name"].as_str(), Some("agent"));
}

#[test]
fn registries_merge_entry_by_entry_then_field_by_field() {
    let table = merged(
        "[agent_types.a]\ncommand = 'x'\nparent_type = 'p'\n[agent_types.b]\ncommand = 'y'\n",
        "[agent_types.a]\ncommand = 'z'\n",
    )
    .unwrap();
    assert_eq!(table["agent_types"]["a"]["command"].as_str(), Some("z"));
    assert_eq!(table["agent_types"]["a"]["parent_type"].as_str(), Some("p"));
    assert_eq!(table["agent_types"]["b"]["command"].as_str(), Some("y"));
}

#[test]
fn assigning_fewer_entries_is_an_error_that_names_the_key_and_both_places() {
    let error = merged("unset_vars = ['HISTFILE']\n", "").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`unset_vars` at user.toml:1:1 drops 2 of the entries set at built-in defaults; \
         write `unset_vars__extend` to add to them or `unset_vars__assign` to replace them"
    );
    let error = merged("[commands.create]\nlabel = ['a=1', 'b=2']\n", "[commands.create]\nlabel = ['b=2']\n")
        .unwrap_err();
    assert!(matches!(error, MergeError::Narrowing { dropped: 1, .. }), "{error}");
}

#[test]
fn maps_are_guarded_by_their_names_and_by_the_lists_in_them() {
    let user = "[pre_command_scripts]\ncreate = ['a', 'b']\n";
    for project in ["[pre_command_scripts]\nlist = ['c']\n", "[pre_command_scripts]\ncreate = ['a']\n"] {
        assert!(matches!(merged(user, project), Err(MergeError::Narrowing { .. })), "{project}");
    }
    let table = merged(user, "[pre_command_scripts]\ncreate = ['b', 'a']\nlist = ['c']\n").unwrap();
    assert_eq!(strings(&table["pre_command_scripts"]["create"]), ["b", "a"]);
}

#[test]
fn an_assignment_that_keeps_every_entry_is_no_narrowing() {
    let table = merged("unset_vars = ['VIRTUAL_ENV', 'PROFILE', 'HISTFILE', 'X']\n", "").unwrap();
    assert_eq!(strings(&table["unset_vars"]), ["VIRTUAL_ENV", "PROFILE", "HISTFILE", "X"]);
}

#[test]
fn assign_replaces_and_extend_appends() {
    let table = merged("unset_vars__assign = ['A']\n", "unset_vars__extend = ['B']\n").unwrap();
    assert_eq!(strings(&table["unset_vars"]), ["A", "B"]);
}

#[test]
fn extending_a_map_keeps_and_grows_what_is_there() {
    let table = merged(
        "[pre_command_scripts]\ncreate = ['a']\n",
        "[pre_command_scripts__extend]\ncreate = ['b']\nlist = ['c']\n",
    )
    .unwrap();
    assert_eq!(strings(&table["pre_command_scripts"]["create"]), ["a", "b"]);
    assert_eq!(strings(&table["pre_command_scripts"]["list"]), ["c"]);
    let table = merged(
        "[agent_types.a.env]\nA = '1'\nB = '2'\n",
        "[agent_types.a]\nenv__extend = { B = '3', C = '4' }\n",
    )
    .unwrap();
    assert_eq!(table["agent_types"]["a"]["env"].to_string(), r#"{ A = "1", B = "3", C = "4" }"#);
}

#[test]
fn command_line_fragments_are_joined_and_words_are_appended() {
    let args = |user, project| {
        merged(&format!("[agent_types.a]\n{user}\n"), &format!("[agent_types.a]\n{project}\n"))
            .map(|table| table["agent_types"]["a"]["cli_args"].clone())
    };
    assert_eq!(args("cli_args = '-a'", "cli_args__extend = '-b \"c d\"'"), Ok("-a -b \"c d\"".into()));
    assert_eq!(strings(&args("cli_args = ['-a']", "cli_args__extend = ['-b']").unwrap()), ["-a", "-b"]);
    assert!(matches!(
        args("cli_args = ['-a']", "cli_args__extend = '-b'"),
        Err(MergeError::CannotExtend { .. })
    ));
}

#[test]
fn an_empty_string_clears_a_list_option() {
    let table = merged("[commands.create]\nlabel = ['a=1']\n", "[commands.create]\nlabel = ''\n").unwrap();
    assert_eq!(table["commands"]["create"]["label"].as_str(), Some(""));
}

#[test]
fn a_setting_inside_a_map_leaves_its_neighbours_alone() {
    let mut tree = defaults().tree;
    merge(&mut tree, layer(LayerKind::User, "[pre_command_scripts]\ncreate = ['a']\n"), Narrowing::Refuse)
        .unwrap();
    let settings = Layer::from_settings(&["pre_command_scripts.list=[\"b\"]"]).unwrap();
    merge(&mut tree, settings[0].tree.clone(), Narrowing::Refuse).unwrap();
    assert_eq!(to_table(&tree)["pre_command_scripts"].to_string(), r#"{ create = ["a"], list = ["b"] }"#);
}

#[test]
fn patches_accumulate_and_are_not_guarded() {
    let table = merged(
        "[agent_types.claude.settings_overrides]\na = { x = [1, 2], y = 1 }\n",
        "[agent_types.claude.settings_overrides]\na = { x = [3] }\nb = 1\n",
    )
    .unwrap();
    assert_eq!(
        table["agent_types"]["claude"]["settings_overrides"].to_string(),
        "{ a = { x = [3], y = 1 }, b = 1 }"
    );
}

#[test]
fn an_extended_list_remembers_everyone_who_contributed() {
    let mut tree = defaults().tree;
    merge(&mut tree, layer(LayerKind::User, "unset_vars__extend = ['A']\n"), Narrowing::Refuse).unwrap();
    let layers: Vec<_> = tree["unset_vars"].origins.iter().map(|origin| origin.layer).collect();
    assert_eq!(layers, [LayerKind::Default, LayerKind::User]);
}

/// Layers of plain assignments to scalars and registries, where only the highest word on each key counts.
fn plain_layer() -> impl Strategy<Value = String> {
    let line = (
        prop::sample::select(vec![
            "prefix",
            "tmux.socket",
            "agent_types.a.command",
            "agent_types.b.command",
            "commands.create.type",
            "plugins.p.x",
        ]),
        "[a-z]{1,3}",
    );
    prop::collection::btree_map(line.0, line.1, 0..6)
        .prop_map(|lines| lines.iter().map(|(key, value)| format!("{key} = '{value}'\n")).collect())
}

fn any_layer() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "unset_vars",
        "unset_vars__extend",
        "unset_vars__assign",
        "pre_command_scripts",
        "pre_command_scripts__extend",
        "commands.create.label",
        "commands.create.label__extend",
        "agent_types.a.cli_args__extend",
        "plugins.p.x",
        "plugins.p.x__extend",
        "tmux",
    ]);
    let value = prop::sample::select(vec![
        "'a'",
        "['a']",
        "['a', 'b']",
        "[]",
        "{ a = ['x'] }",
        "{ b = 1 }",
        "{ socket = 'x' }",
        "1",
        "true",
        "''",
    ]);
    prop::collection::btree_map(key, value, 0..4)
        .prop_map(|lines| lines.iter().map(|(key, value)| format!("{key} = {value}\n")).collect())
}

fn lenient(text: &str) -> Tree {
    Layer::from_toml(LayerKind::User, "f", text).map(|layer| layer.tree).unwrap_or_default()
}

proptest! {
    #[test]
    fn plain_layers_merge_the_same_from_either_end(a in plain_layer(), b in plain_layer(), c in plain_layer()) {
        let [a, b, c] = [a, b, c].map(|text| layer(LayerKind::User, &text));
        let over = |mut lower: Tree, upper: &Tree| {
            merge(&mut lower, upper.clone(), Narrowing::Refuse).unwrap();
            lower
        };
        let from_below = over(over(a.clone(), &b), &c);
        let from_above = over(a, &over(b, &c));
        prop_assert_eq!(to_table(&from_below), to_table(&from_above));
    }

    #[test]
    fn assign_always_wins_and_extend_always_concatenates(
        below in prop::collection::vec("[A-Z]{1,3}", 0..4),
        above in prop::collection::vec("[A-Z]{1,3}", 0..4),
    ) {
        let written = |key: &str, items: &[String]| format!("{key} = {items:?}\n");
        let user = written("unset_vars__assign", &below);
        let assigned = merged(&user, &written("unset_vars__assign", &above)).unwrap();
        prop_assert_eq!(strings(&assigned["unset_vars"]), above.iter().map(String::as_str).collect::<Vec<_>>());
        let extended = merged(&user, &written("unset_vars__extend", &above)).unwrap();
        let joined: Vec<_> = below.iter().chain(&above).map(String::as_str).collect();
        prop_assert_eq!(strings(&extended["unset_vars"]), joined);
    }

    #[test]
    fn a_plain_assignment_fails_exactly_when_it_drops_an_entry(
        below in prop::collection::vec("[AB]{1,2}", 0..4),
        above in prop::collection::vec("[AB]{1,2}", 0..4),
    ) {
        let user = format!("unset_vars__assign = {below:?}\n");
        let result = merged(&user, &format!("unset_vars = {above:?}\n"));
        prop_assert_eq!(result.is_ok(), below.iter().all(|item| above.contains(item)));
    }

    #[test]
    fn no_layers_panic(layers in prop::collection::vec(any_layer(), 0..4), lift in any::<bool>()) {
        let narrowing = if lift { Narrowing::Allow } else { Narrowing::Refuse };
        let mut tree = defaults().tree;
        for text in &layers {
            if merge(&mut tree, lenient(text), narrowing).is_err() {
                break;
            }
        }
    }
}
