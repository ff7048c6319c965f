//! The journal of an operation that must happen whole or not at all: what is written before each step.
//!
//! A journal whose lock is free belongs to a command that died. The next command undoes a creation step by step, last
//! first, and carries a removal through to its end.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::path::HostPath;
use crate::{AgentId, AgentName, HostId, ProviderName};

/// Which operation a journal belongs to, and so what recovery does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Rolled back when left behind.
    Create,
    /// Carried through when left behind.
    Destroy,
    /// Carried through when left behind.
    Undo,
    /// A host that is made for an agent. Kept on the machine that asked for it; the host is removed when it was left
    /// behind without the agent.
    MakeHost,
    /// A private copy of an agent's files: a snapshot, or files on their way to another host. Removed when it was left
    /// behind unfinished. Its journal has an id of its own: nothing happens to the agent.
    Copy,
    /// Files on their way from or to an agent. Ended when it was left behind; what has arrived stays. Its journal has an id of
    /// its own: nothing happens to the agent.
    Transfer,
}

impl Operation {
    /// Whether the name in the header is taken while the operation is under way.
    pub fn reserves_name(self) -> bool {
        !matches!(self, Self::MakeHost | Self::Copy | Self::Transfer)
    }
}

/// First line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// What is under way.
    pub operation: Operation,
    /// On which agent.
    pub agent_id: AgentId,
    /// Its name, reserved while the journal exists.
    pub name: AgentName,
    /// Since when.
    pub started: Timestamp,
    /// Which command of mngr it is: what that has started carries this id. Set by whoever writes the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A step that has begun and how to take it back. Taking back something that was never done is harmless.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Files that are being written for an agent. There is nothing to take back: what has arrived stays.
    FilesFor {
        /// Whoever destroys it ends the copy first.
        agent: AgentId,
    },
    /// A folder that did not exist before.
    Folder {
        /// Removed with everything in it.
        path: HostPath,
    },
    /// A repository cloned for this agent.
    Clone {
        /// Removed with everything in it.
        path: HostPath,
    },
    /// A git worktree.
    Worktree {
        /// Common git dir of the repository.
        repository: HostPath,
        /// Where it is.
        path: HostPath,
    },
    /// A branch made for this agent. Removed only while it still stands at `at`.
    Branch {
        /// Common git dir of the repository.
        repository: HostPath,
        /// Short name.
        name: String,
        /// The commit it was made at.
        at: String,
    },
    /// A host that is made for this agent.
    Host {
        /// The provider that makes it.
        provider: ProviderName,
        /// Removed, unless somebody is on it.
        id: HostId,
        /// Whether it begins as a copy: the agents that came with that are nobody.
        #[serde(default)]
        is_copy: bool,
    },
    /// A host that is made for this agent and for others of a pool.
    PoolHost {
        /// Under which name the bookings of the pool are kept.
        pool: String,
        /// The provider that makes it.
        provider: ProviderName,
        /// Removed, unless somebody is on it or on the way to it.
        id: HostId,
        /// `name.provider`.
        address: String,
    },
    /// A tmux session and the processes started in it.
    Session {
        /// Exact session name.
        name: String,
    },
    /// A file uploaded outside the agent's own folders, with nothing there before.
    File {
        /// Removed.
        path: HostPath,
    },
    /// A file outside the agent's own folders that was replaced: the old contents were set aside first.
    ReplacedFile {
        /// Gets its old contents back.
        path: HostPath,
        /// Where the old contents are.
        backup: HostPath,
    },
}
