//! What is found in Python files.

use super::*;
use crate::tutorial::problem::ProblemKind;

fn cited(text: &str) -> Vec<(String, Vec<String>)> {
    let file = read("t.py", text);
    assert_eq!(file.problems, [], "{text}");
    let texts =
        |test: &crate::tutorial::Test| test.citations.iter().map(|it| it.text.trim().to_owned()).collect();
    file.tests.iter().map(|test| (test.id.name.clone(), texts(test))).collect()
}

fn only(text: &str) -> Vec<String> {
    let mut tests = cited(text);
    assert_eq!(tests.len(), 1, "{text}");
    tests.remove(0).1
}

fn problems(text: &str) -> Vec<(usize, ProblemKind)> {
    read("t.py", text).problems.into_iter().map(|problem| (problem.line, problem.kind)).collect()
}

#[test]
fn every_kind_of_test_function_is_found() {
    let text = r#"
import pytest

def helper(): pass

@pytest.mark.parametrize("x", [(1), (2)])
def test_plain(
    x: dict = {"a)": 1},  # ):
    *,
    e2e,
):
    e2e.write_tutorial_block("a")

async def test_async(e2e):
    with x:
        await e2e.write_tutorial_block("b")

class TestThings(Base):
    def test_first(self): self.e2e.write_tutorial_block("c")
    class TestInner:
        def test_second(self):
            write_tutorial_block("d")
            write_tutorial_block("e")

if True:
    def test_conditional(): write_tutorial_block(text="f")

def test_nothing(e2e):
    def test_inner(): pass
"#;
    let expected = [
        ("test_plain", vec!["a"]),
        ("test_async", vec!["b"]),
        ("TestThings::test_first", vec!["c"]),
        ("TestThings::TestInner::test_second", vec!["d", "e"]),
        ("test_conditional", vec!["f"]),
        ("test_nothing", vec![]),
    ];
    let expected: Vec<(String, Vec<String>)> = expected
        .into_iter()
        .map(|(name, texts)| (name.to_owned(), texts.into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(cited(text), expected);
}

#[test]
fn every_way_to_write_a_literal_is_understood() {
    for literal in [
        "'a\\nb'",
        "\"\"\"\n    a\n    b\n\"\"\"",
        "r'''a\nb'''",
        "'a\\n' 'b'",
        "(\n 'a\\n'  # first\n 'b'\n)",
        "'a' + '\\nb'",
        "dedent('''\\\n    a\nb''')",
        "textwrap.dedent(r\"\"\"\na\nb\"\"\").strip()",
        "inspect.cleandoc(\"a\\nb\")",
    ] {
        let texts = only(&format!("def test_x(e2e):\n    e2e.write_tutorial_block({literal})\n"));
        let lines: Vec<&str> = texts[0].lines().map(str::trim).collect();
        assert_eq!(lines, ["a", "b"], "{literal}");
    }
    let texts = only("def test_x(e2e):\n    e2e.write_tutorial_block('say \"\"\"x\"\"\"')\n");
    assert_eq!(texts, ["say \"\"\"x\"\"\""], "triple quotes too");
}

#[test]
fn a_docstring_cites_with_its_section() {
    let texts = only(
        "def test_x():\n    r\"\"\"\n    Tutorial block:\n        mngr list \\\n          -q\n\n    Scope:\n        x\n    \"\"\"\n",
    );
    assert_eq!(texts, ["mngr list \\\n      -q"]);
    assert_eq!(only("def test_x():\n    'no section'\n"), [""; 0]);
    assert_eq!(only("def test_x():\n    x = '''Tutorial block:\na'''\n"), [""; 0], "no docstring");
}

#[test]
fn the_line_of_a_citation_is_where_its_text_is() {
    let file = read(
        "t.py",
        "\n\ndef test_x(e2e):\n    \"\"\"\n    Tutorial block:\n        a\n    \"\"\"\n    e2e.write_tutorial_block(\n        'b')\n",
    );
    let lines: Vec<usize> = file.tests[0].citations.iter().map(|citation| citation.line).collect();
    assert_eq!((file.tests[0].line, lines), (3, vec![5, 9]));
}

#[test]
fn a_citation_that_cannot_be_read_or_does_not_count_is_told() {
    assert_eq!(
        problems("def test_x(e):\n    e.write_tutorial_block(TEXT)\n"),
        [(2, ProblemKind::NotLiteral)]
    );
    assert_eq!(
        problems("def test_x(e):\n    e.write_tutorial_block(f'a {b}')\n"),
        [(2, ProblemKind::NotLiteral)]
    );
    assert_eq!(problems("def setup(e):\n    e.write_tutorial_block('a')\n"), [(2, ProblemKind::OutsideTest)]);
    assert_eq!(problems("def cite(e, text):\n    e.write_tutorial_block(text)\n"), [], "a helper");
}

#[test]
fn a_file_that_does_not_parse_is_told_with_its_place_and_its_sound_tests_count() {
    let text = "def test_a(e2e):\n    e2e.write_tutorial_block('a')\n\ndef test_b(e2e:\n    pass\n";
    let file = read("t.py", text);
    assert_eq!(file.problems.len(), 1);
    assert!(matches!(file.problems[0].kind, ProblemKind::Syntax { language: "Python", .. }));
    assert!((4..=5).contains(&file.problems[0].line), "{:?}", file.problems);
    assert_eq!(file.tests[0].citations[0].text, "a");
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let text = format!("def test_x():\n    x = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000));
    assert!(read("t.py", &text).tests.len() <= 1);
}
