//! Text with a look: enums and numbers, nothing a terminal or a page would obey.

use serde::{Deserialize, Serialize};

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Colour {
    /// Whatever the terminal has.
    #[default]
    Default,
    /// One of the usual 256.
    Indexed(u8),
    /// This one: red, green, blue.
    Rgb(u8, u8, u8),
}

impl Colour {
    fn to_number(self) -> i32 {
        match self {
            Self::Default => -1,
            Self::Indexed(index) => index.into(),
            Self::Rgb(r, g, b) => 256 + (i32::from(r) << 16 | i32::from(g) << 8 | i32::from(b)),
        }
    }

    fn from_number(number: i32) -> Self {
        match number {
            ..0 => Self::Default,
            0..=255 => Self::Indexed(number as u8),
            _ => {
                let [_, r, g, b] = (number - 256).to_be_bytes();
                Self::Rgb(r, g, b)
            }
        }
    }
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Style {
    /// The colour of the text.
    pub foreground: Colour,
    /// The colour behind it.
    pub background: Colour,
    /// Bold.
    pub bold: bool,
    /// Faint.
    pub faint: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Struck through.
    pub strikethrough: bool,
    /// Blinking.
    pub blink: bool,
    /// Both colours exchanged.
    pub inverse: bool,
    /// Every character takes two columns.
    pub wide: bool,
}

impl Style {
    fn flags(self) -> u8 {
        let bits = [
            self.bold,
            self.faint,
            self.italic,
            self.underline,
            self.strikethrough,
            self.blink,
            self.inverse,
            self.wide,
        ];
        bits.into_iter().enumerate().map(|(bit, is_set)| u8::from(is_set) << bit).sum()
    }

    fn from_wire(foreground: i32, background: i32, flags: u8) -> Self {
        let has = |bit: u8| flags & 1 << bit != 0;
        Self {
            foreground: Colour::from_number(foreground),
            background: Colour::from_number(background),
            bold: has(0),
            faint: has(1),
            italic: has(2),
            underline: has(3),
            strikethrough: has(4),
            blink: has(5),
            inverse: has(6),
            wide: has(7),
        }
    }
}

/// Text of one look, without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Wire", into = "Wire")]
pub struct Run {
    /// The text.
    pub text: String,
    /// Its look.
    pub style: Style,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire {
    Plain(String),
    Styled(String, i32, i32, u8),
}

impl From<Run> for Wire {
    fn from(run: Run) -> Self {
        let style = run.style;
        if style == Style::default() {
            return Self::Plain(run.text);
        }
        Self::Styled(run.text, style.foreground.to_number(), style.background.to_number(), style.flags())
    }
}

impl From<Wire> for Run {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::Plain(text) => Self { text, style: Style::default() },
            Wire::Styled(text, foreground, background, flags) => {
                Self { text, style: Style::from_wire(foreground, background, flags) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_text_or_text_with_three_numbers() {
        let plain = Run { text: "<b>".into(), style: Style::default() };
        assert_eq!(serde_json::to_string(&plain).unwrap(), r#""<b>""#);
        let style = Style { foreground: Colour::Rgb(1, 2, 3), bold: true, wide: true, ..Style::default() };
        let styled = Run { text: "x".into(), style };
        let json = serde_json::to_string(&styled).unwrap();
        assert_eq!(json, r#"["x",66307,-1,129]"#);
        assert_eq!(serde_json::from_str::<Run>(&json).unwrap(), styled);
    }
}
