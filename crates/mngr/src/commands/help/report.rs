//! Help as data.

use mngr_config::schema::{self, SchemaEntry};
use mngr_config::value;
use mngr_model::env::{self, Variable};
use serde_json::{Value, json};

use super::outputs;
use super::topics::{self, Topic};
use crate::cli;
use crate::cli::page::Page;
use crate::ui::output::event;
use crate::ui::{Console, Report};

/// What a template may name.
pub(super) const FIELDS: &[&str] = &["kind", "name", "about"];

/// What was asked for.
pub(super) enum HelpReport {
    /// All of it.
    Everything,
    /// One command.
    Command(Box<Page>),
    /// One topic.
    Topic(&'static Topic),
}

impl Report for HelpReport {
    /// People get the page itself, painted by the console.
    fn human(&self, _console: &Console) -> String {
        String::new()
    }

    fn json(&self) -> Value {
        match self {
            Self::Everything => json!({
                "program": cli::NAME,
                "version": env!("CARGO_PKG_VERSION"),
                "commands": Page::all(),
                "topics": topics::ALL.iter().map(topic).collect::<Vec<_>>(),
                "environment": env::ALL.iter().map(variable).collect::<Vec<_>>(),
                "settings": schema::catalogue().iter().map(setting).collect::<Vec<_>>(),
                "schemas": {
                    "settings": schema::json_schema(),
                    "outputs": outputs::schemas(),
                    "lines": outputs::line_schemas(),
                },
            }),
            Self::Command(page) => json!(page),
            Self::Topic(one) => topic(one),
        }
    }

    fn events(&self) -> Vec<Value> {
        let commands = |pages: Vec<Page>| pages.into_iter().map(|page| event("help_command", json!(page)));
        match self {
            Self::Everything => {
                let topics = topics::ALL.iter().map(|one| event("help_topic", topic(one)));
                let variables = env::ALL.iter().map(|one| event("help_variable", variable(one)));
                commands(Page::all()).chain(topics).chain(variables).collect()
            }
            Self::Command(page) => commands(vec![(**page).clone()]).collect(),
            Self::Topic(one) => vec![event("help_topic", topic(one))],
        }
    }

    fn items(&self) -> Vec<Value> {
        let item =
            |kind: &str, name: &str, about: &str| json!({ "kind": kind, "name": name, "about": about });
        let command = |page: &Page| item("command", &page.name, &page.about);
        let topic = |topic: &Topic| item("topic", topic.name, topic.about);
        match self {
            Self::Everything => {
                Page::all().iter().map(command).chain(topics::ALL.iter().map(topic)).collect()
            }
            Self::Command(page) => vec![command(page)],
            Self::Topic(one) => vec![topic(one)],
        }
    }
}

fn topic(topic: &Topic) -> Value {
    json!({ "name": topic.name, "aliases": topic.aliases, "about": topic.about, "text": topic.text })
}

fn setting(entry: &SchemaEntry) -> Value {
    json!({
        "key": entry.key.to_string(),
        "type": entry.kind,
        "default": entry.default.as_ref().map(value::to_json),
        "description": entry.description,
    })
}

fn variable(variable: &Variable) -> Value {
    json!({ "name": variable.name, "description": variable.doc.trim() })
}
