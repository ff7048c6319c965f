//! `migrate`: an agent goes to another host. A copy is made and shown to be like it; then the source goes into the trash.
//!
//! Nothing works on the source from before the copy until it is gone: it is stopped, and held so that nobody starts it.
//! A failure takes the copy back and starts the source again. A command that is killed leaves the source where it was, or,
//! once the copy is whole, both, or only the copy and the source in the trash.

use mngr_host::git::{Git, GitError};
use mngr_host::{fault, interrupt};
use mngr_model::address::{AgentAddress, AgentRef, HostAddress, HostRef, Location, NewHost};
use mngr_model::facts::Detail;
use mngr_model::{AgentName, AgentState};

use crate::awake::{self, WakeError};
use crate::create::{self, CreateError, CreateRequest, Created, Proof, SourceSpec};
use crate::destroy::{self, DestroyError, DestroyOptions, Destroyed};
use crate::fleet::{Agent, Fleet};
use crate::hosts;
use crate::journal::{Guard, JournalError};
use crate::select::SelectError;
use crate::start::{self, Resume, StartOptions};
use crate::stop::{self, StopError, StopOptions};
use crate::world::World;

/// What to migrate, and where to.
#[derive(Debug, Clone)]
pub struct MigrateRequest {
    /// The agent.
    pub source: AgentAddress,
    /// What it becomes; its source is set here, and its name where none is given.
    pub create: CreateRequest,
    /// Also one that runs: it is stopped first.
    pub force: bool,
}

/// An agent that went to another host.
#[derive(Debug)]
pub struct Migrated {
    /// What it is now.
    pub created: Created,
    /// `name@host.provider` of what it was.
    pub source: String,
    /// What became of the source; a failure leaves it there, stopped.
    pub removed: Result<Destroyed, DestroyError>,
}

/// The agent stays where it was.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The source is no agent, or several.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// Its host does not run, and could not be started.
    #[error(transparent)]
    Wake(#[from] Box<WakeError>),
    /// It lives, or may live.
    #[error("agent `{name}` is {state}")]
    Running {
        /// Its name.
        name: AgentName,
        /// What it does.
        state: AgentState,
    },
    /// It is there already.
    #[error("agent `{name}` is on host `{host}` already; give it another name to copy it there")]
    SameHost {
        /// Its name.
        name: AgentName,
        /// The host.
        host: String,
    },
    /// It ran once, and cannot go on elsewhere.
    #[error("agent `{name}` runs without a terminal, once, and cannot go on elsewhere")]
    Headless {
        /// Its name.
        name: AgentName,
    },
    /// A merge that is under way cannot be carried.
    #[error("the work dir of agent `{name}` cannot be carried as it is")]
    Unfinished {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: GitError,
    },
    /// Another command works on it.
    #[error("another command is working on agent `{name}`")]
    Busy {
        /// Its name.
        name: AgentName,
    },
    /// Whether another command works on it cannot be told.
    #[error("cannot keep other commands from agent `{name}`")]
    Guard {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: JournalError,
    },
    /// It could not be stopped.
    #[error("agent `{name}` could not be stopped first")]
    Stop {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: StopError,
    },
    /// No copy was made.
    #[error(transparent)]
    Create(Box<CreateError>),
}

/// Moves an agent to another host.
pub fn migrate(world: &World, request: &MigrateRequest) -> Result<Migrated, MigrateError> {
    let fleet = Fleet::look(world, Detail::Full);
    let agent = &awake::with_host(world, fleet.one(&request.source)?).map_err(Box::new)?;
    let wanted = wanted(world, agent, request)?;
    let (host, name) = (agent.host.as_ref(), || agent.name().clone());
    let guard =
        Guard::take(host, agent.id()).map_err(|source| MigrateError::Guard { name: name(), source })?;
    let Some(guard) = guard else { return Err(MigrateError::Busy { name: name() }) };
    if let Err(source) = stop::stop(world, agent, &StopOptions::from_settings(&world.settings)) {
        let was_interrupted = interrupt::is_pending();
        let _shield = interrupt::shield();
        drop(guard);
        if was_interrupted {
            start_again(world, agent);
        }
        return Err(MigrateError::Stop { name: name(), source });
    }
    fault::point();
    let created = create::create(world, &wanted);
    // From here on it runs to its end.
    let _shield = interrupt::shield();
    drop(guard);
    let created = match created {
        Ok(created) => created,
        Err(error) => {
            start_again(world, agent);
            return Err(MigrateError::Create(Box::new(error)));
        }
    };
    fault::point();
    // Without force: one that somebody has started since stays.
    let removed = destroy::destroy(world, agent, &DestroyOptions::from_settings(&world.settings));
    Ok(Migrated { created, source: agent.address(), removed })
}

/// What is asked of `create`. Everything that can be refused is refused here, before anything changes.
fn wanted(world: &World, agent: &Agent, request: &MigrateRequest) -> Result<CreateRequest, MigrateError> {
    let (host, record) = (agent.host.as_ref(), &agent.facts.record);
    let name = || record.name.clone();
    if record.headless {
        return Err(MigrateError::Headless { name: name() });
    }
    if destroy::needs_force(agent.state.state) && !request.force {
        return Err(MigrateError::Running { name: name(), state: agent.state.state });
    }
    let mut wanted = request.create.clone();
    let is_same_name = wanted.name.as_ref().is_none_or(|given| *given == record.name);
    if is_same_name && is_there(world, agent, &wanted.host) {
        return Err(MigrateError::SameHost { name: name(), host: host.info().address() });
    }
    let git = Git::new(host, record.work_dir.clone());
    let unfinished = |source| MigrateError::Unfinished { name: name(), source };
    if git.locate().map_err(unfinished)?.is_some() {
        git.refuse_during_merge().map_err(unfinished)?;
    }
    wanted.name = wanted.name.or_else(|| Some(name()));
    let host_address = HostAddress {
        host: HostRef::Name(host.info().name.clone()),
        provider: Some(host.info().provider.clone()),
    };
    let address = AgentAddress { agent: AgentRef::Id(record.id.clone()), host: Some(host_address) };
    wanted.source = SourceSpec::Location(Location::Agent { address, path: None });
    wanted.proof = Proof::Required;
    let state = host.layout().agent(&record.id);
    wanted.take_after(record, host, &state).map_err(|error| MigrateError::Create(Box::new(error)))?;
    Ok(wanted)
}

/// Whether an agent is on the host that is meant.
fn is_there(world: &World, agent: &Agent, place: &NewHost) -> bool {
    let info = agent.host.info();
    match place {
        NewHost::Local => world.is_client(agent.host.as_ref()),
        NewHost::New(provider) => *provider == info.provider && world.is_client(agent.host.as_ref()),
        NewHost::Named(address) => {
            let found = hosts::find(world, address).ok().flatten();
            found.is_some_and(|entry| (entry.name(), entry.provider()) == (&info.name, &info.provider))
        }
    }
}

/// The source goes on as if nothing had been asked.
fn start_again(world: &World, agent: &Agent) {
    if !agent.state.state.is_alive() {
        return;
    }
    let options = StartOptions { restart: true, resume: Resume::Skip };
    let again = crate::again::find(&agent.host, agent.id());
    let started = match again {
        Ok(Some(agent)) => {
            start::start(world, &agent, &options).err().map(|error| crate::error_chain(&error))
        }
        Ok(None) => None,
        Err(error) => Some(crate::error_chain(&error)),
    };
    if let Some(problem) = started {
        let name = agent.name();
        world.reporter.warn(&format!("agent `{name}` was stopped and could not be started again: {problem}"));
    }
}
