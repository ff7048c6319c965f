//! Which agents a host had when it was last seen, so that those of a host that does not answer are unknown, not gone.
//!
//! Kept on the machine mngr runs on; may be deleted at any moment. What it holds came from another machine and is read
//! as untrusted text.

use mngr_host::files::{Access, Durability};
use mngr_host::host::Host;
use mngr_model::facts::{AgentFacts, ExtraFacts, Markers, ProcessFact};
use mngr_model::host::HostInfo;
use mngr_model::process::ProcessRecord;
use mngr_model::{AgentId, AgentRecord, HostPath};

use crate::known::AGENTS_FILE;
use crate::world::World;

/// Remembers the agents of a host that answered. A failure only means that less is known later.
pub(super) fn remember(world: &World, host: &dyn Host, agents: &[AgentFacts]) {
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

fn write(world: &World, host: &HostInfo, records: &[&AgentRecord]) {
    let Ok(text) = serde_json::to_vec(records) else { return };
    let (files, path) = (world.client.files(), place(world, host));
    if files.read_if_there(&path).ok().flatten().as_deref() == Some(text.as_slice()) {
        return;
    }
    if let Some(folder) = path.parent() {
        let _ = files.make_folder(&folder);
        let _ = files.write(&path, &text, Access::Private, Durability::Cached);
    }
}

/// The agents that a host had; nothing is known of what they do.
pub(super) fn recall(world: &World, host: &HostInfo) -> Vec<AgentFacts> {
    read(world, host).into_iter().map(unseen).collect()
}

fn read(world: &World, host: &HostInfo) -> Vec<AgentRecord> {
    let bytes = world.client.files().read_if_there(&place(world, host)).ok().flatten().unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn place(world: &World, host: &HostInfo) -> HostPath {
    let folder = world.client.layout().hosts_seen().join(host.provider.as_ref()).join(host.name.as_ref());
    folder.join(&format!("{}{AGENTS_FILE}", host.id))
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
        started_at: None,
        extra: ExtraFacts::default(),
    }
}
