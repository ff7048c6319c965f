//! The statements of a file, and which of them are assertions.

use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};

use tree_sitter::Node;

use super::normal::normal;
use super::rules::{matches, nodes};
use super::source::{Source, line_at};

/// A statement: the smallest complete ones, and of those that hold others what stands in front of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The innermost function it is in.
    pub function: Option<usize>,
    /// From 1.
    pub lines: RangeInclusive<usize>,
    /// Without comments, and with white space only where it counts.
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
        let found = self.statement_nodes();
        let assertions = self.assertion_starts();
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
            statements.extend(self.statement(*node, node.start_byte()..end, &assertions));
        }
        statements
    }

    fn statement(&self, node: Node<'_>, own: Range<usize>, assertions: &[usize]) -> Option<Statement> {
        let text = normal(self.rules, &self.text, node, &own);
        let end = own.start + self.text.get(own.clone())?.trim_end().len();
        let lines = line_at(&self.text, own.start)..=line_at(&self.text, end);
        let is_assertion = assertions.iter().any(|start| own.contains(start));
        let function = self.function_at(&node.byte_range());
        (!text.is_empty()).then_some(Statement { function, lines, text, is_assertion })
    }

    /// In the order of the text, each before those in it.
    fn statement_nodes(&self) -> Vec<(Role, Node<'_>)> {
        let rules = self.rules;
        let role = |name: &str| if name == "whole" { Role::Whole } else { Role::Statement };
        let found = matches(&rules.statements, self.root(), &self.text).into_iter().flatten();
        let found = found.filter(|(name, _)| matches!(*name, "statement" | "whole"));
        let mut all: Vec<(Role, Node<'_>)> = found.map(|(name, node)| (role(name), node)).collect();
        let documentation = rules.documentation.iter();
        let texts = documentation.flat_map(|query| nodes(query, "documentation", self.root(), &self.text));
        all.extend(texts.map(|node| (Role::Documentation, node)));
        all.sort_by_key(|(role, node)| (node.start_byte(), Reverse(node.end_byte()), *role));
        all.dedup_by_key(|(_, node)| node.byte_range());
        all
    }

    fn assertion_starts(&self) -> Vec<usize> {
        let is_there = |query| !matches(query, self.root(), &self.text).is_empty();
        let valid = self.rules.assertions.iter().filter(|one| one.only_with.as_ref().is_none_or(is_there));
        let found = valid.flat_map(|one| nodes(&one.query, "assertion", self.root(), &self.text));
        found.map(|node| node.start_byte()).collect()
    }
}
