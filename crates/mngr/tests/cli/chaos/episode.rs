//! One episode: clients at once, quiet moments between, and an end that leaves nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use super::book::Violation;
use super::client;
use super::fault::Fault;
use super::quiet;
use super::settings::{Part, Place};
use super::step::{Action, NAMES, STEPS_AT_ONCE, Step, prelude, steps};
use super::world::World;

/// What came of an episode.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) operations: usize,
    pub(super) faults: BTreeMap<Fault, usize>,
    /// What took longest: milliseconds and what.
    pub(super) slowest: (u64, String),
    pub(super) violations: Vec<Violation>,
    /// Where the logs are, if a rule was broken.
    pub(super) logs: Option<PathBuf>,
}

/// Runs a part of an episode in a world of its own. With `keep`, the logs of a failure stay there.
/// No step begins after `until`.
pub(super) fn run(part: &Part, keep: Option<&Path>, until: Option<Instant>) -> Outcome {
    let world = World::new(part, until);
    let troubles = troubles(part);
    let all: BTreeMap<usize, Vec<Step>> = part
        .clients
        .iter()
        .map(|client| (*client, steps(part.seed, part.episode, *client, &troubles)))
        .collect();
    let mut violations = Vec::new();
    let (first, last) = (part.steps.0 / STEPS_AT_ONCE, part.steps.1.div_ceil(STEPS_AT_ONCE));
    for batch in first..last {
        if world.is_over() {
            break;
        }
        let from = (batch * STEPS_AT_ONCE).max(part.steps.0);
        let to = ((batch + 1) * STEPS_AT_ONCE).min(part.steps.1);
        populate(&world, batch);
        thread::scope(|scope| {
            for (client, steps) in &all {
                let world = &world;
                scope.spawn(move || client::run(world, *client, &steps[from..to]));
            }
        });
        world.log(&format!("{:>6} --- quiet\n", world.now()));
        violations.extend(quiet::batch(&world, batch));
    }
    world.log(&format!("{:>6} --- end\n", world.now()));
    violations.extend(quiet::end(&world));
    violations.extend(world.reported());
    let logs = keep.filter(|_| !violations.is_empty()).map(|keep| {
        let said: String =
            violations.iter().map(|violation| format!("{}: {}\n", violation.rule, violation.what)).collect();
        world.log(&format!("=== {part}\n{said}"));
        let folder = keep.join(format!("{}-{}", part.seed, part.episode));
        copy(&world.log_folder(), &folder);
        folder
    });
    let book = world.book();
    let (operations, faults, slowest) = (book.operations, book.faults.clone(), book.slowest.clone());
    Outcome { operations, faults, slowest, violations, logs }
}

/// Makes or starts an agent of each name.
fn populate(world: &World, batch: usize) {
    let names: Vec<String> = world.book().listed.values().map(|agent| agent.name.clone()).collect();
    for step in prelude(world.part.seed, world.part.episode, batch) {
        let Action::Create { name, .. } = step.action else { continue };
        let action = if names.iter().any(|listed| listed == NAMES[name]) {
            Action::Start { name, restart: false }
        } else {
            step.action
        };
        client::run(world, quiet::WATCHER, &[Step { action, ..step }]);
    }
}

/// What can happen to the machines of these places.
fn troubles(part: &Part) -> Vec<Fault> {
    let mut all = Fault::OF_MACHINES.to_vec();
    if part.places.contains(&Place::Ssh) {
        all.extend(Fault::OF_LINKS);
    }
    if part.places.contains(&Place::Docker) {
        all.extend(Fault::OF_CONTAINERS);
    }
    all
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::create_dir_all(to);
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let _ = fs::copy(entry.path(), to.join(entry.file_name()));
    }
}
