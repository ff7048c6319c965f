//! Tests in `sh`: the file is the test; what its functions say belongs to it too.

use tree_sitter::Node;

use super::page::{Owner, Page, children, first_statement};

pub(super) fn read(page: &mut Page<'_>, root: Node<'_>) {
    let first = children(root).into_iter().next().map_or(usize::MAX, |first| first.start_position().row);
    let leads: Vec<_> = page.head(first).into_iter().collect();
    let rows = (0, root.end_position().row);
    let citations = page.citations(root);
    page.add(Owner {
        leads,
        first: None,
        rows,
        citations,
        docs: Vec::new(),
        name: String::new(),
        is_test: true,
    });
    let mut open: Vec<Node<'_>> = vec![root];
    while let Some(node) = open.pop() {
        if node.kind() == "function_definition" {
            let name = page.name("", &format!("{}()", page.field(node, "name")));
            let mut owner = page.owner(name, node);
            owner.is_test = true;
            // A comment at the top of the file is about the file.
            owner.leads.retain(|passage| !is_head(page, first, passage.row));
            if let Some(body) = node.child_by_field_name("body") {
                owner.first = page.first_inside(body.start_position().row, first_statement(body));
            }
            page.add(owner);
            continue;
        }
        open.extend(children(node).into_iter().rev());
    }
}

fn is_head(page: &Page<'_>, first: usize, row: usize) -> bool {
    page.head(first).is_some_and(|head| head.row == row)
}
