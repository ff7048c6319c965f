//! How soon a change of an agent's state is seen from outside.

use std::time::{Duration, Instant};

use mngr_testkit::Running;
use mngr_testkit::model::Brand;

use super::mixed::Times;
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

/// The longest from the model's last byte until the end of the turn is seen.
const TURN_END: Duration = Duration::from_millis(250);
/// The longest from Escape until the agent is seen to wait.
const INTERRUPT: Duration = Duration::from_secs(3);
/// The longest from the end of the model's call of a tool until the dialog about it is seen.
const DIALOG: Duration = Duration::from_secs(1);

/// How many changes of each kind `make test` looks at, and `make soak`.
const FEW: usize = 3;
const MANY: usize = 10;

#[test]
fn what_claude_does_is_seen_in_time() {
    all_is_seen_in_time(Brand::Claude, FEW);
}

#[test]
fn what_codex_does_is_seen_in_time() {
    all_is_seen_in_time(Brand::Codex, FEW);
}

#[test]
fn soak_what_claude_does_is_seen_in_time() {
    all_is_seen_in_time(Brand::Claude, MANY);
}

#[test]
fn soak_what_codex_does_is_seen_in_time() {
    all_is_seen_in_time(Brand::Codex, MANY);
}

/// Brings about one change and says how long it took until it was seen.
type Measure = fn(&Scene) -> Duration;

fn all_is_seen_in_time(brand: Brand, count: usize) {
    let scene = Scene::with_agent(brand);
    let kinds: [(&str, Duration, Measure); 4] = [
        ("end of a turn, by `wait`", TURN_END, turn_end_by_wait),
        ("end of a turn, by `list`", TURN_END, turn_end_by_list),
        ("interrupt, by `wait`", INTERRUPT, interrupt_by_wait),
        ("permission dialog, by `wait`", DIALOG, dialog_by_wait),
    ];
    for (what, limit, measure) in kinds {
        let times = Times::of((0..count).map(|_| measure(&scene)).collect());
        times.print(&format!("{}: {what}", brand.program()));
        // Not the longest: that one measures what else the machine had to do.
        assert!(times.percentile(50) <= limit, "{what} was seen after {:?}", times.percentile(50));
    }
}

/// Waits for the agent in another process.
fn waiter(scene: &Scene) -> Running {
    scene.env.spawn(["wait", NAME, "--state", "WAITING", "--timeout", "20s"])
}

/// Since the model's last byte.
#[track_caller]
fn since_the_answer(scene: &Scene, seen: Instant) -> Duration {
    let requests = scene.model.requests();
    let asked = requests.iter().rfind(|request| request.scenario.is_some()).expect("a request");
    let answered = asked.answered.expect("the turn was over before the model had answered");
    seen.saturating_duration_since(answered)
}

fn turn_end_by_wait(scene: &Scene) -> Duration {
    scene.say("[[think 700]]");
    let _ = waiter(scene).finish().success();
    let since = since_the_answer(scene, Instant::now());
    assert_eq!(scene.standing(), IDLE);
    since
}

fn turn_end_by_list(scene: &Scene) -> Duration {
    scene.say("[[think 700]]");
    scene.wait_for(IDLE);
    since_the_answer(scene, Instant::now())
}

fn interrupt_by_wait(scene: &Scene) -> Duration {
    scene.say("[[think 60000]]");
    scene.wait_for("RUNNING");
    let waiter = waiter(scene);
    // It may take a moment until Escape is listened to, and until the other process has begun to wait.
    wait_until(PATIENCE, || scene.screen().contains("esc"));
    scene.press("Escape");
    let pressed = Instant::now();
    let _ = waiter.finish().success();
    let since = pressed.elapsed();
    // What was interrupted before it was answered may be back in the box.
    scene.clear_box();
    since
}

fn dialog_by_wait(scene: &Scene) -> Duration {
    scene.provoke("[[tool]]");
    let _ = waiter(scene).finish().success();
    let since = since_the_answer(scene, Instant::now());
    assert_eq!(scene.standing(), "WAITING PERMISSIONS");
    scene.escape_the_dialog();
    since
}
