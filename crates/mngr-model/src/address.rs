//! How agents, hosts and places are spelled on the command line.
//!
//! ```text
//! host       [@]HOST[.PROVIDER]                 HOST is a host id or name
//! agent      AGENT[@HOST[.PROVIDER]]            AGENT is an agent id or name
//! new agent  [NAME][@[HOST][.PROVIDER]][:PATH]  at least one of HOST and PROVIDER after an `@`
//! location   PATH starting with / ./ ../ ~/     a local path, as is :PATH
//!            AGENT[@HOST[.PROVIDER]][:PATH]     a path on an agent's host
//!            @HOST[.PROVIDER]:PATH              a path on a host
//! ```
//!
//! The shape of an id wins over the shape of a name. Parsing looks at the text alone: whether the thing exists is
//! found out elsewhere. Every type here is written by `Display` as it is read by `FromStr`.

use std::fmt;
use std::str::FromStr;

use crate::AgentRecord;
use crate::ids::{AgentId, HostId};
use crate::name::{AgentName, HostName, ProviderName};

mod error;
mod location;

pub use error::{AddressError, AddressKind, AddressProblem};
pub use location::{Location, LocationPath};

use error::in_address;

/// The provider whose one host is this machine.
pub const LOCAL_PROVIDER: &str = "local";

/// An agent by id or by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AgentRef {
    /// Exactly this agent.
    Id(AgentId),
    /// Every agent with this name.
    Name(AgentName),
}

impl AgentRef {
    /// Whether it means the agent of this record.
    pub fn is(&self, record: &AgentRecord) -> bool {
        match self {
            Self::Id(id) => record.id == *id,
            Self::Name(name) => record.name == *name,
        }
    }
}

/// A host by id or by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HostRef {
    /// Exactly this host.
    Id(HostId),
    /// Every host with this name.
    Name(HostName),
}

/// A host, on one provider or on any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostAddress {
    /// Which host.
    pub host: HostRef,
    /// Where it must be, if said.
    pub provider: Option<ProviderName>,
}

/// An agent, on one host or on any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AgentAddress {
    /// Which agent.
    pub agent: AgentRef,
    /// Where it must be, if said.
    pub host: Option<HostAddress>,
}

/// An agent or a host, for verbs that take both. A host is meant by a leading `@`, by a bare host id, and by
/// `HOST.PROVIDER`, which no agent can be called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AgentOrHost {
    /// An agent.
    Agent(AgentAddress),
    /// A host.
    Host(HostAddress),
}

/// What to create, and where. An id is no name for something new.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct NewLocation {
    /// The agent's name; one is made up without it.
    pub name: Option<AgentName>,
    /// The host to run on.
    pub host: NewHost,
    /// The work dir on that host.
    pub path: Option<String>,
}

/// The host part of a [`NewLocation`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum NewHost {
    /// This machine: nothing was said, or `@.local`.
    #[default]
    Local,
    /// `@HOST[.PROVIDER]`: a host that exists, unless a new one of that name is asked for.
    Named(HostAddress),
    /// `@.PROVIDER`: a new host, its name made up.
    New(ProviderName),
}

impl AgentRef {
    fn parse(text: &str) -> Result<Self, AddressProblem> {
        match AgentId::parse(text) {
            Some(id) => Ok(Self::Id(id)),
            None if text.is_empty() => Err(AddressProblem::MissingAgent),
            None => Ok(Self::Name(text.parse()?)),
        }
    }
}

impl HostRef {
    fn parse(text: &str) -> Result<Self, AddressProblem> {
        match HostId::parse(text) {
            Some(id) => Ok(Self::Id(id)),
            None if text.is_empty() => Err(AddressProblem::MissingHost),
            None => Ok(Self::Name(text.parse()?)),
        }
    }
}

impl HostAddress {
    /// Reads `HOST[.PROVIDER]`, the `@` already taken off.
    fn parse(text: &str) -> Result<Self, AddressProblem> {
        let (host, provider) = split_provider(text)?;
        Ok(Self { host: HostRef::parse(host)?, provider })
    }
}

impl AgentAddress {
    fn parse(text: &str) -> Result<Self, AddressProblem> {
        let (agent, host) = match text.split_once('@') {
            Some((agent, host)) => (agent, Some(host)),
            None => (text, None),
        };
        Ok(Self { agent: AgentRef::parse(agent)?, host: host.map(HostAddress::parse).transpose()? })
    }
}

impl AgentOrHost {
    fn parse(text: &str) -> Result<Self, AddressProblem> {
        if let Some(host) = text.strip_prefix('@') {
            return HostAddress::parse(host).map(Self::Host);
        }
        // A dot without an `@` can only be `HOST.PROVIDER`: no agent name holds one.
        let is_host = HostId::parse(text).is_some() || (text.contains('.') && !text.contains('@'));
        if is_host {
            HostAddress::parse(text).map(Self::Host)
        } else {
            AgentAddress::parse(text).map(Self::Agent)
        }
    }
}

impl NewLocation {
    fn parse(text: &str) -> Result<Self, AddressProblem> {
        let (head, path) = split_path(text);
        let (name, host) = match head.split_once('@') {
            Some((name, host)) => (name, NewHost::parse(host)?),
            None => (head, NewHost::Local),
        };
        let name = if name.is_empty() { None } else { Some(name.parse()?) };
        Ok(Self { name, host, path: path.map(str::to_owned) })
    }
}

impl NewHost {
    fn parse(text: &str) -> Result<Self, AddressProblem> {
        match split_provider(text)? {
            ("", None) => Err(AddressProblem::MissingHost),
            ("", Some(provider)) if provider.as_str() == LOCAL_PROVIDER => Ok(Self::Local),
            ("", Some(provider)) => Ok(Self::New(provider)),
            (host, provider) => Ok(Self::Named(HostAddress { host: HostRef::parse(host)?, provider })),
        }
    }
}

/// Splits `[HOST][.PROVIDER]` at its only dot.
fn split_provider(text: &str) -> Result<(&str, Option<ProviderName>), AddressProblem> {
    if text.contains('@') {
        return Err(AddressProblem::SecondAt);
    }
    match text.split_once('.') {
        None => Ok((text, None)),
        Some((_, provider)) if provider.contains('.') => Err(AddressProblem::SecondDot),
        Some((_, "")) => Err(AddressProblem::MissingProvider),
        Some((host, provider)) => Ok((host, Some(provider.parse()?))),
    }
}

/// Splits at the first `:`; nothing after it is no path.
fn split_path(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((head, path)) => (head, (!path.is_empty()).then_some(path)),
        None => (text, None),
    }
}

impl FromStr for HostAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        in_address(AddressKind::Host, text, |text| Self::parse(text.strip_prefix('@').unwrap_or(text)))
    }
}

impl FromStr for AgentAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        in_address(AddressKind::Agent, text, Self::parse)
    }
}

impl FromStr for AgentOrHost {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        in_address(AddressKind::AgentOrHost, text, Self::parse)
    }
}

impl FromStr for NewLocation {
    type Err = AddressError;

    /// An empty text is fine: an agent on this machine with a name made up.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text.is_empty() {
            Ok(Self::default())
        } else {
            in_address(AddressKind::NewAgent, text, Self::parse)
        }
    }
}

impl FromStr for AgentRef {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        in_address(AddressKind::Agent, text, Self::parse)
    }
}

impl FromStr for HostRef {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        in_address(AddressKind::Host, text, Self::parse)
    }
}

impl fmt::Display for AgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl fmt::Display for HostRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.host.fmt(f)?;
        self.provider.iter().try_for_each(|provider| write!(f, ".{provider}"))
    }
}

impl fmt::Display for AgentAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agent.fmt(f)?;
        self.host.iter().try_for_each(|host| write!(f, "@{host}"))
    }
}

impl fmt::Display for AgentOrHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(agent) => agent.fmt(f),
            Self::Host(host) => write!(f, "@{host}"),
        }
    }
}

impl fmt::Display for NewLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.iter().try_for_each(|name| name.fmt(f))?;
        match &self.host {
            NewHost::Local => {}
            NewHost::Named(host) => write!(f, "@{host}")?,
            NewHost::New(provider) => write!(f, "@.{provider}")?,
        }
        self.path.iter().try_for_each(|path| write!(f, ":{path}"))
    }
}

#[cfg(test)]
mod tests;
