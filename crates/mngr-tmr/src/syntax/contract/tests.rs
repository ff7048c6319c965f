//! What is a text of a test in each language, and what counts as broken.

use super::*;

fn texts(path: &str, text: &str) -> Vec<(String, TextKind, String, usize)> {
    let contract = contract_texts(Language::of(path, "").unwrap(), text);
    let words = |text: &ContractText| text.words().collect::<Vec<_>>().join(" ");
    let protected = contract.texts.iter().filter(|text| text.kind != TextKind::Comment);
    protected.map(|text| (text.test.clone(), text.kind, words(text), text.line)).collect()
}

fn found(path: &str, text: &str) -> Vec<String> {
    let shown = |(test, kind, text, line)| format!("{line} {test} {kind:?}: {text}");
    texts(path, text).into_iter().map(shown).collect()
}

/// What replacing something in a text breaks.
fn breaks(path: &str, text: &str, from: &str, to: &str) -> Vec<String> {
    let language = Language::of(path, "").unwrap();
    let after = text.replace(from, to);
    assert_ne!(text, after, "nothing was replaced");
    let (before, after) = (contract_texts(language, text), contract_texts(language, &after));
    let shown = |broken: &Broken<'_>| {
        format!("{:?} of `{}` in {}: {}", broken.text.kind, broken.text.test, broken.line, broken.shown)
    };
    broken(&before, &after).iter().map(shown).collect()
}

const PYTHON: &str = r#""""A module.

Scope: all of it.
"""
import x

# Helpers are free.
def helper():
    """Free."""


# Above one.
@mark(
    # not a promise
    1
)
def test_one(a,
             b):
    """Does one thing.

    Tutorial block:
        # Make it
        make it

    Scope:
      - this
    """
    # First inside.
    # Still first.
    run()
    # Later.
    session.write_tutorial_block("""
        make that
    """)


class TestMany:
    """Many things."""

    # Above two.
    async def test_two(self):
        # noqa: E501
        run()
"#;

#[test]
fn python_has_doc_strings_comments_scopes_and_citations() {
    assert_eq!(
        found("tests/test_a.py", PYTHON),
        [
            "1  DocString: A module. Scope: all of it.",
            "3  Scope: Scope: all of it.",
            "12 test_one LeadingComment: Above one.",
            "19 test_one DocString: Does one thing. Scope: - this",
            "22 test_one Citation: # Make it make it",
            "25 test_one Scope: Scope: - this",
            "28 test_one FirstComment: First inside. Still first.",
            "32 test_one Citation: (\"\"\" make that \"\"\")",
            "38 TestMany DocString: Many things.",
            "40 TestMany::test_two LeadingComment: Above two.",
        ]
    );
}

#[test]
fn words_count_and_white_space_does_not() {
    let python = |from, to| breaks("a_test.py", PYTHON, from, to);
    for (from, to) in [
        ("# Above one.", "#Above   one."),
        ("# Helpers are free.", "# Helpers are not."),
        ("\"\"\"Free.\"\"\"", "\"\"\"Other.\"\"\""),
        ("# not a promise", "# other"),
        ("# Later.", "# Sooner."),
        ("# noqa: E501", "# A comment at last."),
        // One more statement above a comment leaves it what it is.
        ("    # First inside.", "    begin()\n    # First inside."),
        ("import x", "import x\nimport y"),
        // Gone is not changed, and new is free.
        ("test_one", "test_other"),
        (
            "class TestMany:\n    \"\"\"Many things.\"\"\"",
            "def test_new():\n    \"\"\"New.\"\"\"\n\nclass Other:",
        ),
    ] {
        assert_eq!(python(from, to), [""; 0], "{from}");
    }
    let quotes = PYTHON.replace("\"\"\"Does one thing.\n\n", "'''\n    Does one\n    thing.\n");
    let quotes = quotes.replace("- this\n    \"\"\"", "- this'''");
    let (before, after) =
        (contract_texts(Language::Python, PYTHON), contract_texts(Language::Python, &quotes));
    assert_eq!(broken(&before, &after), []);
    for (from, to, told) in [
        ("A module.", "A mode.", "DocString of `` in 1: A module."),
        ("Does one thing.", "Does something.", "DocString of `test_one` in 19: Does one thing."),
        ("        make it\n", "        make them\n", "Citation of `test_one` in 23: make it"),
        ("make that", "make this", "Citation of `test_one` in 33: make that"),
        ("# Above one.\n", "", "LeadingComment of `test_one` in 12: Above one."),
        ("# Still first.", "# Not at all.", "FirstComment of `test_one` in 29: Still first."),
        ("Many things", "Few things", "DocString of `TestMany` in 38: Many things."),
        ("# Above two", "# Above all", "LeadingComment of `TestMany::test_two` in 40: Above two."),
    ] {
        assert_eq!(python(from, to).first().map(String::as_str), Some(told), "{from}");
    }
    // A scope is part of the doc string, and has a rule of its own.
    assert_eq!(
        python("- this", "- that"),
        ["DocString of `test_one` in 26: - this", "Scope of `test_one` in 26: - this"]
    );
}

#[test]
fn rust_has_doc_comments_leading_comments_and_modules() {
    let rust = "//! About the file.\n\nuse x;\n\n/// Free.\npub fn free() {}\n\n/// Tests of it.\n#[cfg(test)]\nmod tests {\n    \
                //! Inner.\n    use super::*;\n\n    /// Promised.\n    // Said.\n    #[test]\n    #[other(1)]\n    fn one() {\n        \
                // Inside.\n        let x = 1; // free\n        tutorial_block!(\"a b\");\n    }\n\n    /// Free as well.\n    fn helper() {}\n\n    \
                #[doc = \"As attribute.\"]\n    #[tokio::test]\n    async fn two() {}\n}\n";
    assert_eq!(
        found("src/a.rs", rust),
        [
            "1  DocString: About the file.",
            "8 tests DocString: Tests of it.",
            "11 tests DocString: Inner.",
            "14 tests::one DocString: Promised.",
            "15 tests::one LeadingComment: Said.",
            "19 tests::one FirstComment: Inside.",
            "21 tests::one Citation: !(\"a b\")",
            "27 tests::two DocString: #[doc = \"As attribute.\"]",
        ]
    );
    assert_eq!(breaks("src/a.rs", rust, "Promised", "Hoped"), ["DocString of `tests::one` in 14: Promised."]);
    assert_eq!(breaks("src/a.rs", rust, "/// Free", "/// Freer"), [""; 0]);
    let plain = "//! About.\n\n/// A.\nfn a() {}\n";
    assert_eq!(breaks("src/b.rs", plain, "About", "Beyond"), [""; 0], "no test is in it");
}

#[test]
fn go_has_comments_above_tests_and_the_package() {
    let go = "// Package x is tested.\npackage x\n\n// TestOne checks one.\nfunc TestOne(t *testing.T) {\n\t// Inside.\n\tone()\n}\n\n\
              // free\nfunc helper() {}\n\n// TestTwo checks two.\nfunc (s *Suite) TestTwo() {\n\ttwo()\n}\n";
    assert_eq!(
        found("x_test.go", go),
        [
            "1  DocString: Package x is tested.",
            "4 TestOne LeadingComment: TestOne checks one.",
            "6 TestOne FirstComment: Inside.",
            "13 Suite::TestTwo LeadingComment: TestTwo checks two.",
        ]
    );
    let told = ["LeadingComment of `Suite::TestTwo` in 13: TestTwo checks two."];
    assert_eq!(breaks("x_test.go", go, "checks two", "checks too"), told);
}

#[test]
fn javascript_and_typescript_have_comments_at_calls() {
    let script = "// About the file.\nimport x from 'x';\n\n/** All of it. */\ndescribe('outer', () => {\n  // Above.\n  \
                  it('adds', async () => {\n    // Inside.\n    add();\n    // Scope: only this\n  });\n\n  // free\n  const x = 1;\n\n  \
                  // Each.\n  test.each([1, 2])('case %d', (n) => {\n    check(n);\n  });\n});\n";
    let expected = [
        "1  DocString: About the file.",
        "4 outer DocString: All of it.",
        "6 outer::adds LeadingComment: Above.",
        "8 outer::adds FirstComment: Inside.",
        "10 outer::adds Scope: Scope: only this",
        "16 outer::case %d LeadingComment: Each.",
    ];
    for path in ["a.test.js", "a.test.ts", "a.test.tsx"] {
        assert_eq!(found(path, script), expected, "{path}");
    }
    let told = ["Scope of `outer::adds` in 10: Scope: only this"];
    assert_eq!(breaks("a.test.ts", script, "only this", "nothing"), told);
    assert_eq!(breaks("a.test.ts", script, "// free", "// other"), [""; 0]);
}

#[test]
fn a_script_of_sh_is_led_by_its_comment_and_so_are_its_functions() {
    let script = "#!/bin/sh\n# Adding appends.\n#\n# Tutorial block:\n#   # Add one\n#   todo add\n#\n# Scope: one line.\nset -eu\n\n\
                  # check: says it.\ncheck() {\n    # Inside.\n    true\n}\n\n# Later: free.\ncheck\n";
    assert_eq!(
        found("tests/a.sh", script),
        [
            "2  LeadingComment: Adding appends. Scope: one line.",
            "5  Citation: # Add one todo add",
            "8  Scope: Scope: one line.",
            "11 check() LeadingComment: check: says it.",
            "13 check() FirstComment: Inside.",
        ]
    );
    assert_eq!(breaks("a.sh", script, "todo add", "todo sub"), ["Citation of `` in 6: todo add"]);
    assert_eq!(breaks("a.sh", script, "# Later: free.\n", ""), [""; 0]);
    assert_eq!(
        breaks("a.sh", script, "# check: says it.\n", ""),
        ["LeadingComment of `check()` in 11: check: says it."]
    );
}

#[test]
fn any_text_is_read_without_harm() {
    for path in ["a.py", "a.rs", "a.go", "a.js", "a.ts", "a.tsx", "a.sh"] {
        let language = Language::of(path, "").unwrap();
        for text in
            ["", "\u{0}", "#", "/*", "/**/", "'''", "def test_a(:", "fn \u{e4}(", "\"\"\"\u{e4}", "it('a'"]
        {
            let read = contract_texts(language, text);
            assert_eq!(broken(&read, &read), [], "{path}: {text:?}");
        }
        let deep = "(".repeat(20_000);
        let _ = contract_texts(language, &deep);
    }
}

#[test]
fn a_remark_inside_goes_with_its_lines_when_a_test_is_split() {
    let text = "def test_a():\n    \"\"\"A.\"\"\"\n    # Half of it.\n    one()\n    two()\n";
    let split = |from: &str, to: &str| breaks("test_a.py", text, from, to);
    let rest = "    two()\n\n\ndef test_b():\n    # Half of it.\n    one()\n";
    assert_eq!(split("    # Half of it.\n    one()\n    two()\n", rest), [""; 0]);
    let told = ["FirstComment of `test_a` in 3: Half of it."];
    assert_eq!(split("    # Half of it.\n", ""), told);
    assert_eq!(split("Half", "Most"), told);
}
