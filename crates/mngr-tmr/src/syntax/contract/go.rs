//! Tests in Go: functions and methods whose names begin as the tool wants it.

use tree_sitter::Node;

use super::page::{Page, children, first_statement};

const BEGINNINGS: [&str; 4] = ["Test", "Benchmark", "Fuzz", "Example"];

pub(super) fn read(page: &mut Page<'_>, root: Node<'_>) {
    let package = children(root).into_iter().find(|child| child.kind() == "package_clause");
    let head = package.map(|package| page.owner(String::new(), package));
    let docs = head.map(|head| [head.docs, head.leads].concat()).unwrap_or_default();
    page.add_file(docs, root);
    for node in children(root) {
        let name = page.field(node, "name");
        let is_function = matches!(node.kind(), "function_declaration" | "method_declaration");
        if !is_function || !BEGINNINGS.iter().any(|word| name.starts_with(word)) {
            continue;
        }
        let receiver = page.field(node, "receiver").trim_matches(['(', ')']);
        let receiver = receiver.rsplit([' ', '*']).next().unwrap_or_default();
        let name = page.name(receiver, name);
        let mut owner = page.owner(name, node);
        owner.is_test = true;
        if let Some(body) = node.child_by_field_name("body") {
            owner.first = page.first_inside(body.start_position().row, first_statement(body));
            owner.citations = page.citations(body);
        }
        page.add(owner);
    }
}
