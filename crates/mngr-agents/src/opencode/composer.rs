//! Reading opencode's input box off the screen.
//!
//! Code and not a rule of the manifest: the box is told by its lower edge, its last line says what would become of the
//! text, and whether a dialog lies over it shows only in how the blanks are coloured.

use crate::brand::Composer;
use crate::screen::Reading;

/// The lower left corner of the box, and what its edge is made of. Past messages have neither.
const CORNER: char = '╹';
const EDGE: char = '▀';
/// The left side of the box.
const SIDE: char = '┃';
/// The last line of a box whose text would run as a shell command. Somebody typed the `!` that made it so.
const SHELL: &str = "Shell";
/// How the hint in an empty box begins; the second is that of earlier versions.
const HINTS: [&str; 2] = ["Ask anything…", "Ask anything..."];

/// What is in the box.
pub(super) fn read(screen: &str) -> Reading {
    typed(screen).unwrap_or_else(|| Reading { composer: Composer::NotVisible, typed: String::new() })
}

fn typed(screen: &str) -> Option<Reading> {
    let lines: Vec<&str> = screen.lines().collect();
    let plain: Vec<String> = lines.iter().map(|line| runs(line).collect()).collect();
    let (bottom, edge) = plain.iter().enumerate().rev().find_map(|(at, line)| Some((at, edge(line)?)))?;
    let mut inside = plain[..bottom].iter().rev().map_while(|line| edge.inside(line));
    let mode = inside.next()?;
    if is_under_a_dialog(&lines[bottom - 1..]) {
        return None;
    }
    let mut typed: Vec<String> = inside
        .map(|line| line.trim().to_owned())
        .filter(|line| !HINTS.iter().any(|hint| line.starts_with(hint)))
        .collect();
    typed.reverse();
    let typed = typed.join("\n").trim().to_owned();
    let is_empty = typed.is_empty() && mode.trim() != SHELL;
    Some(Reading { composer: if is_empty { Composer::Empty } else { Composer::HoldsText }, typed })
}

/// The lower edge of a box: where it begins and ends. A side bar may stand to the right of it.
struct Edge {
    from: usize,
    to: usize,
}

fn edge(line: &str) -> Option<Edge> {
    let from = line.chars().take_while(|c| *c == ' ').count();
    let mut rest = line.chars().skip(from);
    let width = (rest.next() == Some(CORNER)).then(|| rest.take_while(|c| *c == EDGE).count())?;
    (width > 0).then_some(Edge { from, to: from + width })
}

impl Edge {
    /// What a line shows inside of the box; `None` above it. The menu of commands has two sides.
    fn inside(&self, line: &str) -> Option<String> {
        let mut chars = line.chars().skip(self.from);
        let is_in_box = chars.next() == Some(SIDE);
        let inside: String = chars.take(self.to - self.from).collect();
        (is_in_box && !inside.trim_end().ends_with(SIDE)).then_some(inside)
    }
}

/// A dialog is laid half-transparent over everything. Words below it keep their colours, in paler form, but the blanks
/// between them lose theirs: no two words are drawn in one go.
fn is_under_a_dialog(lines: &[&str]) -> bool {
    let has_blank_behind_word =
        |run: &str| run.chars().zip(run.chars().skip(1)).any(|(a, b)| a.is_alphanumeric() && b == ' ');
    !lines.iter().any(|line| runs(line).any(has_blank_behind_word))
}

/// The texts of a line that are drawn in one style each, without the escape sequences `ESC [ ... m` between them.
fn runs(line: &str) -> impl Iterator<Item = &str> {
    line.split("\u{1b}[").enumerate().map(|(at, piece)| match piece.split_once('m') {
        Some((_, text)) if at > 0 => text,
        _ => piece,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAST: &str = "  \u{1b}[38;5;75m┃\u{1b}[38;5;15m  said before\n\n";

    /// A box with a side bar beside it.
    fn screen(inside: &str, mode: &str) -> String {
        format!(
            "{PAST}  ┃                    Todo\n  ┃  {inside:<18}a task\n  ┃                    1.18\n  ┃  {mode}\n  \
             ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀  \n   \u{1b}[38;5;255mctrl+p \u{1b}[38;5;8mcommands\n"
        )
    }

    #[test]
    fn text_hints_and_an_empty_box_are_told_apart() {
        let build =
            "\u{1b}[38;5;75mBuild\u{1b}[38;5;15m \u{1b}[38;5;8m·\u{1b}[38;5;15m \u{1b}[38;5;255mmodel";
        let composer = |inside, mode| read(&screen(inside, mode)).composer;
        assert_eq!(composer("", build), Composer::Empty);
        assert_eq!(composer("Ask anything… \"a\"", build), Composer::Empty);
        assert_eq!(composer("", "\u{1b}[38;5;216mShell\u{1b}[38;5;15m"), Composer::HoldsText);
        let half = read(&screen("half a sentence", build));
        assert_eq!((half.composer, half.typed.as_str()), (Composer::HoldsText, "half a sentence"));
    }

    #[test]
    fn the_menu_of_commands_is_not_in_the_box() {
        let menu = format!("{PAST}  ┃ /compact  Compa ┃ side\n");
        let screen = screen("/compact", "Build").replacen(PAST, &menu, 1);
        assert_eq!(read(&screen).typed, "/compact");
    }

    #[test]
    fn without_an_edge_or_under_a_dialog_there_is_no_box() {
        let composer = |screen: &str| read(screen).composer;
        let permission = format!("{PAST}  ┃  Permission required\n  ┃  Allow once\n");
        assert_eq!(composer(&permission), Composer::NotVisible);
        let pale = screen("", "\u{1b}[38;5;238mBuild").replace("ctrl+p ", "ctrl+p\u{1b}[38;5;15m ");
        assert_eq!(composer(&pale), Composer::NotVisible);
        assert_eq!(composer(""), Composer::NotVisible);
    }
}
