//! A proposal and the script it is for: put in, marked or for good, and taken out.

use super::gap::{Paragraph, paragraphs, title};
use super::proposal::{Proposal, ProposalId};
use super::splice;
use crate::tutorial::block::NormalText;
use crate::tutorial::{NoteKind, Script};

/// What was done to a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    /// These are its bytes now.
    Written(Vec<u8>),
    /// It was so already.
    Unchanged,
}

/// A proposal has no place in the script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// What it is for is gone.
    #[error("there is no heading or comment `{heading}` any more in `{script}`")]
    NoHeading {
        /// The heading.
        heading: String,
        /// The script.
        script: String,
    },
}

/// The comment above a block that nobody has agreed to yet.
fn marker(id: &ProposalId) -> String {
    format!("# proposed by an agent: keep with `mngr tutorial accept {id}`")
}

/// Puts a proposal below its heading, marked.
pub fn insert_marked(bytes: &[u8], proposal: &Proposal) -> Result<Placed, PlaceError> {
    let marker = marker(&proposal.id);
    if splice::find_line(bytes, &marker).is_some() {
        return Ok(Placed::Unchanged);
    }
    insert(bytes, proposal, &format!("{marker}\n{}", proposal.text))
}

/// Keeps a proposal: takes its mark away, or puts it below its heading.
pub fn keep(bytes: &[u8], proposal: &Proposal) -> Result<Placed, PlaceError> {
    if let Some(line) = splice::find_line(bytes, &marker(&proposal.id)) {
        return Ok(Placed::Written(splice::remove(bytes, line..=line)));
    }
    insert(bytes, proposal, &proposal.text)
}

/// Takes a marked proposal out of the script, with what was made of it since.
pub fn drop_from(bytes: &[u8], proposal: &Proposal) -> Placed {
    let Some(line) = splice::find_line(bytes, &marker(&proposal.id)) else { return Placed::Unchanged };
    let script = Script::parse(&proposal.script, bytes);
    let all = paragraphs(&script);
    let paragraph = all.iter().find(|paragraph| (paragraph.line()..=paragraph.end_line()).contains(&line));
    let (start, end) = paragraph.map_or((line, line), |found| (found.line(), found.end_line()));
    let start = if splice::is_empty(bytes, start - 1) { start - 1 } else { start };
    Placed::Written(splice::remove(bytes, start..=end))
}

fn insert(bytes: &[u8], proposal: &Proposal, text: &str) -> Result<Placed, PlaceError> {
    let script = Script::parse(&proposal.script, bytes);
    let normal = NormalText::of(&proposal.text);
    if script.blocks.iter().any(|block| block.normal == normal) {
        return Ok(Placed::Unchanged);
    }
    let line = end_of(&script, &proposal.heading).ok_or_else(|| PlaceError::NoHeading {
        heading: proposal.heading.clone(),
        script: proposal.script.clone(),
    })?;
    Ok(Placed::Written(splice::insert_after(bytes, line, text)))
}

/// The last line of what stands below a heading, or of a comment.
fn end_of(script: &Script, wanted: &str) -> Option<usize> {
    let note = script.notes.iter().find(|note| title(note) == wanted)?;
    if note.kind == NoteKind::Prose {
        return Some(note.end_line);
    }
    let below = paragraphs(script).into_iter().skip_while(|paragraph| paragraph.line() <= note.line);
    let last = below.take_while(|paragraph| paragraph.is_under(wanted)).last();
    Some(last.map_or(note.end_line, Paragraph::end_line))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::tutorial::fill::{Judge, Offer, Origin};
    use crate::tutorial::lint::Grammars;

    const SCRIPT: &str = "# Bare\n\n# A word on it.\n\n# Full\n\nx list\n";

    fn proposal(text: &str) -> Proposal {
        let script = Script::parse("s", SCRIPT.as_bytes());
        let origin = Origin { script: "s".into(), agent: "a".into(), time: Timestamp::UNIX_EPOCH };
        let offer = Offer { heading: "Bare".into(), text: text.into(), reason: None };
        Judge::new(&script, &Grammars::new()).judge(&Ok(offer), &origin)
    }

    fn written(placed: Placed) -> String {
        let Placed::Written(bytes) = placed else { panic!("unchanged") };
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn proposals_go_to_the_end_of_their_section_one_after_another() {
        let first = written(keep(SCRIPT.as_bytes(), &proposal("x one")).unwrap());
        assert_eq!(first, "# Bare\n\n# A word on it.\n\nx one\n\n# Full\n\nx list\n");
        let second = written(keep(first.as_bytes(), &proposal("x two")).unwrap());
        assert_eq!(second, "# Bare\n\n# A word on it.\n\nx one\n\nx two\n\n# Full\n\nx list\n");
        assert_eq!(keep(second.as_bytes(), &proposal("x two")), Ok(Placed::Unchanged));
        let gone = keep(b"x list\n", &proposal("x one")).unwrap_err();
        assert_eq!(gone.to_string(), "there is no heading or comment `Bare` any more in `s`");
    }

    #[test]
    fn a_marked_proposal_is_kept_as_it_was_edited_or_goes_without_a_trace() {
        let proposal = proposal("x one");
        let marked = written(insert_marked(SCRIPT.as_bytes(), &proposal).unwrap());
        let block = &Script::parse("s", marked.as_bytes()).blocks[0];
        assert!(block.text.ends_with(&format!("mngr tutorial accept {}`\nx one", proposal.id)), "{marked}");
        assert_eq!(insert_marked(marked.as_bytes(), &proposal), Ok(Placed::Unchanged));
        assert_eq!(written(drop_from(marked.as_bytes(), &proposal)), SCRIPT);
        let edited = marked.replace("x one", "x better");
        let kept = written(keep(edited.as_bytes(), &proposal).unwrap());
        assert_eq!(kept, "# Bare\n\n# A word on it.\n\nx better\n\n# Full\n\nx list\n");
        assert_eq!(written(drop_from(edited.as_bytes(), &proposal)), SCRIPT);
        assert_eq!(drop_from(SCRIPT.as_bytes(), &proposal), Placed::Unchanged);
    }
}
