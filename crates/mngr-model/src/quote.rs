//! Writing a text so that another reader takes it for exactly that text: a word of POSIX `sh`, a value inside a message.
//!
//! Everything mngr hands to a shell, local or remote, is quoted here and nowhere else. Unquoting is never needed:
//! mngr does not read shell text.

use std::borrow::Cow;

/// Words a shell treats as grammar when they stand first, although every character of theirs is harmless.
const RESERVED_WORDS: [&str; 17] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
    "then", "time", "until", "while",
];

/// How many characters of a foreign text a message repeats.
const EXCERPT_CHARS: usize = 60;

/// `word` spelled so that POSIX `sh` reads it as one word with exactly this text, wherever in a command it stands.
///
/// A harmless word stays as it is, for the reader's sake. Quoting does not stop a program from taking a leading `-`
/// for an option: that is for the caller to prevent. A NUL cannot be in any word of a process and passes through here;
/// whoever spawns refuses it.
pub fn sh_quote(word: &str) -> Cow<'_, str> {
    if is_plain(word) { Cow::Borrowed(word) } else { Cow::Owned(single_quoted(word)) }
}

/// The words as one line of `sh`, each quoted by [`sh_quote`].
pub fn sh_join<I>(words: I) -> String
where
    I: IntoIterator,
    I::Item: AsRef<str>,
{
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&sh_quote(word.as_ref()));
    }
    line
}

/// `text` between single quotes, whether it needs them or not.
pub(crate) fn single_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for (index, piece) in text.split('\'').enumerate() {
        if index > 0 {
            quoted.push_str(r"'\''");
        }
        quoted.push_str(piece);
    }
    quoted.push('\'');
    quoted
}

/// A foreign text fit for one line of a message: its beginning, with control characters written as escapes.
pub fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    let mut chars = text.chars();
    for c in chars.by_ref().take(EXCERPT_CHARS) {
        if is_invisible(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if chars.next().is_some() {
        shown.push_str("...");
    }
    shown
}

/// `=` and `%` are missing on purpose: as first words, `a=b` is an assignment and `%1` resumes a job.
fn is_plain(word: &str) -> bool {
    let is_harmless = |b: u8| b.is_ascii_alphanumeric() || b"_@+:,./-".contains(&b);
    !word.is_empty() && word.bytes().all(is_harmless) && !RESERVED_WORDS.contains(&word)
}

/// Controls, and the marks that reorder or hide the text around them on a terminal.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The words `sh` itself sees in `line`, NUL-separated so that nothing in them can be mistaken for a separator.
    #[expect(clippy::disallowed_types, reason = "the real shell is the judge here")]
    fn words_seen_by_sh(line: &str) -> Vec<String> {
        let script = format!("set -- {line}\nfor w do printf '%s\\0' \"$w\"; done");
        let output = std::process::Command::new("/bin/sh").arg("-c").arg(script).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    /// Reads single-quoted pieces, escaped characters and plain text: the part of `sh` that this module writes.
    fn unquote(word: &str) -> String {
        let (mut text, mut chars, mut inside) = (String::new(), word.chars(), false);
        while let Some(c) = chars.next() {
            match c {
                '\'' => inside = !inside,
                '\\' if !inside => text.extend(chars.next()),
                _ => {
                    assert!(inside || is_plain(&c.to_string()), "`{c}` left unquoted in {word}");
                    text.push(c);
                }
            }
        }
        assert!(!inside, "unbalanced quotes in {word}");
        text
    }

    #[test]
    fn harmless_words_stay_readable() {
        for word in ["ls", "-la", "/a/b.txt", "user@host:path", "a,b", "C++"] {
            assert!(matches!(sh_quote(word), Cow::Borrowed(w) if w == word));
        }
    }

    #[test]
    fn empty_words_assignments_jobs_and_keywords_are_quoted() {
        for word in ["", "A=b", "%1", "while", "~", "#x", "a b", "$(id)", "`id`", "a;b", "*", "!", "{", "é"]
        {
            assert_eq!(sh_quote(word), format!("'{word}'"));
        }
        assert_eq!(sh_quote("it's"), r"'it'\''s'");
    }

    #[test]
    fn the_real_shell_sees_hostile_words_verbatim() {
        let words = [
            "",
            "it's",
            "$(id) `id` $HOME",
            "a\nb\r\n",
            "\\",
            "-n",
            "*",
            "\"",
            "'",
            "''",
            "é\u{1b}[31m",
            "x=y",
        ];
        assert_eq!(words_seen_by_sh(&sh_join(words)), words);
    }

    #[test]
    fn a_keyword_as_the_first_word_is_a_command_name() {
        let line = sh_join(["time", "x"]);
        assert_eq!(line, "'time' x");
    }

    #[test]
    fn an_excerpt_is_short_and_shows_controls_as_escapes() {
        assert_eq!(excerpt("a\u{1b}[31m\n"), "a\\u{1b}[31m\\n");
        assert_eq!(excerpt("\u{202e}abc"), "\\u{202e}abc");
        assert_eq!(excerpt("naïve"), "naïve");
        let long = excerpt(&"x".repeat(10_000));
        assert_eq!(long.len(), EXCERPT_CHARS + 3);
        assert!(long.ends_with("..."));
    }

    proptest! {
        #[test]
        fn quoting_then_unquoting_gives_the_word_back(word in any::<String>()) {
            prop_assert_eq!(unquote(&sh_quote(&word)), word);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_real_shell_agrees(words in proptest::collection::vec("[^\\x00]{0,40}", 1..20)) {
            prop_assert_eq!(words_seen_by_sh(&sh_join(&words)), words);
        }
    }
}
