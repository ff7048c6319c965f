//! `cleanup`: many agents away at once, and never without consent.

use mngr_testkit::Surroundings;

use crate::support::*;

#[test]
fn off_a_terminal_nothing_is_done_without_yes() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    for args in
        [&["cleanup"][..], &["clean", "--stop"], &["cleanup", "--format", "json"], &["cleanup", "--headless"]]
    {
        let refused = env.mngr(args).code(1);
        assert!(refused.stderr.contains("nothing was done: 1 agent would be affected"), "{refused}");
        assert!(refused.stderr.contains("--yes"), "{refused}");
    }
    assert_eq!(state(&env, "a"), "RUNNING");
    let dry = env.mngr(["cleanup", "--dry-run", "--format", "json"]).success().json();
    assert_eq!((&dry["action"], &dry["agents"][0]["name"]), (&"destroy".into(), &"a".into()));
    assert_eq!(
        (&dry["agents"][0]["provider"], &dry["agents"][0]["type"]),
        (&"local".into(), &"command".into())
    );
    let stopped = env.mngr(["cleanup", "--stop", "--yes"]).success();
    assert_eq!(stopped.stdout, "Stopped agent: a\nSuccessfully stopped 1 agent(s)\n");
    assert_eq!(state(&env, "a"), "STOPPED");
}

#[test]
fn what_was_destroyed_can_come_back() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["exec", "a", "echo draft >draft.txt"]).success();
    let json = env.mngr(["cleanup", "-f", "--format", "json"]).success().json();
    assert_eq!((&json["destroyed_count"], &json["destroyed_agents"][0]), (&1.into(), &"a".into()));
    assert_eq!((&json["stopped_count"], &json["exit_code"]), (&0.into(), &0.into()));
    assert_eq!(names(&env), [""; 0]);
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(env.mngr(["exec", "a", "cat draft.txt"]).success().stdout, "draft\n");
    let _ = env.mngr(["cleanup", "--force"]).success();
    assert_eq!(env.mngr(["cleanup", "--yes"]).success().stdout, "No agents found\n");
}

#[test]
fn only_what_matches_every_filter_goes() {
    let env = env_with_repo();
    create(&env, "plain", &["sleep", "1000"]);
    create_scripted(&env, "played", &[]);
    let plan = |args: &[&str]| {
        let args = ["cleanup", "--dry-run"].iter().chain(args);
        let told = env.mngr(args).success().stdout;
        told.lines().filter_map(|line| line.split([' ', '@']).nth(3).map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(plan(&[]), ["plain", "played"]);
    assert_eq!(plan(&["--type", "scripted"]), ["played"]);
    assert_eq!(plan(&["--type", "scripted", "--type", "command"]), ["plain", "played"]);
    assert_eq!(plan(&["--older-than", "1h"]), [""; 0]);
    assert_eq!(plan(&["--older-than", "0s"]), ["plain", "played"]);
    assert_eq!(plan(&["--idle-for", "1h"]), [""; 0]);
    assert_eq!(plan(&["--exclude", "name == \"played\""]), ["plain"]);
    assert_eq!(plan(&["--provider", "ssh"]), [""; 0]);
    assert_eq!(plan(&["--label", "team=web"]), [""; 0]);
    let _ = env.mngr(["cleanup", "--provider", "nobody", "--yes"]).code(1);
    let _ = env.mngr(["cleanup", "--stop", "--destroy"]).code(2);
}

#[test]
fn at_a_terminal_the_marked_ones_go_after_a_question() {
    let env = env_with_repo();
    for name in ["one", "two", "three"] {
        create(&env, name, &["sleep", "1000"]);
    }
    let terminal = env.terminal(Surroundings::Plain, ["cleanup"]);
    let screen = terminal.wait_for("Which agents are to be destroyed?");
    assert!(screen.contains("[ ] one@localhost.local") && screen.contains("Space mark"), "{screen}");
    terminal.send_keys(["C-a"]);
    let _ = terminal.wait_for("3 marked");
    terminal.send_keys(["C-n"]);
    let _ = terminal.wait_for("0 marked");
    terminal.send_keys(["Space", "Down", "Space"]);
    let _ = terminal.wait_for("2 marked");
    terminal.send_keys(["Enter"]);
    let _ = terminal.wait_for("Are you sure you want to continue?");
    terminal.send_text("y");
    terminal.send_keys(["Enter"]);
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(names(&env), ["two"]);
}

#[test]
fn giving_up_at_the_terminal_does_nothing() {
    let env = env_with_repo();
    create(&env, "one", &["sleep", "1000"]);
    let terminal = env.terminal(Surroundings::Plain, ["cleanup"]);
    let _ = terminal.wait_for("Which agents");
    terminal.send_keys(["C-c"]);
    assert_eq!(terminal.wait_for_exit(), 130);
    let terminal = env.terminal(Surroundings::Plain, ["cleanup"]);
    let _ = terminal.wait_for("Which agents");
    terminal.send_keys(["Enter"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(terminal.screen().contains("no agent was marked"), "{}", terminal.screen());
    assert_eq!(names(&env), ["one"]);
}
