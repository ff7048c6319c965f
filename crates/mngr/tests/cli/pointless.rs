//! Options that would change nothing are refused when they are typed, and passed over when settings give them.

use mngr_testkit::TestEnv;

use crate::support::*;

#[track_caller]
fn refused(env: &TestEnv, words: &str, option: &str) {
    let output = env.mngr(words.split(' ')).code(2);
    assert!(output.stderr.contains(&format!("`{option}` changes nothing here: ")), "{output}");
}

#[test]
fn an_option_that_changes_nothing_is_refused() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["record", "-o", "a.cast", "--", "true"]).success();
    let create = "create b --type command --no-connect";
    for (words, option) in [
        (format!("{create} --transfer none --branch main:x -- true"), "--branch"),
        (format!("{create} --transfer none --include-unclean -- true"), "--include-unclean"),
        (
            format!("{create} --transfer git-mirror --worktree-base-folder x -- true"),
            "--worktree-base-folder",
        ),
        (format!("{create} --target-path y --worktree-base-folder x -- true"), "--worktree-base-folder"),
        (format!("{create} --transfer git-worktree --rsync-args=-z -- true"), "--rsync-args"),
        (format!("{create} --connect-command true -- true"), "--connect-command"),
        (format!("{create} --name-style english -- true"), "--name-style"),
        ("migrate a b --name-style english".to_owned(), "--name-style"),
        ("start a --connect-command true".to_owned(), "--connect-command"),
        ("start --host localhost --restart".to_owned(), "--restart"),
        ("start @localhost --no-resume".to_owned(), "--no-resume"),
        ("file list @localhost --relative-to host".to_owned(), "--relative-to"),
        ("connect a --running".to_owned(), "--running"),
        ("stop a --no-graceful --graceful-timeout 5s".to_owned(), "--graceful-timeout"),
        ("list --ids --header name=WHO".to_owned(), "--header"),
        ("replay a.cast --dump --speed 3".to_owned(), "--speed"),
        ("replay a.cast --screen --idle-limit 1s".to_owned(), "--idle-limit"),
        ("pull a --uncommitted-changes stash".to_owned(), "--uncommitted-changes"),
        ("tmr --no-integrator --reducer-timeout 5m".to_owned(), "--reducer-timeout"),
    ] {
        refused(&env, &words, option);
    }
    assert_eq!((names(&env), state(&env, "a")), (vec!["a".to_owned()], "RUNNING".to_owned()));
    let _ = env.mngr(["pull", "a", "--merge", "--uncommitted-changes", "stash"]).success();
}

#[test]
fn what_settings_give_is_passed_over_where_it_changes_nothing() {
    let env = env_with_repo();
    for (key, value) in [
        ("commands.create.branch", ":work/*"),
        ("commands.create.worktree_base_folder", "~/trees"),
        ("commands.create.connect_command", "echo connected"),
        ("commands.start.connect_command", "echo connected"),
        ("commands.stop.graceful_timeout", "5s"),
        ("commands.pull.uncommitted_changes", "stash"),
    ] {
        let _ = env.mngr(["config", "set", "--scope", "user", key, value]).success();
    }
    let create = ["create", "a", "--no-connect", "--transfer", "none", "--type", "command", "--"];
    let _ = env.mngr(create.into_iter().chain(["sleep", "1000"])).success();
    let _ = env.mngr(["stop", "a", "--no-graceful"]).success();
    let _ = env.mngr(["start", "a"]).success();
    let create = ["create", "b", "--no-connect", "--type", "command", "--", "sleep", "1000"];
    let _ = env.mngr(create).success();
    let _ = env.mngr(["pull", "b"]).success();
    // And it is there where it changes something.
    let _ = env.mngr(["config", "set", "--scope", "user", "commands.start.connect", "true"]).success();
    let started = env.mngr(["start", "a", "--connect-command", "echo mine"]).success();
    assert!(started.stdout.contains("mine\n"), "{started}");
}

#[test]
fn a_dry_run_refuses_what_the_command_itself_would() {
    let env = env_with_repo();
    for verb in ["start", "stop", "destroy"] {
        let dry = env.mngr([verb, "@localhost", "--dry-run"]).code(1);
        assert!(dry.stderr.contains(&format!("this provider cannot {verb} hosts")), "{dry}");
    }
}
