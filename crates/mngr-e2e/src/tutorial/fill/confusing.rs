//! What went wrong with proposals, by command: where agents go wrong, people do.

use std::collections::BTreeMap;

use serde::Serialize;

use super::proposal::{Proposal, ProposalId, Status};

/// One proposal that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Misread {
    /// Which.
    pub id: ProposalId,
    /// Whether it could not be used or was not wanted.
    pub status: Status,
    /// Why.
    pub reasons: Vec<String>,
    /// What it said.
    pub text: String,
}

/// A command that was misunderstood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confusing {
    /// The command without its arguments; nothing where no command could be read.
    pub verb: Option<String>,
    /// How often it went wrong.
    pub count: usize,
    /// Of how many proposals that show it.
    pub proposals: usize,
    /// Each of them.
    pub misread: Vec<Misread>,
}

/// Collects them, the most misunderstood command first.
pub fn confusing(proposals: &[Proposal]) -> Vec<Confusing> {
    let mut by_verb: BTreeMap<Option<&str>, Confusing> = BTreeMap::new();
    for proposal in proposals {
        let misread = misread(proposal);
        let verbs: Vec<Option<&str>> = match proposal.verbs.as_slice() {
            [] => vec![None],
            verbs => verbs.iter().map(|verb| Some(verb.as_str())).collect(),
        };
        for verb in verbs {
            let entry = by_verb.entry(verb).or_insert_with(|| Confusing {
                verb: verb.map(str::to_owned),
                count: 0,
                proposals: 0,
                misread: Vec::new(),
            });
            entry.proposals += 1;
            entry.count += usize::from(misread.is_some());
            entry.misread.extend(misread.clone());
        }
    }
    let mut found: Vec<Confusing> = by_verb.into_values().filter(|it| it.count > 0).collect();
    found.sort_by_key(|it| std::cmp::Reverse(it.count));
    found
}

fn misread(proposal: &Proposal) -> Option<Misread> {
    let reasons = match proposal.status {
        Status::Invalid => proposal.problems.clone(),
        Status::Rejected => proposal.rejected_because.iter().cloned().collect(),
        Status::Proposed | Status::Accepted => return None,
    };
    let (id, status, text) = (proposal.id.clone(), proposal.status, proposal.text.clone());
    Some(Misread { id, status, reasons, text })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn proposal(text: &str, status: Status, verbs: &[&str]) -> Proposal {
        Proposal {
            id: ProposalId::of("s", "h", text),
            status,
            script: "s".into(),
            heading: "h".into(),
            text: text.into(),
            reason: None,
            agent: "a".into(),
            time: Timestamp::UNIX_EPOCH,
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            problems: vec!["bad".into()],
            rejected_because: Some("unwanted".into()),
        }
    }

    #[test]
    fn what_was_refused_is_counted_per_command_and_the_rest_is_not() {
        let found = confusing(&[
            proposal("a", Status::Invalid, &["x list"]),
            proposal("b", Status::Rejected, &["x list", "x stop"]),
            proposal("c", Status::Proposed, &["x list"]),
            proposal("d", Status::Accepted, &["x start"]),
            proposal("e", Status::Invalid, &[]),
        ]);
        let verbs: Vec<_> = found.iter().map(|it| (it.verb.as_deref(), it.count, it.proposals)).collect();
        assert_eq!(verbs, [(Some("x list"), 2, 3), (None, 1, 1), (Some("x stop"), 1, 1)]);
        let reasons: Vec<_> = found[0].misread.iter().map(|it| it.reasons.concat()).collect();
        assert_eq!(reasons, ["bad", "unwanted"]);
    }
}
