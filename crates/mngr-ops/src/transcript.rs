//! `transcript`: what was said to an agent and by it, in the common form, whether the agent lives or not.
//!
//! Spawns nothing; following waits for file events.

use std::time::Duration;

use mngr_agents::transcript::{Entry, NativeLog, Record, Scope};
use mngr_host::files::FilesError;
use mngr_host::interrupt::Interrupted;
use mngr_model::address::AgentAddress;

use crate::event::{EventError, EventLogs};
use crate::follow::ChangeNote;
use crate::remains::{self, Place, Remains};
use crate::select::SelectError;
use crate::world::World;

pub use mngr_agents::transcript::{Body, Record as TranscriptRecord, Role};

/// Why there is no transcript.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// No agent, or not exactly one.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// Its type keeps none.
    #[error("agent `{name}`{} does not produce a common transcript", of_type(.agent_type))]
    NoTranscript {
        /// The agent.
        name: String,
        /// Its type, where it is still known.
        agent_type: Option<String>,
    },
    /// Its files cannot be read.
    #[error("cannot read the conversation of agent `{name}`")]
    Files {
        /// The agent.
        name: String,
        /// Why.
        #[source]
        source: FilesError,
    },
    /// The events of the agent cannot be read.
    #[error(transparent)]
    Events(#[from] EventError),
    /// The user gave up.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

fn of_type(agent_type: &Option<String>) -> String {
    agent_type.as_ref().map(|agent_type| format!(" of type `{agent_type}`")).unwrap_or_default()
}

/// A conversation that may still be going on.
pub struct Conversation {
    remains: Remains,
    /// What the agent's program keeps.
    log: Option<NativeLog>,
    /// What somebody wrote into the agent's events. It counts as long as the program has said nothing itself.
    written: Option<EventLogs>,
}

/// What was said since the last look.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    /// By time.
    pub records: Vec<Record>,
    /// How many lines could not be read and were passed over.
    pub damaged: usize,
}

impl Conversation {
    /// The conversation of the agent with this address.
    pub fn open(world: &World, address: &AgentAddress) -> Result<Self, TranscriptError> {
        Self::of(world, remains::find(world, address)?)
    }

    /// The conversation of this agent.
    pub fn of(world: &World, remains: Remains) -> Result<Self, TranscriptError> {
        let name = remains.name.to_string();
        let failed = |source| TranscriptError::Files { name: name.clone(), source };
        let brand = remains.brand().map_err(failed)?;
        let written = EventLogs::transcripts(&remains).map_err(failed)?;
        if brand.is_none() && written.is_none() {
            return Err(TranscriptError::NoTranscript { name, agent_type: remains.agent_type });
        }
        let log = brand.map(|brand| NativeLog::new(brand, remains.state.clone(), Scope::Conversation));
        if let Some(log) = &log {
            log.settle(remains.files(), world.clock.now()).map_err(failed)?;
        }
        Ok(Self { remains, log, written })
    }

    /// What was said since the last call.
    pub fn read_more(&mut self) -> Result<Said, TranscriptError> {
        let entries = match &mut self.log {
            Some(log) => log
                .read_more(self.remains.files())
                .map_err(|source| TranscriptError::Files { name: self.remains.name.to_string(), source })?,
            None => Vec::new(),
        };
        let mut said = Said::default();
        for entry in entries {
            match entry {
                Entry::Said(record) => said.records.push(record),
                Entry::Damaged { .. } => said.damaged += 1,
                Entry::Spent(_) => {}
            }
        }
        match said.records.is_empty() {
            true => self.add_written(&mut said)?,
            false => self.written = None,
        }
        Ok(said)
    }

    fn add_written(&mut self, said: &mut Said) -> Result<(), TranscriptError> {
        let Some(logs) = &mut self.written else { return Ok(()) };
        let found = logs.read_more()?;
        said.damaged += found.damaged;
        for logged in found.events {
            let source = logged.event["source"].as_str().unwrap_or_default();
            match TranscriptRecord::of_event(&logged.event, source) {
                Some(record) => said.records.push(record),
                None => said.damaged += 1,
            }
        }
        Ok(())
    }

    /// Waits for what is said next; nothing once the agent is destroyed or its host does not run, when nothing more can
    /// come.
    pub fn wait_for_more(&mut self) -> Result<Option<Said>, TranscriptError> {
        if self.remains.place != Place::Home {
            return Ok(Some(self.read_more()?).filter(|said| *said != Said::default()));
        }
        let host = self.remains.host.clone();
        let (files, state) = (host.files(), self.remains.state.clone());
        loop {
            let talk = self.log.as_ref().and_then(|log| log.folders(files).ok());
            let mut folders = talk.unwrap_or_default();
            folders.extend(self.written.iter().flat_map(EventLogs::folders));
            folders.push(state.clone());
            let note = ChangeNote::of(host.as_ref(), folders);
            let said = self.read_more()?;
            if said != Said::default() {
                return Ok(Some(said));
            }
            if !files.exists(&state).unwrap_or(true) {
                return Ok(None);
            }
            note.wait(Duration::MAX)?;
        }
    }
}
