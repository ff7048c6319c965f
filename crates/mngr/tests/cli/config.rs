//! `config`: settings shown with their origin, changed without harm, repaired when broken.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::TestEnv;

use crate::support::*;

fn project_file(env: &TestEnv) -> PathBuf {
    env.work_dir().join(".mngr/settings.toml")
}

fn write_project(env: &TestEnv, text: &str) {
    fs::create_dir_all(env.work_dir().join(".mngr")).unwrap();
    fs::write(project_file(env), text).unwrap();
}

#[test]
fn a_set_value_is_read_back_with_its_origin() {
    let env = env_with_repo();
    let set = env.mngr(["config", "set", "prefix", "work-"]).success();
    assert!(set.stdout.starts_with("Set prefix = \"work-\" in project ("), "{set}");
    let get = env.mngr(["config", "get", "prefix"]).success();
    assert_eq!(get.stdout, "work-\n");
    assert!(get.stderr.contains(".mngr/settings.toml:1:1"), "{get}");
    let json = env.mngr(["config", "get", "prefix", "--format", "json"]).success().json();
    assert_eq!((&json["key"], &json["value"]), (&"prefix".into(), &"work-".into()));
    assert!(text(&json["origin"]).ends_with("settings.toml:1:1"), "{json}");
}

#[test]
fn higher_scopes_win_and_unset_brings_the_lower_one_back() {
    let env = env_with_repo();
    for (scope, value) in [("user", "u-"), ("project", "p-"), ("local", "l-")] {
        let _ = env.mngr(["config", "set", "prefix", value, "--scope", scope]).success();
        assert_eq!(env.mngr(["config", "get", "prefix"]).success().stdout, format!("{value}\n"));
    }
    assert_eq!(env.mngr(["config", "get", "prefix", "-S", "prefix=s-"]).success().stdout, "s-\n");
    let _ = env.mngr(["config", "unset", "prefix", "--scope", "local"]).success();
    assert_eq!(env.mngr(["config", "get", "prefix"]).success().stdout, "p-\n");
    let user = env.mngr(["config", "get", "prefix", "--scope", "user"]).success();
    assert_eq!(user.stdout, "u-\n");
}

#[test]
fn local_settings_do_not_make_the_repository_look_changed() {
    let env = env_with_repo();
    let _ = env.mngr(["config", "set", "prefix", "mine-", "--scope", "local"]).success();
    create(&env, "a", &["sleep", "1000"]);
    assert_eq!(names(&env), ["a"]);

    let own = env.work_dir().join(".mngr/.gitignore");
    fs::write(&own, "/keep-me\n").unwrap();
    let _ = env.mngr(["config", "set", "prefix", "other-", "--scope", "local"]).success();
    assert_eq!(fs::read_to_string(own).unwrap(), "/keep-me\n", "a file of the user's own is left alone");
}

#[test]
fn variables_are_a_layer_and_name_themselves() {
    let mut env = env();
    env.set_var("MNGR__TMUX__SOCKET", "mine");
    let get = env.mngr(["config", "get", "tmux.socket"]).success();
    assert_eq!(
        (get.stdout.as_str(), get.stderr.trim()),
        ("mine\n", "# environment variable `MNGR__TMUX__SOCKET`")
    );
}

#[test]
fn edits_keep_comments_and_order() {
    let env = env_with_repo();
    write_project(&env, "# mine\nprefix = 'a-' # why\n\n[tmux]\nsocket = 'x'\n");
    let _ = env.mngr(["config", "trust"]).success();
    let _ = env.mngr(["config", "set", "prefix", "b-"]).success();
    let _ = env.mngr(["config", "extend", "unset_vars", "[\"X\"]"]).success();
    let file = fs::read_to_string(project_file(&env)).unwrap();
    assert!(file.starts_with("# mine\nprefix = \"b-\" # why\n"), "{file}");
    assert!(file.contains("unset_vars__extend = [\"X\"]"), "{file}");
    let value = env.mngr(["config", "get", "unset_vars"]).success().stdout;
    assert_eq!(value, "[\"HISTFILE\",\"PROFILE\",\"VIRTUAL_ENV\",\"X\"]\n");
}

#[test]
fn a_missing_key_fails_and_says_what_was_meant() {
    let env = env();
    let missing = env.mngr(["config", "get", "prefx"]).code(1);
    assert!(missing.stderr.contains("Key not found: prefx"), "{missing}");
    assert!(missing.stderr.contains("did you mean `prefix`?"), "{missing}");
    let json = env.mngr(["config", "get", "prefx", "--format", "json"]).code(1).json();
    assert_eq!((&json["error"], &json["key"]), (&"Key not found: prefx".into(), &"prefx".into()));
    assert_eq!(env.mngr(["config", "unset", "prefix", "--scope", "user"]).code(1).stdout, "");
}

#[test]
fn wrong_keys_and_values_are_refused_before_anything_is_written() {
    let env = env_with_repo();
    let unknown = env.mngr(["config", "set", "tmux.sokcet", "x"]).code(1);
    assert!(unknown.stderr.contains("Unknown configuration fields"), "{unknown}");
    assert!(unknown.stderr.contains("did you mean `tmux.socket`?"), "{unknown}");
    let wrong = env.mngr(["config", "set", "headless", "5"]).code(1);
    assert!(wrong.stderr.contains("`headless`: expected a boolean, found an integer"), "{wrong}");
    let option = env.mngr(["config", "set", "commands.list.sortt", "name"]).code(1);
    assert!(option.stderr.contains("did you mean `commands.list.sort`?"), "{option}");
    assert!(!project_file(&env).exists());
}

#[test]
fn broken_settings_are_named_with_file_line_and_key_and_config_still_works() {
    let env = env_with_repo();
    let _ = env.mngr(["config", "path"]).success();
    let file = PathBuf::from(env.mngr(["config", "path", "--scope", "user"]).success().stdout.trim_end());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for (text, expected) in [
        ("prefix = \n", "settings.toml:1:10: broken TOML"),
        ("\nprefx = 'a-'\n", "settings.toml:2:1: `prefx`, did you mean `prefix`?"),
        ("headless = 'yes'\n", "settings.toml:1:1: `headless`: expected a boolean, found a string"),
        ("[commands.list]\nfeilds = 'a'\n", "did you mean `commands.list.fields`?"),
    ] {
        fs::write(&file, text).unwrap();
        let listing = env.mngr(["list"]).code(1);
        assert!(listing.stderr.contains(expected), "{listing}");
        let _ = env.mngr(["config", "path"]).success();
        let _ = env.mngr(["help"]).success();
    }
    let _ = env.mngr(["config", "unset", "commands.list.feilds", "--scope", "user"]).success();
    let _ = env.mngr(["list"]).success();
}

#[test]
fn an_edited_file_is_checked() {
    let mut env = env_with_repo();
    env.set_var("EDITOR", "printf 'prefix = 5\\n' >");
    let edited = env.mngr(["config", "edit"]).code(1);
    assert!(edited.stderr.contains("`prefix`: expected"), "{edited}");
    env.set_var("EDITOR", "printf '[commands.lst]\\nsort = \"name\"\\n' >");
    let edited = env.mngr(["config", "edit"]).code(1);
    assert!(
        edited.stderr.contains("did you mean `commands.list`?") && edited.stderr.contains("it is saved"),
        "{edited}"
    );
    env.set_var("EDITOR", "printf 'prefix = \"e-\"\\n' >");
    let _ = env.mngr(["config", "edit"]).success();
    assert_eq!(
        env.mngr(["config", "get", "prefix"]).success().stdout,
        "e-\n",
        "what the user edits is trusted"
    );
    let refused = env.mngr(["config", "edit", "--headless"]).code(1);
    assert!(refused.stderr.contains("headless"), "{refused}");
}

#[test]
fn outside_a_repository_there_is_only_the_user_scope() {
    let env = env();
    let refused = env.mngr(["config", "set", "prefix", "x-"]).code(1);
    assert!(refused.stderr.contains("`--scope user`"), "{refused}");
    let paths = env.mngr(["config", "path", "--format", "json"]).success().json();
    assert!(paths["paths"][1]["error"].is_string(), "{paths}");
}

#[test]
fn list_shows_scopes_and_formats() {
    let env = env_with_repo();
    let _ = env.mngr(["config", "set", "commands.list.limit", "3"]).success();
    let merged = env.mngr(["config", "list"]).success().stdout;
    assert!(merged.starts_with("Merged configuration (all scopes):\n"), "{merged}");
    assert!(merged.contains("  commands.list.limit = 3  # "), "{merged}");
    let project = env.mngr(["config", "list", "--scope", "project"]).success().stdout;
    assert!(project.starts_with("Config from project ("), "{project}");
    let json = env.mngr(["config", "list", "--scope", "project", "--format", "json"]).success().json();
    assert_eq!(json["config"]["commands"]["list"]["limit"], 3);
    assert_eq!(json["scope"], "project");
    assert!(text(&json["path"]).ends_with("/.mngr/settings.toml"), "{json}");
    let lines = env.mngr(["config", "list", "--format", "{key}={value} {scope}"]).success().stdout;
    assert!(lines.contains("commands.list.limit=3 project\n"), "{lines}");
    let schema = env.mngr(["config", "list", "--schema", "--format", "json"]).success().json();
    assert!(schema["schema"].as_array().unwrap().iter().any(|entry| entry["key"] == "tmux.socket"));
}

#[test]
fn twenty_changes_at_once_are_all_kept() {
    let env = env_with_repo();
    let running: Vec<_> = (0..20)
        .map(|n| env.spawn(["config", "set", &format!("agent_types.t{n}.command"), &format!("run {n}")]))
        .collect();
    for running in running {
        let _ = running.finish().success();
    }
    let json = env.mngr(["config", "list", "--scope", "project", "--format", "json"]).success().json();
    assert_eq!(json["config"]["agent_types"].as_object().unwrap().len(), 20);
}

#[test]
fn hostile_values_are_carried_verbatim_and_shown_harmless() {
    let env = env_with_repo();
    let value = "a\u{1b}[31m$(id)`id`'\"\\\n";
    let set = env.mngr(["config", "set", "connect_command", value]).success();
    assert!(!set.stdout.contains('\u{1b}'), "{set}");
    let listing = env.mngr(["config", "list"]).success();
    assert!(!listing.stdout.contains('\u{1b}'), "{listing}");
    let json = env.mngr(["config", "get", "connect_command", "--format", "json"]).success().json();
    assert_eq!(json["value"], value);
}
