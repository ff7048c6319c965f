//! The handling of a TOML document that keeps what the user wrote: which spelling a key has, where a new one goes.

use toml::Value;
use toml_edit::{Array, InlineTable, Item, RawString, Table, TableLike};

use crate::key::KeyPath;
use crate::kind::Kind;
use crate::schema;
use crate::tree::Op;

/// Something in the file that is not what an edit needs.
pub(super) struct Obstacle {
    pub(super) key: KeyPath,
    pub(super) expected: &'static str,
}

/// A key's one spelling and its operator. In a table of `kind` whose names are the user's own, a name is just itself.
pub(super) fn normal(key: &str, kind: Kind) -> (String, Option<Op>) {
    let (name, op) = match kind {
        Kind::Table(_) | Kind::Map(Kind::List(_)) => Op::split(key),
        _ => (key, None),
    };
    let name = if matches!(kind, Kind::Table(_)) { name.replace('-', "_") } else { name.to_owned() };
    (name, op)
}

/// How the file spells the key called `name`, whatever its operator.
pub(super) fn spelling_of(table: &dyn TableLike, name: &str, kind: Kind) -> Option<String> {
    if table.contains_key(name) {
        return Some(name.to_owned());
    }
    spellings_of(table, name, kind).into_iter().next()
}

/// Every spelling of `wanted` in the file; only those with its operator, when it has one.
pub(super) fn spellings_of(table: &dyn TableLike, wanted: &str, kind: Kind) -> Vec<String> {
    let (wanted_name, wanted_op) = normal(wanted, kind);
    table
        .iter()
        .filter(|(key, _)| {
            let (name, op) = normal(key, kind);
            name == wanted_name && (wanted_op.is_none() || wanted_op == op)
        })
        .map(|(key, _)| key.to_owned())
        .collect()
}

/// Removes the tables along this path that hold nothing any more, unless somebody wrote a comment above them.
pub(super) fn prune(table: &mut dyn TableLike, path: &[String]) {
    let Some((first, rest)) = path.split_first() else { return };
    let Some(below) = table.get_mut(first) else { return };
    if let Some(below) = below.as_table_like_mut() {
        prune(below, rest);
    }
    let has_comment = below.as_table().and_then(|table| table.decor().prefix()).and_then(RawString::as_str);
    let is_empty = below.as_table_like().is_some_and(TableLike::is_empty);
    if is_empty && has_comment.is_none_or(|prefix| prefix.trim().is_empty()) {
        table.remove(first);
    }
}

/// Writes one key, making the tables above it as needed.
pub(super) fn write(root: &mut Table, key: &KeyPath, op: Op, value: &Value) -> Result<(), Obstacle> {
    let Some((last, parents)) = key.segments().split_last() else { return Ok(()) };
    let mut kind = schema::ROOT;
    let mut path = KeyPath::default();
    let mut table: &mut dyn TableLike = root;
    for (depth, segment) in parents.iter().enumerate() {
        let spelled = spelling_of(table, segment, kind).unwrap_or_else(|| segment.clone());
        path = path.child(segment);
        kind = kind.below(segment).unwrap_or(Kind::Any);
        let is_last_table = depth + 1 == parents.len();
        let fresh = new_table(table.is_dotted(), is_last_table);
        table = table
            .entry(&spelled)
            .or_insert(fresh)
            .as_table_like_mut()
            .ok_or_else(|| Obstacle { key: path.clone(), expected: "a table" })?;
    }

    let mut spellings = spellings_of(table, last, kind);
    if op == Op::Extend {
        let Some(spelled) = spellings.into_iter().next() else {
            insert(table, &format!("{last}{}", op.suffix()), value);
            return Ok(());
        };
        let is_extended = table.get_mut(&spelled).is_some_and(|held| extend(held, value));
        return if is_extended {
            Ok(())
        } else {
            Err(Obstacle { key: key.clone(), expected: "a list or table" })
        };
    }

    let written_op = if op == Op::Replace { Some(op) } else { None };
    let kept = spellings.iter().position(|spelled| normal(spelled, kind).1 == written_op);
    let target = match kept {
        Some(index) => spellings.remove(index),
        None => format!("{last}{}", op.suffix()),
    };
    for other in spellings {
        table.remove(&other);
    }
    replace(table, &target, value);
    Ok(())
}

/// A table for keys to come: a header of its own only if keys go right into it, dotted if its parent is.
fn new_table(is_parent_dotted: bool, is_last: bool) -> Item {
    let mut table = Table::new();
    table.set_implicit(!is_last);
    table.set_dotted(is_parent_dotted);
    Item::Table(table)
}

/// Puts a value in place of another and keeps the comments around it.
fn replace(table: &mut dyn TableLike, key: &str, value: &Value) {
    match table.get_mut(key) {
        Some(Item::Value(held)) => {
            let decor = held.decor().clone();
            *held = to_edit(value);
            *held.decor_mut() = decor;
        }
        _ => insert(table, key, value),
    }
}

fn insert(table: &mut dyn TableLike, key: &str, value: &Value) {
    // In `{ a = 1 }` the space before the brace belongs to the last value, which will not be the last any more.
    if let Some((_, Item::Value(last))) = table.iter_mut().last() {
        let suffix = text(last.decor().suffix());
        if suffix.trim().is_empty() {
            last.decor_mut().set_suffix("");
        }
    }
    table.insert(key, Item::Value(to_edit(value)));
}

/// Adds `value` to what is held; false when that cannot grow.
fn extend(held: &mut Item, value: &Value) -> bool {
    match value {
        Value::Array(items) => match held.as_array_mut() {
            Some(array) => {
                items.iter().for_each(|item| push(array, to_edit(item)));
                true
            }
            None => false,
        },
        Value::Table(fields) => match held.as_table_like_mut() {
            Some(table) => {
                for (name, field) in fields {
                    let is_grown = table.get_mut(name).is_some_and(|held| extend(held, field));
                    if !is_grown {
                        replace(table, name, field);
                    }
                }
                true
            }
            None => false,
        },
        Value::String(text) => match held {
            Item::Value(toml_edit::Value::Array(array)) => {
                push(array, text.as_str().into());
                true
            }
            Item::Value(toml_edit::Value::String(line)) => {
                let joined = format!("{} {text}", line.value());
                let decor = line.decor().clone();
                *line = toml_edit::Formatted::new(joined.trim().to_owned());
                *line.decor_mut() = decor;
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// Appends in the style of the last item, so that a list with one item per line stays one.
fn push(array: &mut Array, mut value: toml_edit::Value) {
    let count = array.len();
    let Some(last) = count.checked_sub(1).and_then(|index| array.get_mut(index)) else {
        array.push(value);
        return;
    };
    let prefix = text(last.decor().prefix());
    let suffix = text(last.decor().suffix());
    last.decor_mut().set_suffix("");
    // The first item usually has no space before it; a following one wants some. Comments stay where they were.
    let indent = match prefix.rfind('\n') {
        Some(newline) => prefix[newline..].to_owned(),
        None => " ".to_owned(),
    };
    value.decor_mut().set_prefix(indent);
    value.decor_mut().set_suffix(suffix);
    array.push_formatted(value);
}

fn text(raw: Option<&RawString>) -> String {
    raw.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

fn to_edit(value: &Value) -> toml_edit::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        Value::Datetime(date) => (*date).into(),
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(to_edit).collect::<Array>()),
        Value::Table(table) => toml_edit::Value::InlineTable(
            table.iter().map(|(key, value)| (key.as_str(), to_edit(value))).collect::<InlineTable>(),
        ),
    }
}
