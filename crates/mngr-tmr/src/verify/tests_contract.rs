//! What no agent may change in a project without any rule of its own.

use mngr_config::ReadOnly;
use mngr_host::git::Git;

use super::*;
use crate::testing::{Lab, Work};

const TEST: &str = r#""""All tests."""


def test_create():
    """Makes it.

    Tutorial block:
        # Make it
        todo make it

    Scope: that it is there.
    """
    assert run("todo make it") == 0


# It is gone then.
def test_remove(session):
    session.write_tutorial_block("""
        # Remove it
        todo remove it
    """)
    assert run("todo remove it") == 0
"#;

const SCRIPT: &str = "#!/bin/sh\nset -e\n\n# Make it\ntodo make it\n\n# Remove it\ntodo remove it\n";

const PROJECT: &[(&str, &str)] = &[
    (
        "src/lib.rs",
        "//! The program.\n\n/// One.\npub fn one() -> u8 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    /// It is one.\n    #[test]\n    fn one() {\n        assert_eq!(super::one(), 1);\n    }\n}\n",
    ),
    ("tests/test_todo.py", TEST),
    (
        "tests/list.sh",
        "# Tutorial block:\n#   # Make it\n#   todo make it\n#\n# Scope: it is listed.\n\ntodo list\n",
    ),
    ("tests/helpers.py", "\"\"\"Helpers.\"\"\"\n"),
    ("tutorial.sh", SCRIPT),
];

/// What these commits break.
fn broken(lab: &Lab, works: &[Work<'_>]) -> Vec<String> {
    broken_for(lab, works, None)
}

/// The same where tests are written for a tutorial.
fn broken_for(lab: &Lab, works: &[Work<'_>], script: Option<&str>) -> Vec<String> {
    let tip = lab.commits(works);
    let git = Git::new(lab.host.as_ref(), lab.repository());
    let commits = git.commits_between(&lab.base, &tip).unwrap();
    let commits: Vec<CommitFacts> =
        commits.iter().map(|commit| CommitFacts::new(commit, &lab.rules.paths)).collect();
    let files = git.patch_between(&lab.base, &tip).unwrap();
    let changed = Changed { from: &lab.base, to: &tip, commits: &commits, files: &files, script };
    breaches(&git, &lab.rules, &changed).unwrap().iter().map(ToString::to_string).collect()
}

/// What one commit breaks that replaces something in a file.
fn replaced(lab: &Lab, subject: &str, edits: &[(&str, &str, &str)]) -> Vec<String> {
    let mut texts: Vec<(&str, String)> = Vec::new();
    for (file, from, to) in edits {
        let known = texts.iter().position(|(name, _)| name == file).unwrap_or_else(|| {
            texts.push((*file, PROJECT.iter().find(|(name, _)| name == file).unwrap().1.to_owned()));
            texts.len() - 1
        });
        assert!(texts[known].1.contains(from), "{from}");
        texts[known].1 = texts[known].1.replace(from, to);
    }
    let files: Vec<(&str, Option<&str>)> =
        texts.iter().map(|(name, text)| (*name, Some(text.as_str()))).collect();
    broken(lab, &[(subject, &files)])
}

#[test]
fn texts_of_tests_are_read_only_without_any_rule() {
    let lab = Lab::new(PROJECT);
    let (py, sh, rs) = ("tests/test_todo.py", "tests/list.sh", "src/lib.rs");
    for (file, from, to, told) in [
        (py, "All tests", "Some tests", "`doc strings` in line 1: `All tests.`"),
        (py, "Makes it.", "Makes something.", "`doc strings` in line 5: `Makes it.`"),
        (py, "that it is there.", "nothing.", "`scopes` in line 11: `Scope: that it is there.`"),
        (py, "# It is gone then.\n", "", "`leading comments` in line 16: `It is gone then.`"),
        (sh, "it is listed", "it exits", "`scopes` in line 5: `Scope: it is listed.`"),
        (sh, "#   todo make it\n", "", "`citations` in line 3: `todo make it`"),
        (rs, "It is one", "It is any", "`doc strings` in line 10: `It is one.`"),
    ] {
        let found = replaced(&lab, "[IMPROVE_TEST] t", &[(file, from, to)]);
        assert_eq!(found.first(), Some(&format!("`{file}` breaks the rule {told}")), "{found:?}");
    }
    for (file, from, to) in [
        (py, "assert run(\"todo make it\") == 0", "assert run(\"todo make it\") == 0\n    assert True"),
        (py, "    \"\"\"Makes it.\n\n", "    \"\"\"\n    Makes\n    it.\n"),
        (rs, "The program.", "The same program."),
        (rs, "/// One.", "/// Exactly one."),
        ("tests/helpers.py", "Helpers", "Help"),
    ] {
        let subject = if file == rs { "[FIX_IMPL] t" } else { "[IMPROVE_TEST] t" };
        assert_eq!(replaced(&lab, subject, &[(file, from, to)]), [""; 0], "{from}");
    }
    let gone = [("[FIX_TEST] t", &[("tests/list.sh", None)][..])];
    assert_eq!(broken(&lab, &gone), [""; 0], "a test that is gone is nobody's doc string");
}

#[test]
fn a_test_takes_its_texts_along_when_it_moves() {
    let lab = Lab::new(PROJECT);
    let rest = TEST.split("# It is gone then.").next().unwrap();
    let moved = format!("# It is gone then.{}", TEST.split("# It is gone then.").nth(1).unwrap());
    let files = |moved: &str| {
        let works = [("tests/test_todo.py", Some(rest)), ("tests/test_more.py", Some(moved))];
        broken(&lab, &[("[IMPROVE_TEST] t", &works)])
    };
    assert_eq!(files(&moved), [""; 0]);
    assert_eq!(
        files(&moved.replace("gone", "there")),
        ["`tests/test_todo.py` breaks the rule `leading comments` in line 16: `It is gone then.`"]
    );
}

#[test]
fn each_of_these_rules_can_be_switched_off() {
    let mut lab = Lab::new(PROJECT);
    lab.rules.read_only = vec![ReadOnly::Citations];
    let edit = ("tests/test_todo.py", "Makes it.", "Makes something.");
    assert_eq!(replaced(&lab, "[FIX_TEST] t", &[edit]), [""; 0]);
    let edit = ("tests/test_todo.py", "        todo make it\n", "        todo make them\n");
    assert_eq!(replaced(&lab, "[FIX_TEST] t", &[edit]).len(), 1);
    lab.rules.read_only.clear();
    assert_eq!(replaced(&lab, "[FIX_TEST] t", &[edit]), [""; 0]);
}

#[test]
fn citations_follow_a_tutorial_that_is_corrected_with_them() {
    let lab = Lab::new(PROJECT);
    let (py, sh) = ("tests/test_todo.py", "tests/list.sh");
    let script = ("tutorial.sh", "todo make it", "todo create it");
    let cited =
        [(py, "        todo make it", "        todo create it"), (sh, "todo make it", "todo create it")];
    assert_eq!(replaced(&lab, "[FIX_TUTORIAL] t", &[script, cited[0], cited[1]]), [""; 0]);

    let told = replaced(&lab, "[FIX_TEST] t", &[script, cited[0], cited[1]]);
    let expected = [
        "`tests/list.sh` breaks the rule `citations` in line 3: `todo make it`",
        "`tests/test_todo.py` breaks the rule `citations` in line 9: `todo make it`",
    ];
    assert_eq!(told, expected, "only who says so corrects a tutorial");

    let wrong = [(py, "        todo make it", "        todo do it"), (sh, "todo make it", "todo do it")];
    let told = replaced(&lab, "[FIX_TUTORIAL] t", &[script, wrong[0], wrong[1]]);
    assert_eq!(told[..2], expected, "what is cited has to be in it");
    let told = replaced(&lab, "[FIX_TUTORIAL] t", &[cited[0], cited[1]]);
    assert_eq!(told[..2], expected, "the tutorial has to change, too");
}

#[test]
fn tests_and_tutorial_may_not_agree_less_than_before() {
    let mut lab = Lab::new(PROJECT);
    lab.rules.read_only = vec![ReadOnly::Tutorial];
    let py = "tests/test_todo.py";
    let told = |edits: &[(&str, &str, &str)]| replaced(&lab, "[FIX_TUTORIAL] t", edits);
    assert_eq!(told(&[(py, "run(\"todo make it\") == 0", "run(\"todo make it\") < 1")]), [""; 0]);
    assert_eq!(
        told(&[(py, "        todo make it\n", "        todo make them\n")]),
        ["`tests/test_todo.py` breaks the rule `tutorial` in line 7: `# Make it`"],
        "a citation of what is no block"
    );
    assert_eq!(
        told(&[(py, "def test_remove", "def gone")]),
        ["`tutorial.sh` breaks the rule `tutorial` in line 7: `Remove it`"],
        "a block without a test"
    );
    assert_eq!(
        told(&[("tutorial.sh", "todo remove it\n", "todo remove it\n\n# Sing\ntodo sing\n")]),
        ["`tutorial.sh` breaks the rule `tutorial` in line 10: `Sing`"],
        "a new block that no test cites"
    );
    let (new, both) = ("\n\n# Sing\ntodo sing\n", "assert run(\"todo remove it\") == 0\n");
    let cites = format!("{both}    session.write_tutorial_block(\"# Sing\\ntodo sing\")\n");
    let edits = [("tutorial.sh", "todo remove it\n", &*format!("todo remove it{new}")), (py, both, &*cites)];
    assert_eq!(told(&edits), [""; 0], "one that a test cites");
    assert_eq!(
        broken(&lab, &[("[FIX_TUTORIAL] t", &[("tutorial.sh", None)])]),
        ["`tutorial.sh` breaks the rule `tutorial`"]
    );
}

#[test]
fn a_project_without_a_tutorial_has_nothing_to_agree_with() {
    let lab = Lab::new(&PROJECT[..4]);
    let edit = ("tests/test_todo.py", "assert run(\"todo make it\") == 0", "pass");
    assert_eq!(replaced(&lab, "[FIX_TEST] t", &[edit]), [""; 0], "how strong it is, is measured elsewhere");
}

#[test]
fn tests_beside_the_program_are_tests_and_the_program_is_not() {
    let lab = Lab::new(PROJECT);
    let (rs, py) = ("src/lib.rs", "tests/test_todo.py");
    let test = (rs, "assert_eq!(super::one(), 1);", "assert_eq!(super::one(), 1, \"one\");");
    let other = (py, "assert run(\"todo make it\") == 0", "assert not run(\"todo make it\")");
    assert_eq!(replaced(&lab, "[IMPROVE_TEST] t", &[test]), [""; 0]);
    assert_eq!(replaced(&lab, "[IMPROVE_TEST] t", &[test, other]), [""; 0]);
    let told = replaced(&lab, "[IMPROVE_TEST] t", &[test, (rs, "    1\n", "    2\n")]);
    assert_eq!(told, ["the commit `[IMPROVE_TEST] t` also changes the implementation: `src/lib.rs`"]);
}

#[test]
fn a_file_that_was_made_huge_is_read_all_the_same() {
    let lab = Lab::new(PROJECT);
    let rest = format!("# {}\n", "x".repeat(5_000_000));
    let text = format!("{}{rest}", TEST.replace("Makes it.", "Makes something."));
    let found = broken(&lab, &[("[IMPROVE_TEST] t", &[("tests/test_todo.py", Some(&text))])]);
    assert_eq!(found, ["`tests/test_todo.py` breaks the rule `doc strings` in line 5: `Makes it.`"]);
}

#[test]
fn where_tests_are_brought_up_to_a_tutorial_only_their_citations_follow_it() {
    let newer = SCRIPT.replace("todo make it", "todo make it --now");
    let files: Vec<(&str, &str)> = PROJECT
        .iter()
        .map(|(name, text)| (*name, if *name == "tutorial.sh" { newer.as_str() } else { text }))
        .collect();
    let lab = Lab::new(&files);
    let told = |to: &str, more: (&str, &str), script: Option<&str>| {
        let test = TEST.replacen("        todo make it\n", to, 1).replace(more.0, more.1);
        broken_for(&lab, &[("Test the block as it is", &[("tests/test_todo.py", Some(&test))])], script)
    };
    let (follows, script, nothing) = ("        todo make it --now\n", Some("tutorial.sh"), ("", ""));
    assert_eq!(told(follows, nothing, script), [""; 0]);
    let cites = "`tests/test_todo.py` breaks the rule `citations` in line 9: `todo make it`";
    assert_eq!(told(follows, nothing, None), [cites], "only where that is what was asked for");
    assert_eq!(told("        todo make them\n", nothing, script), [cites], "it has to be a block");
    let scope = ("that it is there", "nothing");
    let rule = "`tests/test_todo.py` breaks the rule `scopes` in line 11: `Scope: that it is there.`";
    assert_eq!(told(follows, scope, script), [rule]);
}
