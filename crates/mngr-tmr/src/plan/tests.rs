//! From tests to a plan: what is run before any agent, and who gets one.

use std::time::Duration;

use mngr_model::run::{Entry, Event, RunName, Started, TaskId};
use mngr_model::run::{LimitKind, QueueReason, Run};

use super::*;
use crate::budget::Limits;
use crate::collect::testing::Project;
use crate::collect::{Collector, Selection};

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

fn collector(settings: &str, paths: &[&str]) -> Collector {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    Collector::named("c", &toml::from_str(settings).unwrap(), Selection { paths, flags: Vec::new() }).unwrap()
}

fn findings(tested: &[Tested]) -> Vec<(&str, Finding)> {
    tested.iter().map(|tested| (tested.task.as_str(), tested.finding)).collect()
}

const FILES: &[(&str, &str)] = &[
    ("t/a.sh", "exit 0"),
    ("t/b.sh", "exit 1"),
    ("t/c.sh", "[ -z \"$TOGETHER\" ]"),
    ("t/d.sh", "exit 0"),
    // Prints a result for each test but the last, and fails as a whole.
    (
        "all.sh",
        "export TOGETHER=1; echo noise; for t in \"$@\"; do case $t in *d.sh) continue;; esac; \
        sh $t; case $? in 0) echo \"$t ok\";; 4) echo \"$t skipped\";; *) echo \"$t FAILED\" >&2;; esac; done; exit 1",
    ),
    ("t/e.sh", "exit 4"),
];
const TOGETHER: &str = "[c]\ncollect = 'ls t/*.sh'\none = 'sh {id}'\nmany = 'sh all.sh {ids}'\npassed = ['ok']\n\
    skipped = ['skipped']\nresult_pattern = '^(?<id>\\S+) (?<status>\\w+)$'";

#[test]
fn a_test_is_run_alone_when_it_fails_with_others_or_nothing_is_said_of_it() {
    use Finding::{Failing, Passing, Skipped, Unstable};
    let project = Project::new(FILES);
    let c = collector(TOGETHER, &[]);
    let tests = c.collect(&project.bench()).unwrap();
    let tested = pre_run(&c, &project.bench(), tests).unwrap();
    assert_eq!(
        findings(&tested),
        [
            ("t/a.sh", Passing),
            ("t/b.sh", Failing),
            ("t/c.sh", Unstable),
            ("t/d.sh", Passing),
            ("t/e.sh", Skipped)
        ]
    );
    assert!(tested[3].evidence.contains("status 0"), "{}", tested[3].evidence);
}

#[test]
fn without_a_way_to_run_many_each_test_is_run_alone() {
    let project = Project::new(&[("t/a.sh", "exit 0"), ("t/b.sh", "exit 1"), ("t/c.sh", "sleep 30")]);
    let c = collector("[c]\ncollect = 'ls t/*.sh'\none = 'sh {id}'\none_timeout = '300ms'", &[]);
    let tests = c.collect(&project.bench()).unwrap();
    let tested = pre_run(&c, &project.bench(), tests).unwrap();
    let expected = [("t/a.sh", Finding::Passing), ("t/b.sh", Finding::Failing), ("t/c.sh", Finding::Failing)];
    assert_eq!(findings(&tested), expected);
    assert!(tested[2].evidence.contains("did not end"), "{}", tested[2].evidence);
}

fn tested(finding: Finding, name: &str) -> Tested {
    Tested { task: id(name), finding, evidence: "seen".into(), failure: String::new() }
}

fn some_tests() -> Vec<Tested> {
    vec![
        tested(Finding::Passing, "green"),
        tested(Finding::Skipped, "skipped"),
        tested(Finding::Failing, "red"),
        tested(Finding::Unstable, "unstable"),
        tested(Finding::Passing, "wanted"),
    ]
}

fn reasons(plan: &Plan) -> Vec<(&str, QueueReason)> {
    plan.tasks.iter().map(|planned| (planned.task.as_str(), planned.reason)).collect()
}

#[test]
fn what_passes_needs_no_agent_unless_it_is_named_or_all_are_asked_for() {
    use QueueReason::{All, Failing, Named, Passing, Skipped, Unstable};
    let is_named = |task: &TaskId| task.as_str() == "wanted";
    let plan = Plan::decide(some_tests(), AgentsFor::Failing, is_named);
    assert_eq!(
        reasons(&plan),
        [
            ("red", Failing),
            ("unstable", Unstable),
            ("wanted", Named),
            ("green", Passing),
            ("skipped", Skipped)
        ]
    );
    assert_eq!(plan.agents(), 3);
    let plan = Plan::decide(some_tests(), AgentsFor::All, is_named);
    assert_eq!(
        reasons(&plan),
        [("red", Failing), ("unstable", Unstable), ("wanted", Named), ("green", All), ("skipped", All)]
    );
    assert_eq!(plan.agents(), 5);
}

#[test]
fn a_plan_is_a_regular_beginning_of_a_journal() {
    let plan = Plan::decide(some_tests(), AgentsFor::Failing, |_| false);
    let started = Started {
        run: RunName::new("1"),
        name: "tmr".into(),
        base_commit: "a".into(),
        command: vec![],
        settings: Default::default(),
        tasks_total: 5,
    };
    let events = std::iter::once(Event::RunStarted(started)).chain(plan.events());
    let time = jiff::Timestamp::UNIX_EPOCH;
    let entries: Vec<Entry> = (1..).zip(events).map(|(seq, event)| Entry { time, seq, event }).collect();
    let run = Run::fold(&entries);
    assert_eq!((run.irregular, run.tasks.len()), (0, 5));
    let totals = run.totals();
    assert_eq!((totals.stages["clean"], totals.stages["queued"], totals.agents), (3, 2, 0));
}

#[test]
fn a_forecast_counts_agents_in_rounds_and_names_limits_that_will_be_met() {
    let each = Estimate { tokens: 1000, cost: 0.5, time: Duration::from_secs(60) };
    let limits = Limits { tokens: Some(9_000), cost: Some(100.0), ..Limits::default() };
    let forecast = Forecast::of(10, 4, &each, &limits);
    assert_eq!((forecast.agents, forecast.parallel, forecast.tokens), (10, 4, 10_000));
    assert_eq!((forecast.cost, forecast.wall), (5.0, 180.0));
    assert_eq!(forecast.reached, [LimitKind::Tokens]);
    let none = Forecast::of(0, 4, &each, &Limits { agents: Some(0), ..Limits::default() });
    assert_eq!((none.tokens, none.wall, none.reached.len()), (0, 0.0, 0));
}
