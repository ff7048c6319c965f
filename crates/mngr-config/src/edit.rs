//! Changes the text of one settings file and leaves the rest of it alone: comments, order, spelling.
//!
//! What goes in is checked first, so an edit never makes a file worse. What comes out is text: the caller writes it.

use toml::Value;
use toml_edit::{DocumentMut, TableLike};

use crate::check::check_options;
use crate::declare::opaque_debug;
use crate::key::KeyPath;
use crate::keys::command::KnownOptions;
use crate::kind::Kind;
use crate::layer::{Layer, LayerError};
use crate::origin::{LayerKind, Origin, Place};
use crate::problem::Fault;
use crate::schema;
use crate::tree::{Entry, Item, Op};
use crate::value::{self, ValueError};

mod document;

/// One settings file to be changed.
pub struct Editor<'e> {
    /// The file as the user knows it, for messages.
    pub file: &'e str,
    /// What is in it now.
    pub text: &'e str,
    /// Which options verbs have.
    pub options: &'e dyn KnownOptions,
}

/// The outcome of an edit.
#[derive(Clone, PartialEq)]
pub struct Edited {
    /// What the file should hold from now on.
    pub text: String,
    /// The key in its one spelling, without operator.
    pub key: KeyPath,
    /// What was written; nothing when the key was removed.
    pub value: Option<Value>,
}

opaque_debug!(Edited);

/// Why a file is left as it is.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EditError {
    /// The file is broken already.
    #[error(transparent)]
    File(#[from] LayerError),
    /// The file is broken in a way only the editing parser sees.
    #[error("`{file}` cannot be edited")]
    Document {
        /// The file.
        file: String,
        /// What the parser says.
        #[source]
        source: toml_edit::TomlError,
    },
    /// The value cannot be a setting.
    #[error("cannot set `{key}`")]
    Value {
        /// The key.
        key: KeyPath,
        /// What is wrong with the value.
        #[source]
        source: ValueError,
    },
    /// Nobody knows the key.
    #[error("Unknown configuration fields: `{key}`{fault}")]
    Unknown {
        /// The key.
        key: KeyPath,
        /// What was probably meant.
        fault: Fault,
    },
    /// The value does not fit the key.
    #[error("`{key}`{fault}")]
    Invalid {
        /// The key.
        key: KeyPath,
        /// What is wrong.
        fault: Fault,
    },
    /// There is nothing to remove.
    #[error("Key not found: {key}")]
    KeyNotFound {
        /// The key.
        key: KeyPath,
    },
    /// What the file holds cannot be extended, or is in the way of a table.
    #[error("`{key}` in `{file}` is not {expected}")]
    InTheWay {
        /// The key that holds something else.
        key: KeyPath,
        /// The file.
        file: String,
        /// What it would have to be.
        expected: &'static str,
    },
}

impl Editor<'_> {
    /// Writes `key = value`. A key given with an operator is written with it.
    pub fn set(&self, key: &KeyPath, value: &str) -> Result<Edited, EditError> {
        self.write(key, value, Op::Assign)
    }

    /// Adds to the list or table the file holds, or writes `key__extend = value`.
    pub fn extend(&self, key: &KeyPath, value: &str) -> Result<Edited, EditError> {
        self.write(key, value, Op::Extend)
    }

    /// Writes `key__assign = value`.
    pub fn assign(&self, key: &KeyPath, value: &str) -> Result<Edited, EditError> {
        self.write(key, value, Op::Replace)
    }

    /// Removes the key, however it is spelled. Unknown keys can be removed too: that repairs a file.
    pub fn unset(&self, key: &KeyPath) -> Result<Edited, EditError> {
        let mut document = self.document()?;
        let not_found = || EditError::KeyNotFound { key: key.clone() };
        let (last, parents) = key.segments().split_last().ok_or_else(not_found)?;

        let mut kind = schema::ROOT;
        let mut table: &mut dyn TableLike = document.as_table_mut();
        let mut found_key = KeyPath::default();
        for segment in parents {
            let spelled = document::spelling_of(table, segment, kind).ok_or_else(not_found)?;
            kind = kind.below(&segment.replace('-', "_")).unwrap_or(Kind::Any);
            found_key = found_key.child(&spelled);
            table =
                table.get_mut(&spelled).and_then(toml_edit::Item::as_table_like_mut).ok_or_else(not_found)?;
        }
        let (name, _) = document::normal(last, kind);
        let spellings = document::spellings_of(table, last, kind);
        if spellings.is_empty() {
            return Err(not_found());
        }
        for spelled in spellings {
            table.remove(&spelled);
        }
        document::prune(document.as_table_mut(), found_key.segments());
        Ok(Edited { text: document.to_string(), key: found_key.child(&name), value: None })
    }

    fn write(&self, key: &KeyPath, text: &str, op: Op) -> Result<Edited, EditError> {
        let mut document = self.document()?;
        let value = value::parse(text).map_err(|source| EditError::Value { key: key.clone(), source })?;
        let (key, op) = self.checked(key, &value, op)?;
        document::write(document.as_table_mut(), &key, op, &value).map_err(|obstacle| {
            EditError::InTheWay { key: obstacle.key, file: self.file.to_owned(), expected: obstacle.expected }
        })?;
        Ok(Edited { text: document.to_string(), key, value: Some(value) })
    }

    fn document(&self) -> Result<DocumentMut, EditError> {
        // Reading it as a layer first gives a broken file the same message everywhere.
        Layer::from_toml(LayerKind::User, self.file, self.text)?;
        self.text.parse().map_err(|source| EditError::Document { file: self.file.to_owned(), source })
    }

    /// The key in its one spelling and its operator, if a layer may say this at all.
    fn checked(&self, key: &KeyPath, value: &Value, op: Op) -> Result<(KeyPath, Op), EditError> {
        let mut segments = key.segments().to_vec();
        if let Some(last) = segments.last_mut() {
            last.push_str(op.suffix());
        }
        let origin = Origin { layer: LayerKind::User, place: Place::Option(key.to_string().into()) };
        let layer = Layer::from_assignment(&KeyPath::from_segments(segments), value.clone(), &origin);

        let problems = layer.problems.iter().cloned().chain(check_options(&layer.tree, self.options));
        if let Some(problem) = problems.into_iter().next() {
            let is_unknown = problem.is_unknown_key();
            let (key, fault) = (problem.key, problem.fault);
            return Err(if is_unknown {
                EditError::Unknown { key, fault }
            } else {
                EditError::Invalid { key, fault }
            });
        }

        let mut normal = KeyPath::default();
        let mut op = Op::Assign;
        let mut tree = Some(&layer.tree);
        for _ in key.segments() {
            let Some((name, Entry { op: written, item, .. })) = tree.and_then(|tree| tree.iter().next())
            else {
                break;
            };
            normal = normal.child(name);
            op = *written;
            tree = if let Item::Table(below) = item { Some(below) } else { None };
        }
        Ok((normal, op))
    }
}

#[cfg(test)]
mod tests;
