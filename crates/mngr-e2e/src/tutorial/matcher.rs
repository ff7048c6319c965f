//! Which blocks a cited text consists of.
//!
//! Exact: a paragraph of the text is a block, or several blocks one after another, or none. That its lines are among
//! those of a block is not enough, so a longer block never counts for a shorter one.

use std::collections::HashMap;

use super::block::{Block, NormalText};
use super::citation::{Citation, ReadingKind};
use super::script::{Part, parts};

/// How many paragraphs a block with empty lines in it may be written as.
const LONGEST_RUN: usize = 32;

/// What a citation came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Matched {
    /// The blocks, by their numbers.
    pub(crate) blocks: Vec<usize>,
    /// Paragraphs that are no block.
    pub(crate) stale: Vec<String>,
    /// How the citation had to be read.
    pub(crate) reading: Option<ReadingKind>,
}

impl Matched {
    fn is_complete(&self) -> bool {
        self.stale.is_empty() && !self.blocks.is_empty()
    }
}

/// The blocks of a tutorial by what they say.
pub(crate) struct Matcher<'s> {
    by_text: HashMap<&'s NormalText, Vec<usize>>,
    /// The texts that begin with a line, the longest first.
    by_first_line: HashMap<&'s str, Vec<&'s NormalText>>,
}

impl<'s> Matcher<'s> {
    pub(crate) fn new(blocks: &'s [Block]) -> Self {
        let mut by_text: HashMap<&NormalText, Vec<usize>> = HashMap::new();
        for (number, block) in blocks.iter().enumerate() {
            by_text.entry(&block.normal).or_default().push(number);
        }
        let mut by_first_line: HashMap<&str, Vec<&NormalText>> = HashMap::new();
        for text in by_text.keys() {
            by_first_line.entry(text.lines().next().unwrap_or_default()).or_default().push(text);
        }
        for texts in by_first_line.values_mut() {
            texts.sort_by(|a, b| {
                b.lines().count().cmp(&a.lines().count()).then_with(|| a.as_str().cmp(b.as_str()))
            });
        }
        Self { by_text, by_first_line }
    }

    /// What a citation consists of: the first reading that is blocks and nothing else, or else the plain one.
    pub(crate) fn citation(&self, citation: &Citation) -> Matched {
        let (longer, written): (Vec<_>, Vec<_>) =
            citation.readings.iter().partition(|reading| reading.kind == ReadingKind::Longer);
        let complete = |text: &str| Some(self.text(text)).filter(Matched::is_complete);
        let longer = longer.into_iter().find_map(|reading| complete(&reading.text));
        longer.unwrap_or_else(|| {
            let plain = self.text(&citation.text);
            if plain.is_complete() {
                return plain;
            }
            let as_written = written.into_iter().find_map(|reading| {
                complete(&reading.text).map(|matched| Matched { reading: Some(reading.kind), ..matched })
            });
            as_written.unwrap_or(plain)
        })
    }

    fn text(&self, text: &str) -> Matched {
        if let Some(blocks) = self.by_text.get(&NormalText::of(text)) {
            return Matched { blocks: blocks.clone(), ..Matched::default() };
        }
        self.paragraphs(&parts(text))
    }

    /// Leaves as few paragraphs over as possible; for that, decides from the last one to the first.
    fn paragraphs(&self, paragraphs: &[Part]) -> Matched {
        let mut choices: Vec<Choice> = Vec::with_capacity(paragraphs.len());
        for start in (0..paragraphs.len()).rev() {
            let tail = &paragraphs[start..];
            let left_over =
                |count: usize| choices.get(tail.len().wrapping_sub(count + 1)).map_or(0, |it| it.left_over);
            let run = (1..=tail.len().min(LONGEST_RUN)).filter_map(|count| {
                let text: Vec<&str> = tail[..count].iter().map(|part| part.text.as_str()).collect();
                let blocks = self.by_text.get(&NormalText::of(&text.join("\n")))?.clone();
                Some(Choice { blocks, count, left_over: left_over(count) })
            });
            let tiled =
                self.tiles(&tail[0].text).map(|blocks| Choice { blocks, count: 1, left_over: left_over(1) });
            let is_missed = usize::from(tail[0].has_command);
            let none = Choice { blocks: Vec::new(), count: 1, left_over: left_over(1) + is_missed };
            let best = run.chain(tiled).chain([none]).min_by_key(|choice| choice.left_over);
            choices.extend(best);
        }
        let (mut matched, mut at) = (Matched::default(), 0);
        while let Some(choice) = choices.get((paragraphs.len() - at).wrapping_sub(1)) {
            matched.blocks.extend(&choice.blocks);
            if choice.blocks.is_empty() && paragraphs[at].has_command {
                matched.stale.push(paragraphs[at].text.clone());
            }
            at += choice.count;
        }
        matched
    }

    /// The blocks whose lines, one block after another, are all the lines of this text.
    fn tiles(&self, text: &str) -> Option<Vec<usize>> {
        let normal = NormalText::of(text);
        let lines: Vec<&str> = normal.lines().collect();
        // For each line, the block that begins there and can be followed by others to the end.
        let mut begin: Vec<Option<&NormalText>> = vec![None; lines.len()];
        for start in (0..lines.len()).rev() {
            let texts = self.by_first_line.get(lines[start]).map(Vec::as_slice).unwrap_or_default();
            begin[start] = texts.iter().copied().find(|text| {
                let length = text.lines().count();
                let goes_on =
                    begin.get(start + length).map_or(start + length == lines.len(), Option::is_some);
                goes_on && text.lines().eq(lines[start..].iter().copied().take(length))
            });
        }
        let (mut blocks, mut at) = (Vec::new(), 0);
        while at < lines.len() {
            let text = begin[at]?;
            blocks.extend(self.by_text.get(text).into_iter().flatten().copied());
            at += text.lines().count();
        }
        (!blocks.is_empty()).then_some(blocks)
    }
}

/// What a paragraph is taken for.
struct Choice {
    /// The blocks it is; none when it is left over.
    blocks: Vec<usize>,
    /// How many paragraphs they take.
    count: usize,
    /// How many commands are left over from here to the end.
    left_over: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tutorial::Script;
    use crate::tutorial::citation::{CitationForm, Reading};

    const SCRIPT: &str = "a\n\na\nb\n\n# c\nd\n\ncat <<E\nx\n\ny\nE\n\na\n\nWord: x\nd";

    fn matched(text: &str) -> (Vec<usize>, Vec<String>) {
        let script = Script::parse("s", SCRIPT.as_bytes());
        let matched = Matcher::new(&script.blocks).text(text);
        (matched.blocks, matched.stale)
    }

    #[test]
    fn a_text_is_a_block_only_if_it_says_the_same() {
        assert_eq!(matched("  a  \n b"), (vec![1], vec![]));
        assert_eq!(matched("a"), (vec![0, 4], vec![]), "blocks that say the same are cited together");
        assert_eq!(matched("a\nx\nb"), (vec![], vec!["a\nx\nb".to_owned()]), "an extra line is a difference");
        assert_eq!(matched("b\na").1.len(), 1, "so is another order");
        assert_eq!(matched("A\nb").1.len(), 1, "and another case");
    }

    #[test]
    fn several_blocks_are_found_with_and_without_empty_lines_between_them() {
        assert_eq!(matched("a\n\n# c\nd"), (vec![0, 4, 2], vec![]));
        assert_eq!(matched("# c\nd\na\nb"), (vec![2, 1], vec![]), "the longest block first");
        assert_eq!(matched("a\n\nb"), (vec![1], vec![]), "an empty line inside a cited block is ignored");
        assert_eq!(matched("# c\n\nd\n\nno"), (vec![2], vec!["no".to_owned()]));
        assert_eq!(matched("cat <<E\nx\n\ny\nE"), (vec![3], vec![]));
    }

    #[test]
    fn comments_between_blocks_are_nobodys_mistake() {
        assert_eq!(matched("# about it\n\na\nb"), (vec![1], vec![]));
    }

    #[test]
    fn a_longer_reading_comes_before_the_plain_one_and_the_written_one_last() {
        let script = Script::parse("s", SCRIPT.as_bytes());
        let citation = |text: &str, kind, other: &str| Citation {
            form: CitationForm::Docstring,
            line: 1,
            text: text.to_owned(),
            readings: vec![Reading { kind, text: other.to_owned() }],
        };
        let matcher = Matcher::new(&script.blocks);
        let found = matcher.citation(&citation("", ReadingKind::Longer, "Word: x\nd"));
        assert_eq!(found.blocks, [5]);
        let written = ReadingKind::Written { raw: "r" };
        let found = matcher.citation(&citation("a b", written, "a\nb"));
        assert_eq!((found.blocks, found.reading), (vec![1], Some(written)));
        let found = matcher.citation(&citation("a\nb", written, "a"));
        assert_eq!((found.blocks, found.reading), (vec![1], None), "what the test sees counts first");
    }
}
