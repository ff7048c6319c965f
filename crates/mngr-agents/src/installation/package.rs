//! Where a program comes from, as its manifest says. Pure.

use serde::Deserialize;

use super::{Tested, Version};

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

    /// What is not proved of a version, in one line; `None` where it is among those that were seen to work. `summary` is
    /// what the program is called.
    pub fn unproved(&self, summary: &str, version: &Version) -> Option<String> {
        let tested = &self.tested;
        if tested.contains(version) {
            return None;
        }
        let age = if tested.is_before(version) { "newer" } else { "older" };
        Some(format!(
            "{summary} {version} is {age} than the versions tested with this mngr ({tested}): not proved for it are the \
             delivery of messages, states, transcript and usage"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_outside_of_the_tested_ones_is_named_with_what_is_not_proved() {
        let text = "package = 'tool'\ntested = { from = '1.2', to = '1.4' }\n";
        let installation: Installation = toml::from_str(text).unwrap();
        let said = |version: &str| installation.unproved("Tool", &version.parse().unwrap());
        assert_eq!((said("1.2"), said("1.3.9"), said("1.4")), (None, None, None));
        let newer = said("1.5").unwrap();
        assert!(
            newer.starts_with("Tool 1.5 is newer than the versions tested with this mngr (1.2 to 1.4)"),
            "{newer}"
        );
        assert!(said("1.1").unwrap().contains("is older"));
    }
}
