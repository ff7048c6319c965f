//! Both directions, and every case in which a matcher of subsequences goes wrong.

use super::*;
use crate::tutorial::{python, rust};

const TWO: &str = "# Say it\nmngr list\n\n# Again\nmngr list --all";

fn suite(text: &str) -> Suite {
    let file = python::read("t.py", text);
    Suite { tests: file.tests, problems: file.problems }
}

/// A test with a docstring that cites.
fn test(name: &str, section: &str) -> String {
    let indented = section.replace('\n', "\n        ");
    format!(
        "def test_{name}():\n    r'''\n    Tutorial block:\n        {indented}\n\n    Scope: all\n    '''\n\n"
    )
}

fn checked(script: &str, tests: &str) -> Report {
    check(&Script::parse("s.sh", script.as_bytes()), &suite(tests), Strictness::Tutorial)
}

fn uncited(report: &Report) -> Vec<&str> {
    report.uncited().map(|block| block.title.as_str()).collect()
}

fn of<'r>(report: &'r Report, title: &str) -> Vec<&'r str> {
    let block = report.blocks.iter().find(|cited| cited.block.title == title).unwrap();
    block.tests.iter().map(|test| test.id.as_str()).collect()
}

#[test]
fn all_is_in_order_when_every_block_is_cited_and_every_citation_current() {
    let tests =
        test("a", "# Say it\nmngr list") + &test("b", "# Again\nmngr list --all") + "def test_c(): pass\n";
    let report = checked(TWO, &tests);
    assert!(report.is_clean());
    assert_eq!((report.cited(), report.citing_tests), (2, 2));
    assert_eq!(of(&report, "Again"), ["t.py::test_b"]);
}

#[test]
fn blocks_without_a_test_and_tests_without_a_block_are_told() {
    let report = checked(TWO, &test("a", "# Another\ngit status --short"));
    assert_eq!(uncited(&report), ["Say it", "Again"]);
    assert_eq!(report.stale.len(), 1);
    assert_eq!(report.stale[0].text, "# Another\ngit status --short");
    assert_eq!((report.stale[0].tests[0].id.as_str(), report.stale[0].tests[0].line), ("t.py::test_a", 3));
    assert!(!report.is_clean());
}

#[test]
fn an_edited_block_is_changed_with_its_tests_and_not_lost_and_found() {
    let old = "# Say it\nmngr list --running";
    let tests = test("a", old) + &test("b", old) + &test("c", "# Again\nmngr list --all");
    let report = checked(TWO, &tests);
    assert_eq!((uncited(&report), report.stale.len()), (vec![], 0));
    let [changed] = report.changed.as_slice() else { panic!("one change: {report:?}") };
    assert_eq!((changed.block.title.as_str(), changed.was.as_str()), ("Say it", old));
    assert!(changed.diff.contains("-mngr list --running\n+mngr list\n"), "{}", changed.diff);
    let tests: Vec<&str> = changed.tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(tests, ["t.py::test_a", "t.py::test_b"]);
    assert!(!report.is_clean());
}

#[test]
fn a_test_left_behind_by_an_edit_that_another_followed_is_stale_and_shown_the_block() {
    let tests = test("new", "# Say it\nmngr list")
        + &test("old", "# Say it\nmngr lst")
        + &test("c", "# Again\nmngr list --all");
    let report = checked(TWO, &tests);
    assert_eq!(report.changed.len(), 0);
    assert_eq!(report.stale[0].nearest.as_ref().unwrap().title, "Say it");
}

#[test]
fn indentation_and_trailing_space_do_not_count_but_everything_else_does() {
    let script = "# Say it\nmngr list  \"a b\"";
    for (section, is_cited) in [
        ("# Say it\n        mngr list  \"a b\"   ", true),
        ("# Say it\nmngr list \"a b\"", false),
        ("# Say it\nmngr list  'a b'", false),
        ("# say it\nmngr list  \"a b\"", false),
        ("mngr list  \"a b\"\n# Say it", false),
        ("# Say it\nextra\nmngr list  \"a b\"", false),
        ("# Say it\n\nmngr list  \"a b\"", true),
    ] {
        assert_eq!(checked(script, &test("a", section)).is_clean(), is_cited, "{section}");
    }
}

#[test]
fn one_test_may_cite_several_blocks_and_several_tests_one() {
    for between in ["\n", "\n\n"] {
        let both = format!("# Say it\nmngr list{between}# Again\nmngr list --all");
        let report = checked(TWO, &(test("a", &both) + &test("b", "# Again\nmngr list --all")));
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(of(&report, "Again"), ["t.py::test_a", "t.py::test_b"]);
    }
}

#[test]
fn a_longer_block_does_not_count_for_a_shorter_one_in_it() {
    let script = "mngr list\n\nmngr list\nmngr stop a";
    let report = checked(script, &test("a", "mngr list\nmngr stop a"));
    assert_eq!(report.cited(), 1);
    let edited = checked(script, &test("a", "mngr list\nmngr stop b"));
    assert_eq!(edited.cited(), 0, "nor does the old text of one");
    assert_eq!(edited.changed[0].block.line, 3);
}

#[test]
fn blocks_with_the_same_command_and_other_comments_are_two() {
    let report = checked("# one\nmngr list\n\n# two\nmngr list", &test("a", "# one\nmngr list"));
    assert_eq!(report.cited(), 1);
}

#[test]
fn a_line_that_looks_like_a_label_does_not_end_a_block() {
    let script = "cat <<END\nName: fix\nScope: all of it\nEND";
    let flush = "def test_a():\n    '''\n    Tutorial block:\n    cat <<END\n    Name: fix\n    Scope: all of it\n    END\n\n    Scope: x\n    '''\n";
    assert!(checked(script, flush).is_clean());
    let without = flush.replace("    Scope: all of it\n", "");
    assert!(!checked(script, &without).is_clean());
}

#[test]
fn a_here_document_with_empty_lines_is_one_block_however_the_test_indents_it() {
    let script = "cat > a <<END\nfirst\n\nsecond\nEND\nmngr push a";
    for indent in ["", "    ", "\t"] {
        let cited: Vec<String> = script.lines().map(|line| format!("{indent}{line}")).collect();
        let text = format!("def test_a(e):\n    e.write_tutorial_block('''\n{}\n''')\n", cited.join("\n"));
        assert!(checked(script, &text).is_clean(), "{text}");
        let report = checked(&script.replace("second", "third"), &text);
        assert_eq!((report.changed.len(), report.stale.len()), (1, 0), "{report:?}");
        assert!(report.changed[0].diff.contains("-second\n+third\n END\n"), "{}", report.changed[0].diff);
    }
}

#[test]
fn a_block_with_triple_quotes_can_be_cited() {
    let script = "python3 -c \"\"\"print('''x''')\"\"\"";
    let literal = r#"'python3 -c """print(\'\'\'x\'\'\')"""'"#;
    let report = checked(script, &format!("def test_a(e):\n    e.write_tutorial_block({literal})\n"));
    assert!(report.is_clean(), "{report:?}");
    let rust = "#[test]\nfn a() { tutorial_block!(e, r#\"python3 -c \"\"\"print('''x''')\"\"\"\"#); }";
    let file = rust::read("t.rs", rust);
    let suite = Suite { tests: file.tests, problems: file.problems };
    assert!(check(&Script::parse("s", script.as_bytes()), &suite, Strictness::Tutorial).is_clean());
}

#[test]
fn backslashes_in_a_string_that_is_not_raw_are_understood_and_told() {
    let script = "mngr create a \\\n  --type command";
    let docstring = "def test_a():\n    '''\n    Tutorial block:\n        mngr create a \\\n          --type command\n    '''\n";
    let report = checked(script, docstring);
    assert!(report.is_clean(), "{report:?}");
    assert!(matches!(report.problems[0].kind, ProblemKind::Backslash { raw: "r\"\"\"" }), "{report:?}");
    assert_eq!(checked(script, &docstring.replacen("'''", "r'''", 1)).problems, []);
}

#[test]
fn tests_that_cite_nothing_are_told_when_asked() {
    let script = Script::parse("s.sh", b"mngr list");
    let suite = suite(&(test("a", "mngr list") + "def test_b(x, y=(1)):\n    pass\n"));
    assert!(check(&script, &suite, Strictness::Tutorial).is_clean());
    let report = check(&script, &suite, Strictness::EveryTest);
    assert_eq!(report.uncited_tests[0].id, "t.py::test_b");
    assert!(!report.is_clean());
}

#[test]
fn a_signature_over_several_lines_and_a_parametrised_test_hide_nothing() {
    let tests = "@pytest.mark.parametrize('x', [1])\ndef test_a(\n    x=(1),  # ):\n    y: int = 2,\n):\n    '''Summary.\n\n    Tutorial block:\n    mngr list\n    '''\n";
    assert!(checked("mngr list", tests).is_clean());
}

#[test]
fn windows_line_ends_in_tests_change_nothing() {
    assert!(checked(TWO, &(test("a", TWO)).replace('\n', "\r\n")).is_clean());
}

#[test]
fn a_line_of_spaces_in_the_tutorial_separates_what_must_be_cited() {
    let report = checked("mngr list\n   \nmngr stop a", &test("a", "mngr list"));
    assert_eq!(uncited(&report), ["mngr stop a"]);
}

#[test]
fn a_citation_without_a_command_is_an_error() {
    let report = checked("mngr list", &(test("a", "mngr list") + &test("b", "# nothing")));
    assert_eq!(report.problems[0].kind, ProblemKind::NoCommand);
    assert!(!report.is_clean());
}

#[test]
fn coverage_counts_by_section() {
    let report = checked(
        "mngr a\n\n# First\n\nmngr b\n\nmngr c\n\n# Second\n\nmngr d",
        &test("x", "mngr a\n\nmngr c"),
    );
    let coverage = crate::tutorial::Coverage::of(&report);
    let sections: Vec<(Option<&str>, usize, usize)> =
        coverage.sections.iter().map(|it| (it.section.as_deref(), it.cited, it.blocks)).collect();
    assert_eq!(sections, [(None, 1, 1), (Some("First"), 1, 2), (Some("Second"), 0, 1)]);
    assert_eq!((coverage.percent(), coverage.sections[1].percent()), (50.0, 50.0));
}
