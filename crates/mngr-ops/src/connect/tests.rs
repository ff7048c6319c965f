//! Connections to real sessions. The viewer itself needs a terminal, so the command is only looked at, or run where it
//! needs none.

use mngr_config::{BuildOptions, Layer, LayerKind, Merged};

use super::*;
use crate::testing::TestWorld;

#[test]
fn the_session_is_found_even_when_the_prefix_changed_since_the_launch() {
    let mut test = TestWorld::new();
    let agent = test.launch("a", &["sleep", "100"]);
    let layer = Layer::from_toml(LayerKind::User, "settings.toml", "prefix = 'other-'\n").unwrap();
    test.world.settings = Merged::build(&[layer], &BuildOptions::default()).unwrap().settings().clone();
    let connection = connect(&test.world, &agent, &ConnectRequest::default()).unwrap();
    assert_eq!((connection.session.as_str(), connection.was_started), ("mngr-a", false));
    assert!(format!("{:?}", connection.cmd).contains("=mngr-a"), "{:?}", connection.cmd);
}

#[test]
fn a_substitute_runs_through_sh_and_knows_the_agent() {
    let test = TestWorld::new();
    let agent = test.launch("a", &["sleep", "100"]);
    let text =
        r#"echo "$MNGR_AGENT_NAME $MNGR_SESSION_NAME $MNGR_HOST_IS_LOCAL $MNGR_CONNECT_COMMAND_ACTIVE""#;
    let request = ConnectRequest { substitute: Some(text.to_owned()), ..ConnectRequest::default() };
    let connection = connect(&test.world, &agent, &request).unwrap();
    let output = connection.host.exec(&connection.cmd).unwrap();
    assert_eq!(output.stdout_text(), "a mngr-a true 1");
}

#[test]
fn a_stopped_agent_is_refused_or_started() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["sleep", "100"]);
    let error = connect(&test.world, &agent, &ConnectRequest::default()).err().unwrap();
    assert!(matches!(error, ConnectError::NoTerminal { state: AgentState::Stopped, .. }), "{error:?}");
    let request = ConnectRequest { start: true, ..ConnectRequest::default() };
    assert!(connect(&test.world, &agent, &request).unwrap().was_started);
    assert!(!connect(&test.world, &agent, &request).unwrap().was_started, "it runs by now");
}

#[test]
fn an_ended_agent_is_shown_with_the_shell_it_left_and_not_started_again() {
    let test = TestWorld::new();
    test.launch("a", &["true"]);
    let agent = test.look_when("a", AgentState::Done);
    let request = ConnectRequest { start: true, ..ConnectRequest::default() };
    assert!(!connect(&test.world, &agent, &request).unwrap().was_started);
    assert_eq!(test.look("a").state.state, AgentState::Done);
}

#[test]
fn a_deleted_socket_is_made_again() {
    let test = TestWorld::new();
    let agent = test.launch("a", &["sleep", "100"]);
    test.delete_socket();
    assert!(connect(&test.world, &agent, &ConnectRequest::default()).is_ok());
    assert!(test.tmux(&["has-session", "-t", "=mngr-a"]).success());
}
