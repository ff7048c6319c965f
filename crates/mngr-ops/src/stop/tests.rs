//! `stop` against a real tmux server.

use mngr_host::host::Host;
use mngr_model::process::ExitStatus;
use mngr_model::{AgentState, HostPath};

use super::*;
use crate::testing::{TestWorld, eventually};

fn stop_it(world: &TestWorld, name: &str) -> Stopped {
    let options = StopOptions { grace: Duration::from_secs(5), commands: RunningCommands::End };
    stop(&world.world, &world.look(name), &options).unwrap()
}

fn has_session(world: &TestWorld, name: &str) -> bool {
    world.tmux(&["has-session", "-t", &format!("={}{name}", world.world.settings.prefix.as_str())]).success()
}

fn evidence(world: &TestWorld, name: &str) -> (AgentState, String) {
    let state = world.look(name).state;
    (state.state, state.evidence)
}

#[test]
fn a_running_agent_is_stopped_on_request_and_only_once() {
    let world = TestWorld::new();
    world.launch("foo", &["sleep", "300"]);
    world.launch("foobar", &["sleep", "300"]);
    let stopped = stop_it(&world, "foo");
    assert!(!stopped.was_stopped_already && stopped.ended >= 1 && stopped.killed == 0, "{stopped:?}");
    assert_eq!(evidence(&world, "foo"), (AgentState::Stopped, "stopped on request".to_owned()));
    assert!(!has_session(&world, "foo"));
    assert_eq!(
        world.look("foobar").state.state,
        AgentState::Running,
        "tmux matches prefixes unless told otherwise"
    );
    let again = stop_it(&world, "foo");
    assert_eq!(again, Stopped { was_stopped_already: true, server: again.server, ..Stopped::default() });
}

#[test]
fn an_agent_that_ended_by_itself_keeps_its_own_ending() {
    let world = TestWorld::new();
    world.launch("foo", &["sh", "-c", "exit 3"]);
    world.look_when("foo", AgentState::Done);
    assert!(has_session(&world, "foo"), "a shell is left in the pane");
    assert!(!stop_it(&world, "foo").was_stopped_already);
    assert!(!has_session(&world, "foo"));
    let after = world.look("foo").state;
    assert_eq!((after.state, after.exit), (AgentState::Done, Some(ExitStatus::Code(3))));
    assert!(stop_it(&world, "foo").was_stopped_already);
}

#[test]
fn a_deleted_socket_does_not_save_an_agent() {
    let world = TestWorld::new();
    world.launch_with_window("foo", &["sleep", "300"], ("more", "sleep 300"));
    world.delete_socket();
    stop_it(&world, "foo");
    assert_eq!(evidence(&world, "foo"), (AgentState::Stopped, "stopped on request".to_owned()));
    let server = world.tmux(&["list-sessions"]);
    assert!(!server.success(), "{}", server.stdout_text());
}

#[test]
fn what_ignores_every_polite_signal_is_killed_and_daemons_are_found() {
    let world = TestWorld::new();
    let script = "trap '' TERM HUP INT; (setsid sh -c 'echo $$ >daemon; sleep 300' &); echo ready >ready; while :; do sleep 1; done";
    let agent = world.launch("foo", &["sh", "-c", script]);
    eventually(|| (world.read("ready") == "ready\n" && !world.read("daemon").is_empty()).then_some(()));
    let daemon = world.read("daemon");
    let options = StopOptions { grace: Duration::from_millis(50), commands: RunningCommands::End };
    let stopped = stop(&world.world, &agent, &options).unwrap();
    assert!(stopped.killed >= 1, "{stopped:?}");
    let stat = HostPath::new(format!("/proc/{}/stat", daemon.trim()));
    let stat = world.host.files().read_text(&stat).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "the daemon of the agent lives on: {stat}");
    assert_eq!(evidence(&world, "foo"), (AgentState::Stopped, "stopped on request".to_owned()));
}

#[test]
fn further_windows_of_a_dead_agent_are_closed() {
    let world = TestWorld::new();
    let agent = world.launch_with_window("foo", &["sleep", "300"], ("more", "sleep 300"));
    let supervisor = world.look("foo").facts.process.supervisor.unwrap().pid.to_string();
    let program = agent.facts.process.agent.unwrap().pid.to_string();
    let kill = mngr_host::proc::Cmd::new("kill").args(["-9", &supervisor, &program]);
    assert!(world.host.exec(&kill).unwrap().success());
    world.look_when("foo", AgentState::Stopped);
    assert!(has_session(&world, "foo"), "its further window is open");
    assert!(!stop_it(&world, "foo").was_stopped_already);
    assert!(!has_session(&world, "foo"));
    assert!(stop_it(&world, "foo").was_stopped_already);
}

#[test]
fn a_window_that_hides_from_the_agent_closes_with_the_session() {
    let world = TestWorld::new();
    world.launch("foo", &["sleep", "300"]);
    let session = format!("={}foo:", world.world.settings.prefix.as_str());
    assert!(world.tmux(&["new-window", "-d", "-t", &session, "exec env -i sleep 300"]).success());
    eventually(|| {
        world
            .tmux(&["list-panes", "-s", "-t", &session, "-F", "#{pane_current_command}"])
            .stdout_text()
            .ends_with("sleep")
            .then_some(())
    });
    stop_it(&world, "foo");
    assert!(!has_session(&world, "foo"));
}
