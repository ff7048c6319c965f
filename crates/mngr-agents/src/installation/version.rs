//! Versions as programs tell them: numbers with points between them. Pure.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    text: String,
    numbers: Vec<u64>,
}

/// The text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a version")]
pub struct NotAVersion {
    text: String,
}

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let wrong = || NotAVersion { text: text.to_owned() };
        // What follows a dash or a plus (`-beta.1`) does not order versions here.
        let numbers = text.split(['-', '+']).next().unwrap_or_default();
        let numbers: Result<Vec<u64>, _> = numbers.split('.').map(str::parse).collect();
        let numbers = numbers.map_err(|_| wrong())?;
        if numbers.len() < 2 {
            return Err(wrong());
        }
        Ok(Self { text: text.to_owned(), numbers })
    }
}

impl TryFrom<String> for Version {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Self, NotAVersion> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.text
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Version {
    /// The first version in what a program printed.
    pub fn in_text(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| word.trim_start_matches('v').parse().ok())
    }

    /// Whether it is the wanted one: that version, or one whose first numbers it names (`2.1` is any `2.1.x`).
    pub fn is(&self, wanted: &str) -> bool {
        let rest = self.text.strip_prefix(wanted.trim_end_matches('.'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// The versions between these two, both included, were seen to work.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tested {
    /// The oldest.
    pub from: Version,
    /// The newest.
    pub to: Version,
}

impl Tested {
    /// Whether this one is among them.
    pub fn contains(&self, version: &Version) -> bool {
        (&self.from.numbers..=&self.to.numbers).contains(&&version.numbers)
    }

    /// Whether this one came after all of them.
    pub fn is_before(&self, version: &Version) -> bool {
        self.to.numbers < version.numbers
    }
}

impl fmt::Display for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from == self.to {
            true => write!(f, "{}", self.to),
            false => write!(f, "{} to {}", self.from, self.to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        assert_eq!(Version::in_text("2.1.325 (Claude Code)\n"), Some(version("2.1.325")));
        assert_eq!(Version::in_text("codex-cli 0.166.0\n"), Some(version("0.166.0")));
        assert_eq!(Version::in_text("tool v1.2.3-beta.4"), Some(version("1.2.3-beta.4")));
        assert_eq!(Version::in_text("3 of 4 no version"), None);
    }

    #[test]
    fn a_wanted_version_is_exact_or_a_beginning_in_whole_numbers() {
        let found = version("2.1.325");
        assert!(found.is("2.1.325") && found.is("2.1") && found.is("2") && found.is("2.1."));
        assert!(!found.is("2.1.3") && !found.is("2.1.3250") && !found.is("1") && !found.is("2.10"));
    }

    #[test]
    fn the_tested_range_is_ordered_by_numbers() {
        let tested = Tested { from: version("2.1.9"), to: version("2.1.325") };
        assert!(tested.contains(&version("2.1.10")) && tested.contains(&version("2.1.325")));
        assert!(!tested.contains(&version("2.1.8")) && !tested.contains(&version("2.1.326")));
        assert!(!tested.contains(&version("3.0")));
        assert_eq!(tested.to_string(), "2.1.9 to 2.1.325");
        assert_eq!(Tested { from: version("1.0"), to: version("1.0") }.to_string(), "1.0");
    }
}
