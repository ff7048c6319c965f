//! What is peculiar to Python: a statement cannot stand in front of a compound one on the same line, and what is
//! outside of functions runs when a module is imported.

use tree_sitter::Node;

use super::begin::{Entry, Place};
use super::source::{children, text_of};

/// Where the code of a body begins.
pub(super) fn entry(statements: &[Node<'_>]) -> Entry {
    match statements.first() {
        None => Entry::default(),
        Some(first) if is_text(*first) => Entry::at(Place::After(first.end_byte())),
        Some(first) if !is_compound(*first) => Entry::before(first.start_byte()),
        Some(first) => {
            let instead = Place::Instead(first.byte_range());
            Entry { ending: Some(instead), passing: passing(statements) }
        }
    }
}

/// Where something can be evaluated first if the function goes on afterwards.
fn passing(statements: &[Node<'_>]) -> Option<Place> {
    let mut statements = statements.to_vec();
    loop {
        let first = *statements.first()?;
        let expression = match first.kind() {
            "if_statement" | "while_statement" => first.child_by_field_name("condition")?.byte_range(),
            "for_statement" => first.child_by_field_name("right")?.byte_range(),
            "with_statement" => first_context(first)?.byte_range(),
            "match_statement" => {
                let subjects: Vec<Node<'_>> =
                    first.children_by_field_name("subject", &mut first.walk()).collect();
                subjects.first()?.start_byte()..subjects.last()?.end_byte()
            }
            "try_statement" => {
                statements = children(first.child_by_field_name("body")?);
                continue;
            }
            // Only defines something.
            _ if is_compound(first) => {
                statements.remove(0);
                continue;
            }
            _ if is_text(first) => return Some(Place::After(first.end_byte())),
            _ => return Some(Place::Before(first.start_byte())),
        };
        return Some(Place::Around(expression));
    }
}

/// The expression that the first context manager comes from.
fn first_context(with: Node<'_>) -> Option<Node<'_>> {
    let clause = children(with).into_iter().find(|node| node.kind() == "with_clause")?;
    let mut value = children(clause).first()?.child_by_field_name("value")?;
    // `with (a as b, c):` may be read as a tuple.
    while matches!(value.kind(), "as_pattern" | "tuple" | "parenthesized_expression") {
        value = *children(value).first()?;
    }
    Some(value)
}

fn is_compound(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "if_statement"
            | "for_statement"
            | "while_statement"
            | "try_statement"
            | "with_statement"
            | "match_statement"
            | "function_definition"
            | "class_definition"
            | "decorated_definition"
    )
}

/// Whether a statement is only a text, as a docstring is.
fn is_text(node: Node<'_>) -> bool {
    let inner = || node.named_child(0).map(|child| child.kind());
    node.kind() == "expression_statement" && matches!(inner(), Some("string" | "concatenated_string"))
}

/// The statements outside of functions that are the program.
///
/// With a guard these are the ones below it. A module without one may be imported: what defines it is left alone, unless
/// there is nothing else.
pub(super) fn main<'t>(root: Node<'t>, text: &str) -> Vec<Node<'t>> {
    let statements = children(root);
    if let Some(guard) = statements.iter().find(|node| is_guard(**node, text)) {
        return guard.child_by_field_name("consequence").map(children).unwrap_or_default();
    }
    let defines = |node: &Node<'_>| {
        matches!(node.kind(), "function_definition" | "class_definition" | "decorated_definition")
    };
    let is_script = !statements.iter().any(defines);
    statements.into_iter().filter(|node| !is_text(*node) && runs(*node, is_script)).collect()
}

fn is_guard(node: Node<'_>, text: &str) -> bool {
    let condition = (node.kind() == "if_statement").then(|| node.child_by_field_name("condition")).flatten();
    condition.is_some_and(|condition| {
        let said = text_of(text, condition);
        said.contains("__name__") && said.contains("__main__") && said.contains("==")
    })
}

/// Whether a statement does something, and not only defines.
fn runs(node: Node<'_>, is_script: bool) -> bool {
    match node.kind() {
        "expression_statement" => match node.named_child(0).map(|child| (child.kind(), child)) {
            Some(("call" | "await", _)) => true,
            Some(("assignment", assignment)) => {
                let value = assignment.child_by_field_name("right");
                is_script && value.is_some_and(|value| !is_constant(value))
            }
            Some(_) => is_script,
            None => false,
        },
        "if_statement" | "for_statement" | "while_statement" | "with_statement" | "try_statement"
        | "match_statement" => !has_definition(node),
        "import_statement" | "import_from_statement" | "future_import_statement" => false,
        _ => is_script && !is_compound(node),
    }
}

/// Whether nothing has to be computed for a value.
fn is_constant(value: Node<'_>) -> bool {
    let is_computed =
        |kind: &str| matches!(kind, "call" | "await" | "identifier") || kind.ends_with("comprehension");
    !has(value, is_computed)
}

fn has_definition(node: Node<'_>) -> bool {
    has(node, |kind| kind.starts_with("import") || kind.ends_with("definition"))
}

/// Whether a node of such a kind is in it.
fn has(node: Node<'_>, is_meant: impl Fn(&str) -> bool) -> bool {
    let mut ahead = vec![node];
    while let Some(node) = ahead.pop() {
        if is_meant(node.kind()) {
            return true;
        }
        ahead.extend(children(node));
    }
    false
}
