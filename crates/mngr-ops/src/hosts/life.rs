//! Starting and stopping hosts that mngr can start and stop.
//!
//! A host is stopped under its own lock, so that nobody launches an agent meanwhile. Its agents are stopped first, one by
//! one, so that each has a record of having been stopped.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::lock::HostLock;
use mngr_host::provider::{HostAction, HostEntry, HostMaker, Provider, StopReason};
use mngr_model::address::HostAddress;
use mngr_model::facts::{Detail, Survey};
use mngr_model::host::HostInfo;
use mngr_model::{AgentName, HostState};

use super::error::HostLifeError;
use crate::fleet::{self, Agent, memory};
use crate::host_lock;
use crate::recover;
use crate::stop::{self, StopOptions};
use crate::world::World;

/// A host that is meant, and who it belongs to.
pub struct Target<'w> {
    provider: &'w dyn Provider,
    entry: Arc<dyn HostEntry>,
}

/// What stopping a host came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedHost {
    /// `name.provider`.
    pub address: String,
    /// The agents that were stopped with it.
    pub agents: Vec<AgentName>,
    /// It did not run.
    pub was_stopped_already: bool,
}

/// What starting a host came to.
pub struct StartedHost {
    /// `name.provider`.
    pub address: String,
    /// The host, which runs now.
    pub host: Arc<dyn Host>,
    /// It ran already.
    pub was_running: bool,
}

impl<'w> Target<'w> {
    /// The one host of an address.
    pub fn find(world: &'w World, address: &HostAddress) -> Result<Self, HostLifeError> {
        let found = super::find_all(world, address)?;
        match found.as_slice() {
            [] => Err(HostLifeError::NotFound { address: address.to_string() }),
            [entry] => Self::of(world, entry.clone(), || address.to_string()),
            several => Err(HostLifeError::Ambiguous {
                address: address.to_string(),
                matches: several.iter().map(|entry| address_of(entry.as_ref())).collect(),
            }),
        }
    }

    /// A host that is known, as its provider knows it now.
    pub fn of_host(world: &'w World, info: &HostInfo) -> Result<Self, HostLifeError> {
        let gone = || HostLifeError::NotFound { address: info.address() };
        let provider = world.providers.iter().find(|provider| *provider.name() == info.provider);
        let provider: &dyn Provider = &**provider.ok_or_else(gone)?;
        let mut hosts = provider.hosts()?.into_iter();
        let entry = hosts.find(|entry| entry.id().as_ref() == Some(&info.id)).ok_or_else(gone)?;
        Ok(Self { provider, entry })
    }

    fn of(
        world: &'w World,
        entry: Arc<dyn HostEntry>,
        address: impl FnOnce() -> String,
    ) -> Result<Self, HostLifeError> {
        let provider = world.providers.iter().find(|provider| provider.name() == entry.provider());
        let provider = provider.ok_or_else(|| HostLifeError::NotFound { address: address() })?;
        Ok(Self { provider: &**provider, entry })
    }

    /// `name.provider`.
    pub fn address(&self) -> String {
        address_of(self.entry.as_ref())
    }

    /// What its provider says that it does.
    pub fn state(&self) -> HostState {
        self.entry.report().state
    }

    /// Whether its provider can make and end hosts.
    pub fn has_maker(&self) -> bool {
        self.provider.maker().is_some()
    }

    /// What makes and ends hosts like it.
    pub(super) fn maker(&self, action: HostAction) -> Result<&'w dyn HostMaker, HostLifeError> {
        self.provider.maker().ok_or_else(|| HostLifeError::Incapable { host: self.address(), action })
    }

    /// Whether it can be done to it at all, as the action itself would say it.
    pub fn allows(&self, action: HostAction) -> Result<(), HostLifeError> {
        self.maker(action).map(|_| ())
    }

    /// The host, as it is.
    pub(super) fn open(&self) -> Result<Arc<dyn Host>, HostLifeError> {
        self.entry.open()?.ok_or_else(|| HostLifeError::NotFound { address: self.address() })
    }

    /// The lock that keeps others from launching agents there.
    pub(super) fn lock(&self, host: &dyn Host) -> Result<HostLock, HostLifeError> {
        host_lock::take(host).map_err(|source| HostLifeError::Lock { host: self.address(), source })
    }

    /// A look at its agents, after what a killed command left there was put right.
    pub(super) fn survey(&self, world: &World, host: &dyn Host) -> Result<Survey, HostLifeError> {
        let silent = |source| HostLifeError::Silent { host: self.address(), source };
        let survey = host.survey(Detail::Basic).map_err(silent)?;
        if !survey.journals.is_empty() && recover::recover(world, host) == recover::Outcome::Changed {
            return host.survey(Detail::Basic).map_err(silent);
        }
        Ok(survey)
    }
}

fn address_of(entry: &dyn HostEntry) -> String {
    format!("{}.{}", entry.name(), entry.provider())
}

/// Starts a host; one that runs is left alone. Its agents stay as they are.
pub fn start(world: &World, target: &Target<'_>) -> Result<StartedHost, HostLifeError> {
    interrupt::check()?;
    target.maker(HostAction::Start)?;
    let was_running = target.state() == HostState::Running;
    if !was_running {
        world.reporter.progress(&format!("starting host {}", target.address()));
    }
    let host = if was_running { target.open()? } else { target.entry.prepare()? };
    Ok(StartedHost { address: target.address(), host, was_running })
}

/// Stops the agents of a host and then the host. One that does not run is success.
pub fn stop(world: &World, target: &Target<'_>, options: &StopOptions) -> Result<StoppedHost, HostLifeError> {
    interrupt::check()?;
    let maker = target.maker(HostAction::Stop)?;
    let address = target.address();
    if fleet::is_off(target.state()) {
        return Ok(StoppedHost { address, agents: Vec::new(), was_stopped_already: true });
    }
    let host = target.open()?;
    let survey = target.survey(world, host.as_ref())?;
    let _lock = target.lock(host.as_ref())?;
    let mut agents = Vec::new();
    for facts in &survey.agents {
        let agent = Agent {
            host: host.clone(),
            state: mngr_agents::detect::process_state(facts),
            facts: facts.clone(),
        };
        let name = agent.name().clone();
        match stop::stop(world, &agent, options) {
            Ok(stopped) if stopped.was_stopped_already => {}
            Ok(_) => agents.push(name),
            Err(source) => return Err(HostLifeError::Stop { name, source: Box::new(source) }),
        }
    }
    memory::remember(world, host.as_ref(), &survey.agents);
    maker.stop(&host.info().id, StopReason::Asked)?;
    Ok(StoppedHost { address, agents, was_stopped_already: false })
}

/// Stops a host that has no agent, and on which no command works; says whether it did.
pub fn stop_if_empty(world: &World, target: &Target<'_>, host: &dyn Host) -> Result<bool, HostLifeError> {
    let maker = target.maker(HostAction::Stop)?;
    if fleet::is_off(target.state()) {
        return Ok(false);
    }
    // What a killed command left is put right first: that takes the lock itself.
    let seen = target.survey(world, host)?;
    if !seen.agents.is_empty() || !seen.broken.is_empty() {
        // Whoever destroys the last of them looks after that.
        return Ok(false);
    }
    let _lock = target.lock(host)?;
    // Under the lock nobody begins anything; what was begun before has a journal.
    let seen = host.survey(Detail::Basic);
    let seen = seen.map_err(|source| HostLifeError::Silent { host: target.address(), source })?;
    if !seen.agents.is_empty() || !seen.broken.is_empty() || !seen.journals.is_empty() {
        return Ok(false);
    }
    maker.stop(&host.info().id, StopReason::Asked)?;
    Ok(true)
}
