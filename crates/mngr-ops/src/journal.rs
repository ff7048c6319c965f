//! The journal of one operation: written before each step, removed when the operation is whole.

use std::time::Duration;

use mngr_host::fault;
use mngr_host::files::{Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_model::journal::{Header, Step};
use mngr_model::{AgentId, HostPath};

/// How long another command may hold the host.
const HOST_LOCK_WAIT: Duration = Duration::from_secs(60);

/// The journal could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It could not be written.
    #[error("cannot keep the journal of this operation")]
    Files(#[from] FilesError),
    /// Another command works on this agent.
    #[error("another command is working on this agent")]
    Lock(#[from] LockError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
    /// It could not be spelled.
    #[error("cannot spell the journal of this operation")]
    Json(#[from] serde_json::Error),
}

/// An open journal. Dropped without [`Journal::finish`], it stays for recovery.
pub struct Journal<'h> {
    host: &'h dyn Host,
    path: HostPath,
    steps: Vec<Step>,
    _lock: HostLock,
}

impl<'h> Journal<'h> {
    /// Opens the journal of an operation. The caller holds the host lock, so that nobody mistakes the new file for a
    /// left-over before it is locked.
    pub fn begin(host: &'h dyn Host, header: &Header) -> Result<Self, JournalError> {
        let layout = host.layout();
        host.files().make_folder(&layout.journals())?;
        let path = layout.journal(&header.agent_id);
        let lock = host.lock(&path, LockWait::Try)?;
        let mut line = serde_json::to_string(header)?;
        line.push('\n');
        host.files().append(&path, line.as_bytes(), Durability::Cached)?;
        fault::point();
        Ok(Self { host, path, steps: Vec::new(), _lock: lock })
    }

    /// Notes a step that is about to be taken. An interrupt is met here, before the step.
    pub fn step(&mut self, step: Step) -> Result<(), JournalError> {
        interrupt::check()?;
        let mut line = serde_json::to_string(&step)?;
        line.push('\n');
        self.host.files().append(&self.path, line.as_bytes(), Durability::Cached)?;
        self.steps.push(step);
        fault::point();
        Ok(())
    }

    /// The steps so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The operation is whole, or wholly undone.
    pub fn finish(self) -> Result<(), JournalError> {
        Ok(self.host.files().remove_file(&self.path)?)
    }
}

/// Keeps others from beginning an operation on an agent while it is launched. Needs no steps: a launch that is cut
/// short leaves a stopped agent.
pub(crate) struct Guard<'h> {
    host: &'h dyn Host,
    path: HostPath,
    _lock: HostLock,
}

impl<'h> Guard<'h> {
    /// `None` when an operation on the agent is under way, or was cut short and not put right yet.
    pub(crate) fn take(host: &'h dyn Host, agent: &AgentId) -> Result<Option<Self>, JournalError> {
        let (layout, files) = (host.layout(), host.files());
        let path = layout.journal(agent);
        files.make_folder(&layout.journals())?;
        let _operations = host.lock(&layout.host_lock(), LockWait::For(HOST_LOCK_WAIT))?;
        if files.stat(&path)?.is_some_and(|journal| journal.size > 0) {
            return Ok(None);
        }
        match host.lock(&path, LockWait::Try) {
            Ok(lock) => Ok(Some(Self { host, path, _lock: lock })),
            Err(LockError::Held { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // An empty journal that stays says nothing and is removed by the next look.
        let _ = self.host.files().remove_file(&self.path);
    }
}

/// What a journal file holds. A line cut short by a crash ends it: the step after it had not begun.
pub fn read(text: &str) -> Option<(Header, Vec<Step>)> {
    let mut lines = text.lines();
    let header = serde_json::from_str(lines.next()?).ok()?;
    let steps = lines.map_while(|line| serde_json::from_str(line).ok()).collect();
    Some((header, steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_short_ends_the_journal() {
        let header = r#"{"operation":"create","agent_id":"agent-0123456789abcdef0123456789abcdef","name":"a","started":"2026-01-01T00:00:00Z"}"#;
        let text = format!("{header}\n{{\"step\":\"folder\",\"path\":\"/x\"}}\n{{\"step\":\"fol");
        let (_, steps) = read(&text).unwrap();
        assert_eq!(steps, [Step::Folder { path: HostPath::new("/x") }]);
        assert!(read("{\"oper").is_none());
    }
}
