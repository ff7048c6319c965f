//! Many agents: all results are right, none waits for another, and the orchestrator itself stays small.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::cost;
use super::finished::Finished;
use super::project::Project;

/// The most memory an orchestrator may ever have.
const MOST_KIB: u64 = 100_000_000 / 1024;

/// A project of so many tests, whose agents work for a second.
fn project(tests: usize) -> Project {
    let project = Project::new();
    for number in 0..tests {
        project.broken(&format!("t{number}"), "sleep 1; fix");
    }
    project
}

/// The most agents that were at work at once.
fn most_at_once(run: &Finished<'_>) -> usize {
    let (mut working, mut most) = (BTreeSet::new(), 0);
    for line in run.events("stage") {
        match line["stage"].as_str().unwrap() {
            "launching" => drop(working.insert(line["task"].to_string())),
            "pulled" | "failed" => drop(working.remove(&line["task"].to_string())),
            _ => {}
        }
        most = most.max(working.len());
    }
    most
}

#[test]
fn thirty_agents_ten_at_once_are_kept_busy_by_an_orchestrator_that_hardly_works() {
    let project = project(30);
    let running = project.start(&["--max-parallel-agents", "10", "--no-integrator"]);
    let began = Instant::now();
    let (output, cost) = cost::finish(running, Duration::from_secs(100), |_| {});
    let took = began.elapsed();
    let run = project.seen();
    assert!(run.ends().values().all(|end| end == "integrated"), "{output}");
    assert_eq!(run.log("%s").len(), 30);
    assert_eq!(most_at_once(&run), 10);
    // Three rounds of a second and what creating, measuring and putting together takes in a debug build on a busy machine.
    assert!(took < Duration::from_secs(50), "{took:?}");
    assert!(cost.peak_kib < MOST_KIB, "{cost:?}");
    assert!(cost.cpu < Duration::from_secs(6), "{cost:?}");
}

#[test]
fn soak_five_hundred_agents_take_no_more_memory_than_a_hundred_and_their_page_can_be_used() {
    let project = project(500);
    let running = project.start(&["--max-parallel-agents", "20", "--no-integrator"]);
    let folder = project.folder();
    let mut at_hundred = None;
    let (output, cost) = cost::finish(running, Duration::from_secs(1500), |cost| {
        if at_hundred.is_none() && verified(&folder) >= 100 {
            at_hundred = Some(cost.resident_kib);
        }
    });
    let run = project.seen();
    assert!(run.ends().values().all(|end| end == "integrated"), "{output}");
    assert_eq!(run.log("%s").len(), 500);
    assert!(cost.peak_kib < MOST_KIB, "{cost:?}");
    let grown = cost.resident_kib.saturating_sub(at_hundred.unwrap());
    // What was said and measured of each test is kept: some ten kilobytes.
    assert!(grown < 20_000, "it grew by {grown} KiB from 100 to 500 tests");
    let page = folder.join("report");
    let first = fs::metadata(page.join("index.html")).unwrap().len();
    assert!(first < 1_000_000, "the page begins with {first} bytes");
    let began = Instant::now();
    let _ = project.env.mngr(["tmr", "report"]).success();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// How many tests were measured, by the files that say so: the journal is not read again and again.
fn verified(folder: &Path) -> usize {
    let tasks = fs::read_dir(folder.join("tasks")).into_iter().flatten().flatten();
    tasks.filter(|task| task.path().join("attempt-1/verification.json").exists()).count()
}
