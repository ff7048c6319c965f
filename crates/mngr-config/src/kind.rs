//! What a setting may hold, derived from the Rust type of its field.
//!
//! The kinds are put together by the macros of [`crate::declare`] from the structs in [`crate::keys`]. Nothing in
//! this file may know a key by name.

use std::collections::BTreeMap;

use toml::Value;

use crate::keys::duration::parse_duration;
use crate::value::type_name;

/// The values one setting accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number from 0 to `max`.
    Integer {
        /// The largest accepted value.
        max: i64,
    },
    /// A finite number that is not negative.
    Number,
    /// Any string.
    Text,
    /// A string that passes a rule of its own.
    RuledText(&'static TextRule),
    /// A length of time: `90`, `"90s"`, `"1h30m"`.
    Duration,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A list.
    List(&'static Kind),
    /// A command-line fragment, or the words of one.
    TextOrList,
    /// Names chosen by the user, each with a value of the same kind.
    Map(&'static Kind),
    /// A table with named fields.
    Table(&'static TableShape),
    /// A table of another program's settings; accumulates over layers and is never looked into.
    Patch,
    /// Whatever TOML can hold: the owner of the key checks it.
    Any,
}

/// A rule for a string.
#[derive(Debug)]
pub(crate) struct TextRule {
    /// What passes, as in "expected ...".
    pub(crate) expected: &'static str,
    /// Says why a string does not pass.
    pub(crate) check: fn(&str) -> Result<(), String>,
}

/// One documented key of a table.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) doc: &'static str,
}

/// The keys of a table.
#[derive(Debug)]
pub(crate) struct TableShape {
    /// Keys with a field of their own in the typed struct.
    pub(crate) typed: &'static [Field],
    /// Known keys that the typed struct keeps in `extra`.
    pub(crate) untyped: &'static [Field],
    pub(crate) rest: Rest,
}

/// What happens to keys that are not among a table's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// They are unknown.
    Refused,
    /// They are kept: only the owner of the section knows them.
    Kept,
    /// They are options of the verb the table is named after; the caller knows those.
    CommandOptions,
    /// They are options of `create`; the caller knows those.
    CreateOptions,
    /// Unknown, unless the table is about a provider backend this program does not have.
    RefusedUnlessForeignBackend,
}

/// A type that can stand in a settings struct.
pub(crate) trait SettingType {
    /// What its TOML form accepts.
    const KIND: Kind;
}

/// How a value fails its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// Another type altogether.
    Type { expected: String, found: String },
    /// The right type, a wrong value.
    Value { expected: String, reason: String },
}

impl Field {
    pub(crate) const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, doc }
    }
}

impl TableShape {
    /// Every known key.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.typed.iter().chain(self.untyped)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields().find(|field| field.name == name)
    }
}

impl Kind {
    /// Whether layers merge below this kind key by key, whatever the operator: tables and registries of tables.
    pub(crate) fn is_structure(self) -> bool {
        match self {
            Self::Table(_) | Self::Patch => true,
            Self::Map(inner) => matches!(inner, Self::Table(_)),
            _ => false,
        }
    }

    /// Whether `key__extend` means something.
    pub(crate) fn is_extendable(self) -> bool {
        matches!(
            self,
            Self::List(_) | Self::TextOrList | Self::Map(_) | Self::Table(_) | Self::Patch | Self::Any
        )
    }

    /// The kind of the key `name` right below this one; `None` when nothing can be below or the key is unknown.
    pub(crate) fn below(self, name: &str) -> Option<Kind> {
        match self {
            Self::Map(inner) => Some(*inner),
            Self::Patch | Self::Any => Some(self),
            Self::Table(shape) => match shape.field(name) {
                Some(field) => Some(field.kind),
                None if shape.rest == Rest::Refused => None,
                None => Some(Self::Any),
            },
            _ => None,
        }
    }

    /// The kind in words: "a boolean", "a list of strings".
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Bool => "a boolean".into(),
            Self::Integer { .. } => "an integer".into(),
            Self::Number => "a number".into(),
            Self::Text => "a string".into(),
            Self::RuledText(rule) => rule.expected.into(),
            Self::Duration => "a duration such as `90s` or `1h30m`".into(),
            Self::Choice(words) => {
                format!(
                    "one of {}",
                    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
                )
            }
            Self::List(_) => "a list of strings".into(),
            Self::TextOrList => "a string or a list of strings".into(),
            Self::Map(_) | Self::Table(_) | Self::Patch => "a table".into(),
            Self::Any => "any value".into(),
        }
    }

    /// Checks a value that is not a table. Tables are walked by [`crate::check`], which knows positions.
    pub(crate) fn check_leaf(self, value: &Value) -> Result<(), Mismatch> {
        let wrong_value = |reason: String| Err(Mismatch::Value { expected: self.describe(), reason });
        match (self, value) {
            (Self::Any, _) | (Self::Bool, Value::Boolean(_)) => Ok(()),
            (Self::Text | Self::TextOrList, Value::String(_)) => Ok(()),
            (Self::Integer { max }, Value::Integer(number)) => match *number {
                number if (0..=max).contains(&number) => Ok(()),
                number => wrong_value(format!("{number} is not between 0 and {max}")),
            },
            (Self::Number, Value::Integer(number)) => self.check_leaf(&Value::Float(*number as f64)),
            (Self::Number, Value::Float(number)) if number.is_finite() && *number >= 0.0 => Ok(()),
            (Self::Number, Value::Float(number)) => {
                wrong_value(format!("{number} is negative or not finite"))
            }
            (Self::RuledText(rule), Value::String(text)) => (rule.check)(text).or_else(wrong_value),
            (Self::Duration, Value::String(text)) => match parse_duration(text) {
                Some(_) => Ok(()),
                None => wrong_value("it is not a number with a unit".into()),
            },
            (Self::Duration, Value::Integer(_) | Value::Float(_)) => Self::Number.check_leaf(value),
            (Self::Choice(words), Value::String(text)) if words.contains(&text.as_str()) => Ok(()),
            (Self::Choice(_), Value::String(text)) => {
                wrong_value(format!("found `{}`", shorten(&text.escape_debug().to_string())))
            }
            (Self::List(item), Value::Array(items)) => {
                items.iter().try_for_each(|value| item.check_leaf(value))
            }
            (Self::TextOrList, Value::Array(items)) => {
                items.iter().try_for_each(|value| Self::Text.check_leaf(value))
            }
            (_, value) => {
                Err(Mismatch::Type { expected: self.describe(), found: type_name(value).to_owned() })
            }
        }
    }
}

/// Keeps a quoted value short enough for one line of a message.
fn shorten(text: &str) -> String {
    const LIMIT: usize = 40;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

macro_rules! kinds {
    ($($ty:ty => $kind:expr;)*) => {
        $(impl SettingType for $ty {
            const KIND: Kind = $kind;
        })*
    };
}

kinds! {
    bool => Kind::Bool;
    u16 => Kind::Integer { max: u16::MAX as i64 };
    u32 => Kind::Integer { max: u32::MAX as i64 };
    u64 => Kind::Integer { max: i64::MAX };
    f64 => Kind::Number;
    String => Kind::Text;
    Value => Kind::Any;
}

impl<T: SettingType> SettingType for Option<T> {
    const KIND: Kind = T::KIND;
}

impl<T: SettingType> SettingType for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
}

impl<T: SettingType> SettingType for BTreeMap<String, T> {
    const KIND: Kind = Kind::Map(&T::KIND);
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: Kind = <Vec<String>>::KIND;

    #[test]
    fn whole_numbers_are_numbers_but_not_the_other_way_round() {
        assert_eq!(Kind::Number.check_leaf(&Value::Integer(10)), Ok(()));
        assert!(matches!(u32::KIND.check_leaf(&Value::Float(1.0)), Err(Mismatch::Type { .. })));
    }

    #[test]
    fn numbers_out_of_range_are_wrong_values() {
        for (kind, value) in [
            (u16::KIND, Value::Integer(65_536)),
            (u32::KIND, Value::Integer(-1)),
            (Kind::Number, Value::Float(-0.5)),
            (Kind::Number, Value::Float(f64::NAN)),
            (Kind::Number, Value::Float(f64::INFINITY)),
        ] {
            assert!(matches!(kind.check_leaf(&value), Err(Mismatch::Value { .. })), "{value}");
        }
    }

    #[test]
    fn one_bad_item_spoils_a_list() {
        let list = Value::Array(vec![Value::String("a".into()), Value::Integer(1)]);
        assert!(matches!(WORDS.check_leaf(&list), Err(Mismatch::Type { .. })));
    }

    #[test]
    fn a_long_wrong_word_is_cut_in_the_message() {
        let Err(Mismatch::Value { reason, .. }) = Kind::Choice(&["a"]).check_leaf(&"é".repeat(10_000).into())
        else {
            panic!("accepted");
        };
        assert!(reason.chars().count() < 60, "{reason}");
    }
}
