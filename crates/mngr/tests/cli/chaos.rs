//! Chaos: several clients, random verbs, faults of every kind, and an oracle that knows what must be true.
//!
//! Everything that is decided follows from a seed, so a failure is run again with the variables it prints; when things
//! happen is up to the machine. See `chaos/settings.rs` for the variables.

#![expect(clippy::print_stdout, reason = "what happened is shown with the result of the test")]

mod book;
mod check;
mod client;
mod episode;
mod fault;
mod inspect;
mod oracle;
mod quiet;
mod random;
mod settings;
mod shrink;
mod step;
mod trouble;
mod words;
mod world;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use self::episode::Outcome;
use self::fault::Fault;
use self::settings::{EPISODE, Part, Place, SEED, SEEDS, number};

/// The seed, unless a variable says otherwise.
const FIRST_SEED: u64 = 13;
/// How often each kind of fault happens in a soak, at least.
const OFTEN: usize = 50;

/// Runs episodes of a seed for so long. Stops at the first that breaks a rule.
fn run_seed(seed: u64, places: &[Place], time: Duration, keep: &Path) -> Outcome {
    let began = Instant::now();
    let mut total = Outcome::default();
    for episode in 0.. {
        let chosen = number(EPISODE);
        let part = Part::from_environment(seed, chosen.unwrap_or(episode), places);
        let outcome = episode::run(&part, Some(keep), chosen.is_none().then(|| began + time));
        total.operations += outcome.operations;
        total.slowest = total.slowest.max(outcome.slowest);
        for (fault, times) in outcome.faults {
            *total.faults.entry(fault).or_default() += times;
        }
        if !outcome.violations.is_empty() {
            println!(
                "episode {}: {} violations; logs in {:?}",
                part.episode,
                outcome.violations.len(),
                outcome.logs
            );
            for violation in &outcome.violations {
                println!("  {}: {}", violation.rule, violation.what);
            }
        }
        if total.violations.is_empty() && !outcome.violations.is_empty() && chosen.is_none() {
            let rules: Vec<&str> = outcome.violations.iter().map(|violation| violation.rule).collect();
            let least = shrink::shrink(&part, &rules, shrinking());
            println!("{least} cargo nextest run -p mngr --test cli chaos::again --run-ignored all");
        }
        total.violations.extend(outcome.violations);
        if chosen.is_some() || began.elapsed() >= time || !total.violations.is_empty() && !goes_on() {
            break;
        }
    }
    total
}

/// How long a failure is shrunk.
fn shrinking() -> Duration {
    Duration::from_secs(number(settings::SHRINK_SECONDS).unwrap_or(180))
}

/// Whether further episodes are run after one that broke a rule.
fn goes_on() -> bool {
    number(settings::GO_ON).is_some()
}

fn report(seed: u64, outcome: &Outcome) {
    let faults: BTreeMap<&str, usize> =
        outcome.faults.iter().map(|(fault, times)| (fault.word(), *times)).collect();
    let sum: usize = faults.values().sum();
    println!(
        "seed {seed}: {} operations ({} took longest, {} ms), {sum} faults {faults:?}, {} violations",
        outcome.operations,
        outcome.slowest.1,
        outcome.slowest.0,
        outcome.violations.len()
    );
}

fn kept() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("mngr-chaos-{}", std::process::id()))
}

fn run(places: &[Place], seconds: u64) {
    let seed = number(SEED).unwrap_or(FIRST_SEED);
    println!("{SEED}={seed}");
    let outcome = run_seed(seed, places, settings::time(seconds), &kept());
    report(seed, &outcome);
    assert!(outcome.violations.is_empty(), "{} violations, see above", outcome.violations.len());
}

#[test]
fn sixty_seconds_of_random_verbs_and_faults_break_no_promise() {
    run(&[Place::Local, Place::Ssh], 50);
}

/// For a failure that was shrunk: the variables say which part is run.
#[test]
#[ignore = "run with the variables that a failure prints"]
fn again() {
    run(&[Place::Local], 0);
}

fn soak(places: &[Place], kinds: impl Iterator<Item = Fault>) {
    let first = number(SEED).unwrap_or(FIRST_SEED);
    let seeds = number(SEEDS).unwrap_or(10);
    let mut faults: BTreeMap<Fault, usize> = BTreeMap::new();
    let mut violations = 0;
    for seed in first..first + seeds {
        println!("{SEED}={seed}");
        let outcome = run_seed(seed, places, settings::time(720), &kept());
        report(seed, &outcome);
        violations += outcome.violations.len();
        for (fault, times) in outcome.faults {
            *faults.entry(fault).or_default() += times;
        }
    }
    assert_eq!(violations, 0, "see above");
    for kind in kinds {
        let times = faults.get(&kind).copied().unwrap_or_default();
        assert!(times >= OFTEN, "only {times} times {}", kind.word());
    }
}

#[test]
fn soak_docker_an_hour_of_chaos_in_containers_breaks_no_promise() {
    let kinds = [Fault::OF_CLIENTS, Fault::OF_MACHINES, Fault::OF_CONTAINERS];
    soak(&[Place::Local, Place::Docker], kinds.into_iter().flatten().copied());
}

#[test]
fn soak_two_hours_of_chaos_here_and_over_ssh_break_no_promise() {
    let kinds = [Fault::OF_CLIENTS, Fault::OF_MACHINES, Fault::OF_LINKS];
    soak(&[Place::Local, Place::Ssh], kinds.into_iter().flatten().copied());
}
