//! Lays one layer over another.
//!
//! Tables of settings and registries merge key by key. A plain `key = v` replaces what is below, but a list or
//! map may not lose entries that way (the narrowing guard): `key__extend` adds to it, `key__assign` replaces it.
//! Merging never mixes types: a key keeps the kind its schema gives it.

use toml::Value;

use crate::key::KeyPath;
use crate::kind::Kind;
use crate::origin::{LayerKind, Origin, Place};
use crate::schema;
use crate::tree::{Entry, Item, Op, Tree};

/// Whether a plain `key = v` may drop entries of a lower layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrowing {
    /// It is an error.
    Refuse,
    /// It replaces like `key__assign`.
    Allow,
}

/// Why two layers do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A plain assignment would lose entries.
    #[error(
        "`{key}` at {upper} drops {dropped} of the entries set at {lower}; write `{key}__extend` to add to them \
         or `{key}__assign` to replace them"
    )]
    Narrowing {
        /// The key.
        key: KeyPath,
        /// Where the entries are that would be lost.
        lower: Origin,
        /// Where the assignment is.
        upper: Origin,
        /// How many entries would be lost.
        dropped: usize,
    },
    /// `__extend` over a value of another form.
    #[error(
        "`{key}__extend` at {upper} cannot extend the value set at {lower}: one is a list, the other is not"
    )]
    CannotExtend {
        /// The key.
        key: KeyPath,
        /// Where the value below is.
        lower: Origin,
        /// Where the extension is.
        upper: Origin,
    },
}

/// Lays `upper` over `lower`.
pub(crate) fn merge(lower: &mut Tree, upper: Tree, narrowing: Narrowing) -> Result<(), MergeError> {
    Merger { narrowing }.tables(lower, upper, schema::ROOT, &KeyPath::default(), Op::Assign)
}

struct Merger {
    narrowing: Narrowing,
}

impl Merger {
    /// Merges key by key. A plain key below an `__extend` extends too, so that extending never loses anything.
    fn tables(
        &self,
        lower: &mut Tree,
        upper: Tree,
        kind: Kind,
        path: &KeyPath,
        inherited: Op,
    ) -> Result<(), MergeError> {
        for (name, mut entry) in upper {
            let kind = kind.below(&name).unwrap_or(Kind::Any);
            if entry.op == Op::Assign {
                entry.op = inherited;
            }
            let Some(below) = lower.get_mut(&name) else {
                lower.insert(name, entry.settled());
                continue;
            };
            self.entry(below, entry, kind, &path.child(&name))?;
        }
        Ok(())
    }

    fn entry(&self, lower: &mut Entry, upper: Entry, kind: Kind, key: &KeyPath) -> Result<(), MergeError> {
        if let Item::Table(below) = &mut lower.item
            && let Item::Table(above) = upper.item
        {
            let inherited = match upper.op {
                _ if kind.is_structure() => Op::Assign,
                Op::Extend => Op::Extend,
                Op::Descend => Op::Assign,
                Op::Assign | Op::Replace => {
                    let upper = Entry { item: Item::Table(above), ..upper };
                    return self.replace(lower, upper, key);
                }
            };
            lower.origins = upper.origins;
            return self.tables(below, above, kind, key, inherited);
        }
        match (upper.op, &mut lower.item, &upper.item) {
            (Op::Extend, Item::Leaf(below), Item::Leaf(above)) => match extend(below, above, kind) {
                Extended::Joined(value) => {
                    lower.item = Item::Leaf(value);
                    lower.origins.extend(upper.origins);
                    Ok(())
                }
                // Reached below an extended table only: a plain value there is simply set.
                Extended::Scalar => self.replace(lower, upper, key),
                Extended::Mixed => Err(cannot_extend(lower, &upper, key)),
            },
            (Op::Extend, ..) => Err(cannot_extend(lower, &upper, key)),
            _ if matches!(kind, Kind::Patch) => {
                *lower = upper.settled();
                Ok(())
            }
            _ => self.replace(lower, upper, key),
        }
    }

    fn replace(&self, lower: &mut Entry, upper: Entry, key: &KeyPath) -> Result<(), MergeError> {
        let is_guarded = upper.op != Op::Replace && self.narrowing == Narrowing::Refuse;
        let dropped = if is_guarded { dropped(&lower.item.to_value(), &upper.item.to_value()) } else { 0 };
        if dropped > 0
            && let (Some(below), Some(above)) = (lower.origins.last(), upper.origins.last())
        {
            let (lower, upper) = (below.clone(), above.clone());
            return Err(MergeError::Narrowing { key: key.clone(), lower, upper, dropped });
        }
        *lower = upper.settled();
        Ok(())
    }
}

fn cannot_extend(lower: &Entry, upper: &Entry, key: &KeyPath) -> MergeError {
    let last = |entry: &Entry| {
        entry.origins.last().cloned().unwrap_or(Origin { layer: LayerKind::Default, place: Place::BuiltIn })
    };
    MergeError::CannotExtend { key: key.clone(), lower: last(lower), upper: last(upper) }
}

enum Extended {
    Joined(Value),
    Scalar,
    Mixed,
}

fn extend(below: &Value, above: &Value, kind: Kind) -> Extended {
    match (below, above) {
        (Value::Array(below), Value::Array(above)) => {
            Extended::Joined(Value::Array(below.iter().chain(above).cloned().collect()))
        }
        // A verb's list option may be written as one plain word.
        (Value::Array(below), word @ Value::String(_)) if matches!(kind, Kind::Any) => {
            Extended::Joined(Value::Array(below.iter().chain([word]).cloned().collect()))
        }
        (Value::String(below), Value::String(above)) if matches!(kind, Kind::TextOrList) => {
            Extended::Joined(Value::String(format!("{below} {above}").trim().to_owned()))
        }
        (Value::Array(_), _) | (_, Value::Array(_)) => Extended::Mixed,
        _ => Extended::Scalar,
    }
}

/// How many entries of `below` are not in `above`.
fn dropped(below: &Value, above: &Value) -> usize {
    match (below, above) {
        (Value::Array(below), Value::Array(above)) => {
            below.iter().filter(|item| !above.contains(item)).count()
        }
        (Value::Table(below), Value::Table(above)) => below
            .iter()
            .map(|(name, value)| above.get(name).map_or(1, |replacement| dropped(value, replacement)))
            .sum(),
        // The documented way to clear a list option of a verb.
        (_, Value::String(text)) if text.is_empty() => 0,
        (Value::Array(below), word) => below.iter().filter(|item| *item != word).count(),
        (Value::Table(below), _) => below.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
