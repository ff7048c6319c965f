//! What is to be done so that tests and tutorial agree, in portions that belong together.

use serde::Serialize;

use super::block::Block;
use super::check::{Changed, Report, Stale};

/// The most things in one portion.
const MOST: usize = 5;

/// A portion with fewer takes its neighbour along if both fit.
const FEW: usize = 3;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorkItem {
    /// No test cites the block.
    Uncited {
        /// The block.
        block: Block,
    },
    /// Tests cite the block as it was.
    Changed(Changed),
    /// Tests cite what is no block.
    Stale(Stale),
}

impl WorkItem {
    /// The heading it stands under.
    pub fn section(&self) -> Option<&str> {
        match self {
            Self::Uncited { block } => block.section.as_deref(),
            Self::Changed(changed) => changed.block.section.as_deref(),
            Self::Stale(stale) => stale.nearest.as_ref().and_then(|block| block.section.as_deref()),
        }
    }

    /// Where it is in the tutorial; what is nowhere comes last.
    fn line(&self) -> usize {
        match self {
            Self::Uncited { block } => block.line,
            Self::Changed(changed) => changed.block.line,
            Self::Stale(stale) => stale.nearest.as_ref().map_or(usize::MAX, |block| block.line),
        }
    }

    /// Whether it is still to be done after this later look.
    pub fn is_open(&self, now: &Report) -> bool {
        let is_uncited = |block: &Block| {
            now.blocks.iter().any(|cited| cited.block.id == block.id && cited.tests.is_empty())
        };
        match self {
            Self::Uncited { block } => is_uncited(block),
            Self::Changed(changed) => is_uncited(&changed.block),
            Self::Stale(stale) => now.stale.iter().any(|other| other.text == stale.text),
        }
    }
}

/// Things that one author should do together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkGroup {
    /// The headings they stand under.
    pub sections: Vec<String>,
    /// What is to be done.
    pub items: Vec<WorkItem>,
}

/// Everything to do, in the order of the tutorial.
pub fn work_list(report: &Report) -> Vec<WorkItem> {
    let uncited = report.uncited().map(|block| WorkItem::Uncited { block: block.clone() });
    let changed = report.changed.iter().cloned().map(WorkItem::Changed);
    let stale = report.stale.iter().cloned().map(WorkItem::Stale);
    let mut items: Vec<WorkItem> = uncited.chain(changed).chain(stale).collect();
    items.sort_by_key(WorkItem::line);
    items
}

/// Portions of three to five where that is possible: what stands under one heading stays together as far as it fits.
pub fn groups(items: &[WorkItem]) -> Vec<WorkGroup> {
    let mut groups: Vec<WorkGroup> = Vec::new();
    for section in items.chunk_by(|a, b| a.section() == b.section()) {
        let parts = section.len().div_ceil(MOST);
        let size = section.len().div_ceil(parts.max(1)).max(1);
        for part in section.chunks(size) {
            let name = part.first().and_then(WorkItem::section).map(str::to_owned);
            match groups.last_mut() {
                Some(last)
                    if last.items.len().min(part.len()) < FEW && last.items.len() + part.len() <= MOST =>
                {
                    last.items.extend_from_slice(part);
                    last.sections.extend(name);
                    last.sections.dedup();
                }
                _ => groups.push(WorkGroup { sections: name.into_iter().collect(), items: part.to_vec() }),
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tutorial::{Script, Strictness, Suite, check};

    fn report(script: &str) -> Report {
        check(&Script::parse("s", script.as_bytes()), &Suite::default(), Strictness::Tutorial)
    }

    fn sizes(sections: &[usize]) -> Vec<usize> {
        let section = |(number, count): (usize, &usize)| {
            let blocks: String = (0..*count).map(|block| format!("x {number} {block}\n\n")).collect();
            format!("## Section {number}\n\n{blocks}")
        };
        let script: String = sections.iter().enumerate().map(section).collect();
        groups(&work_list(&report(&script))).iter().map(|group| group.items.len()).collect()
    }

    #[test]
    fn portions_hold_three_to_five_related_things_where_that_is_possible() {
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&[1]), [1]);
        assert_eq!(sizes(&[4, 4]), [4, 4], "sections stay apart when each is enough");
        assert_eq!(sizes(&[1, 1, 1]), [3]);
        assert_eq!(sizes(&[5, 1]), [5, 1]);
        assert_eq!(sizes(&[11]), [4, 4, 3]);
        assert_eq!(sizes(&[2, 3, 2]), [5, 2]);
        let both = groups(&work_list(&report("## A\n\nx\n\n## B\n\ny\n")));
        assert_eq!(both[0].sections, ["A", "B"]);
    }

    #[test]
    fn a_thing_is_open_until_its_block_is_cited() {
        let script = Script::parse("s", b"x one\n\nx two\n");
        let before = check(&script, &Suite::default(), Strictness::Tutorial);
        let mut after = before.clone();
        after.blocks[0].tests.push(crate::tutorial::CitingTest {
            id: "t".into(),
            file: "t.py".into(),
            line: 1,
        });
        let open: Vec<bool> = work_list(&before).iter().map(|item| item.is_open(&after)).collect();
        assert_eq!(open, [false, true]);
    }
}
