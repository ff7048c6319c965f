//! Section "A tutorial like this one".

use mngr_e2e::session::Session;
use mngr_e2e::{expect, session};
use serde_json::json;

use crate::support::{names, succeed, write};

const SCRIPT: &str = "#!/bin/sh
set -eu

# Say hello
mngr create hello --no-connect -- sh

# Look around
mngr list
";

const TEST: &str = "
def test_hello(e2e):
    e2e.write_tutorial_block('''
    # Say hello
    mngr create hello --no-connect -- sh
    ''')

def test_list(e2e):
    e2e.write_tutorial_block('''
    # Look around
    mngr list
    ''')
";

/// A project with a tutorial and its tests.
fn tutorial(e2e: &Session) {
    write(&e2e.project().join("tutorial/tutorial.sh"), SCRIPT);
    write(&e2e.project().join("tests/test_tutorial.py"), TEST);
}

/// Changes the tutorial.
fn edit(e2e: &Session, from: &str, to: &str) {
    write(&e2e.project().join("tutorial/tutorial.sh"), &SCRIPT.replace(from, to));
}

/// Adds a block without a test and a heading without commands, and commits.
fn with_gaps(e2e: &Session) {
    edit(e2e, "mngr list\n", "mngr list\n\n# Clear up\nmngr gc\n\n# Stopping\n");
    let _ = succeed(e2e, "git add . && git commit -qm 'A tutorial'");
}

const FILL: &str = "mngr tutorial fill tutorial/tutorial.sh --launch --type scripted -- read 'run cp ~/proposals.jsonl .tutorial-task/'";

/// Lets an agent propose these blocks for the heading without commands.
#[track_caller]
fn propose(e2e: &Session, blocks: &[&str]) {
    let line = |text: &&str| {
        json!({"heading": "Stopping", "text": text, "reason": "it is common"}).to_string() + "\n"
    };
    write(&e2e.home().join("proposals.jsonl"), &blocks.iter().map(line).collect::<String>());
    let _ = succeed(e2e, FILL);
}

#[test]
fn blocks_are_listed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # This file is made of blocks: lines between empty lines. Tests cite them
        mngr tutorial list tutorial/tutorial.sh
        "#,
    );
    expect(&e2e.comment("no such file").run("mngr tutorial list tutorial/tutorial.sh")).to_fail();
    tutorial(&e2e);
    let list = e2e.run("mngr tutorial list tutorial/tutorial.sh");
    expect(&list).to_succeed();
    expect(&list.stdout)
        .to_match(r"(?m)^[0-9a-f]{8} +4 .*Say hello$")
        .to_match(r"(?m)^[0-9a-f]{8} +7 .*Look around$");
}

#[test]
fn every_block_is_cited_and_every_citation_exists() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Is every block cited by a test, and does every block that tests cite exist?
        mngr tutorial check tutorial/tutorial.sh tests/
        "#,
    );
    tutorial(&e2e);
    expect(&e2e.run("mngr tutorial check tutorial/tutorial.sh tests/")).to_succeed();

    edit(&e2e, "mngr list", "mngr list --running");
    let changed = e2e.comment("a block was edited").run("mngr tutorial check tutorial/tutorial.sh tests/");
    expect(&changed).to_have_exit_code(1);
    expect(&changed.stdout)
        .to_contain("mngr list --running")
        .to_contain("test_list")
        .not_to_contain("test_hello");

    edit(&e2e, "mngr list\n", "mngr list\n\n# New\nmngr gc\n");
    let new = e2e.comment("a block was added").run("mngr tutorial check tutorial/tutorial.sh tests/");
    expect(&new).to_have_exit_code(1);
    expect(&new.stdout).to_contain("mngr gc");
}

#[test]
fn coverage_says_which_tests_cite_a_block() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # How much of it is tested, and by which tests?
        mngr tutorial coverage tutorial/tutorial.sh tests/
        mngr tutorial coverage tutorial/tutorial.sh tests/ --format '{title}: {tests}'
        "#,
    );
    tutorial(&e2e);
    edit(&e2e, "mngr list\n", "mngr list\n\n# Clear up\nmngr gc\n");
    let coverage = e2e.run("mngr tutorial coverage tutorial/tutorial.sh tests/");
    expect(&coverage).to_succeed();
    expect(&coverage.stdout).to_contain("2 of 3 blocks cited");
    let tests =
        succeed(&e2e, "mngr tutorial coverage tutorial/tutorial.sh tests/ --format '{title}: {tests}'");
    expect(&tests.stdout)
        .to_match("(?m)^Say hello: .*test_hello")
        .to_match("(?m)^Look around: .*test_list")
        .not_to_match("(?m)^Clear up: .*test_");
}

#[test]
fn commands_are_checked_and_not_run() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Are the commands right? Verbs, options and values are checked, and nothing is run
        mngr tutorial lint tutorial/tutorial.sh
        "#,
    );
    tutorial(&e2e);
    expect(&e2e.run("mngr tutorial lint tutorial/tutorial.sh")).to_succeed();
    assert!(names(&e2e).is_empty());
    edit(&e2e, "mngr list", "mngr list --runing");
    let wrong = e2e.comment("a slip").run("mngr tutorial lint tutorial/tutorial.sh");
    expect(&wrong).to_have_exit_code(1);
    expect(&wrong.stdout).to_contain("tutorial.sh:8").to_contain("--runing");
}

#[test]
fn gaps_and_missing_tests_are_listed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What is missing? Headings without commands, and blocks without a test
        mngr tutorial fill tutorial/tutorial.sh
        mngr tutorial sync tutorial/tutorial.sh tests/
        "#,
    );
    tutorial(&e2e);
    let whole = e2e.comment("nothing is missing").run("mngr tutorial sync tutorial/tutorial.sh tests/");
    expect(&whole).to_succeed();

    with_gaps(&e2e);
    let fill = e2e.run("mngr tutorial fill tutorial/tutorial.sh");
    expect(&fill).to_succeed();
    expect(&fill.stdout).to_contain("Stopping").not_to_contain("Look around");
    let sync = e2e.run("mngr tutorial sync tutorial/tutorial.sh tests/");
    expect(&sync).to_have_exit_code(1);
    expect(&sync.stdout).to_contain("Clear up").not_to_contain("Say hello");
}

#[test]
fn an_agent_proposes_what_is_missing() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent can propose commands for the headings. A script plays it here; one of --type claude reads the help first
        mngr tutorial fill tutorial/tutorial.sh --launch --type scripted -- read 'run cp ~/proposals.jsonl .tutorial-task/'
        "#,
    );
    tutorial(&e2e);
    with_gaps(&e2e);
    propose(&e2e, &["mngr stop hello", "mngr halt hello"]);
    let proposals = succeed(&e2e, "mngr tutorial proposals --all --format '{status} {text}'");
    expect(&proposals.stdout).to_contain("proposed mngr stop hello").to_contain("invalid mngr halt hello");
    assert!(names(&e2e).is_empty(), "the agent is gone");
    expect(&succeed(&e2e, "git status --short").stdout).to_be_empty();
}

#[test]
fn an_agent_that_proposes_nothing_has_failed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent can propose commands for the headings. A script plays it here; one of --type claude reads the help first
        mngr tutorial fill tutorial/tutorial.sh --launch --type scripted -- read 'run cp ~/proposals.jsonl .tutorial-task/'
        "#,
    );
    tutorial(&e2e);
    with_gaps(&e2e);
    let fill = e2e.comment("there is no such file").run(FILL);
    expect(&fill).to_have_exit_code(1);
    assert!(names(&e2e).is_empty());
}

#[test]
fn an_accepted_proposal_is_in_the_tutorial() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Nothing gets into the file before you have accepted it
        mngr tutorial proposals
        mngr tutorial accept "$(mngr tutorial proposals --format '{id}' | head -n 1)"
        "#,
    );
    tutorial(&e2e);
    with_gaps(&e2e);
    propose(&e2e, &["mngr stop hello"]);
    expect(&succeed(&e2e, "mngr tutorial proposals").stdout).to_contain("mngr stop hello");
    expect(&succeed(&e2e, "cat tutorial/tutorial.sh").stdout).not_to_contain("mngr stop hello");
    let accepted =
        e2e.run(r#"mngr tutorial accept "$(mngr tutorial proposals --format '{id}' | head -n 1)""#);
    expect(&accepted).to_succeed();
    expect(&succeed(&e2e, "cat tutorial/tutorial.sh").stdout).to_contain("# Stopping\n\nmngr stop hello\n");
    expect(&succeed(&e2e, "mngr tutorial proposals").stdout).not_to_contain("mngr stop hello");
    expect(&e2e.comment("no such proposal").run("mngr tutorial accept 00000000")).to_fail();
}

#[test]
fn what_is_rejected_or_wrong_is_collected_by_command() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What you reject is remembered, by command, with what agents got wrong: there the interface may be unclear
        mngr tutorial reject "$(mngr tutorial proposals --format '{id}' | head -n 1)" --reason 'too much for a newcomer'
        mngr tutorial confusing
        "#,
    );
    tutorial(&e2e);
    with_gaps(&e2e);
    propose(&e2e, &["mngr stop hello", "mngr list --halted"]);
    let rejected = e2e.run(
        r#"mngr tutorial reject "$(mngr tutorial proposals --format '{id}' | head -n 1)" --reason 'too much for a newcomer'"#,
    );
    expect(&rejected).to_succeed();
    let confusing = e2e.run("mngr tutorial confusing");
    expect(&confusing).to_succeed();
    expect(&confusing.stdout)
        .to_contain("mngr stop")
        .to_contain("too much for a newcomer")
        .to_contain("mngr list")
        .to_contain("--halted");
    expect(&succeed(&e2e, "cat tutorial/tutorial.sh").stdout).not_to_contain("mngr stop hello");
}

#[test]
fn agents_write_the_missing_tests() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Agents can write the missing tests, too
        mngr tutorial sync tutorial/tutorial.sh tests/ --launch --merge --type scripted -- \
            read 'run cp ~/test_new.py tests/' 'commit Test what is new'
        "#,
    );
    tutorial(&e2e);
    with_gaps(&e2e);
    write(
        &e2e.home().join("test_new.py"),
        "def test_gc(e2e):\n    e2e.write_tutorial_block('''\n    # Clear up\n    mngr gc\n    ''')\n",
    );
    let synced = e2e.run(
        "mngr tutorial sync tutorial/tutorial.sh tests/ --launch --merge --type scripted -- \
            read 'run cp ~/test_new.py tests/' 'commit Test what is new'",
    );
    expect(&synced).to_succeed();
    expect(&succeed(&e2e, "git log -1 --format=%s -- tests/test_new.py").stdout)
        .to_equal("Test what is new\n");
    expect(&e2e.run("mngr tutorial check tutorial/tutorial.sh tests/")).to_succeed();
}

#[test]
fn slash_commands_are_written_and_yours_are_kept() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same two procedures as slash commands for Claude Code
        mngr tutorial skill --write .
        "#,
    );
    expect(&e2e.run("mngr tutorial skill --write .")).to_succeed();
    let files = succeed(&e2e, "find .claude -name 'tutorial-*'").stdout.to_string();
    expect(&files).to_contain("tutorial-fill").to_contain("tutorial-sync");
    let file = files.lines().find(|file| file.ends_with(".md")).unwrap().to_owned();
    succeed(&e2e, &format!("echo mine >'{file}'"));
    expect(&e2e.comment("it was changed").run("mngr tutorial skill --write .")).to_have_exit_code(1);
    expect(&succeed(&e2e, &format!("cat '{file}'")).stdout).to_equal("mine\n");
}
