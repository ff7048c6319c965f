//! What is found in a text and what is changed in it, in every language.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// A small program in each language, and sources of our own.
pub(super) const PROGRAMS: [(&str, &str); 9] = [
    ("notes.py", include_str!("programs/notes.py")),
    ("notes.sh", include_str!("programs/notes.sh")),
    ("notes.rs", include_str!("programs/notes.rs")),
    ("notes.js", include_str!("programs/notes.js")),
    ("notes.ts", include_str!("programs/notes.ts")),
    ("notes.go", include_str!("programs/notes.go")),
    ("edits.rs", include_str!("edits.rs")),
    ("publish.sh", include_str!("../mapper/publish.sh")),
    ("pack.rs", include_str!("../mapper/intake/pack.rs")),
];

pub(super) fn parse(path: &str, text: &str) -> Source {
    let language = Language::of(path, text).unwrap();
    Source::parse(language, text).unwrap_or_else(|| panic!("syntax error in {path}:\n{text}"))
}

pub(super) fn program(path: &str) -> Source {
    let (_, text) = PROGRAMS.iter().find(|(name, _)| *name == path).unwrap();
    parse(path, text)
}

/// `line rule: old -> new` of every edit.
fn edits(source: &Source) -> Vec<String> {
    let shown = |edit: &Edit| {
        let old = &source.text()[edit.range.clone()];
        format!("{} {}: {old} -> {}", edit.line, edit.rule, edit.replacement)
    };
    source.edits().iter().map(shown).collect()
}

fn names(source: &Source) -> Vec<&str> {
    source.functions().iter().map(|function| function.name.as_str()).collect()
}

/// The texts of the assertions.
fn assertions(path: &str, text: &str) -> Vec<String> {
    let statements = parse(path, text).statements().into_iter();
    statements.filter(|statement| statement.is_assertion).map(|statement| statement.text).collect()
}

#[test]
fn functions_have_qualified_names_and_begin_with_what_belongs_to_them() {
    let text = "import os\n\n# About f.\n@cache\ndef f():\n    return 1\n\nclass A:\n    async def g(self):\n        def h(): pass\n        return h\n\nf()\n";
    let source = parse("a.py", text);
    let found: Vec<_> = source.functions().iter().map(|f| (f.name.as_str(), f.lines.clone())).collect();
    assert_eq!(found, [("f", 3..=6), ("A.g", 9..=11), ("A.g.h", 10..=10), ("main", 13..=13)]);
    assert_eq!(names(&program("notes.py"))[9..], ["main", "<top level>"]);
    assert_eq!(names(&program("notes.sh")), ["fail", "count", "add", "list", "main"]);
    assert_eq!(names(&program("notes.js"))[3..], ["numbered", "loud", "main", "<top level>"]);
    assert_eq!(names(&program("notes.ts"))[1..], ["Notes.add", "Notes.read", "first", "count"]);
    assert_eq!(names(&program("notes.go")), ["Notes.Add", "Notes.open", "Notes.Text", "each", "size"]);
    let rust = program("notes.rs");
    assert_eq!(names(&rust)[..2], ["Problem::fmt", "Notes::read"]);
    let with = rust.functions().iter().find(|function| function.name == "Notes::with").unwrap();
    assert_eq!((with.lines.clone(), with.can_fail), (66..=69, true));
}

#[test]
fn what_runs_outside_of_functions_is_a_function_unless_it_only_defines() {
    let main = |text: &str| {
        let source = parse("a.py", text);
        source.functions().iter().find(|function| function.name == "main").map(|main| main.lines.clone())
    };
    assert_eq!(main("import os\nX = 1\nif X:\n    import sys\ndef f(): pass\nY = f()\n"), None);
    assert_eq!(main("def f(): pass\nif True:\n    f()\n"), Some(2..=3));
    assert_eq!(main("import sys\nX = {\"a\": [1, -2]}\ny = int(sys.argv[1])\nprint(y)\n"), Some(3..=4));
    assert_eq!(main("f()\nif __name__ == '__main__':\n    g()\n"), Some(3..=3));
    let shell = parse("a.sh", "#!/bin/sh\nset -e\n. ./lib.sh\nf() { :; }\necho a\n");
    assert_eq!(shell.functions()[1].lines, 5..=5);
    assert_eq!(names(&parse("lib.sh", "f() { :; }\n")), ["f"]);
}

#[test]
fn a_text_with_syntax_errors_is_not_read() {
    assert!(Source::parse(Language::Python, "def f(:\n").is_none());
    assert!(Source::parse(Language::Shell, "if true; then\n").is_none());
    assert!(Source::parse(Language::Python, &"x = 1\n".repeat(200_000)).is_none());
    let deep = |depth| format!("x = {}1{}\n", "(".repeat(depth), ")".repeat(depth));
    assert!(Source::parse(Language::Python, &deep(500)).is_some());
    assert!(Source::parse(Language::Python, &deep(5000)).is_none());
    assert!(Source::parse(Language::TypeScript, "const a = <b>c</b>;\n").is_some());
    assert!(Source::parse(Language::TypeScript, "const a = <b>c;\n").is_some());
}

#[test]
fn python_edits_are_small_and_leave_documentation_alone() {
    let text = "def f(a):\n    \"\"\"Doc.\"\"\"\n    if a == 1:\n        raise ValueError(\"bad\")\n    return a + 1\n";
    assert_eq!(
        edits(&parse("a.py", text)),
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
    let untouched =
        "from a import b\n__all__ = [\"f\"]\n@mark(1)\ndef f(a: \"int\") -> \"x\":\n    \"\"\"Doc 1.\"\"\"\n";
    assert_eq!(edits(&parse("a.py", untouched)), [""; 0]);
}

#[test]
fn shell_edits_are_small() {
    let text =
        "#!/bin/sh\nset -e\nif [ \"$1\" -lt 3 ]; then\n    echo \"few $1\" |\n        sort\n    exit 1\nfi\n";
    assert_eq!(
        edits(&parse("a.sh", text)),
        [
            "3 return_early:  ->  exit 0; ",
            "3 negate_condition: [ \"$1\" -lt 3 ] -> ! { [ \"$1\" -lt 3 ]; }",
            "3 swap_comparison: -lt -> -ge",
            "3 move_boundary: -lt -> -le",
            "3 change_number: 3 -> 4",
            "4 drop_command: echo \"few $1\" |\n        sort -> : \\\n",
            "4 change_text: few  -> mngr",
            "6 drop_command: exit 1 -> :",
            "6 change_status: 1 -> 0",
        ]
    );
}

#[test]
fn what_says_little_comes_last() {
    let weight = |path: &str, text: &str, rule: &str| {
        let edits = parse(path, text).edits();
        edits.iter().find(|edit| edit.rule == rule).map(|edit| edit.weight)
    };
    let log = weight("a.py", "def f():\n    log.info(\"x\")\n", "change_text");
    let output = weight("a.py", "def f():\n    print(\"x\")\n", "change_text");
    assert!(log > output, "{log:?} {output:?}");
    let complaint = weight("a.sh", "echo a >&2\n", "drop_command");
    assert!(complaint > weight("a.sh", "echo a\n", "drop_command"));
    let log = weight("a.rs", "fn f() { log::info!(\"x\"); }", "change_text");
    assert!(log > weight("a.rs", "fn f() { println!(\"x\"); }", "change_text"));
}

#[test]
fn test_code_between_the_program_is_not_changed() {
    let rust = program("notes.rs");
    let code = rust.test_code();
    assert_eq!(code.len(), 1);
    assert!(rust.is_test_line(*code[0].start()) && !rust.is_test_line(code[0].start() - 1));
    assert!(rust.edits().iter().all(|edit| !rust.is_test_line(edit.line)));
    assert!(rust.functions().iter().any(|function| function.is_test));
    let other = "#[cfg(not(test))]\nfn f() -> u8 { 1 }\n#[cfg(all(unix, test))]\nfn g() -> u8 { 1 }\n";
    assert_eq!(parse("a.rs", other).test_code(), [3..=4]);
    assert_eq!(parse("a.rs", "#![cfg(test)]\nfn f() -> u8 { 1 }\n").edits(), []);
    assert_eq!(parse("a.py", "def test_f():\n    assert f(1) == 2\n    g()\n").edits(), []);
    assert_eq!(parse("a.js", "test('a', () => { f(1); });\n").edits(), []);
}

#[test]
fn statements_are_the_smallest_complete_ones_and_the_heads_of_others() {
    let text = "def test_f(tmp):\n    \"\"\"Doc.\"\"\"\n    with open( tmp ) as f:  # why\n        x = f(\n            'a  b',\n            2,\n        )\n    assert x == [1,\n                 2]\n";
    let source = parse("a.py", text);
    let found: Vec<_> = source.statements().into_iter().map(|one| (one.lines, one.text)).collect();
    let expected = [
        (1..=1, "def test_f(tmp):"),
        (3..=3, "with open(tmp) as f:"),
        (4..=7, "x = f('a  b', 2)"),
        (8..=9, "assert x == [1, 2]"),
    ];
    assert_eq!(found, expected.map(|(lines, text)| (lines, text.to_owned())));
    assert!(source.statements().iter().all(|statement| statement.function == Some(0)));
    let rust = program("notes.rs");
    let panics = rust.statements().into_iter().find(|one| one.text.starts_with("#[should_panic")).unwrap();
    assert_eq!(rust.functions()[panics.function.unwrap()].name, "tests::a_full_list_takes_no_note");
}

#[test]
fn layout_does_not_change_a_statement_and_words_do() {
    let text = |text: &str| parse("a.py", text).statements()[0].text.clone();
    assert_eq!(text("f(a,  b)  # c\n"), text("f(\n    a,\n    b,\n)\n"));
    assert_ne!(text("f((a,))\n"), text("f((a))\n"));
    assert_ne!(text("f('a b')\n"), text("f('a  b')\n"));
    let shell = |text: &str| parse("a.sh", text).statements()[0].text.clone();
    assert_eq!(shell("f  a \\\n  b # c\n"), "f a b");
    assert_eq!(shell("cat <<E\n  a\nE\n"), "cat <<E\n  a\nE");
}

#[test]
fn assertions_are_known_in_every_language() {
    let python = "x = f()\nassert x\nself.assertEqual(x, 1)\nwith pytest.raises(E):\n    f()\nm.assert_called_once()\nif x:\n    pytest.fail('no')\ncheck_all(x)\nrun(c, check=True)\n";
    assert_eq!(
        assertions("a.py", python),
        [
            "assert x",
            "self.assertEqual(x, 1)",
            "with pytest.raises(E):",
            "m.assert_called_once()",
            "if x: pytest.fail('no')",
            "check_all(x)",
            "run(c, check=True)",
        ]
    );
    let rust = "#[test]\n#[should_panic]\nfn t() { let x = f().unwrap(); assert!(matches!(x, 1)); insta::assert_snapshot!(x); check(x); g() }";
    assert_eq!(
        assertions("a.rs", rust),
        ["#[should_panic]", "assert!(matches!(x, 1))", "insta::assert_snapshot!(x)", "check(x)"]
    );
    let go = "package a\nfunc TestA(t *testing.T) {\n\tx := f()\n\tif x != 1 {\n\t\tt.Errorf(\"no\")\n\t}\n\trequire.True(t, x)\n}\n";
    let source = parse("a.go", go);
    let found = source.statements().into_iter().filter(|one| one.is_assertion);
    let found: Vec<_> = found.map(|one| (one.lines, one.text)).collect();
    assert_eq!(found[0], (4..=6, "if x != 1 {t.Errorf(\"no\")}".to_owned()));
    assert_eq!(found[1].1, "require.True(t, x)");
    let script = "test('a', async () => {\n  const x = f();\n  expect(x).toBe(1);\n  await expect(g()).rejects.toThrow();\n  assert.equal(x, 1);\n});\n";
    for path in ["a.js", "a.ts"] {
        assert_eq!(
            assertions(path, script),
            ["expect(x).toBe(1)", "await expect(g()).rejects.toThrow()", "assert.equal(x, 1)"]
        );
    }
}

#[test]
fn a_shell_script_that_ends_at_the_first_failure_asserts_with_every_command() {
    let text = "cd x\nout=$(./notes list)\n./notes add a\necho done\n[ -f a ]\ngrep -q a out || exit 1\nif ! ./notes b; then exit 3; fi\n";
    let always = ["[ -f a ]", "grep -q a out || exit 1", "if ! ./notes b; then", "exit 3"];
    assert_eq!(assertions("a.sh", text), always);
    let all = ["out=$(./notes list)", "./notes add a"].into_iter().chain(always).collect::<Vec<_>>();
    assert_eq!(assertions("a.sh", &format!("set -eu\n{text}")), all);
    assert_eq!(assertions("a.sh", &format!("#!/bin/sh -e\n{text}")), all);
    let inside = "set -e\nfor i in 1 2; do ./notes add $i >out; done\n( cd x; ./notes list | sort )\n";
    assert_eq!(assertions("a.sh", inside), ["./notes add $i >out", "./notes list | sort"]);
}

#[test]
fn failing_and_recording_texts_have_the_same_lines() {
    for (path, text) in PROGRAMS {
        let source = parse(path, text);
        let lines = |text: &str| text.lines().count();
        let recording = source.recording(&|index| Some(index as u64), "/a b/c");
        assert_eq!(names(&parse(path, &recording)), names(&source), "{path}");
        for changed in [source.failing(&|_| true), recording] {
            assert_ne!(changed, text, "{path}");
            assert_eq!(lines(&changed), lines(text), "{path}");
            parse(path, &changed);
        }
        assert_eq!(source.failing(&|_| false), text);
        assert_eq!(source.recording(&|_| None, "/a"), text);
    }
}

#[test]
fn a_python_function_fails_whatever_its_first_statement_is() {
    for (first, failing) in [
        ("return 1", "raise RuntimeError(\"mngr\"); return 1"),
        ("\"\"\"Doc.\"\"\"", "\"\"\"Doc.\"\"\"; raise RuntimeError(\"mngr\")"),
        ("try:\n        f()\n    except E: pass", "raise RuntimeError(\"mngr\")\n\n"),
    ] {
        let text = |body: &str| format!("def f():\n    {body}\n");
        assert_eq!(parse("a.py", &text(first)).failing(&|_| true), text(failing));
    }
}

#[test]
fn what_an_assertion_says_when_it_fails_is_no_part_of_it() {
    for (path, with, without) in [
        ("a.py", "assert a == 1, f\"{a}, not 1\"\n", "assert a == 1\n"),
        ("a.py", "self.assertEqual(a, [1, 2], \"no\")\n", "self.assertEqual(a, [1, 2])\n"),
        ("a.py", "self.assertTrue(a(1, 2), msg)\n", "self.assertTrue(a(1, 2))\n"),
        ("a.rs", "fn a() { assert!(b(1, 2), \"{c}\", c); }\n", "fn a() { assert!(b(1, 2)); }\n"),
        ("a.rs", "fn a() { assert_eq!(b[0], (1, 2), \"no\"); }\n", "fn a() { assert_eq!(b[0], (1, 2)); }\n"),
    ] {
        assert_eq!(assertions(path, with), assertions(path, without));
        assert!(!assertions(path, with).is_empty());
    }
    // What is checked is never taken for a message.
    for (path, one, other) in [
        ("a.rs", "fn a() { assert_eq!(b::<C, D>(), 1); }\n", "fn a() { assert_eq!(b::<C, D>(), 2); }\n"),
        ("a.rs", "fn a() { assert_eq!(b < c, 1 > d); }\n", "fn a() { assert_eq!(b < c, 2 > d); }\n"),
        ("a.py", "self.assertEqual(a, 1)\n", "self.assertEqual(a, 2)\n"),
        ("a.py", "assert (a == 1, 2)\n", "assert (a == 1, 3)\n"),
    ] {
        assert_ne!(assertions(path, one), assertions(path, other));
    }
}

/// Every program with its edits.
fn all() -> Vec<(Source, Vec<Edit>)> {
    let read = PROGRAMS.iter().map(|(path, text)| parse(path, text));
    read.map(|source| (source.edits(), source)).map(|(edits, source)| (source, edits)).collect()
}

#[test]
fn an_edit_changes_one_place_and_the_text_stays_valid() {
    let all = all();
    let config = ProptestConfig { failure_persistence: None, cases: 80, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let chosen = (any::<Index>(), any::<Index>());
    runner
        .run(&chosen, |(program, edit)| {
            let (source, edits) = program.get(&all);
            let edit = edit.get(edits);
            let changed = source.apply(edit);
            let (before, after) = source.text().split_at(edit.range.start);
            let rest = changed.strip_prefix(before).and_then(|rest| rest.strip_prefix(&edit.replacement));
            prop_assert_eq!(rest, after.get(edit.range.len()..), "{:?}", edit);
            prop_assert_ne!(&changed, source.text());
            let breaks = |text: &str| text.matches('\n').count();
            prop_assert_eq!(breaks(&changed), breaks(source.text()), "{:?}", edit);
            prop_assert!(Source::parse(source.language(), &changed).is_some(), "{:?}", edit);
            prop_assert!(!small_diff("a", source.text(), &changed).is_empty());
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_same_text_has_the_same_edits_in_the_order_of_the_text() {
    for (path, text) in &PROGRAMS[..6] {
        let source = parse(path, text);
        let edits = source.edits();
        let again = Source::parse(source.language(), source.text()).unwrap().edits();
        assert_eq!(edits, again);
        assert!(edits.is_sorted_by_key(|edit| edit.range.start));
        assert!(!edits.is_empty());
    }
}

#[test]
fn no_part_of_a_text_makes_the_room_panic() {
    let mut read = 0;
    for (path, text) in &PROGRAMS[..6] {
        let language = Language::of(path, text).unwrap();
        // Behind a line break more parts are valid.
        for (cut, _) in text.match_indices('\n').step_by(3) {
            for part in [&text[..=cut], &text[cut..]] {
                let Some(source) = Source::parse(language, part) else { continue };
                read += 1;
                let edits = source.edits();
                assert!(edits.iter().all(|edit| edit.function < source.functions().len()));
                assert!(source.statements().iter().all(|statement| !statement.text.is_empty()));
                let changed = source.recording(&|index| Some(index as u64), "x");
                assert_eq!(changed.matches('\n').count(), part.matches('\n').count());
            }
        }
    }
    assert!(read > 40, "{read}");
}
