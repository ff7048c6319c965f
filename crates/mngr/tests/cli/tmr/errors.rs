//! Whatever can go wrong in a run, one test each: it ends with the name of what went wrong, and everybody else goes through.

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::CmdOutput;
use rustix::process::Signal;
use serde_json::Value;

use super::finished::Finished;
use super::project::Project;
use crate::support::text;

/// A project with one agent that does well and one that does this.
#[track_caller]
fn beside_a_good_one(part: &str) -> Project {
    let project = Project::new();
    project.broken("good", "fix");
    project.broken("odd", part);
    project
}

/// Runs it without second tries; the good agent must go through, and the other end like this, with these words about it.
#[track_caller]
fn assert_ends<'p>(project: &'p Project, args: &[&str], end: &str, words: &str) -> (Finished<'p>, CmdOutput) {
    let args: Vec<&str> = ["--retries", "0"].iter().chain(args).copied().collect();
    let (run, output) = project.run(&args, 0);
    let (ends, evidence) = (run.ends(), run.evidence("tests/odd.sh"));
    assert_eq!(
        (ends["tests/odd.sh"].as_str(), ends["tests/good.sh"].as_str()),
        (end, "integrated"),
        "{output}"
    );
    assert!(evidence.contains(words), "{evidence}");
    assert!(end == "integrated" || output.stdout.contains(end), "{output}");
    project.assert_nothing_runs();
    (run, output)
}

/// How many agents each test got.
fn launches(run: &Finished<'_>, name: &str) -> usize {
    let task = format!("tests/{name}.sh");
    run.events("stage").filter(|line| line["stage"] == "launching" && line["task"] == *task).count()
}

/// The steps of putting results together that are about the integrator.
fn asked(run: &Finished<'_>) -> Vec<Value> {
    run.events("integration").filter(|line| line["step"] == "asked").cloned().collect()
}

#[test]
fn tests_that_cannot_be_found_end_it_before_any_agent() {
    let project = Project::new();
    for (command, words) in [("echo nonsense >&2; exit 3", "nonsense"), (":", "no test")] {
        project.set("tmr.collectors.parts.collect", command);
        let output = project.start(&[]).finish().code(1);
        assert!(output.stderr.contains(words), "{output}");
        assert!(!project.folder().exists(), "{output}");
    }
    assert_eq!(project.env.mngr(["list"]).success().stdout, "No agents found\n");
}

#[test]
fn an_agent_that_cannot_be_created_is_one_failure_among_good_ones() {
    let project = beside_a_good_one("fix");
    let command = "case $(git branch --show-current) in */tests-odd-sh) echo no room >&2; exit 1 ;; esac";
    project.set("agent_types.player.extra_provision_command", &format!("[\"{command}\"]"));
    let _ = assert_ends(&project, &[], "failed(launch)", "no room");
    assert_eq!(project.git(&["branch", "--list", "tmr/1/tests-odd-sh"]), "", "nothing is left of it");
}

#[test]
fn an_agent_whose_creation_hangs_holds_up_nobody() {
    let project = beside_a_good_one("fix");
    let command = "case $(git branch --show-current) in */tests-odd-sh) sleep 1000 ;; esac";
    project.set("agent_types.player.extra_provision_command", &format!("[\"{command}\"]"));
    project.set("tmr.launch_timeout", "3s");
    let _ = assert_ends(&project, &[], "failed(launch)", "did not finish within 3 s and was ended");
    assert_eq!(project.git(&["branch", "--list", "tmr/1/tests-odd-sh"]), "", "nothing is left of it");
    assert_eq!(project.env.processes(), [0; 0]);
}

#[test]
fn a_run_whose_agents_all_cannot_be_created_has_failed() {
    let project = beside_a_good_one("fix");
    project.set("agent_types.player.extra_provision_command", "[\"exit 1\"]");
    let (run, _) = project.run(&["--retries", "0"], 1);
    assert!(run.ends().values().all(|end| end == "failed(launch)"), "{:?}", run.ends());
    assert_eq!(run.events("integration").count(), 0);
}

#[test]
fn an_agent_that_dies_is_noticed_at_once() {
    let project = beside_a_good_one("echo I give up; die");
    let began = Instant::now();
    let (run, _) = assert_ends(&project, &[], "failed(dead)", "signal 9");
    assert_eq!(launches(&run, "odd"), 1, "`--retries 0`");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_second_agent_helps_where_the_first_one_died() {
    let project = beside_a_good_one("[ $MNGR_TMR_ATTEMPT = 2 ] || die; fix");
    let (run, output) = project.run(&[], 0);
    assert_eq!(run.ends()["tests/odd.sh"], "integrated", "{output}");
    assert_eq!((launches(&run, "odd"), launches(&run, "good")), (2, 1));
}

#[test]
fn the_terminals_of_all_agents_may_vanish_together() {
    let project = Project::new();
    for name in ["one", "two"] {
        project.broken(name, "[ $MNGR_TMR_ATTEMPT = 2 ] || hang; fix");
    }
    let running = project.start(&[]);
    project.wait_until(|run| run.ends().values().filter(|end| *end == "working").count() == 2);
    let _ = project.env.tmux(["kill-server"]).success();
    let output = running.finish().success();
    let run = project.seen();
    assert!(run.ends().values().all(|end| end == "integrated"), "{output}");
    let dead = run.events("stage").filter(|line| line["kind"] == "dead");
    assert_eq!(dead.count(), 2, "{output}");
}

#[test]
fn an_agent_that_is_destroyed_by_hand_is_dead() {
    let project = beside_a_good_one("hang");
    let running = project.start(&["--retries", "0"]);
    project.wait_for_stage("tests/odd.sh", "working");
    let _ = project.env.mngr(["destroy", "tmr-1-tests-odd-sh", "--force"]).success();
    let output = running.finish().success();
    let run = project.seen();
    assert_eq!(run.ends()["tests/odd.sh"], "failed(dead)", "{output}");
    // It is seen to be stopped, or to be gone.
    let evidence = run.evidence("tests/odd.sh");
    assert!(["it was destroyed", "stopped on request"].contains(&evidence.as_str()), "{evidence}");
}

#[test]
fn an_agent_that_stops_without_publishing_is_reminded_once() {
    let project = beside_a_good_one("echo All done");
    let _ = assert_ends(&project, &[], "failed(no_publish)", "it stopped without publishing");
    assert_eq!(turns(&project, "odd"), 2);
}

#[test]
fn a_reminder_helps() {
    let project = beside_a_good_one("[ $TURN = 2 ] || exit 0; fix");
    let (run, _) = assert_ends(&project, &[], "integrated", "");
    assert_eq!((launches(&run, "odd"), turns(&project, "odd")), (1, 2));
}

#[test]
fn an_agent_that_asks_is_reminded_and_then_given_up() {
    let project = beside_a_good_one(
        "echo QUESTION >$MNGR_AGENT_STATE_DIR/waiting; rm $MNGR_AGENT_STATE_DIR/active; hang",
    );
    let _ = assert_ends(&project, &[], "failed(asking)", "it asks and nobody answers");
}

#[test]
fn an_agent_whose_service_refuses_requests_is_named_so() {
    let project = beside_a_good_one("echo limit reached; hang");
    project.set("agent_types.player.screen.limit.pattern", "^limit reached");
    project.set("agent_types.player.screen.limit.state", "WAITING");
    project.set("agent_types.player.screen.limit.reason", "RATE_LIMITED");
    let _ = assert_ends(&project, &[], "failed(rate_limited)", "its service refuses requests");
}

#[test]
fn an_agent_that_is_not_logged_in_is_not_waited_for() {
    let project = beside_a_good_one("echo please log in; hang");
    project.set("agent_types.player.screen.login.pattern", "^please log in");
    project.set("agent_types.player.screen.login.state", "WAITING");
    project.set("agent_types.player.screen.login.reason", "AUTH");
    let (run, output) = project.run(&["--retries", "3"], 0);
    assert_eq!(run.ends()["tests/odd.sh"], "failed(auth)", "{output}");
    assert_eq!(launches(&run, "odd"), 1, "another one would not be logged in either");
}

#[test]
fn an_agent_without_a_sign_of_work_is_silent() {
    let project = beside_a_good_one("hang");
    project.set("tmr.silent_after", "3s");
    let _ = assert_ends(&project, &[], "failed(silent)", "it shows no sign of work");
}

#[test]
fn an_agent_that_only_looks_busy_ends_at_its_time() {
    let project = beside_a_good_one("while :; do echo busy; sleep 0.2; done");
    project.set("tmr.silent_after", "2s");
    let _ = assert_ends(&project, &["--timeout", "6s"], "failed(timeout)", "it published nothing within 6 s");
}

#[test]
fn a_damaged_archive_is_sent_back_once_and_then_refused() {
    let project = beside_a_good_one("echo this is not an archive >$DESK/junk; mv $DESK/junk $ARCHIVE");
    let _ = assert_ends(&project, &[], "failed(bad_outcome)", "not a gzip file, or is damaged");
    assert_eq!(turns(&project, "odd"), 2);
}

#[test]
fn an_outcome_that_is_not_json_is_sent_back_once_and_then_refused() {
    let project = beside_a_good_one("mend || :; say 'Dear diary'");
    let _ = assert_ends(&project, &[], "failed(bad_outcome)", "`outcome.json` is not valid JSON");
    assert_eq!(turns(&project, "odd"), 2);
}

#[test]
fn telling_an_agent_what_is_wrong_helps() {
    let project =
        beside_a_good_one("[ $TURN = 2 ] || { mend; say '{\"result\": \"fixed\"}'; exit; }; publish");
    let (run, _) = assert_ends(&project, &[], "integrated", "");
    assert_eq!((launches(&run, "odd"), turns(&project, "odd")), (1, 2));
}

#[test]
fn commits_that_cannot_be_read_are_refused() {
    let project = beside_a_good_one(
        "[ $TURN = 2 ] || mend; outcome >$DESK/outcome.json; cd $DESK; echo junk >branch.bundle
        tar -czf all outcome.json branch.bundle; mv all $ARCHIVE",
    );
    let _ = assert_ends(&project, &[], "failed(bad_outcome)", "the bundle of commits cannot be read");
}

#[test]
fn an_agent_that_does_not_want_to_be_stopped_is_ended_all_the_same() {
    let project = beside_a_good_one("trap '' TERM HUP INT; fix; while :; do sleep 1; done");
    project.set("stop.grace_seconds", "0.5");
    let _ = assert_ends(&project, &[], "integrated", "");
    assert_eq!(project.env.processes(), [0; 0]);
}

#[test]
fn without_any_result_there_is_no_branch_and_nobody_is_asked_to_put_anything_together() {
    let project = Project::new();
    project.broken("one", "die");
    project.broken("two", "die");
    project.part("integrator", "publish_clean");
    let (run, _) = project.run(&["--retries", "0"], 1);
    assert!(run.ends().values().all(|end| end == "failed(dead)"), "{:?}", run.ends());
    assert_eq!(run.events("integration").count(), 0);
    assert_eq!(project.git(&["branch", "--list", "tmr/1/integrated"]), "");
}

/// A good change, two that do not fit beside each other, and an integrator that does this.
#[track_caller]
fn conflict(part: &str) -> Project {
    let project = Project::new();
    project.broken("good", "fix");
    project.conflict(part);
    project
}

/// Runs it; the integrator must come to nothing, with these words about it, and the rest go through.
#[track_caller]
fn assert_without_integrator(project: &Project, args: &[&str], kind: &str, words: &str) {
    let (run, output) = project.run(args, 0);
    let ends = run.ends();
    let found = [&ends["tests/good.sh"], &ends["tests/left.sh"], &ends["tests/right.sh"]];
    assert_eq!(found, ["integrated", "integrated", "failed(conflict)"], "{output}");
    assert_eq!(run.log("%s").len(), 2);
    let last = asked(&run).pop().expect("somebody was asked");
    assert_eq!(last["kind"], kind, "{last}");
    assert!(text(&last["reason"]).contains(words), "{last}");
    project.assert_nothing_runs();
}

#[test]
fn an_integrator_that_cannot_be_created_takes_nothing_away() {
    let project = conflict("publish_clean");
    let command = "case $(git branch --show-current) in */reducer) echo no room >&2; exit 1 ;; esac";
    project.set("agent_types.player.extra_provision_command", &format!("[\"{command}\"]"));
    assert_without_integrator(&project, &[], "launch", "no room");
}

#[test]
fn an_integrator_that_is_too_slow_takes_nothing_away() {
    let project = conflict("hang");
    assert_without_integrator(&project, &["--reducer-timeout", "3s"], "timeout", "within 3 s");
}

#[test]
fn an_integrator_that_publishes_junk_takes_nothing_away() {
    let project = conflict("echo this is not an archive >$DESK/junk; mv $DESK/junk $ARCHIVE");
    assert_without_integrator(&project, &[], "bad_outcome", "not a gzip file, or is damaged");
}

#[test]
fn a_report_that_cannot_be_written_ends_nothing() {
    let project = beside_a_good_one("fix");
    fs::create_dir(project.folder()).unwrap();
    fs::write(project.folder().join("report"), "in the way").unwrap();
    let (_, output) = assert_ends(&project, &[], "integrated", "");
    assert!(output.stderr.contains("report"), "{output}");
}

#[test]
fn a_run_whose_orchestrator_was_killed_is_gone_on_with() {
    let project = beside_a_good_one("wait_for $STAGE/go; fix");
    let running = project.start(&[]);
    project.wait_for_stage("tests/odd.sh", "working");
    running.signal(Signal::KILL);
    let _ = running.finish();
    let status = project.env.mngr(["tmr", "status", "--format", "json"]).json();
    assert_eq!(status["state"], "abandoned", "{status}");
    fs::write(project.stage().join("go"), "").unwrap();
    let output = project.env.mngr(["tmr", "resume"]).success();
    let run = project.seen();
    assert!(run.ends().values().all(|end| end == "integrated"), "{output}");
    assert_eq!((launches(&run, "odd"), turns(&project, "odd")), (1, 1), "it was taken over");
}

/// How many messages the agent of a test got.
#[track_caller]
fn turns(project: &Project, name: &str) -> usize {
    let state = crate::support::state_dir(&project.env, &format!("tmr-1-tests-{name}-sh"));
    fs::read_to_string(state.join("plugin/desk/turns")).unwrap().lines().count()
}
