//! What is wrong with the settings, with the spot and what was probably meant.
//!
//! Values are never quoted (they may be secrets), except a wrong word where only a few words are right.

use std::fmt;

use crate::key::KeyPath;
use crate::kind::Mismatch;
use crate::origin::Origin;

/// One thing wrong with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub at: Origin,
    /// The key, as normalised.
    pub key: KeyPath,
    /// What is wrong.
    pub fault: Fault,
}

/// What can be wrong with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nobody knows this key.
    Unknown {
        /// The closest known key, complete, if one is close.
        suggestion: Option<KeyPath>,
    },
    /// The value is of another type.
    WrongType {
        /// What the key takes.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The type fits, the value does not.
    BadValue {
        /// What the key takes.
        expected: String,
        /// Why the value is not that.
        reason: String,
    },
    /// `__extend` on something that does not grow, or `__assign` on a table of settings.
    BadOperator {
        /// The operator, with its underscores.
        operator: &'static str,
        /// What the key holds.
        holds: String,
    },
    /// One file says it twice, with and without an operator or with `-` and `_`.
    Twice,
    /// The key may not be set by this layer.
    NotHere,
    /// mngr does not do what this value asks for.
    Refused {
        /// Why, and what to do instead.
        reason: &'static str,
    },
}

impl Problem {
    /// Whether the key is unknown, which `Unknown::Warn` forgives.
    pub fn is_unknown_key(&self) -> bool {
        matches!(self.fault, Fault::Unknown { .. })
    }
}

impl From<Mismatch> for Fault {
    fn from(mismatch: Mismatch) -> Self {
        match mismatch {
            Mismatch::Type { expected, found } => Self::WrongType { expected, found },
            Mismatch::Value { expected, reason } => Self::BadValue { expected, reason },
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`{}", self.at, self.key, self.fault)
    }
}

impl fmt::Display for Fault {
    /// Continues a message that has just named the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { suggestion: None } => Ok(()),
            Self::Unknown { suggestion: Some(close) } => write!(f, ", did you mean `{close}`?"),
            Self::WrongType { expected, found } => write!(f, ": expected {expected}, found {found}"),
            Self::BadValue { expected, reason } => write!(f, ": expected {expected}: {reason}"),
            Self::BadOperator { operator, holds } => write!(f, ": `{operator}` does not apply to {holds}"),
            Self::Twice => f.write_str(": set twice"),
            Self::NotHere => f.write_str(": cannot be set this way"),
            Self::Refused { reason } => write!(f, ": {reason}"),
        }
    }
}

/// Every problem of every layer, so that one run shows them all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unknown, invalid): (Vec<_>, Vec<_>) =
            self.0.iter().partition(|problem| problem.is_unknown_key());
        let sections = [("Unknown configuration fields", unknown), ("invalid configuration", invalid)];
        for (index, (title, problems)) in
            sections.into_iter().filter(|(_, problems)| !problems.is_empty()).enumerate()
        {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{title}:")?;
            for problem in problems {
                write!(f, "\n  {problem}")?;
            }
        }
        Ok(())
    }
}

/// The candidate most like `word`, if any is like it at all.
pub(crate) fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Comparing costs length times length, and nobody mistypes a name this long by accident.
    const LONGEST: usize = 64;
    const ALIKE: f64 = 0.75;
    if word.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_key_and_noise_finds_none() {
        let keys = ["prefix", "pager", "tmux", "connect_command"];
        assert_eq!(closest("prefx", keys), Some("prefix"));
        assert_eq!(closest("conect_comand", keys), Some("connect_command"));
        assert_eq!(closest("zzz", keys), None);
        assert_eq!(closest(&"p".repeat(10_000), keys), None);
    }
}
