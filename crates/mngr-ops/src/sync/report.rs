//! What `pull` and `push` did, as plain data for people and scripts.

use mngr_model::{AgentId, AgentName, HostPath};
use serde::Serialize;

use crate::fleet::Agent;

/// What a pull or push did, or in a dry run would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    /// The agent.
    pub agent_id: AgentId,
    /// Its name.
    pub agent_name: AgentName,
    /// Nothing was changed.
    #[serde(rename = "dry_run")]
    pub is_dry_run: bool,
    /// The branch that was brought; absent when only files were copied.
    pub branch: Option<BranchReport>,
    /// The merge, where one was asked for.
    pub merge: Option<MergeReport>,
    /// The files that were copied; absent when only commits were brought.
    pub files: Option<FilesReport>,
    /// What became of uncommitted work that stood in the way.
    pub uncommitted: Option<SetAside>,
    /// Files of the agent that no commit has, and that were not brought for that reason.
    pub not_committed: Vec<String>,
    /// Whether the agent was stopped afterwards.
    #[serde(rename = "stopped")]
    pub is_stopped: bool,
}

impl SyncReport {
    pub(crate) fn new(agent: &Agent, is_dry_run: bool) -> Self {
        Self {
            agent_id: agent.id().clone(),
            agent_name: agent.name().clone(),
            is_dry_run,
            branch: None,
            merge: None,
            files: None,
            uncommitted: None,
            not_committed: Vec::new(),
            is_stopped: false,
        }
    }
}

/// What happened to the branch of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchChange {
    /// Both sides are checkouts of one repository, so the branch was there all along.
    Shared,
    /// It was created.
    Created,
    /// It moved forward.
    FastForwarded,
    /// It was there already.
    UpToDate,
    /// It has no name of its own there: its commits go straight into another branch.
    Merged,
}

/// A branch that was brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BranchReport {
    /// Its name.
    pub name: String,
    /// What happened to it.
    pub change: BranchChange,
    /// Where it is.
    pub commit: String,
    /// What the two counts compare it with; absent where there is nothing to compare with.
    pub compared_to: Option<String>,
    /// Commits it has and the other lacks.
    pub ahead: u64,
    /// Commits the other has and it lacks.
    pub behind: u64,
    /// The command that merges it, while there is something to merge.
    pub merge_command: Option<String>,
}

/// What kind of merge it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeKind {
    /// Everything was there already.
    UpToDate,
    /// The branch moved forward.
    FastForward,
    /// A merge commit was made.
    Merged,
}

/// A merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MergeReport {
    /// The branch merged into.
    pub into: String,
    /// What kind of merge it was.
    pub outcome: MergeKind,
    /// How many commits it brought.
    pub commits: u64,
    /// Where the branch is now; absent in a dry run.
    pub commit: Option<String>,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChangeKind {
    /// It is new.
    New,
    /// It has other contents or another mode.
    Changed,
    /// It was deleted.
    Deleted,
}

/// One file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Its path below the destination; control characters are written as escapes.
    pub path: String,
    /// How it changed.
    pub change: FileChangeKind,
}

/// Files that were copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilesReport {
    /// Where they came from.
    pub from: HostPath,
    /// Where they went.
    pub to: HostPath,
    /// How many were written.
    pub written: usize,
    /// How many were deleted.
    pub deleted: usize,
    /// Each of them.
    pub changes: Vec<FileChange>,
}

impl FilesReport {
    pub(crate) fn new(from: HostPath, to: HostPath, changes: Vec<FileChange>) -> Self {
        let deleted = changes.iter().filter(|file| file.change == FileChangeKind::Deleted).count();
        Self { from, to, written: changes.len() - deleted, deleted, changes }
    }
}

/// What became of work that was set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SetAsideState {
    /// It is in the stash.
    Stashed,
    /// It is back.
    Restored,
    /// It was overwritten; the commit holds it until git cleans up.
    Overwritten,
}

/// Uncommitted work that stood in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetAside {
    /// The checkout it was in.
    pub checkout: HostPath,
    /// The commit that holds it; absent when there was nothing git could hold.
    pub stash: Option<String>,
    /// What became of it.
    pub state: SetAsideState,
}
