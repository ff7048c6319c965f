//! One change of the screen.

use serde::{Deserialize, Serialize};

use super::style::Run;

/// Where the cursor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u16, u16)", into = "(u16, u16)")]
pub struct Cursor {
    /// The column, which may be one past the last.
    pub col: u16,
    /// The row.
    pub row: u16,
}

impl From<(u16, u16)> for Cursor {
    fn from((col, row): (u16, u16)) -> Self {
        Self { col, row }
    }
}

impl From<Cursor> for (u16, u16) {
    fn from(cursor: Cursor) -> Self {
        (cursor.col, cursor.row)
    }
}

/// What changed at a moment. What its JSON means is said in [`super`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Milliseconds since the start.
    #[serde(rename = "t")]
    pub time_ms: u64,
    /// Columns and rows. There: a whole screen, and rows that are not named are blank.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub size: Option<(u16, u16)>,
    /// So many rows up, before the lines.
    #[serde(rename = "u", default, skip_serializing_if = "is_zero")]
    pub up: u16,
    /// Rows, each whole.
    #[serde(rename = "l", default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(u16, Vec<Run>)>,
    /// The cursor; nothing while it is hidden.
    #[serde(rename = "c", default)]
    pub cursor: Option<Cursor>,
}

impl Frame {
    /// Whether it is a whole screen.
    pub fn is_key(&self) -> bool {
        self.size.is_some()
    }

    /// About how many bytes its JSON has.
    pub(crate) fn weight(&self) -> usize {
        let runs =
            self.lines.iter().map(|(_, runs)| 8 + runs.iter().map(|run| run.text.len() + 14).sum::<usize>());
        40 + runs.sum::<usize>()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(rows: &u16) -> bool {
    *rows == 0
}
