//! Names people give to agents, hosts, provider instances and agent types. Spelling only: whether a name is taken is
//! known elsewhere.
//!
//! A name is letters, digits, `_` and `-`, with a letter or digit at both ends. So it is safe as a tmux session name,
//! a file name, a git ref component and an address part without any escaping, and never looks like an option.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, HostId};
use crate::quote::excerpt;

/// What a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// An agent.
    Agent,
    /// A host.
    Host,
    /// A provider instance.
    Provider,
    /// An agent type.
    AgentType,
}

impl NameKind {
    /// The longest name of this kind. A host's name is also a DNS label.
    pub const fn max_len(self) -> usize {
        match self {
            Self::Host => 63,
            Self::Agent | Self::Provider | Self::AgentType => 128,
        }
    }

    /// Where an id may stand for a name, a name must not look like an id: it could never be addressed.
    const fn is_addressed_by_id_too(self) -> bool {
        matches!(self, Self::Agent | Self::Host)
    }
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent name",
            Self::Host => "host name",
            Self::Provider => "provider name",
            Self::AgentType => "agent type name",
        })
    }
}

/// Why a text is not a name of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a valid {kind}: {problem}")]
pub struct NameError {
    /// What it should have named.
    pub kind: NameKind,
    /// The refused text, shortened, control characters escaped.
    pub value: String,
    /// What is wrong with it.
    pub problem: NameProblem,
}

/// What is wrong with a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// There is no text at all.
    #[error("it is empty")]
    Empty,
    /// Longer than the kind allows.
    #[error("it has {length} characters, at most {max} are allowed")]
    TooLong {
        /// Its length in characters.
        length: usize,
        /// The longest allowed.
        max: usize,
    },
    /// A character no name may hold.
    #[error("`{}` is not allowed, only letters, digits, `_` and `-`", excerpt(.0.encode_utf8(&mut [0; 4])))]
    BadCharacter(char),
    /// `_` or `-` at one of the ends.
    #[error("it must start and end with a letter or digit")]
    BadEdge,
    /// The shape of an id, which always means the thing with that id.
    #[error("it has the shape of an id")]
    LooksLikeId,
}

/// Checks `text` against the rules for `kind`.
fn check(kind: NameKind, text: &str) -> Result<(), NameProblem> {
    // Length first, so that a huge text is never reported by one odd character in it.
    let length = text.chars().count();
    if length > kind.max_len() {
        return Err(NameProblem::TooLong { length, max: kind.max_len() });
    }
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if let Some(bad) = text.chars().find(|&c| !is_inner(c)) {
        return Err(NameProblem::BadCharacter(bad));
    }
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
        return Err(NameProblem::Empty);
    };
    if !first.is_ascii_alphanumeric() || !last.is_ascii_alphanumeric() {
        return Err(NameProblem::BadEdge);
    }
    let is_id = || AgentId::parse(text).is_some() || HostId::parse(text).is_some();
    if kind.is_addressed_by_id_too() && is_id() {
        return Err(NameProblem::LooksLikeId);
    }
    Ok(())
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $kind:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::try_from(text.to_owned())
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                match check($kind, &text) {
                    Ok(()) => Ok(Self(text)),
                    Err(problem) => Err(NameError { kind: $kind, value: excerpt(&text), problem }),
                }
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // `pad` rather than `write_str`: a name is often put into a column.
                f.pad(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name_type!(
    /// The name of an agent, unique on its host. Its tmux session and default branch are made from it.
    AgentName,
    NameKind::Agent
);
name_type!(
    /// The name of a host: at most 63 characters and no dot, so that it fits a DNS label and `HOST.PROVIDER`.
    HostName,
    NameKind::Host
);
name_type!(
    /// The name of a provider instance.
    ProviderName,
    NameKind::Provider
);
name_type!(
    /// The name of an agent type, built in or defined by the user.
    AgentTypeName,
    NameKind::AgentType
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(text: &str) -> NameProblem {
        text.parse::<AgentName>().unwrap_err().problem
    }

    #[test]
    fn letters_digits_and_inner_marks_make_a_name() {
        for name in ["a", "7", "Fix_the-Bug2", "a--b", "x__y"] {
            assert_eq!(name.parse::<AgentName>().unwrap().as_str(), name);
        }
    }

    #[test]
    fn each_broken_rule_is_named() {
        assert_eq!(problem(""), NameProblem::Empty);
        assert_eq!(problem("-rf"), NameProblem::BadEdge);
        assert_eq!(problem("a_"), NameProblem::BadEdge);
        assert_eq!(problem("a.b"), NameProblem::BadCharacter('.'));
        assert_eq!(problem("../etc"), NameProblem::BadCharacter('.'));
        assert_eq!(problem("a\nb"), NameProblem::BadCharacter('\n'));
        assert_eq!(problem("é"), NameProblem::BadCharacter('é'));
        assert_eq!(problem(&"x".repeat(129)), NameProblem::TooLong { length: 129, max: 128 });
        assert_eq!(problem(&format!("agent-{}", "0".repeat(32))), NameProblem::LooksLikeId);
        assert_eq!(problem(&format!("host-{}", "0".repeat(32))), NameProblem::LooksLikeId);
    }

    #[test]
    fn only_names_that_ids_can_stand_for_refuse_their_shape() {
        let id_shaped = format!("agent-{}", "0".repeat(32));
        assert!(id_shaped.parse::<HostName>().is_err());
        assert!(id_shaped.parse::<ProviderName>().is_ok());
    }

    #[test]
    fn a_host_name_fits_a_dns_label() {
        assert!("h".repeat(63).parse::<HostName>().is_ok());
        assert!("h".repeat(64).parse::<HostName>().is_err());
    }

    #[test]
    fn the_message_is_one_short_line_without_controls() {
        let error =
            format!("{}\u{1b}[31m\n", "x".repeat(10_000)).parse::<AgentName>().unwrap_err().to_string();
        assert!(error.len() < 200 && !error.contains(char::is_control), "{error}");
        let error = "a\u{7}".parse::<AgentName>().unwrap_err().to_string();
        assert_eq!(
            error,
            "`a\\u{7}` is not a valid agent name: `\\u{7}` is not allowed, only letters, digits, `_` and `-`"
        );
    }

    #[test]
    fn reading_json_applies_the_same_rules() {
        let name: AgentTypeName = serde_json::from_str("\"claude\"").unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"claude\"");
        assert!(serde_json::from_str::<AgentTypeName>("\"a/b\"").is_err());
    }

    #[test]
    fn a_name_is_found_in_a_map_by_plain_text() {
        let map = std::collections::BTreeMap::from([("a".parse::<AgentName>().unwrap(), 1)]);
        assert_eq!(map.get("a"), Some(&1));
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_exactly_the_documented_pattern(text in "[a-zA-Z0-9_./ -]{0,8}|\\PC{0,6}") {
            let bytes = text.as_bytes();
            let matches = bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-')
                && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
                && bytes.last().is_some_and(u8::is_ascii_alphanumeric);
            prop_assert_eq!(text.parse::<AgentName>().is_ok(), matches);
        }
    }
}
