//! Section "A tutorial like this one".

use mngr_e2e::session::Session;
use mngr_e2e::{expect, session};

use crate::support::{names, succeed, write};

const WRITE_TUTORIAL: &str = "mkdir -p tutorial
cat >tutorial/tutorial.sh <<'END'
# Say hello
mngr create hello --no-connect -- sh

# Stopping
END";

const WRITE_TEST: &str = r#"mkdir -p tests
cat >tests/test_hello.py <<'END'
def test_hello(e2e):
    e2e.write_tutorial_block("""
    # Say hello
    mngr create hello --no-connect -- sh
    """)
END"#;

const WRITE_PROPOSALS: &str = r##"cat >~/tutorial/proposals.jsonl <<'END'
{"heading": "Stopping", "text": "# Stop it for the night\nmngr stop hello", "reason": "everybody needs it"}
{"heading": "Stopping", "text": "# Stop it at once\nmngr stop hello --no-graceful", "reason": "some do not listen"}
END"##;

const COMMIT: &str = "git add --all && git commit --quiet -m 'A tutorial'";

const FILL: &str = "mngr tutorial fill tutorial/tutorial.sh --launch --type scripted -- \
    read 'run cp ~/tutorial/proposals.jsonl .tutorial-task/'";

/// The tutorial and its test.
fn tutorial(e2e: &Session) {
    let _ = succeed(e2e, WRITE_TUTORIAL);
    let _ = succeed(e2e, WRITE_TEST);
}

/// Adds to the tutorial.
fn add(e2e: &Session, text: &str) {
    let _ = succeed(e2e, &format!("printf '\\n{text}\\n' >>tutorial/tutorial.sh"));
}

/// A tutorial for whose heading an agent has made two proposals.
#[track_caller]
fn proposals(e2e: &Session) {
    tutorial(e2e);
    for command in ["mkdir ~/tutorial", WRITE_PROPOSALS, COMMIT, FILL] {
        let _ = succeed(e2e, command);
    }
}

#[test]
fn a_tutorial_is_made_of_blocks() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A tutorial is a script made of blocks: lines between empty lines
        mkdir -p tutorial
        cat >tutorial/tutorial.sh <<'END'
        # Say hello
        mngr create hello --no-connect -- sh

        # Stopping
        END
        "#,
    );
    succeed(&e2e, WRITE_TUTORIAL);
    let blocks = succeed(&e2e, "mngr tutorial list tutorial/tutorial.sh --format '{line} {title}'");
    expect(&blocks.stdout).to_equal("1 Say hello\n");
}

#[test]
fn tests_cite_blocks() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Tests cite its blocks, in Python or in Rust
        mkdir -p tests
        cat >tests/test_hello.py <<'END'
        def test_hello(e2e):
            e2e.write_tutorial_block("""
            # Say hello
            mngr create hello --no-connect -- sh
            """)
        END
        "#,
    );
    succeed(&e2e, WRITE_TUTORIAL);
    succeed(&e2e, "mkdir tests");
    let before = e2e.comment("no test yet").run("mngr tutorial check tutorial/tutorial.sh tests/");
    expect(&before).to_have_exit_code(1);
    succeed(&e2e, WRITE_TEST);
    expect(&e2e.run("mngr tutorial check tutorial/tutorial.sh tests/")).to_succeed();
}

#[test]
fn blocks_are_listed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Which blocks are there?
        mngr tutorial list tutorial/tutorial.sh
        mngr tutorial list tutorial/tutorial.sh --format '{id} {line} {title}'
        "#,
    );
    expect(&e2e.comment("no such file").run("mngr tutorial list tutorial/tutorial.sh")).to_fail();
    tutorial(&e2e);
    add(&e2e, "mngr stop hello");
    let list = e2e.run("mngr tutorial list tutorial/tutorial.sh");
    expect(&list).to_succeed();
    expect(&list.stdout)
        .to_match(r"(?m)^[0-9a-f]{8} +1 .*Say hello$")
        .to_match(r"(?m)^[0-9a-f]{8} +6 .*Stopping .*mngr stop hello$");
    let list = succeed(&e2e, "mngr tutorial list tutorial/tutorial.sh --format '{id} {line} {title}'");
    expect(&list.stdout).to_match(r"^[0-9a-f]{8} 1 Say hello\n[0-9a-f]{8} 6 mngr stop hello\n$");
}

#[test]
fn every_block_is_cited_and_every_citation_exists() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Is every block cited by a test, and does every block that tests cite exist? With --strict, does every test cite one?
        mngr tutorial check tutorial/tutorial.sh tests/
        mngr tutorial check tutorial/tutorial.sh tests/ --strict
        "#,
    );
    tutorial(&e2e);
    let whole = e2e.run("mngr tutorial check tutorial/tutorial.sh tests/");
    expect(&whole).to_succeed();
    expect(&whole.stdout).to_contain("all 1 block cited");
    expect(&e2e.run("mngr tutorial check tutorial/tutorial.sh tests/ --strict")).to_succeed();
    succeed(&e2e, "echo 'def test_other(): pass' >tests/test_other.py");
    let strict = e2e
        .comment("a test that cites nothing")
        .run("mngr tutorial check tutorial/tutorial.sh tests/ --strict");
    expect(&strict).to_have_exit_code(1);
    expect(&strict.stdout).to_contain("test_other");

    add(&e2e, "mngr stop hello");
    let new = e2e.comment("a block was added").run("mngr tutorial check tutorial/tutorial.sh tests/");
    expect(&new).to_have_exit_code(1);
    expect(&new.stdout).to_contain("mngr stop hello").not_to_contain("test_hello");

    succeed(&e2e, "sed -i 's/-- sh/-- bash/' tutorial/tutorial.sh");
    let changed = e2e.comment("a block was edited").run("mngr tutorial check tutorial/tutorial.sh tests/");
    expect(&changed).to_have_exit_code(1);
    expect(&changed.stdout).to_contain("-- bash").to_contain("test_hello");
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
    add(&e2e, "mngr stop hello");
    let coverage = e2e.run("mngr tutorial coverage tutorial/tutorial.sh tests/");
    expect(&coverage).to_succeed();
    expect(&coverage.stdout).to_contain("1 of 2 blocks cited");
    let tests =
        succeed(&e2e, "mngr tutorial coverage tutorial/tutorial.sh tests/ --format '{title}: {tests}'");
    expect(&tests.stdout)
        .to_match("(?m)^Say hello: .*test_hello")
        .not_to_match("(?m)^mngr stop hello: .*test_");
}

#[test]
fn commands_are_checked_and_not_run() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Are the commands right? Verbs, options and values are checked, and nothing is run. Other programs are asked for their --help
        mngr tutorial lint tutorial/tutorial.sh
        mngr tutorial lint tutorial/tutorial.sh --cli git
        "#,
    );
    tutorial(&e2e);
    let right = e2e.run("mngr tutorial lint tutorial/tutorial.sh");
    expect(&right).to_succeed();
    expect(&right.stdout).to_contain("1 checked");
    assert!(names(&e2e).is_empty());
    add(&e2e, "git --verzion");
    expect(&e2e.comment("not asked").run("mngr tutorial lint tutorial/tutorial.sh")).to_succeed();
    let asked = e2e.run("mngr tutorial lint tutorial/tutorial.sh --cli git");
    expect(&asked).to_have_exit_code(1);
    expect(&asked.stdout).to_contain("tutorial.sh:6").to_contain("--verzion");
    succeed(&e2e, WRITE_TUTORIAL);
    expect(&e2e.run("mngr tutorial lint tutorial/tutorial.sh --cli git")).to_succeed();
    add(&e2e, "mngr stop hello --foce");
    let wrong = e2e.comment("a slip").run("mngr tutorial lint tutorial/tutorial.sh");
    expect(&wrong).to_have_exit_code(1);
    expect(&wrong.stdout).to_contain("tutorial.sh:6").to_contain("--foce");
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
    let fill = e2e.run("mngr tutorial fill tutorial/tutorial.sh");
    expect(&fill).to_succeed();
    expect(&fill.stdout).to_contain("Stopping").not_to_contain("Say hello");
    let sync = e2e.comment("all have a test").run("mngr tutorial sync tutorial/tutorial.sh tests/");
    expect(&sync).to_succeed();
    add(&e2e, "mngr stop hello");
    let sync = e2e.comment("one has none").run("mngr tutorial sync tutorial/tutorial.sh tests/");
    expect(&sync).to_have_exit_code(1);
    expect(&sync.stdout).to_contain("mngr stop hello").not_to_contain("Say hello");
}

#[test]
fn an_agent_proposes_what_is_missing() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r##"
        # An agent can propose commands for a heading. A script plays it here; one of --type claude reads the help first.
        # Agents work on what is committed
        cat >~/tutorial/proposals.jsonl <<'END'
        {"heading": "Stopping", "text": "# Stop it for the night\nmngr stop hello", "reason": "everybody needs it"}
        {"heading": "Stopping", "text": "# Stop it at once\nmngr stop hello --no-graceful", "reason": "some do not listen"}
        END
        git add --all && git commit --quiet -m 'A tutorial'
        mngr tutorial fill tutorial/tutorial.sh --launch --type scripted -- read 'run cp ~/tutorial/proposals.jsonl .tutorial-task/'
        "##,
    );
    proposals(&e2e);
    let proposed = succeed(&e2e, "mngr tutorial proposals --format '{status} {heading} {agent}'");
    expect(&proposed.stdout).to_match(r"^(proposed Stopping \S+\n){2}$");
    assert!(names(&e2e).is_empty(), "the agent is gone");
    expect(&succeed(&e2e, "git status --short").stdout).to_be_empty();
}

#[test]
fn an_agent_that_proposes_nothing_has_failed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r##"
        # An agent can propose commands for a heading. A script plays it here; one of --type claude reads the help first.
        # Agents work on what is committed
        cat >~/tutorial/proposals.jsonl <<'END'
        {"heading": "Stopping", "text": "# Stop it for the night\nmngr stop hello", "reason": "everybody needs it"}
        {"heading": "Stopping", "text": "# Stop it at once\nmngr stop hello --no-graceful", "reason": "some do not listen"}
        END
        git add --all && git commit --quiet -m 'A tutorial'
        mngr tutorial fill tutorial/tutorial.sh --launch --type scripted -- read 'run cp ~/tutorial/proposals.jsonl .tutorial-task/'
        "##,
    );
    tutorial(&e2e);
    succeed(&e2e, COMMIT);
    let fill = e2e.comment("there is no such file").run(FILL);
    expect(&fill).to_have_exit_code(1);
    expect(&succeed(&e2e, "mngr tutorial proposals --all --format '{id}'").stdout).to_be_empty();
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
    proposals(&e2e);
    let listed = succeed(&e2e, "mngr tutorial proposals");
    expect(&listed.stdout).to_contain("mngr stop hello\n").to_contain("mngr stop hello --no-graceful\n");
    expect(&succeed(&e2e, "cat tutorial/tutorial.sh").stdout).not_to_contain("mngr stop");
    let accepted =
        e2e.run(r#"mngr tutorial accept "$(mngr tutorial proposals --format '{id}' | head -n 1)""#);
    expect(&accepted).to_succeed();
    expect(&succeed(&e2e, "cat tutorial/tutorial.sh").stdout)
        .to_contain("# Stopping\n\n# Stop it for the night\nmngr stop hello\n")
        .not_to_contain("--no-graceful");
    expect(&e2e.comment("no such proposal").run("mngr tutorial accept 00000000")).to_fail();
}

#[test]
fn what_is_rejected_is_collected_by_command() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What you reject is remembered, by command, with what agents got wrong: there the interface may be unclear
        mngr tutorial reject "$(mngr tutorial proposals --format '{id}' | head -n 1)" --reason 'too much for a newcomer'
        mngr tutorial proposals --all --format '{id} {status} {heading}'
        mngr tutorial confusing
        mngr tutorial confusing --format '{count} {verb}'
        "#,
    );
    proposals(&e2e);
    expect(&succeed(&e2e, "mngr tutorial confusing").stdout).not_to_contain("mngr stop");
    let rejected = e2e.run(
        r#"mngr tutorial reject "$(mngr tutorial proposals --format '{id}' | head -n 1)" --reason 'too much for a newcomer'"#,
    );
    expect(&rejected).to_succeed();
    let all = succeed(&e2e, "mngr tutorial proposals --all --format '{id} {status} {heading}'");
    expect(&all.stdout).to_match(r"(?m)^[0-9a-f]+ rejected Stopping$").to_match(r"(?m) proposed Stopping$");
    let counted = succeed(&e2e, "mngr tutorial confusing --format '{count} {verb}'");
    expect(&counted.stdout).to_equal("1 mngr stop\n");
    let confusing = e2e.run("mngr tutorial confusing");
    expect(&confusing).to_succeed();
    expect(&confusing.stdout).to_contain("mngr stop").to_contain("too much for a newcomer");
    let left = succeed(&e2e, "mngr tutorial proposals --format '{text}'");
    expect(&left.stdout).to_contain("--no-graceful").not_to_contain("for the night");
}

#[test]
fn agents_write_the_missing_tests() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Agents can write the missing tests, too, on a branch. With --merge they are measured, and what holds is merged
        cat >~/tutorial/test_stop.py <<'END'
        def test_stop(e2e):
            e2e.write_tutorial_block("""
            # Stop it for the night
            mngr stop hello
            """)
        END
        git commit --quiet --all -m 'One more block'
        mngr tutorial sync tutorial/tutorial.sh tests/ --launch --type scripted -- \
            read 'run cp ~/tutorial/test_stop.py tests/' 'commit Test the new block'
        "#,
    );
    tutorial(&e2e);
    succeed(&e2e, COMMIT);
    add(&e2e, "# Stop it for the night\\nmngr stop hello");
    let test = r#"def test_stop(e2e):
    e2e.write_tutorial_block("""
    # Stop it for the night
    mngr stop hello
    """)
"#;
    write(&e2e.home().join("tutorial/test_stop.py"), test);
    succeed(&e2e, "git commit --quiet --all -m 'One more block'");
    let synced = e2e.run(
        "mngr tutorial sync tutorial/tutorial.sh tests/ --launch --type scripted -- \
            read 'run cp ~/tutorial/test_stop.py tests/' 'commit Test the new block'",
    );
    expect(&synced).to_succeed();
    let log = "git log -1 --format=%s \"$(git branch --list 'mngr/tutorial-sync-*' --format '%(refname)')\"";
    expect(&succeed(&e2e, log).stdout).to_equal("Test the new block\n");
    expect(&e2e.comment("nothing is merged").run("mngr tutorial check tutorial/tutorial.sh tests/"))
        .to_have_exit_code(1);
}

#[test]
fn agents_that_write_no_test_leave_the_work_open() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Agents can write the missing tests, too, on a branch. With --merge they are measured, and what holds is merged
        cat >~/tutorial/test_stop.py <<'END'
        def test_stop(e2e):
            e2e.write_tutorial_block("""
            # Stop it for the night
            mngr stop hello
            """)
        END
        git commit --quiet --all -m 'One more block'
        mngr tutorial sync tutorial/tutorial.sh tests/ --launch --type scripted -- \
            read 'run cp ~/tutorial/test_stop.py tests/' 'commit Test the new block'
        "#,
    );
    tutorial(&e2e);
    add(&e2e, "mngr stop hello");
    succeed(&e2e, COMMIT);
    let synced =
        e2e.run("mngr tutorial sync tutorial/tutorial.sh tests/ --launch --type scripted -- read 'say done'");
    expect(&synced).to_have_exit_code(1);
    expect(&synced.stdout).to_contain("mngr stop hello");
    expect(&succeed(&e2e, "git log -1 --format=%s").stdout).to_equal("A tutorial\n");
}

#[test]
fn slash_commands_are_written_and_yours_are_kept() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same two procedures as slash commands for Claude Code
        mngr tutorial skill
        mngr tutorial skill --write .
        "#,
    );
    expect(&succeed(&e2e, "mngr tutorial skill").stdout).to_contain("tutorial-fill");
    expect(&e2e.run("ls .claude")).to_fail();
    expect(&e2e.run("mngr tutorial skill --write .")).to_succeed();
    let files = succeed(&e2e, "find .claude -name 'tutorial-*.md'").stdout.to_string();
    expect(&files).to_contain("tutorial-fill").to_contain("tutorial-sync");
    let file = files.lines().next().unwrap();
    succeed(&e2e, &format!("echo mine >'{file}'"));
    expect(&e2e.comment("it was changed").run("mngr tutorial skill --write .")).to_have_exit_code(1);
    expect(&succeed(&e2e, &format!("cat '{file}'")).stdout).to_equal("mine\n");
}
