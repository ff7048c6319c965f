//! `[commands.<verb>]` and `[create_templates.<name>]`: options that the settings give.

use mngr_testkit::TestEnv;

use crate::support::*;

fn set(env: &TestEnv, key: &str, value: &str) {
    let _ = env.mngr(["config", "set", key, value, "--scope", "user"]).success();
}

#[test]
fn a_configured_option_counts_until_it_is_typed() {
    let env = env();
    set(&env, "commands.list.format", "json");
    assert!(env.mngr(["ls"]).success().json()["agents"].is_array());
    assert_eq!(env.mngr(["list", "--format", "human"]).success().stdout, "No agents found\n");
}

#[test]
fn a_configured_value_that_is_wrong_is_named_with_its_origin() {
    let env = env();
    set(&env, "commands.list.limit", "many");
    let wrong = env.mngr(["list"]).code(2);
    assert!(wrong.stderr.contains("Invalid value for `--limit`"), "{wrong}");
    assert!(
        wrong.stderr.contains("`commands.list.limit` is set in ")
            && wrong.stderr.contains("settings.toml:2:1"),
        "{wrong}"
    );
}

#[test]
fn a_typed_option_beats_a_configured_rival() {
    let env = env();
    set(&env, "commands.list.ids", "true");
    assert_eq!(env.mngr(["list", "--fields", "name"]).success().stdout, "No agents found\n");
}

/// Runs one command line with some options of `create` in the settings, and then without them.
#[track_caller]
fn create_with(env: &TestEnv, settings: &[(&str, &str)], words: &str) {
    for (option, value) in settings {
        set(env, &format!("commands.create.{option}"), value);
    }
    let _ = env.mngr(words.split(' ')).success();
    for (option, _) in settings {
        let _ =
            env.mngr(["config", "unset", &format!("commands.create.{option}"), "--scope", "user"]).success();
    }
}

#[test]
fn what_is_typed_wins_over_settings_of_create() {
    let env = env_with_repo();
    let run = "--no-connect -- sleep 1000";
    create_with(&env, &[("type", "claude")], &format!("create a command {run}"));
    create_with(&env, &[("type", "claude")], &format!("create b {run}"));
    assert_eq!(
        (&agent(&env, "a")["type"], &agent(&env, "b")["type"]),
        (&"command".into(), &"command".into())
    );
    let other = env.work_dir().parent().unwrap().join("other");
    let words = format!("create c:{} {run}", other.display());
    create_with(&env, &[("target_path", "/nowhere")], &words);
    assert_eq!(agent(&env, "c")["work_dir"], other.to_str().unwrap());
    create_with(&env, &[("pool", "lab")], &format!("create d@localhost {run}"));
    create_with(&env, &[("provider", "docker")], &format!("create e@localhost.local {run}"));
    create_with(&env, &[("provider", "docker"), ("new_host", "true")], &format!("create f@.local {run}"));
    let of_hosts = [("memory", "4g"), ("idle_timeout", "5m"), ("host_label", "[\"a=b\"]")];
    create_with(&env, &of_hosts, &format!("create g {run}"));
    let of_terminals = [("connect_command", "true"), ("connect", "true"), ("reuse", "true")];
    create_with(&env, &of_terminals, "create --type headless_command --foreground -- true");
    let file = [("message_file", "/nowhere")];
    create_with(&env, &file, &format!("create h --message hello {run}"));
}

#[test]
fn a_template_gives_way_to_what_is_typed() {
    let env = env_with_repo();
    set(&env, "create_templates.here.transfer", "none");
    let create = "create a -t here --branch :work/a --no-connect --format json -- sleep 1000";
    let made = env.mngr(create.split(' ')).success().json();
    assert_eq!(made["branch"], "work/a");
}

#[test]
fn what_is_typed_wins_over_settings_of_other_verbs() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    set(&env, "commands.list.addrs", "true");
    assert!(env.mngr(["ls", "--ids"]).success().stdout.starts_with("agent-"));
    set(&env, "commands.list.watch", "true");
    assert!(env.mngr(["list", "--format", "json"]).success().json()["agents"].is_array());
    set(&env, "commands.event.tail", "3");
    let _ = env.mngr(["event", "a", "--head", "2"]).success();
}

#[test]
fn templates_stack_between_settings_and_typed_words() {
    let env = env_with_repo();
    set(&env, "commands.create.type", "command");
    set(&env, "commands.create.connect", "false");
    set(&env, "commands.create.label", "[\"from=config\", \"a=1\"]");
    set(&env, "create_templates.one.label", "[\"from=one\", \"b=1\"]");
    set(&env, "create_templates.two.label", "[\"from=two\", \"c=1\"]");
    let _ = env
        .mngr(["create", "x", "-t", "one", "-t", "two", "--label", "d=1", "--", "sleep", "1000"])
        .success();
    let labels = agent(&env, "x")["labels"].clone();
    for (key, value) in [("from", "two"), ("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")] {
        assert_eq!(labels[key], value, "{labels}");
    }
    for (verb, name) in [("clone", "y"), ("migrate", "z")] {
        let _ = env.mngr(["stop", "x"]).success();
        set(&env, "create_templates.one.label", &format!("[\"by={verb}\"]"));
        let _ = env.mngr([verb, "x", name, "-t", "one", "--no-connect"]).success();
        assert_eq!(agent(&env, name)["labels"]["by"], verb);
    }
}

#[test]
fn an_unknown_template_lists_the_known_ones() {
    let env = env_with_repo();
    set(&env, "create_templates.quick.type", "command");
    let wrong = env.mngr(["create", "x", "-t", "quik"]).code(2);
    assert!(
        wrong.stderr.contains("template `quik` not found") && wrong.stderr.contains("there are: quick"),
        "{wrong}"
    );
}

#[test]
fn templates_of_two_types_need_a_choice() {
    let env = env_with_repo();
    set(&env, "create_templates.one.type", "command");
    set(&env, "create_templates.two.type", "scripted");
    let wrong = env.mngr(["create", "x", "-t", "one", "-t", "two", "--no-connect"]).code(2);
    assert!(wrong.stderr.contains("name different agent types"), "{wrong}");
}

#[test]
fn bare_mngr_may_have_a_default() {
    let env = env();
    set(&env, "commands.mngr.default_subcommand", "list");
    let bare: [&str; 0] = [];
    assert_eq!(env.mngr(bare).success().stdout, "No agents found\n");
}

#[test]
fn scripts_run_before_their_command_and_a_failure_stops_it() {
    let env = env_with_repo();
    let set = |value: &str| {
        let key = "pre_command_scripts.file_list";
        let _ = env.mngr(["config", "set", key, value, "--scope", "user"]).success();
    };
    create(&env, "a", &["sleep", "1000"]);
    set(r#"["touch one", "touch two"]"#);
    let _ = env.mngr(["list"]).success();
    assert!(!env.work_dir().join("one").exists(), "it belongs to another command");
    let _ = env.mngr(["file", "list", "a"]).success();
    assert!(env.work_dir().join("one").exists() && env.work_dir().join("two").exists());
    set(r#"["echo no such luck >&2; exit 3"]"#);
    let stopped = env.mngr(["file", "list", "a"]).code(1);
    assert!(stopped.stderr.contains("no such luck\n") && stopped.stderr.contains("exit code 3"), "{stopped}");
    assert_eq!(stopped.stdout, "");
}

#[test]
fn a_template_may_bring_settings_but_no_defaults_of_commands() {
    let env = env_with_repo();
    let set =
        |value: &str| env.mngr(["config", "set", "create_templates.t.setting", value, "--scope", "user"]);
    let _ = set(r#"["prefix=other-"]"#).success();
    let _ = env.mngr(["create", "a", "--template", "t", "--no-connect", "--", "sleep", "1000"]).success();
    assert!(env.tmux(["list-sessions"]).success().stdout.starts_with("other-a:"));
    let refused = set(r#"["commands.list.sort=name"]"#).code(1);
    assert!(refused.stderr.contains("cannot set anything under `commands`"), "{refused}");
}
