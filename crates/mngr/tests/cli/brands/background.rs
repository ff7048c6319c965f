//! What Claude Code does beside its turns, held against the log of the model it asks: sub-agents, background commands,
//! questions of sub-agents, wake-ups, compaction, errors.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mngr_testkit::model::{Brand, Scenario};
use serde_json::json;

use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

/// How long a state may be false.
const AT_MOST: Duration = Duration::from_millis(250);
/// The same where the machine has other tests to run: the program itself is late then.
const AT_MOST_UNDER_LOAD: Duration = Duration::from_secs(2);

/// One look at the agent, and the time it took.
struct Sample {
    from: Instant,
    to: Instant,
    standing: String,
}

/// Everything that was seen of the agent while something was done to it.
struct Watched(Vec<Sample>);

impl Watched {
    fn during(scene: &Scene, what: impl FnOnce()) -> Self {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let samples = scope.spawn(|| {
                let mut samples = Vec::new();
                while !is_over.load(Ordering::Acquire) {
                    let from = Instant::now();
                    let standing = scene.standing();
                    samples.push(Sample { from, to: Instant::now(), standing });
                }
                samples
            });
            // A failure in there must not keep the other thread going.
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(what));
            is_over.store(true, Ordering::Release);
            let samples = samples.join().unwrap();
            if let Err(panic) = done {
                std::panic::resume_unwind(panic);
            }
            Self(samples)
        })
    }

    /// The longest time for which the agent was said to wait for somebody while the model was answering it, and for which
    /// it was said to work after the model's last word.
    fn falsehoods(&self, scene: &Scene) -> (Duration, Duration) {
        let asked: Vec<(Instant, Instant)> = scene
            .model
            .requests()
            .iter()
            .filter(|request| request.scenario.is_some())
            .map(|request| (request.at, request.answered.unwrap_or_else(Instant::now)))
            .collect();
        let last = asked.iter().map(|(_, answered)| *answered).max();
        let mut idle = Duration::ZERO;
        let mut busy = Duration::ZERO;
        for sample in &self.0 {
            if sample.standing.starts_with("WAITING") && !sample.standing.ends_with("PERMISSIONS") {
                // How long it had been answering when the look began that did not see it.
                let since = asked.iter().filter(|(at, answered)| *at < sample.from && sample.to < *answered);
                idle = since.map(|(at, _)| sample.from - *at).fold(idle, Duration::max);
            }
            if let ("RUNNING", Some(last)) = (sample.standing.as_str(), last) {
                busy = busy.max(sample.from.saturating_duration_since(last));
            }
        }
        (idle, busy)
    }

    #[track_caller]
    #[expect(clippy::print_stdout, reason = "the figures are what such a test is run for")]
    fn assert_true(&self, scene: &Scene, limit: Duration) {
        let (idle, busy) = self.falsehoods(scene);
        println!("{} looks; at most {idle:?} of false WAITING, {busy:?} of false RUNNING", self.0.len());
        assert!(idle <= AT_MOST && busy <= limit, "false WAITING for {idle:?}, false RUNNING for {busy:?}");
    }
}

fn agent_tool(task: &str, prompt: &str) -> Scenario {
    let input = json!({"description": task, "prompt": prompt, "subagent_type": "general-purpose"});
    Scenario::Call { tool: "Agent".into(), input }
}

fn background_command(command: &str, what: &str) -> Scenario {
    let input = json!({"command": command, "description": what, "run_in_background": true});
    Scenario::Call { tool: "Bash".into(), input }
}

fn pause(millis: u64) -> Scenario {
    Scenario::Think(Duration::from_millis(millis))
}

/// How often the model was asked in a conversation, and whether it has answered each time.
fn answers(scene: &Scene) -> (usize, bool) {
    let requests = scene.model.requests();
    let asked: Vec<_> = requests.iter().filter(|request| request.scenario.is_some()).collect();
    (asked.len(), asked.iter().all(|request| request.answered.is_some()))
}

/// Says it, and waits for `WAITING` as a script would, which must come after the last answer. In auto mode Claude Code may ask
/// more often than its conversation needs: what a sub-agent did is checked, too.
fn say_and_wait(scene: &Scene, words: &str, answered: usize) {
    let before = answers(scene).0;
    scene.say(words);
    let waited = scene.env.mngr(["wait", NAME, "WAITING", "--interval", "1h", "--timeout", "60s"]).success();
    let (asked, is_answered) = answers(scene);
    assert!(is_answered && asked >= before + answered, "{words}: {asked} after {before}: {waited}");
    let goes_on = mngr_testkit::wait_until(Duration::from_secs(1), || answers(scene).0 > asked);
    assert!(!goes_on, "{words}: it went on after {waited}");
}

/// A sub-agent that leaves a command behind, ends, and is woken by the end of the command.
fn sub_agents_command(scene: &Scene) {
    scene.model.rehearse_scene(
        "send somebody",
        [agent_tool("look around", "be the scout"), Scenario::Echo, pause(400), pause(400)],
    );
    scene.model.rehearse_scene(
        "be the scout",
        [background_command("sleep 2; echo over", "counts sheep"), Scenario::Echo, pause(600)],
    );
    say_and_wait(scene, "send somebody", 7);
}

/// A sub-agent whose command has to be allowed.
fn sub_agents_question(scene: &Scene) {
    scene
        .model
        .rehearse_scene("send a maker", [agent_tool("make it", "be the maker"), Scenario::Echo, pause(300)]);
    let made = Scenario::Tool { command: "touch made-by-a-sub-agent".into() };
    scene.model.rehearse_scene("be the maker", [made, pause(500)]);
    scene.provoke("send a maker");
    scene.wait_for("WAITING PERMISSIONS");
    let asking = agent(&scene.env, NAME);
    assert_eq!(asking["background"][0]["type"], "subagent", "{asking}");
    wait_until(PATIENCE, || {
        scene.press("Enter");
        scene.standing() != "WAITING PERMISSIONS"
    });
    scene.wait_for(IDLE);
    assert!(work_dir(&scene.env, NAME).join("made-by-a-sub-agent").exists());
}

/// The conversation is summed up.
fn compaction(scene: &Scene) {
    scene.model.set_scenario(pause(800));
    scene.say("/compact");
    scene.wait_for("RUNNING");
    scene.wait_for(IDLE);
    scene.model.set_scenario(Scenario::Echo);
}

/// It sets itself an alarm.
fn wake_up(scene: &Scene) {
    let input = json!({"delaySeconds": 60, "reason": "to see", "prompt": "look now"});
    let alarm = Scenario::Call { tool: "ScheduleWakeup".into(), input };
    scene.model.rehearse_scene("look later", [alarm, Scenario::Echo]);
    say_and_wait(scene, "look later", 2);
}

#[test]
fn what_sub_agents_do_is_work_and_waiting_comes_after_the_last_answer() {
    let scene = Scene::with_agent(Brand::Claude);
    let watched = Watched::during(&scene, || sub_agents_command(&scene));
    watched.assert_true(&scene, AT_MOST_UNDER_LOAD);
    assert_eq!(agent(&scene.env, NAME)["background"], json!([]));
}

#[test]
fn a_sub_agents_question_a_compaction_and_a_wake_up_are_seen() {
    let scene = Scene::with_agent(Brand::Claude);
    let watched = Watched::during(&scene, || {
        sub_agents_question(&scene);
        compaction(&scene);
        wake_up(&scene);
    });
    watched.assert_true(&scene, AT_MOST_UNDER_LOAD);
    let alarmed = agent(&scene.env, NAME);
    let wakeup = &alarmed["wakeups"][0];
    assert_eq!(
        (&wakeup["prompt"], &wakeup["is_recurring"]),
        (&json!("look now"), &json!(false)),
        "{alarmed}"
    );
    let at = text(&wakeup["at"]);
    let listed = scene.env.mngr(["list"]).success().stdout;
    assert!(!at.is_empty() && listed.contains(&format!("wakes at {at}")), "{at}: {listed}");
    let explained = scene.env.mngr(["explain", NAME]).success().stdout;
    assert!(explained.contains("look now"), "{explained}");
}

#[test]
fn a_background_command_is_work_for_a_while_and_ends_with_the_agent() {
    let scene = Scene::with_agent(Brand::Claude);
    scene.model.rehearse_scene("serve", [background_command("sleep 300", "a server"), Scenario::Echo]);
    scene.say("serve");
    wait_until(PATIENCE, || answers(&scene) == (2, true));
    // The turn is over, and its command goes on.
    wait_until(PATIENCE, || {
        text(&agent(&scene.env, NAME)["state_evidence"]).contains("1 shell in the background")
    });
    let working = agent(&scene.env, NAME);
    assert_eq!(
        (&working["state"], &working["waiting_reason"]),
        (&json!("RUNNING"), &json!(null)),
        "{working}"
    );
    let server = &working["background"][0];
    assert_eq!((&server["type"], &server["description"]), (&json!("shell"), &json!("a server")), "{working}");
    assert!(!text(&server["since"]).is_empty(), "{working}");
    let listed = scene.env.mngr(["list"]).success().stdout;
    assert!(listed.contains("RUNNING (1 shell in the background)"), "{listed}");
    let explained = scene.env.mngr(["explain", NAME]).success().stdout;
    assert!(explained.contains("shell") && explained.contains("a server"), "{explained}");
    // Nothing happens when patience ends, so nothing but the time may wake whoever waits.
    let wait =
        ["wait", NAME, "WAITING", "--interval", "1h", "--timeout", "30s", "-S", "background_patience=3s"];
    let _ = scene.env.mngr(wait).success();
    let impatient = ["list", "--format", "json", "-S", "background_patience=0"];
    let listed = scene.env.mngr(impatient).success().json();
    assert_eq!(listed["agents"][0]["waiting_reason"], "BACKGROUND", "{listed}");
    // It takes messages as any agent does, and is not done with its command by that.
    say_and_wait_for_background(&scene);
    let _ = scene.env.mngr(["stop", NAME]).success();
    assert_eq!(scene.env.processes(), Vec::<u32>::new());
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.wait_for(IDLE);
    assert_eq!(agent(&scene.env, NAME)["background"], json!([]));
}

fn say_and_wait_for_background(scene: &Scene) {
    scene.say("and you?");
    wait_until(PATIENCE, || answers(scene) == (3, true));
    wait_until(PATIENCE, || {
        text(&agent(&scene.env, NAME)["state_evidence"]).contains("1 shell in the background")
    });
}

#[test]
fn failures_of_the_service_are_told_from_the_end_of_a_turn() {
    let mut scene = Scene::of(Brand::Claude);
    // It would try again for minutes.
    scene.env.set_var("CLAUDE_CODE_MAX_RETRIES", "1");
    let _ = scene.create(&[]).success();
    for code in ["529", "500", "400"] {
        scene.say(&format!("[[{code}]]"));
        scene.wait_for("WAITING API_ERROR");
        let evidence = text(&agent(&scene.env, NAME)["state_evidence"]);
        assert!(evidence.contains(code), "{code}: {evidence}");
    }
    scene.say("all well again");
    scene.wait_for(IDLE);
}

#[test]
fn soak_states_agree_with_the_log_in_every_scene() {
    let scene = Scene::with_agent(Brand::Claude);
    for _ in 0..6 {
        let before = scene.model.requests().len();
        for play in [sub_agents_command, sub_agents_question, compaction] {
            let watched = Watched::during(&scene, || {
                play(&scene);
                // Long enough to see that it stays so.
                std::thread::sleep(Duration::from_millis(600));
            });
            watched.assert_true(&scene, AT_MOST);
        }
        assert!(scene.model.requests().len() > before);
    }
    wake_up(&scene);
    let asked = answers(&scene).0;
    let watched = Watched::during(&scene, || {
        assert!(mngr_testkit::wait_until(Duration::from_secs(130), || answers(&scene) == (asked + 1, true)));
        scene.wait_for(IDLE);
    });
    watched.assert_true(&scene, AT_MOST);
    assert_eq!(agent(&scene.env, NAME)["wakeups"], json!([]));
    let _ = scene.env.mngr(["stop", NAME]).success();
    assert_eq!(scene.env.processes(), Vec::<u32>::new());
}
