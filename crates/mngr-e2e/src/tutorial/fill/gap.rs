//! Where a tutorial says something and shows nothing: headings without blocks, comments that lead to no command.

use serde::Serialize;

use crate::tutorial::heading::comment_text;
use crate::tutorial::{Block, Note, NoteKind, Script};

/// How much of a comment is its title.
const LONGEST_TITLE: usize = 80;

/// Remarks that ask for something.
const REMARKS: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// What a gap is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// A heading without a block below it.
    Heading,
    /// A comment after which the section ends.
    Comment,
    /// `# TODO: ...`
    Remark,
}

/// A place without commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// What it is.
    pub kind: GapKind,
    /// The heading, or the first line of the comment: what proposals name it by.
    pub title: String,
    /// Its first line, counted from 1.
    pub line: usize,
    /// Its last line, counted from 1.
    pub end_line: usize,
    /// Its lines as they are.
    pub text: String,
}

impl Gap {
    fn of(kind: GapKind, note: &Note) -> Self {
        let (line, end_line, text) = (note.line, note.end_line, note.text.clone());
        Self { kind, title: title(note), line, end_line, text }
    }

    fn go_on_with(&mut self, note: &Note) {
        self.end_line = note.end_line;
        self.text += &format!("\n\n{}", note.text);
    }
}

/// What a note is called: its heading, or the beginning of its text.
pub(super) fn title(note: &Note) -> String {
    match &note.kind {
        NoteKind::Heading(heading) => heading.clone(),
        NoteKind::Prose => {
            let texts = note.text.lines().map(comment_text);
            let first = texts.into_iter().find(|text| text.chars().any(char::is_alphanumeric));
            first.unwrap_or_default().chars().take(LONGEST_TITLE).collect()
        }
    }
}

/// A paragraph of a script.
#[derive(Clone, Copy)]
pub(super) enum Paragraph<'s> {
    Note(&'s Note),
    Block(&'s Block),
}

impl Paragraph<'_> {
    pub(super) fn line(self) -> usize {
        match self {
            Self::Note(note) => note.line,
            Self::Block(block) => block.line,
        }
    }

    pub(super) fn end_line(self) -> usize {
        match self {
            Self::Note(note) => note.end_line,
            Self::Block(block) => block.end_line,
        }
    }

    /// Whether it still belongs to the section under this heading.
    pub(super) fn is_under(self, heading: &str) -> bool {
        match self {
            Self::Note(note) => note.kind == NoteKind::Prose,
            Self::Block(block) => block.section.as_deref() == Some(heading),
        }
    }
}

/// All paragraphs, from top to bottom.
pub(super) fn paragraphs(script: &Script) -> Vec<Paragraph<'_>> {
    let notes = script.notes.iter().map(Paragraph::Note);
    let mut all: Vec<_> = notes.chain(script.blocks.iter().map(Paragraph::Block)).collect();
    all.sort_by_key(|paragraph| paragraph.line());
    all
}

/// Finds the gaps, from top to bottom.
pub fn gaps(script: &Script) -> Vec<Gap> {
    let mut search = Search::default();
    for paragraph in paragraphs(script) {
        match paragraph {
            Paragraph::Note(note) => search.note(note),
            Paragraph::Block(block) => search.block(block),
        }
    }
    search.end()
}

#[derive(Default)]
struct Search {
    found: Vec<Gap>,
    /// A heading that has no block yet, and whether it is decorated as the title of a whole part.
    heading: Option<(Gap, bool)>,
    /// Comments after the last block.
    comment: Option<Gap>,
    has_begun: bool,
}

impl Search {
    fn note(&mut self, note: &Note) {
        let is_remark = REMARKS.iter().any(|word| title(note).starts_with(word));
        match &note.kind {
            NoteKind::Heading(_) => {
                let is_part = note.text.lines().count() > 1 || note.text.trim_start().starts_with("##");
                let has_topics = |(_, was_part): &(Gap, bool)| *was_part && !is_part;
                // The title of a part is not bare when topics follow: each of them is looked at for itself.
                self.heading = self.heading.take().filter(|heading| !has_topics(heading));
                self.close();
                self.heading = Some((Gap::of(GapKind::Heading, note), is_part));
                self.has_begun = true;
            }
            NoteKind::Prose if is_remark => self.found.push(Gap::of(GapKind::Remark, note)),
            NoteKind::Prose => match (&mut self.heading, &mut self.comment) {
                (Some((gap, _)), _) | (None, Some(gap)) => gap.go_on_with(note),
                (None, None) if self.has_begun => self.comment = Some(Gap::of(GapKind::Comment, note)),
                // What a script says of itself before it begins.
                (None, None) => {}
            },
        }
    }

    fn block(&mut self, block: &Block) {
        let section = block.section.as_deref();
        self.heading = self.heading.take().filter(|(gap, _)| section != Some(gap.title.as_str()));
        self.comment = None;
        self.close();
        self.has_begun = true;
    }

    fn close(&mut self) {
        self.found.extend(self.heading.take().map(|(gap, _)| gap));
        self.found.extend(self.comment.take());
    }

    fn end(mut self) -> Vec<Gap> {
        self.close();
        self.found.sort_by_key(|gap| gap.line);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(GapKind, usize, usize, String)> {
        let script = Script::parse("s", text.as_bytes());
        gaps(&script).into_iter().map(|gap| (gap.kind, gap.line, gap.end_line, gap.title)).collect()
    }

    #[test]
    fn a_heading_without_a_block_is_a_gap_and_takes_its_comments_along() {
        let text = "# Listing\n\nmngr list\n\n# Managing snapshots\n\n# They hold everything.\n\n## Leaving\nmngr stop a\n";
        assert_eq!(found(text), [(GapKind::Heading, 5, 7, "Managing snapshots".to_owned())]);
        assert_eq!(found("# Managing snapshots").len(), 1);
        assert_eq!(found("# One\n\n# Two\n\nmngr list")[0].3, "One");
    }

    #[test]
    fn the_title_of_a_part_is_no_gap_when_topics_follow() {
        let text =
            "####\n# Part\n####\n\n# Topic\n\nmngr list\n\n####\n# Empty\n####\n\n####\n# Last\n####\n";
        let titles: Vec<String> = found(text).into_iter().map(|gap| gap.3).collect();
        assert_eq!(titles, ["Empty", "Last"]);
    }

    #[test]
    fn a_comment_at_the_end_of_a_section_and_a_remark_are_gaps_but_an_explanation_is_none() {
        let text = "#!/bin/sh\n\n# About this.\n\nmngr list\n\n# Explained.\n\n# At length.\n\nmngr stop a\n\n\
                    # TODO: show undo\n\nmngr start a\n\n# You can also wait.\n\n# More on that.\n";
        assert_eq!(
            found(text),
            [
                (GapKind::Remark, 13, 13, "TODO: show undo".to_owned()),
                (GapKind::Comment, 17, 19, "You can also wait.".to_owned())
            ]
        );
    }
}
