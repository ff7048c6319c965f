//! Tests in Rust files, and what they cite.

use tree_sitter::Node;

use super::literal;
use super::syntax::{self, CALL, Literal, Role, Source, TestFile, children};

/// The macro that cites.
const MACRO: &str = "tutorial_block";

/// Methods that change nothing that counts in a citation.
const TRANSPARENT: &[&str] = &["trim", "trim_start", "trim_end", "to_owned", "to_string", "into"];

/// Attributes that make a function a test without ending in `test`.
const OTHER_TEST_ATTRIBUTES: &[&str] = &["test_case", "quickcheck"];

const RAW: &str = "r#\"";

/// Reads a file.
pub(crate) fn read(file: &str, text: &str) -> TestFile {
    syntax::read(file, text, (&tree_sitter_rust::LANGUAGE.into(), "Rust"), RAW, role)
}

fn role(source: &mut Source<'_>, node: Node<'_>) -> Role {
    match node.kind() {
        "mod_item" => Role::Scope(source.field(node, "name").to_owned()),
        "function_item" if !source.is_in_function() && is_test(source, node) => {
            Role::Test { name: source.field(node, "name").to_owned(), citations: Vec::new() }
        }
        "function_item" => Role::Function,
        "call_expression" => {
            if callee(source, node) == Some(CALL) {
                cite_last(source, node);
            }
            Role::Other
        }
        "macro_invocation" if macro_name(source, node) == MACRO => {
            cite_all(source, node);
            Role::Closed
        }
        _ => Role::Other,
    }
}

/// Whether one of the attributes above a function makes it a test: `#[test]`, `#[tokio::test(...)]`, `#[rstest]`.
fn is_test(source: &Source<'_>, function: Node<'_>) -> bool {
    let above = |node: &Node<'_>| node.kind() == "attribute_item" || node.kind().ends_with("comment");
    let mut next = function.prev_named_sibling().filter(above);
    while let Some(node) = next {
        let path = node.named_child(0).and_then(|attribute| attribute.named_child(0));
        let name = path.map(|path| last_segment(source.text_of(path))).unwrap_or_default();
        if node.kind() == "attribute_item"
            && (name.ends_with("test") || OTHER_TEST_ATTRIBUTES.contains(&name))
        {
            return true;
        }
        next = node.prev_named_sibling().filter(above);
    }
    false
}

/// The last part of what is called: `write_tutorial_block` of `self.e2e.write_tutorial_block(...)`.
fn callee<'a>(source: &Source<'a>, call: Node<'_>) -> Option<&'a str> {
    let function = call.child_by_field_name("function")?;
    let name = match function.kind() {
        "field_expression" => function.child_by_field_name("field")?,
        _ => function,
    };
    Some(last_segment(source.text_of(name)))
}

/// The text is the last argument: where the session is one too, it comes first.
fn cite_last(source: &mut Source<'_>, call: Node<'_>) {
    let arguments = call.child_by_field_name("arguments").map(children).unwrap_or_default();
    if let Some(text) = arguments.last() {
        let literal = literal(source, *text);
        source.cite(*text, literal);
    }
}

/// A macro's arguments are no expressions yet: every string among them is a citation.
fn cite_all(source: &mut Source<'_>, node: Node<'_>) {
    let strings: Vec<Node<'_>> = tokens(node).into_iter().filter(|token| is_string(*token)).collect();
    if strings.is_empty() {
        source.cite(node, None);
    }
    for string in strings {
        let literal = literal(source, string);
        source.cite(string, literal);
    }
}

/// The text of an expression that is made of literals only.
fn literal(source: &Source<'_>, node: Node<'_>) -> Option<Literal> {
    match node.kind() {
        _ if is_string(node) => literal::rust(source.text_of(node)),
        "reference_expression" => literal(source, node.child_by_field_name("value")?),
        "parenthesized_expression" => literal(source, node.named_child(0)?),
        "call_expression" if callee(source, node).is_some_and(|name| TRANSPARENT.contains(&name)) => {
            literal(source, node.child_by_field_name("function")?.child_by_field_name("value")?)
        }
        "macro_invocation" if matches!(macro_name(source, node), "concat" | "indoc") => {
            Literal::joined(tokens(node).into_iter().map(|part| literal(source, part)))
        }
        _ => None,
    }
}

fn macro_name<'a>(source: &Source<'a>, node: Node<'_>) -> &'a str {
    last_segment(source.field(node, "macro"))
}

/// What stands between the parentheses of a macro.
fn tokens(node: Node<'_>) -> Vec<Node<'_>> {
    children(node).into_iter().filter(|child| child.kind() == "token_tree").flat_map(children).collect()
}

fn is_string(node: Node<'_>) -> bool {
    node.kind().ends_with("string_literal")
}

fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path).trim()
}

#[cfg(test)]
mod tests;
