//! The table: worlds, and the cases that are run in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// The files of the table.
pub(super) const WORLDS: &[&str] = &["create", "life", "list", "scripts", "settings", "sync", "talk"];

/// Cases that share a repository and its agents; each may build on those before it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct World {
    /// Agents that have a conversation, of a program that never ran.
    #[serde(default)]
    pub(super) pretends: Vec<String>,
    /// Shell commands that prepare it.
    pub(super) setup: String,
    pub(super) case: Vec<Case>,
}

/// One thing that scripts do.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What it shows, for the reader of a failure.
    pub(super) shows: String,
    /// What is typed, for `sh`. Without it the case is only a difference.
    pub(super) run: Option<String>,
    /// How it ends.
    #[serde(default)]
    pub(super) exit: i32,
    /// Texts on either stream.
    #[serde(default)]
    pub(super) says: Vec<String>,
    /// All of standard output.
    pub(super) stdout: Option<String>,
    /// Values in the JSON on standard output, by pointer.
    #[serde(default)]
    pub(super) json: BTreeMap<String, Value>,
    /// Pointers at what is there, whatever its value.
    #[serde(default)]
    pub(super) has: Vec<String>,
    /// Shell commands that succeed once the effect is there.
    pub(super) then: Option<String>,
    /// Rows of the differences that this case is about.
    #[serde(default)]
    pub(super) differs: Vec<String>,
}

/// Where the table is.
pub(super) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/contract")
}

impl World {
    /// Reads one file of the table.
    pub(super) fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap();
        toml::from_str(&text).unwrap_or_else(|error| panic!("{name}.toml: {error}"))
    }

    /// All cases of all files.
    pub(super) fn all_cases() -> Vec<Case> {
        WORLDS.iter().flat_map(|name| Self::read(name).case).collect()
    }
}

impl Case {
    /// Whether it checks anything but that the command ends well.
    pub(super) fn checks_something(&self) -> bool {
        self.exit != 0
            || !self.says.is_empty()
            || self.stdout.is_some()
            || !self.json.is_empty()
            || !self.has.is_empty()
            || self.then.is_some()
    }

    /// Everything that is typed.
    pub(super) fn typed(&self) -> String {
        [&self.run, &self.then].into_iter().flatten().fold(String::new(), |all, part| all + part + "\n")
    }
}
