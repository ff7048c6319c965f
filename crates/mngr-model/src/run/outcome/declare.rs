//! The macros that declare a type together with its description.
//!
//! The doc comment of a field or word is what the agent reads: write it for the agent.

/// Declares an object: the struct, and its fields with kind, meaning and rules.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $(#[serde($($serde:tt)*)])? pub $field:ident: $ty:ty,)+
        }
        $(at most $at_most:literal $(, unlike in $unlike:literal)?)?
        $(rules [$($rule_field:literal == $word:literal => $($demand:ident($($arg:expr),+)),+;)+])?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $($(#[doc = $doc])+ $(#[serde($($serde)*)])? pub $field: $ty,)+
        }

        impl $crate::run::outcome::shape::HasShape for $name {
            const SHAPE: $crate::run::outcome::shape::Shape = $crate::run::outcome::shape::Shape {
                fields: &[$($crate::run::outcome::shape::Field {
                    name: stringify!($field),
                    about: concat!($($doc),+),
                    need: <$ty as $crate::run::outcome::shape::Described>::NEED,
                    kind: <$ty as $crate::run::outcome::shape::Described>::KIND,
                },)+],
                rules: &[$($($crate::run::outcome::shape::Rule {
                    field: $rule_field,
                    is: $word,
                    then: &[$($crate::run::outcome::shape::Demand::$demand($($arg),+)),+],
                },)+)?],
                at_most: $crate::run::outcome::declare::or_else!(($($at_most)?) 1),
                unlike_in: $crate::run::outcome::declare::or_else!(($($(Some($unlike))?)?) None),
            };
        }
    };
}
pub(super) use record;

/// What is in the parentheses, or else what follows them.
macro_rules! or_else {
    (($given:expr) $default:expr) => {
        $given
    };
    (() $default:expr) => {
        $default
    };
}
pub(super) use or_else;

/// Declares a choice of words, spelled in JSON as given.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its spelling.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The one with this spelling.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::run::outcome::shape::Described for $name {
            const KIND: $crate::run::outcome::shape::Kind = $crate::run::outcome::shape::Kind::Choice(&[
                $($crate::run::outcome::shape::Word { word: $word, about: concat!($($doc),+) },)+
            ]);
        }
    };
}
pub(super) use words;
