//! The statements of a file, and which of them are assertions.

use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};

use tree_sitter::Node;

use super::normal::normal;
use super::query::Matches;
use super::source::Source;

/// A statement: the smallest complete ones, and of those that hold others what stands in front of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The innermost function it is in, or whose head it is, or above which it stands as a decorator or attribute.
    pub function: Option<usize>,
    /// From 1.
    pub lines: RangeInclusive<usize>,
    /// Without comments, without the message of an assertion, and with white space only where it counts.
    pub text: String,
    /// Whether it is there to fail.
    pub is_assertion: bool,
}

/// What a query says about a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Documentation,
    Whole,
    Statement,
}

impl Source {
    /// The statements in the order of the text. Documentation is none.
    pub fn statements(&self) -> Vec<Statement> {
        let matches = Matches::find(self.rules, self.root(), &self.text);
        let found = self.statement_nodes(&matches);
        let assertions = self.assertion_starts(&matches);
        let messages = self.messages(&matches);
        let mut statements = Vec::new();
        let mut whole_until = 0;
        for (index, (role, node)) in found.iter().enumerate() {
            if *role == Role::Documentation || node.end_byte() <= whole_until {
                continue;
            }
            let nested = found.get(index + 1).filter(|(_, next)| next.start_byte() < node.end_byte());
            let end = match (role, nested) {
                (Role::Statement, Some((_, nested))) => nested.start_byte(),
                _ => node.end_byte(),
            };
            if *role == Role::Whole {
                whole_until = node.end_byte();
            }
            statements.extend(self.statement(*node, node.start_byte()..end, &assertions, &messages));
        }
        statements
    }

    fn statement(
        &self,
        node: Node<'_>,
        own: Range<usize>,
        assertions: &[usize],
        messages: &[Range<usize>],
    ) -> Option<Statement> {
        let text = normal(self.rules, &self.text, node, &own, messages);
        let end = own.start + self.text.get(own.clone())?.trim_end().len();
        let lines = self.line_at(own.start)..=self.line_at(end);
        let is_assertion = assertions.iter().any(|start| own.contains(start));
        let function = self.function_headed_by(&own).or_else(|| self.function_at(&node.byte_range()));
        (!text.is_empty()).then_some(Statement { function, lines, text, is_assertion })
    }

    /// The function between whose beginning and whose body this is.
    fn function_headed_by(&self, own: &Range<usize>) -> Option<usize> {
        let shapes = &self.found.shapes;
        let functions = shapes.len() - usize::from(shapes.last().is_some_and(|shape| shape.is_main));
        let begun = shapes.get(..functions)?.partition_point(|shape| shape.start <= own.start);
        // The last one begins nearest to the statement.
        let index = begun.checked_sub(1)?;
        (own.start < shapes.get(index)?.head.end).then_some(index)
    }

    /// In the order of the text, each before those in it.
    fn statement_nodes<'t>(&self, matches: &Matches<'t>) -> Vec<(Role, Node<'t>)> {
        let rules = self.rules;
        let mut all = Vec::new();
        for (role, section, name) in [
            (Role::Documentation, rules.documentation, "documentation"),
            (Role::Whole, rules.statements, "whole"),
            (Role::Statement, rules.statements, "statement"),
        ] {
            let nodes = matches.nodes(section, name).into_iter().filter(|node| !is_in_head(*node));
            all.extend(nodes.map(|node| (role, node)));
        }
        all.sort_by_key(|(role, node)| (node.start_byte(), Reverse(node.end_byte()), *role));
        all.dedup_by_key(|(_, node)| node.byte_range());
        all
    }

    /// What assertions say only when they fail.
    fn messages(&self, matches: &Matches<'_>) -> Vec<Range<usize>> {
        let mut messages = Vec::new();
        for message in &self.rules.messages {
            for list in matches.nodes(message.query, "list") {
                messages.extend(after_comma(list, message.checked));
            }
        }
        messages
    }

    fn assertion_starts(&self, matches: &Matches<'_>) -> Vec<usize> {
        let is_there = |section| matches.of(section).next().is_some();
        let valid = self.rules.assertions.iter().filter(|one| one.only_with.is_none_or(is_there));
        let found = valid.flat_map(|one| matches.nodes(one.query, "assertion"));
        found.map(|node| node.start_byte()).collect()
    }
}

/// What stands behind so many parts of a list: from the comma to the end of the last part.
fn after_comma(list: Node<'_>, parts: usize) -> Option<Range<usize>> {
    let all: Vec<Node<'_>> = list.children(&mut list.walk()).collect();
    // In the tokens of a macro a comma may stand between types.
    if all.iter().any(|node| matches!(node.kind(), "<" | ">" | "::")) {
        return None;
    }
    let comma = all.iter().filter(|node| node.kind() == ",").nth(parts.checked_sub(1)?)?;
    let last = all.iter().rfind(|node| !matches!(node.kind(), ")" | "]" | "}"))?;
    Some(comma.start_byte()..last.end_byte())
}

/// Whether a statement is part of the head of another, as in `for (let i = 0; ...)`.
fn is_in_head(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| parent.child_by_field_name("initializer") == Some(node))
}
