//! Tests of editing a settings file.

use super::*;
use crate::keys::command::AnyOption;
use proptest::prelude::*;

fn editor(text: &str) -> Editor<'_> {
    Editor { file: "s.toml", text, options: &AnyOption }
}

fn key(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap()
}

fn set(text: &str, path: &str, value: &str) -> String {
    editor(text).set(&key(path), value).unwrap().text
}

fn extend(text: &str, path: &str, value: &str) -> String {
    editor(text).extend(&key(path), value).unwrap().text
}

#[test]
fn setting_keeps_comments_and_order() {
    let before = "# mine\npager = 'less' # why\n\n# server\n[tmux] # t\nsocket = 'a'\n";
    assert_eq!(
        set(before, "pager", "more"),
        "# mine\npager = \"more\" # why\n\n# server\n[tmux] # t\nsocket = 'a'\n"
    );
    assert_eq!(
        set(before, "tmux.user_config", "false"),
        "# mine\npager = 'less' # why\n\n# server\n[tmux] # t\nsocket = 'a'\nuser_config = false\n"
    );
}

#[test]
fn missing_tables_are_made_with_one_header() {
    assert_eq!(set("", "prefix", "x-"), "prefix = \"x-\"\n");
    assert_eq!(
        set("", "agent_types.\"my.type\".command", "x"),
        "[agent_types.\"my.type\"]\ncommand = \"x\"\n"
    );
}

#[test]
fn inline_and_dotted_tables_stay_what_they_are() {
    assert_eq!(
        set("tmux = { socket = 'a' }\n", "tmux.user_config", "true"),
        "tmux = { socket = 'a', user_config = true }\n"
    );
    let dotted = set("agent_types.a.command = 'x'\n", "agent_types.b.command", "y");
    assert_eq!(dotted, "agent_types.a.command = 'x'\nagent_types.b.command = \"y\"\n");
}

#[test]
fn the_spelling_in_the_file_is_kept() {
    assert_eq!(set("default-host-dir = '/a'\n", "default_host_dir", "/b"), "default-host-dir = \"/b\"\n");
    assert_eq!(set("", "default-host-dir", "/b"), "default_host_dir = \"/b\"\n");
    // Names of the user's are not keys of ours.
    assert_eq!(
        set("[agent_types.my-type]\n", "agent_types.my_type.command", "x"),
        "[agent_types.my-type]\n\n[agent_types.my_type]\ncommand = \"x\"\n"
    );
}

#[test]
fn a_key_is_never_left_twice() {
    assert_eq!(set("unset_vars__extend = ['A']\n", "unset_vars", "[\"B\"]"), "unset_vars = [\"B\"]\n");
    let assigned = editor("unset_vars = ['A']\n").assign(&key("unset_vars"), "[]").unwrap();
    assert_eq!(assigned.text, "unset_vars__assign = []\n");
    assert_eq!(set("", "unset_vars__extend", "[\"B\"]"), "unset_vars__extend = [\"B\"]\n");
}

#[test]
fn extending_appends_to_what_the_file_says() {
    assert_eq!(extend("", "unset_vars", "[\"A\"]"), "unset_vars__extend = [\"A\"]\n");
    assert_eq!(extend("unset_vars = ['A']\n", "unset_vars", "[\"B\"]"), "unset_vars = ['A', \"B\"]\n");
    assert_eq!(
        extend("unset_vars__extend = [\n  'A', # a\n  'B'\n]\n", "unset_vars", "[\"C\"]"),
        "unset_vars__extend = [\n  'A', # a\n  'B',\n  \"C\"\n]\n"
    );
    assert_eq!(
        extend(
            "[pre_command_scripts]\ncreate = ['a']\n",
            "pre_command_scripts",
            "{\"create\": [\"b\"], \"list\": [\"c\"]}"
        ),
        "[pre_command_scripts]\ncreate = ['a', \"b\"]\nlist = [\"c\"]\n"
    );
}

#[test]
fn what_cannot_grow_is_not_extended() {
    let scalar = editor("").extend(&key("prefix"), "x").unwrap_err();
    assert!(matches!(scalar, EditError::Invalid { fault: Fault::BadOperator { .. }, .. }), "{scalar}");
    let mixed =
        editor("[agent_types.a]\ncli_args = '-a'\n").extend(&key("agent_types.a.cli_args"), "[\"-b\"]");
    assert!(matches!(mixed, Err(EditError::InTheWay { .. })));
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    let error = editor("").set(&key("prefx"), "x").unwrap_err();
    assert_eq!(error.to_string(), "Unknown configuration fields: `prefx`, did you mean `prefix`?");
    assert!(matches!(editor("").set(&key("tmux.socket.x"), "1"), Err(EditError::Invalid { .. })));
}

#[test]
fn values_of_the_wrong_type_are_refused() {
    let error = editor("").set(&key("pager"), "5").unwrap_err();
    assert_eq!(error.to_string(), "`pager`: expected a string, found an integer");
    assert!(matches!(editor("").set(&key("prefix"), "5"), Err(EditError::Invalid { .. })));
    assert!(matches!(editor("").set(&key("pager"), "null"), Err(EditError::Value { .. })));
}

#[test]
fn options_of_verbs_are_checked_too() {
    struct Verbs;
    impl KnownOptions for Verbs {
        fn options(&self, _: &str) -> Option<Vec<String>> {
            Some(vec!["type".to_owned()])
        }
    }
    let editor = Editor { file: "s.toml", text: "", options: &Verbs };
    assert!(matches!(editor.set(&key("commands.create.typ"), "x"), Err(EditError::Unknown { .. })));
    assert!(editor.set(&key("commands.create.type"), "x").is_ok());
}

#[test]
fn unsetting_removes_every_spelling_and_nothing_else() {
    let unset = |text: &str, path: &str| editor(text).unset(&key(path)).map(|edited| edited.text);
    assert_eq!(
        unset("a-b = 1\nprefix = 'x' # c\npager = 'y'\n", "prefix").unwrap(),
        "a-b = 1\npager = 'y'\n"
    );
    assert_eq!(unset("[tmux]\nprimary-window-name = 'x'\n", "tmux.primary_window_name").unwrap(), "");
    assert_eq!(unset("unset_vars__extend = ['A']\n", "unset_vars").unwrap(), "");
    // A wrong key can be taken out of a file that is refused because of it.
    assert_eq!(unset("[tmux]\nnope = 1\n", "tmux.nope").unwrap(), "");
    assert_eq!(unset("prefix = 'x'\n", "pager").unwrap_err().to_string(), "Key not found: pager");
    assert!(matches!(unset("", "tmux.socket"), Err(EditError::KeyNotFound { .. })));
}

#[test]
fn a_broken_file_is_not_touched() {
    let error = editor("a = = 1\n").set(&key("prefix"), "x").unwrap_err();
    assert!(error.to_string().starts_with("s.toml:1:5: broken TOML"), "{error}");
}

#[test]
fn something_in_the_way_of_a_table_is_named() {
    let error = editor("tmux = 5\n").set(&key("tmux.socket"), "x").unwrap_err();
    assert_eq!(error.to_string(), "`tmux` in `s.toml` is not a table");
}

proptest! {
    #[test]
    fn any_text_is_read_back_as_it_was_set(text in "\\PC*|.*", name in ".+") {
        let path = KeyPath::from_segments(["agent_types", &name, "command"]);
        let json = serde_json::Value::from(text.as_str()).to_string();
        let edited = editor("# c\n[tmux]\nsocket = 'a'\n").set(&path, &json).unwrap();
        let layer = Layer::from_toml(LayerKind::User, "f", &edited.text).unwrap();
        prop_assert_eq!(layer.problems(), []);
        prop_assert_eq!(layer.get(&path).unwrap().value, Value::String(text));
        let removed = editor(&edited.text).unset(&path).unwrap();
        let layer = Layer::from_toml(LayerKind::User, "f", &removed.text).unwrap();
        prop_assert!(layer.get(&path).is_none());
    }

    #[test]
    fn extending_twice_is_extending_by_both(a in prop::collection::vec("[A-Z ]{1,3}", 1..3), b in prop::collection::vec("[A-Z ]{1,3}", 1..3)) {
        let json = |items: &[String]| serde_json::Value::from(items.to_vec()).to_string();
        let once = extend("", "unset_vars", &json(&a));
        let twice = extend(&once, "unset_vars", &json(&b));
        let both: Vec<_> = a.into_iter().chain(b).collect();
        let layer = Layer::from_toml(LayerKind::User, "f", &twice).unwrap();
        prop_assert_eq!(layer.leaves()[0].value.clone(), Value::from(both));
    }
}
