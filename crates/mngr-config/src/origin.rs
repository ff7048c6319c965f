//! Where a setting came from: the layer that set it and the spot in it.

use std::fmt;
use std::sync::Arc;

/// The sources of settings, lowest precedence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// What the program ships with.
    Default,
    /// The user's own file.
    User,
    /// The repository's committed file.
    Project,
    /// The repository's file that is meant to stay uncommitted.
    Local,
    /// Environment variables.
    Env,
    /// `-S KEY=VALUE` on the command line.
    Setting,
}

impl LayerKind {
    /// The layer's name, as `--scope` and listings spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Env => "env",
            Self::Setting => "setting",
        }
    }

    /// Whether the layer's text comes with the repository, so that somebody else may have written it.
    pub fn is_from_repository(self) -> bool {
        matches!(self, Self::Project | Self::Local)
    }
}

impl fmt::Display for LayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The spot within a layer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Compiled in.
    BuiltIn,
    /// A line of a file; both numbers count from 1.
    File {
        /// The file as the caller named it.
        path: Arc<str>,
        /// Line of the key.
        line: u32,
        /// Column of the key, in characters.
        column: u32,
    },
    /// An environment variable, by name.
    Variable(Arc<str>),
    /// A `-S` option, by its key; the value may be a secret and is not kept.
    Option(Arc<str>),
}

/// Where one setting was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// Which source.
    pub layer: LayerKind,
    /// Where in it.
    pub place: Place,
}

impl Origin {
    /// The file that holds the setting, if a file does.
    pub fn file(&self) -> Option<&str> {
        match &self.place {
            Place::File { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The line in [`Origin::file`], counted from 1.
    pub fn line(&self) -> Option<u32> {
        match &self.place {
            Place::File { line, .. } => Some(*line),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::BuiltIn => f.write_str("built-in defaults"),
            Place::File { path, line, column } => write!(f, "{}:{line}:{column}", printable(path)),
            Place::Variable(name) => write!(f, "environment variable `{}`", name.escape_debug()),
            Place::Option(key) => write!(f, "option `-S {}`", key.escape_debug()),
        }
    }
}

/// The text without terminal escapes: file names and broken files are written by strangers, and shown.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// Turns byte offsets of one text into line and column.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// Line and column, both from 1, of the character at `offset`.
    pub(crate) fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (small(line), small(column + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let index = LineIndex::new("ab\nüx = 1\n");
        assert_eq!(index.position(0), (1, 1));
        assert_eq!(index.position(3), (2, 1));
        assert_eq!(index.position(5), (2, 2));
        assert_eq!(LineIndex::new("").position(0), (1, 1));
    }

    #[test]
    fn layers_are_ordered_by_precedence() {
        let order = [
            LayerKind::Default,
            LayerKind::User,
            LayerKind::Project,
            LayerKind::Local,
            LayerKind::Env,
            LayerKind::Setting,
        ];
        assert!(order.is_sorted());
    }
}
