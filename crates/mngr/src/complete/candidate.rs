//! One thing that may stand at the cursor, and what a shell is told about all of them.

use mngr_query::sanitize;

/// The longest remark beside a word.
const LONGEST_ABOUT: usize = 60;

/// A word with a remark.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// The whole word.
    pub(super) value: String,
    /// What it is.
    pub(super) about: String,
}

/// What may stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// One of these.
    Words(Vec<Candidate>),
    /// The beginning of one: more is typed right behind it.
    Beginnings(Vec<Candidate>),
    /// A file of this machine, or one of these words.
    Files(Vec<Candidate>),
    /// A folder of this machine.
    Folders,
}

impl Candidate {
    /// A word with a remark.
    pub(super) fn new(value: impl Into<String>, about: impl Into<String>) -> Self {
        Self { value: value.into(), about: about.into() }
    }

    /// A word that explains itself.
    pub(super) fn bare(value: impl Into<String>) -> Self {
        Self::new(value, "")
    }

    /// The word and the remark, for shells that show both.
    pub(super) fn with_about(&self) -> String {
        let about: String = self.about.chars().take(LONGEST_ABOUT).collect();
        if about.is_empty() { self.value.clone() } else { format!("{}\t{about}", self.value) }
    }

    /// Whether a shell takes it as it is. Branches, labels and files are named by others, bash puts what it is offered into
    /// the line unquoted, and nobody reads a line again that TAB has completed.
    fn is_plain(&self) -> bool {
        let is_plain = |c: char| c.is_alphanumeric() || "-_.@:/=,+%".contains(c);
        !self.value.is_empty() && self.value.chars().all(is_plain) && !self.about.contains(char::is_control)
    }
}

impl Answer {
    /// Only what begins as the word does that is typed already, each once.
    pub(super) fn fitting(self, typed: &str) -> Self {
        let fit = |words: Vec<Candidate>| {
            let mut words: Vec<Candidate> = words
                .into_iter()
                .filter(|candidate| candidate.value.starts_with(typed) && candidate.is_plain())
                .collect();
            words.sort();
            words.dedup_by(|a, b| a.value == b.value);
            words
        };
        match self {
            Self::Words(words) => Self::Words(fit(words)),
            Self::Beginnings(words) => Self::Beginnings(fit(words)),
            // A word that looks like a path is one.
            Self::Files(_) if typed.starts_with(['.', '/', '~']) => Self::Files(Vec::new()),
            Self::Files(words) => Self::Files(fit(words)),
            Self::Folders => Self::Folders,
        }
    }

    /// The same, or one of these words.
    pub(super) fn or(mut self, more: Vec<Candidate>) -> Self {
        if let Self::Words(words) | Self::Beginnings(words) | Self::Files(words) = &mut self {
            words.extend(more);
        }
        self
    }

    /// The same with something before each word.
    pub(super) fn behind(mut self, prefix: &str) -> Self {
        if let Self::Words(words) | Self::Beginnings(words) | Self::Files(words) = &mut self {
            for word in words {
                word.value.insert_str(0, prefix);
            }
        }
        self
    }

    /// How a shell is to go on, and the words.
    pub(super) fn print(&self, show: impl Fn(&Candidate) -> String) -> String {
        let (how, words): (&str, &[Candidate]) = match self {
            Self::Words(words) => ("words", words),
            Self::Beginnings(words) => ("open", words),
            Self::Files(words) if words.is_empty() => ("files", words),
            Self::Files(words) => ("words", words),
            Self::Folders => ("folders", &[]),
        };
        let lines = words.iter().map(|word| sanitize_line(&show(word)) + "\n");
        format!("{how}\n{}", lines.collect::<String>())
    }
}

/// A tab parts the word from its remark; nothing else of that kind is let through.
fn sanitize_line(line: &str) -> String {
    line.split('\t').map(sanitize).collect::<Vec<_>>().join("\t")
}
