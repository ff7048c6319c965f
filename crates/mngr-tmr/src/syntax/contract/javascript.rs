//! Tests in JavaScript and TypeScript: calls of `it` and `test`, inside of calls of `describe` or not.

use tree_sitter::Node;

use super::page::{Page, children, first_statement};

/// Functions that make a test.
const TESTS: [&str; 8] = ["it", "test", "specify", "fit", "xit", "bench", "ftest", "xtest"];
/// Functions around tests.
const AROUND: [&str; 5] = ["describe", "suite", "context", "fdescribe", "xdescribe"];

pub(super) fn read(page: &mut Page<'_>, root: Node<'_>) {
    let first = children(root).into_iter().next().map_or(0, |first| first.start_position().row);
    let docs: Vec<_> = page.head(first).into_iter().collect();
    page.add_file(docs, root);
    let mut open: Vec<(Node<'_>, String)> = vec![(root, String::new())];
    while let Some((node, scope)) = open.pop() {
        let mut inside = scope;
        if let Some((call, role)) = role(page, node) {
            let title = title(page, call);
            let name = page.name(&inside, &title);
            let mut owner = page.owner(name.clone(), node);
            owner.is_test = role == Role::Test;
            if role == Role::Test {
                if let Some(body) = body(call) {
                    owner.first = page.first_inside(body.start_position().row, first_statement(body));
                }
                owner.citations = page.citations(node);
                page.add(owner);
                continue;
            }
            page.add(owner);
            inside = name;
        }
        open.extend(children(node).into_iter().rev().map(|child| (child, inside.clone())));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Test,
    Around,
}

/// What a statement is, and its call.
fn role<'n>(page: &Page<'_>, statement: Node<'n>) -> Option<(Node<'n>, Role)> {
    let call = statement.named_child(0).filter(|_| statement.kind() == "expression_statement")?;
    let mut callee = call.child_by_field_name("function").filter(|_| call.kind() == "call_expression")?;
    // `it.each(table)(...)`, `test.describe(...)`.
    let mut is_around = false;
    let word = loop {
        callee = match callee.kind() {
            "member_expression" => {
                is_around |= page.field(callee, "property") == "describe";
                callee.child_by_field_name("object")?
            }
            "call_expression" => callee.child_by_field_name("function")?,
            _ => break page.text_of(callee),
        };
    };
    match word {
        _ if AROUND.contains(&word) || (is_around && TESTS.contains(&word)) => Some((call, Role::Around)),
        _ if TESTS.contains(&word) => Some((call, Role::Test)),
        _ => None,
    }
}

fn title(page: &Page<'_>, call: Node<'_>) -> String {
    let arguments = call.child_by_field_name("arguments").map(children).unwrap_or_default();
    let title = arguments.first().map(|first| page.text_of(*first)).unwrap_or_default();
    title.trim_matches(['"', '\'', '`']).to_owned()
}

/// The body of the function that a call is given.
fn body(call: Node<'_>) -> Option<Node<'_>> {
    let arguments = children(call.child_by_field_name("arguments")?);
    let mut functions = arguments.into_iter().filter_map(|argument| argument.child_by_field_name("body"));
    functions.rfind(|body| body.kind() == "statement_block")
}
