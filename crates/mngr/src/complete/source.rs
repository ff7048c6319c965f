//! What the value of an option or argument is, told by what the command line itself says of it: the words it accepts, its
//! name, and what its value is called in help. A verb needs no entry here.

use clap::Arg;
use mngr_agents::transcript::Role;
use mngr_model::transfer::TransferMode;

use super::candidate::Candidate;

/// Where the values of an option or argument come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// One of these words.
    Choices(Vec<Candidate>),
    /// This word, where no argument stands before it.
    First(&'static str),
    /// Any of these.
    Either(Vec<Source>),
    /// An agent that exists.
    Agent,
    /// An agent, or a path in its work dir.
    AgentPath,
    /// Name and place of a new agent.
    NewAgent,
    /// A host, `@` before it.
    Host,
    /// A provider.
    Provider,
    /// An agent type.
    Type,
    /// A template of the settings.
    Template,
    /// The key of a setting.
    Key,
    /// The value of the setting that the word before names.
    ValueOfKey,
    /// `KEY=VALUE`.
    Setting,
    /// A branch of the repository at hand.
    Branch,
    /// A label that agents have, `KEY=VALUE`.
    Label,
    /// A project that agents belong to.
    Project,
    /// A field of agents; several with commas between them.
    Field,
    /// A state of agents.
    State,
    /// A command, or a topic of help.
    CommandOrTopic,
    /// A file here.
    File,
    /// A folder here.
    Folder,
    /// Nobody knows.
    Unknown,
}

impl Source {
    /// Where the values of this option or argument come from.
    pub(super) fn of(verb: &[String], arg: &Arg) -> Self {
        let choices: Vec<Candidate> = arg
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set() && arg.get_action().takes_values())
            .map(|value| {
                let help = value.get_help().map(ToString::to_string).unwrap_or_default();
                Candidate::new(value.get_name(), help)
            })
            .collect();
        if !choices.is_empty() {
            return Self::Choices(choices);
        }
        let is_config = verb.first().is_some_and(|first| first == "config");
        match arg.get_id().as_str() {
            "format" => Self::words(&["human", "json", "jsonl"]),
            "transfer" => Self::words(&TransferMode::ALL.map(TransferMode::as_str)),
            "role" => Self::words(&Role::ALL.map(Role::as_str)),
            "setting" => Self::Setting,
            "template" | "agent_template" => Self::Template,
            "type" | "agent_type" | "positional_type" => Self::Type,
            "provider" | "verify_on" => Self::Provider,
            "label" if !arg.is_positional() => Self::Label,
            "project" => Self::Project,
            // Here a word turns looking into waiting.
            "words" if verb == ["usage"] => Self::Either(vec![Self::First("wait"), Self::Agent]),
            "key" if is_config => Self::Key,
            "value" if is_config => Self::ValueOfKey,
            _ => Self::of_value(arg),
        }
    }

    /// By what help calls the value: `AGENT`, `AGENT|@HOST`, `PATH`.
    fn of_value(arg: &Arg) -> Self {
        let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        let parts: Vec<Self> = name.unwrap_or_default().split('|').map(Self::called).collect();
        match parts.as_slice() {
            [one] => one.clone(),
            _ => Self::Either(parts),
        }
    }

    fn called(name: &str) -> Self {
        match name {
            "AGENT" | "CURRENT" => Self::Agent,
            "AGENT[:PATH]" => Self::AgentPath,
            "ADDRESS" => Self::NewAgent,
            "SOURCE" => Self::Either(vec![Self::AgentPath, Self::File]),
            "HOST" | "@HOST" => Self::Host,
            "PROVIDER" => Self::Provider,
            "TYPE" => Self::Type,
            "BRANCH" | "REVISION" | "[BASE][:NEW]" => Self::Branch,
            "STATE" => Self::State,
            "FIELD" | "FIELDS" | "ORDER" | "FIELD=LABEL" => Self::Field,
            "TOPIC" => Self::CommandOrTopic,
            "PLUGIN" => Self::Either(vec![Self::Type, Self::Provider]),
            "PATH" | "PATHS" | "FILE" | "SCRIPT" | "TESTS" | "DEST" | "LOCAL:REMOTE" => Self::File,
            "DIR" | "FOLDER" => Self::Folder,
            _ => Self::Unknown,
        }
    }

    fn words(words: &[&str]) -> Self {
        Self::Choices(words.iter().map(|word| Candidate::bare(*word)).collect())
    }
}
