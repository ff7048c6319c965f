//! The words of a line that is still being typed, as a shell would read them.

/// What stands before the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// The words after the program's name; the last one is under the cursor and may be empty.
    pub(super) words: Vec<String>,
    /// Whether the last one is inside quotes.
    is_quoted: bool,
}

impl Line {
    /// Reads it. Of several commands the last one counts: the cursor is in it.
    pub(super) fn read(text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (quote, c) {
                (Some(open), c) if open == c => quote = None,
                (Some('\''), c) => word.get_or_insert_default().push(c),
                (_, '\\') => word.get_or_insert_default().extend(chars.next()),
                (Some(_), c) => word.get_or_insert_default().push(c),
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, '|' | '&' | ';' | '(' | '\n') => {
                    words.clear();
                    word = None;
                }
                (None, c) if c.is_whitespace() => words.extend(word.take()),
                (None, c) => word.get_or_insert_default().push(c),
            }
        }
        words.push(word.unwrap_or_default());
        let program = words.iter().position(|word| !is_assignment(word)).unwrap_or_default();
        let mut words = words.split_off((program + 1).min(words.len()));
        if words.is_empty() {
            words.push(String::new());
        }
        Self { words, is_quoted: quote.is_some() }
    }

    /// How many bytes of the last word a shell leaves as they are: it only replaces what follows the last character that
    /// breaks words.
    pub(super) fn replaced_from(&self, breaks: &str) -> usize {
        let last = self.words.last().map_or("", String::as_str);
        if self.is_quoted {
            return 0;
        }
        let at = last.rfind(|c| breaks.contains(c));
        // Readline lets these two stay in the word they break.
        at.map_or(0, |at| if last[at..].starts_with(['@', '$']) { at } else { at + 1 })
    }
}

/// `NAME=value` before a command.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What bash breaks words at.
    const BREAKS: &str = " \t\n\"'@><=;|&(:";

    fn words(text: &str) -> Vec<String> {
        Line::read(text).words
    }

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        assert_eq!(words("mngr list --fo"), ["list", "--fo"]);
        assert_eq!(words("mngr list "), ["list", ""]);
        assert_eq!(words("mngr message 'a b' c\\ d \"e"), ["message", "a b", "c d", "e"]);
        assert_eq!(words("mngr "), [""]);
    }

    #[test]
    fn the_command_under_the_cursor_counts() {
        assert_eq!(words("mngr list --ids | mngr stop "), ["stop", ""]);
        assert_eq!(words("cd x; A=1 MNGR_PREFIX=y mngr st"), ["st"]);
        assert_eq!(words("echo $(mngr list --r"), ["list", "--r"]);
    }

    #[test]
    fn a_shell_replaces_what_follows_the_last_break() {
        assert_eq!(Line::read("mngr stop fix@lo").replaced_from(BREAKS), 3, "`@` is replaced too");
        assert_eq!(Line::read("mngr list --format=").replaced_from(BREAKS), 9);
        assert_eq!(Line::read("mngr stop 'fix@lo").replaced_from(BREAKS), 0);
        assert_eq!(Line::read("mngr stop fix").replaced_from(BREAKS), 0);
    }
}
