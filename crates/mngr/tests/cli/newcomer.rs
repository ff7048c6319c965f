//! Where people who are new to mngr once had to stop: what they are told there leads on.

use std::fs;
use std::os::unix::fs::symlink;

use mngr_testkit::{Surroundings, TestEnv};

use crate::support::*;

/// The programs that mngr itself needs, but for tmux.
fn without_tmux(env: &mut TestEnv) {
    let bin = env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["git", "sh"] {
        let mut which = env.command("sh");
        which.args(["-c", &format!("command -v {program}")]);
        symlink(env.run(which).success().stdout.trim(), bin.join(program)).unwrap();
    }
    env.set_var("PATH", bin);
}

#[test]
fn without_tmux_nothing_is_made_and_its_package_is_named() {
    let mut env = env_with_repo();
    without_tmux(&mut env);
    let refused = env.mngr(["create", "a", "--no-connect", "--", "sh"]).code(1);
    assert!(refused.stderr.contains("error: `tmux` is not installed\n"), "{refused}");
    assert!(refused.stderr.contains("the package is called `tmux`"), "{refused}");
    let mut branches = env.command("git");
    branches.args(["branch", "--list", "mngr/*"]);
    assert_eq!(env.run(branches).success().stdout, "");
    let listed = env.mngr(["list"]).success();
    assert_eq!((listed.stdout.as_str(), listed.stderr.as_str()), ("No agents found\n", ""));
}

#[test]
fn wrong_words_lead_to_the_right_ones() {
    let env = env();
    for (word, verb) in [("status", "list"), ("new", "create"), ("attach", "connect"), ("kill", "stop")] {
        let refused = env.mngr([word]).code(2);
        assert!(refused.stderr.contains(&format!("hint: `mngr {verb}")), "{refused}");
        assert!(!refused.stderr.contains("did you mean"), "{refused}");
    }
    for args in [&["list", "--fields", "name,bogus"][..], &["list", "--sort", "bogus"]] {
        let refused = env.mngr(args).code(2);
        assert!(refused.stderr.contains("`mngr list --schema` shows all fields"), "{refused}");
    }
    let value = env.mngr(["config", "set", "headless", "maybe", "--scope", "user"]).code(1);
    assert!(value.stderr.contains("`mngr config list --schema` shows every key"), "{value}");
    let group = env.mngr(["file"]).code(2);
    assert!(group.stderr.contains("Missing command: one of get, list, put\n"), "{group}");
}

#[test]
fn mngr_alone_shows_first_steps_that_fit_a_small_terminal() {
    let env = env();
    let terminal = env.terminal(Surroundings::Plain, [""; 0]);
    assert_eq!(terminal.wait_for_exit(), 0);
    let screen = terminal.screen();
    assert!(screen.contains("mngr create fix-login"), "{screen}");
    assert!(screen.contains("`mngr --help` shows all commands"), "{screen}");
    assert!(screen.trim_end().lines().count() < 24, "{screen}");
}

#[test]
fn a_destroyed_agent_is_found_again_and_started() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    let gone = env.mngr(["message", "a", "hello"]).code(9);
    assert!(gone.stderr.contains("`mngr undo` the destroyed ones"), "{gone}");
    let listed = env.mngr(["undo"]).success();
    assert!(listed.stderr.contains("To bring one back: mngr undo NAME"), "{listed}");
    let back = env.mngr(["undo", "a"]).success();
    assert!(back.stderr.contains("To start it: mngr start a\n"), "{back}");
    let _ = env.mngr(["start", "a"]).success();
}

#[test]
fn whoever_waits_for_the_end_of_an_agent_that_waits_is_told() {
    let env = env_with_repo();
    create_scripted(&env, "a", &["ask is that all?"]);
    let _ = env.mngr(["wait", "a", "WAITING", "--timeout", "20s"]).success();
    let late = env.mngr(["wait", "a", "--timeout", "10ms"]).code(8);
    assert!(late.stderr.contains("`mngr wait a WAITING` ends when it waits"), "{late}");
    let chosen = env.mngr(["wait", "a", "DONE", "--timeout", "10ms"]).code(8);
    assert!(!chosen.stderr.contains("waits for you"), "{chosen}");
}

#[test]
fn the_menu_says_what_an_agent_waits_for() {
    let env = env_with_repo();
    create_scripted(&env, "asks", &["ask is that all?"]);
    create(&env, "works", &["sleep", "1000"]);
    let _ = env.mngr(["wait", "asks", "WAITING", "--timeout", "20s"]).success();
    let terminal = env.terminal(Surroundings::Plain, ["connect"]);
    let screen = terminal.wait_for("WAITING (QUESTION)");
    assert!(screen.contains("RUNNING"), "{screen}");
    terminal.send_keys(["C-c"]);
    let _ = terminal.wait_for_exit();
}

#[test]
fn nobody_writes_a_message_to_an_agent_that_is_not_there() {
    let mut env = env_with_repo();
    env.set_var("EDITOR", "touch opened");
    let terminal = env.terminal(Surroundings::Plain, ["message", "nobody"]);
    assert_eq!(terminal.wait_for_exit(), 9);
    assert!(!env.work_dir().join("opened").exists());
}

#[test]
fn a_message_written_in_an_editor_is_not_lost_when_it_cannot_be_sent() {
    let mut env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "a"]).success();
    env.set_var("EDITOR", "sh -c 'echo \"$1\" >opened; echo my thoughts >\"$1\"' sh");
    let terminal = env.terminal(Surroundings::Plain, ["message", "a"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(terminal.screen().contains("your message is kept in"), "{}", terminal.screen());
    let kept = fs::read_to_string(env.host_dir().join("recovered-message.txt")).unwrap();
    assert_eq!(kept, "my thoughts\n");
    let file = fs::read_to_string(env.work_dir().join("opened")).unwrap();
    assert!(file.contains("message-to-a"), "the editor shows what it is for: {file}");

    env.set_var("EDITOR", "true");
    let terminal = env.terminal(Surroundings::Plain, ["message", "a"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(terminal.screen().contains("nothing was sent"), "{}", terminal.screen());
}

#[test]
fn what_create_cannot_work_with_is_said_with_a_way_out() {
    let env = env();
    let mut init = env.command("git");
    init.args(["init", "--quiet"]);
    let _ = env.run(init).success();
    let create = |address: &str| env.mngr(["create", address, "--no-connect", "--", "sh"]);
    let variable = env.mngr(["create", "a", "--env", "COLOUR", "--no-connect", "--", "sh"]).code(2);
    assert!(variable.stderr.contains("Invalid value for `--env`: `COLOUR` has no value"), "{variable}");
    let empty = create("a").code(1);
    assert!(empty.stderr.contains("git commit --allow-empty"), "{empty}");
    let host = create("a@nowhere").code(9);
    assert!(host.stderr.contains("`mngr list --hosts` shows all hosts"), "{host}");
    let provider = create("a@.dokcer").code(1);
    assert!(provider.stderr.contains("did you mean `docker`?"), "{provider}");
}

#[test]
fn leaving_a_watched_listing_is_no_error() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    for args in [&["list", "--watch"][..], &["observe"]] {
        let terminal = env.terminal(Surroundings::Plain, args);
        let _ = terminal.wait_for(if args[0] == "list" { "RUNNING" } else { "in all" });
        terminal.send_keys(["C-c"]);
        assert_eq!(terminal.wait_for_exit(), 130);
        assert!(!terminal.screen().contains("error"), "{}", terminal.screen());
    }
}

#[test]
fn a_machine_spelled_as_ssh_spells_it_leads_to_the_ssh_config() {
    let env = env_with_repo();
    for (address, code) in [("a@192.0.2.7", 2), ("a@me@machine", 2), ("a@unheard-of", 9)] {
        let refused = env.mngr(["create", address, "--no-connect", "--", "sh"]).code(code);
        assert!(refused.stderr.contains("`Host` in your ssh config"), "{refused}");
    }
    let host = env.mngr(["stop", "localhost"]).code(9);
    assert!(host.stderr.contains("not found; `@localhost.local` is a host\n"), "{host}");
}
