//! A file while its texts are looked for: where its comments are, and whom they belong to.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::passage::{Passage, is_remark};
use super::{Contract, ContractText, TextKind};

/// Functions and macros that cite a tutorial.
const CITING: [&str; 3] = ["write_tutorial_block", "tutorial_block", "writeTutorialBlock"];

/// Which kind of comment a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    /// About what follows: `///`, `/** */`.
    Doc,
    /// About what it is in: `//!`.
    Inner,
}

/// A test, or what tests are in.
#[derive(Debug)]
pub(super) struct Owner {
    /// With the names around it.
    pub(super) name: String,
    /// Its rows, with the comments above.
    pub(super) rows: (usize, usize),
    /// Whether it is a test; what is in no way one belongs to the contract only with a test in it.
    pub(super) is_test: bool,
    pub(super) docs: Vec<Passage>,
    pub(super) leads: Vec<Passage>,
    /// The first comment inside.
    pub(super) first: Option<Passage>,
    pub(super) citations: Vec<Passage>,
}

/// A file.
pub(super) struct Page<'t> {
    text: &'t str,
    /// The comments that have their lines for themselves, by row.
    comments: BTreeMap<usize, (Style, String)>,
    /// Rows of attributes and decorators, which may stand between a comment and its test.
    passed: BTreeSet<usize>,
    owners: Vec<Owner>,
    /// How often each name was met: the second test of a name is another one.
    names: BTreeMap<String, usize>,
}

impl<'t> Page<'t> {
    pub(super) fn new(text: &'t str, root: Node<'_>) -> Self {
        let mut page = Self {
            text,
            comments: BTreeMap::new(),
            passed: BTreeSet::new(),
            owners: Vec::new(),
            names: BTreeMap::new(),
        };
        for node in below(root) {
            match node.kind() {
                kind if kind.ends_with("comment") => page.note_comment(node),
                "attribute_item" | "decorator" => page.note_attribute(node),
                _ => {}
            }
        }
        page
    }

    pub(super) fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn field(&self, node: Node<'_>, name: &str) -> &'t str {
        node.child_by_field_name(name).map(|field| self.text_of(field)).unwrap_or_default()
    }

    fn has_own_line(&self, node: Node<'_>) -> bool {
        let before = self.text.get(..node.start_byte()).unwrap_or_default();
        before.rsplit('\n').next().unwrap_or_default().trim().is_empty()
    }

    fn note_comment(&mut self, node: Node<'_>) {
        let row = node.start_position().row;
        let text = self.text_of(node);
        if !self.has_own_line(node) || (row == 0 && text.starts_with("#!")) {
            return;
        }
        let (style, lines) = uncomment(text);
        for (number, line) in lines.into_iter().enumerate() {
            self.comments.insert(row + number, (style, line));
        }
    }

    fn note_attribute(&mut self, node: Node<'_>) {
        // `#[doc = "..."]` is a doc comment in other clothes.
        let name = node.named_child(0).and_then(|attribute| attribute.named_child(0));
        if name.is_some_and(|name| self.text_of(name) == "doc") {
            let text = self.text_of(node).to_owned();
            self.comments.insert(node.start_position().row, (Style::Doc, text));
            return;
        }
        self.passed.extend(rows(node));
    }

    /// A name that is met for the second time gets a number.
    pub(super) fn name(&mut self, scope: &str, name: &str) -> String {
        let whole = if scope.is_empty() { name.to_owned() } else { format!("{scope}::{name}") };
        let count = self.names.entry(whole.clone()).or_default();
        *count += 1;
        if *count == 1 { whole } else { format!("{whole}#{count}") }
    }

    /// The comments that lead something which begins and ends in these rows, as an owner without any other text.
    pub(super) fn owner(&self, name: String, node: Node<'_>) -> Owner {
        let (first, last) = (node.start_position().row, node.end_position().row);
        let mut top = first;
        while let Some(above) = top.checked_sub(1) {
            let is_comment = self.comments.get(&above).is_some_and(|(style, _)| *style != Style::Inner);
            if !is_comment && !self.passed.contains(&above) {
                break;
            }
            top = above;
        }
        let docs = self.passages(top, first, Style::Doc);
        let leads = self.passages(top, first, Style::Plain);
        Owner { name, rows: (top, last), is_test: false, docs, leads, first: None, citations: Vec::new() }
    }

    /// The comments of a style between two rows, without those inside of attributes.
    fn passages(&self, from: usize, to: usize, style: Style) -> Vec<Passage> {
        let mut found: Vec<Passage> = Vec::new();
        for (row, (_, line)) in self
            .comments
            .range(from..to.max(from))
            .filter(|(row, (it, _))| *it == style && !self.passed.contains(row))
        {
            let line = if is_remark(line) { String::new() } else { line.clone() };
            match found.last_mut().filter(|last| last.row + last.lines.len() == *row) {
                Some(last) => last.lines.push(line),
                None => found.push(Passage { row: *row, lines: vec![line] }),
            }
        }
        found.retain(|passage| !passage.is_blank());
        found
    }

    /// The first comment after a row and before the first statement.
    pub(super) fn first_inside(&self, after: usize, before: usize) -> Option<Passage> {
        self.passages(after + 1, before, Style::Plain).into_iter().next()
    }

    /// Comments about what they are in, after a row and before another.
    pub(super) fn inner_docs(&self, from: usize, to: usize) -> Vec<Passage> {
        self.passages(from, to, Style::Inner)
    }

    /// The first comments of the file, before this row.
    pub(super) fn head(&self, before: usize) -> Option<Passage> {
        let plain = self.passages(0, before, Style::Plain).into_iter();
        plain.chain(self.passages(0, before, Style::Doc)).min_by_key(|passage| passage.row)
    }

    /// What is cited by calls below a node.
    pub(super) fn citations(&self, node: Node<'_>) -> Vec<Passage> {
        let cited = |node: Node<'_>| {
            let callee = ["function", "macro", "name"]
                .iter()
                .find_map(|field| node.child_by_field_name(field))
                .filter(|_| {
                    matches!(node.kind(), "call" | "call_expression" | "macro_invocation" | "command")
                })?;
            let name = self.text_of(callee).rsplit(['.', ':']).next().unwrap_or_default().trim();
            let text = self.text.get(callee.end_byte()..node.end_byte())?;
            CITING.contains(&name).then(|| Passage::new(callee.end_position().row, text))
        };
        below(node).into_iter().filter_map(cited).collect()
    }

    /// Takes the file itself up, which owns its doc texts and is no test.
    pub(super) fn add_file(&mut self, docs: Vec<Passage>, root: Node<'_>) {
        let rows = (0, root.end_position().row);
        let (name, leads, citations) = (String::new(), Vec::new(), Vec::new());
        self.add(Owner { name, rows, is_test: false, docs, leads, first: None, citations });
    }

    /// Takes an owner up.
    pub(super) fn add(&mut self, owner: Owner) {
        self.owners.push(owner);
    }

    /// The texts of all that were found.
    pub(super) fn finish(mut self) -> Contract {
        let tests: Vec<String> =
            self.owners.iter().filter(|owner| owner.is_test).map(|owner| owner.name.clone()).collect();
        let holds_test = |name: &str| {
            name.is_empty() || tests.iter().any(|test| test == name || test.starts_with(&format!("{name}::")))
        };
        self.owners.retain(|owner| !tests.is_empty() && holds_test(&owner.name));
        let mut contract = Contract::default();
        let mut used = BTreeSet::new();
        for owner in &self.owners {
            contract.owners.insert(owner.name.clone());
            let first: Vec<Passage> = owner.first.iter().cloned().collect();
            for (kind, passages) in [
                (TextKind::DocString, &owner.docs),
                (TextKind::LeadingComment, &owner.leads),
                (TextKind::FirstComment, &first),
            ] {
                for passage in passages {
                    used.insert(passage.row);
                    add_parts(&mut contract.texts, &owner.name, kind, passage);
                }
            }
            let cited = owner.citations.iter().map(|passage| text(&owner.name, TextKind::Citation, passage));
            contract.texts.extend(cited);
        }
        let last = self.comments.last_key_value().map_or(0, |(row, _)| row + 1);
        for style in [Style::Plain, Style::Doc] {
            for passage in self.passages(0, last, style) {
                if used.contains(&passage.row) {
                    continue;
                }
                let owner = self.owner_of(passage.row);
                contract.texts.push(text(owner, TextKind::Comment, &passage));
                let scopes = passage.parts().scopes;
                contract.texts.extend(scopes.iter().map(|scope| text(owner, TextKind::Scope, scope)));
            }
        }
        contract.texts.sort_by_key(|text| (text.line, text.kind));
        contract
    }

    /// The innermost owner of a row.
    fn owner_of(&self, row: usize) -> &str {
        let around = self.owners.iter().filter(|owner| owner.rows.0 <= row && row <= owner.rows.1);
        around
            .min_by_key(|owner| owner.rows.1 - owner.rows.0)
            .map(|owner| owner.name.as_str())
            .unwrap_or_default()
    }
}

fn add_parts(texts: &mut Vec<ContractText>, owner: &str, kind: TextKind, passage: &Passage) {
    let parts = passage.parts();
    texts.extend(parts.rest.iter().map(|rest| text(owner, kind, rest)));
    texts.extend(parts.citations.iter().map(|cited| text(owner, TextKind::Citation, cited)));
    texts.extend(parts.scopes.iter().map(|scope| text(owner, TextKind::Scope, scope)));
}

fn text(owner: &str, kind: TextKind, passage: &Passage) -> ContractText {
    ContractText { test: owner.to_owned(), kind, text: passage.text(), line: passage.row + 1 }
}

/// The rows of a node. One that ends with a line does not reach into the next.
fn rows(node: Node<'_>) -> std::ops::RangeInclusive<usize> {
    let (first, end) = (node.start_position().row, node.end_position());
    first..=if end.column == 0 && end.row > first { end.row - 1 } else { end.row }
}

/// A node and everything below it, in the order of the text. A list and not the stack of calls: how deep a file nests is
/// up to its author.
pub(super) fn below(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        found.push(node);
        let mut children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
        children.reverse();
        open.extend(children);
    }
    found
}

/// The children with a name in the grammar, without comments.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !child.kind().ends_with("comment")).collect()
}

/// The row of the first statement of a body; the row after it when there is none.
pub(super) fn first_statement(body: Node<'_>) -> usize {
    let first = children(body).into_iter().next();
    match first {
        Some(list) if list.kind() == "statement_list" => first_statement(list),
        Some(first) => first.start_position().row,
        None => body.end_position().row + 1,
    }
}

/// A comment without its marks.
fn uncomment(text: &str) -> (Style, Vec<String>) {
    let own = |line: &str| line.trim_end().to_owned();
    if let Some(inside) = text.strip_prefix("/*") {
        let style = match inside.chars().next() {
            Some('*') if inside.len() > 3 => Style::Doc,
            Some('!') => Style::Inner,
            _ => Style::Plain,
        };
        let inside = inside.strip_suffix("*/").unwrap_or(inside).trim_start_matches(['*', '!']);
        let line = |line: &str| own(line.trim_start().strip_prefix('*').unwrap_or(line));
        return (style, inside.lines().map(line).collect());
    }
    let text = text.trim_end();
    let (style, rest) = match text {
        _ if text.starts_with("//!") => (Style::Inner, &text[3..]),
        _ if text.starts_with("///") && !text.starts_with("////") => (Style::Doc, &text[3..]),
        _ => (Style::Plain, text.trim_start_matches(['#', '/'])),
    };
    (style, vec![own(rest)])
}
