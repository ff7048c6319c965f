//! The two ends of a pull or push: the user's checkout and the agent's.

use std::time::Duration;

use mngr_host::git::{Git, Location};
use mngr_host::host::Host;
use mngr_host::lock::{HostLock, LockWait};
use mngr_model::HostPath;

use super::SyncError;
use crate::fleet::Agent;

/// How long another pull or push into the same checkout may take before this one gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A file or folder on a host.
#[derive(Clone)]
pub(crate) struct Spot<'h> {
    /// The host.
    pub(crate) host: &'h dyn Host,
    /// The path there.
    pub(crate) path: HostPath,
}

impl<'h> Spot<'h> {
    /// That path of that host.
    pub(crate) fn new(host: &'h dyn Host, path: HostPath) -> Self {
        Self { host, path }
    }

    /// Whether both are on one host.
    pub(super) fn is_beside(&self, other: &Spot<'_>) -> bool {
        self.host.info().id == other.host.info().id
    }

    /// Whether both lead to one folder; paths that lead nowhere do not.
    pub(super) fn is_same_as(&self, other: &Spot<'_>) -> Result<bool, SyncError> {
        if !self.is_beside(other) {
            return Ok(false);
        }
        let real = |path: &HostPath| match self.host.files().canonical(path) {
            Ok(real) => Ok(Some(real)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(SyncError::from(error)),
        };
        Ok(matches!((real(&self.path)?, real(&other.path)?), (Some(one), Some(other)) if one == other))
    }
}

/// The agent's work dir, which must be there.
pub(crate) fn agent_work_dir(agent: &Agent) -> Result<HostPath, SyncError> {
    let host = agent.host.as_ref();
    let dir = agent.facts.record.work_dir.normalized();
    if host.files().exists(&dir.join("."))? {
        return Ok(dir);
    }
    Err(SyncError::NoWorkDir { name: agent.name().clone(), dir })
}

/// A checkout and what it is on.
pub(crate) struct Checkout<'h> {
    /// Git at its root.
    pub(crate) git: Git<'h>,
    /// Where it is.
    pub(crate) location: Location,
    /// The branch it is on; `None` when its HEAD is detached.
    pub(crate) branch: Option<String>,
}

impl<'h> Checkout<'h> {
    /// The checkout that holds a folder, or `None` outside a repository. One process.
    pub(crate) fn of(host: &'h dyn Host, dir: &HostPath) -> Result<Option<Self>, SyncError> {
        let Some(location) = Git::new(host, dir.clone()).locate()? else { return Ok(None) };
        let git = Git::new(host, location.root.clone());
        let branch = git.head_branch()?;
        Ok(Some(Self { git, location, branch }))
    }

    /// The user's checkout, which must be there.
    pub(crate) fn of_user(host: &'h dyn Host, dir: &HostPath) -> Result<Self, SyncError> {
        Self::of(host, dir)?.ok_or_else(|| SyncError::NotARepository { path: dir.clone() })
    }

    /// The agent's checkout, which must be there.
    pub(crate) fn of_agent(agent: &'h Agent) -> Result<Self, SyncError> {
        let dir = agent_work_dir(agent)?;
        Self::of(agent.host.as_ref(), &dir)?
            .ok_or_else(|| SyncError::AgentWithoutGit { name: agent.name().clone(), dir })
    }

    /// Where it is.
    pub(crate) fn spot(&self) -> Spot<'h> {
        Spot::new(self.git.host(), self.root().clone())
    }

    /// Its top folder.
    pub(crate) fn root(&self) -> &HostPath {
        &self.location.root
    }

    /// The branch it is on, which must be one.
    pub(crate) fn require_branch(&self) -> Result<&str, SyncError> {
        self.branch.as_deref().ok_or_else(|| SyncError::Detached { checkout: self.root().clone() })
    }

    /// Whether both are one and the same checkout.
    pub(crate) fn is_same_as(&self, other: &Self) -> Result<bool, SyncError> {
        self.spot().is_same_as(&other.spot())
    }

    /// Keeps other pulls and pushes away from its files. Git's own locks only cover single commands.
    pub(crate) fn lock(&self) -> Result<HostLock, SyncError> {
        lock_checkout(self.git.host(), &self.location)
    }
}

/// Keeps other pulls and pushes away from the files of a checkout.
pub(super) fn lock_checkout(host: &dyn Host, location: &Location) -> Result<HostLock, SyncError> {
    Ok(host.lock(&location.git_dir.join("mngr-sync.lock"), LockWait::For(PATIENCE))?)
}
