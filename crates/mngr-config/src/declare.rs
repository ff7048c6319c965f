//! The macros that declare settings.
//!
//! A struct declared with [`settings_table!`] is at once the typed settings, the checker of every layer and the
//! documentation. To add a key, add a documented field to its struct in [`crate::keys`] and, unless it is
//! optional, its default to `defaults.toml`: nothing else needs to know.

/// Settings may hold tokens, so their `Debug` shows the type and no value.
macro_rules! opaque_debug {
    ($name:ident) => {
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use opaque_debug;

/// Declares a table of settings: the typed struct, and its keys with kind and documentation.
///
/// Every field needs a doc comment: it is what `config list --schema` shows. A last line
/// `..RULE + KNOWN, "about"` adds a field `extra` for the keys not named here: those of the list `KNOWN`, and
/// whatever the rule (a [`Rest`](crate::kind::Rest)) lets pass.
macro_rules! settings_table {
    (
        $(#[$meta:meta])*
        pub struct $table:ident {
            $($(#[doc = $doc:literal])+ pub $field:ident: $ty:ty,)*
        }
    ) => {
        #[derive(Clone, PartialEq, serde::Deserialize)]
        $(#[$meta])*
        pub struct $table {
            $($(#[doc = $doc])+ pub $field: $ty,)*
        }
        $crate::declare::settings_table!(@shape $table, Refused, &[], $($field: $ty, [$($doc)+];)*);
    };
    (
        $(#[$meta:meta])*
        pub struct $table:ident {
            $($(#[doc = $doc:literal])+ pub $field:ident: $ty:ty,)*
            ..$rest:ident + $known:path, $about:literal
        }
    ) => {
        #[derive(Clone, PartialEq, serde::Deserialize)]
        $(#[$meta])*
        pub struct $table {
            $($(#[doc = $doc])+ pub $field: $ty,)*
            #[doc = $about]
            #[serde(flatten)]
            pub extra: toml::Table,
        }
        $crate::declare::settings_table!(@shape $table, $rest, $known, $($field: $ty, [$($doc)+];)*);
    };
    (@shape $table:ident, $rest:ident, $known:expr, $($field:ident: $ty:ty, [$($doc:literal)+];)*) => {
        $crate::declare::opaque_debug!($table);

        impl $crate::kind::SettingType for $table {
            const KIND: $crate::kind::Kind = $crate::kind::Kind::Table(&$crate::kind::TableShape {
                typed: &[$($crate::kind::Field::new(
                    stringify!($field),
                    <$ty as $crate::kind::SettingType>::KIND,
                    concat!($($doc),+),
                ),)*],
                untyped: $known,
                rest: $crate::kind::Rest::$rest,
            });
        }
    };
}
pub(crate) use settings_table;

/// Declares a setting that is one of a few words, spelled in TOML as given.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $variant,)+
        }
        impl $crate::kind::SettingType for $name {
            const KIND: $crate::kind::Kind = $crate::kind::Kind::Choice(&[$($word),+]);
        }
    };
}
pub(crate) use choice;

/// Declares a string setting with a rule: a newtype that only holds text passing `check`.
macro_rules! ruled_text {
    (
        $(#[$meta:meta])*
        pub struct $name:ident, $expected:literal, $check:path
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, serde::Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        $crate::declare::opaque_debug!($name);

        impl $name {
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                $check(&text).map(|()| Self(text))
            }
        }

        impl $crate::kind::SettingType for $name {
            const KIND: $crate::kind::Kind =
                $crate::kind::Kind::RuledText(&$crate::kind::TextRule { expected: $expected, check: $check });
        }
    };
}
pub(crate) use ruled_text;
