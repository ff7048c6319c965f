//! What is found in Rust files.

use super::*;
use crate::tutorial::problem::ProblemKind;

fn cited(text: &str) -> Vec<(String, Vec<String>)> {
    let file = read("t.rs", text);
    assert_eq!(file.problems, [], "{text}");
    let texts =
        |test: &crate::tutorial::Test| test.citations.iter().map(|it| it.text.trim().to_owned()).collect();
    file.tests.iter().map(|test| (test.id.name.clone(), texts(test))).collect()
}

fn problems(text: &str) -> Vec<(usize, ProblemKind)> {
    read("t.rs", text).problems.into_iter().map(|problem| (problem.line, problem.kind)).collect()
}

#[test]
fn every_kind_of_test_function_is_found() {
    let text = r##"
#[test]
fn plain() { e2e.write_tutorial_block("a"); }

/// About it.
#[tokio::test(flavor = "multi_thread")]
// why
#[ignore = "slow"]
pub async fn
asynchronous() -> Result<(), E> {
    let s = session().await?;
    s.write_tutorial_block(r#"b "quoted""#)?;
    tutorial_block!(s, "c", r"d");
    Ok(())
}

mod outer {
    mod inner {
        #[rstest]
        #[case(1)]
        fn with_cases(#[case] n: u8) { write_tutorial_block(&s, "f"); }
    }
    #[test_case(1; "one")]
    fn cases(n: u8) { fn inner() {} }
}

#[cfg(test)]
fn helper() {}
"##;
    let expected = [
        ("plain", vec!["a"]),
        ("asynchronous", vec!["b \"quoted\"", "c", "d"]),
        ("outer::inner::with_cases", vec!["f"]),
        ("outer::cases", vec![]),
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
        r#""a\nb""#,
        "\"\n    a\n    b\n\"",
        "r#\"a\nb\"#",
        "(&\"a\\nb\".trim().to_owned())",
        "concat!(\"a\\n\", \"b\")",
        "\"a\\n\\\n    b\"",
    ] {
        let tests = cited(&format!("#[test]\nfn x() {{ e2e.write_tutorial_block({literal}); }}"));
        let lines: Vec<&str> = tests[0].1[0].lines().map(str::trim).collect();
        assert_eq!(lines, ["a", "b"], "{literal}");
    }
}

#[test]
fn a_citation_that_cannot_be_read_or_does_not_count_is_told() {
    assert_eq!(
        problems("#[test]\nfn x() {\n  e.write_tutorial_block(TEXT);\n}"),
        [(3, ProblemKind::NotLiteral)]
    );
    assert_eq!(problems("#[test]\nfn x() {\n  tutorial_block!(e, TEXT);\n}"), [(3, ProblemKind::NotLiteral)]);
    assert_eq!(
        problems("fn setup() {\n  e.write_tutorial_block(\"a\");\n}"),
        [(2, ProblemKind::OutsideTest)]
    );
    assert_eq!(problems("fn cite(text: &str) {\n  e.write_tutorial_block(text);\n}"), [], "a helper");
}

#[test]
fn a_file_that_does_not_parse_is_told_with_its_place() {
    let found = problems("#[test]\nfn a() { tutorial_block!(\"a\"); }\n\nfn b( {\n}\n");
    assert!(matches!(found.as_slice(), [(4 | 5, ProblemKind::Syntax { language: "Rust", .. })]), "{found:?}");
}
