//! Built-in agent types, described by data. A new brand is a new file in `manifests/` and its line here.

use std::collections::BTreeMap;

use mngr_config::{InputBoxSettings, ScreenRuleSettings};
use serde::Deserialize;

use crate::brand::Brand;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::headless::Headless;
use crate::installation::Installation;
use crate::opencode::Opencode;
use crate::screen::InputBox;

mod delivery;
mod draft;

pub use delivery::{Delivery, Framing, Timing};
pub use draft::{Draft, Returns};

/// A built-in agent type.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
    /// How its program is installed, where it is one that everybody gets from the same place.
    #[serde(default)]
    pub installation: Option<Installation>,
    /// How long it may take to start even where the setting grants less: it has a lot to load.
    #[serde(default)]
    pub start_seconds: f64,
    /// How messages reach it.
    pub delivery: Delivery,
    /// What becomes of a text that somebody has typed and not sent, where it can be put aside.
    #[serde(default)]
    pub draft: Option<Draft>,
    /// How it runs without a terminal, where it can.
    #[serde(default)]
    pub headless: Option<Headless>,
    /// What its terminal shows, by the rule's name.
    #[serde(default)]
    pub screen: BTreeMap<String, ScreenRuleSettings>,
    /// Its input box, where it has one.
    #[serde(default)]
    pub input_box: InputBoxSettings,
}

impl Manifest {
    /// Its input box, ready to be looked for.
    #[expect(clippy::expect_used, reason = "compiled-in data that a test compiles")]
    pub fn compiled_input_box(&self) -> Option<InputBox> {
        InputBox::compile(&[&self.input_box]).expect("a built-in manifest is valid")
    }
}

const MANIFESTS: [(BuiltIn, &str); 5] = [
    (BuiltIn::Claude, include_str!("../manifests/claude.toml")),
    (BuiltIn::Codex, include_str!("../manifests/codex.toml")),
    (BuiltIn::Command, include_str!("../manifests/command.toml")),
    (BuiltIn::Opencode, include_str!("../manifests/opencode.toml")),
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
    /// opencode.
    Opencode,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Command, Self::Scripted, Self::Claude, Self::Codex, Self::Opencode];

    /// Types whose program is looked for when no type is given, in this order.
    pub const GUESSES: [Self; 3] = [Self::Claude, Self::Codex, Self::Opencode];

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
            Self::Opencode => "opencode",
        }
    }

    /// What only code can say of it, for coding agents.
    pub fn brand(self) -> Option<&'static dyn Brand> {
        match self {
            Self::Command | Self::Scripted => None,
            Self::Claude => Some(&Claude),
            Self::Codex => Some(&Codex),
            Self::Opencode => Some(&Opencode),
        }
    }

    /// What is known of it.
    #[expect(clippy::expect_used, reason = "compiled-in data that a test parses")]
    pub fn manifest(self) -> Manifest {
        let text = MANIFESTS.iter().find(|(built_in, _)| *built_in == self).map_or("", |(_, text)| text);
        toml::from_str(text).expect("a built-in manifest is valid")
    }
}

#[cfg(test)]
mod tests {
    use mngr_config::{Layer, LayerKind};

    use super::*;
    use crate::kind::Kind;

    #[test]
    fn what_a_manifest_says_of_a_terminal_could_stand_in_the_settings() {
        for (built_in, text) in MANIFESTS {
            let mut manifest: toml::Table = toml::from_str(text).unwrap();
            manifest.retain(|key, _| matches!(key, "screen" | "input_box"));
            let types = toml::Table::from_iter([(built_in.name().to_owned(), manifest.into())]);
            let settings = toml::Table::from_iter([("agent_types".to_owned(), types.into())]);
            let layer = Layer::from_toml(LayerKind::User, "manifest", &settings.to_string()).unwrap();
            assert_eq!(layer.problems(), [], "{}", built_in.name());
        }
    }

    #[test]
    fn every_manifest_is_valid_and_names_its_type() {
        for built_in in BuiltIn::ALL {
            let _ = built_in.manifest().compiled_input_box();
            Kind::new(built_in, Vec::new()).check().unwrap();
            assert_eq!(built_in.manifest().name, built_in.name());
            assert_eq!(BuiltIn::named(built_in.name()), Some(built_in));
        }
    }
}
