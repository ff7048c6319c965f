//! Destroying a host with everything on it. What exists only there comes to this machine first.
//!
//! Its agents go into its trash, as `destroy` does it; then everything in its trash is brought here; then the host goes. A
//! failure on the way leaves the host, with its agents in its trash, where `undo` finds them.

use mngr_agents::detect;
use mngr_host::interrupt;
use mngr_host::lock::HostLock;
use mngr_host::provider::{HostAction, StopReason};
use mngr_model::AgentName;
use mngr_model::facts::{Detail, Survey};

use super::error::HostLifeError;
use super::life::{self, Target};
use super::rescue::{self, Rescued};
use crate::destroy::{DestroyOptions, destroy_many, needs_force};
use crate::fleet::{self, Agent, memory};
use crate::world::World;

/// A destroyed host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestroyedHost {
    /// `name.provider`.
    pub address: String,
    /// The agents that were on it.
    pub agents: Vec<AgentName>,
    /// What was brought here.
    pub rescued: Rescued,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// What destroying a host would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPlan {
    /// `name.provider`.
    pub address: String,
    /// The agents on it, as far as they are known.
    pub agents: Vec<AgentName>,
}

/// What destroying would do. Changes nothing, and starts nothing.
pub fn plan(target: &Target<'_>, fleet: &fleet::Fleet) -> Result<HostPlan, HostLifeError> {
    target.maker(HostAction::Destroy)?;
    let address = target.address();
    let on_it = fleet.agents.iter().filter(|agent| agent.host.info().address() == address);
    Ok(HostPlan { agents: on_it.map(|agent| agent.name().clone()).collect(), address })
}

/// Destroys a host. With `force` also one on which agents run, and one that does not answer: of that nothing is brought.
pub fn destroy(
    world: &World,
    target: &Target<'_>,
    options: &DestroyOptions,
) -> Result<DestroyedHost, HostLifeError> {
    interrupt::check()?;
    let maker = target.maker(HostAction::Destroy)?;
    let host = target.open()?;
    let was_off = fleet::is_off(target.state());
    let (emptied, notes) = match empty(world, target, options) {
        Ok(emptied) => (Some(emptied), Vec::new()),
        Err(error) if options.force && is_out_of_reach(&error) => {
            let note = format!(
                "host `{}` did not answer: nothing of what was on it was brought here ({})",
                target.address(),
                crate::error_chain(&error)
            );
            (None, vec![note])
        }
        Err(error) => {
            if was_off {
                // It was only started for this.
                let _shield = interrupt::shield();
                let _ = maker.stop(&host.info().id, StopReason::Asked);
            }
            return Err(error);
        }
    };
    // Everything is here. From now on half a removal would only be a left-over.
    let _shield = interrupt::shield();
    maker.destroy(&host.info().id)?;
    memory::forget(world, host.info());
    let (agents, rescued) = emptied.map(|emptied| (emptied.agents, emptied.rescued)).unwrap_or_default();
    Ok(DestroyedHost { address: target.address(), agents, rescued, notes })
}

fn is_out_of_reach(error: &HostLifeError) -> bool {
    matches!(error, HostLifeError::Silent { .. } | HostLifeError::Open(_))
}

/// A host that has nothing any more that is not here.
struct Emptied {
    agents: Vec<AgentName>,
    rescued: Rescued,
    /// Nobody makes an agent there meanwhile.
    _lock: HostLock,
}

/// Puts the agents into the host's trash and brings everything that only the host has.
fn empty(world: &World, target: &Target<'_>, options: &DestroyOptions) -> Result<Emptied, HostLifeError> {
    let host = life::start(world, target)?.host;
    let survey = target.survey(world, host.as_ref())?;
    refuse(target, &survey, options)?;
    let agents: Vec<Agent> = survey
        .agents
        .into_iter()
        .map(|facts| Agent { host: host.clone(), state: detect::process_state(&facts), facts })
        .collect();
    let results = destroy_many(world, &agents.iter().collect::<Vec<_>>(), options);
    let mut names = Vec::new();
    for (agent, result) in agents.iter().zip(results) {
        let name = agent.name().clone();
        match result {
            Ok(_) => names.push(name),
            Err(source) => return Err(HostLifeError::Agent { name, source: Box::new(source) }),
        }
    }
    interrupt::check()?;
    let lock = target.lock(host.as_ref())?;
    let seen = host.survey(Detail::Basic);
    let seen = seen.map_err(|source| HostLifeError::Silent { host: target.address(), source })?;
    if !seen.agents.is_empty() || !seen.broken.is_empty() || !seen.journals.is_empty() {
        return Err(HostLifeError::InUse { host: target.address() });
    }
    world.reporter.progress(&format!("bringing what is only on {}", target.address()));
    let failed = |source| HostLifeError::Rescue { host: target.address(), source: Box::new(source) };
    let rescued = rescue::rescue(world, host.as_ref()).map_err(failed)?;
    Ok(Emptied { agents: names, rescued, _lock: lock })
}

fn refuse(target: &Target<'_>, survey: &Survey, options: &DestroyOptions) -> Result<(), HostLifeError> {
    let runs = survey.agents.iter().filter(|facts| needs_force(detect::process_state(facts).state));
    let agents: Vec<AgentName> = runs.map(|facts| facts.record.name.clone()).collect();
    if !agents.is_empty() && !options.force {
        return Err(HostLifeError::Running { host: target.address(), agents });
    }
    match survey.broken.first() {
        Some(broken) => Err(HostLifeError::Broken {
            host: target.address(),
            folder: broken.folder.clone(),
            problem: broken.problem.clone(),
        }),
        None => Ok(()),
    }
}
