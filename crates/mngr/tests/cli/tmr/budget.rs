//! Hard limits: what a run may use, kept to within one turn of each running agent.

use std::fs;

use super::project::{Project, RUN};

/// What an agent uses with each turn.
const TURN_TOKENS: u64 = 1000;
const TURN_DOLLARS: f64 = 0.25;

/// Agents that work at once.
const AT_ONCE: &str = "2";

/// What a turn costs, its part, and more turns that bring nothing.
const STEPS: [&str; 8] = [
    "read",
    "spend 1000 0.25",
    r#"run sh "$STAGE/behave.sh" "$PPID""#,
    "sleep 3s",
    "spend 1000 0.25",
    "sleep 3s",
    "spend 1000 0.25",
    "hang",
];

/// Two agents that do well in their first turn, then four that never come to an end.
fn project() -> Project {
    let project = Project::new();
    project.part("integrator", "publish_clean");
    project.set("agent_types.player.cli_args", &serde_json::json!(STEPS).to_string());
    ["a", "b"].iter().for_each(|name| project.broken(name, "fix"));
    ["c", "d", "e", "f"].iter().for_each(|name| project.broken(name, ":"));
    project
}

/// Tokens and dollars that all agents have used, by their own books.
fn spent(project: &Project) -> (u64, f64) {
    let agents = fs::read_dir(project.env.host_dir().join("agents")).unwrap().flatten();
    let books =
        agents.filter_map(|agent| fs::read_to_string(agent.path().join("plugin/scripted/usage.jsonl")).ok());
    let turns = books.map(|book| book.lines().count()).sum::<usize>();
    (turns as u64 * TURN_TOKENS, turns as f64 * TURN_DOLLARS)
}

/// Runs the project with a limit; whether what came before it counts, and the rest is stopped or not begun.
#[track_caller]
fn limited(option: &str, value: &str, kind: &str) -> Project {
    let project = project();
    let (run, output) = project.run(&["--max-parallel-agents", AT_ONCE, option, value], 1);
    let ends = run.ends();
    for name in ["a", "b"] {
        assert_eq!(ends[&format!("tests/{name}.sh")], "integrated", "{output}");
    }
    for name in ["c", "d", "e", "f"] {
        assert_eq!(ends[&format!("tests/{name}.sh")], "failed(budget)", "{output}");
    }
    let noted: Vec<_> = run.events("budget").map(|line| line["limit"].clone()).collect();
    assert_eq!(noted, [kind], "{output}");
    assert_eq!(run.log("%s").len(), 2, "what was done before is put together: {output}");
    drop(run);
    project.assert_nothing_runs();
    project
}

fn launched(project: &Project) -> usize {
    project.seen().events("stage").filter(|line| line["stage"] == "launching").count()
}

#[test]
fn tokens_are_exceeded_by_at_most_one_turn_of_each_running_agent_and_more_of_them_finish_the_run() {
    let project = limited("--max-tokens", "3500", "tokens");
    let before = launched(&project);
    assert!(spent(&project).0 <= 3500 + 2 * TURN_TOKENS, "{:?}", spent(&project));

    ["c", "d", "e", "f"].iter().for_each(|name| project.part(name, "fix"));
    let too_little = project.env.mngr(["tmr", "resume", RUN]).code(1);
    assert_eq!(launched(&project), before, "nothing is left of the old limit: {too_little}");
    let output = project.env.mngr(["tmr", "resume", RUN, "--max-tokens", "100000"]).success();
    let run = project.seen();
    assert!(run.ends().values().all(|end| end == "integrated"), "{output}");
    assert_eq!(launched(&project), before + 4, "who was not launched or was stopped gets an agent: {output}");
}

#[test]
fn money_is_exceeded_by_at_most_one_turn_of_each_running_agent() {
    let project = limited("--max-cost", "0.80", "cost");
    assert!(spent(&project).1 <= 0.80 + 2.0 * TURN_DOLLARS, "{:?}", spent(&project));
}

#[test]
fn a_run_that_takes_too_long_is_ended_with_what_it_has() {
    let _ = limited("--max-wall", "9s", "wall");
}

#[test]
fn no_more_agents_are_launched_than_allowed_and_those_at_work_finish() {
    let project = project();
    ["c", "d", "e", "f"].iter().for_each(|name| project.part(name, "fix"));
    // What only repeats itself is no reason to ask an integrator.
    let (run, output) = project.run(&["--max-parallel-agents", AT_ONCE, "--max-agents", "3"], 1);
    assert!(!run.events("integration").any(|line| line["step"] == "asked"), "{output}");
    let count = |wanted: &str| run.ends().values().filter(|end| *end == wanted).count();
    assert_eq!((count("integrated"), count("failed(budget)")), (3, 3), "{output}");
    assert_eq!(launched(&project), 3);
    assert!(output.stdout.contains("limit") || output.stderr.contains("limit"), "{output}");
}

#[test]
fn the_integrator_is_an_agent_like_any_other_and_stopped_at_the_limit() {
    let project = project();
    ["c", "d", "e", "f"].iter().for_each(|name| project.part(name, "fix"));
    project.conflict(":");
    let (run, output) = project.run(&["--max-tokens", "8500"], 0);
    let asked: Vec<_> = run.events("integration").filter(|line| line["step"] == "asked").collect();
    assert_eq!(asked.last().unwrap()["kind"], "budget", "{output}");
    let ends = run.ends();
    let is_left = |name: &str| name == "tests/right.sh";
    let whole = ends.iter().all(|(name, end)| is_left(name) || end == "integrated");
    assert!(whole, "the run is whole without it: {output}");
    // What it has used counts in the run.
    let status = project.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    assert_eq!(status["totals"]["agents"], 9, "{status}");
    assert_eq!(status["totals"]["tokens"], spent(&project).0, "{status}");
    assert!(spent(&project).0 <= 8500 + TURN_TOKENS, "{:?}", spent(&project));
    project.assert_nothing_runs();
}
