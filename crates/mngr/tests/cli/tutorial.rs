//! `mngr tutorial`: list, check, coverage and lint of a script and its tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mngr_testkit::TestEnv;

use crate::support::*;

const SCRIPT: &str = "\
#!/bin/bash
set -euo pipefail

# A tutorial.

##############
# First steps
##############

# Make an agent
mngr create fix --type command -- sleep 100

# See who is there
mngr list --running

# Leaving

# Gone, for now
mngr destroy fix --force
";

const TESTS: &str = r#"
def test_create(e2e):
    e2e.write_tutorial_block("""
    # Make an agent
    mngr create fix --type command -- sleep 100
    """)

def test_list():
    """
    Tutorial block:
        # See who is there
        mngr list --stopped

    Scope: all
    """

def test_gone():
    """Tutorial block:
    git push --force-with-lease origin HEAD
    """
"#;

fn write(env: &TestEnv, name: &str, text: impl AsRef<[u8]>) {
    let path = env.work_dir().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn env_with_tutorial() -> TestEnv {
    let env = env();
    write(&env, "tutorial.sh", SCRIPT);
    write(&env, "tests/test_a.py", TESTS);
    env
}

#[test]
fn list_shows_blocks_with_id_line_section_and_title() {
    let env = env_with_tutorial();
    insta::assert_snapshot!(env.mngr(["tutorial", "list", "tutorial.sh"]).success().stdout, @r"
    ID        LINE  SECTION      TITLE
    f989af51    10  First steps  Make an agent
    8a04eb28    13  First steps  See who is there
    516f773a    18  Leaving      Gone, for now
    ");
    let json = env.mngr(["tutorial", "list", "tutorial.sh", "--format", "json"]).success().json();
    assert_eq!(json["blocks"][0]["text"], "# Make an agent\nmngr create fix --type command -- sleep 100");
    let lines = env.mngr(["tutorial", "list", "tutorial.sh", "--format", "jsonl"]).success().json_lines();
    assert_eq!((lines.len(), &lines[2]["event"], &lines[2]["line"]), (3, &"block".into(), &18.into()));
    let titles = env.mngr(["tutorial", "list", "tutorial.sh", "--format", "{line} {title}"]).success().stdout;
    assert_eq!(titles, "10 Make an agent\n13 See who is there\n18 Gone, for now\n");
}

#[test]
fn check_tells_uncited_changed_and_stale_apart_and_exits_1() {
    let env = env_with_tutorial();
    let checked = env.mngr(["tutorial", "check", "tutorial.sh", "tests"]).code(1);
    insta::assert_snapshot!(checked.stdout, @r"
    uncited: 1 block without a test
      tutorial.sh:18  516f773a  Gone, for now
          # Gone, for now
          mngr destroy fix --force

    changed: 1 block edited after being cited
      tutorial.sh:13  8a04eb28  See who is there
          --- cited
          +++ tutorial
          @@ -1,2 +1,2 @@
           # See who is there
          -mngr list --stopped
          +mngr list --running
        cited by tests/test_a.py:10  test_list

    stale: 1 citation of what is no block
      tests/test_a.py:18  test_gone
          git push --force-with-lease origin HEAD

    1 of 3 blocks cited, 3 citing tests
    ");
    let json = env.mngr(["tutorial", "check", "tutorial.sh", "tests", "--format", "json"]).code(1).json();
    assert_eq!((&json["blocks"], &json["cited"], &json["is_clean"]), (&3.into(), &1.into(), &false.into()));
    assert_eq!(json["uncited"][0]["title"], "Gone, for now");
    assert_eq!(json["changed"][0]["tests"][0]["id"], "tests/test_a.py::test_list");
    assert_eq!(json["changed"][0]["was"], "# See who is there\nmngr list --stopped");
    assert_eq!(json["stale"][0]["tests"][0]["line"], 18);
    let lines =
        env.mngr(["tutorial", "check", "tutorial.sh", "tests", "--format", "jsonl"]).code(1).json_lines();
    let events: Vec<String> = lines.iter().map(|line| text(&line["event"])).collect();
    assert_eq!(events, ["uncited", "changed", "stale", "summary"]);
}

#[test]
fn check_passes_when_all_is_in_order_and_strict_wants_every_test_to_cite() {
    let env = env();
    write(&env, "t.sh", "mngr list\n");
    write(
        &env,
        "tests/a.rs",
        "#[test]\nfn lists() { e2e.write_tutorial_block(\"mngr list\"); }\n\n#[test]\nfn other() {}\n",
    );
    let checked = env.mngr(["tutorial", "check", "t.sh", "tests"]).success();
    assert_eq!(checked.stdout, "all 1 block cited, 1 citing test\n");
    let strict = env.mngr(["tutorial", "check", "t.sh", "tests/a.rs", "--strict"]).code(1);
    assert!(strict.stdout.contains("tests/a.rs:5  other"), "{strict}");
}

#[test]
fn check_names_files_that_are_broken_and_reads_the_others() {
    let env = env_with_tutorial();
    write(&env, "t.sh", b"mngr list\n\necho \xff\n\ncat <<EOF\nx\n".as_slice());
    write(&env, "tests/broken.py", "def test_x(:\n    write_tutorial_block('a')\n");
    let checked = env.mngr(["tutorial", "check", "t.sh", "tests"]).code(1);
    for expected in [
        "t.sh:3: warning: byte 0xff is not UTF-8",
        "t.sh:5: error: the here-document that begins here never ends: there is no line `EOF`",
        "tests/broken.py:1: error: this is not valid Python",
        "tests/test_a.py:",
    ] {
        assert!(checked.stdout.contains(expected), "{expected} in {checked}");
    }
    for verb in ["sync", "coverage"] {
        let warned = env.mngr(["tutorial", verb, "t.sh", "tests"]);
        let expected = "warning: tests/broken.py:1: this is not valid Python";
        assert!(warned.stderr.contains(expected), "{expected} in {warned}");
    }
}

#[test]
fn a_wrong_command_line_is_told_from_a_failed_check() {
    let env = env_with_tutorial();
    let _ = env.mngr(["tutorial", "check", "tutorial.sh"]).code(2);
    let _ = env.mngr(["tutorial", "chekc"]).code(2);
    let missing = env.mngr(["tutorial", "check", "nowhere.sh", "tests"]).code(1);
    assert!(missing.stderr.contains("cannot read `") && missing.stdout.is_empty(), "{missing}");
    let missing = env.mngr(["tutorial", "check", "tutorial.sh", "nowhere"]).code(1);
    assert!(missing.stderr.contains("there is no file or folder `nowhere`"), "{missing}");
}

#[test]
fn control_characters_of_a_tutorial_are_not_printed() {
    let env = env();
    write(&env, "t.sh", "# \u{1b}[2Jtitle\necho \u{1b}]0;x\u{7}\n");
    write(&env, "t.py", "def test_x(e):\n    e.write_tutorial_block('mngr \\x1b[31m')\n");
    for verb in
        [&["list", "t.sh"][..], &["check", "t.sh", "t.py"], &["coverage", "t.sh", "t.py"], &["lint", "t.sh"]]
    {
        let output = env.mngr([&["tutorial"], verb].concat());
        assert!(!output.stdout.contains('\u{1b}'), "{output}");
    }
}

#[test]
fn coverage_counts_tests_by_block_and_section() {
    let env = env_with_tutorial();
    let shown = env.mngr(["tutorial", "coverage", "tutorial.sh", "tests"]).success();
    insta::assert_snapshot!(shown.stdout, @r"
    BLOCK     LINE  TESTS  TITLE
    f989af51    10      1  Make an agent
    8a04eb28    13      0  See who is there
    516f773a    18      0  Gone, for now

    SECTION      CITED  BLOCKS   %
    First steps      1       2  50
    Leaving          0       1   0

    1 of 3 blocks cited (33 %), 3 citing tests
    ");
    let json =
        env.mngr(["tutorial", "coverage", "tutorial.sh", "tests", "--format", "json"]).success().json();
    assert_eq!(json["sections"][0]["percent"], 50.0);
    assert_eq!(json["blocks"][0]["tests"][0], "tests/test_a.py::test_create");
    assert_eq!(
        (&json["cited"], &json["block_count"], &json["percent"]),
        (&1.into(), &3.into(), &33.3.into())
    );
}

#[test]
fn lint_finds_wrong_commands_at_their_lines_and_runs_none() {
    let env = env();
    write(
        &env,
        "t.sh",
        "# Fine\nmngr create fix --type command -- sleep 1\ntouch ran\n\n\
         # Not fine\nmngr list \\\n  --runing | mngr lsit\n\n\
         # Only the shell knows\nmngr wait $agents --timeout \"$x\"\n",
    );
    let linted = env.mngr(["tutorial", "lint", "t.sh"]).code(1);
    insta::assert_snapshot!(linted.stdout, @r"
    t.sh:7: error: No such option: --runing
          mngr list \
            --runing
        hint: did you mean `--running`?
        hint: `mngr list --help` shows what it takes
    t.sh:7: error: No such command: `lsit`
          mngr lsit
        hint: did you mean `list`?
        hint: `mngr --help` shows all commands
    5 commands in 3 blocks, 4 checked: 2 mistakes
    ");
    assert!(!env.work_dir().join("ran").exists());
    let json = env.mngr(["tutorial", "lint", "t.sh", "--format", "json"]).code(1).json();
    assert_eq!((&json["commands"], &json["checked"]), (&5.into(), &4.into()));
    assert_eq!((&json["findings"][0]["line"], &json["findings"][1]["line"]), (&7.into(), &7.into()));
}

#[test]
fn lint_of_another_program_asks_for_its_help_and_nothing_else() {
    let env = env();
    let tool = "#!/bin/sh\nset -f\necho \"$*\" >> \"$(dirname \"$0\")/asked\"\n[ \"$*\" = --help ] || exit 9\n\
                printf 'Options:\\n  -q, --quiet  Less\\n  --level <N>  How\\n'\n";
    write(&env, "tool", tool);
    fs::set_permissions(env.work_dir().join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    write(&env, "t.sh", "./tool -q --level 3\n./tool --qiet\nunknown --anything\n");
    let linted = env.mngr(["tutorial", "lint", "t.sh", "--cli", "./tool"]).code(1);
    assert!(linted.stdout.starts_with("t.sh:2: error: No such option: --qiet\n"), "{linted}");
    assert!(linted.stdout.contains("did you mean `--quiet`?"), "{linted}");
    assert_eq!(fs::read_to_string(env.work_dir().join("asked")).unwrap(), "--help\n");
    let missing = env.mngr(["tutorial", "lint", "t.sh", "--cli", "no-such-tool"]).code(1);
    assert!(missing.stderr.contains("`no-such-tool --help` does not show any help"), "{missing}");
}
