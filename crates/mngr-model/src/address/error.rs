//! Why an address is refused. The limits every address shares are checked here, before its grammar is looked at.

use std::fmt;

use crate::name::NameError;
use crate::quote::excerpt;

/// The longest address in bytes: the longest path Linux takes, and names around it.
const MAX_LEN: usize = 4_096 + 512;

/// What an address should have named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// An agent.
    Agent,
    /// A host.
    Host,
    /// An agent or a host.
    AgentOrHost,
    /// An agent to be created.
    NewAgent,
    /// A place files can come from or go to.
    Location,
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "an agent address",
            Self::Host => "a host address",
            Self::AgentOrHost => "an address of an agent or host",
            Self::NewAgent => "an address for a new agent",
            Self::Location => "a location",
        })
    }
}

/// Why a text is not an address of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {kind}: {problem}")]
pub struct AddressError {
    /// What it should have named.
    pub kind: AddressKind,
    /// The refused text, shortened, control characters escaped.
    pub value: String,
    /// What is wrong with it.
    pub problem: AddressProblem,
}

/// What is wrong with an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressProblem {
    /// There is no text at all.
    #[error("it is empty")]
    Empty,
    /// Longer than any address can be.
    #[error("it is longer than {MAX_LEN} bytes")]
    TooLong,
    /// A character that could not even be shown.
    #[error("control characters are not allowed")]
    ControlCharacter,
    /// Nothing before the `@` or `:`.
    #[error("the agent is missing")]
    MissingAgent,
    /// Nothing between the `@` and the dot or the end.
    #[error("the host is missing, expected `HOST` or `HOST.PROVIDER`")]
    MissingHost,
    /// Nothing after the dot.
    #[error("the provider after the `.` is missing")]
    MissingProvider,
    /// A host without the path a location needs.
    #[error("a host needs a path after it, as in `@HOST:PATH`")]
    MissingPath,
    /// More than one `@`.
    #[error("there is more than one `@`")]
    SecondAt,
    /// More than one dot.
    #[error("there is more than one `.`, expected `HOST.PROVIDER`")]
    SecondDot,
    /// A part that is not a name.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// Checks what all addresses share, parses, and says of a failure which address it was.
pub(super) fn in_address<T>(
    kind: AddressKind,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, AddressProblem>,
) -> Result<T, AddressError> {
    let parsed = match text {
        "" => Err(AddressProblem::Empty),
        _ if text.len() > MAX_LEN => Err(AddressProblem::TooLong),
        _ if text.contains(char::is_control) => Err(AddressProblem::ControlCharacter),
        _ => parse(text),
    };
    parsed.map_err(|problem| AddressError { kind, value: excerpt(text), problem })
}
