//! The screen that frames are painted on.

use super::frame::{Cursor, Frame};
use super::style::Run;
use crate::header::Size;

/// What is on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    /// Its size.
    pub size: Size,
    /// Every row, without the blanks at its end.
    pub rows: Vec<Vec<Run>>,
    /// The cursor; nothing while it is hidden.
    pub cursor: Option<Cursor>,
}

impl Canvas {
    /// An empty screen.
    pub fn new(size: Size) -> Self {
        Self { size, rows: vec![Vec::new(); size.rows.into()], cursor: None }
    }

    /// Lets a frame change it.
    pub fn apply(&mut self, frame: &Frame) {
        if let Some((cols, rows)) = frame.size {
            *self = Self::new(Size { cols, rows });
        }
        self.move_up(frame.up.into());
        for (row, runs) in &frame.lines {
            if let Some(shown) = self.rows.get_mut(usize::from(*row)) {
                shown.clone_from(runs);
            }
        }
        self.cursor = frame.cursor;
    }

    /// Moves everything up; blank rows follow at the bottom.
    pub(crate) fn move_up(&mut self, count: usize) {
        let count = count.min(self.rows.len());
        self.rows.rotate_left(count);
        let blank_from = self.rows.len() - count;
        self.rows[blank_from..].fill(Vec::new());
    }

    /// The text of every row.
    pub fn text(&self) -> Vec<String> {
        self.rows.iter().map(|runs| runs.iter().map(|run| run.text.as_str()).collect()).collect()
    }
}
