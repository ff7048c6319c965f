//! Which agents a host had when it was last seen, so that those of a host that does not answer are unknown, not gone.
//!
//! Kept on the machine mngr runs on; may be deleted at any moment. What it holds came from another machine and is read
//! as untrusted text.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::files::{Access, Durability};
use mngr_host::host::Host;
use mngr_host::provider::ColdFiles;
use mngr_model::facts::{AgentFacts, ExtraFacts, Markers, ProcessFact};
use mngr_model::host::HostInfo;
use mngr_model::layout::HostLayout;
use mngr_model::process::ProcessRecord;
use mngr_model::{AgentId, AgentRecord, HostId, HostName, HostPath, ProviderName};
use serde::Serialize;

use crate::known::{self, AGENTS_FILE};
use crate::world::World;

/// What the file with the places that a host's repositories came from ends with.
const SOURCES_FILE: &str = ".sources.json";

/// The file in an agent's folder that holds its record.
const DATA: &str = "data.json";

/// Remembers the agents of a host that answered. A failure only means that less is known later.
pub(crate) fn remember(world: &World, host: &dyn Host, agents: &[AgentFacts]) {
    if !world.is_client(host) {
        write(world, host.info(), &agents.iter().map(|facts| &facts.record).collect::<Vec<_>>());
    }
}

/// Remembers an agent that was made just now.
pub(crate) fn add(world: &World, host: &dyn Host, record: &AgentRecord) {
    if !world.is_client(host) {
        let known = read(world, host.info());
        let others = known.iter().filter(|other| other.id != record.id);
        write(world, host.info(), &others.chain([record]).collect::<Vec<_>>());
    }
}

/// Forgets an agent that was destroyed.
pub(crate) fn drop_agent(world: &World, host: &dyn Host, agent: &AgentId) {
    if !world.is_client(host) {
        let known = read(world, host.info());
        write(world, host.info(), &known.iter().filter(|other| other.id != *agent).collect::<Vec<_>>());
    }
}

/// Forgets a host that is gone.
pub(crate) fn forget(world: &World, host: &HostInfo) {
    for path in [place(world, host), sources_at(world, host)] {
        let _ = world.client.files().remove_file(&path);
    }
}

/// Remembers which repository of this machine a repository on another host was brought from. Both are git dirs.
pub(crate) fn add_source(world: &World, host: &HostInfo, there: &HostPath, here: &HostPath) {
    let mut known = sources(world, host);
    known.insert(there.clone(), here.clone());
    write_at(world, &sources_at(world, host), &known);
}

/// Which repositories of this machine those on a host were brought from, as far as is remembered.
pub(crate) fn sources(world: &World, host: &HostInfo) -> BTreeMap<HostPath, HostPath> {
    let bytes = world.client.files().read_if_there(&sources_at(world, host)).ok().flatten();
    serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default()
}

fn sources_at(world: &World, host: &HostInfo) -> HostPath {
    folder(world, host).join(&format!("{}{SOURCES_FILE}", host.id))
}

fn write(world: &World, host: &HostInfo, records: &[&AgentRecord]) {
    write_at(world, &place(world, host), &records);
}

fn write_at(world: &World, path: &HostPath, value: &impl Serialize) {
    let Ok(text) = serde_json::to_vec(value) else { return };
    let files = world.client.files();
    if files.read_if_there(path).ok().flatten().as_deref() == Some(text.as_slice()) {
        return;
    }
    if let Some(folder) = path.parent() {
        let _ = files.make_folder(&folder);
        let _ = files.write(path, &text, Access::Private, Durability::Cached);
    }
}

/// The hosts of a provider that were seen.
pub(super) fn hosts_of(world: &World, provider: &ProviderName) -> Vec<(HostName, HostId)> {
    let mut found = Vec::new();
    for (name, file) in known::agent_files(world.client.files(), &world.client.layout(), provider.as_ref()) {
        let id = file.file_name().and_then(|file| file.strip_suffix(AGENTS_FILE)).and_then(HostId::parse);
        found.extend(name.parse().ok().zip(id));
    }
    found
}

/// Forgets the hosts of a provider that are not among these: it knows all that there are.
pub(super) fn keep_only(world: &World, provider: &ProviderName, hosts: &BTreeSet<HostId>) {
    for (name, id) in hosts_of(world, provider).into_iter().filter(|(_, id)| !hosts.contains(id)) {
        let folder = world.client.layout().hosts_seen().join(provider.as_ref()).join(name.as_ref());
        for file in [format!("{id}{AGENTS_FILE}"), format!("{id}{SOURCES_FILE}")] {
            let _ = world.client.files().remove_file(&folder.join(&file));
        }
    }
}

/// The agents that a host had; nothing is known of what they do.
pub(super) fn recall(world: &World, host: &HostInfo) -> Vec<AgentFacts> {
    read(world, host).into_iter().map(unseen).collect()
}

/// The agents of a host that does not run: those that its own files name, and where those were not read to the end also
/// those that were seen before.
pub(super) fn of_host_that_is_off(
    world: &World,
    host: &HostInfo,
    cold: Option<&dyn ColdFiles>,
) -> Vec<AgentFacts> {
    let agents = HostLayout::new(host.host_dir.clone()).agents();
    let found = cold.and_then(|cold| cold.read_below(&agents, DATA).ok()).unwrap_or_default();
    let mut records: Vec<AgentRecord> = found.files.iter().filter_map(record_in).collect();
    if found.is_whole {
        write(world, host, &records.iter().collect::<Vec<_>>());
    } else {
        let is_new = |record: &AgentRecord| !records.iter().any(|other| other.id == record.id);
        let seen: Vec<AgentRecord> = read(world, host).into_iter().filter(is_new).collect();
        records.extend(seen);
    }
    records.into_iter().map(unseen).collect()
}

/// The record of an agent, if it is that of the agent whose folder it lies in.
fn record_in((folder, bytes): &(String, Vec<u8>)) -> Option<AgentRecord> {
    let record: AgentRecord = serde_json::from_slice(bytes).ok()?;
    (record.id.as_str() == folder).then_some(record)
}

fn read(world: &World, host: &HostInfo) -> Vec<AgentRecord> {
    let bytes = world.client.files().read_if_there(&place(world, host)).ok().flatten().unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn place(world: &World, host: &HostInfo) -> HostPath {
    folder(world, host).join(&format!("{}{AGENTS_FILE}", host.id))
}

fn folder(world: &World, host: &HostInfo) -> HostPath {
    world.client.layout().hosts_seen().join(host.provider.as_ref()).join(host.name.as_ref())
}

fn unseen(record: AgentRecord) -> AgentFacts {
    AgentFacts {
        record,
        process: ProcessRecord::default(),
        same_boot: None,
        supervisor: ProcessFact::NotLooked,
        agent: ProcessFact::NotLooked,
        markers: Markers::default(),
        program: None,
        elsewhere: Vec::new(),
        started_at: None,
        clock_lead: jiff::SignedDuration::ZERO,
        extra: ExtraFacts::default(),
    }
}
