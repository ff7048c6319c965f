//! A screen of a recording, painted on the user's terminal.
//!
//! The only sequences written are made here, from numbers: nothing a recording holds reaches the terminal as it is.

use std::fmt::Write;

use mngr_cast::frames::{Canvas, Colour as CastColour, Run, Style};
use mngr_host::pty::TerminalSize;
use mngr_query::is_unsafe;

use crate::ui::theme::Colour;

/// The sequences that paint `canvas` and a line below it. What does not fit is cut off.
pub(crate) fn paint(canvas: &Canvas, status: &str, size: TerminalSize, colour: Colour) -> String {
    let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
    let mut text = String::from("\u{1b}[?25l\u{1b}[H");
    for row in 0..rows.saturating_sub(1) {
        let _ = write!(text, "\u{1b}[{};1H", row + 1);
        let runs = canvas.rows.get(row).map_or(&[][..], Vec::as_slice);
        paint_row(&mut text, runs, cols, colour);
        text.push_str("\u{1b}[0m\u{1b}[K");
    }
    let status: String = status.chars().map(harmless).take(cols).collect();
    let inverse = if colour == Colour::On { "\u{1b}[7m" } else { "" };
    let _ = write!(text, "\u{1b}[{rows};1H{inverse}{status:<cols$}\u{1b}[0m");
    if let Some(cursor) = canvas.cursor {
        let (col, row) = (usize::from(cursor.col), usize::from(cursor.row));
        if col < cols && row + 1 < rows {
            let _ = write!(text, "\u{1b}[{};{}H\u{1b}[?25h", row + 1, col + 1);
        }
    }
    text
}

fn paint_row(text: &mut String, runs: &[Run], cols: usize, colour: Colour) {
    let mut left = cols;
    for run in runs {
        let width = if run.style.wide { 2 } else { 1 };
        let fitting: String = run.text.chars().map(harmless).take(left / width).collect();
        left -= fitting.chars().count() * width;
        if colour == Colour::On {
            text.push_str(&sgr(run.style));
        }
        text.push_str(&fitting);
        if fitting.len() < run.text.len() {
            break;
        }
    }
}

/// The character, or what stands in its place where a terminal would do something with it.
fn harmless(character: char) -> char {
    if is_unsafe(character) { char::REPLACEMENT_CHARACTER } else { character }
}

/// The sequence that turns a look on, after turning everything off.
fn sgr(style: Style) -> String {
    let mut codes = String::from("\u{1b}[0");
    let flags = [
        (style.bold, 1),
        (style.faint, 2),
        (style.italic, 3),
        (style.underline, 4),
        (style.blink, 5),
        (style.inverse, 7),
        (style.strikethrough, 9),
    ];
    for (_, code) in flags.into_iter().filter(|(is_on, _)| *is_on) {
        let _ = write!(codes, ";{code}");
    }
    for (colour, base) in [(style.foreground, 38), (style.background, 48)] {
        let _ = match colour {
            CastColour::Default => Ok(()),
            CastColour::Indexed(index) => write!(codes, ";{base};5;{index}"),
            CastColour::Rgb(r, g, b) => write!(codes, ";{base};2;{r};{g};{b}"),
        };
    }
    codes + "m"
}

#[cfg(test)]
mod tests {
    use mngr_cast::Size;

    use super::*;

    fn canvas(runs: Vec<Run>) -> Canvas {
        let mut canvas = Canvas::new(Size { cols: 20, rows: 3 });
        canvas.rows[0] = runs;
        canvas
    }

    #[test]
    fn a_look_becomes_numbers_and_what_does_not_fit_is_cut_off() {
        let style = Style { bold: true, foreground: CastColour::Rgb(1, 2, 3), ..Style::default() };
        let wide = Style { wide: true, ..Style::default() };
        let runs = vec![Run { text: "abc".into(), style }, Run { text: "日本".into(), style: wide }];
        let text = paint(&canvas(runs), "status", TerminalSize { cols: 6, rows: 3 }, Colour::On);
        assert!(text.contains("\u{1b}[0;1;38;2;1;2;3mabc\u{1b}[0m日\u{1b}[0m\u{1b}[K"), "{text:?}");
        assert!(text.contains("\u{1b}[3;1H\u{1b}[7mstatus\u{1b}[0m"), "{text:?}");
    }

    #[test]
    fn what_a_terminal_would_obey_is_replaced_even_if_a_frame_has_some() {
        let runs = vec![Run { text: "a\u{1b}]52;c;x\u{7}b\u{9b}\u{202e}c".into(), style: Style::default() }];
        let text = paint(&canvas(runs), "\u{1b}]0;t\u{7}", TerminalSize { cols: 40, rows: 3 }, Colour::Off);
        for unsafe_text in ["\u{1b}]", "\u{7}", "\u{9b}", "\u{202e}"] {
            assert!(!text.contains(unsafe_text), "{unsafe_text:?} in {text:?}");
        }
    }
}
