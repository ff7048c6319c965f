//! Captures of real terminals.

use mngr_host::host::Host;
use mngr_host::proc::Cmd;
use mngr_model::HostPath;

use super::*;
use crate::testing::{TestWorld, eventually};

fn pane(id: &str, window_index: u32, window: &str) -> PaneFacts {
    PaneFacts {
        id: mngr_host::tmux::PaneId::parse(id).unwrap(),
        session: "s".to_owned(),
        window: window.to_owned(),
        window_index,
        pid: 2,
        server: 1,
        tty: HostPath::new("/dev/null"),
        in_mode: false,
    }
}

#[test]
fn a_window_is_found_by_its_place_first_and_then_by_its_name() {
    let panes = [pane("%1", 0, "agent"), pane("%2", 1, "7"), pane("%3", 1, "7"), pane("%4", 2, "1")];
    let found = |wanted: &str| find_window(&panes, wanted).map(|pane| pane.id().to_string());
    assert_eq!(found("agent").as_deref(), Some("%1"));
    assert_eq!(found("1").as_deref(), Some("%2"), "a place wins over a name");
    assert_eq!(found("7").as_deref(), Some("%2"), "no such place, so it is a name");
    assert_eq!(found("ag"), None, "names are whole");
    assert_eq!(window_names(&panes), ["0:agent", "1:7", "2:1"]);
}

fn request(window: Option<&str>, range: CaptureRange) -> CaptureRequest {
    CaptureRequest { window: window.map(str::to_owned), range, start: false }
}

#[test]
fn a_terminal_is_captured_while_the_agent_runs_and_after_it_ended() {
    let test = TestWorld::new();
    let agent = test.launch("a", &["sh", "-c", "seq 1 100; echo naïve; : >printed; sleep 100"]);
    eventually(|| test.host.files().exists(&test.work("printed")).unwrap().then_some(()));
    let text = |range| capture(&test.world, &agent, &request(None, range)).unwrap();
    let visible = eventually(|| Some(text(CaptureRange::Visible)).filter(|text| text.ends_with("naïve")));
    assert!(!visible.lines().any(|line| line == "1"), "{visible}");
    assert!(text(CaptureRange::Full).lines().any(|line| line == "1"));
    let pid = agent.facts.process.agent.unwrap().pid.to_string();
    test.host.exec(&Cmd::new("kill").arg(pid)).unwrap();
    let ended = test.look_when("a", AgentState::Done);
    assert!(capture(&test.world, &ended, &request(None, CaptureRange::Full)).unwrap().contains("naïve"));
}

#[test]
fn a_further_window_is_captured_by_name_and_a_wrong_one_is_named() {
    let test = TestWorld::new();
    let agent = test.launch_with_window("a", &["sleep", "100"], ("log", "echo from the log; sleep 100"));
    let log = request(Some("log"), CaptureRange::Visible);
    eventually(|| capture(&test.world, &agent, &log).unwrap().contains("from the log").then_some(()));
    let error = capture(&test.world, &agent, &request(Some("lgo"), CaptureRange::Visible)).unwrap_err();
    assert!(error.to_string().contains("1:log"), "{error}");
}

#[test]
fn a_stopped_agent_has_nothing_to_capture_unless_it_is_started() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["sh", "-c", "echo hello; sleep 100"]);
    let error = capture(&test.world, &agent, &request(None, CaptureRange::Visible)).unwrap_err();
    assert!(matches!(error, CaptureError::NoTerminal { state: AgentState::Stopped, .. }), "{error:?}");
    let start = CaptureRequest { start: true, ..request(None, CaptureRange::Visible) };
    eventually(|| capture(&test.world, &agent, &start).unwrap().contains("hello").then_some(()));
}
