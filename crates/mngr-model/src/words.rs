//! Choices that users spell with a word.

/// A word that is none of the choices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not one of {}", .allowed.join(", "))]
pub struct UnknownWord {
    /// The refused word, shortened, control characters escaped.
    pub value: String,
    /// What there is.
    pub allowed: &'static [&'static str],
}

/// Declares a choice, spelled in text and JSON as given.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every one, in the order in which they are documented.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The spellings of [`Self::ALL`].
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// As users spell it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let known = Self::ALL.iter().find(|known| known.as_str() == text).copied();
                known.ok_or_else(|| $crate::words::UnknownWord {
                    value: $crate::quote::excerpt(text),
                    allowed: Self::WORDS,
                })
            }
        }
    };
}
pub(crate) use words;
