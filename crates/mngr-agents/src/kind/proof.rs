//! Whether a program's own record, as settings describe it, holds a message.

use mngr_config::Pattern;
use regex::{Regex, RegexBuilder};

use crate::said::squeeze;
use crate::screen::ScreenError;

/// How a record holds a message.
#[derive(Debug)]
pub(super) enum RecordPattern {
    /// Anywhere in what was added.
    Anywhere,
    /// As the first group of this, or as all of it where it has no group.
    Group(Regex),
}

impl RecordPattern {
    pub(super) fn compile(pattern: Option<&Pattern>) -> Result<Self, ScreenError> {
        let Some(pattern) = pattern else { return Ok(Self::Anywhere) };
        let regex = RegexBuilder::new(pattern.as_str()).multi_line(true).build();
        regex
            .map(Self::Group)
            .map_err(|source| ScreenError::Pattern { key: "proof.pattern".to_owned(), source })
    }

    /// Whether what was added to the record holds exactly this text. Terminals may change white space, nothing else.
    pub(super) fn shows(&self, appended: &str, text: &str) -> bool {
        match self {
            Self::Anywhere => squeeze(appended).contains(&squeeze(text)),
            Self::Group(regex) => regex.captures_iter(appended).any(|captures| {
                let found = captures.get(1).or_else(|| captures.get(0));
                found.is_some_and(|found| found.as_str().split_whitespace().eq(text.split_whitespace()))
            }),
        }
    }
}
