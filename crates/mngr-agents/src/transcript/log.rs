//! The native files of one agent's conversation, read again and again while they grow.
//!
//! Spawns nothing. Reading costs a few listings and takes only what is new.

use std::collections::{BTreeMap, HashSet};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use mngr_host::files::{Files, FilesError};
use mngr_model::layout::AgentLayout;
use mngr_model::{EventId, HostPath};

use super::brand::{Brand, TranscriptFile};
use super::reader::{Entry, Reader};
use crate::conversation::adopted;

/// How much of a file is in memory at once: conversations can be long, and the agent can write what it likes.
const PIECE: usize = 1024 * 1024;

/// Which files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The agent's own conversation.
    Conversation,
    /// Also what programs of the brand that the agent ran itself have left.
    Everything,
}

/// Follows the files of one agent.
#[derive(Debug)]
pub struct NativeLog {
    brand: Brand,
    state: HostPath,
    scope: Scope,
    tails: BTreeMap<HostPath, Tail>,
    told: HashSet<EventId>,
    /// How much of each file was there before the agent; read once.
    adopted: Option<BTreeMap<HostPath, u64>>,
    /// What was spent before the agent was there.
    spent_before: HashSet<String>,
}

/// How far one file was read.
#[derive(Debug)]
struct Tail {
    reader: Reader,
    offset: u64,
    /// The latest time met in it.
    latest: Timestamp,
}

impl NativeLog {
    /// At the beginning of what lies in this state folder.
    pub fn new(brand: Brand, state: HostPath, scope: Scope) -> Self {
        Self {
            brand,
            state,
            scope,
            tails: BTreeMap::new(),
            told: HashSet::new(),
            adopted: None,
            spent_before: HashSet::new(),
        }
    }

    /// The brand that wrote it.
    pub fn brand(&self) -> Brand {
        self.brand
    }

    /// Waits, for a moment at most, until what the agent has just done is in its record: whoever was told that a turn has
    /// ended finds the answer there.
    pub fn settle(&self, files: &dyn Files, now: Timestamp) -> Result<(), FilesError> {
        let lag = self.brand.lag();
        if lag.is_zero() {
            return Ok(());
        }
        let activity = AgentLayout::new(self.state.clone()).activity_agent();
        let Some(active) = files.stat(&activity)?.and_then(|stat| stat.modified) else { return Ok(()) };
        // The clock of its host may be ahead of ours.
        let age = Duration::try_from(now.duration_since(active)).unwrap_or_default();
        thread::sleep(lag.saturating_sub(age));
        Ok(())
    }

    /// Everything that was written since the last call, by time; each thing said once. What was spent in a conversation
    /// before the agent adopted it is not the agent's.
    pub fn read_more(&mut self, files: &dyn Files) -> Result<Vec<Entry>, FilesError> {
        // Who asks for the conversation alone does not count.
        if self.adopted.is_none() && self.scope == Scope::Everything {
            self.adopted = Some(adopted(files, &self.state)?);
        }
        let mut entries = Vec::new();
        for file in self.brand.files(files, &self.state)? {
            if self.scope == Scope::Everything || file.is_own {
                entries.extend(self.read_file(files, &file)?);
            }
        }
        entries.retain(|(_, entry)| match entry {
            Entry::Said(record) => self.told.insert(record.event_id.clone()),
            Entry::Spent(spend) => !self.spent_before.contains(&spend.key),
            Entry::Damaged { .. } => true,
        });
        entries.sort_by_key(|(time, _)| *time);
        Ok(entries.into_iter().map(|(_, entry)| entry).collect())
    }

    /// What is new in one file, with the times that put it among the entries of other files.
    fn read_file(
        &mut self,
        files: &dyn Files,
        file: &TranscriptFile,
    ) -> Result<Vec<(Timestamp, Entry)>, FilesError> {
        let TranscriptFile { path, size, .. } = file;
        let tail = self.tails.entry(path.clone()).or_insert_with(|| Tail::new(self.brand));
        if *size < tail.offset {
            // It was replaced by a shorter one: what it repeats has been told already.
            *tail = Tail::new(self.brand);
        }
        if *size == tail.offset {
            return Ok(Vec::new());
        }
        let before = self.adopted.as_ref().and_then(|adopted| adopted.get(path)).copied().unwrap_or_default();
        let mut entries = Vec::new();
        loop {
            let left = usize::try_from(before.saturating_sub(tail.offset)).unwrap_or(PIECE);
            let piece = if left > 0 { left.min(PIECE) } else { PIECE };
            match files.read_part(path, tail.offset, piece) {
                Ok(bytes) => {
                    let told = tail.feed(&bytes);
                    if left > 0 {
                        self.spent_before.extend(told.iter().filter_map(|(_, entry)| entry.spend_key()));
                    }
                    entries.extend(told);
                    if bytes.len() < piece {
                        return Ok(entries);
                    }
                }
                // Removed since it was listed.
                Err(error) if error.is_missing() => return Ok(entries),
                Err(error) => return Err(error),
            }
        }
    }

    /// The folders to watch for changes.
    pub fn folders(&self, files: &dyn Files) -> Result<Vec<HostPath>, FilesError> {
        self.brand.folders(files, &self.state)
    }
}

impl Tail {
    fn new(brand: Brand) -> Self {
        Self { reader: Reader::new(brand), offset: 0, latest: Timestamp::MIN }
    }

    fn feed(&mut self, bytes: &[u8]) -> Vec<(Timestamp, Entry)> {
        self.offset += bytes.len() as u64;
        let entries = self.reader.feed(bytes).into_iter();
        let timed = entries.map(|entry| {
            let own = match &entry {
                Entry::Said(record) => record.timestamp,
                Entry::Spent(spend) => spend.timestamp,
                Entry::Damaged { .. } => self.latest,
            };
            // A file is in the right order, even where its times are not.
            self.latest = self.latest.max(own);
            (self.latest, entry)
        });
        timed.collect()
    }
}
