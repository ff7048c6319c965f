//! Which program an agent type would run on a host, and which version of it: looked at before anything is made.
//!
//! `version` reads versions, `look` finds them on a host, `memory` keeps what was seen so that it is seen once.
//! Never in here: a decision about what follows.

mod look;
mod memory;
mod version;

pub use look::{InstallationError, Program, find, version_of};
pub use memory::Memory;
pub use version::{Tested, Version};

use serde::Deserialize;

/// What a manifest says about how its program is installed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Installation {
    /// The npm package it comes in.
    pub package: String,
    /// The versions that were seen to work.
    pub tested: Tested,
}

impl Installation {
    /// The command that installs it; a certain version of it, where one is wanted.
    pub fn command(&self, version: Option<&str>) -> String {
        let version = version.map(|version| format!("@{version}")).unwrap_or_default();
        format!("npm install -g {}{version}", self.package)
    }
}
