//! The text of a statement without what means nothing: comments, line breaks, spaces.

use std::ops::Range;

use tree_sitter::Node;

use super::rules::Rules;
use super::source::{is_comment, text_of};

/// A piece of a statement that is kept as it is.
struct Token<'a> {
    text: &'a str,
    range: Range<usize>,
    /// Whether a comma here ends a list that needs none.
    is_last_comma: bool,
}

/// The normal text of a part of a node, without what is in one of these places.
pub(super) fn normal(
    rules: &Rules,
    text: &str,
    node: Node<'_>,
    range: &Range<usize>,
    without: &[Range<usize>],
) -> String {
    let mut tokens = tokens(rules, text, node, range);
    tokens.retain(|token| !without.iter().any(|place| place.contains(&token.range.start)));
    let mut result = String::new();
    let mut done = range.start;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map(|next| next.text);
        if token.is_last_comma && matches!(next, Some(")" | "]" | "}")) {
            continue;
        }
        // The grammar may read without a node what is not between words only.
        let gap = text.get(done..token.range.start).unwrap_or_default();
        if !gap.is_empty() && !result.is_empty() && (rules.spaces_count || !is_tight(&result, token.text)) {
            result.push(' ');
        }
        result.push_str(token.text);
        done = token.range.end;
    }
    result.trim().trim_end_matches(';').trim_end().to_owned()
}

/// Whether space between these means nothing.
fn is_tight(before: &str, after: &str) -> bool {
    before.ends_with(['(', '[', '{', '.']) || after.starts_with([')', ']', '}', ',', '.', ';'])
}

fn tokens<'a>(rules: &Rules, text: &'a str, node: Node<'_>, range: &Range<usize>) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut ahead = vec![node];
    while let Some(node) = ahead.pop() {
        let is_outside = node.start_byte() >= range.end || node.end_byte() <= range.start;
        if is_outside || is_comment(node) || node.kind() == "line_continuation" {
            continue;
        }
        let is_whole = rules.texts.iter().any(|kind| kind == node.kind());
        if node.child_count() > 0 && !is_whole {
            let children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
            ahead.extend(children.into_iter().rev());
            continue;
        }
        let said = text_of(text, node);
        if !said.trim().is_empty() {
            let parent = node.parent().map(|parent| parent.kind()).unwrap_or_default();
            let is_last_comma = said == "," && !parent.contains("tuple") && !rules.spaces_count;
            let said = if is_whole { said } else { said.trim() };
            tokens.push(Token { text: said, range: node.byte_range(), is_last_comma });
        }
    }
    tokens
}
