//! Words of a command line, as far as they are known before it runs.

use std::collections::BTreeMap;

use tree_sitter::Node;

/// Stands for a part of a word that only the shell will know.
const UNKNOWN: char = '\u{0}';

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    text: String,
    /// Whether the shell may make several words of it.
    pub(super) splits: bool,
    /// Whether it is the path of a new temporary file.
    pub(super) is_temporary: bool,
}

impl Word {
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), splits: false, is_temporary: false }
    }

    /// One of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self { text: UNKNOWN.to_string(), splits: true, is_temporary: false }
    }

    /// All of it, where all is known.
    pub(super) fn known(&self) -> Option<&str> {
        (!self.text.contains(UNKNOWN)).then_some(self.text.as_str())
    }

    /// Whether it may be an option: it begins with a dash, or with something that is not known.
    pub(super) fn may_be_option(&self) -> bool {
        (self.text.starts_with(['-', UNKNOWN]) && !self.is_temporary) || self.splits
    }

    /// Whether it begins with this text.
    pub(super) fn begins(&self, text: &str) -> bool {
        self.text.starts_with(text)
    }

    /// What can be shown of it.
    pub(super) fn shown(&self) -> String {
        self.text.replace(UNKNOWN, "...")
    }
}

/// The values of variables, as far as they are known.
pub(super) type Variables = BTreeMap<String, Word>;

/// Reads the word of a node. What is substituted in it is judged elsewhere.
pub(super) fn read(node: Node<'_>, source: &str, variables: &Variables) -> Word {
    let mut word = Word::literal("");
    add(node, source, variables, false, &mut word);
    word
}

fn text_of<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

fn add(node: Node<'_>, source: &str, variables: &Variables, is_quoted: bool, word: &mut Word) {
    let text = text_of(node, source);
    match node.kind() {
        "raw_string" => word.text.push_str(text.trim_matches('\'')),
        // The shell puts other words in their place.
        "word" if text.starts_with('~') || text.contains('{') => {
            word.splits = true;
            word.text.push(UNKNOWN);
        }
        "word" | "number" | "variable_name" | "test_operator" => unescape(text, word),
        "extglob_pattern" | "regex" => word.text.push_str(text),
        "string_content" => unescape(text, word),
        "command_name" | "concatenation" => each(node, source, variables, is_quoted, word),
        "string" => quoted(node, source, variables, word),
        "simple_expansion" | "expansion" => expand(text, variables, is_quoted, word),
        "command_substitution" => {
            let inner = text.trim_start_matches("$(").trim_start_matches('`').trim();
            let is_file = inner.starts_with("mktemp") && !inner.contains([';', '|', '&', '\n', '/', '$']);
            word.is_temporary |= is_file && word.text.is_empty();
            word.splits |= !is_quoted && !is_file;
            word.text.push(UNKNOWN);
        }
        _ => {
            word.splits |= !is_quoted;
            word.text.push(UNKNOWN);
        }
    }
}

fn each(node: Node<'_>, source: &str, variables: &Variables, is_quoted: bool, word: &mut Word) {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    if children.is_empty() {
        unescape(text_of(node, source), word);
    }
    for child in children {
        add(child, source, variables, is_quoted, word);
    }
}

/// What stands between `"`. Blanks between its parts are no nodes of their own.
fn quoted(node: Node<'_>, source: &str, variables: &Variables, word: &mut Word) {
    let mut cursor = node.walk();
    let mut at = node.start_byte() + 1;
    for child in node.named_children(&mut cursor) {
        word.text.push_str(source.get(at..child.start_byte()).unwrap_or_default());
        add(child, source, variables, true, word);
        at = child.end_byte();
    }
    word.text.push_str(source.get(at..node.end_byte().saturating_sub(1)).unwrap_or_default());
}

fn unescape(text: &str, word: &mut Word) {
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '\\' if !escaped => escaped = true,
            c => {
                escaped = false;
                word.text.push(c);
            }
        }
    }
}

fn expand(text: &str, variables: &Variables, is_quoted: bool, word: &mut Word) {
    let name = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    match variables.get(name) {
        Some(value) => {
            word.is_temporary |= value.is_temporary && word.text.is_empty();
            word.splits |= value.splits || (!is_quoted && value.text.contains(char::is_whitespace));
            word.text.push_str(&value.text);
        }
        None => {
            word.splits |= !is_quoted;
            word.text.push(UNKNOWN);
        }
    }
}
