//! Built-in agent types, described by data. A new brand is a new file in `manifests/` and its line here.

use mngr_model::delivery::DeliveryLevel;
use serde::Deserialize;

use crate::brand::Brand;
use crate::claude::Claude;
use crate::codex::Codex;

/// How a message is laid out on its way into the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// Its lines, each ended by Enter.
    Lines,
    /// A head line with key and length first, so that the agent can tell messages apart and say which it took.
    Framed,
    /// A bracketed paste, then Enter as a write of its own.
    Pasted,
}

/// How messages reach agents of a type, and what can be proved of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// The highest level the type can prove.
    pub proves: DeliveryLevel,
    /// How a message is laid out.
    pub framing: Framing,
}

/// A built-in agent type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The type's name.
    pub name: String,
    /// What it is, in a few words.
    pub summary: String,
    /// The program it runs, where the type says so.
    #[serde(default)]
    pub program: Option<String>,
    /// Variables of the user's shell that reach it, as patterns.
    #[serde(default)]
    pub inherits: Vec<String>,
    /// How messages reach it.
    pub delivery: Delivery,
}

const MANIFESTS: [(BuiltIn, &str); 4] = [
    (BuiltIn::Claude, include_str!("../manifests/claude.toml")),
    (BuiltIn::Codex, include_str!("../manifests/codex.toml")),
    (BuiltIn::Command, include_str!("../manifests/command.toml")),
    (BuiltIn::Scripted, include_str!("../manifests/scripted.toml")),
];

/// The built-in types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    /// Any program.
    Command,
    /// The built-in player.
    Scripted,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Command, Self::Scripted, Self::Claude, Self::Codex];

    /// Types whose program is looked for when no type is given, in this order.
    pub const GUESSES: [Self; 2] = [Self::Claude, Self::Codex];

    /// The type of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|built_in| built_in.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Scripted => "scripted",
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// What only code can say of it, for coding agents.
    pub fn brand(self) -> Option<&'static dyn Brand> {
        match self {
            Self::Command | Self::Scripted => None,
            Self::Claude => Some(&Claude),
            Self::Codex => Some(&Codex),
        }
    }

    /// What is known of it.
    #[expect(clippy::expect_used, reason = "compiled-in data that a test parses")]
    pub fn manifest(self) -> Manifest {
        let text = MANIFESTS.iter().find(|(built_in, _)| *built_in == self).map_or("", |(_, text)| text);
        toml::from_str(text).expect("a built-in manifest is valid")
    }
}

/// Brands that are planned but not in this version: naming one is answered with more than "unknown".
pub const PLANNED: [&str; 1] = ["opencode"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest_is_valid_and_names_its_type() {
        for built_in in BuiltIn::ALL {
            assert_eq!(built_in.manifest().name, built_in.name());
            assert_eq!(BuiltIn::named(built_in.name()), Some(built_in));
        }
    }
}
