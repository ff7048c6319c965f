//! Environment variables: the names mngr itself reads or sets, and the pairs a user hands to an agent.
//!
//! Nothing here reads the environment. A value may be a secret: it shows in no message and no `Debug` output, and it is
//! never expanded or evaluated, whatever is in it.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::quote::{excerpt, single_quoted};

mod file;
mod names;

pub use file::{EnvFileError, EnvFileProblem, parse_env_file};
pub use names::*;

/// The name of an environment variable that every shell can set: `[A-Za-z_][A-Za-z0-9_]*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct EnvName(String);

/// A variable and its value. The value holds no NUL, so it fits into any process's environment.
#[derive(Clone, PartialEq, Eq)]
pub struct EnvPair {
    name: EnvName,
    value: String,
}

/// Why a variable is refused. The value is never part of the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvError {
    /// There is no `=`, though the text could be the name of a variable.
    #[error("`{0}` has no value, expected KEY=VALUE")]
    NoValue(EnvName),
    /// There is no `=`, and the text could be anything, a secret too.
    #[error("expected KEY=VALUE, there is no `=`")]
    NoEqualsSign,
    /// Not a name a shell can set.
    #[error("`{0}` is not a variable name in KEY=VALUE: letters, digits and `_`, not starting with a digit")]
    BadName(String),
    /// A NUL, which no environment can hold.
    #[error("the value of `{0}` holds a NUL character")]
    NulInValue(EnvName),
}

impl EnvError {
    /// Repeats the text only where it can be a name: someone may have passed a bare secret.
    fn without_equals_sign(text: &str) -> Self {
        text.parse().map_or(Self::NoEqualsSign, Self::NoValue)
    }
}

impl EnvName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EnvName {
    type Err = EnvError;

    fn from_str(text: &str) -> Result<Self, EnvError> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for EnvName {
    type Error = EnvError;

    fn try_from(text: String) -> Result<Self, EnvError> {
        let is_inner = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let starts_well = !text.starts_with(|c: char| c.is_ascii_digit()) && !text.is_empty();
        if starts_well && text.bytes().all(is_inner) {
            Ok(Self(text))
        } else {
            Err(EnvError::BadName(excerpt(&text)))
        }
    }
}

impl fmt::Display for EnvName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for EnvName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for EnvName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl EnvPair {
    /// A variable with this value.
    ///
    /// # Errors
    /// When the value holds a NUL.
    pub fn new(name: EnvName, value: impl Into<String>) -> Result<Self, EnvError> {
        let value = value.into();
        if value.contains('\0') { Err(EnvError::NulInValue(name)) } else { Ok(Self { name, value }) }
    }

    /// Reads `KEY=VALUE`. Everything after the first `=` is the value, verbatim.
    ///
    /// # Errors
    /// When there is no `=`, the name is not one, or the value holds a NUL.
    pub fn parse(text: &str) -> Result<Self, EnvError> {
        match text.split_once('=') {
            Some((name, value)) => Self::new(name.parse()?, value),
            None => Err(EnvError::without_equals_sign(text)),
        }
    }

    /// The variable's name.
    pub fn name(&self) -> &EnvName {
        &self.name
    }

    /// Its value.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl FromStr for EnvPair {
    type Err = EnvError;

    fn from_str(text: &str) -> Result<Self, EnvError> {
        Self::parse(text)
    }
}

impl fmt::Debug for EnvPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvPair").field("name", &self.name.0).finish_non_exhaustive()
    }
}

/// Whether `sh` takes a value as it stands: nothing in it expands, splits or ends a command.
fn is_plain(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:@%+,=".contains(&byte))
}

/// The pairs as a file that a POSIX `sh` may source: one assignment each, in order, values verbatim, and single-quoted
/// where `sh` would read something else. [`parse_env_file`] reads it back too.
pub fn render_env_file(pairs: &[EnvPair]) -> String {
    let mut text = String::new();
    for pair in pairs {
        text.push_str(&pair.name.0);
        text.push('=');
        match is_plain(&pair.value) {
            true => text.push_str(&pair.value),
            false => text.push_str(&single_quoted(&pair.value)),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
