//! How a function is made to begin with another statement, on the line where it begins anyway.

use std::ops::Range;

use tree_sitter::Node;

use super::quote;
use super::rules::Rules;
use super::source::{Source, replaced};

/// Where a statement or an expression can be put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Here, in front of other statements.
    Before(usize),
    /// Here, behind another statement.
    After(usize),
    /// Evaluated before this expression.
    Around(Range<usize>),
    /// In place of this statement, which cannot have another in front of it on its line.
    Instead(Range<usize>),
}

/// Where the code of a function begins.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// For a statement that ends the function.
    pub(super) ending: Option<Place>,
    /// For one after which the function goes on.
    pub(super) passing: Option<Place>,
}

/// Bodies that hold statements. Others are expressions.
const BLOCKS: [&str; 4] = ["block", "statement_block", "compound_statement", "subshell"];

impl Entry {
    /// In front of other statements.
    pub(super) fn before(at: usize) -> Self {
        Self::at(Place::Before(at))
    }

    pub(super) fn at(place: Place) -> Self {
        Self { ending: Some(place.clone()), passing: Some(place) }
    }

    /// Inside the braces of a body, behind what has to be first there.
    pub(super) fn of_body(rules: &Rules, firsts: &[Node<'_>], body: Node<'_>, text: &str) -> Self {
        if !BLOCKS.contains(&body.kind()) {
            let is_possible = !rules.begin.around[0].is_empty();
            return if is_possible { Self::at(Place::Around(body.byte_range())) } else { Self::default() };
        }
        let own = firsts.iter().filter(|node| node.parent().is_some_and(|parent| parent == body));
        let at = own.map(|node| node.end_byte()).max().unwrap_or(body.start_byte() + 1);
        // A comment to the end of the line takes its line break with it.
        let at = if text.get(..at).is_some_and(|before| before.ends_with('\n')) { at - 1 } else { at };
        Self::before(at)
    }

    /// Whether the function can be made to fail.
    pub(super) fn can_fail(&self, rules: &Rules) -> bool {
        match &self.ending {
            Some(Place::Around(_)) => !rules.begin.fail_around.is_empty(),
            place => place.is_some(),
        }
    }
}

impl Source {
    /// The text in which these functions fail at their first line. No line moves.
    pub fn failing(&self, which: &dyn Fn(usize) -> bool) -> String {
        let begin = &self.rules.begin;
        let chosen = self.found.shapes.iter().enumerate().filter(|(index, _)| which(*index));
        let places = chosen.filter_map(|(_, shape)| shape.entry.ending.as_ref());
        let parts = places.flat_map(|place| self.put(place, &begin.fail, &begin.fail_around)).collect();
        replaced(&self.text, parts)
    }

    /// The text in which each of these functions first appends its number as a line to a file, at least once in each
    /// process, and gives up silently if that fails. No line moves.
    pub fn recording(&self, which: &dyn Fn(usize) -> Option<u64>, file: &str) -> String {
        let begin = &self.rules.begin;
        let file = quote::literal(self.grammar, file);
        let mut parts = Vec::new();
        for (index, shape) in self.found.shapes.iter().enumerate() {
            let head = self.text.get(shape.head.clone()).unwrap_or_default();
            let is_possible = begin.not_recorded.as_ref().is_none_or(|pattern| !pattern.is_match(head));
            let (Some(number), Some(place), true) = (which(index), &shape.entry.passing, is_possible) else {
                continue;
            };
            let fill = |text: &str| text.replace("{number}", &number.to_string()).replace("{file}", &file);
            parts.extend(self.put(place, &fill(&begin.record), &fill(&begin.record_around)));
        }
        if let (Some((kind, import)), false) = (&begin.import, parts.is_empty()) {
            let root = self.root();
            let after = root.named_children(&mut root.walk()).find(|node| node.kind() == kind);
            parts.extend(after.map(|node| (node.end_byte()..node.end_byte(), import.clone())));
        }
        replaced(&self.text, parts)
    }

    /// Whether recorded functions write their numbers down each time they are called, which can take long.
    pub fn records_every_call(&self) -> bool {
        self.rules.begin.records_every_call
    }

    /// What is to be replaced so that this runs there.
    pub(super) fn put(
        &self,
        place: &Place,
        statement: &str,
        expression: &str,
    ) -> Vec<(Range<usize>, String)> {
        let begin = &self.rules.begin;
        match place {
            Place::Before(at) => vec![(*at..*at, begin.before.replacen("{}", statement, 1))],
            Place::After(at) => vec![(*at..*at, begin.after.replacen("{}", statement, 1))],
            Place::Around(range) => vec![
                (range.start..range.start, begin.around[0].replacen("{}", expression, 1)),
                (range.end..range.end, begin.around[1].clone()),
            ],
            Place::Instead(range) => vec![(range.clone(), self.keep_lines(range, statement))],
        }
    }

    /// A replacement with as many lines as what it replaces.
    pub(super) fn keep_lines(&self, range: &Range<usize>, replacement: &str) -> String {
        let breaks = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
        let before = breaks(self.text.get(range.clone()).unwrap_or_default());
        let missing = before.saturating_sub(breaks(replacement));
        format!("{replacement}{}", format!("{}\n", self.rules.continued).repeat(missing))
    }
}
