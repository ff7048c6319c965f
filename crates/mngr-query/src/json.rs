//! `--fields a,b.c`: a record reduced to some of its fields, and values as plain text.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::catalog::Catalog;
use crate::field_set::FieldSet;
use crate::path::{FieldError, FieldPath};

/// A list of fields that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProjectionError {
    /// Nothing between two commas, or nothing at all.
    #[error("invalid field list `{list}`: a field is missing")]
    Empty {
        /// The whole list as written.
        list: String,
    },
    /// A field that cannot be shown.
    #[error("invalid field list `{list}`")]
    Field {
        /// The whole list as written.
        list: String,
        /// What is wrong with the field.
        source: FieldError,
    },
}

/// The fields of a view, in the order they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    paths: Vec<FieldPath>,
}

impl Projection {
    /// Reads field paths separated by commas.
    pub fn parse(list: &str, catalog: &Catalog) -> Result<Self, ProjectionError> {
        let empty = || ProjectionError::Empty { list: list.to_owned() };
        let path = |part: &str| match part.trim() {
            "" => Err(empty()),
            field => FieldPath::parse(field, catalog)
                .map_err(|source| ProjectionError::Field { list: list.to_owned(), source }),
        };
        Ok(Self { paths: list.split(',').map(path).collect::<Result<_, _>>()? })
    }

    /// The fields, in the order they are shown.
    pub fn paths(&self) -> &[FieldPath] {
        &self.paths
    }

    /// The fields the view reads.
    pub fn wanted(&self) -> FieldSet {
        self.paths.iter().map(FieldPath::wanted).collect()
    }

    /// The record with only these fields, at the same places; a missing value is null. A path with an index has no
    /// place of its own, so its text is its key.
    pub fn apply(&self, record: &Value) -> Value {
        let mut reduced = Map::new();
        for path in &self.paths {
            let value = path.get(record).map_or(Value::Null, |value| value.into_owned());
            match path.written_keys() {
                Some(keys) => insert_at(&mut reduced, &keys, value),
                None => insert_at(&mut reduced, &[path.as_str()], value),
            }
        }
        Value::Object(reduced)
    }

    /// The fields' values as text, one per field.
    pub fn cells(&self, record: &Value) -> Vec<String> {
        self.paths
            .iter()
            .map(|path| path.get(record).map(|value| cell_text(&value)).unwrap_or_default())
            .collect()
    }
}

fn insert_at(map: &mut Map<String, Value>, keys: &[&str], value: Value) {
    let Some((first, rest)) = keys.split_first() else { return };
    if rest.is_empty() {
        map.insert((*first).to_owned(), value);
        return;
    }
    let inner = map.entry(*first).or_insert_with(|| Value::Object(Map::new()));
    if !inner.is_object() {
        *inner = Value::Object(Map::new());
    }
    if let Value::Object(inner) = inner {
        insert_at(inner, rest, value);
    }
}

/// A value as plain text: strings bare, nothing for null, lists separated by commas, maps as `key=value`. What is
/// nested deeper is JSON.
pub fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => items.iter().map(item_text).collect::<Vec<_>>().join(","),
        Value::Object(map) => {
            let pair = |(key, value)| format!("{key}={}", item_text(value));
            map.iter().map(pair).collect::<Vec<_>>().join(",")
        }
    }
}

fn item_text(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => value.to_string(),
        scalar => cell_text(scalar),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record() -> Value {
        json!({
            "name": "a", "pid": 7, "start_on_boot": true, "labels": {"x": "1", "y": "2"},
            "host": {"name": "h", "state": "RUNNING", "provider_name": "local", "snapshots": [{"id": "s"}]},
            "activity_sources": ["A", "B"],
        })
    }

    fn project(list: &str) -> Value {
        Projection::parse(list, &Catalog::agents()).unwrap().apply(&record())
    }

    #[test]
    fn fields_keep_their_place_and_missing_ones_are_null() {
        assert_eq!(
            project("name, host.name,host.provider,url"),
            json!({"name": "a", "host": {"name": "h", "provider": "local"}, "url": null})
        );
        assert_eq!(project("activity_sources[-1]"), json!({"activity_sources[-1]": "B"}));
        assert_eq!(project("labels.nope.deep"), json!({"labels": {"nope": {"deep": null}}}));
        assert_eq!(project("url,name"), json!({"url": null, "name": "a"}));
    }

    #[test]
    fn a_field_and_its_parent_do_not_get_in_each_others_way() {
        assert_eq!(project("host.name,host")["host"], record()["host"]);
        assert_eq!(project("host,host.provider")["host"]["state"], "RUNNING");
    }

    #[test]
    fn values_read_as_plain_text() {
        let projection = Projection::parse(
            "name,pid,start_on_boot,url,activity_sources,labels,host.snapshots",
            &Catalog::agents(),
        )
        .unwrap();
        assert_eq!(projection.cells(&record()), ["a", "7", "true", "", "A,B", "x=1,y=2", r#"{"id":"s"}"#]);
    }

    #[test]
    fn bad_lists_are_named() {
        let error = |list| Projection::parse(list, &Catalog::agents()).unwrap_err().to_string();
        assert_eq!(error("nmae"), "invalid field list `nmae`");
        assert_eq!(error("name,"), "invalid field list `name,`: a field is missing");
        assert_eq!(error(""), "invalid field list ``: a field is missing");
    }

    #[test]
    fn only_the_listed_fields_are_wanted() {
        let projection = Projection::parse("name,host.provider,age", &Catalog::agents()).unwrap();
        assert_eq!(projection.wanted().paths().collect::<Vec<_>>(), ["age", "host.provider_name", "name"]);
    }
}
