//! From addresses to agents.

use mngr_model::address::{AgentAddress, AgentOrHost, AgentRef, HostAddress, HostRef};
use mngr_model::host::HostInfo;

use crate::fleet::{Agent, Fleet, FleetHost};

/// No agent, or not exactly one, has that address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// Nobody has it.
    #[error("Could not find agent `{address}`: {}{}{}", why(.unknown_host.as_deref()), suggestion(.similar), namesake(.host.as_deref()))]
    NotFound {
        /// The address.
        address: String,
        /// Names that look like it.
        similar: Vec<String>,
        /// The host that has this name.
        host: Option<String>,
        /// The host that the address names, where there is none.
        unknown_host: Option<String>,
    },
    /// Nobody who could be asked has it, but not everybody could be asked.
    #[error("cannot tell whether agent `{address}` exists: {} could not be asked", .unavailable.join(", "))]
    Unavailable {
        /// The address.
        address: String,
        /// Who could not be asked.
        unavailable: Vec<String>,
    },
    /// Its host does not run, and has what is asked for.
    #[error("agent `{address}` cannot be reached: {evidence}")]
    HostOff {
        /// The address.
        address: String,
        /// What its host does, and why.
        evidence: String,
    },
    /// Several have it.
    #[error("`{address}` means several agents: {}", .matches.join(", "))]
    Ambiguous {
        /// The address.
        address: String,
        /// `name@host.provider (ID: ...)` of each.
        matches: Vec<String>,
    },
    /// Agents on several hosts have the name, and only one of them was meant.
    #[error("agents on several hosts are called `{address}`:{}", .matches.iter().map(|one| format!("\n  {one}")).collect::<String>())]
    Namesakes {
        /// The address.
        address: String,
        /// `name@host.provider` of each.
        matches: Vec<String>,
    },
}

/// What a name stands for that agents on several hosts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedName {
    /// For none of them: whoever sends, runs or changes something must say which one.
    Refused,
    /// For all of them.
    All,
}

impl SelectError {
    /// The address it is about.
    pub fn address(&self) -> &str {
        match self {
            Self::NotFound { address, .. }
            | Self::Unavailable { address, .. }
            | Self::HostOff { address, .. }
            | Self::Ambiguous { address, .. }
            | Self::Namesakes { address, .. } => address,
        }
    }
}

fn why(unknown_host: Option<&str>) -> String {
    unknown_host.map_or_else(|| "not found".to_owned(), |host| format!("no hosts found matching {host}"))
}

fn suggestion(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        names => format!("; did you mean `{}`?", names.join("` or `")),
    }
}

fn namesake(host: Option<&str>) -> String {
    host.map(|host| format!("; `@{host}` is a host")).unwrap_or_default()
}

impl Fleet {
    /// The one agent of that address.
    pub fn one(&self, address: &AgentAddress) -> Result<&Agent, SelectError> {
        match different(&self.matching(address)?).as_slice() {
            [agent] => Ok(agent),
            several => Err(SelectError::Ambiguous {
                address: address.to_string(),
                matches: several
                    .iter()
                    .map(|agent| format!("{} (ID: {})", agent.address(), agent.id()))
                    .collect(),
            }),
        }
    }

    /// Every agent of that address; at least one.
    pub fn matching(&self, address: &AgentAddress) -> Result<Vec<&Agent>, SelectError> {
        let found: Vec<&Agent> = self.agents.iter().filter(|agent| is_at(agent, address)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let address_text = address.to_string();
        if self.failures.is_empty() {
            let similar = self.similar_to(address);
            return Err(SelectError::NotFound {
                similar,
                host: self.host_called(address),
                unknown_host: self.unknown_host(address),
                address: address_text,
            });
        }
        let unavailable =
            self.failures.iter().map(|f| f.host.clone().unwrap_or_else(|| f.provider.clone())).collect();
        Err(SelectError::Unavailable { address: address_text, unavailable })
    }

    /// Every agent of every address, each once, in the order of the addresses; and the addresses nobody has.
    pub fn select(&self, addresses: &[AgentAddress], shared: SharedName) -> (Vec<&Agent>, Vec<SelectError>) {
        let mut found: Vec<&Agent> = Vec::new();
        let mut errors = Vec::new();
        for address in addresses {
            match self.meant(address, shared) {
                Ok(agents) => agents.into_iter().for_each(|agent| add(&mut found, agent)),
                Err(error) => errors.push(error),
            }
        }
        (found, errors)
    }

    /// Every agent that an address stands for.
    fn meant(&self, address: &AgentAddress, shared: SharedName) -> Result<Vec<&Agent>, SelectError> {
        let matching = self.matching(address)?;
        let different = different(&matching);
        let is_name = matches!(address.agent, AgentRef::Name(_));
        if shared == SharedName::Refused && is_name && different.len() > 1 {
            let matches = different.iter().map(|agent| agent.address()).collect();
            return Err(SelectError::Namesakes { address: address.to_string(), matches });
        }
        Ok(matching)
    }

    /// The host that has the name an agent was looked for by.
    fn host_called(&self, address: &AgentAddress) -> Option<String> {
        let AgentRef::Name(name) = &address.agent else { return None };
        let is_it = |host: &&FleetHost| AsRef::<str>::as_ref(&host.name) == AsRef::<str>::as_ref(name);
        self.hosts.iter().find(is_it).map(FleetHost::address)
    }

    /// The host of an address, if there is no such host.
    fn unknown_host(&self, address: &AgentAddress) -> Option<String> {
        let wanted = address.host.as_ref()?;
        let is_it = |host: &FleetHost| {
            let is_named = match &wanted.host {
                HostRef::Id(id) => host.id.as_ref() == Some(id),
                HostRef::Name(name) => host.name == *name,
            };
            is_named && wanted.provider.as_ref().is_none_or(|provider| host.provider == *provider)
        };
        (!self.hosts.iter().any(is_it)).then(|| wanted.to_string().trim_start_matches('@').to_owned())
    }

    fn similar_to(&self, address: &AgentAddress) -> Vec<String> {
        let AgentRef::Name(name) = &address.agent else { return Vec::new() };
        let mut scored: Vec<(f64, String)> = self
            .agents
            .iter()
            .map(|agent| {
                (strsim::jaro_winkler(agent.name().as_ref(), name.as_ref()), agent.name().to_string())
            })
            .filter(|(score, _)| *score > 0.85)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scored.dedup_by(|a, b| a.1 == b.1);
        scored.into_iter().take(3).map(|(_, name)| name).collect()
    }
}

/// Each agent once: one machine may be known by several names.
fn different<'f>(agents: &[&'f Agent]) -> Vec<&'f Agent> {
    let mut found = Vec::new();
    agents.iter().for_each(|agent| add(&mut found, agent));
    found
}

/// Adds an agent unless it is there already.
fn add<'f>(found: &mut Vec<&'f Agent>, agent: &'f Agent) {
    let is_same = |other: &&Agent| other.id() == agent.id() && other.host.info().id == agent.host.info().id;
    if !found.iter().any(is_same) {
        found.push(agent);
    }
}

/// Whether an agent is the one that is meant, or lives on the host that is.
pub fn is_meant(agent: &Agent, target: &AgentOrHost) -> bool {
    match target {
        AgentOrHost::Agent(address) => is_at(agent, address),
        AgentOrHost::Host(host) => is_on(agent, host),
    }
}

pub(crate) fn is_at(agent: &Agent, address: &AgentAddress) -> bool {
    let is_named = match &address.agent {
        AgentRef::Id(id) => agent.id() == id,
        AgentRef::Name(name) => agent.name() == name,
    };
    is_named && address.host.as_ref().is_none_or(|host| is_on(agent, host))
}

fn is_on(agent: &Agent, host: &HostAddress) -> bool {
    is_host(agent.host.info(), host)
}

/// Whether a host is the one that is meant.
pub(crate) fn is_host(info: &HostInfo, host: &HostAddress) -> bool {
    let is_named = match &host.host {
        HostRef::Id(id) => info.id == *id,
        HostRef::Name(name) => info.name == *name,
    };
    is_named && host.provider.as_ref().is_none_or(|provider| info.provider == *provider)
}
