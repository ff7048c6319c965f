//! The kinds of change an agent may make. How paths decide the kind is known elsewhere.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a commit is for, as its subject says in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChangeKind {
    /// The test was wrong.
    FixTest,
    /// The test was right, and is better now.
    ImproveTest,
    /// The tutorial was wrong.
    FixTutorial,
    /// The program was wrong.
    FixImpl,
}

impl ChangeKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::FixTest, Self::ImproveTest, Self::FixTutorial, Self::FixImpl];

    /// Its spelling, in outcomes and between the brackets of a commit's subject.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FixTest => "FIX_TEST",
            Self::ImproveTest => "IMPROVE_TEST",
            Self::FixTutorial => "FIX_TUTORIAL",
            Self::FixImpl => "FIX_IMPL",
        }
    }

    /// The kind of that spelling.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind that the subject of a commit names in its brackets.
    pub fn of_subject(subject: &str) -> Option<Self> {
        let (word, _) = subject.strip_prefix('[')?.split_once(']')?;
        Self::named(word)
    }

    /// Whether it changes the program itself, and so stays a commit of its own.
    pub const fn is_implementation(self) -> bool {
        matches!(self, Self::FixImpl)
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_is_the_one_of_the_journal() {
        for kind in ChangeKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(ChangeKind::of_subject(&format!("[{kind}] why")), Some(kind));
        }
        assert_eq!(ChangeKind::of_subject("FIX_TEST"), None);
    }
}
