//! A checked path to a value inside a record: `name`, `host.state`, `labels[a.b]`, `activity_sources[-1]`.

use std::borrow::Cow;

use serde_json::Value;
use thiserror::Error;

use crate::catalog::{Catalog, FieldKind};

/// A field path that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FieldError {
    /// No such field.
    #[error("unknown field `{field}`{}", did_you_mean(.suggestion))]
    Unknown {
        /// The path as written.
        field: String,
        /// The listed path most like it.
        suggestion: Option<String>,
    },
    /// A part was asked of a value that has none.
    #[error("field `{field}` is a {kind} and has no part `{part}`")]
    NoParts {
        /// The listed field.
        field: String,
        /// The part that was asked for.
        part: String,
        /// The field's kind.
        kind: &'static str,
    },
    /// The text is no path at all.
    #[error("`{path}` is not a field path")]
    Syntax {
        /// The text as written.
        path: String,
    },
}

/// The end of a message that suggests a better name, if there is one.
pub(crate) fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(i64),
    Slice { from: Option<i64>, to: Option<i64> },
}

/// A path to a value inside a record, checked against a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    text: String,
    /// What the user wrote; the shape of projected JSON follows it.
    written: Vec<Step>,
    /// What is read, with other names replaced by the stored ones.
    stored: Vec<Step>,
    kind: FieldKind,
}

impl FieldPath {
    /// Reads a path: names joined by dots, each followed by any number of `[key]`, `[0]`, `[-1]`, and at the very
    /// end perhaps a slice such as `[:3]`.
    pub fn parse(text: &str, catalog: &Catalog) -> Result<Self, FieldError> {
        let steps = split(text).ok_or_else(|| FieldError::Syntax { path: text.to_owned() })?;
        Self::checked(text.to_owned(), steps, catalog)
    }

    /// A path of plain keys, which may contain any character.
    pub(crate) fn from_keys(keys: &[&str], catalog: &Catalog) -> Result<Self, FieldError> {
        let steps = keys.iter().map(|key| Step::Key((*key).to_owned())).collect();
        Self::checked(keys.join("."), steps, catalog)
    }

    fn checked(text: String, written: Vec<Step>, catalog: &Catalog) -> Result<Self, FieldError> {
        let keys: Vec<&str> = leading_keys(&written).collect();
        let known = catalog.check(&keys)?;
        let beyond_keys = &written[keys.len()..];
        if let Some(step) = beyond_keys.first()
            && known.covered == keys.len()
            && !matches!(known.field.kind, FieldKind::List | FieldKind::Map | FieldKind::Any)
        {
            return Err(FieldError::NoParts {
                field: known.field.path.to_string(),
                part: bracketed(step),
                kind: known.field.kind.name(),
            });
        }
        let kind = match written.last() {
            Some(Step::Slice { .. }) => FieldKind::List,
            _ if known.covered == written.len() => known.field.kind,
            _ => FieldKind::Any,
        };
        let stored = match known.field.reads {
            None => written.clone(),
            Some(reads) => reads
                .split('.')
                .map(|key| Step::Key(key.to_owned()))
                .chain(written[known.covered..].iter().cloned())
                .collect(),
        };
        Ok(Self { text, written, stored, kind })
    }

    /// The path as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The kind of the value it leads to.
    pub fn kind(&self) -> FieldKind {
        self.kind
    }

    /// The stored path a caller must build for this one to have a value.
    pub fn wanted(&self) -> String {
        leading_keys(&self.stored).collect::<Vec<_>>().join(".")
    }

    /// The value in a record. Null counts as no value.
    pub fn get<'r>(&self, record: &'r Value) -> Option<Cow<'r, Value>> {
        let (last, before) = self.stored.split_last()?;
        let Step::Slice { from, to } = last else {
            return self.get_ref(record).map(Cow::Borrowed);
        };
        let list = follow(record, before)?.as_array()?;
        let (from, to) = slice_bounds(*from, *to, list.len());
        Some(Cow::Owned(Value::Array(list.get(from..to).unwrap_or_default().to_vec())))
    }

    /// The value in a record, borrowed; a slice has none.
    pub(crate) fn get_ref<'r>(&self, record: &'r Value) -> Option<&'r Value> {
        follow(record, &self.stored).filter(|value| !value.is_null())
    }

    /// The keys as written, if the path is nothing but keys.
    pub(crate) fn written_keys(&self) -> Option<Vec<&str>> {
        let keys: Vec<&str> = leading_keys(&self.written).collect();
        (keys.len() == self.written.len()).then_some(keys)
    }
}

fn leading_keys(steps: &[Step]) -> impl Iterator<Item = &str> {
    steps.iter().map_while(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) | Step::Slice { .. } => None,
    })
}

fn bracketed(step: &Step) -> String {
    let bound = |at: &Option<i64>| at.map(|at| at.to_string()).unwrap_or_default();
    match step {
        Step::Key(key) => key.clone(),
        Step::Index(index) => format!("[{index}]"),
        Step::Slice { from, to } => format!("[{}:{}]", bound(from), bound(to)),
    }
}

fn follow<'r>(record: &'r Value, steps: &[Step]) -> Option<&'r Value> {
    steps.iter().try_fold(record, |value, step| match (step, value) {
        (Step::Key(key), Value::Object(map)) => map.get(key),
        (Step::Index(index), Value::Array(list)) => list.get(from_either_end(*index, list.len())?),
        (Step::Index(index), Value::Object(map)) => map.get(&index.to_string()),
        _ => None,
    })
}

fn from_either_end(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

fn slice_bounds(from: Option<i64>, to: Option<i64>, length: usize) -> (usize, usize) {
    let clamp = |at: i64| from_either_end(at, length).unwrap_or(0).min(length);
    let from = from.map_or(0, clamp);
    (from, to.map_or(length, clamp).max(from))
}

fn split(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(['.', '[', ']']).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        if key.is_empty() || key.chars().any(char::is_whitespace) {
            return None;
        }
        steps.push(Step::Key(key.to_owned()));
        rest = after;
        while let Some(inside) = rest.strip_prefix('[') {
            let (subscript, after) = inside.split_once(']')?;
            steps.push(subscript_step(subscript)?);
            rest = after;
        }
        if rest.is_empty() {
            break;
        }
        rest = rest.strip_prefix('.')?;
    }
    let slice_before_end = steps.iter().rev().skip(1).any(|step| matches!(step, Step::Slice { .. }));
    (!slice_before_end).then_some(steps)
}

fn subscript_step(subscript: &str) -> Option<Step> {
    let bound = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    if let Ok(index) = subscript.parse() {
        return Some(Step::Index(index));
    }
    if let Some((from, to)) = subscript.split_once(':')
        && let (Some(from), Some(to)) = (bound(from), bound(to))
    {
        return Some(Step::Slice { from, to });
    }
    (!subscript.is_empty()).then(|| Step::Key(subscript.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn get(path: &str) -> Option<Value> {
        let record = json!({
            "name": "a", "url": null, "runtime_seconds": 3,
            "labels": {"a.b": "dotted", "project": "p", "0": "zero"},
            "activity_sources": ["one", "two", "three"],
            "host": {"provider_name": "local", "snapshots": [{"id": "s1"}]},
        });
        FieldPath::parse(path, &Catalog::agents()).unwrap().get(&record).map(Cow::into_owned)
    }

    #[test]
    fn paths_lead_to_values() {
        assert_eq!(get("name"), Some(json!("a")));
        assert_eq!(get("labels[a.b]"), Some(json!("dotted")));
        assert_eq!(get("labels[0]"), Some(json!("zero")));
        assert_eq!(get("activity_sources[0]"), Some(json!("one")));
        assert_eq!(get("activity_sources[-1]"), Some(json!("three")));
        assert_eq!(get("activity_sources[:2]"), Some(json!(["one", "two"])));
        assert_eq!(get("activity_sources[-2:]"), Some(json!(["two", "three"])));
        assert_eq!(get("host.snapshots[0].id"), Some(json!("s1")));
    }

    #[test]
    fn null_absent_and_out_of_range_are_no_value() {
        assert_eq!(get("url"), None);
        assert_eq!(get("pid"), None);
        assert_eq!(get("labels.nope"), None);
        assert_eq!(get("activity_sources[3]"), None);
        assert_eq!(get("activity_sources[-4]"), None);
        assert_eq!(get("activity_sources[9:]"), Some(json!([])));
    }

    #[test]
    fn other_names_read_the_stored_field() {
        assert_eq!(get("host.provider"), Some(json!("local")));
        assert_eq!(get("project"), Some(json!("p")));
        assert_eq!(get("runtime"), Some(json!(3)));
        let path = FieldPath::parse("host.provider", &Catalog::agents()).unwrap();
        assert_eq!((path.as_str(), path.wanted().as_str()), ("host.provider", "host.provider_name"));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in
            ["", ".", "name.", ".name", "name..x", "labels[", "labels[]", "a b", "activity_sources[:2].x"]
        {
            assert!(FieldPath::parse(text, &Catalog::agents()).is_err(), "{text:?}");
        }
        let error = FieldPath::parse("name[0]", &Catalog::agents()).unwrap_err();
        assert_eq!(error.to_string(), "field `name` is a string and has no part `[0]`");
    }

    proptest! {
        #[test]
        fn any_text_is_a_path_or_an_error(text in "[a-z.\\[\\]:0-9-]{0,30}|\\PC{0,20}") {
            let catalog = Catalog::of(&["a", "name"]);
            if let Ok(path) = FieldPath::parse(&text, &catalog) {
                path.get(&json!({"a": [1, {"b": 2}], "name": {"x": "y"}}));
            }
        }

        #[test]
        fn slices_never_leave_the_list(from in any::<Option<i64>>(), to in any::<Option<i64>>(), length in 0usize..5) {
            let (from, to) = slice_bounds(from, to, length);
            prop_assert!(from <= to && to <= length);
        }
    }
}
