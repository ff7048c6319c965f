//! A line made of parts that look different, cut to the terminal as a whole.

use mngr_query::{CellStyle, cut};

use crate::ui::theme::Colour;

/// A line. Its text is safe to show: whoever puts in what others wrote sanitizes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line(Vec<(CellStyle, String)>);

impl Line {
    /// A line of one part.
    pub(crate) fn new(style: CellStyle, text: impl Into<String>) -> Self {
        Self(vec![(style, text.into())])
    }

    /// A line without a special look.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(CellStyle::Plain, text)
    }

    /// With one more part.
    #[must_use]
    pub(crate) fn and(mut self, style: CellStyle, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    /// The line as it is printed, without its end; with a width, cut to it.
    pub(crate) fn render(&self, colour: Colour, width: Option<usize>) -> String {
        let whole: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        let fitting = width.map_or_else(|| whole.clone(), |width| cut(&whole, width));
        let mut rest = fitting.as_str();
        let mut shown = String::new();
        for (style, text) in &self.0 {
            // The part that was cut ends in an ellipsis: it is all that is left.
            let length = if rest.starts_with(text.as_str()) { text.len() } else { rest.len() };
            let (part, after) = rest.split_at(length);
            if !part.is_empty() {
                shown += &colour.paint_cell(*style, part);
            }
            rest = after;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_as_a_whole_and_keeps_its_looks() {
        let line = Line::new(CellStyle::Good, "ab").and(CellStyle::Plain, "cd").and(CellStyle::Bad, "ef");
        assert_eq!(line.render(Colour::Off, None), "abcdef");
        assert_eq!(line.render(Colour::Off, Some(4)), "abc…");
        assert_eq!(line.render(Colour::Off, Some(2)), "a…");
        assert_eq!(line.render(Colour::On, Some(3)), "\u{1b}[32mab\u{1b}[0m…");
    }
}
