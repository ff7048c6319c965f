//! What is asked of `gc` and what it answers.

use mngr_model::{HostPath, ProviderName};

use crate::fleet::Failure;

/// What to collect, and whether to do it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcOptions {
    /// Only hosts of these providers; all when empty.
    pub providers: Vec<ProviderName>,
    /// Only say what would be deleted.
    pub dry_run: bool,
}

/// What kind of thing was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceKind {
    /// A destroyed agent, for good.
    Trash,
    /// A work dir no agent uses.
    WorkDir,
    /// A repository that was cloned, or brought from another host, for agents that are gone.
    Clone,
    /// A rotated log.
    Log,
    /// A temporary file of a command that died.
    TempFile,
    /// A host that mngr made and that nobody needs.
    Machine,
    /// A copy of a host that only saves time.
    Snapshot,
}

impl ResourceKind {
    /// Every kind, in the order in which they are collected.
    pub const ALL: [Self; 7] =
        [Self::Trash, Self::WorkDir, Self::Clone, Self::Log, Self::TempFile, Self::Machine, Self::Snapshot];

    /// The lower-case word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trash => "trash",
            Self::WorkDir => "work_dir",
            Self::Clone => "clone",
            Self::Log => "log",
            Self::TempFile => "temp_file",
            Self::Machine => "machine",
            Self::Snapshot => "snapshot",
        }
    }
}

/// Something that was deleted, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// What it is.
    pub kind: ResourceKind,
    /// `name.provider` of its host.
    pub host: String,
    /// Where it was.
    pub path: HostPath,
    /// The agent it belonged to, for trash.
    pub agent: Option<String>,
    /// How many bytes it held, where that was counted.
    pub bytes: Option<u64>,
    /// Why it was deleted, as a fragment.
    pub reason: String,
}

/// Something nobody uses that holds work which may exist nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// `name.provider` of its host.
    pub host: String,
    /// Where it is.
    pub path: HostPath,
    /// Why it was kept, as a fragment.
    pub reason: String,
}

/// Something that could not be judged or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcProblem {
    /// `name.provider` of its host.
    pub host: String,
    /// Where it is.
    pub path: HostPath,
    /// What went wrong, with its causes.
    pub message: String,
}

/// What collecting came to.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// What was deleted, or would be.
    pub removed: Vec<Resource>,
    /// What nobody uses and was kept all the same.
    pub kept: Vec<Kept>,
    /// What could not be judged or deleted.
    pub problems: Vec<GcProblem>,
    /// Who could not be asked.
    pub failures: Vec<Failure>,
    /// Whether nothing was really deleted.
    pub dry_run: bool,
}

impl Collected {
    /// Adds what was collected elsewhere.
    pub(super) fn add(&mut self, other: Self) {
        self.removed.extend(other.removed);
        self.kept.extend(other.kept);
        self.problems.extend(other.problems);
        self.failures.extend(other.failures);
    }

    /// What was deleted of one kind.
    pub fn of(&self, kind: ResourceKind) -> impl Iterator<Item = &Resource> {
        self.removed.iter().filter(move |resource| resource.kind == kind)
    }

    /// How many bytes were freed, as far as they were counted.
    pub fn freed_bytes(&self) -> u64 {
        self.removed.iter().filter_map(|resource| resource.bytes).sum()
    }
}
