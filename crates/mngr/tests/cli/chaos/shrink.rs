//! From an episode that broke a rule to the smallest part of it that still does.

use std::time::{Duration, Instant};

use super::episode;
use super::settings::Part;

/// Races do not happen every time: a part is tried so often before it is thought to be harmless.
const TRIES: usize = 2;

/// Tries ever smaller parts, for so long, and gives the smallest that broke one of the same rules.
pub(super) fn shrink(part: &Part, rules: &[&'static str], time: Duration) -> Part {
    let began = Instant::now();
    let fails = |part: &Part| {
        (0..TRIES).any(|_| {
            began.elapsed() < time
                && episode::run(part, None, None)
                    .violations
                    .iter()
                    .any(|violation| rules.contains(&violation.rule))
        })
    };
    smallest(part, fails)
}

/// Removes parts while it still fails.
fn smallest(part: &Part, fails: impl Fn(&Part) -> bool) -> Part {
    let mut best = part.clone();
    loop {
        let Some(smaller) = smaller(&best).into_iter().find(|part| fails(part)) else { return best };
        best = smaller;
    }
}

/// Parts with something left out, the largest omission first.
fn smaller(part: &Part) -> Vec<Part> {
    let mut all = Vec::new();
    let (from, to) = part.steps;
    let half = (to - from) / 2;
    if half > 0 {
        all.push(Part { steps: (from, from + half), ..part.clone() });
        all.push(Part { steps: (from + half, to), ..part.clone() });
    }
    for client in &part.clients {
        if part.clients.len() > 1 {
            let clients = part.clients.iter().filter(|other| *other != client).copied().collect();
            all.push(Part { clients, ..part.clone() });
        }
    }
    if part.faults.len() > 1 {
        let half = part.faults.len() / 2;
        all.push(Part { faults: part.faults.iter().take(half).copied().collect(), ..part.clone() });
        all.push(Part { faults: part.faults.iter().skip(half).copied().collect(), ..part.clone() });
    } else if !part.faults.is_empty() {
        all.push(Part { faults: Default::default(), ..part.clone() });
    }
    let quarter = (to - from) / 4;
    if quarter > 0 {
        all.push(Part { steps: (from, to - quarter), ..part.clone() });
        all.push(Part { steps: (from + quarter, to), ..part.clone() });
    }
    all
}

#[test]
fn a_failure_is_shrunk_to_the_client_the_steps_and_the_fault_it_needs() {
    use super::fault::Fault;
    use super::settings::Place;
    let whole = Part {
        seed: 1,
        episode: 0,
        places: vec![Place::Local],
        clients: (0..3).collect(),
        steps: (0, 24),
        faults: Fault::all().collect(),
    };
    let fails = |part: &Part| {
        part.clients.contains(&1)
            && part.steps.0 <= 5
            && part.steps.1 > 6
            && part.faults.contains(&Fault::RemovedSocket)
    };
    let least = smallest(&whole, fails);
    assert_eq!(least.clients, [1].into());
    assert!(least.steps.0 <= 5 && least.steps.1 > 6 && least.steps.1 - least.steps.0 <= 3, "{least}");
    assert_eq!(least.faults, [Fault::RemovedSocket].into());
}
