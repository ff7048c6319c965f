//! Where a program comes from, as its manifest says. Pure.

use serde::Deserialize;

use super::Tested;

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
