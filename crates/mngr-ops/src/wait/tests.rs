//! Waiting for real agents.

use mngr_host::host::Host;
use mngr_model::layout::AgentLayout;

use super::*;
use crate::testing::{PATIENCE, TestWorld};

fn request(states: &[AgentState], quantity: Quantity, timeout: Duration) -> WaitRequest {
    // So slow that only events can make a test pass in time.
    let interval = Duration::from_secs(3600);
    WaitRequest { states: states.to_vec(), quantity, timeout: Some(timeout), interval }
}

fn layout(test: &TestWorld, agent: &Agent) -> AgentLayout {
    test.host.layout().agent(agent.id())
}

#[test]
fn the_end_of_a_process_ends_the_wait_without_polling() {
    let test = TestWorld::new();
    let agents = [test.launch("a", &["sleep", "0.2"]), test.launch("b", &["sh", "-c", "sleep 0.3; exit 3"])];
    let mut seen = Vec::new();
    let waited = wait(&test.world, &agents, &request(&[], Quantity::All, PATIENCE), |agent, change| {
        seen.push((agent.name().to_string(), change.new_value));
    })
    .unwrap();
    assert!(waited.is_matched && !waited.is_timed_out, "{waited:?}");
    assert_eq!(seen, [("a".to_owned(), Some(AgentState::Done)), ("b".to_owned(), Some(AgentState::Done))]);
    let json = serde_json::to_value(&waited.targets[1]).unwrap();
    let change = &json["state_changes"][0];
    assert_eq!((&json["target"], &json["matched_state"]), (&"b".into(), &"DONE".into()));
    assert_eq!((&change["field"], &change["old_value"]), (&"agent_state".into(), &"RUNNING".into()));
}

#[test]
fn a_killed_agent_and_a_marker_are_seen_at_once() {
    let test = TestWorld::new();
    let agent = test.launch("a", &["sleep", "100"]);
    let (layout, host) = (layout(&test, &agent), test.host.clone());
    let marker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        host.files().touch(&layout.waiting()).unwrap();
    });
    let waiting = request(&[AgentState::Waiting], Quantity::All, PATIENCE);
    let waited = wait(&test.world, &[agent], &waiting, |_, _| {}).unwrap();
    marker.join().unwrap();
    assert!(waited.is_matched && waited.elapsed_seconds < 5.0, "{waited:?}");
    let agent = test.look("a");
    let pid = agent.facts.process.agent.unwrap().pid.to_string();
    let kill = mngr_host::proc::Cmd::shell("sleep 0.05; kill -9 $1").arg("sh").arg(pid);
    let host = test.host.clone();
    let killer = std::thread::spawn(move || host.exec(&kill).unwrap());
    let waited = wait(&test.world, &[agent], &request(&[], Quantity::Any, PATIENCE), |_, _| {}).unwrap();
    assert!(killer.join().unwrap().success());
    assert_eq!(waited.targets[0].matched_state, Some(AgentState::Done), "{waited:?}");
}

#[test]
fn the_time_limit_is_kept_closely() {
    let test = TestWorld::new();
    let agent = test.launch("a", &["sleep", "100"]);
    let limit = Duration::from_millis(150);
    let started = Instant::now();
    let waited = wait(&test.world, &[agent], &request(&[], Quantity::All, limit), |_, _| {}).unwrap();
    let elapsed = started.elapsed();
    assert!(waited.is_timed_out && waited.targets[0].is_timed_out && !waited.is_matched, "{waited:?}");
    assert!(elapsed >= limit && elapsed < limit + Duration::from_millis(100), "{elapsed:?}");
}

#[test]
fn one_of_many_is_enough_for_any() {
    let test = TestWorld::new();
    let agents = [test.launch("slow", &["sleep", "100"]), test.launch("quick", &["sleep", "0.1"])];
    let waited = wait(&test.world, &agents, &request(&[], Quantity::Any, PATIENCE), |_, _| {}).unwrap();
    assert!(waited.is_matched, "{waited:?}");
    let states: Vec<_> =
        waited.targets.iter().map(|t| (t.is_matched, t.is_timed_out, t.matched_state)).collect();
    assert_eq!(states, [(false, false, None), (true, false, Some(AgentState::Done))]);
}

#[test]
fn a_destroyed_target_makes_the_wait_for_another_state_hopeless_at_once() {
    let test = TestWorld::new();
    let agent = test.launch("a", &["sleep", "100"]);
    let (root, aside) = (layout(&test, &agent).root().clone(), test.work("aside"));
    let (from, to, host) = (root.clone(), aside.clone(), test.host.clone());
    let destroyer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        host.files().rename(&from, &to).unwrap();
    });
    let waiting = request(&[AgentState::Waiting], Quantity::All, PATIENCE);
    let waited = wait(&test.world, &[agent], &waiting, |_, _| {}).unwrap();
    destroyer.join().unwrap();
    // Back, so that the world finds the agent and ends it.
    test.host.files().rename(&aside, &root).unwrap();
    assert!(!waited.is_matched && !waited.is_timed_out && waited.targets[0].is_gone, "{waited:?}");
    assert_eq!(waited.targets[0].final_agent_state, None);
}

#[test]
fn a_restart_is_followed_to_its_new_process() {
    let test = TestWorld::new();
    let agent = test.launch("a", &["sleep", "100"]);
    let process = layout(&test, &agent).process();
    // Somebody records a new launch whose process is ours and ends soon.
    let host = test.host.clone();
    let script = r#"read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ start _ <"/proc/$$/stat"
        read -r boot </proc/sys/kernel/random/boot_id
        printf 'start boot=%s supervisor=%s:%s pane=\nagent pid=%s:%s\n' "$boot" $$ "$start" $$ "$start" >>"$1"
        sleep 0.2"#;
    let run = mngr_host::proc::Cmd::shell(script).arg("sh").arg(process.as_str());
    let relaunch = std::thread::spawn(move || host.exec(&run).unwrap());
    let stopped = request(&[AgentState::Stopped], Quantity::All, PATIENCE);
    let waited = wait(&test.world, &[agent], &stopped, |_, _| {}).unwrap();
    assert!(relaunch.join().unwrap().success());
    assert!(waited.is_matched, "{waited:?}");
}
