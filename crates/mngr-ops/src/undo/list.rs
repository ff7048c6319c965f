//! What can be brought back. Spawns nothing.

use std::sync::Arc;

use jiff::Timestamp;
use mngr_host::host::Host;
use mngr_model::{AgentId, AgentName, AgentRecord, AgentTypeName, HostPath};

use crate::fanout::fan_out;
use crate::fleet::Failure;
use crate::trash::{self, Manifest};
use crate::world::World;
use crate::{hosts, recover};

/// Whether to count bytes, which reads every folder of every destroyed agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    /// Only where they were counted before.
    Known,
    /// Count them.
    Measure,
}

/// A destroyed agent.
#[derive(Debug, Clone, PartialEq)]
pub struct TrashEntry {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// Its type.
    pub agent_type: AgentTypeName,
    /// `name.provider` of its host.
    pub host: String,
    /// When it was destroyed.
    pub destroyed_at: Timestamp,
    /// Its project.
    pub project: Option<String>,
    /// The branch it comes back on.
    pub branch: Option<String>,
    /// Where its work dir comes back.
    pub work_dir: HostPath,
    /// How many bytes it takes up, where that is known.
    pub bytes: Option<u64>,
}

/// A folder in the trash that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedTrash {
    /// `name.provider` of its host.
    pub host: String,
    /// The folder.
    pub path: HostPath,
    /// What is wrong with it.
    pub problem: String,
}

/// Everything in the trash.
#[derive(Debug, Clone, Default)]
pub struct TrashList {
    /// The newest first.
    pub entries: Vec<TrashEntry>,
    /// What cannot be read.
    pub damaged: Vec<DamagedTrash>,
    /// Who could not be asked.
    pub failures: Vec<Failure>,
}

/// The destroyed agents of all hosts.
pub fn list(world: &World, sizes: Sizes) -> TrashList {
    let Found { agents, damaged, failures } = find_all(world);
    let entries = agents.into_iter().map(|FoundAgent { host, manifest, reach }| {
        let bytes = match (sizes, reach) {
            (Sizes::Measure, Reach::Now) => trash::size_of(host.as_ref(), &manifest).ok(),
            _ => manifest.bytes,
        };
        TrashEntry {
            branch: manifest.branch().map(str::to_owned),
            project: manifest.labels.get(AgentRecord::PROJECT_LABEL).cloned(),
            host: host.info().address(),
            id: manifest.id,
            name: manifest.name,
            agent_type: manifest.agent_type,
            destroyed_at: manifest.destroyed_at,
            work_dir: manifest.work_dir,
            bytes,
        }
    });
    TrashList { entries: entries.collect(), damaged, failures }
}

/// Whether the host of a destroyed agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It does.
    Now,
    /// It has to be started first. What is known of the agent was read from its files meanwhile.
    OnceStarted,
}

/// A destroyed agent and where it is.
pub(super) struct FoundAgent {
    pub(super) host: Arc<dyn Host>,
    pub(super) manifest: Manifest,
    pub(super) reach: Reach,
}

/// What the trash of all hosts holds, the newest first.
#[derive(Default)]
pub(super) struct Found {
    pub(super) agents: Vec<FoundAgent>,
    pub(super) damaged: Vec<DamagedTrash>,
    pub(super) failures: Vec<Failure>,
}

/// Looks through the trash of all hosts. What a killed command left behind is put right on the way.
pub(super) fn find_all(world: &World) -> Found {
    let (hosts, failures) = hosts::open_all(world, |_| true);
    let mut found = Found { failures, ..Found::default() };
    let looked = fan_out(hosts, |host| {
        let mut found = Found::default();
        found.look_at(world, host);
        found
    });
    for Found { agents, damaged, failures } in looked {
        found.agents.extend(agents);
        found.damaged.extend(damaged);
        found.failures.extend(failures);
    }
    for (entry, host) in hosts::that_are_off(world, |_| true) {
        let manifests = trash::cold_entries(entry.as_ref(), host.as_ref()).manifests;
        let agent = |manifest| FoundAgent { host: host.clone(), manifest, reach: Reach::OnceStarted };
        found.agents.extend(manifests.into_iter().map(agent));
    }
    let age = |agent: &FoundAgent| (agent.manifest.destroyed_at, agent.manifest.id.clone());
    found.agents.sort_by_cached_key(|agent| std::cmp::Reverse(age(agent)));
    found
}

impl Found {
    fn look_at(&mut self, world: &World, host: Arc<dyn Host>) {
        let has_journals =
            host.files().list(&host.layout().journals()).is_ok_and(|journals| !journals.is_empty());
        if has_journals {
            recover::recover(world, host.as_ref());
        }
        match trash::entries(host.as_ref()) {
            Ok(entries) => {
                self.damaged.extend(entries.damaged.into_iter().map(|entry| DamagedTrash {
                    host: host.info().address(),
                    path: entry.path,
                    problem: crate::error_chain(&entry.error),
                }));
                let agent = |manifest| FoundAgent { host: host.clone(), manifest, reach: Reach::Now };
                self.agents.extend(entries.whole.into_iter().map(agent));
            }
            Err(error) => self.failures.push(Failure {
                provider: host.info().provider.to_string(),
                host: Some(host.info().name.to_string()),
                host_id: Some(host.info().id.clone()),
                message: crate::error_chain(&error),
            }),
        }
    }
}
