//! What an agent works on, in one short line. Made of text that anybody may have written: nothing but letters is left of it.

use unicode_width::UnicodeWidthChar as _;

/// The widest title, in columns of a terminal.
const WIDEST: usize = 72;
/// No more of a text is looked at.
const LONGEST: usize = 4096;

/// The title that a text gives: its first line that says something, without what a terminal would act upon, cut at a word.
pub fn title_of(text: &str) -> Option<String> {
    let lines = text.lines().map(plain).find(|line| !line.is_empty());
    lines.map(|line| cut(&line))
}

/// The title that a program reports of itself: the text, or a JSON string of it.
pub fn reported_title(text: &str) -> Option<String> {
    let text = text.trim();
    match text.starts_with('"').then(|| serde_json::from_str::<String>(text)) {
        Some(Ok(decoded)) => title_of(&decoded),
        _ => title_of(text),
    }
}

/// One line with single blanks between its words.
fn plain(line: &str) -> String {
    let blank = |c: char| if c.is_whitespace() || c.is_control() { ' ' } else { c };
    let shown: String = line.chars().take(LONGEST).map(blank).filter(|c| !is_unseen(*c)).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What has no form of its own, or changes that of its neighbours: control characters, and those that order or hide text.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn cut(line: &str) -> String {
    let width = |text: &str| text.chars().map(|c| c.width().unwrap_or(0)).sum::<usize>();
    if width(line) <= WIDEST {
        return line.to_owned();
    }
    let mut room = WIDEST - 1;
    let fits = line.char_indices().find(|(_, c)| {
        let wide = c.width().unwrap_or(0);
        let has_room = wide <= room;
        room = room.saturating_sub(wide);
        !has_room
    });
    let end = fits.map_or(line.len(), |(at, _)| at);
    let head = &line[..end];
    // In the middle of a long word, or where the last blank is far back, the word is cut.
    let at_word = head.rfind(' ').filter(|at| width(&head[..*at]) > WIDEST / 2);
    let head = at_word.map_or(head, |at| &head[..at]);
    format!("{}…", head.trim_end_matches([' ', ',', ';', ':', '.', '-']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_line_that_says_something_is_the_title() {
        let title = |text: &str| title_of(text).unwrap_or_default();
        assert_eq!(title("\n\t \n  fix   the login\ttest\nand then rest"), "fix the login test");
        assert_eq!(title("\u{1b}[31mred\u{7} \u{202e}alert\u{200b}"), "[31mred alert");
        assert_eq!(title_of(" \n\u{200b}\n"), None);
        assert_eq!(reported_title("\"say \\\"hi\\\" to\\nall\"\n"), Some("say \"hi\" to".to_owned()));
        assert_eq!(reported_title("\"half"), Some("\"half".to_owned()));
    }

    #[test]
    fn a_long_line_is_cut_at_a_word_and_a_long_word_anywhere() {
        let words = title_of(&"make the flaky login test pass, ".repeat(5)).unwrap();
        assert_eq!(words, "make the flaky login test pass, make the flaky login test pass, make…");
        let word = title_of(&"x".repeat(500)).unwrap();
        assert_eq!(word, format!("{}…", "x".repeat(WIDEST - 1)));
        let wide = title_of(&"漢".repeat(500)).unwrap();
        assert_eq!(wide.chars().count(), (WIDEST - 1) / 2 + 1);
    }

    proptest! {
        #[test]
        fn a_title_is_one_short_line_that_a_terminal_only_shows(text in "\\PC{0,20}[\\x00-\\x1f\u{202e}\u{200b}]{0,3}\\PC{0,200}") {
            if let Some(title) = title_of(&text) {
                prop_assert!(!title.is_empty() && !title.chars().any(is_unseen), "{title:?}");
                prop_assert!(title.chars().map(|c| c.width().unwrap_or(0)).sum::<usize>() <= WIDEST);
                prop_assert_eq!(title_of(&title), Some(title.clone()));
            }
        }
    }
}
