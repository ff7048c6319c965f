//! What can be named without asking anybody: the agents of this machine by their records, those of other hosts as they were
//! last seen.
//!
//! For completion, which has milliseconds. Budget: files of this machine; no process, no round trip, nothing is changed.
//! What is not readable is left out: nobody can be told.

use mngr_host::files::Files;
use mngr_host::local::LOCAL_HOST_NAME;
use mngr_model::address::LOCAL_PROVIDER;
use mngr_model::layout::{AgentLayout, HostLayout};
use mngr_model::{AgentRecord, HostPath};

use crate::fanout;

/// An agent that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownAgent {
    /// Its record.
    pub record: AgentRecord,
    /// Where it is.
    pub host: KnownHost,
}

/// A host that was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownHost {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub provider: String,
}

impl KnownHost {
    /// This machine.
    pub fn this() -> Self {
        Self { name: LOCAL_HOST_NAME.to_owned(), provider: LOCAL_PROVIDER.to_owned() }
    }

    /// Whether it is this machine.
    pub fn is_this(&self) -> bool {
        self.provider == LOCAL_PROVIDER
    }

    /// `name.provider`.
    pub fn address(&self) -> String {
        format!("{}.{}", self.name, self.provider)
    }
}

/// The agents of this machine, then those of other hosts.
pub fn agents(files: &dyn Files, layout: &HostLayout) -> Vec<KnownAgent> {
    let folders = names_in(files, &layout.agents());
    let parts: Vec<&[String]> = folders.chunks(AT_ONCE).collect();
    // Opening hundreds of files is most of the work, and the kernel does it side by side.
    let read =
        fanout::fan_out(parts, |part| part.iter().filter_map(|it| record(files, layout, it)).collect());
    let records: Vec<Vec<AgentRecord>> = read;
    let this = |record| KnownAgent { record, host: KnownHost::this() };
    let mut known: Vec<KnownAgent> = records.into_iter().flatten().map(this).collect();
    for provider in names_in(files, &layout.hosts_seen()) {
        for (name, file) in agent_files(files, layout, &provider) {
            let host = KnownHost { name, provider: provider.clone() };
            let records = records_in(files, &file).into_iter();
            known.extend(records.map(|record| KnownAgent { record, host: host.clone() }));
        }
    }
    known
}

/// How many records one thread reads.
const AT_ONCE: usize = 128;

fn record(files: &dyn Files, layout: &HostLayout, folder: &str) -> Option<AgentRecord> {
    let data = AgentLayout::new(layout.agents().join(folder)).data();
    let bytes = files.read_if_there(&data).ok().flatten()?;
    serde_json::from_slice(&bytes).ok()
}

/// Whether an agent was seen on a host of this provider, and was not destroyed since.
pub fn has_agents(files: &dyn Files, layout: &HostLayout, provider: &str) -> bool {
    agent_files(files, layout, provider).iter().any(|(_, file)| !records_in(files, file).is_empty())
}

/// The files with the agents of a provider's hosts, each with the name of the host.
pub(crate) fn agent_files(files: &dyn Files, layout: &HostLayout, provider: &str) -> Vec<(String, HostPath)> {
    let provider = layout.hosts_seen().join(provider);
    let mut found = Vec::new();
    for host in names_in(files, &provider) {
        let folder = provider.join(&host);
        let names = names_in(files, &folder).into_iter().filter(|name| name.ends_with(AGENTS_FILE));
        found.extend(names.map(|name| (host.clone(), folder.join(&name))));
    }
    found
}

fn records_in(files: &dyn Files, file: &HostPath) -> Vec<AgentRecord> {
    let bytes = files.read_if_there(file).ok().flatten().unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// This machine, then other hosts.
pub fn hosts(files: &dyn Files, layout: &HostLayout) -> Vec<KnownHost> {
    let mut found = vec![KnownHost::this()];
    for provider in names_in(files, &layout.hosts_seen()) {
        let names = names_in(files, &layout.hosts_seen().join(&provider)).into_iter();
        found.extend(names.map(|name| KnownHost { name, provider: provider.clone() }));
    }
    found
}

/// What the file with the agents that a host had ends with.
pub(crate) const AGENTS_FILE: &str = ".agents.json";

fn names_in(files: &dyn Files, folder: &HostPath) -> Vec<String> {
    files.list(folder).unwrap_or_default().into_iter().map(|entry| entry.name).collect()
}
