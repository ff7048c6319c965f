//! Words for tmux's own parser, which reads the commands inside `if-shell`.

/// A word that tmux reads as exactly this text.
///
/// A line break is spelled out: behind one in quotes, tmux drops blanks and comments.
pub(super) fn word(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for c in text.chars() {
        match c {
            '\'' => quoted.push_str(r"'\''"),
            '\n' => quoted.push_str(r"'\n'"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_line_breaks_end_no_word() {
        assert_eq!(word("a;b $c"), "'a;b $c'");
        assert_eq!(word("it's\n# no comment"), r"'it'\''s'\n'# no comment'");
    }
}
