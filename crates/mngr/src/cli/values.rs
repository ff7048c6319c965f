//! What the options of one command line are set to, as values: those that were typed, those of a setting, or all together.
//!
//! Values are never written down as words: `read` hands them to clap as what the options are without words.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command};

use crate::cli;

/// Options and arguments with their values, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Values(BTreeMap<String, Vec<OsString>>);

impl Values {
    /// What was typed.
    pub(crate) fn typed(matches: &ArgMatches) -> Self {
        let typed = matches.ids().map(clap::Id::as_str).filter(|id| {
            // Groups have an id too, and no values.
            matches.value_source(id) == Some(ValueSource::CommandLine)
                && matches.try_contains_id(id).unwrap_or(false)
        });
        let raw = |id: &str| matches.try_get_raw(id).ok().flatten();
        let values = typed.filter_map(|id| Some((id.to_owned(), raw(id)?.map(OsString::from).collect())));
        Self(values.collect())
    }

    /// One option alone.
    pub(crate) fn only(id: &str, values: &[OsString]) -> Self {
        Self(BTreeMap::from([(id.to_owned(), values.to_vec())]))
    }

    /// Sets an option, whatever it was.
    pub(crate) fn set(&mut self, id: &str, values: Vec<OsString>) {
        self.0.insert(id.to_owned(), values);
    }

    /// Adds to a list.
    pub(crate) fn add(&mut self, id: &str, values: impl IntoIterator<Item = impl Into<OsString>>) {
        self.0.entry(id.to_owned()).or_default().extend(values.into_iter().map(Into::into));
    }

    /// Takes an option away.
    pub(crate) fn remove(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// Whether it has a value.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Whether any of them has a value.
    pub(crate) fn has_any(&self, ids: &[&str]) -> bool {
        ids.iter().any(|id| self.has(id))
    }

    /// Its values.
    pub(crate) fn all(&self, id: &str) -> &[OsString] {
        self.0.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Its values as far as they are text.
    pub(crate) fn texts(&self, id: &str) -> impl Iterator<Item = &str> {
        self.all(id).iter().filter_map(|value| value.to_str())
    }

    /// Its last value.
    pub(crate) fn text(&self, id: &str) -> Option<&str> {
        self.texts(id).last()
    }

    /// Whether its value is this one.
    pub(crate) fn is(&self, id: &str, value: &str) -> bool {
        self.text(id) == Some(value)
    }

    /// The ids of what has a value.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The matches of the verb at `path` below `command` with these values. The verb has to be built already: clap takes
    /// defaults for the program's own until then, and has no error for them.
    pub(crate) fn read(&self, command: Command, path: &[&str]) -> Result<ArgMatches, clap::Error> {
        let words = std::iter::once(cli::NAME).chain(path.iter().copied());
        self.as_defaults(command, path).try_get_matches_from(words)
    }

    fn as_defaults(&self, command: Command, path: &[&str]) -> Command {
        if let [verb, below @ ..] = path {
            return command.mut_subcommand(verb, |verb| self.as_defaults(verb, below));
        }
        command.mut_args(|arg| match self.0.get(arg.get_id().as_str()) {
            Some(values) => arg.required(false).default_values(values.iter().map(kept)),
            None => arg,
        })
    }
}

/// A value for the definition of the command line, which lives as long as the process.
fn kept(value: &OsString) -> &'static OsStr {
    Box::leak(value.clone().into_boxed_os_str())
}

/// Whether values of several layers add up.
pub(crate) fn is_list(action: &ArgAction) -> bool {
    matches!(action, ArgAction::Append)
}
