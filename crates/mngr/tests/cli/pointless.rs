//! Options that change nothing: refused where they contradict others, told where they have nothing to act on, and silent
//! where they say what is so already. What settings give is passed over.

use mngr_testkit::TestEnv;

use crate::support::*;

#[track_caller]
fn refused(env: &TestEnv, words: &str, option: &str) {
    let output = env.mngr(words.split(' ')).code(2);
    assert!(output.stderr.contains(&format!("`{option}` cannot be used here: ")), "{output}");
}

#[track_caller]
fn warned(env: &TestEnv, words: &str, option: &str) {
    let output = env.mngr(words.split(' '));
    assert!(output.stderr.contains(&format!("`{option}` changes nothing here: ")), "{output}");
}

#[test]
fn words_that_contradict_are_refused() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let create = "create b --type command --no-connect";
    for (words, option) in [
        (format!("{create} --transfer none --branch main:x -- true"), "--branch"),
        (format!("{create} --transfer none --exclude-unclean -- true"), "--exclude-unclean"),
        (format!("{create} --target-path y --worktree-base-folder x -- true"), "--worktree-base-folder"),
        ("c b@.local --provider docker -- true".to_owned(), "--provider"),
        ("create b@localhost --provider docker -- true".to_owned(), "--provider"),
        ("stop a --no-graceful --graceful-timeout 5s".to_owned(), "--graceful-timeout"),
        ("file list @localhost --relative-to state".to_owned(), "--relative-to"),
        ("tmr --no-integrator --reducer-timeout 5m".to_owned(), "--reducer-timeout"),
    ] {
        refused(&env, &words, option);
    }
    assert_eq!((names(&env), state(&env, "a")), (vec!["a".to_owned()], "RUNNING".to_owned()));
}

#[test]
fn an_option_with_nothing_to_act_on_is_told() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["record", "-o", "a.cast", "--", "true"]).success();
    let create = "create b --no-connect --transfer";
    for (words, option) in [
        (format!("{create} git-mirror --worktree-base-folder x -- true"), "--worktree-base-folder"),
        ("start a --connect-command true".to_owned(), "--connect-command"),
        ("start --host localhost --restart".to_owned(), "--restart"),
        ("start @localhost --no-resume".to_owned(), "--no-resume"),
        ("replay a.cast --dump --speed 3".to_owned(), "--speed"),
        ("replay a.cast --screen --idle-limit 1s".to_owned(), "--idle-limit"),
        ("pull a --uncommitted-changes stash".to_owned(), "--uncommitted-changes"),
    ] {
        warned(&env, &words, option);
    }
    let started = env.mngr(["start", "a", "--connect-command", "true"]).success();
    assert!(started.stderr.contains("add it"), "{started}");
    let _ = env.mngr(["pull", "a", "--merge", "--uncommitted-changes", "stash"]).success();
}

#[test]
fn an_option_that_says_what_is_so_already_is_silent() {
    let env = env_with_repo();
    let create = "create --type command --no-connect";
    for (number, words) in [
        format!("{create} --transfer none --no-ensure-clean"),
        format!("{create} --transfer none --include-unclean"),
        format!("{create} --transfer none --include-gitignored"),
        format!("{create} --name-style english"),
        format!("{create} --connect-command true"),
    ]
    .into_iter()
    .enumerate()
    {
        let words = format!("{words} --name a{number} -- sleep 1000");
        let output = env.mngr(words.split(' ')).success();
        assert_eq!(output.stderr, "", "{words}");
    }
    for words in ["list --ids --header name=WHO", "file list @localhost --relative-to host"] {
        assert_eq!(env.mngr(words.split(' ')).success().stderr, "", "{words}");
    }
}

#[test]
fn a_clean_folder_that_is_asked_for_is_checked_though_nothing_is_copied() {
    let env = env_with_repo();
    let create = "create a --no-connect --transfer none --ensure-clean -- sleep 1000";
    std::fs::write(env.work_dir().join("draft.txt"), "x").unwrap();
    let output = env.mngr(create.split(' ')).code(1);
    assert!(output.stderr.contains("draft.txt"), "{output}");
    assert_eq!(names(&env), [""; 0]);
    std::fs::remove_file(env.work_dir().join("draft.txt")).unwrap();
    let _ = env.mngr(create.split(' ')).success();
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
