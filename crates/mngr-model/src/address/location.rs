//! Places that files come from or go to: a local path, a path on an agent's host, a path on a host.

use std::fmt;
use std::str::FromStr;

use super::error::in_address;
use super::{AddressError, AddressKind, AddressProblem, AgentAddress, HostAddress, split_path};

/// A place that files come from or go to. A bare word is always an agent: a relative folder is `./foo` or `:foo`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Location {
    /// On this machine.
    Local(LocationPath),
    /// On an agent's host.
    Agent {
        /// Which agent.
        address: AgentAddress,
        /// A path relative to its work dir, or an absolute one; without it, the work dir.
        path: Option<LocationPath>,
    },
    /// On a host.
    Host {
        /// Which host.
        address: HostAddress,
        /// A path there.
        path: LocationPath,
    },
}

/// A path, and whether it was written with a slash at its end, which to rsync means "what is in it".
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LocationPath {
    path: String,
    trailing_slash: bool,
}

impl LocationPath {
    /// The path as written; `None` when it is empty.
    pub fn new(text: &str) -> Option<Self> {
        let path = match text.trim_end_matches('/') {
            "" => text.get(..1)?,
            trimmed => trimmed,
        };
        Some(Self { path: path.to_owned(), trailing_slash: text.ends_with('/') })
    }

    /// The path without slashes at its end; the root is `/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether a slash stood at its end.
    pub fn has_trailing_slash(&self) -> bool {
        self.trailing_slash
    }
}

impl fmt::Display for LocationPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        f.write_str(if self.trailing_slash && self.path != "/" { "/" } else { "" })
    }
}

impl Location {
    fn parse(text: &str) -> Result<Self, AddressProblem> {
        if is_bare_path(text) {
            return LocationPath::new(text).map(Self::Local).ok_or(AddressProblem::Empty);
        }
        let (head, path) = split_path(text);
        let path = path.and_then(LocationPath::new);
        if let Some(host) = head.strip_prefix('@') {
            let address = HostAddress::parse(host)?;
            return Ok(Self::Host { address, path: path.ok_or(AddressProblem::MissingPath)? });
        }
        match path {
            Some(path) if head.is_empty() => Ok(Self::Local(path)),
            path => Ok(Self::Agent { address: AgentAddress::parse(head)?, path }),
        }
    }
}

/// Whether `text` can only be a path. `.`, `..` and `~` are no agent names either.
fn is_bare_path(text: &str) -> bool {
    matches!(text, "." | ".." | "~") || ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start))
}

impl FromStr for Location {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        in_address(AddressKind::Location, text, Self::parse)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) if is_bare_path(&path.to_string()) => path.fmt(f),
            Self::Local(path) => write!(f, ":{path}"),
            Self::Agent { address, path: None } => address.fmt(f),
            Self::Agent { address, path: Some(path) } => write!(f, "{address}:{path}"),
            Self::Host { address, path } => write!(f, "@{address}:{path}"),
        }
    }
}
