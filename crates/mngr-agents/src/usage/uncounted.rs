//! What programs ask models without recording what it took. It is said, never counted as nothing. Pure.

use serde::Serialize;

use super::SessionTotals;
use crate::transcript::{Brand, Spend};

/// Requests that are known to be missing from a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncounted {
    /// Claude Code says what it used beside the conversation only when it ends.
    ClaudeUntilItEnds,
    /// Codex asks for titles and the like beside its turns and records nothing of that.
    CodexSideRequests,
    /// opencode asks for the title of a conversation and records nothing of that.
    OpencodeTitles,
}

impl Uncounted {
    /// What is missing from what an agent of this brand has recorded.
    pub fn by<'s>(
        brand: Brand,
        mut answers: impl Iterator<Item = &'s Spend>,
        totals: &SessionTotals,
    ) -> std::collections::BTreeSet<Self> {
        let sessions = totals.sessions();
        let is_open = |answer: &Spend| answer.session.as_deref().is_none_or(|own| !sessions.contains(own));
        let missing = match brand {
            Brand::Claude => answers.any(is_open).then_some(Self::ClaudeUntilItEnds),
            Brand::Codex => answers.next().map(|_| Self::CodexSideRequests),
            Brand::Opencode => answers.next().map(|_| Self::OpencodeTitles),
        };
        missing.into_iter().collect()
    }

    /// The same for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::ClaudeUntilItEnds => {
                "what Claude Code used beside the conversation (compaction, titles): it tells when it is stopped"
            }
            Self::CodexSideRequests => {
                "what Codex asked beside its turns (titles and the like): it does not record that"
            }
            Self::OpencodeTitles => "what opencode asked for titles: it does not record that",
        }
    }
}
