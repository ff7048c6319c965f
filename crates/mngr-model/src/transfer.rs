//! How an agent's files come into its work dir. Which mode is allowed or chosen for a given source is decided elsewhere.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::quote::excerpt;

/// The ways files come into a work dir.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferMode {
    /// A git worktree of the source repository, on the same host.
    GitWorktree,
    /// A repository of its own that the source's branches and tags are pushed to.
    GitMirror,
    /// A plain copy of a folder that is not a git repository.
    Rsync,
    /// No transfer: the agent works in the source folder itself.
    None,
}

impl TransferMode {
    /// Every mode, in the order help shows them.
    pub const ALL: [Self; 4] = [Self::GitWorktree, Self::GitMirror, Self::Rsync, Self::None];

    /// The mode as users and records spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GitWorktree => "git-worktree",
            Self::GitMirror => "git-mirror",
            Self::Rsync => "rsync",
            Self::None => "none",
        }
    }
}

impl fmt::Display for TransferMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is not a transfer mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not one of {}", TransferMode::ALL.map(TransferMode::as_str).join(", "))]
pub struct TransferModeError {
    /// The refused word, shortened, control characters escaped.
    pub value: String,
}

impl FromStr for TransferMode {
    type Err = TransferModeError;

    fn from_str(word: &str) -> Result<Self, TransferModeError> {
        let known = Self::ALL.into_iter().find(|mode| mode.as_str() == word);
        known.ok_or_else(|| TransferModeError { value: excerpt(word) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_options_spell_a_mode_alike() {
        for mode in TransferMode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
            assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
        }
    }

    #[test]
    fn an_unknown_mode_lists_the_known_ones() {
        let error = "copy".parse::<TransferMode>().unwrap_err().to_string();
        assert_eq!(error, "`copy` is not one of git-worktree, git-mirror, rsync, none");
    }
}
