//! One word: what it says without its quotes, and what only a running shell knows.

use std::ops::Range;

use super::lexer::{Lexer, Unclosed, UnclosedKind};

/// Stands in a word's text for what only a running shell knows.
pub(crate) const PLACEHOLDER: char = '\u{fffc}';

/// How deep substitutions may nest. More is an attack on our stack.
const DEEPEST: usize = 64;

/// Whether a word is known before the shell runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expansion {
    /// It is.
    None,
    /// It is one word, and what it says is known in part or not at all: `"$x"`.
    OneWord,
    /// It can be any number of words: `$x`, `"$@"`.
    AnyWords,
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What it says without quotes, with a placeholder for each expansion.
    pub text: String,
    /// The line it begins at, counted from 1.
    pub line: usize,
    /// Whether it is known before the shell runs.
    pub expansion: Expansion,
    /// Where it is.
    pub(crate) range: Range<usize>,
    /// Commands inside it.
    pub(crate) nested: Vec<Range<usize>>,
    /// Whether a part of it is quoted: then it is no reserved word.
    pub(crate) is_quoted: bool,
}

impl Word {
    /// Whether a part of its text is only known to a running shell.
    pub fn is_known(&self) -> bool {
        self.expansion == Expansion::None
    }

    /// Any number of words that nobody knows.
    pub(crate) fn anything(line: usize) -> Self {
        Self {
            text: PLACEHOLDER.to_string(),
            line,
            expansion: Expansion::AnyWords,
            range: 0..0,
            nested: Vec::new(),
            is_quoted: false,
        }
    }
}

/// Where an expansion stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Bare,
    InString,
}

impl Place {
    fn expansion(self) -> Expansion {
        match self {
            Self::Bare => Expansion::AnyWords,
            Self::InString => Expansion::OneWord,
        }
    }
}

impl Lexer<'_> {
    /// Reads the word that begins here.
    pub(super) fn word(&mut self) -> Result<Word, Unclosed> {
        let start = self.at;
        let line = self.line_of(start);
        let mut word = Word {
            text: String::new(),
            line,
            expansion: Expansion::None,
            range: start..start,
            nested: Vec::new(),
            is_quoted: false,
        };
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' => break,
                '<' | '>' | '(' if self.at > start => break,
                '<' | '>' => {
                    // Only as the beginning of `<(command)`.
                    self.at += 2;
                    self.substitution(&mut word, start, Place::Bare)?;
                }
                '(' => break,
                '\\' => self.escape(&mut word),
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '`' => self.backquoted(&mut word, Place::Bare)?,
                '$' => self.dollar(&mut word, Place::Bare)?,
                other => {
                    word.text.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
        word.range = start..self.at;
        Ok(word)
    }

    /// A backslash outside of quotes: the next character as it is, or no line end.
    fn escape(&mut self, word: &mut Word) {
        self.at += 1;
        if let Some(next) = self.peek() {
            self.at += next.len_utf8();
            if next != '\n' {
                word.text.push(next);
                word.is_quoted = true;
            }
        }
    }

    fn single_quoted(&mut self, word: &mut Word) -> Result<(), Unclosed> {
        let start = self.at;
        let end = self.closing_quote(start, start + 1, |rest| rest.find('\''))?;
        word.text.push_str(&self.text[start + 1..end]);
        word.is_quoted = true;
        self.at = end + 1;
        Ok(())
    }

    /// `$'...'`: its escapes are kept as they are.
    fn ansi_quoted(&mut self, word: &mut Word) -> Result<(), Unclosed> {
        let start = self.at;
        let end = self.closing_quote(start, start + 2, |rest| find_unescaped(rest, '\''))?;
        word.text.push_str(&self.text[start + 2..end]);
        word.is_quoted = true;
        self.at = end + 1;
        Ok(())
    }

    /// The end of a string that nothing is expanded in, after `from`.
    fn closing_quote(
        &self,
        start: usize,
        from: usize,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Result<usize, Unclosed> {
        let limit = self.string_limit(from);
        match find(&self.text[from..limit]) {
            Some(end) => Ok(from + end),
            None => Err(Unclosed { at: start, kind: UnclosedKind::Quote, resume: limit }),
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), Unclosed> {
        let start = self.at;
        let limit = self.string_limit(start);
        word.is_quoted = true;
        self.at += 1;
        while self.at < limit {
            match self.peek() {
                None => break,
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') => match self.text[self.at + 1..].chars().next() {
                    Some('\n') => self.at += 2,
                    Some(next @ ('"' | '\\' | '$' | '`')) => {
                        word.text.push(next);
                        self.at += 2;
                    }
                    _ => {
                        word.text.push('\\');
                        self.at += 1;
                    }
                },
                Some('`') => self.backquoted(word, Place::InString)?,
                Some('$') => self.dollar(word, Place::InString)?,
                Some(other) => {
                    word.text.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
        Err(Unclosed { at: start, kind: UnclosedKind::Quote, resume: limit })
    }

    fn backquoted(&mut self, word: &mut Word, place: Place) -> Result<(), Unclosed> {
        let start = self.at;
        let end = self.closing_quote(start, start + 1, |rest| find_unescaped(rest, '`'))?;
        word.nested.push(start + 1..end);
        self.at = end + 1;
        expand(word, place.expansion());
        Ok(())
    }

    /// What a dollar sign begins.
    fn dollar(&mut self, word: &mut Word, place: Place) -> Result<(), Unclosed> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.starts_with("$((")
            && let Some(end) = self.arithmetic(start + 1)
        {
            self.at = end;
            expand(word, Expansion::OneWord);
            return Ok(());
        }
        if rest.starts_with("$(") {
            self.at += 2;
            return self.substitution(word, start, place);
        }
        if rest.starts_with("${") {
            self.at += 2;
            return self.parameter(word, start, place);
        }
        if rest.starts_with("$'") && place == Place::Bare {
            return self.ansi_quoted(word);
        }
        let name = &rest[1..];
        let plain = name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').count();
        let length = match name.chars().next() {
            Some('0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-') => 1,
            _ => plain,
        };
        self.at += 1 + length;
        if length == 0 {
            word.text.push('$');
        } else {
            let is_list = name.starts_with('@');
            expand(word, if is_list { Expansion::AnyWords } else { place.expansion() });
        }
        Ok(())
    }

    /// After `$(` or `<(`: up to the parenthesis that closes it.
    fn substitution(&mut self, word: &mut Word, start: usize, place: Place) -> Result<(), Unclosed> {
        let inner = self.at;
        self.descend(start)?;
        let end = self.closing_parenthesis(start)?;
        self.depth -= 1;
        word.nested.push(inner..end);
        expand(word, place.expansion());
        Ok(())
    }

    /// After `${`: up to the brace that closes it.
    fn parameter(&mut self, word: &mut Word, start: usize, place: Place) -> Result<(), Unclosed> {
        let inner = self.at;
        self.descend(start)?;
        // What is nested in it is found, what it says is not known anyway.
        let mut ignored = Word::anything(word.line);
        let limit = self.string_limit(inner);
        while self.at < limit {
            match self.peek() {
                None => break,
                Some('}') => {
                    let is_list = self.text[inner..self.at].ends_with("[@]");
                    self.at += 1;
                    self.depth -= 1;
                    word.nested.append(&mut ignored.nested);
                    expand(word, if is_list { Expansion::AnyWords } else { place.expansion() });
                    return Ok(());
                }
                Some('\\') => self.escape(&mut ignored),
                Some('\'') if place == Place::Bare => self.single_quoted(&mut ignored)?,
                Some('"') => self.double_quoted(&mut ignored)?,
                Some('`') => self.backquoted(&mut ignored, place)?,
                Some('$') => self.dollar(&mut ignored, place)?,
                Some(other) => self.at += other.len_utf8(),
            }
        }
        Err(Unclosed { at: start, kind: UnclosedKind::Substitution, resume: limit })
    }

    fn descend(&mut self, start: usize) -> Result<(), Unclosed> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let resume = self.text.len();
            return Err(Unclosed { at: start, kind: UnclosedKind::Substitution, resume });
        }
        Ok(())
    }
}

/// The first `mark` without a backslash before it.
fn find_unescaped(text: &str, mark: char) -> Option<usize> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == mark {
            return Some(at);
        }
    }
    None
}

fn expand(word: &mut Word, expansion: Expansion) {
    word.text.push(PLACEHOLDER);
    word.expansion = word.expansion.max(expansion);
}
