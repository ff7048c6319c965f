//! The whole room on small programs: what is found, what is changed, and that real programs accept it.

use super::*;

fn parse(language: Language, text: &str) -> Source {
    Source::parse(language, text).unwrap_or_else(|| panic!("syntax error in:\n{text}"))
}

/// `line rule: old -> new` of every edit.
fn edits(source: &Source) -> Vec<String> {
    let shown = |edit: &Edit| {
        let old = &source.text()[edit.range.clone()];
        format!("{} {}: {old} -> {}", edit.line, edit.rule, edit.replacement)
    };
    source.edits().iter().map(shown).collect()
}

#[test]
fn functions_have_qualified_names_and_begin_with_what_belongs_to_them() {
    let text = "import os\n\n# About f.\n@cache\ndef f():\n    return 1\n\nclass A:\n    async def g(self):\n        def h(): pass\n        return h\n\nf()\n";
    let source = parse(Language::Python, text);
    let found: Vec<_> = source.functions().iter().map(|f| (f.name.as_str(), f.lines.clone())).collect();
    assert_eq!(found, [("f", 3..=6), ("A.g", 9..=11), ("A.g.h", 10..=10), ("main", 13..=13)]);
}

#[test]
fn a_text_with_syntax_errors_is_not_read() {
    assert!(Source::parse(Language::Python, "def f(:\n").is_none());
    assert!(Source::parse(Language::Shell, "if true; then\n").is_none());
    assert!(Source::parse(Language::Python, &"x = 1\n".repeat(200_000)).is_none());
}

#[test]
fn python_edits_are_small_and_leave_documentation_alone() {
    let text = "def f(a):\n    \"\"\"Doc.\"\"\"\n    if a == 1:\n        raise ValueError(\"bad\")\n    return a + 1\n";
    assert_eq!(
        edits(&parse(Language::Python, text)),
        [
            "2 return_early:  -> ; return None",
            "3 negate_condition: a == 1 -> not (a == 1)",
            "3 change_number: 1 -> 2",
            "4 drop_raise: raise ValueError(\"bad\") -> pass",
            "4 change_text: bad -> mngr",
            "5 return_default: a + 1 -> None",
            "5 swap_arithmetic: + -> -",
            "5 change_number: 1 -> 2",
        ]
    );
}
