//! One cause that would hit every task: launches stop after a few, one agent is tried now and then, and the rest waits.

use std::fs;

use super::project::Project;

/// Tests that all fail for their own cause, and agents that all fail for the same.
const TASKS: usize = 40;
/// Agents that work at once.
const AT_ONCE: usize = 4;
/// So many equal failures stop all launches.
const THRESHOLD: usize = 5;
/// How often one more is tried then.
const TRIES: usize = 2;

/// Agents that do their work only once this file is on the stage.
const MENDED: &str = "mended";

fn project() -> Project {
    let project = Project::new();
    project.set("tmr.breaker_after", &THRESHOLD.to_string());
    project.set("tmr.breaker_tries", &TRIES.to_string());
    for number in 0..TASKS {
        project.broken(&format!("t{number}"), &format!("[ -e \"$STAGE/{MENDED}\" ] || die; fix"));
    }
    project
}

/// How many agents were created, by the folders they left.
fn created(project: &Project) -> usize {
    fs::read_dir(project.env.host_dir().join("agents")).unwrap().flatten().count()
}

fn args() -> [String; 4] {
    ["--max-parallel-agents".into(), AT_ONCE.to_string(), "--no-integrator".into(), "--verify-runs=1".into()]
}

#[test]
fn a_cause_that_hits_every_agent_is_tried_a_few_times_and_is_one_line() {
    let project = project();
    let args = args();
    let (run, output) = project.run(&args.each_ref().map(String::as_str), 1);
    let ends = run.ends();
    let most = THRESHOLD + (AT_ONCE - 1) + TRIES;
    let (tried, waited) = (created(&project), ends.values().filter(|end| *end == "failed(breaker)").count());
    assert!((THRESHOLD + TRIES..=most).contains(&tried), "{tried} agents were created: {output}");
    assert!(ends.values().all(|end| end == "failed(breaker)" || end == "failed(dead)"), "{output}");
    assert!(waited >= TASKS - tried, "{waited} were not tried: {output}");
    let states: Vec<_> = run.events("breaker").map(|line| line["state"].clone()).collect();
    assert_eq!(
        states,
        ["open", "half", "open", "half", "open"],
        "one agent is tried after each pause: {output}"
    );
    // The failures are told once, with how many they are, not one by one.
    let told = output.stdout.lines().filter(|line| line.contains("not tried")).count();
    assert_eq!(told, 1, "{output}");
    project.assert_nothing_runs();
}

#[test]
fn refusals_of_one_kind_stop_launches_as_failures_do() {
    let project = Project::new();
    project.set("tmr.breaker_after", &THRESHOLD.to_string());
    project.set("tmr.breaker_tries", "1");
    for number in 0..TASKS {
        // Each claims that it mended the test, and did not.
        let lie = "echo no better >parts/$NAME; commit \"[FIX_IMPL] $NAME is good\"; publish";
        project.broken(&format!("t{number}"), lie);
    }
    let args = args();
    let (run, output) = project.run(&args.each_ref().map(String::as_str), 1);
    let tried = created(&project);
    // Those that were published before five of them were measured, and one more that was tried.
    let most = 2 * THRESHOLD + AT_ONCE + 1;
    assert!((THRESHOLD..=most).contains(&tried), "{tried} agents were created: {output}");
    let ends = run.ends();
    let is_end = |end: &String| end == "failed(breaker)" || end == "failed(verification)";
    assert!(ends.values().all(is_end), "{ends:?}");
    assert!(run.events("breaker").any(|line| line["state"] == "open"), "{output}");
    project.assert_nothing_runs();
}

#[test]
fn once_the_cause_is_gone_one_agent_finds_out_and_the_rest_goes_through() {
    let project = project();
    project.set("tmr.breaker_tries", "10");
    // Whoever is tried before the cause is gone must not have used up its tries.
    project.set("commands.tmr.retries", "9");
    let args = args();
    let running = project.start(&args.each_ref().map(String::as_str));
    project.wait_until(|run| run.events("breaker").count() > 0);
    let tried = created(&project);
    fs::write(project.stage().join(MENDED), "").unwrap();
    let output = running.finish().success();
    let run = project.seen();
    assert!(tried <= THRESHOLD + AT_ONCE, "{tried} before launches were stopped: {output}");
    assert!(run.ends().values().all(|end| end == "integrated"), "{output}");
    let states: Vec<_> = run.events("breaker").map(|line| line["state"].clone()).collect();
    assert_eq!(states.first().unwrap(), "open", "{states:?}");
    assert_eq!(states.last().unwrap(), "closed", "{states:?}");
}
