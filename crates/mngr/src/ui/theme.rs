//! What things look like. Colours only repeat what the words say: everything reads the same without them.

use anstyle::{AnsiColor, Style};
use mngr_query::CellStyle;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// `error:`
    Error,
    /// `warning:`
    Warning,
    /// `hint:`
    Hint,
    /// The name of a section.
    Heading,
    /// Of little interest.
    Dim,
}

/// Whether a stream is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// It is a terminal and nobody objects.
    On,
    /// Plain text.
    Off,
}

impl Colour {
    /// The text in that tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let style = match tone {
            Tone::Error => AnsiColor::Red.on_default().bold(),
            Tone::Warning => AnsiColor::Yellow.on_default().bold(),
            Tone::Hint => AnsiColor::Cyan.on_default(),
            Tone::Heading => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
        };
        self.styled(style, text)
    }

    /// The text of a table cell.
    pub(crate) fn paint_cell(self, cell: CellStyle, text: &str) -> String {
        let style = match cell {
            CellStyle::Plain => return text.to_owned(),
            CellStyle::Good => AnsiColor::Green.on_default(),
            CellStyle::Warn => AnsiColor::Yellow.on_default(),
            CellStyle::Bad => AnsiColor::Red.on_default(),
            CellStyle::Dim => Style::new().dimmed(),
        };
        self.styled(style, text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        match self {
            Self::On => format!("{style}{text}{style:#}"),
            Self::Off => text.to_owned(),
        }
    }
}
