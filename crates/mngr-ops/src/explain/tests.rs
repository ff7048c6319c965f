//! Explanations of real agents.

use mngr_model::AgentState;

use super::*;
use crate::testing::TestWorld;

#[test]
fn a_running_agent_is_explained_by_its_process_and_its_pane() {
    let test = TestWorld::new();
    let agent = test.launch("a", &["sleep", "100"]);
    let explanation = explain(&test.world, &agent).unwrap();
    assert_eq!(explanation.state.state, AgentState::Running);
    assert_eq!((explanation.supervisor.found, explanation.program.found), ("alive", "alive"));
    assert!(explanation.program.has_terminal && explanation.markers.active.is_some());
    assert_eq!((explanation.boot.is_current, explanation.terminal.is_there), (Some(true), Some(true)));
    let attach = explanation.terminal.attach.clone().unwrap();
    assert!(attach.starts_with("tmux -L mngr-test-") && attach.ends_with("mngr-a'"), "{attach}");
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(
        (&json["state"], &json["source"], &json["type"]),
        (&"RUNNING".into(), &"process".into(), &"command".into())
    );
}

#[test]
fn an_ended_and_a_never_started_agent_say_what_is_missing() {
    let test = TestWorld::new();
    test.launch("ended", &["sh", "-c", "exit 4"]);
    let ended = explain(&test.world, &test.look_when("ended", AgentState::Done)).unwrap();
    assert_eq!(ended.ending.unwrap().status, Some(ExitStatus::Code(4)));
    assert_eq!(ended.terminal.is_there, Some(true), "its shell is still there");
    let never = explain(&test.world, &test.add("never", "command", &["cat"])).unwrap();
    assert_eq!((never.program.found, never.supervisor.found), ("not recorded", "not recorded"));
    assert_eq!(
        (never.terminal.is_there, never.terminal.session.as_deref()),
        (Some(false), Some("mngr-never"))
    );
}
