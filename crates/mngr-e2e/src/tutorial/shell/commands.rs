//! The simple commands of a text, wherever they stand: pipes, lists, loops, functions, substitutions, here-documents.

use std::ops::Range;

use super::lexer::{Lexer, Strings, Token, Unclosed, UnclosedKind};
use super::word::Word;

/// Words that stand before a command without being part of it.
const BEFORE: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "{", "!", "time"];

/// Words that end a construct; a command does not follow them.
const AFTER: &[&str] = &["fi", "done", "esac", "}"];

/// A command with its words, and what is wrong with the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// In the order in which they end.
    pub(crate) commands: Vec<SimpleCommand>,
    /// What is never closed, with its line, counted from 1.
    pub(crate) unclosed: Vec<(usize, UnclosedKind)>,
    /// Names in angle brackets, which a shell takes for redirections, with their lines.
    pub(crate) blanks_to_fill: Vec<(usize, String)>,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// Its words without assignments and redirections; the first is the program.
    pub(crate) words: Vec<Word>,
    /// As it is written.
    pub(crate) source: String,
}

/// Finds all commands. The first line of the text has the number `first_line`.
pub(crate) fn commands(text: &str, first_line: usize) -> Commands {
    let mut found = Commands::default();
    let mut texts: Vec<(Range<usize>, usize)> = vec![(0..text.len(), first_line)];
    while let Some((range, line)) = texts.pop() {
        let mut reader = Reader::new(&text[range.clone()], line);
        reader.read();
        let inner = reader.nested.iter().rev();
        let lines: Vec<usize> =
            inner.clone().map(|nested| reader.lexer.line_of(nested.start) + line - 1).collect();
        let ranges = inner.map(|nested| range.start + nested.start..range.start + nested.end);
        texts.extend(ranges.zip(lines));
        found.commands.append(&mut reader.found.commands);
        found.unclosed.append(&mut reader.found.unclosed);
        found.blanks_to_fill.append(&mut reader.found.blanks_to_fill);
    }
    found
}

/// What the next words are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// A command, or what stands before it.
    Command,
    /// The name of a function.
    FunctionName,
    /// `for x in ...`, up to the end of the line or `;`.
    ForHead,
    /// `case x in`, up to `in`.
    CaseHead,
    /// `a|b)`, up to the parenthesis.
    CasePattern,
    /// The target of a redirection.
    Target(&'static str),
    /// `(a b c)` of an assignment.
    Array,
}

struct Reader<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    /// To be added to the numbers of lines.
    line_offset: usize,
    state: State,
    /// What a redirection interrupted.
    before_target: State,
    cases: usize,
    words: Vec<Word>,
    nested: Vec<Range<usize>>,
    found: Commands,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, first_line: usize) -> Self {
        Self {
            text,
            lexer: Lexer::new(text, Strings::Anywhere),
            line_offset: first_line - 1,
            state: State::Command,
            before_target: State::Command,
            cases: 0,
            words: Vec::new(),
            nested: Vec::new(),
            found: Commands::default(),
        }
    }

    fn read(&mut self) {
        loop {
            match self.lexer.token() {
                Ok(None) => break,
                Ok(Some(Token::Word(word))) => self.word(word),
                Ok(Some(Token::Operator(operator))) => self.operator(operator),
                Ok(Some(Token::Redirection(marks))) => self.redirection(marks),
                Ok(Some(Token::HereDocument { nested, .. })) => self.nested.extend(nested),
                Ok(Some(Token::Comment)) => {}
                Err(unclosed) => {
                    self.lexer.resume(unclosed.resume);
                    self.complain(unclosed);
                }
            }
        }
        self.finish();
        for unclosed in std::mem::take(&mut self.lexer.endless) {
            self.complain(unclosed);
        }
    }

    fn complain(&mut self, unclosed: Unclosed) {
        let line = self.lexer.line_of(unclosed.at) + self.line_offset;
        self.found.unclosed.push((line, unclosed.kind));
    }

    fn word(&mut self, mut word: Word) {
        word.line += self.line_offset;
        self.nested.extend(word.nested.iter().cloned());
        let plain = if word.is_quoted { "" } else { word.text.as_str() };
        match self.state {
            State::Target(marks) => {
                self.note_blank(marks, &word);
                self.state = self.before_target;
            }
            State::CasePattern if plain == "esac" => self.end_case(),
            State::FunctionName => self.state = State::Command,
            State::ForHead | State::CasePattern | State::Array => {}
            State::CaseHead => {
                if plain == "in" {
                    self.state = State::CasePattern;
                }
            }
            State::Command if self.words.is_empty() => match plain {
                "function" => self.state = State::FunctionName,
                "for" | "select" => self.state = State::ForHead,
                "case" => {
                    self.cases += 1;
                    self.state = State::CaseHead;
                }
                "esac" => self.end_case(),
                reserved if BEFORE.contains(&reserved) || AFTER.contains(&reserved) => {}
                _ if is_assignment(&word) => {
                    let opens_array = self.text[word.range.end..].starts_with('(');
                    if opens_array && word.text.ends_with('=') {
                        self.state = State::Array;
                    }
                }
                _ => self.words.push(word),
            },
            State::Command => {
                // `2` of `2>file` is no argument.
                let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
                let is_descriptor = is_number && self.text[word.range.end..].starts_with(['<', '>']);
                if !is_descriptor {
                    self.words.push(word);
                }
            }
        }
    }

    fn operator(&mut self, operator: &'static str) {
        match (self.state, operator) {
            (State::Array, ")") => self.state = State::Command,
            (State::Array, _) | (State::CasePattern, "(" | "|" | "\n") => {}
            (State::CasePattern, ")") => self.state = State::Command,
            (State::CaseHead, "\n") => {}
            // `name()` is no command but defines one.
            (State::Command, "(") if self.words.len() == 1 && self.lexer.is_at(")") => self.words.clear(),
            (_, ";;" | ";&" | ";;&") if self.cases > 0 => {
                self.finish();
                self.state = State::CasePattern;
            }
            _ => {
                self.finish();
                self.state = State::Command;
            }
        }
    }

    fn redirection(&mut self, marks: &'static str) {
        if !matches!(self.state, State::Target(_)) {
            self.before_target = self.state;
        }
        self.state = State::Target(marks);
    }

    /// `<name>` is meant to be filled in, and read from a file by a shell.
    fn note_blank(&mut self, marks: &str, word: &Word) {
        let is_adjacent = self.text[..word.range.start].ends_with('<');
        if marks == "<" && is_adjacent && !word.is_quoted && self.text[word.range.end..].starts_with('>') {
            self.found.blanks_to_fill.push((word.line, format!("<{}>", word.text)));
        }
    }

    fn end_case(&mut self) {
        self.finish();
        self.cases = self.cases.saturating_sub(1);
        self.state = State::Command;
    }

    fn finish(&mut self) {
        let words = std::mem::take(&mut self.words);
        if let (Some(first), Some(last)) = (words.first(), words.last()) {
            let source = self.text[first.range.start..last.range.end].to_owned();
            self.found.commands.push(SimpleCommand { words, source });
        }
    }
}

/// `NAME=value`, `NAME+=value`, `NAME[0]=value`.
fn is_assignment(word: &Word) -> bool {
    let Some((name, _)) = word.text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests;
