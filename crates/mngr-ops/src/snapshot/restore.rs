//! From a snapshot back to something that can be started: an agent, stopped, or a host with its agents.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_host::provider::{HostMaker, NewHost as Blueprint, SnapshotId};
use mngr_host::{fault, interrupt, random};
use mngr_model::address::{AgentAddress, AgentRef, HostAddress, HostRef, NewHost, NewLocation};
use mngr_model::facts::Detail;
use mngr_model::journal::Step;
use mngr_model::layout::AgentLayout;
use mngr_model::name_style::NameStyle;
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentName, HostId, HostName};

use super::error::SnapshotError;
use super::find::find;
use super::list::Kept;
use super::manifest::Form;
use super::settle::{Settled, SettledAgent, settle};
use super::store;
use crate::activity;
use crate::create::{self, CreateRequest, SourceSpec};
use crate::destroy::{self, DestroyOptions};
use crate::fleet::{Agent, Fleet};
use crate::hosts::Making;
use crate::rename::{self, Mode, RenameRequest};
use crate::world::World;

/// How many names are tried.
const SUFFIXES: u32 = 1000;

/// What to restore, and as what.
#[derive(Debug, Clone)]
pub struct RestoreRequest {
    /// The snapshot, by its id or the beginning of it.
    pub id: String,
    /// What the agent is called and where it goes; for a snapshot of a host, the name of the host.
    pub to: NewLocation,
    /// Put the agent in the place of the one the snapshot is of, which goes into the trash.
    pub replace: bool,
    /// Also replace one that runs.
    pub force: bool,
}

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The snapshot, which is still there.
    pub snapshot: String,
    /// `name.provider` of the host.
    pub host: String,
    /// That host's id.
    pub host_id: HostId,
    /// The host was made for it.
    pub is_new_host: bool,
    /// The agents, all stopped.
    pub agents: Vec<SettledAgent>,
    /// The agent that went into the trash.
    pub replaced: Option<AgentName>,
}

/// Restores a snapshot.
pub fn restore(world: &World, request: &RestoreRequest) -> Result<Restored, SnapshotError> {
    let kept = find(world, &request.id)?;
    match &kept.agent {
        Some(_) => agent(world, &kept, request),
        None if request.replace => Err(SnapshotError::ReplaceOfHost { id: kept.id }),
        None => host(world, &kept, request),
    }
}

fn agent(world: &World, kept: &Kept, request: &RestoreRequest) -> Result<Restored, SnapshotError> {
    let snapshot = store::open(world, &kept.host, &kept.id)?;
    let record = &snapshot.manifest.agent;
    let fleet = Fleet::look(world, Detail::Basic);
    let old = request.replace.then(|| original(&fleet, kept, &record.name)).flatten();
    if let Some(old) = &old
        && destroy::needs_force(old.state.state)
        && !request.force
    {
        return Err(SnapshotError::Running { name: old.name().clone(), state: old.state.state });
    }
    let name = match &request.to.name {
        Some(name) => name.clone(),
        None if request.replace && old.is_none() => record.name.clone(),
        None => free_name(&fleet, &record.name)?,
    };
    let source = SourceSpec::Snapshot { host: kept.host.clone(), id: kept.id.clone() };
    let mut wanted = CreateRequest::stopped(name, place(world, kept, request), source);
    wanted.target_path.clone_from(&request.to.path);
    wanted.transfer = match snapshot.manifest.form {
        Form::Worktree => None,
        // What depends on the snapshot would go with it.
        Form::Repository => Some(TransferMode::GitMirror),
        Form::Folder => Some(TransferMode::Rsync),
    };
    let state = AgentLayout::new(store::state(&snapshot.folder()));
    let failed = |error| SnapshotError::Create(Box::new(error));
    wanted.take_after(record, snapshot.host.as_ref(), &state).map_err(failed)?;
    let created = create::create(world, &wanted).map_err(failed)?;
    // The agent exists: from here on it runs to its end.
    let _shield = interrupt::shield();
    fault::point();
    let mut restored = Restored {
        snapshot: kept.id.clone(),
        host: created.host.address(),
        host_id: created.host.id.clone(),
        is_new_host: false,
        agents: vec![SettledAgent {
            id: created.id.clone(),
            name: created.name.clone(),
            old_name: record.name.clone(),
        }],
        replaced: None,
    };
    if let Some(old) = old {
        let name = replace(world, &old, &created, request)?;
        restored.replaced = Some(name.clone());
        restored.agents[0].name = name;
    }
    Ok(restored)
}

/// The old agent goes into the trash, and the new one gets its name. In this order both exist, or the new one does.
fn replace(
    world: &World,
    old: &Agent,
    created: &create::Created,
    request: &RestoreRequest,
) -> Result<AgentName, SnapshotError> {
    let options = DestroyOptions { force: request.force, ..DestroyOptions::from_settings(&world.settings) };
    destroy::destroy(world, old, &options)
        .map_err(|error| SnapshotError::OldStays { name: created.name.clone(), source: Box::new(error) })?;
    if request.to.name.is_some() {
        return Ok(created.name.clone());
    }
    let address = AgentAddress { agent: AgentRef::Id(created.id.clone()), host: None };
    let fleet = Fleet::look(world, Detail::Basic);
    let wanted = RenameRequest { new_name: old.name().clone(), labels: Vec::new(), mode: Mode::Apply };
    rename::rename(world, fleet.one(&address)?, &wanted)
        .map_err(|source| SnapshotError::NotRenamed { name: created.name.clone(), source })?;
    Ok(old.name().clone())
}

/// The agent that a snapshot is of, or the one that has its name there.
fn original(fleet: &Fleet, kept: &Kept, name: &AgentName) -> Option<Agent> {
    let on_host = || fleet.agents.iter().filter(|agent| agent.host.info().id == kept.host);
    let id = kept.agent.as_ref().map(|(_, id)| id);
    let itself = on_host().find(|agent| Some(agent.id()) == id);
    itself.or_else(|| on_host().find(|agent| agent.name() == name)).cloned()
}

/// Where the agent goes: where it was told to, else where the snapshot is.
fn place(world: &World, kept: &Kept, request: &RestoreRequest) -> NewHost {
    match &request.to.host {
        NewHost::Local if world.client.info().id == kept.host => NewHost::Local,
        NewHost::Local => {
            NewHost::Named(HostAddress { host: HostRef::Id(kept.host.clone()), provider: None })
        }
        named => named.clone(),
    }
}

fn free_name(fleet: &Fleet, name: &AgentName) -> Result<AgentName, SnapshotError> {
    let numbered = (2..SUFFIXES).filter_map(|number| format!("{name}-restored-{number}").parse().ok());
    let mut names = format!("{name}-restored").parse().ok().into_iter().chain(numbered);
    let is_free = |wanted: &AgentName| !fleet.agents.iter().any(|agent| agent.name() == wanted);
    names.find(is_free).ok_or_else(|| SnapshotError::NoFreeName { name: name.clone() })
}

fn host(world: &World, kept: &Kept, request: &RestoreRequest) -> Result<Restored, SnapshotError> {
    let cannot = || SnapshotError::CannotCreateHost { provider: kept.provider.to_string() };
    let provider = world.providers.iter().find(|provider| *provider.name() == kept.provider);
    let provider = provider.ok_or_else(cannot)?;
    let maker: &dyn HostMaker = provider.maker().ok_or_else(cannot)?;
    let hosts = provider.hosts()?;
    let exists = hosts.iter().any(|entry| entry.id().as_ref() == Some(&kept.host));
    let is_free = |name: &HostName| !hosts.iter().any(|entry| entry.name() == name);
    // A host that is gone comes back as itself.
    let id = if exists { random::host_id() } else { kept.host.clone() };
    let wanted = request.to.name.as_ref().and_then(|name| name.as_str().parse().ok());
    let name = wanted.or_else(|| kept.host_name.clone().filter(is_free)).or_else(|| made_up_name(&id));
    let name = name.ok_or_else(cannot)?;
    world.reporter.progress(&format!("making host {name}"));
    let blueprint =
        Blueprint { snapshot: Some(SnapshotId::new(kept.id.clone())), ..Blueprint::new(id.clone(), name) };
    // Until its agents have ids of their own it must not stay. No agent has this id: the host goes in any case.
    let called = blueprint.name.as_str().parse().map_err(|_| cannot())?;
    let step = Step::Host { provider: kept.provider.clone(), id: id.clone(), is_copy: true };
    maker.ready()?;
    let making = Making::begin(world, (maker, &id), (&random::agent_id(), called), step)?;
    let settled = || -> Result<_, SnapshotError> {
        let made: Arc<dyn Host> = maker.make(&blueprint)?;
        fault::point();
        let agents = settle(world, &made, if exists { Settled::Beside } else { Settled::InPlace })?;
        activity::take_over(world, made.as_ref())?;
        fault::point();
        Ok((made, agents))
    };
    let (made, agents) = match settled() {
        Ok(settled) => settled,
        Err(error) => {
            let _ = making.take_back(world);
            return Err(error);
        }
    };
    making.finish()?;
    Ok(Restored {
        snapshot: kept.id.clone(),
        host: made.info().address(),
        host_id: id,
        is_new_host: true,
        agents,
        replaced: None,
    })
}

fn made_up_name(id: &HostId) -> Option<HostName> {
    let seed = u64::from_str_radix(&id.hex()[..16], 16).unwrap_or_default();
    NameStyle::default().generate(seed).parse().ok()
}
