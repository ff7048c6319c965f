//! What one look at a host brings back, before anybody draws conclusions from it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::activity::{ActivityConfig, ActivitySource};
use crate::agent::AgentRecord;
use crate::process::ProcessRecord;
use crate::state::WaitingReason;

/// What the process table says of a recorded process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessFact {
    /// No process was recorded.
    NotRecorded,
    /// Nobody looked: the answer could not have mattered.
    NotLooked,
    /// No such process, or only a zombie, or its number now belongs to another one.
    Gone,
    /// It lives.
    Alive {
        /// The process that started it, or took it over.
        parent: i32,
        /// Its process group.
        group: i32,
        /// Whether it is stopped by a signal (Ctrl-Z).
        suspended: bool,
        /// Its terminal; `None` when it has none, or lost it.
        terminal: Option<Terminal>,
    },
    /// The system would not say.
    Unreadable,
}

impl ProcessFact {
    /// Whether the process certainly lives.
    pub fn is_alive(self) -> bool {
        matches!(self, Self::Alive { .. })
    }
}

/// The controlling terminal of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// The process group in the foreground; -1 where there is none.
    pub foreground_group: i32,
}

/// Marker files an agent or its hooks keep in the state folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Markers {
    /// When `active` was last touched, if it exists. Every launch creates it, so its absence means it was removed.
    pub active: Option<Timestamp>,
    /// When `waiting` was last touched, if it exists: the agent says it waits.
    pub waiting: Option<Timestamp>,
    /// Why it waits, if the marker `waiting` says so.
    pub waiting_reason: Option<WaitingReason>,
    /// When the state folder last changed: an upper bound for when a marker was removed.
    pub folder_changed: Option<Timestamp>,
}

/// Everything one look found about one agent.
#[derive(Debug, Clone)]
pub struct AgentFacts {
    /// The certified record.
    pub record: AgentRecord,
    /// What the supervisor wrote.
    pub process: ProcessRecord,
    /// Whether the record was written under the boot that runs now; `None` when either is not known.
    pub same_boot: Option<bool>,
    /// The supervisor in the process table.
    pub supervisor: ProcessFact,
    /// The agent in the process table.
    pub agent: ProcessFact,
    /// The marker files.
    pub markers: Markers,
    /// What its program says of itself, for types whose program does.
    pub program: Option<ProgramFacts>,
    /// Living processes of the agent that go on beside its program or after it (the file `elsewhere`).
    pub elsewhere: Vec<i32>,
    /// When the agent's process started, where the system can tell.
    pub started_at: Option<Timestamp>,
    /// By how much the clock of its host, which all times here are of, is ahead of ours.
    pub clock_lead: SignedDuration,
    /// Facts only some fields need.
    pub extra: ExtraFacts,
}

/// What an agent's program keeps on disk about itself. Untrusted text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFacts {
    /// Its status file, if it is there; of a long one only the end, whole lines.
    pub status: Option<String>,
    /// What the last failed turn was reported with (the file `failure`), until the next one begins.
    pub failure: Option<String>,
    /// What its hooks noted of its work in the background (the file `background`).
    pub background: Option<String>,
    /// When the status was last written.
    pub changed: Option<Timestamp>,
    /// When this was read, by the clock of the host.
    pub looked_at: Option<Timestamp>,
    /// When something last appeared in the folder that tells of its readiness.
    pub ready: Option<Timestamp>,
    /// The records of its sub-agents that may be at work (the folder `subagents`), by their names: of each the end, whole
    /// lines; nothing while it has none yet.
    pub subagents: Vec<SubagentFacts>,
}

/// What an agent's program keeps on disk about a sub-agent. Untrusted text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubagentFacts {
    /// What the program calls it.
    pub name: String,
    /// The end of its record, whole lines.
    pub record: String,
    /// When it was last written.
    pub changed: Option<Timestamp>,
}

/// Facts that cost additional file reads; filled when asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraFacts {
    /// `status/url`, as the agent reports it. Untrusted text.
    pub url: Option<String>,
    /// What the agent's program says it works on, made harmless. Filled by every look.
    pub title: Option<String>,
    /// Newest sign of life of the agent itself.
    pub agent_activity: Option<Timestamp>,
    /// Newest sign of life of a user.
    pub user_activity: Option<Timestamp>,
    /// When each source last told of the agent itself.
    pub activity: BTreeMap<ActivitySource, Timestamp>,
    /// What its host counts as use; `None` when the host was not looked at as a whole.
    pub host_activity: Option<HostActivity>,
}

/// How a host counts its use.
#[derive(Debug, Clone, PartialEq)]
pub struct HostActivity {
    /// When it stops by itself.
    pub config: ActivityConfig,
    /// When each source last told of the host itself.
    pub seen: BTreeMap<ActivitySource, Timestamp>,
}

impl Default for HostActivity {
    /// A host that never stops by itself.
    fn default() -> Self {
        Self { config: ActivityConfig::never(), seen: BTreeMap::new() }
    }
}

impl ExtraFacts {
    /// When something last happened to the agent or its host that its host counts; on a host that counts nothing, when
    /// the agent or a user last did something.
    pub fn last_activity(&self) -> Option<Timestamp> {
        match self.host_activity.as_ref().filter(|host| host.config.counts_idleness()) {
            Some(host) => {
                let seen = self.activity.iter().chain(&host.seen);
                seen.filter(|(source, _)| host.config.sources.contains(source)).map(|(_, at)| *at).max()
            }
            None => self.user_activity.max(self.agent_activity),
        }
    }
}

/// An agent folder whose record cannot be read: shown, never silently dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenAgent {
    /// The folder's name (normally the agent's id).
    pub folder: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Which facts beyond the basic ones a look should bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Records, processes and markers.
    Basic,
    /// Also what fills [`ExtraFacts`].
    Activity,
    /// Also the supervisor of an agent whose program lives in its terminal.
    Full,
}

/// What a machine is made of, in the kernel's words. Untrusted text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineFacts {
    /// Its processors, as in `0-3`.
    pub processors: String,
    /// The line of its memory, as in `MemTotal: 1024 kB`.
    pub memory: String,
}

/// One look at a host.
#[derive(Debug, Clone)]
pub struct Survey {
    /// When it was taken, by the clock of the host.
    pub taken_at: Timestamp,
    /// By how much that clock is ahead of ours.
    pub clock_lead: SignedDuration,
    /// When the host booted, where known.
    pub booted_at: Option<Timestamp>,
    /// What the machine is made of, where asking for it apart would cost a round trip.
    pub machine: Option<MachineFacts>,
    /// The agents, sorted by creation time, then id.
    pub agents: Vec<AgentFacts>,
    /// Agent folders that could not be read.
    pub broken: Vec<BrokenAgent>,
    /// Ids with an operation journal: creations and removals under way, or what a killed command left behind.
    pub journals: Vec<String>,
}
