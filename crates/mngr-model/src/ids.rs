//! Identifiers: `<kind>-` and 32 lower-case hex digits. Where the randomness comes from is the caller's business.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {article} id: expected `{prefix}` and 32 lower-case hex digits", article = .kind)]
pub struct IdError {
    kind: &'static str,
    prefix: &'static str,
    value: String,
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $article:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text before the hex digits.
            pub const PREFIX: &'static str = $prefix;

            /// The id made of these 16 (random) bytes.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                use fmt::Write as _;
                let mut text = String::with_capacity(Self::PREFIX.len() + 32);
                text.push_str(Self::PREFIX);
                for byte in bytes {
                    // Writing to a String cannot fail.
                    let _ = write!(text, "{byte:02x}");
                }
                Self(text)
            }

            /// The id spelled by `text`, if it has the shape of one.
            pub fn parse(text: &str) -> Option<Self> {
                let digits = text.strip_prefix(Self::PREFIX)?;
                let is_hex = digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
                (digits.len() == 32 && is_hex).then(|| Self(text.to_owned()))
            }

            /// The whole id.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The 32 hex digits without the prefix.
            pub fn hex(&self) -> &str {
                &self.0[Self::PREFIX.len()..]
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text).ok_or_else(|| IdError {
                    kind: $article,
                    prefix: Self::PREFIX,
                    value: text.chars().take(60).flat_map(char::escape_default).collect(),
                })
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

id_type!(
    /// One agent, for its whole life: kept over stop, start, rename, destroy and undo.
    AgentId, "agent-", "an agent"
);
id_type!(
    /// One host (this machine, a container, an SSH box).
    HostId, "host-", "a host"
);
id_type!(
    /// One line of an event log.
    EventId, "evt-", "an event"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_made_of_bytes_reads_back() {
        let id = AgentId::from_bytes([0xab; 16]);
        assert_eq!(id.as_str(), format!("agent-{}", "ab".repeat(16)));
        assert_eq!(AgentId::parse(id.as_str()), Some(id.clone()));
        assert_eq!(id.hex().len(), 32);
    }

    #[test]
    fn other_kinds_upper_case_and_wrong_lengths_are_refused() {
        let hex = "0123456789abcdef0123456789abcdef";
        assert!(AgentId::parse(&format!("host-{hex}")).is_none());
        assert!(AgentId::parse(&format!("agent-{}", hex.to_uppercase())).is_none());
        assert!(AgentId::parse("agent-12").is_none());
        let error = "agent-\u{1b}".parse::<AgentId>().unwrap_err().to_string();
        assert!(error.contains("is not an agent id"), "{error}");
        assert!(!error.contains('\u{1b}'), "control characters are escaped");
    }
}
