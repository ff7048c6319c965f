//! What is known on this machine, read when it is asked for.

use std::cell::OnceCell;
use std::path::PathBuf;

use mngr_agents::headless;
use mngr_agents::manifest::BuiltIn;
use mngr_config::{LOCAL_BACKEND, Merged, Settings};
use mngr_host::local::LocalFiles;
use mngr_model::AgentState;
use mngr_model::layout::HostLayout;
use mngr_ops::known::{self, KnownAgent};
use mngr_query::Catalog;

use super::candidate::{Answer, Candidate};
use super::place::Place;
use super::source::Source;
use super::{address, keys, repository};
use crate::cli;
use crate::cli::options::VerbOptions;
use crate::cli::page::Page;
use crate::commands::help::topics;
use crate::ctx::{self, Guard, Scopes, Surroundings};
use crate::wiring;

/// Settings, agents and hosts, as far as they are known here.
pub(super) struct Stock<'s> {
    pub(super) surroundings: &'s Surroundings,
    merged: OnceCell<Option<Merged>>,
    agents: OnceCell<Vec<KnownAgent>>,
}

impl<'s> Stock<'s> {
    /// Reads nothing yet.
    pub(super) fn new(surroundings: &'s Surroundings) -> Self {
        Self { surroundings, merged: OnceCell::new(), agents: OnceCell::new() }
    }

    /// What may stand where a value of this source is wanted.
    pub(super) fn answer(&self, source: Source, place: &Place) -> Answer {
        let typed = place.typed.as_str();
        let words = match source {
            Source::Choices(words) => words,
            Source::First(word) if place.given.is_empty() => vec![Candidate::bare(word)],
            Source::First(_) => Vec::new(),
            Source::Either(sources) => {
                return sources
                    .into_iter()
                    .map(|source| self.answer(source, place))
                    .reduce(both)
                    .unwrap_or(Answer::Words(Vec::new()));
            }
            Source::Agent => address::agents(self, typed, &place.given),
            Source::AgentPath => return address::agents_or_paths(self, typed),
            Source::NewAgent => address::new_agents(self, typed),
            Source::Host => address::hosts_alone(self, typed),
            Source::Provider => self.providers().into_iter().map(Candidate::bare).collect(),
            Source::Type => self.types(),
            Source::Template => self.templates(),
            Source::Key => keys::keys(self, typed),
            Source::ValueOfKey => match place.given.first() {
                Some(key) => return keys::values(self, key, place),
                None => Vec::new(),
            },
            Source::Setting => return keys::settings(self, place),
            Source::Branch => repository::branches(&PathBuf::from(self.surroundings.cwd.as_str()), typed),
            Source::Label => self.labels(),
            Source::Project => self.projects(),
            Source::Field => return fields(typed),
            Source::State => AgentState::ALL.iter().map(|state| Candidate::bare(state.to_string())).collect(),
            Source::CommandOrTopic => pages(&place.given),
            Source::File => return Answer::Files(Vec::new()),
            Source::Folder => return Answer::Folders,
            Source::Unknown => Vec::new(),
        };
        Answer::Words(words)
    }

    /// The settings in force; nothing where they cannot be used.
    pub(super) fn merged(&self) -> Option<&Merged> {
        let load = || {
            let scopes = Scopes::find(self.surroundings);
            let loaded = ctx::load(self.surroundings, &scopes, &[], &VerbOptions, Guard::Off);
            loaded.ok().map(|loaded| loaded.merged)
        };
        self.merged.get_or_init(load).as_ref()
    }

    pub(super) fn settings(&self) -> Option<&Settings> {
        self.merged().map(Merged::settings)
    }

    /// The folder of all state on this machine.
    pub(super) fn layout(&self) -> Option<HostLayout> {
        let settings = self.settings()?;
        let local = settings.providers.get(LOCAL_BACKEND).and_then(|local| local.host_dir.as_deref());
        Some(HostLayout::new(self.surroundings.path(local.unwrap_or(&settings.default_host_dir))))
    }

    /// All agents that are known here.
    pub(super) fn agents(&self) -> &[KnownAgent] {
        let read = || self.layout().map(|layout| known::agents(&LocalFiles, &layout)).unwrap_or_default();
        self.agents.get_or_init(read)
    }

    /// The names of all providers.
    pub(super) fn providers(&self) -> Vec<String> {
        self.settings().map(wiring::provider_names).unwrap_or_default()
    }

    fn types(&self) -> Vec<Candidate> {
        let built_in = BuiltIn::ALL.into_iter().map(|kind| kind.name().to_owned());
        let headless = BuiltIn::ALL.into_iter().map(|kind| format!("{}{}", headless::PREFIX, kind.name()));
        let headless = headless.filter(|name| headless::named(name).is_some());
        let own = self.settings().into_iter().flat_map(|settings| settings.agent_types.keys().cloned());
        let own = own.map(|name| Candidate::new(name, "your own"));
        built_in.chain(headless).map(Candidate::bare).chain(own).collect()
    }

    fn templates(&self) -> Vec<Candidate> {
        let settings = self.settings().into_iter();
        settings.flat_map(|settings| settings.create_templates.keys()).map(Candidate::bare).collect()
    }

    fn labels(&self) -> Vec<Candidate> {
        let labels = self.agents().iter().flat_map(|agent| &agent.record.labels);
        labels.map(|(key, value)| Candidate::bare(format!("{key}={value}"))).collect()
    }

    fn projects(&self) -> Vec<Candidate> {
        let labels = self.agents().iter().filter_map(|agent| agent.record.labels.get("project"));
        let here = Candidate::new(".", "the one you stand in");
        labels.map(Candidate::bare).chain([here]).collect()
    }
}

/// Two kinds of values together. Files are offered where no word fits, and who is in the middle of something goes on with
/// it.
fn both(one: Answer, other: Answer) -> Answer {
    match (one, other) {
        (rest, Answer::Words(words)) | (Answer::Words(words), rest) => rest.or(words),
        (open @ Answer::Beginnings(_), _) | (_, open) => open,
    }
}

/// Fields of agents; those before the last comma are kept.
fn fields(typed: &str) -> Answer {
    let before = typed.rfind([',', ' ']).map_or("", |at| &typed[..=at]);
    let catalog = Catalog::agents();
    let fields = catalog.fields().iter();
    Answer::Words(fields.map(|field| Candidate::new(format!("{before}{}", field.path), field.help)).collect())
}

/// Commands below the words that are there already; at the beginning topics, too.
fn pages(given: &[String]) -> Vec<Candidate> {
    let Some(page) = Page::of(given) else { return Vec::new() };
    let commands = page.commands.into_iter().map(|command| Candidate::new(command.name, command.about));
    let topics = topics::ALL.iter().map(|topic| Candidate::new(topic.name, topic.about));
    let is_first = page.name == cli::NAME;
    commands.chain(topics.filter(|_| is_first)).collect()
}
