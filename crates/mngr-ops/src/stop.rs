//! `stop`: ends an agent's processes and its session, and sees that they are gone.
//!
//! Budget: two tmux processes for an agent with a session, one for an agent without; nothing waits for a fixed time.
//! The record says "stopped on request" before anything is ended, so that the exit that follows is explained. An agent
//! that ended by itself keeps its own ending.

use std::time::Duration;

use mngr_config::Settings;
use mngr_host::errand::ErrandError;
use mngr_host::files::{Change, FilesError};
use mngr_host::host::{EndReport, EndRequest, EndedCommand, RunningCommands};
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::proc::ExecError;
use mngr_host::tmux::{SessionClaim, SessionName, SessionNameError, SessionOwner, TmuxError};
use mngr_model::facts::{AgentFacts, Detail};
use mngr_model::process::{Ending, ProcessRecord};

use crate::again::{LookError, look_again};
use crate::fleet::Agent;
use crate::terminal;
use crate::world::World;

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopOptions {
    /// How long the agent's program gets to end by itself before it is killed.
    pub grace: Duration,
    /// What becomes of commands that run beside the agent through `exec`.
    pub commands: RunningCommands,
}

impl StopOptions {
    /// What the settings say. Commands that run beside the agent end with it.
    pub fn from_settings(settings: &Settings) -> Self {
        let grace = Duration::try_from_secs_f64(settings.stop.grace_seconds).unwrap_or_default();
        Self { grace, commands: RunningCommands::End }
    }

    /// The same for an agent that is about to run again: commands beside it go on.
    pub(crate) fn before_start(settings: &Settings) -> Self {
        Self { commands: RunningCommands::Leave, ..Self::from_settings(settings) }
    }
}

/// What stopping came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stopped {
    /// There was nothing to end.
    pub was_stopped_already: bool,
    /// How many processes were asked to end.
    pub ended: usize,
    /// How many of them had to be killed.
    pub killed: usize,
    /// Commands that ran beside it through `exec` and were ended with it.
    pub commands: Vec<EndedCommand>,
    /// It was on a tmux server that could not be reached.
    pub unreachable: Option<UnreachableServer>,
    /// What is known of the server that answers.
    pub server: ServerSeen,
}

/// A tmux server that has lost its socket to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreachableServer {
    /// Its process, where it is known.
    pub pid: Option<i32>,
    /// The process of the one that answers.
    pub answering: i32,
}

impl std::fmt::Display for UnreachableServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let process = self.pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        let answering = self.answering;
        write!(
            f,
            "a tmux server{process} that has lost its socket; its processes were ended one by one, and server \
             {answering}, which answers there now, was left alone"
        )
    }
}

/// What stopping an agent has shown of its tmux server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ServerSeen {
    /// Nobody asked it, or the agent's session may have been its last.
    #[default]
    Unknown,
    /// It answers.
    Answers,
    /// None answers.
    Silent,
}

/// The agent is not known to be stopped.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// Some of its processes live on.
    #[error("processes of agent `{name}` are still running: {}", numbers(.pids))]
    ProcessesRemain {
        /// Its name.
        name: String,
        /// Their numbers.
        pids: Vec<i32>,
    },
    /// Its record names a process that is not known to be its own.
    #[error(
        "the record of agent `{name}` names process {pid}, which was not started by it; that was left alone"
    )]
    NotItsProcess {
        /// Its name.
        name: String,
        /// The process.
        pid: i32,
    },
    /// It cannot be seen.
    #[error(transparent)]
    Look(#[from] LookError),
    /// Its session cannot be named.
    #[error("cannot name the agent's session")]
    Name(#[from] SessionNameError),
    /// tmux could not be asked.
    #[error("cannot end the agent's session")]
    Tmux(#[from] TmuxError),
    /// The request could not be recorded, so nothing was ended.
    #[error("cannot record that the agent is being stopped")]
    Files(#[from] FilesError),
    /// The processes could not be reached.
    #[error("cannot end the agent's processes")]
    Exec(#[from] ExecError),
    /// The user gave up before it began.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

fn numbers(pids: &[i32]) -> String {
    pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Stops the agent, whatever it was doing when it was looked at. One that is stopped already is success.
pub fn stop(world: &World, agent: &Agent, options: &StopOptions) -> Result<Stopped, StopError> {
    interrupt::check()?;
    if agent.is_host_off() {
        return Ok(Stopped { was_stopped_already: true, ..Stopped::default() });
    }
    stop_seen(world, &look_again(agent, Detail::Full)?, options)
}

/// The same for an agent that was looked at just now, with [`Detail::Full`].
pub(crate) fn stop_seen(world: &World, agent: &Agent, options: &StopOptions) -> Result<Stopped, StopError> {
    interrupt::check()?;
    // Half a stop would leave a session without its program. An agent that stops itself must not be cut short by the
    // end of its own terminal either.
    let _shield = interrupt::shield();
    let (host, facts) = (agent.host.as_ref(), &agent.facts);
    let Found { session, unreachable, server } = find_session(world, agent)?;
    let lives = session.is_some() || facts.agent.is_alive() || facts.supervisor.is_alive();
    let mut first = Vec::new();
    if lives && facts.process.ending.is_none() {
        let line = ProcessRecord::stop_line(agent.by_its_clock(world.clock.now()));
        let path = host.layout().agent(agent.id()).process();
        first.push(Change::Append { path, bytes: line.into_bytes() });
    }
    let program = facts.process.agent.filter(|_| may_be_its_program(facts));
    let StopOptions { grace, commands } = *options;
    let request = EndRequest { first, agent: agent.id().clone(), program, grace, commands };
    let report = host.end_processes(&request).map_err(|error| match error {
        ErrandError::Files(error) => StopError::Files(error),
        ErrandError::Exec(error) => StopError::Exec(error),
    })?;
    if let Some((session, claim)) = session {
        world.with_tmux(host, |tmux| tmux.kill_session_of(&session, agent.id(), claim))?;
    }
    if !lives && report == EndReport::default() {
        // Nothing was ended, and a look was taken just now.
        return Ok(Stopped { was_stopped_already: true, server, ..Stopped::default() });
    }
    if let Some(unreachable) = &unreachable {
        world.reporter.note(&format!("agent `{}` was on {unreachable}", agent.name()));
    }
    tell_ended(world, agent, &report.commands);
    let mut pids = report.remaining;
    let seen = look_again(agent, Detail::Basic)?.facts;
    let named = seen.process.agent.filter(|_| seen.agent.is_alive()).map(|id| id.pid);
    pids.extend(named.filter(|pid| report.stranger != Some(*pid)));
    pids.sort_unstable();
    pids.dedup();
    let name = || agent.name().to_string();
    if !pids.is_empty() {
        return Err(StopError::ProcessesRemain { name: name(), pids });
    }
    if let Some(pid) = report.stranger {
        return Err(StopError::NotItsProcess { name: name(), pid });
    }
    Ok(Stopped {
        was_stopped_already: !lives && report.signalled == report.of_commands,
        commands: report.commands,
        ended: report.signalled,
        killed: report.killed,
        unreachable,
        server: if lives { ServerSeen::Unknown } else { server },
    })
}

/// Whoever waits for such a command hears only that it was hung up.
fn tell_ended(world: &World, agent: &Agent, commands: &[EndedCommand]) {
    let list = commands.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let what = match commands.len() {
        0 => return,
        1 => "a command that ran".to_owned(),
        count => format!("{count} commands that ran"),
    };
    world.reporter.note(&format!("ended {what} in agent `{}` with `mngr exec`: {list}", agent.name()));
}

/// Whether the recorded number can still mean the agent's program.
fn may_be_its_program(facts: &AgentFacts) -> bool {
    facts.same_boot != Some(false) && !matches!(facts.process.ending, Some(Ending::Exited { .. }))
}

/// Where an agent's session is.
#[derive(Debug, Default)]
struct Found {
    session: Option<(SessionName, SessionClaim)>,
    unreachable: Option<UnreachableServer>,
    server: ServerSeen,
}

/// The agent's session. While its pane lives, it is found by that: the prefix may have been set differently at launch,
/// and a deleted socket is made again. Without it, further windows may still be open under the usual name.
///
/// On a server that cannot be reached, the session ends with the last of the agent's processes.
fn find_session(world: &World, agent: &Agent) -> Result<Found, StopError> {
    if let Some(pane) = terminal::pane_of(agent) {
        // A session the user gave an odd name ends with its last process; so does one the pane was moved into.
        let of_agent = |session: &str| Some((SessionName::new(session).ok()?, SessionClaim::Marked));
        return match terminal::session_panes(world, agent, &pane) {
            Ok(panes) => {
                let session = panes.first().and_then(|own| of_agent(&own.session));
                Ok(Found { session, server: ServerSeen::Answers, ..Found::default() })
            }
            Err(TmuxError::Elsewhere { server: pid, answering }) => {
                let unreachable = Some(UnreachableServer { pid, answering });
                Ok(Found { unreachable, server: ServerSeen::Answers, ..Found::default() })
            }
            Err(error) if error.is_gone() => Ok(Found::default()),
            Err(error) => Err(error.into()),
        };
    }
    let name = world.session_name(agent.name())?;
    let answers = Found { server: ServerSeen::Answers, ..Found::default() };
    match world.with_tmux(agent.host.as_ref(), |tmux| tmux.session_owner(&name)) {
        // The name in a record proves nothing: the agent can write it. Sessions of the Python mngr are not marked.
        Ok(SessionOwner::Agent(owner)) if owner != *agent.id() => Ok(answers),
        Ok(SessionOwner::Agent(_) | SessionOwner::Unmarked) => {
            Ok(Found { session: Some((name, SessionClaim::NotMarkedOtherwise)), ..answers })
        }
        Ok(SessionOwner::NoSession) => Ok(answers),
        Ok(SessionOwner::NoServer) => Ok(Found { server: ServerSeen::Silent, ..Found::default() }),
        // Without tmux there are no sessions.
        Err(TmuxError::Exec(ExecError::NotFound { .. })) => Ok(Found::default()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
