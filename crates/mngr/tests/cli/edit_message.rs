//! `create --edit-message`: the first message is written while the agent is made, and never lost.

use std::fs;

use mngr_testkit::Surroundings;

use crate::support::*;

#[test]
fn what_is_written_meanwhile_is_the_first_message() {
    let mut env = env_with_repo();
    // In place of an editor: shows what is there, waits until the agent exists, and adds a line.
    let editor =
        r#"sh -c 'cat "$1"; until "$0" list --ids | grep -q .; do sleep 0.1; done; echo more >>"$1"'"#;
    env.set_var("EDITOR", format!("{editor} {}", env!("CARGO_BIN_EXE_mngr")));
    let args = ["create", "a", "scripted", "--edit-message", "-m", "hello", "--no-connect"];
    let terminal = env.terminal(Surroundings::Plain, args);
    assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
    assert!(terminal.screen().contains("first message accepted"), "{}", terminal.screen());
    wait_until(PATIENCE, || env.mngr(["capture", "a"]).success().stdout.contains("more"));
    let events = env.mngr(["event", "a", "messages"]).success();
    assert_eq!(events.stdout.matches("message_sent").count(), 1, "{events}");
}

#[test]
fn an_empty_text_is_no_message() {
    let mut env = env_with_repo();
    env.set_var("EDITOR", "true");
    let terminal =
        env.terminal(Surroundings::Plain, ["create", "a", "scripted", "--edit-message", "--no-connect"]);
    assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
    assert!(!terminal.screen().contains("first message"), "{}", terminal.screen());
    assert_eq!(names(&env), ["a"]);
}

#[test]
fn a_text_whose_agent_could_not_be_made_is_kept() {
    let mut env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    env.set_var("EDITOR", "sh -c 'echo my thoughts >\"$1\"' sh");
    let terminal =
        env.terminal(Surroundings::Plain, ["create", "a", "scripted", "--edit-message", "--no-connect"]);
    assert_eq!(terminal.wait_for_exit(), 1, "{}", terminal.screen());
    let screen = terminal.screen();
    assert!(screen.contains("already exists") && screen.contains("recovered-message.txt"), "{screen}");
    let kept = fs::read_to_string(env.host_dir().join("recovered-message.txt")).unwrap();
    assert_eq!(kept, "my thoughts\n");
}

#[test]
fn nobody_is_asked_to_write_where_nobody_is() {
    let mut env = env_with_repo();
    env.set_var("EDITOR", "true");
    let refused = env.mngr(["create", "a", "scripted", "--edit-message"]).code(1);
    assert!(refused.stderr.contains("--message-file"), "{refused}");
    let headless = ["create", "a", "scripted", "--edit-message", "--headless"];
    assert_eq!(env.terminal(Surroundings::Plain, headless).wait_for_exit(), 1);
    let _ =
        env.mngr(["create", "a", "headless_command", "--foreground", "--edit-message", "--", "true"]).code(2);
    assert_eq!(names(&env), [""; 0]);
}
