//! Tests in Python: functions whose names begin with `test`, alone or in classes.

use tree_sitter::Node;

use super::page::{Page, children};
use super::passage::Passage;

pub(super) fn read(page: &mut Page<'_>, root: Node<'_>) {
    let docs = docstring(page, root).map(|(passage, _)| passage).into_iter().collect();
    page.add_file(docs, root);
    let mut open = vec![(root, String::new())];
    while let Some((node, scope)) = open.pop() {
        let definition = match node.kind() {
            "decorated_definition" => node.child_by_field_name("definition").unwrap_or(node),
            _ => node,
        };
        let inside = match definition.kind() {
            "function_definition" => {
                let name = page.field(definition, "name");
                if name.starts_with("test") {
                    let name = page.name(&scope, name);
                    add_test(page, name, node, definition);
                }
                continue;
            }
            "class_definition" => {
                let name = page.name(&scope, page.field(definition, "name"));
                let mut owner = page.owner(name.clone(), node);
                let body = definition.child_by_field_name("body");
                owner.docs = body
                    .and_then(|body| docstring(page, body))
                    .map(|(passage, _)| passage)
                    .into_iter()
                    .collect();
                page.add(owner);
                name
            }
            _ => scope,
        };
        open.extend(children(definition).into_iter().rev().map(|child| (child, inside.clone())));
    }
}

fn add_test(page: &mut Page<'_>, name: String, node: Node<'_>, function: Node<'_>) {
    let mut owner = page.owner(name, node);
    owner.is_test = true;
    let Some(body) = function.child_by_field_name("body") else { return page.add(owner) };
    let doc = docstring(page, body);
    let after = ["return_type", "parameters", "name"].iter().find_map(|it| function.child_by_field_name(it));
    let statements = children(body);
    let first = statements.get(usize::from(doc.is_some())).map(|statement| statement.start_position().row);
    let before = first.unwrap_or_else(|| function.end_position().row + 1);
    owner.first = page.first_inside(after.map_or(0, |node| node.end_position().row), before);
    owner.docs = doc.map(|(passage, _)| passage).into_iter().collect();
    owner.citations = page.citations(body);
    page.add(owner);
}

/// The string that a body begins with.
fn docstring<'t>(page: &Page<'_>, body: Node<'t>) -> Option<(Passage, Node<'t>)> {
    let first = children(body).into_iter().next().filter(|first| first.kind() == "expression_statement")?;
    let string = first.named_child(0).filter(|it| matches!(it.kind(), "string" | "concatenated_string"))?;
    let text = page.text_of(string).trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let quotes = if text.starts_with("\"\"\"") || text.starts_with("'''") { 3 } else { 1 };
    let inside = text.get(quotes..text.len().saturating_sub(quotes)).unwrap_or_default();
    Some((Passage::new(string.start_position().row, inside), string))
}
