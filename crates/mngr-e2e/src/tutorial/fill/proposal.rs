//! A proposed block with everything that is known about it, as it is kept on disk.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How many hex digits an id has.
const DIGITS: usize = 8;

/// The name of a proposal: a hash of what it says, so that the same one is never decided about twice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProposalId(String);

/// The text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the id of a proposal: {DIGITS} hex digits")]
pub struct ProposalIdError {
    /// The text.
    pub text: String,
}

impl ProposalId {
    pub(super) fn of(script: &str, heading: &str, text: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [script, heading, text] {
            hash.update(part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProposalId {
    type Err = ProposalIdError;

    fn from_str(text: &str) -> Result<Self, ProposalIdError> {
        // It becomes the name of a file.
        let is_id = text.len() == DIGITS && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if is_id { Ok(Self(text.to_owned())) } else { Err(ProposalIdError { text: text.to_owned() }) }
    }
}

impl TryFrom<String> for ProposalId {
    type Error = ProposalIdError;

    fn try_from(text: String) -> Result<Self, ProposalIdError> {
        text.parse()
    }
}

impl From<ProposalId> for String {
    fn from(id: ProposalId) -> Self {
        id.0
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What became of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody decided yet.
    Proposed,
    /// It is in the script.
    Accepted,
    /// Somebody did not want it.
    Rejected,
    /// It cannot be used as it is.
    Invalid,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Invalid => "invalid",
        }
    }
}

/// Who proposed it, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The script, as a path below the folder of the store where that is possible.
    pub script: String,
    /// The name of the agent.
    pub agent: String,
    /// When.
    pub time: Timestamp,
}

/// A proposed block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its name.
    pub id: ProposalId,
    /// What became of it.
    pub status: Status,
    /// The script it is for.
    pub script: String,
    /// The gap it is for, by its title; empty where that could not be read.
    pub heading: String,
    /// The block.
    pub text: String,
    /// Why, as its author says.
    #[serde(default)]
    pub reason: Option<String>,
    /// The name of the agent.
    pub agent: String,
    /// When it was proposed.
    pub time: Timestamp,
    /// The commands it shows, without their arguments: `mngr config set`.
    #[serde(default)]
    pub verbs: Vec<String>,
    /// Why it cannot be used.
    #[serde(default)]
    pub problems: Vec<String>,
    /// Why it was rejected.
    #[serde(default)]
    pub rejected_because: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_a_file_of_the_store_is_an_id() {
        let id = ProposalId::of("s", "a", "b");
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        assert_ne!(id, ProposalId::of("s", "ab", ""));
        for text in ["", "../../..", "0123456", "0123456G", "0123456A", "012345678"] {
            assert!(text.parse::<ProposalId>().is_err(), "{text}");
        }
    }
}
