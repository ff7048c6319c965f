//! What happened in an episode, written down as it happens: the oracle judges by nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::fault::Fault;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Code(i32),
    Signal(i32),
    /// It had to be killed.
    TooLong,
}

/// What a command was for, as far as others can notice it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Intent {
    /// An agent of this id and name, with a branch of its own.
    Create {
        id: String,
        name: String,
        branch: Option<String>,
    },
    /// An agent of this name, whose id is not known before.
    Restore {
        name: String,
    },
    /// A restored agent takes the place of another one, whatever that is called.
    Replace,
    /// A message with this token.
    Message {
        name: String,
        token: String,
    },
    /// The agent goes into the trash.
    Remove {
        name: String,
    },
    /// The agent comes back from there.
    Undo {
        name: String,
    },
    Rename {
        name: String,
        to: String,
    },
    /// Its program ends.
    Halt {
        name: String,
    },
    /// A file whose content is the token is written.
    Write {
        token: String,
    },
    Other,
}

/// A command that has ended.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) client: usize,
    pub(super) number: usize,
    pub(super) args: Vec<String>,
    /// One that was for several agents is in the book once for each.
    pub(super) intent: Intent,
    /// Milliseconds since the beginning of the episode.
    pub(super) began: u64,
    pub(super) ended: u64,
    pub(super) ending: Ending,
    /// What happened to it. None if it had ended before.
    pub(super) fault: Option<Fault>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Done {
    /// It says that it did what it was for.
    pub(super) fn succeeded(&self) -> bool {
        self.ending == Ending::Code(0)
    }

    /// It says that it did not, or nothing.
    pub(super) fn failed(&self) -> bool {
        matches!(self.ending, Ending::Code(code) if code != 0) && !self.is_mute()
    }

    /// Whether it could not print anything, neither what it did nor why it failed: its code says only that.
    fn is_mute(&self) -> bool {
        self.fault == Some(Fault::FullDisk) && self.stdout.is_empty() && self.stderr.is_empty()
    }

    /// The verb, with the second word where there is one.
    pub(super) fn verb(&self) -> String {
        let words = if matches!(self.args[0].as_str(), "snapshot" | "file") { 2 } else { 1 };
        self.args[..words.min(self.args.len())].join(" ")
    }
}

/// An agent as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) state: String,
    /// As this machine sees it; empty where it cannot.
    pub(super) work_dir: PathBuf,
    /// As its own machine calls it.
    pub(super) path: String,
    /// Which machine it is on.
    pub(super) host: String,
}

/// A message that was sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) token: String,
    /// The agents that may have had the name.
    pub(super) addressees: BTreeSet<String>,
    /// How many agents it was for, by name.
    pub(super) names: BTreeSet<String>,
    /// It was said to be there.
    pub(super) accepted: bool,
    /// Something happened to agents meanwhile.
    pub(super) disturbed: bool,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// Commands since the last quiet moment.
    pub(super) done: Vec<Done>,
    /// What happened to machines since then: from when, until when.
    pub(super) troubles: Vec<(Fault, u64, u64)>,
    /// Tokens of files that were written.
    pub(super) writes: BTreeSet<String>,
    /// Commits that were made.
    pub(super) commits: BTreeSet<String>,
    /// Messages of earlier batches and this one, once it is judged.
    pub(super) sent: Vec<Sent>,
    /// Agents at the last quiet moment, by id.
    pub(super) listed: BTreeMap<String, Listed>,
    /// Destroyed ones at the last quiet moment: id and name.
    pub(super) trash: BTreeMap<String, String>,
    /// Snapshots that were made.
    pub(super) snapshots: Vec<String>,
    /// Where the agent of a name was last seen.
    pub(super) work_dirs: BTreeMap<String, PathBuf>,
    /// Whether something happened to agents, ever.
    pub(super) killed_agents: bool,
    /// Branches of creations that are known to have failed.
    pub(super) forbidden_branches: BTreeSet<String>,
    /// How many commands there were.
    pub(super) operations: usize,
    /// What took longest: milliseconds and what.
    pub(super) slowest: (u64, String),
    /// How often each fault happened.
    pub(super) faults: BTreeMap<Fault, usize>,
}

impl Book {
    /// Notes that a fault happened.
    pub(super) fn count(&mut self, fault: Fault) {
        *self.faults.entry(fault).or_default() += 1;
    }
}

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) rule: &'static str,
    pub(super) what: String,
}

impl Violation {
    pub(super) fn new(rule: &'static str, what: impl Into<String>) -> Self {
        Self { rule, what: what.into() }
    }
}
