//! From what somebody offered to a proposal, with everything that is wrong with it.

use super::gap::{Gap, gaps};
use super::offer::{Offer, Unreadable};
use super::proposal::{Origin, Proposal, ProposalId, Status};
use crate::tutorial::Script;
use crate::tutorial::block::NormalText;
use crate::tutorial::lint::{Grammars, lint_text, verbs};

/// A longer block is no example.
const LONGEST_TEXT: usize = 4096;

/// A longer reason is cut.
const LONGEST_REASON: usize = 1000;

/// Knows what a script lacks and what its commands may look like.
pub struct Judge<'j> {
    script: &'j Script,
    grammars: &'j Grammars<'j>,
    gaps: Vec<Gap>,
}

impl<'j> Judge<'j> {
    /// A judge of proposals for this script.
    pub fn new(script: &'j Script, grammars: &'j Grammars<'j>) -> Self {
        Self { script, grammars, gaps: gaps(script) }
    }

    /// What one line of proposals comes to.
    pub fn judge(&self, line: &Result<Offer, Unreadable>, origin: &Origin) -> Proposal {
        match line {
            Ok(offer) => self.offer(offer, origin),
            Err(Unreadable { text, problem }) => {
                let mut proposal = proposal("", text, None, origin);
                proposal.problems = vec![problem.clone()];
                proposal.status = Status::Invalid;
                proposal
            }
        }
    }

    fn offer(&self, offer: &Offer, origin: &Origin) -> Proposal {
        let heading = offer.heading.trim_start_matches(['#', ' ']).trim_end();
        let text = offer.text.trim_matches('\n').replace("\r\n", "\n");
        let reason = offer.reason.as_ref().map(|reason| reason.chars().take(LONGEST_REASON).collect());
        if text.len() > LONGEST_TEXT {
            let cut: String = text.chars().take(LONGEST_REASON).collect();
            let mut refused = proposal(heading, &cut, reason, origin);
            refused.problems.push(format!("it is {} bytes long, more than {LONGEST_TEXT}", text.len()));
            refused.status = Status::Invalid;
            return refused;
        }
        let mut judged = proposal(heading, &text, reason, origin);
        if !self.gaps.iter().any(|gap| gap.title == heading) {
            judged.problems.push(format!("there is no heading or comment without commands `{heading}`"));
        }
        judged.problems.extend(self.problems(&text));
        judged.verbs = verbs(&text, self.grammars);
        if !judged.problems.is_empty() {
            judged.status = Status::Invalid;
        }
        judged
    }

    fn problems(&self, text: &str) -> Vec<String> {
        if let Some(hidden) = text.chars().find(|c| is_hidden(*c)) {
            return vec![format!("it holds a character that is not shown, U+{:04X}", u32::from(hidden))];
        }
        let parsed = Script::parse("", text.as_bytes());
        let normal = NormalText::of(text);
        match parsed.blocks.as_slice() {
            [block] if parsed.notes.is_empty() && block.normal == normal => {}
            _ => return vec!["it is not one block: consecutive lines with a command among them".to_owned()],
        }
        if self.script.blocks.iter().any(|block| block.normal == normal) {
            return vec!["the tutorial has this block already".to_owned()];
        }
        let findings = lint_text(text, 1, self.grammars).findings;
        findings.into_iter().map(|finding| format!("line {}: {}", finding.line, finding.message)).collect()
    }
}

fn proposal(heading: &str, text: &str, reason: Option<String>, origin: &Origin) -> Proposal {
    Proposal {
        id: ProposalId::of(&origin.script, heading, text),
        status: Status::Proposed,
        script: origin.script.clone(),
        heading: heading.to_owned(),
        text: text.to_owned(),
        reason,
        agent: origin.agent.clone(),
        time: origin.time,
        verbs: Vec::new(),
        problems: Vec::new(),
        rejected_because: None,
    }
}

/// Whether a reader of the script would not see the character, or would see the others in another order.
fn is_hidden(c: char) -> bool {
    let is_invisible = matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    is_invisible || (c.is_control() && c != '\n' && c != '\t')
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::tutorial::lint::{Complaint, Grammar, Verdict, Word};

    /// Complains about every word that begins with `--no`, and has the verb `list all`.
    struct Picky;

    impl Grammar for Picky {
        fn examine(&self, words: &[Word]) -> Verdict {
            let bad = words.iter().enumerate().filter(|(_, word)| word.text.starts_with("--no"));
            let complaint = |(at, word): (usize, &Word)| Complaint {
                message: format!("no {}", word.text),
                hints: vec![],
                word: Some(at),
            };
            Verdict::Known(bad.map(complaint).collect())
        }

        fn verb_words(&self, words: &[Word]) -> usize {
            words.iter().zip(["list", "all"]).take_while(|(word, name)| word.text == *name).count()
        }
    }

    fn judged(heading: &str, text: &str) -> Proposal {
        let script = Script::parse("s", b"# Bare\n\n# Full\n\nx list\n");
        let grammars = Grammars::new().with("x", &Picky);
        let origin = Origin { script: "s".into(), agent: "a".into(), time: Timestamp::UNIX_EPOCH };
        let offer = Offer { heading: heading.to_owned(), text: text.to_owned(), reason: None };
        Judge::new(&script, &grammars).judge(&Ok(offer), &origin)
    }

    #[test]
    fn a_good_block_for_a_gap_is_proposed_with_its_verbs() {
        let good = judged("# Bare", "\n# All of them\nx list all --fast | y --no\n");
        assert_eq!((good.status, good.problems.as_slice()), (Status::Proposed, &[][..]));
        assert_eq!(good.text, "# All of them\nx list all --fast | y --no");
        assert_eq!((good.heading.as_str(), good.verbs), ("Bare", vec!["x list all".to_owned()]));
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        for (heading, text, problem) in [
            ("Full", "x list all", "there is no heading or comment without commands `Full`"),
            ("Bare", "# only words", "it is not one block"),
            ("Bare", "x list a\n\nx list b", "it is not one block"),
            ("Bare", "#!/bin/sh\nx list a", "it is not one block"),
            ("Bare", "x list", "the tutorial has this block already"),
            ("Bare", "# a\nx list --nope", "line 2: no --nope"),
            ("Bare", "x list 'a", "line 1: the quote"),
            ("Bare", "x list \u{1b}[2J", "it holds a character that is not shown, U+001B"),
            ("Bare", "x list \u{202e}a", "it holds a character that is not shown, U+202E"),
            ("Bare", &"x ".repeat(3000), "it is 6000 bytes long"),
        ] {
            let bad = judged(heading, text);
            assert_eq!(bad.status, Status::Invalid, "{text}");
            assert!(bad.problems[0].starts_with(problem), "{text}: {:?}", bad.problems);
        }
    }

    #[test]
    fn a_verb_that_does_not_exist_is_named_by_its_first_word() {
        assert_eq!(judged("Bare", "x snapshots --all").verbs, ["x snapshots"]);
        assert_eq!(judged("Bare", "x --all; $x list").verbs, ["x"]);
    }
}
