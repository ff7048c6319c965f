//! The journal of one operation: written before each step, removed when the operation is whole.
//!
//! Steps can be noted together with the changes of files they consist of. All of that is done in the order in which it
//! was noted, in one round trip, so that no step is ever taken before its line is written.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use mngr_host::fault;
use mngr_host::files::{Change, Durability, FilesError};
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::lock::{HostLock, LockError, LockWait, lock_in_own_folder};
use mngr_host::proc::CommandId;
use mngr_model::journal::{Header, Operation, Step};
use mngr_model::{AgentId, HostId, HostPath};

use crate::host_lock;

/// The journal could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It could not be written.
    #[error("cannot keep the journal of this operation")]
    Files(#[from] FilesError),
    /// Another command works on this agent, or nobody can tell.
    #[error("{}", of_lock(.0))]
    Lock(#[from] LockError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
    /// It could not be spelled.
    #[error("cannot spell the journal of this operation")]
    Json(#[from] serde_json::Error),
}

fn of_lock(error: &LockError) -> &'static str {
    match error {
        LockError::Io { .. } => "cannot keep the journal of this operation",
        _ => "another command is working on this agent",
    }
}

/// An open journal. Dropped without [`Journal::finish`], it stays for recovery.
pub struct Journal<'h> {
    host: &'h dyn Host,
    path: HostPath,
    steps: Vec<Step>,
    /// What was noted and is not done yet.
    pending: Vec<Change>,
    _opened: Opened,
    _lock: HostLock,
}

/// The journals that this process works with, by the id of their host and their path.
static OPENED: Mutex<BTreeSet<(HostId, HostPath)>> = Mutex::new(BTreeSet::new());

/// That this process works with a journal, until this is dropped.
struct Opened(HostId, HostPath);

impl Opened {
    fn note(host: &dyn Host, path: &HostPath) -> Self {
        let id = &host.info().id;
        OPENED.lock().unwrap_or_else(PoisonError::into_inner).insert((id.clone(), path.clone()));
        Self(id.clone(), path.clone())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let key = (self.0.clone(), self.1.clone());
        OPENED.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

/// Whether the command that a journal belongs to still works with it, whoever holds its lock. A lock on another machine goes
/// with the link, which may break meanwhile. One that cannot be told of does not.
pub(crate) fn is_at_work(host: &dyn Host, path: &HostPath, text: &str) -> bool {
    let command = read(text).and_then(|(header, _)| header.command);
    let Some(command) = command.as_deref().and_then(CommandId::parse) else { return false };
    if CommandId::own() == Some(&command) {
        let key = (host.info().id.clone(), path.clone());
        return OPENED.lock().unwrap_or_else(PoisonError::into_inner).contains(&key);
    }
    command.is_alive()
}

impl<'h> Journal<'h> {
    /// Opens the journal of an operation. The caller holds the host lock, so that nobody mistakes the new file for a
    /// left-over before it is locked.
    pub fn begin(host: &'h dyn Host, header: &Header) -> Result<Self, JournalError> {
        interrupt::check()?;
        let path = host.layout().journal(&header.agent_id);
        let line = head_line(header)?;
        let lock = lock_in_own_folder(host, &path, |path| host.lock_with_line(path, &line))?;
        hold_on(&lock, header);
        fault::point();
        let opened = Opened::note(host, &path);
        Ok(Self { host, path, steps: Vec::new(), pending: Vec::new(), _opened: opened, _lock: lock })
    }

    /// The same, with changes that are made before its first line is written.
    pub fn begin_with(host: &'h dyn Host, header: &Header, first: Vec<Change>) -> Result<Self, JournalError> {
        let path = host.layout().journal(&header.agent_id);
        let lock = lock_in_own_folder(host, &path, |path| host.lock(path, LockWait::Try))?;
        hold_on(&lock, header);
        let opened = Opened::note(host, &path);
        let mut journal =
            Self { host, path, steps: Vec::new(), pending: first, _opened: opened, _lock: lock };
        journal.write_line(head_line(header)?);
        journal.carry_out()?;
        Ok(journal)
    }

    /// Notes a step that is about to be taken. An interrupt is met here, before the step.
    pub fn step(&mut self, step: Step) -> Result<(), JournalError> {
        self.note(step)?;
        self.carry_out()
    }

    /// Notes a step whose line is written with the next changes.
    pub fn note(&mut self, step: Step) -> Result<(), JournalError> {
        self.write_line(serde_json::to_string(&step)?);
        self.steps.push(step);
        Ok(())
    }

    /// Adds changes to those that are made next.
    pub fn add(&mut self, changes: impl IntoIterator<Item = Change>) {
        self.pending.extend(changes);
    }

    /// Makes the changes that were added. An interrupt is met here, before them.
    pub fn carry_out(&mut self) -> Result<(), JournalError> {
        interrupt::check()?;
        Ok(self.host.files().apply(&self.take_pending())?)
    }

    /// The changes that were added, for somebody who has more to be made with them.
    pub fn take_pending(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.pending)
    }

    fn write_line(&mut self, mut line: String) {
        line.push('\n');
        self.pending.push(Change::Append { path: self.path.clone(), bytes: line.into_bytes() });
    }

    /// The steps so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Makes the last changes, after which the operation is whole.
    pub fn close(&mut self) -> Result<(), JournalError> {
        self.pending.push(Change::RemoveFile(self.path.clone()));
        Ok(self.host.files().apply(&self.take_pending())?)
    }

    /// What ends the operation, for somebody who has more to be made with it; after that the journal is only dropped.
    pub fn closing(&self) -> Vec<Change> {
        vec![Change::RemoveFile(self.path.clone())]
    }

    /// The operation is whole, or wholly undone.
    pub fn finish(self) -> Result<(), JournalError> {
        Ok(self.host.files().remove_file(&self.path)?)
    }
}

/// The first line of a journal of this command.
fn head_line(header: &Header) -> Result<String, serde_json::Error> {
    let command = CommandId::own().map(CommandId::to_string);
    serde_json::to_string(&Header { command, ..header.clone() })
}

/// A journal that outlives borrows: of a folder that is filled for a while. Dropped without [`Note::finish`], it stays for
/// recovery.
pub(crate) struct Note {
    path: HostPath,
    _opened: Opened,
    _lock: HostLock,
}

impl Note {
    /// Opens it with its first steps, which are not taken yet. The caller holds the host lock.
    pub(crate) fn begin(host: &dyn Host, header: &Header, steps: &[Step]) -> Result<Self, JournalError> {
        let path = host.layout().journal(&header.agent_id);
        let line = head_line(header)?;
        let lock = lock_in_own_folder(host, &path, |path| host.lock_with_line(path, &line))?;
        let note = Self { _opened: Opened::note(host, &path), path, _lock: lock };
        note.add(host, steps)?;
        Ok(note)
    }

    /// Notes steps that are about to be taken.
    pub(crate) fn add(&self, host: &dyn Host, steps: &[Step]) -> Result<(), JournalError> {
        let mut bytes = Vec::new();
        for step in steps {
            serde_json::to_writer(&mut bytes, step)?;
            bytes.push(b'\n');
        }
        Ok(host.files().append(&self.path, &bytes, Durability::Cached)?)
    }

    /// The operation is whole, or wholly undone.
    pub(crate) fn finish(self, host: &dyn Host) -> Result<(), FilesError> {
        host.files().remove_file(&self.path)
    }
}

/// What is killed leaves its git behind, which goes on for a moment. Nobody must put the operation right before that has
/// ended: it would be done twice, at once. A launch starts what stays, and must not hand its journal to it.
fn hold_on(lock: &HostLock, header: &Header) {
    if matches!(header.operation, Operation::Destroy | Operation::Undo) {
        lock.share_with_children();
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
        Ok(Self::take_and_look(host, agent, &[])?.map(|(guard, _)| guard))
    }

    /// The same with a look at other paths, in the same round trip.
    pub(crate) fn take_and_look(
        host: &'h dyn Host,
        agent: &AgentId,
        others: &[HostPath],
    ) -> Result<Option<(Self, Glance<'h>)>, JournalError> {
        let layout = host.layout();
        let path = layout.journal(agent);
        let _operations = host_lock::take(host)?;
        let glance = Glance::at(host.files(), &[std::slice::from_ref(&path), others].concat())?;
        if glance.stat(&path)?.is_some_and(|journal| journal.size > 0) {
            return Ok(None);
        }
        match lock_in_own_folder(host, &path, |path| host.lock(path, LockWait::Try)) {
            Ok(lock) => Ok(Some((Self { host, path, _lock: lock }, glance))),
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
