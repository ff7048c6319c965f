//! Words, operators, redirections, comments and here-documents, from left to right.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::word::Word;

/// Longest first, so that the first that fits is the one.
const OPERATORS: &[&str] = &[";;&", ";;", ";&", ";", "&&", "||", "|&", "|", "&", "(", ")"];

/// Longest first, so that the first that fits is the one.
const REDIRECTIONS: &[&str] = &["<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">", "&>>", "&>"];

/// What a text is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A word.
    Word(Word),
    /// What ends or groups commands; a line end is `\n`.
    Operator(&'static str),
    /// Its target is the next word.
    Redirection(&'static str),
    /// A comment.
    Comment,
    /// The lines of a here-document, with its last one, and commands in it.
    HereDocument {
        /// Where.
        range: Range<usize>,
        /// Commands that the shell would run for its text.
        nested: Vec<Range<usize>>,
    },
}

/// Something was opened and never closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unclosed {
    /// Where it was opened.
    pub(crate) at: usize,
    /// What.
    pub(crate) kind: UnclosedKind,
    /// Where reading can go on.
    pub(crate) resume: usize,
}

/// What was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnclosedKind {
    /// A string.
    Quote,
    /// `$(` or `${`.
    Substitution,
    /// A here-document with this end word.
    HereDocument(String),
}

/// How far a string may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// To the end of the text.
    Anywhere,
    /// To the next empty line.
    ToEmptyLine,
}

/// Reads a text.
pub(crate) struct Lexer<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// How many substitutions are open.
    pub(super) depth: usize,
    strings: Strings,
    /// Where each line begins.
    line_starts: Vec<usize>,
    /// Lines by their text without leading tabs: where here-documents can end.
    ends: HashMap<&'t str, Vec<usize>>,
    pending: Vec<HereDocument>,
    queue: VecDeque<Token>,
    /// Here-documents without an end.
    pub(crate) endless: Vec<Unclosed>,
}

struct HereDocument {
    word: String,
    strips_tabs: bool,
    is_quoted: bool,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str, strings: Strings) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
        if text.contains("<<") {
            for (number, line) in text.split('\n').enumerate() {
                ends.entry(line.trim_start_matches('\t')).or_default().push(number);
            }
        }
        Self {
            text,
            at: 0,
            depth: 0,
            strings,
            line_starts,
            ends,
            pending: Vec::new(),
            queue: VecDeque::new(),
            endless: Vec::new(),
        }
    }

    /// Goes on reading elsewhere, outside of everything.
    pub(crate) fn resume(&mut self, at: usize) {
        self.at = at;
        self.depth = 0;
    }

    /// The line of a place, counted from 1.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    /// The next token; `None` at the end.
    pub(crate) fn token(&mut self) -> Result<Option<Token>, Unclosed> {
        if let Some(token) = self.queue.pop_front() {
            return Ok(Some(token));
        }
        self.skip_space();
        let rest = &self.text[self.at..];
        let Some(next) = rest.chars().next() else { return Ok(None) };
        if next == '\n' {
            self.at += 1;
            self.read_here_documents();
            return Ok(Some(Token::Operator("\n")));
        }
        if next == '#' {
            self.at += rest.find('\n').unwrap_or(rest.len());
            return Ok(Some(Token::Comment));
        }
        if rest.starts_with("((")
            && let Some(end) = self.arithmetic(self.at)
        {
            self.at = end;
            return Ok(Some(Token::Operator(";")));
        }
        let is_process = rest.starts_with("<(") || rest.starts_with(">(");
        let begins = |marks: &&&str| rest.starts_with(**marks);
        if let Some(redirection) = REDIRECTIONS.iter().find(begins).filter(|_| !is_process) {
            return self.redirection(redirection).map(Some);
        }
        if let Some(operator) = OPERATORS.iter().find(begins) {
            self.at += operator.len();
            return Ok(Some(Token::Operator(operator)));
        }
        self.word().map(|word| Some(Token::Word(word)))
    }

    /// Whether the text goes on like this.
    pub(crate) fn is_at(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// How far a string that is open at `from` may reach.
    pub(super) fn string_limit(&self, from: usize) -> usize {
        let end = self.text.len();
        if self.strings == Strings::Anywhere {
            return end;
        }
        let mut starts = self.line_starts[self.line_of(from)..].iter().copied().peekable();
        while let Some(start) = starts.next() {
            let line = &self.text[start..starts.peek().copied().unwrap_or(end)];
            if line.trim().is_empty() {
                return start;
            }
        }
        end
    }

    /// The place after `((...))`, if both parentheses are closed together.
    pub(super) fn arithmetic(&self, from: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, byte) in self.text[from..].bytes().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'\n' | b'\'' | b'"' => return None,
                _ => continue,
            }
            let so_far = &self.text[from..from + at + 1];
            if depth == 1 && byte == b')' && !self.text[from + at + 1..].starts_with(')') {
                return None;
            }
            if depth == 0 {
                return so_far.ends_with("))").then_some(from + at + 1);
            }
        }
        None
    }

    /// Reads on to the parenthesis that closes what was opened at `start`, and gives its place.
    pub(super) fn closing_parenthesis(&mut self, start: usize) -> Result<usize, Unclosed> {
        let limit = self.string_limit(start);
        let mut open = 0_usize;
        while self.at < limit {
            match self.token()? {
                None => break,
                Some(Token::Operator("(")) => open += 1,
                Some(Token::Operator(")")) if open == 0 => return Ok(self.at - 1),
                Some(Token::Operator(")")) => open -= 1,
                Some(_) => {}
            }
        }
        Err(Unclosed { at: start, kind: UnclosedKind::Substitution, resume: limit })
    }

    fn skip_space(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            self.at += space;
            match rest[space..].strip_prefix("\\\n") {
                Some(_) => self.at += 2,
                None => return,
            }
        }
    }

    fn redirection(&mut self, marks: &'static str) -> Result<Token, Unclosed> {
        let start = self.at;
        self.at += marks.len();
        if matches!(marks, "<<" | "<<-") {
            self.skip_space();
            let word = self.word()?;
            let strips_tabs = marks == "<<-";
            let document = HereDocument { word: word.text, strips_tabs, is_quoted: word.is_quoted };
            if document.word.is_empty() {
                return Ok(Token::Comment);
            }
            if self.end_of(&document, self.line_of(self.at)).is_some() {
                self.pending.push(document);
            } else {
                let kind = UnclosedKind::HereDocument(document.word);
                self.endless.push(Unclosed { at: start, kind, resume: self.at });
            }
            return Ok(Token::Comment);
        }
        Ok(Token::Redirection(marks))
    }

    /// The number of the line that ends a here-document, from the line with this number (counted from 0) on.
    fn end_of(&self, document: &HereDocument, from: usize) -> Option<usize> {
        let candidates = self.ends.get(document.word.as_str())?;
        let later = &candidates[candidates.partition_point(|line| *line < from)..];
        let has_tab = |line: usize| self.text[self.line_starts[line]..].starts_with('\t');
        later.iter().copied().find(|line| document.strips_tabs || !has_tab(*line))
    }

    fn read_here_documents(&mut self) {
        for document in std::mem::take(&mut self.pending) {
            let first = self.line_of(self.at) - 1;
            let Some(last) = self.end_of(&document, first) else { continue };
            let end = self.line_starts.get(last + 1).copied().unwrap_or(self.text.len());
            let range = self.at..end;
            let nested = if document.is_quoted { Vec::new() } else { self.commands_in(range.clone()) };
            self.queue.push_back(Token::HereDocument { range, nested });
            self.at = end;
        }
    }

    /// The `$(...)` of a here-document's text.
    fn commands_in(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let body = &self.text[range.clone()];
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = body[from..].find("$(") {
            let start = from + at;
            let mut inner = Lexer::new(&body[start + 2..], Strings::Anywhere);
            inner.depth = self.depth + 1;
            from = start + 2;
            if let Ok(end) = inner.closing_parenthesis(0) {
                found.push(range.start + from..range.start + from + end);
                from += end;
            }
        }
        found
    }
}
