//! Making snapshots of what is named: of the hosts of agents whose provider copies hosts, of the other agents themselves.

use std::collections::BTreeSet;

use mngr_host::provider::{Provider, Snapshots};
use mngr_model::address::AgentOrHost;
use mngr_model::facts::Detail;
use mngr_model::{AgentName, HostId, ProviderName};

use super::copy;
use super::error::SnapshotError;
use crate::fleet::{Agent, Fleet};
use crate::hosts;
use crate::world::World;

/// How long the name of a snapshot may be: it becomes part of others.
const LONGEST_NAME: usize = 60;

/// Whether a failure ends everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The others are still made.
    Continue,
    /// Nothing more is made.
    Abort,
}

/// What to copy.
#[derive(Debug, Clone)]
pub struct SnapshotRequest {
    /// Agents and hosts; what is named twice is copied once.
    pub targets: Vec<AgentOrHost>,
    /// What the snapshots are called; by default after the time.
    pub name: Option<String>,
    /// Whether a failure ends everything.
    pub on_error: OnError,
}

/// A snapshot that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// The host it is of, or that the agent is on.
    pub host: HostId,
    /// That host's provider.
    pub provider: ProviderName,
    /// The agents in it.
    pub agents: Vec<AgentName>,
    /// What the user should know.
    pub note: Option<String>,
}

/// What was made, and what was not.
#[derive(Debug, Default)]
pub struct TakenAll {
    /// The snapshots.
    pub taken: Vec<Taken>,
    /// What failed, by the target as it was given.
    pub errors: Vec<(String, SnapshotError)>,
}

/// One thing to copy.
enum Job<'w> {
    Host { provider: &'w dyn Provider, snapshots: &'w dyn Snapshots, id: HostId },
    Agent(Box<Agent>),
}

/// Makes snapshots.
///
/// # Errors
/// The name cannot be used; everything else is part of the answer.
pub fn create(world: &World, request: &SnapshotRequest) -> Result<TakenAll, SnapshotError> {
    let name = match &request.name {
        Some(name) if is_name(name) => name.clone(),
        Some(name) => return Err(SnapshotError::BadName { name: name.clone() }),
        None => world.clock.now().strftime("%Y%m%d-%H%M%S").to_string(),
    };
    let fleet = Fleet::look(world, Detail::Basic);
    let mut all = TakenAll::default();
    let mut done = BTreeSet::new();
    for target in &request.targets {
        let jobs = match jobs(world, &fleet, target) {
            Ok(jobs) => jobs,
            Err(error) => {
                all.errors.push((target.to_string(), error));
                if request.on_error == OnError::Abort {
                    return Ok(all);
                }
                continue;
            }
        };
        for job in jobs {
            if !done.insert(job.key()) {
                continue;
            }
            match job.run(world, &fleet, &name) {
                Ok(taken) => all.taken.push(taken),
                Err(error) => {
                    all.errors.push((target.to_string(), error));
                    if request.on_error == OnError::Abort {
                        return Ok(all);
                    }
                }
            }
        }
    }
    Ok(all)
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_plain)
}

fn jobs<'w>(world: &'w World, fleet: &Fleet, target: &AgentOrHost) -> Result<Vec<Job<'w>>, SnapshotError> {
    match target {
        AgentOrHost::Agent(address) => {
            let of = |agent: &Agent| {
                let info = agent.host.info();
                match copying(world, &info.provider) {
                    Some((provider, snapshots)) => Job::Host { provider, snapshots, id: info.id.clone() },
                    None => Job::Agent(Box::new(agent.clone())),
                }
            };
            Ok(fleet.matching(address)?.into_iter().map(of).collect())
        }
        AgentOrHost::Host(address) => {
            let missing = || SnapshotError::NoHost { address: address.to_string() };
            let entry = hosts::find(world, address)?.ok_or_else(missing)?;
            let id = entry.id().ok_or_else(missing)?;
            match copying(world, entry.provider()) {
                Some((provider, snapshots)) => Ok(vec![Job::Host { provider, snapshots, id }]),
                None => Err(SnapshotError::NotWhole { provider: entry.provider().to_string() }),
            }
        }
    }
}

/// The provider of that name, if it copies hosts.
pub(super) fn copying<'w>(
    world: &'w World,
    name: &ProviderName,
) -> Option<(&'w dyn Provider, &'w dyn Snapshots)> {
    let provider = world.providers.iter().find(|provider| provider.name() == name)?;
    Some((&**provider, provider.snapshots()?))
}

impl Job<'_> {
    /// What is copied once, however often it is named.
    fn key(&self) -> String {
        match self {
            Self::Host { id, .. } => id.to_string(),
            Self::Agent(agent) => format!("{}/{}", agent.host.info().id, agent.id()),
        }
    }

    fn run(&self, world: &World, fleet: &Fleet, name: &str) -> Result<Taken, SnapshotError> {
        match self {
            Self::Host { provider, snapshots, id } => {
                world.reporter.progress("Copying the host");
                let snapshot = snapshots.create(id, name)?;
                let on_it = fleet.agents.iter().filter(|agent| agent.host.info().id == *id);
                Ok(Taken {
                    id: snapshot.id.to_string(),
                    name: snapshot.name,
                    host: id.clone(),
                    provider: provider.name().clone(),
                    agents: on_it.map(|agent| agent.name().clone()).collect(),
                    note: None,
                })
            }
            Self::Agent(agent) => {
                world.reporter.progress(&format!("Copying {}", agent.name()));
                let copied = copy::copy(world, agent, name)?;
                Ok(Taken {
                    id: copied.manifest.id,
                    name: copied.manifest.name,
                    host: agent.host.info().id.clone(),
                    provider: agent.host.info().provider.clone(),
                    agents: vec![agent.name().clone()],
                    note: copied.note,
                })
            }
        }
    }
}
