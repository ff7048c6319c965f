//! Tests in Python files, and what they cite.

use tree_sitter::Node;

use super::docstring;
use super::literal;
use super::syntax::{self, CALL, Literal, Role, Source, TestFile, children, line_of};

/// Calls that change nothing that counts in a citation.
const TRANSPARENT: &[&str] = &["dedent", "cleandoc", "strip", "lstrip", "rstrip"];

const RAW: &str = "r\"\"\"";

/// Reads a file.
pub(crate) fn read(file: &str, text: &str) -> TestFile {
    syntax::read(file, text, (&tree_sitter_python::LANGUAGE.into(), "Python"), RAW, role)
}

fn role(source: &mut Source<'_>, node: Node<'_>) -> Role {
    match node.kind() {
        "class_definition" => Role::Scope(source.field(node, "name").to_owned()),
        // Nobody collects a test inside a function; what it cites is cited by the function around it.
        "function_definition" if source.is_in_function() => Role::Function,
        "function_definition" => match source.field(node, "name") {
            name if name.starts_with("test") => {
                let docstring = docstring_of(source, node);
                let citations = docstring.map(|(text, line)| docstring::citations(&text, line, RAW));
                Role::Test { name: name.to_owned(), citations: citations.unwrap_or_default() }
            }
            _ => Role::Function,
        },
        "call" => {
            if callee(source, node) == Some(CALL) {
                cite(source, node);
            }
            Role::Other
        }
        _ => Role::Other,
    }
}

/// The string that a function's body begins with, and its line.
fn docstring_of(source: &Source<'_>, function: Node<'_>) -> Option<(Literal, usize)> {
    let first = children(function.child_by_field_name("body")?).into_iter().next()?;
    let expression = (first.kind() == "expression_statement").then(|| first.named_child(0))??;
    let is_string = matches!(expression.kind(), "string" | "concatenated_string");
    let literal = is_string.then(|| literal(source, expression))??;
    Some((literal, line_of(expression)))
}

fn cite(source: &mut Source<'_>, call: Node<'_>) {
    let arguments = call.child_by_field_name("arguments").map(children).unwrap_or_default();
    for argument in arguments {
        let value = match argument.kind() {
            "keyword_argument" => argument.child_by_field_name("value").unwrap_or(argument),
            _ => argument,
        };
        let literal = literal(source, value);
        source.cite(value, literal);
    }
}

/// The last part of what is called: `write_tutorial_block` of `self.e2e.write_tutorial_block(...)`.
fn callee<'a>(source: &Source<'a>, call: Node<'_>) -> Option<&'a str> {
    let function = call.child_by_field_name("function")?;
    let name = match function.kind() {
        "attribute" => function.child_by_field_name("attribute")?,
        _ => function,
    };
    Some(source.text_of(name))
}

/// The text of an expression that is made of literals only.
fn literal(source: &Source<'_>, node: Node<'_>) -> Option<Literal> {
    match node.kind() {
        "string" => {
            let is_template = children(node).iter().any(|part| part.kind() == "interpolation");
            if is_template { None } else { literal::python(source.text_of(node)) }
        }
        "concatenated_string" => joined(source, node),
        "binary_operator" if source.field(node, "operator") == "+" => joined(source, node),
        "parenthesized_expression" => literal(source, node.named_child(0)?),
        "call" if callee(source, node).is_some_and(|name| TRANSPARENT.contains(&name)) => {
            let argument = node.child_by_field_name("arguments")?.named_child(0);
            let receiver = || node.child_by_field_name("function")?.child_by_field_name("object");
            literal(source, argument.or_else(receiver)?)
        }
        _ => None,
    }
}

fn joined(source: &Source<'_>, node: Node<'_>) -> Option<Literal> {
    Literal::joined(children(node).into_iter().map(|part| literal(source, part)))
}

#[cfg(test)]
mod tests;
