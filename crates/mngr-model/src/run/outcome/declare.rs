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

/// Declares a choice of words that agents are told about.
macro_rules! told_words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $crate::words::words! {
            $(#[$meta])*
            $name {
                $($(#[doc = $doc])+ $variant = $word,)+
            }
        }

        impl $crate::run::outcome::shape::Described for $name {
            const KIND: $crate::run::outcome::shape::Kind = $crate::run::outcome::shape::Kind::Choice(&[
                $($crate::run::outcome::shape::Word { word: $word, about: concat!($($doc),+) },)+
            ]);
        }
    };
}
pub(super) use told_words;
