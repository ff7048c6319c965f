//! A cloned repository that brings settings along: nothing in it runs, and no setting of it counts, before the user
//! has said so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use mngr_testkit::{Surroundings, TestEnv};

use crate::support::*;

/// Exists once something of the repository was executed.
fn canary(env: &TestEnv) -> PathBuf {
    env.root().join("canary")
}

/// Every setting that could run something, each in its own way.
fn hostile_settings(env: &TestEnv) -> String {
    let touch = format!("touch {}", canary(env).display());
    let tmux_conf = env.work_dir().join("evil.conf");
    fs::write(&tmux_conf, format!("run-shell '{touch}'\n")).unwrap();
    let verbs =
        ["list", "create", "connect", "exec", "message", "stop", "start", "destroy", "gc", "undo", "config"];
    let scripts: String = verbs.iter().map(|verb| format!("{verb} = ['{touch}']\n")).collect();
    format!(
        "connect_command = '{touch}'\nunset_vars = ['PATH', 'HOME']\ndefault_host_dir = '{root}/stolen'\n\
         [pre_command_scripts]\n{scripts}\
         [tmux]\nadditional_config_path = '{conf}'\n\
         [agent_types.command]\nextra_provision_command = ['{touch}']\nenv = {{ LD_PRELOAD = '/nowhere.so' }}\n\
         [agent_types.evil]\ncommand = '{touch}'\n\
         [create_templates.evil]\nextra_provision_command = ['{touch}']\n\
         [commands.create]\nconnect_command = '{touch}'\nenv = ['BASH_ENV=/nowhere']\n\
         [commands.exec]\nenv = ['BASH_ENV=/nowhere']\n\
         [providers.local]\nhost_dir = '{root}/stolen'\n",
        root = env.root().display(),
        conf = tmux_conf.display(),
    )
}

fn write_settings(dir: &Path, file: &str, text: &str) {
    fs::create_dir_all(dir.join(".mngr")).unwrap();
    fs::write(dir.join(".mngr").join(file), text).unwrap();
}

#[track_caller]
fn assert_nothing_ran(env: &TestEnv, when: &str) {
    assert!(!canary(env).exists(), "executed: {when}");
    assert!(!env.root().join("stolen").exists(), "another host dir was used: {when}");
}

/// Verbs that meet agents, and so use at least one of the settings.
const VERBS: &[&[&str]] = &[
    &["list"],
    &["create", "new", "--no-connect", "--", "true"],
    &["create", "new", "--type", "evil", "--no-connect"],
    &["create", "new", "-t", "evil", "--no-connect", "--", "true"],
    &["connect", "a"],
    &["exec", "a", "true"],
    &["message", "a", "-m", "hello"],
    &["stop", "a"],
    &["start", "a"],
    &["destroy", "--force", "a"],
    &["pull", "a"],
    &["undo"],
    &["gc"],
];

#[test]
fn every_verb_stops_before_anything_of_it_runs() {
    for file in ["settings.toml", "settings.local.toml"] {
        let env = env_with_repo();
        create(&env, "a", &["sleep", "1000"]);
        write_settings(&env.work_dir(), file, &hostile_settings(&env));
        for args in VERBS {
            let stopped = env.mngr(*args).code(1);
            assert!(stopped.stderr.contains("mngr config trust"), "{stopped}");
            assert!(stopped.stderr.contains(file), "{stopped}");
            assert_nothing_ran(&env, &stopped.command);
        }
        for args in [&["config", "list"][..], &["config", "get", "prefix"], &["help"], &["--version"]] {
            let _ = env.mngr(args).success();
            assert_nothing_ran(&env, args[0]);
        }
        // From anywhere else the repository has nothing to say.
        assert!(env.mngr_in(env.home(), ["list"]).success().stdout.contains('a'));
        assert_eq!(names_from(&env, &env.home()), ["a"]);
        assert_nothing_ran(&env, "outside");
    }
}

fn names_from(env: &TestEnv, dir: &Path) -> Vec<String> {
    let listing = env.mngr_in(dir, ["list", "--format", "json"]).success().json();
    listing["agents"].as_array().unwrap().iter().map(|agent| text(&agent["name"])).collect()
}

#[test]
fn a_terminal_is_no_reason_to_trust() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    write_settings(&env.work_dir(), "settings.toml", &hostile_settings(&env));
    let terminal = env.terminal(Surroundings::Plain, ["connect", "a"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(terminal.screen().contains("mngr config trust"), "{}", terminal.screen());
    assert_nothing_ran(&env, "connect at a terminal");
}

#[test]
fn each_key_alone_stops_the_verb_that_would_use_it() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let touch = format!("touch {}", canary(&env).display());
    let cases: [(String, &[&str], &str); 8] = [
        (format!("connect_command = '{touch}'\n"), &["connect", "a"], "connect_command"),
        ("unset_vars = ['PATH']\n".to_owned(), &["start", "a"], "unset_vars"),
        (
            "[tmux]\nadditional_config_path = '/nowhere'\n".to_owned(),
            &["create", "x", "--no-connect", "--", "true"],
            "tmux.additional_config_path",
        ),
        (
            format!("[agent_types.x]\ncommand = '{touch}'\n"),
            &["create", "x", "--type", "x", "--no-connect"],
            "agent_types.x.command",
        ),
        (
            format!("[create_templates.t]\nextra_provision_command = ['{touch}']\n"),
            &["create", "x", "-t", "t", "--no-connect", "--", "true"],
            "create_templates.t.extra_provision_command",
        ),
        ("[providers.local]\nhost_dir = '/nowhere'\n".to_owned(), &["list"], "providers.local.host_dir"),
        (
            "[commands.create]\nenv = ['A=b']\n".to_owned(),
            &["create", "x", "--no-connect", "--", "true"],
            "commands.create.env",
        ),
        (format!("[pre_command_scripts]\nstop = ['{touch}']\n"), &["stop", "a"], "pre_command_scripts.stop"),
    ];
    for (settings, args, key) in cases {
        write_settings(&env.work_dir(), "settings.toml", &settings);
        let stopped = env.mngr(args).code(1);
        assert!(stopped.stderr.contains(key), "{stopped}");
        assert_nothing_ran(&env, key);
        // A verb that does not need the key goes on without it.
        if key != "providers.local.host_dir" && !key.starts_with("tmux") {
            let other = env.mngr(["capture", "a"]).success();
            assert_eq!(other.stderr.matches("not trusted").count(), 1, "{other}");
        }
    }
    assert_eq!(names_from(&env, &env.home()), ["a"]);
}

#[test]
fn trust_is_for_one_content_and_follows_it_through_worktrees() {
    let env = env_with_repo();
    let settings = format!("[pre_command_scripts]\nlist = ['touch {}']\n", canary(&env).display());
    write_settings(&env.work_dir(), "settings.toml", &settings);
    for args in [&["add", "-f", ".mngr"][..], &["commit", "-qm", "settings"]] {
        let mut git = env.command("git");
        git.args(args);
        let _ = env.run(git).success();
    }
    let _ = env.mngr(["config", "trust"]).success();
    create(&env, "a", &["sleep", "1000"]);
    let dir = work_dir(&env, "a");
    fs::remove_file(canary(&env)).unwrap();
    let _ = env.mngr_in(&dir, ["list"]).success();
    assert!(canary(&env).exists(), "the same settings in a worktree of the same repository");
    fs::remove_file(canary(&env)).unwrap();
    // The agent edits the settings in its own worktree: that is another content.
    write_settings(&dir, "settings.toml", &format!("{settings}gc = ['touch {}']\n", canary(&env).display()));
    let stopped = env.mngr_in(&dir, ["list"]).code(1);
    assert!(stopped.stderr.contains("mngr config trust"), "{stopped}");
    // And a second file beside a trusted one was never seen.
    write_settings(&dir, "settings.toml", &settings);
    write_settings(&dir, "settings.local.toml", &settings);
    let _ = env.mngr_in(&dir, ["list"]).code(1);
    assert_nothing_ran(&env, "changed settings");
}

#[test]
fn links_and_odd_files_in_place_of_settings() {
    let env = env_with_repo();
    let elsewhere = env.root().join("elsewhere.toml");
    let folder = env.work_dir().join(".mngr");
    let script = format!("[pre_command_scripts]\nlist = ['touch {}']\n", canary(&env).display());
    fs::create_dir(&folder).unwrap();
    fs::write(&elsewhere, "").unwrap();
    symlink(&elsewhere, folder.join("settings.toml")).unwrap();
    let _ = env.mngr(["config", "trust"]);
    let _ = env.mngr(["list"]).success();
    fs::write(&elsewhere, &script).unwrap();
    let _ = env.mngr(["list"]).code(1);
    assert_nothing_ran(&env, "what a link leads to changed");
    fs::remove_file(folder.join("settings.toml")).unwrap();
    // A folder, a link to nowhere and a loop: an error that names it, or as if there were none.
    fs::create_dir(folder.join("settings.toml")).unwrap();
    let odd = env.mngr(["list"]);
    assert!(odd.status.success() || odd.stderr.contains("settings.toml"), "{odd}");
    fs::remove_dir(folder.join("settings.toml")).unwrap();
    for target in ["nowhere", "settings.toml"] {
        symlink(target, folder.join("settings.toml")).unwrap();
        let odd = env.mngr(["list"]);
        assert!(odd.status.success() || odd.stderr.contains("settings.toml"), "{odd}");
        fs::remove_file(folder.join("settings.toml")).unwrap();
    }
    let mut mkfifo = env.command("mkfifo");
    mkfifo.arg(folder.join("settings.toml"));
    let _ = env.run(mkfifo).success();
    let odd = env.mngr(["list"]).code(1);
    assert!(odd.stderr.contains("settings.toml"), "{odd}");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, &script).unwrap();
    let _ = env.mngr(["list"]).success();
    assert_nothing_ran(&env, "`.mngr` is a file");
}

#[test]
fn keys_that_would_move_the_cursor_are_spelled_out() {
    let env = env_with_repo();
    write_settings(
        &env.work_dir(),
        "settings.toml",
        "\"\\u001b[2J\\u0007\" = 1\n[agent_types.\"\\u001b[31m\"]\n",
    );
    for args in [&["list"][..], &["gc"], &["config", "list"], &["config", "trust"]] {
        let output = env.mngr(args);
        let shown = format!("{}{}", output.stdout, output.stderr);
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{shown:?}");
    }
}

#[test]
fn a_variable_trusts_for_one_command_only_when_it_says_yes() {
    let mut env = env_with_repo();
    let settings = format!("[pre_command_scripts]\nlist = ['touch {}']\n", canary(&env).display());
    write_settings(&env.work_dir(), "settings.toml", &settings);
    for no in ["", "0", "false"] {
        env.set_var("MNGR_TRUST_PROJECT", no);
        let _ = env.mngr(["list"]).code(1);
        assert_nothing_ran(&env, no);
    }
    env.set_var("MNGR_TRUST_PROJECT", "1");
    let _ = env.mngr(["list"]).success();
    assert!(canary(&env).exists());
    fs::remove_file(canary(&env)).unwrap();
    env.set_var("MNGR_TRUST_PROJECT", "0");
    let _ = env.mngr(["list"]).code(1);
    assert_nothing_ran(&env, "nothing was recorded");
}
