//! Reading the ids of tests from what a command printed. Pure.

use std::collections::{BTreeMap, BTreeSet};

use mngr_config::IdFormat;
use mngr_model::quote::excerpt;
use mngr_model::run::{TaskId, TaskIdError};
use regex::Regex;
use serde_json::Value;

use super::results::uncoloured;

/// How many repeated ids a message names.
const SHOWN: usize = 3;

/// What a command printed is no list of tests.
#[derive(Debug, thiserror::Error)]
pub enum IdsError {
    /// It is not JSON.
    #[error("what it printed is not JSON")]
    Json(#[source] serde_json::Error),
    /// An id that cannot be one.
    #[error("it printed an id that cannot be used")]
    Id(#[from] TaskIdError),
    /// An id that a program would take for an option.
    #[error("it printed `{}`, which a command would take for an option", excerpt(id))]
    Option {
        /// The id.
        id: String,
    },
    /// The same id more than once: one of them could not be run alone.
    #[error("it printed {count} ids more than once: {}", ids.join(", "))]
    Repeated {
        /// How many.
        count: usize,
        /// The first of them.
        ids: Vec<String>,
    },
    /// A path of the user's that is neither a test nor a folder of tests.
    #[error("no test it printed is `{}` or below it", excerpt(path))]
    NotAmong {
        /// The path.
        path: String,
    },
    /// No test at all.
    #[error("it found no tests")]
    None,
}

/// How ids are read.
#[derive(Debug, Clone)]
pub(super) struct IdReader {
    pub(super) format: IdFormat,
    pub(super) pattern: Option<Regex>,
    pub(super) pointers: Vec<String>,
    pub(super) conditions: BTreeMap<String, String>,
}

impl IdReader {
    /// The ids, in the order in which they were printed.
    pub(super) fn read(&self, text: &str) -> Result<Vec<TaskId>, IdsError> {
        let mut ids = Vec::new();
        let mut seen = BTreeSet::new();
        let mut repeated = BTreeSet::new();
        for candidate in self.candidates(text)? {
            let Some(id) = self.id_in(&candidate) else { continue };
            if id.starts_with('-') {
                return Err(IdsError::Option { id });
            }
            let id = TaskId::try_from(id)?;
            if seen.insert(id.clone()) {
                ids.push(id);
            } else {
                repeated.insert(id);
            }
        }
        if !repeated.is_empty() {
            let shown = repeated.iter().take(SHOWN).map(|id| format!("`{}`", excerpt(id.as_str())));
            return Err(IdsError::Repeated { count: repeated.len(), ids: shown.collect() });
        }
        if ids.is_empty() { Err(IdsError::None) } else { Ok(ids) }
    }

    fn candidates(&self, text: &str) -> Result<Vec<String>, IdsError> {
        match self.format {
            IdFormat::Lines => Ok(uncoloured(text).lines().map(|line| line.trim_end().to_owned()).collect()),
            IdFormat::Json => {
                let document: Value = serde_json::from_str(text).map_err(IdsError::Json)?;
                let mut found = Vec::new();
                for pointer in &self.pointers {
                    let path: Vec<&str> = pointer.split('/').skip(1).collect();
                    self.walk(&document, &path, &mut Vec::new(), &mut found);
                }
                Ok(found)
            }
            // Other lines are what the tool says beside it.
            IdFormat::JsonLines => Ok(text
                .lines()
                .filter_map(|line| self.of_object(&serde_json::from_str(line).ok()?))
                .collect()),
        }
    }

    /// Follows a pointer in which `*` stands for every key or place. Keys, and a text at the end, are parts of the id.
    fn walk<'v>(&self, value: &'v Value, path: &[&str], parts: &mut Vec<&'v str>, found: &mut Vec<String>) {
        let Some((step, rest)) = path.split_first() else {
            if self.holds(value) {
                let end = value.as_str();
                found.push(parts.iter().copied().chain(end).collect::<Vec<_>>().join(" "));
            }
            return;
        };
        match value {
            Value::Object(map) if *step == "*" => {
                for (key, inner) in map {
                    parts.push(key);
                    self.walk(inner, rest, parts, found);
                    parts.pop();
                }
            }
            Value::Array(items) if *step == "*" => {
                items.iter().for_each(|inner| self.walk(inner, rest, parts, found));
            }
            other => {
                if let Some(inner) = other.pointer(&format!("/{step}")) {
                    self.walk(inner, rest, parts, found);
                }
            }
        }
    }

    fn of_object(&self, object: &Value) -> Option<String> {
        if !self.holds(object) {
            return None;
        }
        let part = |pointer: &String| object.pointer(pointer).and_then(Value::as_str).map(str::trim);
        let parts: Option<Vec<&str>> = self.pointers.iter().map(part).collect();
        Some(parts?.join(" "))
    }

    fn holds(&self, value: &Value) -> bool {
        self.conditions
            .iter()
            .all(|(pointer, text)| value.pointer(pointer).and_then(Value::as_str) == Some(text.as_str()))
    }

    fn id_in(&self, candidate: &str) -> Option<String> {
        if candidate.trim().is_empty() {
            return None;
        }
        let Some(pattern) = &self.pattern else { return Some(candidate.to_owned()) };
        let found = pattern.captures(candidate)?;
        let id = found.name("id").or_else(|| found.get(0))?;
        Some(id.as_str().to_owned())
    }
}
