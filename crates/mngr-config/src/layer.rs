//! One source of settings, read into normal form: a file, an environment variable, a `-S` option.
//!
//! The caller hands in text; nothing here touches a file or the environment.

use std::ops::Range;
use std::sync::Arc;

use toml::Value;
use toml::de::{DeTable, DeValue};

use crate::check::check;
use crate::key::{KeyError, KeyPath};
use crate::origin::{LayerKind, LineIndex, Origin, Place, printable};
use crate::problem::{Fault, Problem};
use crate::tree::{self, Entry, Item, Leaf, Op, Tree};
use crate::value::{self, ValueError};

/// The built-in defaults, commented: also documentation for users.
pub const DEFAULTS_TOML: &str = include_str!("../defaults.toml");

/// The one key `-S` may not set: a guard that any command line can lift guards nothing.
const GUARD_KEY: &str = "allow_settings_key_assignment_narrowing";

/// One source of settings, with its keys in normal form.
///
/// Wrong keys and values do not stop the reading: they are kept as [`Layer::problems`] and reported all together
/// by [`crate::Merged::build`].
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    pub(crate) kind: LayerKind,
    pub(crate) tree: Tree,
    pub(crate) problems: Vec<Problem>,
}

/// Why a source cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayerError {
    /// The file is not TOML.
    #[error("{file}:{line}:{column}: broken TOML: {message}\n{snippet}")]
    Syntax {
        /// The file as the caller named it.
        file: String,
        /// Line of the mistake, from 1.
        line: u32,
        /// Column of the mistake, from 1.
        column: u32,
        /// What the parser says.
        message: String,
        /// The line with a mark under the mistake.
        snippet: String,
    },
    /// A number the settings cannot hold.
    #[error("{file}:{line}:{column}: number out of range")]
    Number {
        /// The file as the caller named it.
        file: String,
        /// Line of the number, from 1.
        line: u32,
        /// Column of the number, from 1.
        column: u32,
    },
    /// A `-S` without `=`.
    #[error("`{}` is not a setting: expected KEY=VALUE", text.escape_debug())]
    NotAnAssignment {
        /// What was given, which is all key.
        text: String,
    },
    /// The part before `=` is no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The part after `=` is no value.
    #[error("{at}")]
    Value {
        /// Which option or variable.
        at: Origin,
        /// What is wrong with it.
        #[source]
        source: ValueError,
    },
    /// A variable like `MNGR__A____B`.
    #[error("environment variable `{}` names no setting: it has an empty part", variable.escape_debug())]
    EmptyPart {
        /// Its name.
        variable: String,
    },
    /// A key given by its short variable and its long one.
    #[error("`{alias}` and `{long}` set the same key; keep one of them")]
    AliasConflict {
        /// The short variable.
        alias: String,
        /// The long variable.
        long: String,
    },
}

impl Layer {
    /// Reads a settings file.
    pub fn from_toml(kind: LayerKind, file: &str, text: &str) -> Result<Self, LayerError> {
        let source = Source { kind, file: Some(file.into()), lines: LineIndex::new(text) };
        let document = DeTable::parse(text).map_err(|error| source.syntax_error(&error))?;
        let raw = source.tree(document.get_ref())?;
        Ok(Self::from_tree(kind, raw))
    }

    /// Reads `-S KEY=VALUE` options: one layer each, because they act in the order given.
    pub fn from_settings<S: AsRef<str>>(settings: &[S]) -> Result<Vec<Self>, LayerError> {
        settings.iter().map(|setting| Self::from_setting(setting.as_ref())).collect()
    }

    fn from_setting(setting: &str) -> Result<Self, LayerError> {
        let (key, text) = split_assignment(setting)?;
        let origin = Origin { layer: LayerKind::Setting, place: Place::Option(key.to_string().into()) };
        let value = value::parse(text).map_err(|source| LayerError::Value { at: origin.clone(), source })?;
        let mut layer = Self::from_assignment(&key, value, &origin);
        if layer.tree.remove(GUARD_KEY).is_some() {
            let key = KeyPath::from_segments([GUARD_KEY]);
            layer.problems.push(Problem { at: origin, key, fault: Fault::NotHere });
        }
        Ok(layer)
    }

    /// One key set in one spot. The tables on the way are only passed through: their other keys stay.
    pub(crate) fn from_assignment(key: &KeyPath, value: Value, origin: &Origin) -> Self {
        let mut entry = None;
        for segment in key.segments().iter().rev() {
            let below = match entry {
                None => Entry::assign(value.clone(), origin),
                Some((name, below)) => Entry {
                    op: Op::Descend,
                    origins: vec![origin.clone()],
                    item: Item::Table(Tree::from([(name, below)])),
                },
            };
            entry = Some((segment.clone(), below));
        }
        Self::from_tree(origin.layer, entry.into_iter().collect())
    }

    pub(crate) fn from_tree(kind: LayerKind, raw: Tree) -> Self {
        let (tree, problems) = check(raw);
        Self { kind, tree, problems }
    }

    /// Which source this is.
    pub fn kind(&self) -> LayerKind {
        self.kind
    }

    /// What is wrong with it.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty() && self.problems.is_empty()
    }

    /// What it says, key by key, operators still in the keys.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut found = Vec::new();
        tree::leaves(&self.tree, &KeyPath::default(), &mut found);
        found
    }

    /// What it says about one key: a leaf, or everything below a table.
    pub fn get(&self, key: &KeyPath) -> Option<Leaf> {
        let (key, entry) = tree::find(&self.tree, key)?;
        Some(Leaf { key, value: entry.item.to_value(), origins: entry.origins.clone() })
    }
}

/// The built-in defaults as a layer.
pub(crate) fn defaults() -> Layer {
    let source = Source { kind: LayerKind::Default, file: None, lines: LineIndex::new("") };
    let raw = DeTable::parse(DEFAULTS_TOML)
        .ok()
        .and_then(|document| source.tree(document.get_ref()).ok())
        // A test reads the shipped file, so this never happens; an empty layer then fails on its missing keys.
        .unwrap_or_default();
    Layer::from_tree(LayerKind::Default, raw)
}

/// Splits `KEY=VALUE` at the first `=` outside the key's quotes.
pub(crate) fn split_assignment(text: &str) -> Result<(KeyPath, &str), LayerError> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '=') => return Ok((KeyPath::parse(&text[..at])?, &text[at + 1..])),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    Err(LayerError::NotAnAssignment { text: text.to_owned() })
}

/// The text being read, to give every key its origin.
struct Source<'t> {
    kind: LayerKind,
    file: Option<Arc<str>>,
    lines: LineIndex<'t>,
}

impl Source<'_> {
    fn tree(&self, table: &DeTable<'_>) -> Result<Tree, LayerError> {
        table
            .iter()
            .map(|(key, value)| {
                let item = match value.get_ref() {
                    DeValue::Table(below) => Item::Table(self.tree(below)?),
                    leaf => Item::Leaf(self.value(leaf, value.span())?),
                };
                let origins = vec![self.origin(key.span().start)];
                Ok((key.get_ref().to_string(), Entry { op: Op::Assign, origins, item }))
            })
            .collect()
    }

    fn value(&self, value: &DeValue<'_>, span: Range<usize>) -> Result<Value, LayerError> {
        Ok(match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map(Value::Integer)
                .map_err(|_| self.number_error(&span))?,
            DeValue::Float(number) => {
                number.as_str().parse().map(Value::Float).map_err(|_| self.number_error(&span))?
            }
            DeValue::Boolean(flag) => Value::Boolean(*flag),
            DeValue::Datetime(date) => Value::Datetime(*date),
            DeValue::Array(items) => Value::Array(
                items.iter().map(|item| self.value(item.get_ref(), item.span())).collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => Value::Table(
                table
                    .iter()
                    .map(|(key, value)| {
                        Ok((key.get_ref().to_string(), self.value(value.get_ref(), value.span())?))
                    })
                    .collect::<Result<_, LayerError>>()?,
            ),
        })
    }

    fn origin(&self, offset: usize) -> Origin {
        let place = match &self.file {
            None => Place::BuiltIn,
            Some(path) => {
                let (line, column) = self.lines.position(offset);
                Place::File { path: path.clone(), line, column }
            }
        };
        Origin { layer: self.kind, place }
    }

    fn number_error(&self, span: &Range<usize>) -> LayerError {
        let (line, column) = self.lines.position(span.start);
        LayerError::Number { file: self.file_name(), line, column }
    }

    fn syntax_error(&self, error: &toml::de::Error) -> LayerError {
        let (line, column) = self.lines.position(error.span().map_or(0, |span| span.start));
        // The parser's own text: a headline, then the snippet, then the message once more.
        let snippet: Vec<_> =
            printable(&error.to_string()).lines().skip(1).take(3).map(str::to_owned).collect();
        LayerError::Syntax {
            file: self.file_name(),
            line,
            column,
            message: printable(error.message()),
            snippet: snippet.join("\n"),
        }
    }

    fn file_name(&self) -> String {
        printable(self.file.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
