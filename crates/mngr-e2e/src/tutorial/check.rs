//! Both directions compared: every block is cited by a test, and every cited block exists.

use std::collections::BTreeMap;

use serde::Serialize;

use super::block::{Block, NormalText};
use super::change;
use super::citation::{Citation, ReadingKind, Test};
use super::matcher::Matcher;
use super::problem::{Problem, ProblemKind, Severity};
use super::script::Script;
use super::suite::Suite;

/// Whether tests may cite nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// The scanned files may hold other tests too.
    Tutorial,
    /// Every test in the scanned files has to cite a block.
    EveryTest,
}

/// A citing test, with the place of its citation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CitingTest {
    /// Its full name: `tests/test_create.py::test_name`.
    pub id: String,
    /// Its file, as it was named.
    pub file: String,
    /// The line of the citation, counted from 1.
    pub line: usize,
}

/// A block and who cites it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CitedBlock {
    /// The block.
    pub block: Block,
    /// The tests, in the order of files and lines.
    pub tests: Vec<CitingTest>,
}

/// A block that tests cite as it was before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// The block as it is.
    pub block: Block,
    /// What the tests cite.
    pub was: String,
    /// From one to the other, as a unified diff.
    pub diff: String,
    /// How alike the two are, from 0 to 1.
    pub likeness: f32,
    /// The tests that cite the old text.
    pub tests: Vec<CitingTest>,
}

/// Cited text that is no block, and that no uncited block resembles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stale {
    /// The text.
    pub text: String,
    /// A block that resembles it and is cited by others.
    pub nearest: Option<Block>,
    /// The tests that cite it.
    pub tests: Vec<CitingTest>,
}

/// What comparing a tutorial with its tests came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// All blocks of the tutorial, with the tests that cite them as they are.
    pub blocks: Vec<CitedBlock>,
    /// Blocks that were edited after they were cited.
    pub changed: Vec<Changed>,
    /// Citations of what is gone.
    pub stale: Vec<Stale>,
    /// Tests that cite nothing, if they were asked for.
    pub uncited_tests: Vec<CitingTest>,
    /// How many tests cite something.
    pub citing_tests: usize,
    /// What is wrong with the files.
    pub problems: Vec<Problem>,
}

impl Report {
    /// Blocks that no test cites, neither as they are nor as they were.
    pub fn uncited(&self) -> impl Iterator<Item = &Block> {
        let is_changed = |block: &Block| self.changed.iter().any(|changed| changed.block.id == block.id);
        let without_test = self.blocks.iter().filter(|cited| cited.tests.is_empty());
        without_test.map(|cited| &cited.block).filter(move |block| !is_changed(block))
    }

    /// How many blocks are cited as they are.
    pub fn cited(&self) -> usize {
        self.blocks.iter().filter(|cited| !cited.tests.is_empty()).count()
    }

    /// Whether everything is in order.
    pub fn is_clean(&self) -> bool {
        let has_error = self.problems.iter().any(|problem| problem.kind.severity() == Severity::Error);
        self.cited() == self.blocks.len()
            && self.stale.is_empty()
            && self.uncited_tests.is_empty()
            && !has_error
    }
}

/// Compares a tutorial with what tests cite.
pub fn check(script: &Script, suite: &Suite, strictness: Strictness) -> Report {
    let matcher = Matcher::new(&script.blocks);
    let mut blocks: Vec<CitedBlock> =
        script.blocks.iter().map(|block| CitedBlock { block: block.clone(), tests: Vec::new() }).collect();
    let mut problems = [script.problems.as_slice(), &suite.problems].concat();
    // Several tests that cite the same old text are one case.
    let mut stale: BTreeMap<String, (NormalText, Vec<CitingTest>)> = BTreeMap::new();
    for test in &suite.tests {
        for citation in &test.citations {
            let matched = matcher.citation(citation);
            let complain = |kind| Problem { file: test.id.file.clone(), line: citation.line, kind };
            if let Some(ReadingKind::Written { raw }) = matched.reading {
                problems.push(complain(ProblemKind::Backslash { raw }));
            }
            if matched.blocks.is_empty() && matched.stale.is_empty() {
                problems.push(complain(ProblemKind::NoCommand));
            }
            for block in matched.blocks {
                add(&mut blocks[block].tests, citing(test, citation));
            }
            for text in matched.stale {
                let normal = NormalText::of(&text);
                let key = normal.as_str().to_owned();
                add(&mut stale.entry(key).or_insert_with(|| (normal, Vec::new())).1, citing(test, citation));
            }
        }
    }
    let (changed, stale) = tell_changes(&blocks, stale.into_values().collect());
    let uncited_tests = match strictness {
        Strictness::Tutorial => Vec::new(),
        Strictness::EveryTest => {
            suite.tests.iter().filter(|test| test.citations.is_empty()).map(bare).collect()
        }
    };
    let citing_tests = suite.tests.iter().filter(|test| !test.citations.is_empty()).count();
    Report { blocks, changed, stale, uncited_tests, citing_tests, problems }
}

/// Of what is cited and gone, what was edited and what was removed.
fn tell_changes(
    blocks: &[CitedBlock],
    stale: Vec<(NormalText, Vec<CitingTest>)>,
) -> (Vec<Changed>, Vec<Stale>) {
    let (cited, uncited): (Vec<&CitedBlock>, Vec<&CitedBlock>) =
        blocks.iter().partition(|block| !block.tests.is_empty());
    let texts = |blocks: &[&CitedBlock]| blocks.iter().map(|it| it.block.normal.clone()).collect::<Vec<_>>();
    let old: Vec<&NormalText> = stale.iter().map(|(text, _)| text).collect();
    let uncited_texts = texts(&uncited);
    let pairs = change::pair(&old, &uncited_texts.iter().collect::<Vec<_>>());
    let mut changed: Vec<Changed> = Vec::new();
    for pair in &pairs {
        let (text, tests) = &stale[pair.old];
        let block = uncited[pair.new].block.clone();
        let diff = change::diff(text, &block.normal);
        let was = text.as_str().to_owned();
        changed.push(Changed { block, was, diff, likeness: pair.likeness, tests: tests.clone() });
    }
    changed.sort_by_key(|changed| changed.block.line);

    let is_paired = |number: &usize| pairs.iter().any(|pair| pair.old == *number);
    let lost: Vec<usize> = (0..stale.len()).filter(|number| !is_paired(number)).collect();
    let lost_texts: Vec<&NormalText> = lost.iter().map(|number| &stale[*number].0).collect();
    let cited_texts = texts(&cited);
    let nearest = change::nearest(&lost_texts, &cited_texts.iter().collect::<Vec<_>>());
    let mut gone: Vec<Stale> = Vec::new();
    for (number, nearest) in lost.into_iter().zip(nearest) {
        let (text, tests) = &stale[number];
        let nearest = nearest.map(|near| cited[near].block.clone());
        gone.push(Stale { text: text.as_str().to_owned(), nearest, tests: tests.clone() });
    }
    gone.sort_by(|a, b| a.tests.cmp(&b.tests));
    (changed, gone)
}

fn add(tests: &mut Vec<CitingTest>, test: CitingTest) {
    // A test may cite a block twice; once is enough to know.
    if tests.iter().all(|known| known.id != test.id) {
        tests.push(test);
    }
}

fn citing(test: &Test, citation: &Citation) -> CitingTest {
    CitingTest { line: citation.line, ..bare(test) }
}

fn bare(test: &Test) -> CitingTest {
    CitingTest { id: test.id.to_string(), file: test.id.file.clone(), line: test.line }
}

#[cfg(test)]
mod tests;
