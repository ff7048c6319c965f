//! What `snapshots/<id>/manifest.json` holds. Spelling only: no file is touched here.

use jiff::Timestamp;
use mngr_model::AgentRecord;
use serde::{Deserialize, Serialize};

/// The newest form this code writes.
pub(crate) const VERSION: u32 = 1;

/// How the files of an agent are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As a checkout of the repository the agent worked in, which git lists among its worktrees: the repository holds the
    /// commits, and knows that they are needed.
    Worktree,
    /// As a repository of its own: the agent's was one.
    Repository,
    /// As a plain folder.
    Folder,
}

/// A snapshot of one agent. Written last, so what has none is not whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The form of this file.
    pub(crate) version: u32,
    /// Its id.
    pub(crate) id: String,
    /// The name somebody gave it.
    pub(crate) name: String,
    /// When it was made.
    pub(crate) created_at: Timestamp,
    /// How the files are kept.
    pub(crate) form: Form,
    /// The branch the agent was on.
    #[serde(default)]
    pub(crate) branch: Option<String>,
    /// How many bytes it takes.
    pub(crate) bytes: u64,
    /// The agent as it was.
    pub(crate) agent: AgentRecord,
}
