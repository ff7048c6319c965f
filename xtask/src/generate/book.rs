//! What the binary says of itself, as `mngr help --format json` prints it. Fields that no page needs are left out.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// All of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Book {
    pub(crate) version: String,
    /// mngr itself, then every command, each group before what is below it.
    pub(crate) commands: Vec<Page>,
    pub(crate) topics: Vec<Topic>,
    pub(crate) environment: Vec<Variable>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) schemas: Schemas,
}

/// One command.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) about: String,
    pub(crate) synopsis: Vec<String>,
    pub(crate) description: Vec<String>,
    pub(crate) commands: Vec<Below>,
    pub(crate) sections: Vec<Section>,
    pub(crate) examples: Vec<String>,
}

/// A command below another one.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Below {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) about: String,
}

/// Options that belong together.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) options: Vec<OptionHelp>,
}

/// One option or argument.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct OptionHelp {
    pub(crate) term: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) default: Option<String>,
    pub(crate) choices: Vec<String>,
    pub(crate) help: String,
}

/// A page that is not about one command.
#[derive(Debug, Deserialize)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) text: String,
}

/// A variable of the environment.
#[derive(Debug, Deserialize)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// A key of the settings.
#[derive(Debug, Deserialize)]
pub(crate) struct Setting {
    pub(crate) key: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) default: Option<Value>,
    pub(crate) description: String,
}

/// JSON schemas.
#[derive(Debug, Deserialize)]
pub(crate) struct Schemas {
    pub(crate) settings: Value,
    /// By the words of the command.
    pub(crate) outputs: BTreeMap<String, Value>,
    /// Of the lines of `--format jsonl`, likewise.
    pub(crate) lines: BTreeMap<String, Value>,
}

impl Page {
    /// The words after `mngr`, with hyphens between them; empty for mngr itself.
    pub(crate) fn slug(&self) -> String {
        self.name.split(' ').skip(1).collect::<Vec<_>>().join("-")
    }
}

impl OptionHelp {
    /// What it is for, with its default, the words it accepts and its other names, each as a sentence of its own.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let mut all = vec![self.help.clone()];
        if let Some(default) = &self.default {
            let shown = if default.is_empty() { "empty" } else { default };
            all.push(format!("Default: {shown}"));
        }
        if !self.choices.is_empty() {
            all.push(format!("One of: {}", self.choices.join(", ")));
        }
        if !self.aliases.is_empty() {
            all.push(format!("Also: {}", self.aliases.join(", ")));
        }
        all
    }
}
