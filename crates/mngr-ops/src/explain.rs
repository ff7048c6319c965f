//! `explain`: why an agent is said to be in its state, with every fact that was looked at.
//!
//! Budget: one tmux process for what tmux says of the agent's pane, and one more where its screen matters; one more still for
//! a coding agent whose files do not tell its version.

use jiff::Timestamp;
use mngr_host::tmux::{SessionNameError, Socket, TmuxError};
use mngr_model::facts::{Detail, ProcessFact};
use mngr_model::process::{Ending, ExitStatus, ProcessId};
use mngr_model::quote::{sh_join, sh_quote};
use mngr_model::state::{StateReport, WaitingReason};
use mngr_model::{AgentId, AgentName, AgentTypeName, HostPath};
use serde::Serialize;

use crate::again::{LookError, look_again};
use crate::fleet::Agent;
use crate::world::World;
use crate::{states, terminal};

mod version;

pub use version::VersionLook;

/// Everything that bears on an agent's state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The agent's name.
    pub name: AgentName,
    /// `name@host.provider`.
    pub address: String,
    /// Its id.
    pub id: AgentId,
    /// Its type.
    #[serde(rename = "type")]
    pub agent_type: AgentTypeName,
    /// The state and what decided it.
    #[serde(flatten)]
    pub state: StateReport,
    /// Seconds since the state began, where that is known.
    pub age_seconds: Option<f64>,
    /// Whether the recorded numbers are of the boot that runs now.
    pub boot: BootLook,
    /// The shell that runs the agent.
    pub supervisor: ProcessLook,
    /// The agent's own program.
    pub program: ProcessLook,
    /// The version of its program, for coding agents.
    pub version: Option<VersionLook>,
    /// How the newest run ended, as recorded.
    pub ending: Option<EndingLook>,
    /// The marker files, read only while the program lives.
    pub markers: MarkersLook,
    /// What tmux says.
    pub terminal: TerminalLook,
    /// Where to look further.
    pub files: FilesLook,
}

/// The boot the record was written under.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BootLook {
    /// Its id.
    pub recorded: Option<String>,
    /// Whether it is the one that runs now.
    pub is_current: Option<bool>,
}

/// A recorded process and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessLook {
    /// Its number.
    pub pid: Option<i32>,
    /// Its start, in the kernel's unit: tells it from a later process with the same number.
    pub start: Option<u64>,
    /// `alive`, `gone`, `not recorded`, `not looked at` or `unreadable`.
    pub found: &'static str,
    /// Whether it is stopped by a signal.
    pub is_suspended: bool,
    /// Whether it still has its terminal.
    pub has_terminal: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EndingLook {
    /// `exited` or `stopped on request`.
    pub how: &'static str,
    /// The exit status, if it ended by itself.
    pub status: Option<ExitStatus>,
    /// When.
    pub at: Option<Timestamp>,
}

/// A marker file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MarkerLook {
    /// When it was last touched.
    pub touched: Timestamp,
    /// Seconds since.
    pub age_seconds: f64,
}

/// The marker files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MarkersLook {
    /// `active`: the agent says it works.
    pub active: Option<MarkerLook>,
    /// `waiting`: the agent says it waits.
    pub waiting: Option<MarkerLook>,
    /// Why it waits, as the marker says.
    pub waiting_reason: Option<WaitingReason>,
}

/// What tmux says of the agent's pane.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TerminalLook {
    /// The server's socket name; `default` for the user's own server.
    pub socket: String,
    /// The session the pane is in, or the name it would have.
    pub session: Option<String>,
    /// The recorded pane.
    pub pane: Option<String>,
    /// Whether tmux knows the pane; unknown when it could not be asked.
    pub is_there: Option<bool>,
    /// Why tmux could not be asked.
    pub problem: Option<String>,
    /// The plain tmux command that shows it.
    pub attach: Option<String>,
}

/// Where to look further.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FilesLook {
    /// The state folder.
    pub state_dir: HostPath,
    /// The certified record.
    pub record: HostPath,
    /// The supervisor's record.
    pub process: HostPath,
    /// The script the pane runs.
    pub launch_script: HostPath,
    /// The log of messages.
    pub messages: HostPath,
}

/// Looks at the agent closely and says why its state is what it is.
pub fn explain(world: &World, agent: &Agent) -> Result<Explanation, LookError> {
    let mut agent = look_again(agent, Detail::Full)?;
    agent.state = states::look(world, agent.host.as_ref(), &agent.facts);
    agent.state.since = agent.state.since.map(|since| agent.by_our_clock(since));
    let ours = |at: Option<Timestamp>| at.map(|at| agent.by_our_clock(at));
    let mut state = agent.state.clone();
    state.background.iter_mut().for_each(|task| task.since = ours(task.since));
    state.wakeups.iter_mut().for_each(|wakeup| wakeup.at = ours(wakeup.at));
    let now = world.clock.now();
    let layout = agent.host.layout().agent(agent.id());
    let facts = &agent.facts;
    let marker = |touched: Option<Timestamp>| {
        touched
            .map(|touched| agent.by_our_clock(touched))
            .map(|touched| MarkerLook { touched, age_seconds: age(touched, now) })
    };
    Ok(Explanation {
        name: agent.name().clone(),
        address: agent.address(),
        id: agent.id().clone(),
        agent_type: facts.record.agent_type.clone(),
        age_seconds: agent.state.since.map(|since| age(since, now)),
        state,
        boot: BootLook { recorded: facts.process.boot.clone(), is_current: facts.same_boot },
        supervisor: process_look(facts.process.supervisor, facts.supervisor),
        program: process_look(facts.process.agent, facts.agent),
        version: version::look(world, &agent),
        ending: facts.process.ending.map(|ending| ending_look(&agent, ending)),
        markers: MarkersLook {
            active: marker(facts.markers.active),
            waiting: marker(facts.markers.waiting),
            waiting_reason: facts.markers.waiting_reason,
        },
        terminal: terminal_look(world, &agent),
        files: FilesLook {
            state_dir: layout.root().clone(),
            record: layout.data(),
            process: layout.process(),
            launch_script: layout.launch_script(),
            messages: layout.message_events(),
        },
    })
}

fn age(since: Timestamp, now: Timestamp) -> f64 {
    now.duration_since(since).as_secs_f64().max(0.0)
}

fn process_look(id: Option<ProcessId>, fact: ProcessFact) -> ProcessLook {
    let (found, is_suspended, has_terminal) = match fact {
        ProcessFact::Alive { suspended, terminal, .. } => ("alive", suspended, terminal.is_some()),
        ProcessFact::Gone => ("gone", false, false),
        ProcessFact::NotRecorded => ("not recorded", false, false),
        ProcessFact::NotLooked => ("not looked at", false, false),
        ProcessFact::Unreadable => ("unreadable", false, false),
    };
    ProcessLook { pid: id.map(|id| id.pid), start: id.map(|id| id.start), found, is_suspended, has_terminal }
}

fn ending_look(agent: &Agent, ending: Ending) -> EndingLook {
    let ours = |at: Option<Timestamp>| at.map(|at| agent.by_our_clock(at));
    match ending {
        Ending::Exited { status, at } => EndingLook { how: "exited", status: Some(status), at: ours(at) },
        Ending::Stopped { at } => EndingLook { how: "stopped on request", status: None, at: ours(at) },
    }
}

fn terminal_look(world: &World, agent: &Agent) -> TerminalLook {
    let socket = match world.socket(agent.host.as_ref()) {
        Socket::Private(name) => name,
        Socket::UserDefault => "default".to_owned(),
    };
    let found = match terminal::pane_of(agent) {
        Some(pane) => terminal::session_panes(world, agent, &pane).map(|panes| panes.into_iter().next()),
        None => Ok(None),
    };
    let (session, is_there, problem) = match found {
        Ok(Some(own)) => (Ok(own.session), Some(true), None),
        Ok(None) => (named_session(world, agent), Some(false), None),
        // tmux says so itself, so it was asked.
        Err(TmuxError::Gone { message } | TmuxError::NoServer { message }) => {
            (named_session(world, agent), Some(false), Some(message))
        }
        Err(error) => (named_session(world, agent), None, Some(crate::error_chain(&error))),
    };
    let session = session.ok();
    TerminalLook {
        attach: session.as_deref().and_then(|session| attach_line(world, agent, session)),
        socket,
        session,
        pane: agent.facts.process.pane.clone(),
        is_there,
        problem,
    }
}

fn named_session(world: &World, agent: &Agent) -> Result<String, SessionNameError> {
    world.session_name(agent.name()).map(|session| session.as_str().to_owned())
}

fn attach_line(world: &World, agent: &Agent, session: &str) -> Option<String> {
    let session = mngr_host::tmux::SessionName::new(session).ok()?;
    let line = world.with_tmux(agent.host.as_ref(), |tmux| sh_join(tmux.attach_words(&session)));
    Some(match agent.host.reach() {
        Some(reach) => format!("{} -t {} {}", sh_join(&reach.shell), sh_quote(&reach.name), sh_quote(&line)),
        None => line,
    })
}

#[cfg(test)]
mod tests;
