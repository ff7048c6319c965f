//! `--sort "state desc, name"`: ordering records the same way every time.
//!
//! The caller gives the last tie-break, so that equal records never depend on the order they arrived in.

use std::cmp::{Ordering, Reverse};

use serde_json::Value;
use thiserror::Error;

use crate::catalog::{Catalog, FieldKind};
use crate::field_set::FieldSet;
use crate::json::cell_text;
use crate::path::{FieldError, FieldPath};

/// A sort order that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SortError {
    /// Nothing between two commas, or nothing at all.
    #[error("invalid sort order `{order}`: a field is missing")]
    Empty {
        /// The whole order as written.
        order: String,
    },
    /// A word after the field that is no direction.
    #[error("invalid sort order: `{word}` after `{field}` is neither `asc` nor `desc`")]
    Direction {
        /// The field before it.
        field: String,
        /// The word as written.
        word: String,
    },
    /// A field that cannot be sorted by.
    #[error("invalid sort order `{order}`")]
    Field {
        /// The whole order as written.
        order: String,
        /// What is wrong with the field.
        source: FieldError,
    },
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortDirection {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// One field to sort by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    /// The field.
    pub path: FieldPath,
    /// Which end comes first. Records without a value come last either way.
    pub direction: SortDirection,
}

/// Fields to sort by, the most important first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortSpec {
    keys: Vec<SortKey>,
}

impl SortSpec {
    /// Reads `field [asc|desc], ...`.
    pub fn parse(order: &str, catalog: &Catalog) -> Result<Self, SortError> {
        let keys = order.split(',').map(|part| parse_key(part, order, catalog)).collect::<Result<_, _>>()?;
        Ok(Self { keys })
    }

    /// The fields sorted by, the most important first.
    pub fn keys(&self) -> &[SortKey] {
        &self.keys
    }

    /// The fields the order reads.
    pub fn wanted(&self) -> FieldSet {
        self.keys.iter().map(|key| key.path.wanted()).collect()
    }

    /// Sorts items by their records; `tie` orders those that are equal in every key.
    pub fn sort<T>(&self, items: &mut [T], record: impl Fn(&T) -> &Value, tie: impl Fn(&T, &T) -> Ordering) {
        items.sort_by(tie);
        // Both sorts are stable, so the order of the first survives among equals of the second.
        items.sort_by_cached_key(|item| self.rank(record(item)));
    }

    fn rank(&self, record: &Value) -> Vec<Rank> {
        self.keys.iter().map(|key| rank(key, record)).collect()
    }
}

fn parse_key(part: &str, order: &str, catalog: &Catalog) -> Result<SortKey, SortError> {
    let mut words = part.split_whitespace();
    let field = words.next().ok_or_else(|| SortError::Empty { order: order.to_owned() })?;
    let bad = |word: &str| SortError::Direction { field: field.to_owned(), word: word.to_owned() };
    let direction = match words.next() {
        None => SortDirection::Ascending,
        Some(word) if word.eq_ignore_ascii_case("asc") => SortDirection::Ascending,
        Some(word) if word.eq_ignore_ascii_case("desc") => SortDirection::Descending,
        Some(word) => return Err(bad(word)),
    };
    if let Some(word) = words.next() {
        return Err(bad(word));
    }
    let path = FieldPath::parse(field, catalog)
        .map_err(|source| SortError::Field { order: order.to_owned(), source })?;
    Ok(SortKey { path, direction })
}

/// Where a record stands by one key. The order of the variants puts missing values last in both directions.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Up(Comparable),
    Down(Reverse<Comparable>),
    Missing,
}

/// A value that can be compared with any other; kinds that should not meet are kept apart.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Comparable {
    Bool(bool),
    Number(Number),
    Time(jiff::Timestamp),
    Text(String),
}

fn rank(key: &SortKey, record: &Value) -> Rank {
    let Some(value) = key.path.get(record) else { return Rank::Missing };
    let comparable = match value.as_ref() {
        Value::Bool(truth) => Comparable::Bool(*truth),
        Value::Number(number) => Comparable::Number(Number(number.clone())),
        Value::String(text) if key.path.kind() == FieldKind::Time => {
            text.parse().map_or_else(|_| Comparable::Text(text.clone()), Comparable::Time)
        }
        Value::String(text) => Comparable::Text(text.clone()),
        other => Comparable::Text(cell_text(other)),
    };
    match key.direction {
        SortDirection::Ascending => Rank::Up(comparable),
        SortDirection::Descending => Rank::Down(Reverse(comparable)),
    }
}

/// A JSON number with a total order: exact between whole numbers, by size otherwise.
struct Number(serde_json::Number);

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let whole = |number: &serde_json::Number| {
            number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
        };
        let float = |number: &serde_json::Number| number.as_f64().unwrap_or(f64::NAN);
        match (whole(&self.0), whole(&other.0)) {
            (Some(mine), Some(theirs)) => mine.cmp(&theirs),
            _ => float(&self.0).total_cmp(&float(&other.0)),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sorted(order: &str, mut records: Vec<Value>) -> Vec<String> {
        let spec = SortSpec::parse(order, &Catalog::agents()).unwrap();
        spec.sort(&mut records, |record| record, |a, b| a["id"].as_str().cmp(&b["id"].as_str()));
        records.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn keys_apply_in_order_with_their_direction() {
        let records = vec![
            json!({"id": "1", "state": "DONE", "pid": 9}),
            json!({"id": "2", "state": "RUNNING", "pid": 10}),
            json!({"id": "3", "state": "DONE", "pid": 100}),
        ];
        assert_eq!(sorted("state desc, pid", records.clone()), ["2", "1", "3"]);
        assert_eq!(sorted("pid DESC", records), ["3", "2", "1"]);
    }

    #[test]
    fn missing_values_come_last_in_both_directions() {
        let records = vec![json!({"id": "1", "pid": null}), json!({"id": "2", "pid": 1}), json!({"id": "3"})];
        assert_eq!(sorted("pid asc", records.clone()), ["2", "1", "3"]);
        assert_eq!(sorted("pid desc", records), ["2", "1", "3"]);
    }

    #[test]
    fn times_compare_as_times_not_as_text() {
        let records = vec![
            json!({"id": "1", "create_time": "2026-01-01T00:00:00Z"}),
            json!({"id": "2", "create_time": "2026-01-01T00:00:00.5Z"}),
            json!({"id": "3", "create_time": "2026-01-01T00:30:00+01:00"}),
        ];
        assert_eq!(sorted("create_time", records), ["3", "1", "2"]);
    }

    #[test]
    fn bad_orders_are_named() {
        let error = |order| SortSpec::parse(order, &Catalog::agents()).unwrap_err().to_string();
        assert_eq!(error("nmae desc"), "invalid sort order `nmae desc`");
        assert_eq!(error("name up"), "invalid sort order: `up` after `name` is neither `asc` nor `desc`");
        assert_eq!(error("name asc x"), "invalid sort order: `x` after `name` is neither `asc` nor `desc`");
        assert_eq!(error("name,,pid"), "invalid sort order `name,,pid`: a field is missing");
    }

    proptest! {
        #[test]
        fn the_order_does_not_depend_on_arrival(
            values in prop::collection::vec(prop::option::of(-3i64..3), 0..12),
            seed in any::<u64>(),
        ) {
            let records: Vec<Value> =
                values.iter().enumerate().map(|(id, pid)| json!({"id": format!("{id:02}"), "pid": pid})).collect();
            let mut shuffled = records.clone();
            shuffled.sort_by_key(|record| record["id"].as_str().map(|id| {
                id.bytes().fold(seed, |hash, byte| hash.rotate_left(7) ^ u64::from(byte)).wrapping_mul(0x9e37_79b9)
            }));
            prop_assert_eq!(sorted("pid desc", records), sorted("pid desc", shuffled));
        }
    }
}
