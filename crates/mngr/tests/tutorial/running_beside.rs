//! Section "Running things beside an agent".

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn the_exit_code_is_the_commands_own() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The exit code is the command's own, so that it can be used in conditions
        mngr exec try-it -- test -e README.md && echo 'there is a README'
        "#,
    );
    shell(&e2e, "try-it");
    let there = e2e.run("mngr exec try-it -- test -e README.md && echo 'there is a README'");
    expect(&there).to_succeed();
    expect(&there.stdout).to_equal("there is a README\n");
    succeed(&e2e, "mngr exec try-it 'rm README.md'");
    let gone = e2e.run("mngr exec try-it -- test -e README.md && echo 'there is a README'");
    expect(&gone).to_have_exit_code(1);
    expect(&gone.stdout).to_be_empty();
    expect(&e2e.run("mngr exec try-it 'exit 42'")).to_have_exit_code(42);
    expect(&e2e.comment("mngr itself fails").run("mngr exec nobody true")).to_have_exit_code(125);
}

#[test]
fn a_command_has_the_agents_environment() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # It has the agent's environment
        mngr exec api 'echo "$PORT"'
        "#,
    );
    succeed(&e2e, "mngr create api --env PORT=8080 --no-connect -- sh");
    let result = e2e.run(r#"mngr exec api 'echo "$PORT"'"#);
    expect(&result).to_succeed();
    expect(&result.stdout).to_equal("8080\n");
}

#[test]
fn a_command_runs_in_all_of_them() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # In all of them at once
        mngr list --project . --ids | mngr exec - 'git log --oneline -1'
        "#,
    );
    fixed_login(&e2e);
    shell(&e2e, "docs");
    let result = e2e.run("mngr list --project . --ids | mngr exec - 'git log --oneline -1'");
    expect(&result).to_succeed();
    expect(&result.stdout)
        .to_match(r"--- fix-login ---\n\w+ Fix the login\n")
        .to_match(r"--- docs ---\n\w+ First commit\n");
}

#[test]
fn one_failure_among_several_is_a_failure() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # In all of them at once
        mngr list --project . --ids | mngr exec - 'git log --oneline -1'
        "#,
    );
    shell(&e2e, "one");
    shell(&e2e, "two");
    succeed(&e2e, "mngr exec one 'touch only-here'");
    let result = e2e.run("mngr list --project . --ids | mngr exec - 'ls only-here'");
    expect(&result).to_fail();
    expect(&result.stdout).to_contain("only-here");
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Not for ever: 124 is the exit code when the time is up
        mngr exec try-it --timeout 0.5s 'sleep 100' || echo "ended with $?"
        "#,
    );
    shell(&e2e, "try-it");
    let result = e2e.run(r#"mngr exec try-it --timeout 0.5s 'sleep 100' || echo "ended with $?""#);
    expect(&result.stdout).to_equal("ended with 124\n");
    assert_eq!(agent(&e2e, "try-it")["state"], "RUNNING", "the agent itself goes on");
}
