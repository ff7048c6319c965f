//! Finding functions, and the test code between them.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use regex::Regex;
use tree_sitter::Node;

use super::begin::Entry;
use super::language::Grammar;
use super::python;
use super::query::Matches;
use super::rules::Rules;
use super::source::{children, is_comment, lines_of, text_of};

/// What the code outside of functions is called.
const MAIN: &str = "main";

/// What it is called where a function has that name.
const TOP_LEVEL: &str = "<top level>";

/// What a function without a name is called.
const ANONYMOUS: &str = "<anonymous>";

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// With the names of the classes, modules and functions around it.
    pub name: String,
    /// From 1, with the decorators, attributes and comments directly above it.
    pub lines: RangeInclusive<usize>,
    /// Its body in bytes.
    pub body: Range<usize>,
    /// Whether it is a test, or part of one.
    pub is_test: bool,
    /// Whether it can be made to fail at its first line.
    pub can_fail: bool,
}

/// What else is known about a function.
#[derive(Debug)]
pub(super) struct Shape {
    /// Where its code begins.
    pub(super) entry: Entry,
    /// The return type as it is written.
    pub(super) returns: String,
    /// What stands in front of the body.
    pub(super) head: Range<usize>,
    /// Where what belongs to it begins.
    pub(super) start: usize,
    /// The parts of the text that are its code.
    pub(super) parts: Vec<Range<usize>>,
    /// Whether it is what is outside of functions.
    pub(super) is_main: bool,
}

/// What was found in a file. Shapes are in the order of the functions.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) functions: Vec<Function>,
    pub(super) shapes: Vec<Shape>,
    pub(super) test_code: Vec<RangeInclusive<usize>>,
    /// What is a test, in bytes.
    pub(super) tests: Vec<Range<usize>>,
}

/// A function while it is looked for.
struct Candidate<'t> {
    node: Node<'t>,
    body: Node<'t>,
    name: Option<String>,
    returns: String,
}

/// Finds everything.
pub(super) fn find(grammar: Grammar, rules: &'static Rules, root: Node<'_>, text: &str) -> Found {
    let matches = Matches::find(rules, root, text);
    let tests: Vec<Range<usize>> = matches.nodes(rules.tests, "test").iter().map(Node::byte_range).collect();
    let attribute = rules.test_attribute.as_ref();
    let test_code = attribute.map(|pattern| test_items(pattern, root, text)).unwrap_or_default();
    let candidates = candidates(rules, &matches, text);
    let scopes = scopes(rules, &matches, text, &candidates);

    let firsts = matches.nodes(rules.first, "first");
    let mut found = Found { functions: Vec::new(), shapes: Vec::new(), test_code, tests };
    for candidate in &candidates {
        let range = candidate.node.byte_range();
        let (start, lines) = lines(rules, candidate.node, text);
        let in_test_code = found.test_code.iter().any(|code| code.contains(lines.end()));
        let is_test =
            in_test_code || found.tests.iter().any(|test| test.start <= range.start && range.end <= test.end);
        let entry = match grammar {
            Grammar::Python => python::entry(&children(candidate.body)),
            _ => Entry::of_body(rules, &firsts, candidate.body, text),
        };
        let mut names: Vec<&str> = scopes_of(candidate.node, &scopes);
        let own = candidate.name.as_deref().unwrap_or(ANONYMOUS);
        names.push(own);
        found.functions.push(Function {
            name: names.join(&rules.separator),
            lines,
            body: candidate.body.byte_range(),
            is_test,
            can_fail: entry.can_fail(rules),
        });
        found.shapes.push(Shape {
            entry,
            returns: candidate.returns.clone(),
            head: range.start..candidate.body.start_byte(),
            start,
            parts: vec![candidate.body.byte_range()],
            is_main: false,
        });
    }
    add_main(grammar, rules, &matches, root, text, &mut found);
    found
}

/// The functions with a body, in the order of the text.
fn candidates<'t>(rules: &Rules, matches: &Matches<'t>, text: &str) -> Vec<Candidate<'t>> {
    let mut all: BTreeMap<(usize, usize), Candidate<'t>> = BTreeMap::new();
    for found in matches.of(rules.functions) {
        let get = |name| found.get(name);
        let (Some(node), Some(body)) = (get("function"), get("body")) else { continue };
        let word = |name| get(name).map(|node| text_of(text, node).trim().to_owned());
        let name = match (word("owner"), word("name")) {
            (Some(owner), Some(name)) => {
                let owner = owner.trim_start_matches('*').split(['[', '<']).next().unwrap_or_default().trim();
                Some(format!("{owner}{}{name}", rules.separator))
            }
            (_, name) => name,
        };
        let returns = word("returns").unwrap_or_default().trim_start_matches(':').trim().to_owned();
        let key = (body.start_byte(), body.end_byte());
        let is_better = all.get(&key).is_none_or(|known| known.name.is_none() && name.is_some());
        if is_better {
            all.insert(key, Candidate { node, body, name, returns });
        }
    }
    // One without a name is part of the function around it.
    let bodies: Vec<(usize, usize)> = all.keys().copied().collect();
    let is_nested =
        |key: &(usize, usize)| bodies.iter().any(|body| body != key && body.0 <= key.0 && key.1 <= body.1);
    all.retain(|key, candidate| candidate.name.is_some() || !is_nested(key));
    let mut all: Vec<Candidate<'t>> = all.into_values().collect();
    all.sort_by_key(|candidate| candidate.node.start_byte());
    all
}

/// The names of everything that names are qualified by, by the id of its node.
fn scopes(
    rules: &Rules,
    matches: &Matches<'_>,
    text: &str,
    candidates: &[Candidate<'_>],
) -> BTreeMap<usize, String> {
    let mut scopes = BTreeMap::new();
    for found in matches.of(rules.scopes) {
        if let (Some(scope), Some(name)) = (found.get("scope"), found.get("name")) {
            let name = text_of(text, name).split('<').next().unwrap_or_default().trim();
            scopes.insert(scope.id(), name.to_owned());
        }
    }
    let functions = candidates.iter().filter_map(|one| Some((one.node.id(), one.name.clone()?)));
    scopes.extend(functions);
    scopes
}

/// The names around a node, the outermost first.
fn scopes_of<'s>(node: Node<'_>, scopes: &'s BTreeMap<usize, String>) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut around = node.parent();
    while let Some(node) = around {
        names.extend(scopes.get(&node.id()).map(String::as_str));
        around = node.parent();
    }
    names.reverse();
    names
}

/// The lines of a function with what belongs to it above, and where that begins.
fn lines(rules: &Rules, function: Node<'_>, text: &str) -> (usize, RangeInclusive<usize>) {
    let mut node = function;
    while let Some(parent) =
        node.parent().filter(|parent| rules.wrappers.iter().any(|kind| kind == parent.kind()))
    {
        node = parent;
    }
    let mut lines = lines_of(node);
    let mut start = node.start_byte();
    let mut above = node.prev_named_sibling();
    while let Some(sibling) = above {
        let belongs = is_comment(sibling) || sibling.kind() == "attribute_item";
        let (first, last) = lines_of(sibling).into_inner();
        if !belongs
            || !begins_its_line(sibling, text)
            || last + 1 < *lines.start()
            || is_first_line(sibling, text)
        {
            break;
        }
        lines = first.min(*lines.start())..=*lines.end();
        start = sibling.start_byte();
        above = sibling.prev_named_sibling();
    }
    (start, lines)
}

fn begins_its_line(node: Node<'_>, text: &str) -> bool {
    let before = text.get(..node.start_byte()).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().trim().is_empty()
}

/// Whether a comment says which program runs the file.
fn is_first_line(node: Node<'_>, text: &str) -> bool {
    node.start_byte() == 0 && text.starts_with("#!")
}

/// The lines of items that an attribute makes test code.
fn test_items(pattern: &Regex, root: Node<'_>, text: &str) -> Vec<RangeInclusive<usize>> {
    let mut found = Vec::new();
    let mut ahead = vec![root];
    while let Some(node) = ahead.pop() {
        let mut first_line = None;
        for child in node.named_children(&mut node.walk()) {
            match child.kind() {
                "inner_attribute_item" if pattern.is_match(text_of(text, child)) => {
                    found.push(lines_of(node));
                }
                "attribute_item" => {
                    let is_test = pattern.is_match(text_of(text, child));
                    first_line = first_line.or(is_test.then(|| *lines_of(child).start()));
                }
                _ if is_comment(child) => {}
                _ => match first_line.take() {
                    Some(first) => found.push(first..=*lines_of(child).end()),
                    None => ahead.push(child),
                },
            }
        }
    }
    found.sort_by_key(|lines| *lines.start());
    found
}

/// Adds what is outside of functions but runs.
fn add_main(
    grammar: Grammar,
    rules: &Rules,
    matches: &Matches<'_>,
    root: Node<'_>,
    text: &str,
    found: &mut Found,
) {
    let statements = match grammar {
        Grammar::Python => python::main(root, text),
        _ => matches.nodes(rules.main, "main"),
    };
    let (Some(first), Some(last)) = (statements.first(), statements.last()) else { return };
    let entry = match grammar {
        Grammar::Python => python::entry(&statements),
        _ => Entry::before(first.start_byte()),
    };
    let has_main = found.functions.iter().any(|function| function.name == MAIN);
    let body = first.start_byte()..last.end_byte();
    found.functions.push(Function {
        name: if has_main { TOP_LEVEL } else { MAIN }.to_owned(),
        lines: *lines_of(*first).start()..=*lines_of(*last).end(),
        can_fail: entry.can_fail(rules),
        is_test: false,
        body,
    });
    found.shapes.push(Shape {
        entry,
        returns: String::new(),
        head: first.start_byte()..first.start_byte(),
        start: first.start_byte(),
        parts: statements.iter().map(Node::byte_range).collect(),
        is_main: true,
    });
}
