//! What a list means for paper, and how it is shown.

use crate::list::PageList;

/// How many sheets are needed with so many pages on each side.
pub fn count_sheets(pages: u32, per_side: u32, both_sides: bool) -> u32 {
    let per_sheet = per_side.max(1) * if both_sides { 2 } else { 1 };
    pages.div_ceil(per_sheet)
}

/// A sentence about a list.
pub fn describe(list: &PageList, both_sides: bool) -> String {
    let pages = list.len();
    let sheets = count_sheets(pages, 1, both_sides);
    let sides = if both_sides { "both sides" } else { "one side" };
    format!("{pages} {} on {sheets} {}, {sides}", plural(pages, "page"), plural(sheets, "sheet"))
}

fn plural(count: u32, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// Breaks a text into lines of at most `width` characters, between words only.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet that is not full is a sheet.
    #[test]
    fn sheets() {
        assert_eq!(count_sheets(0, 1, true), 0);
        assert_eq!(count_sheets(5, 1, false), 5);
        assert_eq!(count_sheets(5, 1, true), 3);
        assert_eq!(count_sheets(9, 2, true), 3);
    }

    /// No line is longer than the width, and no word is lost.
    #[test]
    fn wraps_between_words() {
        let text = "pages are printed in the order of the list";
        let lines = wrap(text, 12);
        assert_eq!(lines, ["pages are", "printed in", "the order of", "the list"]);
        assert_eq!(lines.join(" "), text);
    }

    /// A word that is too long stays whole, and nothing is no line.
    #[test]
    fn wraps_odd_texts() {
        assert_eq!(wrap("unbreakable", 4), ["unbreakable"]);
        assert!(wrap("  ", 4).is_empty());
    }
}
