//! Commands that run beside an agent of another machine.

use super::ground::{Ground, Kind};
use crate::support::{PATIENCE, state, wait_until};

#[test]
fn on_another_machine_start_leaves_a_command_beside_the_agent_alone_and_stop_tells_of_it() {
    let ground = Ground::new(Kind::Ssh);
    let env = &ground.env;
    ground.create("a", &["--type", "command", "--", "sleep", "1000"]);
    let beside = ground.work_dir("a").join("beside");
    let mut running = env.spawn(["exec", "a", "echo $$ >beside; exec sleep 1000"]);
    wait_until(PATIENCE, || std::fs::read_to_string(&beside).is_ok_and(|text| text.ends_with('\n')));
    let pid = std::fs::read_to_string(&beside).unwrap().trim().to_owned();
    let is_alive = || env.mngr(["exec", "a", &format!("kill -0 {pid}")]).status.success();
    let _ = env.mngr(["start", "a", "--restart"]).success();
    assert!(is_alive() && running.is_running());
    let stopped = env.mngr(["stop", "a", "--format", "json"]).success();
    let told = format!("ended a command that ran in agent `a` with `mngr exec`: process {pid} `sleep 1000`");
    assert!(stopped.stderr.contains(&told), "{stopped}");
    assert_eq!(stopped.json()["ended_commands"][0]["command"], "sleep 1000", "{stopped}");
    assert!(!is_alive());
    assert_ne!(running.finish().status.code(), Some(0));
    assert_eq!(state(env, "a"), "STOPPED");
}
