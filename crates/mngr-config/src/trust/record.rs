//! The record of what was trusted: which repository, with which contents.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Written before the records, for whoever opens the file.
const HEAD: &str = "# Repositories whose settings may be used, with the contents that were trusted.\n\
                    # Written by `mngr config trust`. Remove a record to withdraw trust.\n\n";

/// What a repository's settings files hold, in one number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

/// Whether a repository's settings may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Exactly these contents were trusted.
    Trusted,
    /// The repository was trusted with other contents.
    Changed,
    /// Nobody ever trusted it.
    Unknown,
}

/// Everything that was trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustStore {
    #[serde(default)]
    trusted: Vec<Record>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    repository: String,
    sha256: Fingerprint,
}

/// Why the record cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TrustError {
    /// The file is not what was written.
    #[error("the record of trusted repositories cannot be read")]
    Read {
        /// What is wrong with it.
        #[source]
        source: toml::de::Error,
    },
    /// The record cannot be put into text.
    #[error("the record of trusted repositories cannot be written")]
    Write {
        /// What stands against it.
        #[source]
        source: toml::ser::Error,
    },
}

impl Fingerprint {
    /// The fingerprint of a repository's settings files; `None` for a file that does not exist.
    ///
    /// `repository` is whatever identifies it, the same for all its worktrees. It is part of the number, so that
    /// a record copied from one repository says nothing about another.
    pub fn of(repository: &str, project: Option<&str>, local: Option<&str>) -> Self {
        let mut hash = Sha256::new();
        for part in [Some(repository), project, local] {
            // Length first, or moving text from one file to the other would go unnoticed.
            match part {
                Some(text) => {
                    hash.update([1]);
                    hash.update((text.len() as u64).to_le_bytes());
                    hash.update(text.as_bytes());
                }
                None => hash.update([0]),
            }
        }
        Self(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TrustStore {
    /// Reads the record; an empty text is an empty record.
    pub fn parse(text: &str) -> Result<Self, TrustError> {
        toml::from_str(text).map_err(|source| TrustError::Read { source })
    }

    /// The record as text, to be read by [`TrustStore::parse`].
    pub fn to_toml(&self) -> Result<String, TrustError> {
        let records = toml::to_string(self).map_err(|source| TrustError::Write { source })?;
        Ok(format!("{HEAD}{records}"))
    }

    /// Whether these contents of this repository are trusted.
    pub fn check(&self, repository: &str, fingerprint: &Fingerprint) -> Trust {
        let of_repository = || self.trusted.iter().filter(|record| record.repository == repository);
        if of_repository().any(|record| record.sha256 == *fingerprint) {
            Trust::Trusted
        } else if of_repository().next().is_some() {
            Trust::Changed
        } else {
            Trust::Unknown
        }
    }

    /// Trusts these contents. Earlier ones stay trusted: worktrees of one repository may hold different ones.
    pub fn add(&mut self, repository: &str, fingerprint: Fingerprint) {
        if self.check(repository, &fingerprint) != Trust::Trusted {
            self.trusted.push(Record { repository: repository.to_owned(), sha256: fingerprint });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn trust_covers_exactly_the_contents_that_were_seen() {
        let seen = Fingerprint::of("/repo", Some("a"), None);
        let mut store = TrustStore::default();
        assert_eq!(store.check("/repo", &seen), Trust::Unknown);
        store.add("/repo", seen.clone());
        assert_eq!(store.check("/repo", &seen), Trust::Trusted);
        for (project, local) in [(Some("b"), None), (None, Some("a")), (Some("a"), Some("")), (None, None)] {
            assert_eq!(store.check("/repo", &Fingerprint::of("/repo", project, local)), Trust::Changed);
        }
        assert_eq!(store.check("/other", &Fingerprint::of("/other", Some("a"), None)), Trust::Unknown);
    }

    #[test]
    fn trusting_again_adds_nothing_and_other_contents_stay_trusted() {
        let [a, b] = ["a", "b"].map(|text| Fingerprint::of("/repo", Some(text), None));
        let mut store = TrustStore::default();
        for fingerprint in [&a, &b, &a] {
            store.add("/repo", fingerprint.clone());
        }
        assert_eq!(store.trusted.len(), 2);
        assert_eq!(store.check("/repo", &a), Trust::Trusted);
    }

    #[test]
    fn a_broken_record_is_an_error_not_an_empty_one() {
        assert!(TrustStore::parse("trusted = 5").is_err());
        assert_eq!(TrustStore::parse("").unwrap(), TrustStore::default());
    }

    #[test]
    fn the_number_is_sha256_in_hex() {
        let number = Fingerprint::of("", None, None).to_string();
        assert_eq!(number.len(), 64);
        assert!(number.chars().all(|c| c.is_ascii_hexdigit()));
    }

    proptest! {
        #[test]
        fn the_record_survives_its_file(repositories in prop::collection::vec(".*", 0..4)) {
            let mut store = TrustStore::default();
            for repository in &repositories {
                store.add(repository, Fingerprint::of(repository, Some("x"), None));
            }
            prop_assert_eq!(TrustStore::parse(&store.to_toml().unwrap()).unwrap(), store);
        }
    }
}
