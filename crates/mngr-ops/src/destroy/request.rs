//! What is asked of `destroy` and what it answers.

use std::time::Duration;

use mngr_config::Settings;
use mngr_host::host::EndedCommand;
use mngr_model::{AgentId, AgentName, HostPath};

use crate::stop::StopOptions;
use crate::trash::{Manifest, Request, Work};

/// How to destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DestroyOptions {
    /// Also an agent that runs.
    pub force: bool,
    /// Also remove the branch mngr made for it.
    pub remove_created_branch: bool,
    /// A git worktree may be moved away; otherwise it stays where it is.
    pub allow_worktree_removal: bool,
    /// How long a running program gets to end by itself.
    pub grace: Duration,
}

impl DestroyOptions {
    /// The usual: running agents are refused, branches kept, work dirs moved away.
    pub fn from_settings(settings: &Settings) -> Self {
        Self {
            force: false,
            remove_created_branch: false,
            allow_worktree_removal: true,
            grace: StopOptions::from_settings(settings).grace,
        }
    }

    pub(super) fn request(&self) -> Request {
        Request {
            remove_created_branch: self.remove_created_branch,
            allow_worktree_removal: self.allow_worktree_removal,
        }
    }
}

/// What becomes of a work dir.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkDir {
    /// It is in the trash.
    Trashed {
        /// Where it was.
        from: HostPath,
        /// Where it is.
        to: HostPath,
    },
    /// It stays where it is.
    Kept {
        /// Where.
        path: HostPath,
        /// Why, as a fragment.
        reason: String,
    },
    /// It was gone before.
    Missing {
        /// Where it was.
        path: HostPath,
    },
}

impl WorkDir {
    pub(super) fn of(manifest: &Manifest) -> Self {
        let path = manifest.work_dir.clone();
        match &manifest.work {
            Some(Work::Moved { to, .. }) => Self::Trashed { from: path, to: to.clone() },
            Some(Work::Kept { reason }) => Self::Kept { path, reason: reason.to_string() },
            Some(Work::Missing { .. }) | None => Self::Missing { path },
        }
    }
}

/// A destroyed agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destroyed {
    /// Its id; `undo` takes it.
    pub id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// `name.provider` of its host.
    pub host: String,
    /// What became of its work dir.
    pub work_dir: WorkDir,
    /// The branch that was removed with it.
    pub deleted_branch: Option<String>,
    /// Where its events are kept for good.
    pub preserved: Option<HostPath>,
    /// Commands that ran beside it through `exec` and were ended with it.
    pub commands: Vec<EndedCommand>,
    /// What the user should know.
    pub notes: Vec<String>,
}
