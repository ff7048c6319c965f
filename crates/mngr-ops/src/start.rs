//! `start`: a stopped agent runs again, in the same work dir, with the same variables.

use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::tmux::{ServerStart, SessionClaim};
use mngr_model::AgentState;
use mngr_model::facts::Detail;

use crate::awake::{self, WakeError};
use crate::fleet::Agent;
use crate::journal::{Guard, JournalError};
use crate::launch::{self, LaunchError, Occasion, Readiness};
use crate::message::{self, MessageRequest, SendError};
use crate::stop::{self, ServerSeen, StopError, StopOptions};
use crate::terminal;
use crate::world::World;

/// What is sent once the agent runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// The message stored at creation, if any.
    Stored,
    /// This text.
    Text(String),
    /// Nothing.
    Skip,
}

/// How to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartOptions {
    /// Also an agent that runs, or that ended by itself and left a shell: it is ended first.
    pub restart: bool,
    /// What is sent once it runs.
    pub resume: Resume,
}

/// What starting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// It runs now.
    Launched,
    /// It ran already; nothing was done.
    WasRunning,
}

/// The agent does not run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another command works on it.
    #[error("another command is working on agent `{name}`; it was not started")]
    Busy {
        /// Its name.
        name: String,
    },
    /// Whether another command works on it cannot be told.
    #[error("cannot tell whether another command is working on agent `{name}`")]
    Guard {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: JournalError,
    },
    /// Its state is not known, so starting it could start it twice.
    #[error("the state of agent `{name}` is unknown ({evidence}); it was not started")]
    Unknown {
        /// Its name.
        name: String,
        /// Why.
        evidence: String,
    },
    /// It ran once, for the command that created it.
    #[error("agent `{name}` runs without a terminal, once, and cannot be started again")]
    Headless {
        /// Its name.
        name: String,
    },
    /// What was left of it could not be ended first.
    #[error("what is left of agent `{name}` could not be ended first")]
    Stop {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: StopError,
    },
    /// Its work dir is gone.
    #[error("the work dir of agent `{name}`, `{dir}`, does not exist")]
    NoWorkDir {
        /// Its name.
        name: String,
        /// The folder.
        dir: String,
    },
    /// Its host does not run, and could not be started.
    #[error("the host of agent `{name}` could not be started")]
    Host {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: Box<WakeError>,
    },
    /// It did not come to life.
    #[error("agent `{name}` did not start")]
    Launch {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: LaunchError,
    },
    /// It runs, but did not get its message.
    #[error("agent `{name}` was started, but its resume message was not delivered")]
    Message {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: Box<SendError>,
    },
}

/// How long a resume message may take to be accepted.
const RESUME_PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Starts the agent, and its host first where that does not run. One that ended by itself is started again; one that runs
/// only with `restart`.
pub fn start(world: &World, agent: &Agent, options: &StartOptions) -> Result<Started, StartError> {
    let agent = &awake::with_host(world, agent)
        .map_err(|source| StartError::Host { name: agent.name().to_string(), source: Box::new(source) })?;
    let record = &agent.facts.record;
    let name = || record.name.to_string();
    match agent.state.state {
        AgentState::Running | AgentState::Waiting if !options.restart => return Ok(Started::WasRunning),
        // The program in the terminal is the user's; ending it takes a word.
        AgentState::Replaced | AgentState::RunningUnknownAgentType if !options.restart => {
            return Ok(Started::WasRunning);
        }
        AgentState::Unknown => {
            return Err(StartError::Unknown { name: name(), evidence: agent.state.evidence.clone() });
        }
        _ => {}
    }
    if record.headless {
        return Err(StartError::Headless { name: name() });
    }
    let host = agent.host.as_ref();
    let taken = Guard::take_and_look(host, &record.id, std::slice::from_ref(&record.work_dir))
        .map_err(|source| StartError::Guard { name: name(), source })?;
    let Some((guard, glance)) = taken else { return Err(StartError::Busy { name: name() }) };
    if !glance.exists(&record.work_dir).unwrap_or(true) {
        return Err(StartError::NoWorkDir { name: name(), dir: record.work_dir.to_string() });
    }
    // An ended agent may have left a shell and daemons; two sessions of one agent must never run. What `exec` runs beside
    // it is the user's, and goes on.
    let stopped = stop::stop(world, agent, &StopOptions::before_start(&world.settings))
        .map_err(|source| StartError::Stop { name: name(), source })?;
    let launched = may_start_server(world, host, stopped.server).and_then(|server| {
        launch::launch(world, host, record, Readiness::TakesMessages, Occasion::Again, server)
    });
    if let Err(source) = launched {
        let _shield = interrupt::shield();
        clean_up(world, host, agent);
        return Err(StartError::Launch { name: name(), source });
    }
    drop(guard);
    resume(world, agent, &options.resume)?;
    Ok(Started::Launched)
}

/// Whether the launch may start a tmux server. Where none answers, one with other agents gets its socket back first.
fn may_start_server(world: &World, host: &dyn Host, seen: ServerSeen) -> Result<ServerStart, LaunchError> {
    match seen {
        ServerSeen::Answers => Ok(ServerStart::Forbidden),
        ServerSeen::Unknown => Ok(ServerStart::Allowed),
        ServerSeen::Silent => {
            let survey = host.survey(Detail::Basic)?;
            Ok(terminal::bring_server_back(world, host, &survey.agents)?)
        }
    }
}

/// A launch that failed leaves no session and no process.
fn clean_up(world: &World, host: &dyn Host, agent: &Agent) {
    let request = mngr_host::host::EndRequest {
        first: Vec::new(),
        agent: agent.id().clone(),
        program: None,
        grace: std::time::Duration::from_secs(1),
        commands: mngr_host::host::RunningCommands::Leave,
    };
    let _ = host.end_processes(&request);
    if let Ok(session) = launch::session_of(world, &agent.facts.record) {
        let _ =
            world.with_tmux(host, |tmux| tmux.kill_session_of(&session, agent.id(), SessionClaim::Marked));
    }
}

fn resume(world: &World, agent: &Agent, resume: &Resume) -> Result<(), StartError> {
    let text = match resume {
        Resume::Skip => None,
        Resume::Text(text) => Some(text.clone()),
        Resume::Stored => agent.facts.record.resume_message.clone(),
    };
    let Some(text) = text else { return Ok(()) };
    let request = MessageRequest { text, idempotency_key: None, patience: RESUME_PATIENCE, start: false };
    message::send(world, agent, &request)
        .map(|_| ())
        .map_err(|source| StartError::Message { name: agent.name().to_string(), source: Box::new(source) })
}
