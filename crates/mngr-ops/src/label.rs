//! `label`: setting and removing an agent's labels and its title. Works on agents that do not run.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use mngr_model::facts::Detail;
use mngr_model::quote::excerpt;
use serde_json::{Map, Value};

use crate::again::{LookError, look_again};
use crate::fleet::Agent;
use crate::record::{self, RecordError};

/// The longest key, in characters.
const MAX_KEY: usize = 128;
/// The longest value, in bytes.
const MAX_VALUE: usize = 4096;

/// The key of a label: not empty, no `=`, no control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelKey(String);

/// A label. The value is carried verbatim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    key: LabelKey,
    value: String,
}

/// The text is not a label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// There is no `=`.
    #[error("`{text}` is not a label, expected KEY=VALUE")]
    NoEqualsSign {
        /// What was given.
        text: String,
    },
    /// The key is empty.
    #[error("the key of a label is empty, expected KEY=VALUE")]
    EmptyKey,
    /// The key is too long.
    #[error("the label key `{key}` has {length} characters, at most {MAX_KEY} are allowed")]
    LongKey {
        /// Its beginning.
        key: String,
        /// Its length.
        length: usize,
    },
    /// The key holds something that would make it ambiguous or unreadable.
    #[error("the label key `{key}` holds `{}`", .character.escape_default())]
    BadKey {
        /// Its beginning.
        key: String,
        /// What.
        character: char,
    },
    /// The value is too long.
    #[error("the value of label `{key}` has {length} bytes, at most {MAX_VALUE} are allowed")]
    LongValue {
        /// The key.
        key: LabelKey,
        /// Its length.
        length: usize,
    },
    /// The value holds a NUL.
    #[error("the value of label `{key}` holds a NUL character")]
    NulInValue {
        /// The key.
        key: LabelKey,
    },
}

impl LabelKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for LabelKey {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let length = text.chars().count();
        if length == 0 {
            return Err(LabelError::EmptyKey);
        }
        if length > MAX_KEY {
            return Err(LabelError::LongKey { key: excerpt(text), length });
        }
        match text.chars().find(|c| c.is_control() || *c == '=') {
            Some(character) => Err(LabelError::BadKey { key: excerpt(text), character }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for LabelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Label {
    /// A label with this value.
    pub fn new(key: LabelKey, value: impl Into<String>) -> Result<Self, LabelError> {
        let value = value.into();
        if value.len() > MAX_VALUE {
            return Err(LabelError::LongValue { key, length: value.len() });
        }
        if value.contains('\0') {
            return Err(LabelError::NulInValue { key });
        }
        Ok(Self { key, value })
    }

    /// Its key.
    pub fn key(&self) -> &LabelKey {
        &self.key
    }

    /// Its value.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl FromStr for Label {
    type Err = LabelError;

    /// Reads `KEY=VALUE`. Everything after the first `=` is the value.
    fn from_str(text: &str) -> Result<Self, LabelError> {
        match text.split_once('=') {
            Some((key, value)) => Self::new(key.parse()?, value),
            None => Err(LabelError::NoEqualsSign { text: excerpt(text) }),
        }
    }
}

/// What an agent is to be called from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewTitle {
    /// So.
    Set(String),
    /// As its program or its first message says.
    Drop,
}

/// What to change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelChanges {
    /// The title, where that changes.
    pub title: Option<NewTitle>,
    /// Labels to set; a later one of the same key wins.
    pub set: Vec<Label>,
    /// Keys to remove. Removing what is not there is no error.
    pub remove: Vec<LabelKey>,
}

impl LabelChanges {
    /// Changes the labels of a record. A key that is both removed and set is set.
    pub(crate) fn apply(&self, record: &mut Map<String, Value>) -> BTreeMap<String, String> {
        match &self.title {
            None => {}
            Some(NewTitle::Set(title)) => drop(record.insert("title".to_owned(), title.as_str().into())),
            Some(NewTitle::Drop) => drop(record.shift_remove("title")),
        }
        let labels = record.entry("labels").or_insert_with(|| Value::Object(Map::new()));
        if !labels.is_object() {
            *labels = Value::Object(Map::new());
        }
        let Some(labels) = labels.as_object_mut() else { return BTreeMap::new() };
        for key in &self.remove {
            labels.shift_remove(key.as_str());
        }
        for label in &self.set {
            labels.insert(label.key().as_str().to_owned(), label.value().into());
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        labels.iter().map(|(key, value)| (key.clone(), text(value))).collect()
    }
}

/// The labels were not changed.
#[derive(Debug, thiserror::Error)]
pub enum RelabelError {
    /// The agent cannot be seen any more.
    #[error("the labels were not changed")]
    Look(#[from] LookError),
    /// Its record could not be changed.
    #[error("the labels were not changed")]
    Record(#[from] RecordError),
}

/// What an agent has after a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relabelled {
    /// All its labels.
    pub labels: BTreeMap<String, String>,
    /// Its title, where somebody has set one.
    pub title: Option<String>,
}

/// Changes an agent's labels and its title, and returns what it has now.
pub fn label(agent: &Agent, changes: &LabelChanges) -> Result<Relabelled, RelabelError> {
    look_again(agent, Detail::Basic)?;
    let mut now = Relabelled::default();
    let layout = agent.host.layout().agent(agent.id());
    record::patch(agent.host.as_ref(), &layout, |record| {
        now.labels = changes.apply(record);
        now.title = record.get("title").and_then(Value::as_str).map(str::to_owned);
    })?;
    Ok(now)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_are_set_and_removed_and_what_else_is_there_stays() {
        let mut record = json!({"name": "a", "labels": {"x": "1", "y": "2"}, "new_field": [1]});
        let changes = LabelChanges {
            title: Some(NewTitle::Set("the door".to_owned())),
            set: vec!["z=3".parse().unwrap(), "y=4".parse().unwrap()],
            remove: vec!["x".parse().unwrap(), "y".parse().unwrap(), "absent".parse().unwrap()],
        };
        let labels = changes.apply(record.as_object_mut().unwrap());
        assert_eq!(labels, BTreeMap::from([("y".into(), "4".into()), ("z".into(), "3".into())]));
        let changed =
            json!({"name": "a", "labels": {"y": "4", "z": "3"}, "new_field": [1], "title": "the door"});
        assert_eq!(record, changed);
        let changes = LabelChanges { title: Some(NewTitle::Drop), ..LabelChanges::default() };
        changes.apply(record.as_object_mut().unwrap());
        assert_eq!(record.get("title"), None);
    }

    #[test]
    fn a_value_is_verbatim_and_a_key_is_readable() {
        let label: Label = "a b=$(id) \"x\"=\n\u{1b}".parse().unwrap();
        assert_eq!((label.key().as_str(), label.value()), ("a b", "$(id) \"x\"=\n\u{1b}"));
        assert_eq!("k=".parse::<Label>().unwrap().value(), "");
    }

    #[test]
    fn what_is_not_a_label_is_named_without_its_control_characters() {
        let error = |text: &str| text.parse::<Label>().unwrap_err().to_string();
        assert!(error("novalue").contains("KEY=VALUE"));
        assert!(error("=x").contains("KEY=VALUE"));
        assert_eq!(error("a\nb=x"), "the label key `a\\nb` holds `\\n`");
        assert!(error(&format!("{}=x", "k".repeat(129))).contains("129 characters"));
        assert!(error(&format!("k={}", "v".repeat(4097))).contains("4097 bytes"));
        assert!(error("k=a\0b").contains("NUL"));
    }
}
