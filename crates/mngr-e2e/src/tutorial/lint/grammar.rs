//! What a program accepts on its command line, as far as somebody knows.

use crate::tutorial::shell::{PLACEHOLDER, Word};

/// Knows what one program accepts.
pub trait Grammar {
    /// What it says about these words, which follow the program's name.
    fn examine(&self, words: &[Word]) -> Verdict;

    /// How many of these words, from the first on, name the command of the program that is meant.
    fn verb_words(&self, _words: &[Word]) -> usize {
        0
    }
}

/// What a grammar says about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// This is wrong with it; nothing, when it is right.
    Known(Vec<Complaint>),
    /// The grammar does not know this part of the program.
    Unknown,
}

/// What is wrong with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What.
    pub message: String,
    /// What was probably meant.
    pub hints: Vec<String>,
    /// Which word it is about, counted from the first after the program.
    pub word: Option<usize>,
}

/// The programs whose commands are checked.
#[derive(Default)]
pub struct Grammars<'g> {
    programs: Vec<(String, &'g dyn Grammar)>,
}

impl<'g> Grammars<'g> {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also knows this program; a path is known by its last part.
    #[must_use]
    pub fn with(mut self, program: &str, grammar: &'g dyn Grammar) -> Self {
        self.programs.push((last_part(program).to_owned(), grammar));
        self
    }

    /// Who knows this program.
    pub(super) fn of(&self, program: &str) -> Option<&'g dyn Grammar> {
        let name = last_part(program);
        self.programs.iter().rev().find(|(known, _)| known == name).map(|(_, grammar)| *grammar)
    }
}

impl Word {
    /// Whether a piece of text came from what only the shell knows.
    pub fn stands_in(text: &str) -> bool {
        text.contains(PLACEHOLDER)
    }
}

fn last_part(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
