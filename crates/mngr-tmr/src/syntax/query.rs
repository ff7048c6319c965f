//! The queries of a language, asked all at once.

use tree_sitter::{Node, Query, QueryCursor, StreamingIterator};

use super::language::Grammar;
use super::rules::{Rules, RulesError};

/// One of the queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section(usize);

/// Queries while they are put together.
#[derive(Debug, Default)]
pub(super) struct QueryParts {
    text: String,
    /// What each is for, and where it ends.
    ends: Vec<(String, usize)>,
}

impl QueryParts {
    /// Adds one.
    pub(super) fn add(&mut self, what: &str, text: &str) -> Section {
        self.text.push_str(text);
        self.text.push('\n');
        self.ends.push((what.to_owned(), self.text.len()));
        Section(self.ends.len() - 1)
    }

    /// All of them as one query, with the section of each of its patterns.
    pub(super) fn prepare(self, grammar: Grammar) -> Result<(Query, Vec<Section>), RulesError> {
        let section = |byte: usize| self.ends.partition_point(|(_, end)| *end <= byte);
        let query = Query::new(&grammar.parser(), &self.text).map_err(|error| {
            let what = self.ends.get(section(error.offset)).map(|(what, _)| what.clone());
            RulesError::Query { what: what.unwrap_or_default(), text: error.to_string() }
        })?;
        let patterns = 0..query.pattern_count();
        let sections = patterns.map(|index| Section(section(query.start_byte_for_pattern(index)))).collect();
        Ok((query, sections))
    }
}

/// One match: its nodes with the names of their captures.
#[derive(Debug)]
pub(super) struct Match<'t> {
    section: Section,
    nodes: Vec<(&'static str, Node<'t>)>,
}

impl<'t> Match<'t> {
    /// The node of this name.
    pub(super) fn get(&self, name: &str) -> Option<Node<'t>> {
        self.nodes.iter().find(|(capture, _)| *capture == name).map(|(_, node)| *node)
    }
}

/// What the queries find in a text.
#[derive(Debug)]
pub(super) struct Matches<'t> {
    all: Vec<Match<'t>>,
}

impl<'t> Matches<'t> {
    /// Asks.
    pub(super) fn find(rules: &'static Rules, root: Node<'t>, text: &str) -> Self {
        let names = rules.query.capture_names();
        let name = |index: u32| names.get(index as usize).copied().unwrap_or_default();
        let mut cursor = QueryCursor::new();
        let mut found = cursor.matches(&rules.query, root, text.as_bytes());
        let mut all = Vec::new();
        while let Some(one) = found.next() {
            let Some(section) = rules.sections.get(one.pattern_index) else { continue };
            let nodes = one.captures().iter().map(|capture| (name(capture.index), capture.node)).collect();
            all.push(Match { section: *section, nodes });
        }
        Self { all }
    }

    /// What one of the queries found.
    pub(super) fn of(&self, section: Section) -> impl Iterator<Item = &Match<'t>> {
        self.all.iter().filter(move |one| one.section == section)
    }

    /// The nodes that one of the queries calls by this name, in the order of the text.
    pub(super) fn nodes(&self, section: Section, name: &str) -> Vec<Node<'t>> {
        let all = self.of(section).flat_map(|one| &one.nodes);
        let mut nodes: Vec<Node<'t>> =
            all.filter(|(found, _)| *found == name).map(|(_, node)| *node).collect();
        nodes.sort_by_key(|node| (node.start_byte(), std::cmp::Reverse(node.end_byte())));
        nodes.dedup();
        nodes
    }
}
