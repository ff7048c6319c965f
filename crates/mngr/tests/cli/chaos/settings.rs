//! Which part of the chaos is run: the variables that choose it, and the same as a command line for people.

use std::collections::BTreeSet;
use std::env;
use std::fmt;
use std::time::Duration;

use super::fault::Fault;
use super::step::{BATCHES, CLIENTS, STEPS_AT_ONCE};

/// The number everything follows from.
pub(super) const SEED: &str = "MNGR_CHAOS_SEED";
/// How many seeds the soak tries, beginning with [`SEED`].
pub(super) const SEEDS: &str = "MNGR_CHAOS_SEEDS";
/// How long each seed is tried.
pub(super) const SECONDS: &str = "MNGR_CHAOS_SECONDS";
/// Where agents run: `local`, `ssh`, `docker`, with commas.
pub(super) const HOSTS: &str = "MNGR_CHAOS_HOSTS";
/// Only this episode of the seed.
pub(super) const EPISODE: &str = "MNGR_CHAOS_EPISODE";
/// Only these clients, with commas.
pub(super) const ONLY_CLIENTS: &str = "MNGR_CHAOS_CLIENTS";
/// Only these steps of each client, `FROM-TO`.
pub(super) const ONLY_STEPS: &str = "MNGR_CHAOS_STEPS";
/// Only these kinds of faults, with commas; `none` for none.
pub(super) const ONLY_FAULTS: &str = "MNGR_CHAOS_FAULTS";

/// How long a failure is shrunk.
pub(super) const SHRINK_SECONDS: &str = "MNGR_CHAOS_SHRINK_SECONDS";
/// Set to anything: further episodes are run after one that broke a rule.
pub(super) const GO_ON: &str = "MNGR_CHAOS_GO_ON";

/// Where agents run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Local,
    Ssh,
    Docker,
}

impl Place {
    fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ssh => "ssh",
            Self::Docker => "docker",
        }
    }

    fn named(word: &str) -> Self {
        let all = [Self::Local, Self::Ssh, Self::Docker];
        all.into_iter().find(|place| place.word() == word).unwrap_or_else(|| panic!("no place `{word}`"))
    }
}

/// One episode, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) seed: u64,
    pub(super) episode: u64,
    pub(super) places: Vec<Place>,
    pub(super) clients: BTreeSet<usize>,
    /// From this step to before that one.
    pub(super) steps: (usize, usize),
    pub(super) faults: BTreeSet<Fault>,
}

impl Part {
    /// A whole episode, unless variables say otherwise.
    pub(super) fn from_environment(seed: u64, episode: u64, places: &[Place]) -> Self {
        let places = match env::var(HOSTS) {
            Ok(words) => words.split(',').map(Place::named).collect(),
            Err(_) => places.to_vec(),
        };
        let clients = match env::var(ONLY_CLIENTS) {
            Ok(words) => words.split(',').map(|word| word.parse().unwrap()).collect(),
            Err(_) => (0..CLIENTS).collect(),
        };
        let faults = match env::var(ONLY_FAULTS) {
            Ok(words) if words == "none" => BTreeSet::new(),
            Ok(words) => words.split(',').map(|word| Fault::named(word).expect("a fault")).collect(),
            Err(_) => Fault::all().collect(),
        };
        let steps = match env::var(ONLY_STEPS) {
            Ok(words) => {
                let (from, to) = words.split_once('-').expect("FROM-TO");
                (from.parse().unwrap(), to.parse().unwrap())
            }
            Err(_) => (0, BATCHES * STEPS_AT_ONCE),
        };
        Self { seed, episode, places, clients, steps, faults }
    }
}

/// The variables that choose it.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: Vec<&str> = self.places.iter().map(|place| place.word()).collect();
        let clients: Vec<String> = self.clients.iter().map(usize::to_string).collect();
        write!(f, "{SEED}={} {EPISODE}={} {HOSTS}={}", self.seed, self.episode, places.join(","))?;
        write!(f, " {ONLY_CLIENTS}={} {ONLY_STEPS}={}-{}", clients.join(","), self.steps.0, self.steps.1)?;
        if self.faults.len() < Fault::all().count() {
            let words: Vec<&str> = self.faults.iter().map(|fault| fault.word()).collect();
            write!(
                f,
                " {ONLY_FAULTS}={}",
                if words.is_empty() { "none".to_owned() } else { words.join(",") }
            )?;
        }
        Ok(())
    }
}

/// A number of a variable.
pub(super) fn number(name: &str) -> Option<u64> {
    Some(env::var(name).ok()?.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

/// How long each seed is tried.
pub(super) fn time(default: u64) -> Duration {
    Duration::from_secs(number(SECONDS).unwrap_or(default))
}
