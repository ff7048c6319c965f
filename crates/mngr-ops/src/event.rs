//! `event`: the event logs of an agent or a host, merged by time, each event once.
//!
//! The conversation of an agent that keeps one is among them, as the source `<brand>/common_transcript`. Spawns
//! nothing; following waits for file events.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mngr_agents::transcript::{Entry, NativeLog, Scope};
use mngr_host::files::{Below, FileKind, FilesError};
use mngr_host::host::Host;
use mngr_host::interrupt::Interrupted;
use mngr_model::HostPath;
use mngr_model::address::AgentOrHost;
use mngr_model::layout::AgentLayout;
use serde_json::Value;

use crate::follow::ChangeNote;
use crate::hosts::{self, FindHostError};
use crate::remains::{self, Place, Remains, Source};
use crate::select::SelectError;
use crate::world::World;

/// A log, and the beginning of the names of its older parts.
const LOG: &str = "events.jsonl";

/// The last word of the source of a conversation in the common form.
const TRANSCRIPT: &str = "common_transcript";

/// How deep below `events/` a log may be.
const DEEPEST: usize = 4;

/// Why there are no events.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// No agent, or not exactly one.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// No such host.
    #[error(transparent)]
    Host(#[from] FindHostError),
    /// The logs cannot be read.
    #[error("cannot read the events of `{target}`")]
    Files {
        /// Whose.
        target: String,
        /// Why.
        #[source]
        source: FilesError,
    },
    /// The user gave up.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedEvent {
    /// The line as it was written, without its end.
    pub line: String,
    /// The same, read; `source` is filled in where the line has none.
    pub event: Value,
}

/// Events since the last look.
#[derive(Debug, Default, PartialEq)]
pub struct Events {
    /// By time.
    pub events: Vec<LoggedEvent>,
    /// How many lines could not be read and were passed over.
    pub damaged: usize,
}

/// The logs of one agent or host, read again and again while they grow.
pub struct EventLogs {
    target: String,
    host: Arc<dyn Host>,
    source: Source,
    folder: HostPath,
    /// Whether more can come.
    is_live: bool,
    sources: Vec<String>,
    conversation: Option<NativeLog>,
    tails: BTreeMap<HostPath, Tail>,
    told: HashSet<String>,
}

/// How far one file was read.
struct Tail {
    offset: u64,
    latest: Timestamp,
}

impl EventLogs {
    /// The logs of an agent, also a destroyed one, or of a host. Without sources: all of them.
    pub fn open(world: &World, target: &AgentOrHost, sources: Vec<String>) -> Result<Self, EventError> {
        let (host, source, state, place) = match target {
            AgentOrHost::Agent(address) => {
                let remains = remains::find(world, address)?;
                let brand = remains.brand().map_err(|source| failed(target, source))?;
                let (state, place) = (remains.state, remains.place);
                let log = brand.map(|brand| NativeLog::new(brand, state.clone(), Scope::Conversation));
                if let Some(log) = &log {
                    log.settle(remains.source.files(), world.clock.now())
                        .map_err(|source| failed(target, source))?;
                }
                (remains.host, remains.source, Some((state, log)), place)
            }
            AgentOrHost::Host(address) => {
                let host = hosts::of_address(world, address)?;
                (host.clone(), Source::Host(host), None, Place::Home)
            }
        };
        let (folder, conversation) = match state {
            Some((state, log)) => (AgentLayout::new(state).events(), log),
            None => (host.layout().events(), None),
        };
        Ok(Self {
            target: target.to_string(),
            host,
            source,
            folder,
            is_live: place == Place::Home,
            sources,
            conversation,
            tails: BTreeMap::new(),
            told: HashSet::new(),
        })
    }

    /// The transcripts in the common form that somebody has written into an agent's folder; nothing where there are none.
    pub(crate) fn transcripts(remains: &Remains) -> Result<Option<Self>, FilesError> {
        let mut logs = Self {
            target: remains.name.to_string(),
            host: remains.host.clone(),
            source: remains.source.clone(),
            folder: AgentLayout::new(remains.state.clone()).events(),
            is_live: remains.place == Place::Home,
            sources: Vec::new(),
            conversation: None,
            tails: BTreeMap::new(),
            told: HashSet::new(),
        };
        let is_transcript = |source: &String| source.rsplit('/').next() == Some(TRANSCRIPT);
        logs.sources = logs.logs()?.into_iter().map(|log| log.source).filter(is_transcript).collect();
        Ok(Some(logs).filter(|logs| !logs.sources.is_empty()))
    }

    /// What was logged since the last call.
    pub fn read_more(&mut self) -> Result<Events, EventError> {
        let mut damaged = 0;
        let read = self.read_files(&mut damaged).and_then(|mut all| {
            all.extend(self.read_conversation(&mut damaged)?);
            Ok(all)
        });
        let mut all = read.map_err(|source| failed(&self.target, source))?;
        all.retain(|(_, logged)| match logged.event.get("event_id").and_then(Value::as_str) {
            Some(id) => self.told.insert(id.to_owned()),
            None => true,
        });
        all.sort_by_key(|(time, _)| *time);
        Ok(Events { events: all.into_iter().map(|(_, logged)| logged).collect(), damaged })
    }

    /// Waits for what is logged next; nothing once the agent is destroyed or its host does not run, when nothing more can
    /// come.
    pub fn wait_for_more(&mut self) -> Result<Option<Events>, EventError> {
        if !self.is_live {
            return Ok(Some(self.read_more()?).filter(|events| *events != Events::default()));
        }
        loop {
            let note = ChangeNote::of(self.host.as_ref(), self.folders());
            let events = self.read_more()?;
            if events != Events::default() {
                return Ok(Some(events));
            }
            let owner = self.folder.parent().unwrap_or_else(|| self.folder.clone());
            if !self.source.files().exists(&owner).unwrap_or(true) {
                return Ok(None);
            }
            note.wait(Duration::MAX)?;
        }
    }

    pub(crate) fn folders(&self) -> Vec<HostPath> {
        let files = self.source.files();
        let logs = self.logs().unwrap_or_default();
        let mut folders: Vec<HostPath> = logs.iter().filter_map(|log| log.path.parent()).collect();
        folders.extend(self.folder.parent());
        folders.push(self.folder.clone());
        let talk = self.conversation.as_ref().and_then(|log| log.folders(files).ok());
        folders.extend(talk.unwrap_or_default());
        folders.sort();
        folders.dedup();
        folders
    }

    fn read_files(&mut self, damaged: &mut usize) -> Result<Vec<(Timestamp, LoggedEvent)>, FilesError> {
        let mut all = Vec::new();
        for log in self.logs()? {
            if !self.wants(&log.source) {
                continue;
            }
            let tail =
                self.tails.entry(log.path.clone()).or_insert(Tail { offset: 0, latest: Timestamp::MIN });
            if log.size < tail.offset {
                // It was rotated: what is in it now is new.
                tail.offset = 0;
            }
            let bytes = match self.source.files().read_from(&log.path, tail.offset) {
                Ok(bytes) => bytes,
                Err(error) if error.is_missing() => continue,
                Err(error) => return Err(error),
            };
            // A line without its end is still being written.
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            tail.offset += whole as u64;
            let lines = bytes[..whole].split(|byte| *byte == b'\n');
            for line in lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace)) {
                match parse(line, &log.source) {
                    Some(logged) => all.push((tail.time_of(&logged.event), logged)),
                    None => *damaged += 1,
                }
            }
        }
        Ok(all)
    }

    fn read_conversation(
        &mut self,
        damaged: &mut usize,
    ) -> Result<Vec<(Timestamp, LoggedEvent)>, FilesError> {
        let name = self.conversation.as_ref().map(|log| format!("{}/common_transcript", log.brand().name()));
        let is_wanted = name.is_some_and(|name| self.wants(&name));
        let Some(log) = self.conversation.as_mut().filter(|_| is_wanted) else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        let mut latest = Timestamp::MIN;
        for entry in log.read_more(self.source.files())? {
            match entry {
                Entry::Said(record) => {
                    // A conversation comes in the right order, even where its times are not.
                    latest = latest.max(record.timestamp);
                    let event = serde_json::to_value(&record).unwrap_or_default();
                    all.push((latest, LoggedEvent { line: event.to_string(), event }));
                }
                Entry::Damaged { .. } => *damaged += 1,
                Entry::Spent(_) => {}
            }
        }
        Ok(all)
    }

    /// A source is meant by its name or by a folder it is in.
    fn wants(&self, source: &str) -> bool {
        let is_meant = |wanted: &String| {
            source.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.sources.is_empty() || self.sources.iter().any(is_meant)
    }

    /// The logs that are there. Links are not followed: what an agent writes must not lead elsewhere.
    fn logs(&self) -> Result<Vec<Log>, FilesError> {
        let below = self.source.files().list_below(&self.folder, DEEPEST + 1)?.into_iter();
        Ok(below.filter_map(|found| Log::of(&self.folder, found)).collect())
    }
}

impl Tail {
    /// When an event happened; one that does not say so happened with the one before it.
    fn time_of(&mut self, event: &Value) -> Timestamp {
        let own = event.get("timestamp").and_then(Value::as_str).and_then(|text| text.parse().ok());
        self.latest = own.unwrap_or(self.latest);
        self.latest
    }
}

/// A file of events.
struct Log {
    source: String,
    path: HostPath,
    /// How long it was when it was listed.
    size: u64,
}

impl Log {
    fn of(folder: &HostPath, Below { path, stat }: Below) -> Option<Self> {
        if stat.kind != FileKind::File || !path.file_name().is_some_and(is_log) {
            return None;
        }
        let source = path.parent()?.as_str().strip_prefix(folder.as_str())?.trim_matches('/').to_owned();
        Some(Self { source, path, size: stat.size })
    }
}

/// `events.jsonl`, and `events.jsonl.3` for an older part.
fn is_log(name: &str) -> bool {
    let number = |rest: &str| rest.strip_prefix('.').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    name.strip_prefix(LOG).is_some_and(|rest| rest.is_empty() || number(rest))
}

fn parse(line: &[u8], source: &str) -> Option<LoggedEvent> {
    let mut event: Value = serde_json::from_slice(line).ok()?;
    let object = event.as_object_mut()?;
    object.entry("source").or_insert_with(|| source.into());
    Some(LoggedEvent { line: String::from_utf8_lossy(line).into_owned(), event })
}

fn failed(target: &(impl ToString + ?Sized), source: FilesError) -> EventError {
    EventError::Files { target: target.to_string(), source }
}

#[cfg(test)]
mod tests;
