//! The state folder of an agent wherever it is: alive, in the trash, or what was preserved of it. Spawns nothing.
//!
//! That of a host that does not run is read once, into memory, where its provider can do that; nothing is started for it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use mngr_agents::transcript::Brand;
use mngr_host::files::{Files, FilesError};
use mngr_host::frozen::FrozenFiles;
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_host::provider::HostEntry;
use mngr_model::address::{AgentAddress, AgentRef};
use mngr_model::facts::Detail;
use mngr_model::host::HostInfo;
use mngr_model::{AgentId, AgentName, HostPath};

use crate::fleet::{Agent, Fleet, FleetHost};
use crate::hosts;
use crate::select::{SelectError, is_host};
use crate::trash::{self, Manifest, TrashError};
use crate::world::World;

/// Where an agent's state folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where it belongs: the agent exists.
    Home,
    /// Where it belongs, on a host that does not run: nothing is added to it.
    Asleep,
    /// In the trash: the agent can be brought back.
    Trash,
    /// Only events and conversation are left of it.
    Preserved,
    /// In a snapshot.
    Snapshot,
}

/// What the files of a host are read from.
#[derive(Clone)]
pub enum Source {
    /// The host itself.
    Host(Arc<dyn Host>),
    /// What was read of it while it does not run.
    Frozen(Arc<FrozenFiles>),
}

impl Source {
    /// The files.
    pub fn files(&self) -> &dyn Files {
        match self {
            Self::Host(host) => host.files(),
            Self::Frozen(frozen) => frozen.as_ref(),
        }
    }
}

/// What is there of an agent.
#[derive(Clone)]
pub struct Remains {
    /// On which host.
    pub host: Arc<dyn Host>,
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// Its type, where it is still known.
    pub agent_type: Option<String>,
    /// Its labels, where they are still known.
    pub labels: BTreeMap<String, String>,
    /// Its state folder, or what was kept of it.
    pub state: HostPath,
    /// Where that is.
    pub place: Place,
    /// Its work dir, while it has one.
    pub work_dir: Option<HostPath>,
    /// What its state folder is read from.
    pub source: Source,
}

impl Remains {
    /// Those of an agent that exists.
    pub fn of(agent: &Agent) -> Self {
        let record = &agent.facts.record;
        Self {
            host: agent.host.clone(),
            id: record.id.clone(),
            name: record.name.clone(),
            agent_type: Some(record.agent_type.to_string()),
            labels: record.labels.clone(),
            state: agent.host.layout().agent(&record.id).root().clone(),
            place: Place::Home,
            work_dir: Some(record.work_dir.clone()),
            source: Source::Host(agent.host.clone()),
        }
    }

    /// The files that its state folder is among.
    pub fn files(&self) -> &dyn Files {
        self.source.files()
    }

    /// The same out of what is read of a host that does not run; nothing where its provider cannot.
    fn frozen(self, world: &World, entry: &dyn HostEntry) -> Option<Self> {
        let frozen = match entry.cold_files()?.read_tree(&self.state) {
            Ok(frozen) => frozen,
            Err(error) => {
                world.reporter.warn(&crate::error_chain(&error));
                return None;
            }
        };
        if frozen.is_whole() && !frozen.exists(&self.state).unwrap_or(true) {
            // It was seen before, and is not there now.
            return None;
        }
        if !frozen.is_whole() {
            let name = &self.name;
            world.reporter.warn(&format!(
                "only a part of what is kept of agent `{name}` could be read: its host does not run"
            ));
        }
        Some(Self { source: Source::Frozen(Arc::new(frozen)), ..self })
    }

    /// The brand of its conversation: by its type, or by what its type has left in the folder.
    pub fn brand(&self) -> Result<Option<Brand>, FilesError> {
        match self.agent_type.as_deref().and_then(Brand::of_type) {
            Some(brand) => Ok(Some(brand)),
            None => {
                let glance = Glance::at(self.files(), &Brand::signs(&self.state))?;
                Brand::of_state(&glance, &self.state)
            }
        }
    }

    fn is_at(&self, address: &AgentAddress) -> bool {
        is_at(address, &self.id, &self.name, self.host.info())
    }
}

fn is_at(address: &AgentAddress, id: &AgentId, name: &AgentName, host: &HostInfo) -> bool {
    let is_named = match &address.agent {
        AgentRef::Id(wanted) => id == wanted,
        AgentRef::Name(wanted) => name == wanted,
    };
    is_named && address.host.as_ref().is_none_or(|wanted| is_host(host, wanted))
}

/// What is done about an agent of a host that does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffHost {
    /// Its state folder is read all the same, where its provider can do that.
    Read,
    /// It is an error: more than its state folder is wanted.
    Refuse,
}

/// The agent of that address; where there is none, the one that had it last.
pub fn find(world: &World, address: &AgentAddress) -> Result<Remains, SelectError> {
    find_with(world, address, OffHost::Read)
}

/// The same, where it matters whether its host runs.
pub fn find_with(world: &World, address: &AgentAddress, off: OffHost) -> Result<Remains, SelectError> {
    let fleet = Fleet::look_for(world, std::slice::from_ref(address), Detail::Basic);
    match fleet.one(address) {
        Ok(agent) if agent.is_host_off() => asleep(world, agent, off),
        Ok(agent) => Ok(Remains::of(agent)),
        Err(error @ SelectError::NotFound { .. }) => {
            let had_it = destroyed(world, &fleet).into_iter().find(|remains| remains.is_at(address));
            match had_it {
                Some(remains) => Ok(remains),
                None => destroyed_asleep(world, &fleet, address, off).unwrap_or(Err(error)),
            }
        }
        Err(error) => Err(error),
    }
}

/// An agent of a host that does not run.
fn asleep(world: &World, agent: &Agent, off: OffHost) -> Result<Remains, SelectError> {
    let home = agent.host.info();
    let read = || {
        let mut hosts = hosts::that_are_off(world, |provider| *provider == home.provider).into_iter();
        let (entry, _) = hosts.find(|(_, host)| host.info().id == home.id)?;
        Remains { place: Place::Asleep, ..Remains::of(agent) }.frozen(world, entry.as_ref())
    };
    let refusal =
        || SelectError::HostOff { address: agent.address(), evidence: agent.state.evidence.clone() };
    if off == OffHost::Refuse { Err(refusal()) } else { read().ok_or_else(refusal) }
}

/// What is left of a destroyed agent on a host that does not run, where one has it.
fn destroyed_asleep(
    world: &World,
    fleet: &Fleet,
    address: &AgentAddress,
    off: OffHost,
) -> Option<Result<Remains, SelectError>> {
    if !fleet.hosts.iter().any(FleetHost::is_off) {
        return None;
    }
    hosts::that_are_off(world, |_| true).into_iter().find_map(|(entry, host)| {
        let destroyed = trash::cold_entries(entry.as_ref(), host.as_ref()).manifests;
        let is_meant = |manifest: &Manifest| is_at(address, &manifest.id, &manifest.name, host.info());
        // The last destroyed comes last.
        let manifest = destroyed.into_iter().rfind(is_meant)?;
        let refusal = SelectError::HostOff {
            address: format!("{}@{}", manifest.name, host.info().address()),
            evidence: format!("its host is {}", entry.report().state.as_str()),
        };
        if off == OffHost::Refuse {
            return Some(Err(refusal));
        }
        Some(in_trash(&host, manifest).frozen(world, entry.as_ref()).ok_or(refusal))
    })
}

/// What is left of the destroyed agents of every host that answered, the last destroyed first.
pub fn destroyed(world: &World, fleet: &Fleet) -> Vec<Remains> {
    let mut found = Vec::new();
    for seen in fleet.answered() {
        match destroyed_on(&seen.host, fleet) {
            Ok(remains) => found.extend(remains),
            Err(error) => world.reporter.warn(&crate::error_chain(&error)),
        }
    }
    found
}

fn destroyed_on(host: &Arc<dyn Host>, fleet: &Fleet) -> Result<Vec<Remains>, TrashError> {
    let layout = host.layout();
    let mut known: HashSet<AgentId> = fleet.agents.iter().map(|agent| agent.id().clone()).collect();
    let mut found = Vec::new();
    for manifest in trash::entries(host.as_ref())?.whole.into_iter().rev() {
        known.insert(manifest.id.clone());
        found.push(in_trash(host, manifest));
    }
    let mut preserved = Vec::new();
    let folders = host.files().list(&layout.preserved())?;
    let named = folders.iter().filter_map(|entry| parse_preserved(&entry.name));
    let named: Vec<(AgentName, AgentId)> = named.filter(|(_, id)| !known.contains(id)).collect();
    let states: Vec<HostPath> = named.iter().map(|(name, id)| layout.preserved_of(name, id)).collect();
    let stats = host.files().stat_all(&states)?;
    for (((name, id), state), stat) in named.into_iter().zip(states).zip(stats) {
        let changed = stat.and_then(|stat| stat.modified);
        let remains = Remains {
            host: host.clone(),
            id,
            name,
            agent_type: None,
            labels: BTreeMap::new(),
            state,
            place: Place::Preserved,
            work_dir: None,
            source: Source::Host(host.clone()),
        };
        preserved.push((changed, remains));
    }
    preserved.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
    found.extend(preserved.into_iter().map(|(_, remains)| remains));
    Ok(found)
}

fn in_trash(host: &Arc<dyn Host>, manifest: Manifest) -> Remains {
    Remains {
        host: host.clone(),
        state: host.layout().trash_of(&manifest.id).state(),
        id: manifest.id,
        name: manifest.name,
        agent_type: Some(manifest.agent_type.to_string()),
        labels: manifest.labels,
        place: Place::Trash,
        work_dir: None,
        source: Source::Host(host.clone()),
    }
}

/// The folder's name is `<name>--<id>`.
fn parse_preserved(folder: &str) -> Option<(AgentName, AgentId)> {
    let (name, id) = folder.rsplit_once("--")?;
    Some((name.parse().ok()?, AgentId::parse(id)?))
}
