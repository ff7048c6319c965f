//! Agents, hosts and providers as addresses: `NAME`, `NAME@HOST.PROVIDER`, `NAME:PATH`.

use std::collections::BTreeMap;

use mngr_host::files::{FileKind, Files as _};
use mngr_host::local::LocalFiles;
use mngr_model::AgentName;
use mngr_model::address::LOCAL_PROVIDER;
use mngr_ops::known::{self, KnownAgent, KnownHost};

use super::candidate::{Answer, Candidate};
use super::ssh_config;
use super::stock::Stock;

/// The provider of the machines that only the user's ssh config names.
const SSH: &str = "ssh";

/// Agents that exist: by name, with the place once an `@` is typed or where a name is not enough, by id once that is begun.
/// Those that are on the line already are left out.
pub(super) fn agents(stock: &Stock<'_>, typed: &str, given: &[String]) -> Vec<Candidate> {
    let all = stock.agents();
    let mut places: BTreeMap<&AgentName, usize> = BTreeMap::new();
    for agent in all {
        *places.entry(&agent.record.name).or_default() += 1;
    }
    let mut found = Vec::new();
    for agent in all {
        let (name, about) = (agent.record.name.to_string(), about(agent));
        let address = format!("{name}@{}", agent.host.address());
        if typed.contains('@') {
            found.push(Candidate::new(address, about));
            continue;
        }
        if typed.starts_with("agent-") {
            found.push(Candidate::new(agent.record.id.to_string(), name.clone()));
        }
        // A name is its host's only one, so a second of the name is on another host.
        let is_ambiguous = places.get(&agent.record.name).is_some_and(|count| *count > 1);
        found.push(Candidate::new(if is_ambiguous { address } else { name }, about));
    }
    found.retain(|candidate| !given.contains(&candidate.value));
    found
}

/// The same, and once a `:` is typed what is in the agent's work dir.
pub(super) fn agents_or_paths(stock: &Stock<'_>, typed: &str) -> Answer {
    match typed.split_once(':') {
        Some((agent, path)) => Answer::Beginnings(paths(stock, agent, path)),
        None => Answer::Words(agents(stock, typed, &[])),
    }
}

/// Where a new agent can go, once an `@` is typed. Its name is the user's to choose.
pub(super) fn new_agents(stock: &Stock<'_>, typed: &str) -> Vec<Candidate> {
    let Some((name, place)) = typed.split_once('@') else { return Vec::new() };
    let mut found: Vec<Candidate> = Vec::new();
    let hosts = hosts(stock);
    for host in &hosts {
        let is_ambiguous =
            hosts.iter().any(|other| other.name == host.name && other.provider != host.provider);
        let shown = if is_ambiguous || place.contains('.') { host.address() } else { host.name.clone() };
        found.push(Candidate::new(format!("{name}@{shown}"), format!("host of {}", host.provider)));
    }
    for provider in stock.providers().into_iter().filter(|provider| !makes_no_hosts(stock, provider)) {
        let about = if provider == LOCAL_PROVIDER {
            "this machine".into()
        } else {
            format!("a new host of {provider}")
        };
        found.push(Candidate::new(format!("{name}@.{provider}"), about));
    }
    found
}

/// Hosts by themselves, an `@` before them.
pub(super) fn hosts_alone(stock: &Stock<'_>, typed: &str) -> Vec<Candidate> {
    let at = if typed.starts_with('@') || typed.is_empty() { "@" } else { "" };
    let shown = |host: &KnownHost| if typed.contains('.') { host.address() } else { host.name.clone() };
    let candidate = |host: KnownHost| {
        Candidate::new(format!("{at}{}", shown(&host)), format!("host of {}", host.provider))
    };
    hosts(stock).into_iter().map(candidate).collect()
}

/// Hosts that were used, that the settings name, or that the user's ssh config names.
fn hosts(stock: &Stock<'_>) -> Vec<KnownHost> {
    let mut found = stock.layout().map(|layout| known::hosts(&LocalFiles, &layout)).unwrap_or_default();
    let providers = stock.settings().into_iter().flat_map(|settings| &settings.providers);
    for (provider, section) in providers {
        let hosts = section.extra.get("hosts").and_then(toml::Value::as_table);
        let names = hosts.into_iter().flat_map(toml::Table::keys);
        found.extend(names.map(|name| KnownHost { name: name.clone(), provider: provider.clone() }));
    }
    let names = ssh_config::names(stock.surroundings).into_iter();
    found.extend(names.map(|name| KnownHost { name, provider: SSH.to_owned() }));
    found.sort();
    found.dedup();
    found
}

/// Machines behind ssh are there, or not.
fn makes_no_hosts(stock: &Stock<'_>, provider: &str) -> bool {
    let section = stock.settings().and_then(|settings| settings.providers.get(provider));
    section.map_or(provider, |section| section.backend(provider)) == SSH
}

/// What is in a folder of an agent's work dir, where the agent is on this machine.
fn paths(stock: &Stock<'_>, agent: &str, path: &str) -> Vec<Candidate> {
    let name = agent.split('@').next().unwrap_or(agent);
    let is_meant = |known: &&KnownAgent| known.host.is_this() && known.record.name.to_string() == name;
    let Some(found) = stock.agents().iter().find(is_meant) else { return Vec::new() };
    let folder = path.rfind('/').map_or("", |at| &path[..=at]);
    let entries = LocalFiles.list(&found.record.work_dir.join(folder)).unwrap_or_default();
    let entries = entries.into_iter().filter(|entry| entry.name != ".git");
    let candidate = |name: String, kind: FileKind| {
        let slash = if kind == FileKind::Folder { "/" } else { "" };
        Candidate::bare(format!("{agent}:{folder}{name}{slash}"))
    };
    entries.map(|entry| candidate(entry.name, entry.kind)).collect()
}

/// What tells agents apart at a glance.
fn about(agent: &KnownAgent) -> String {
    let place = if agent.host.is_this() { String::new() } else { format!(" on {}", agent.host.address()) };
    format!("{}{place}", agent.record.agent_type)
}
