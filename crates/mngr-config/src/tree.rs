//! Settings as a tree whose every key knows its operator and where it was written.

use std::collections::BTreeMap;
use std::fmt;

use toml::Value;

use crate::key::KeyPath;
use crate::origin::Origin;
use crate::value::type_name;

/// Keys of one table, by name.
pub(crate) type Tree = BTreeMap<String, Entry>;

/// How a key acts on what lower layers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `key = v`: replaces, but may not drop entries.
    Assign,
    /// `key__extend = v`: adds.
    Extend,
    /// `key__assign = v`: replaces, whatever is lost.
    Replace,
    /// A table that is only on the way to the key that was named, as in `-S table.key=v`.
    Descend,
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) op: Op,
    /// Who contributed, lowest layer first; the last one decided. Never empty.
    pub(crate) origins: Vec<Origin>,
    pub(crate) item: Item,
}

/// A table, or anything else.
#[derive(Clone, PartialEq)]
pub(crate) enum Item {
    Leaf(Value),
    Table(Tree),
}

/// One setting that is not a table (an empty table counts too), with its origin.
#[derive(Clone, PartialEq)]
pub struct Leaf {
    /// The full key; in a single layer it still carries `__extend` or `__assign`.
    pub key: KeyPath,
    /// What it is set to.
    pub value: Value,
    /// Who contributed, lowest layer first; the last one decided. Only extended lists have more than one.
    pub origins: Vec<Origin>,
}

impl fmt::Debug for Item {
    /// Shows the keys but no value: it may be a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(value) => f.write_str(type_name(value)),
            Self::Table(tree) => tree.fmt(f),
        }
    }
}

impl fmt::Debug for Leaf {
    /// Shows everything but the value: it may be a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value: _, origins } = self;
        f.debug_struct("Leaf").field("key", key).field("origins", origins).finish_non_exhaustive()
    }
}

impl Op {
    /// Splits `key__extend` into the key and its operator.
    pub(crate) fn split(key: &str) -> (&str, Option<Op>) {
        [Op::Extend, Op::Replace]
            .into_iter()
            .find_map(|op| key.strip_suffix(op.suffix()).map(|name| (name, Some(op))))
            .filter(|(name, _)| !name.is_empty())
            .unwrap_or((key, None))
    }

    /// What the operator adds to a key.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Extend => "__extend",
            Self::Replace => "__assign",
            Self::Assign | Self::Descend => "",
        }
    }
}

impl Item {
    /// The tree of a value all written in one spot.
    pub(crate) fn from_value(value: Value, origin: &Origin) -> Self {
        match value {
            Value::Table(table) => Self::Table(
                table.into_iter().map(|(key, value)| (key, Entry::assign(value, origin))).collect(),
            ),
            leaf => Self::Leaf(leaf),
        }
    }

    /// The plain value, operators and origins forgotten.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Leaf(value) => value.clone(),
            Self::Table(tree) => Value::Table(to_table(tree)),
        }
    }
}

impl Entry {
    /// A plainly assigned value.
    pub(crate) fn assign(value: Value, origin: &Origin) -> Self {
        Self { op: Op::Assign, origins: vec![origin.clone()], item: Item::from_value(value, origin) }
    }

    /// This entry with nothing below it to act upon: every operator has had its effect.
    pub(crate) fn settled(mut self) -> Self {
        self.op = Op::Assign;
        if let Item::Table(tree) = self.item {
            self.item = Item::Table(tree.into_iter().map(|(key, entry)| (key, entry.settled())).collect());
        }
        self
    }
}

/// The plain table of a tree whose operators have all had their effect.
pub(crate) fn to_table(tree: &Tree) -> toml::Table {
    tree.iter().map(|(key, entry)| (key.clone(), entry.item.to_value())).collect()
}

/// The entry at `key`; each segment may be spelled with hyphens for underscores.
pub(crate) fn find<'t>(tree: &'t Tree, key: &KeyPath) -> Option<(KeyPath, &'t Entry)> {
    let (first, rest) = key.segments().split_first()?;
    let mut path = KeyPath::default();
    let mut entry = lookup(tree, first, &mut path)?;
    for segment in rest {
        let Item::Table(tree) = &entry.item else { return None };
        entry = lookup(tree, segment, &mut path)?;
    }
    Some((path, entry))
}

fn lookup<'t>(tree: &'t Tree, segment: &str, path: &mut KeyPath) -> Option<&'t Entry> {
    let (name, entry) =
        tree.get_key_value(segment).or_else(|| tree.get_key_value(&segment.replace('-', "_")))?;
    *path = path.child(name);
    Some(entry)
}

/// Every leaf below `tree`, in key order.
pub(crate) fn leaves(tree: &Tree, path: &KeyPath, found: &mut Vec<Leaf>) {
    for (name, entry) in tree {
        let key = path.child(&format!("{name}{}", entry.op.suffix()));
        match &entry.item {
            Item::Table(below) if !below.is_empty() => leaves(below, &key, found),
            item => found.push(Leaf { key, value: item.to_value(), origins: entry.origins.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_split_off_the_end_of_a_key_only() {
        assert_eq!(Op::split("a__extend"), ("a", Some(Op::Extend)));
        assert_eq!(Op::split("a__assign"), ("a", Some(Op::Replace)));
        assert_eq!(Op::split("a__extend_b"), ("a__extend_b", None));
        assert_eq!(Op::split("__extend"), ("__extend", None));
    }
}
