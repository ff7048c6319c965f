//! Lines that fit.

/// Breaks a text between words, so that no line is longer than `width`, unless a single word is. Line breaks of the
/// text stay where they are.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrap_line(line, width)).collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line.split_whitespace() {
        match lines.last_mut() {
            Some(last) if last.is_empty() => last.push_str(word),
            Some(last) if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Breaks a line for a shell with backslashes, between words that no quotes hold together. A line that cannot be broken
/// stays as it is.
pub(crate) fn wrap_command(line: &str, width: usize) -> Vec<String> {
    const DEEPER: &str = "    ";
    let mut rest = line.to_owned();
    let mut lines = Vec::new();
    while rest.chars().count() > width {
        let Some(at) = last_gap(&rest, width - 2, if lines.is_empty() { 0 } else { DEEPER.len() }) else {
            break;
        };
        lines.push(format!("{} \\", &rest[..at]));
        rest = format!("{DEEPER}{}", rest[at..].trim_start());
    }
    lines.push(rest);
    lines
}

/// The last space outside of quotes within `width`, and behind `after`.
fn last_gap(line: &str, width: usize, after: usize) -> Option<usize> {
    let mut quote = None;
    let mut found = None;
    for (count, (at, c)) in line.char_indices().enumerate().take_while(|(count, _)| *count <= width) {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, ' ') if count > after => found = Some(at),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_line_breaks_stay() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a\nb c", 80), ["a", "b c"]);
        assert_eq!(wrap("incomprehensible", 3), ["incomprehensible"]);
        assert_eq!(wrap("ä ö ü", 3), ["ä ö", "ü"]);
    }

    #[test]
    fn a_command_is_broken_where_a_shell_puts_it_together_again() {
        assert_eq!(wrap_command("mngr list", 20), ["mngr list"]);
        assert_eq!(
            wrap_command("mngr message one 'two three' -- four", 20),
            ["mngr message one \\", "    'two three' -- \\", "    four"]
        );
        assert_eq!(
            wrap_command("mngr 'all in one pair of quotes'", 12),
            ["mngr \\", "    'all in one pair of quotes'"]
        );
    }
}
