//! The journal of a run on disk: `run.jsonl`, appended line by line, and the lock that makes one orchestrator its owner.
//!
//! Spawns nothing. A line is on the disk when [`Journal::append`] returns. What the lines add up to is known in
//! `mngr_model::run`; nothing here decides what happens next.

mod follow;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mngr_host::clock::Clock;
use mngr_host::fault;
use mngr_host::files::{Durability, FileKind, FilesError};
use mngr_host::host::Host;
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_model::HostPath;
use mngr_model::run::{Entry, Event, Irregular, Run, Started, read_lines};

pub use follow::Follower;

/// The journal, in the folder of a run.
const JOURNAL: &str = "run.jsonl";

/// How much of a journal is read for its first line: that line holds all that the run was told.
const FIRST_LINE: usize = 4 * 1024 * 1024;

/// Whoever holds it writes the journal. The system lets go of it when the holder ends, however it ends.
const LOCK: &str = "run.lock";

/// A child that an orchestrator was just starting when it was killed holds the lock so long at most.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// The journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is a run in that folder.
    #[error("`{folder}` holds a run already")]
    Exists {
        /// The folder of the run.
        folder: HostPath,
    },
    /// There is no run in that folder.
    #[error("`{folder}` holds no run")]
    Missing {
        /// The folder of the run.
        folder: HostPath,
    },
    /// Another orchestrator is at work.
    #[error("another mngr is working on the run in `{folder}`")]
    Owned {
        /// The folder of the run.
        folder: HostPath,
    },
    /// The lock could not be taken for another reason.
    #[error("the run in `{folder}` cannot be locked")]
    Lock {
        /// The folder of the run.
        folder: HostPath,
        /// Why.
        #[source]
        source: LockError,
    },
    /// The journal could not be read or written.
    #[error("the journal of the run cannot be kept")]
    Files(#[from] FilesError),
    /// An event that contradicts the journal. It was not written.
    #[error("the journal of the run would contradict itself")]
    Irregular(#[from] Irregular),
    /// An event that cannot be spelled.
    #[error("an event of the run cannot be spelled")]
    Json(#[from] serde_json::Error),
}

/// A journal and what it adds up to so far. While it lives, nobody else writes it.
pub struct Journal {
    host: Arc<dyn Host>,
    clock: Arc<dyn Clock>,
    path: HostPath,
    run: Run,
    /// Whether a write failed half-way, so that the next one has to begin a line.
    is_torn: bool,
    _lock: HostLock,
}

/// What a look at a journal showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// What the lines add up to.
    pub run: Run,
    /// Lines that could not be read.
    pub damaged: usize,
}

/// How a run began: the first line of its journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Beginning {
    /// When.
    pub at: Timestamp,
    /// What it was told.
    pub started: Started,
}

/// Whether an orchestrator is at work on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// One is.
    Working,
    /// None is.
    Gone,
}

impl Journal {
    /// Fails when there is a run in that folder.
    ///
    /// # Errors
    /// When there is one, or the folder cannot be looked at.
    pub fn check_absent(host: &dyn Host, folder: &HostPath) -> Result<(), JournalError> {
        match host.files().stat(&folder.join(JOURNAL))?.is_some_and(|stat| stat.size > 0) {
            true => Err(JournalError::Exists { folder: folder.clone() }),
            false => Ok(()),
        }
    }

    /// Begins a run in a folder that holds none.
    ///
    /// # Errors
    /// When there is a run already, or the folder cannot be used.
    pub fn begin(
        host: Arc<dyn Host>,
        clock: Arc<dyn Clock>,
        folder: &HostPath,
        started: Started,
    ) -> Result<Self, JournalError> {
        host.files().make_folder(folder)?;
        let lock = take_lock(host.as_ref(), folder, LockWait::For(LAST_BREATH))?;
        let path = folder.join(JOURNAL);
        if host.files().stat(&path)?.is_some_and(|stat| stat.size > 0) {
            return Err(JournalError::Exists { folder: folder.clone() });
        }
        let mut journal = Self { host, clock, path, run: Run::default(), is_torn: false, _lock: lock };
        journal.append(Event::RunStarted(started))?;
        Ok(journal)
    }

    /// Goes on with a run whose orchestrator has ended, and notes it.
    ///
    /// # Errors
    /// When there is no run, or its orchestrator lives.
    pub fn resume(
        host: Arc<dyn Host>,
        clock: Arc<dyn Clock>,
        folder: &HostPath,
    ) -> Result<Self, JournalError> {
        let path = folder.join(JOURNAL);
        if !host.files().exists(&path)? {
            return Err(JournalError::Missing { folder: folder.clone() });
        }
        let lock = take_lock(host.as_ref(), folder, LockWait::For(LAST_BREATH))?;
        let mut bytes = host.files().read(&path)?;
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            // A line cut short gets its end before anything is made of it: then all readers agree on what it says, and
            // nothing that was written is taken back.
            host.files().append(&path, b"\n", Durability::Synced)?;
            bytes.push(b'\n');
        }
        let run = Run::fold(&read_lines(&bytes).entries);
        if run.started.is_none() {
            return Err(JournalError::Missing { folder: folder.clone() });
        }
        let mut journal = Self { host, clock, path, run, is_torn: false, _lock: lock };
        journal.append(Event::RunResumed)?;
        Ok(journal)
    }

    /// Writes one line. It is on the disk when this returns, and part of [`Journal::run`].
    ///
    /// # Errors
    /// When the event contradicts the journal, or the line could not be written. The run is then as it was.
    pub fn append(&mut self, event: Event) -> Result<(), JournalError> {
        self.run.check(&event)?;
        let entry = Entry { time: self.clock.now(), seq: self.run.last_seq + 1, event };
        let mut line = Vec::new();
        if self.is_torn {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, &entry)?;
        line.push(b'\n');
        self.is_torn = true;
        self.host.files().append(&self.path, &line, Durability::Synced)?;
        self.is_torn = false;
        self.run.apply(&entry);
        fault::point();
        Ok(())
    }

    /// The run so far.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// Looks at the journal in a folder, whoever writes it.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn read(host: &dyn Host, folder: &HostPath) -> Result<Recorded, JournalError> {
    let bytes = host.files().read_if_there(&folder.join(JOURNAL))?;
    let lines = read_lines(&bytes.ok_or_else(|| JournalError::Missing { folder: folder.clone() })?);
    let run = Run::fold(&lines.entries);
    if run.started.is_none() {
        return Err(JournalError::Missing { folder: folder.clone() });
    }
    Ok(Recorded { run, damaged: lines.damaged })
}

/// The lines of the journal in a folder that can be read.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn entries(host: &dyn Host, folder: &HostPath) -> Result<Vec<Entry>, JournalError> {
    let bytes = host.files().read_if_there(&folder.join(JOURNAL))?;
    Ok(read_lines(&bytes.ok_or_else(|| JournalError::Missing { folder: folder.clone() })?).entries)
}

/// How the run in a folder began; nothing when there is no run.
///
/// # Errors
/// When the journal cannot be read.
pub fn beginning(host: &dyn Host, folder: &HostPath) -> Result<Option<Beginning>, JournalError> {
    let path = folder.join(JOURNAL);
    if host.files().stat(&path)?.is_none_or(|stat| stat.kind != FileKind::File) {
        return Ok(None);
    }
    let bytes = host.files().read_part(&path, 0, FIRST_LINE)?;
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    Ok(read_lines(&bytes[..end]).entries.into_iter().find_map(|entry| match entry.event {
        Event::RunStarted(started) => Some(Beginning { at: entry.time, started }),
        _ => None,
    }))
}

/// Whether somebody works on the run in a folder. Who only looks lets go of the lock at once.
///
/// # Errors
/// When that cannot be told.
pub fn owner(host: &dyn Host, folder: &HostPath) -> Result<Owner, JournalError> {
    match take_lock(host, folder, LockWait::Try) {
        Ok(_) => Ok(Owner::Gone),
        Err(JournalError::Owned { .. }) => Ok(Owner::Working),
        Err(error) => Err(error),
    }
}

fn take_lock(host: &dyn Host, folder: &HostPath, wait: LockWait) -> Result<HostLock, JournalError> {
    host.lock(&folder.join(LOCK), wait).map_err(|error| match error {
        LockError::Held { .. } => JournalError::Owned { folder: folder.clone() },
        source => JournalError::Lock { folder: folder.clone(), source },
    })
}

#[cfg(test)]
mod tests;
