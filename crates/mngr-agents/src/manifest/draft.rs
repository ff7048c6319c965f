//! What a program's input box can do with a text that somebody has typed and not sent.

use serde::Deserialize;

/// How a half-typed text is taken out of the box and put back. Keys are named as tmux names them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Empty the box; the program keeps the text.
    pub away: Vec<String>,
    /// Draw the screen anew, whatever is in the box: a program and its terminal may disagree about the width of a character,
    /// and then the screen shows what is not there. Such a program keeps its cursor in the box.
    #[serde(default)]
    pub redraw: Vec<String>,
    /// Draw the screen anew by another size of the window, where no key does it. Such a program shows its cursor only in the
    /// box.
    #[serde(default)]
    pub redraw_by_size: bool,
    /// Put the text back into an empty box.
    pub back: Vec<String>,
    /// Who puts it back.
    pub returns: Returns,
    /// What the screen shows while there is a text aside already: another one would take its place.
    #[serde(default)]
    pub taken: Option<String>,
}

impl Draft {
    /// Whether the program's cursor tells where the box is.
    pub fn keeps_cursor(&self) -> bool {
        self.redraw_by_size || !self.redraw.is_empty()
    }
}

/// Who puts a text back into the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Returns {
    /// The program, as soon as the box is free again.
    ByItself,
    /// Whoever took it away, with the keys. Not possible while something else is in the place of the box.
    WithKeys,
}
