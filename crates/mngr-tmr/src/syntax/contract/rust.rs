//! Tests in Rust: functions with an attribute that ends in `test`, in files of tests and beside the program.

use tree_sitter::Node;

use super::page::{Page, children, first_statement};

/// Attributes that make a function a test without ending in `test`.
const OTHERS: [&str; 2] = ["test_case", "quickcheck"];

pub(super) fn read(page: &mut Page<'_>, root: Node<'_>) {
    let first = children(root).into_iter().find(|child| child.kind() != "inner_attribute_item");
    let docs = page.inner_docs(0, first.map_or(usize::MAX, |first| first.start_position().row));
    page.add_file(docs, root);
    let mut open: Vec<(Node<'_>, String)> = vec![(root, String::new())];
    while let Some((node, scope)) = open.pop() {
        let inside = match node.kind() {
            "function_item" => {
                if is_test(page, node) {
                    let name = page.name(&scope, page.field(node, "name"));
                    add_test(page, name, node);
                }
                continue;
            }
            "mod_item" => {
                let name = page.name(&scope, page.field(node, "name"));
                let mut owner = page.owner(name.clone(), node);
                if let Some(body) = node.child_by_field_name("body") {
                    owner.docs.extend(page.inner_docs(node.start_position().row + 1, first_statement(body)));
                }
                page.add(owner);
                name
            }
            _ => scope,
        };
        open.extend(children(node).into_iter().rev().map(|child| (child, inside.clone())));
    }
}

fn add_test(page: &mut Page<'_>, name: String, function: Node<'_>) {
    let mut owner = page.owner(name, function);
    owner.is_test = true;
    if let Some(body) = function.child_by_field_name("body") {
        owner.first = page.first_inside(body.start_position().row, first_statement(body));
        owner.citations = page.citations(body);
    }
    page.add(owner);
}

/// Whether one of the attributes above a function makes it a test.
fn is_test(page: &Page<'_>, function: Node<'_>) -> bool {
    let above = |node: &Node<'_>| node.kind() == "attribute_item" || node.kind().ends_with("comment");
    let mut next = function.prev_named_sibling().filter(above);
    while let Some(node) = next {
        let path = node.named_child(0).and_then(|attribute| attribute.named_child(0));
        let name = path.map(|path| page.text_of(path)).unwrap_or_default();
        let name = name.rsplit("::").next().unwrap_or_default().trim();
        if node.kind() == "attribute_item" && (name.ends_with("test") || OTHERS.contains(&name)) {
            return true;
        }
        next = node.prev_named_sibling().filter(above);
    }
    false
}
