//! Section "In scripts".

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn a_missing_agent_has_an_exit_code_of_its_own() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Exit codes tell failures apart: 9 is an agent that does not exist
        mngr stop nobody || echo "ended with $?"
        "#,
    );
    let result = e2e.run(r#"mngr stop nobody || echo "ended with $?""#);
    expect(&result.stdout).to_equal("ended with 9\n");
    expect(&result.stderr).to_contain("Could not find agent `nobody`");
    expect(&e2e.comment("not a command line").run("mngr stop --nobody")).to_have_exit_code(2);
}

#[test]
fn an_error_is_json_too() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # With JSON an error is JSON too
        mngr stop nobody --format json || true
        "#,
    );
    let result = e2e.run("mngr stop nobody --format json || true");
    let error = json(&result.stdout).to_string();
    expect(&error).to_contain("nobody").to_contain("not found");
}

#[test]
fn a_program_reads_what_commands_and_options_there_are() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What commands and options are there? A program reads it here
        mngr help --format json
        "#,
    );
    let help = json(&succeed(&e2e, "mngr help --format json").stdout);
    let commands = help["commands"].as_array().unwrap();
    let create = commands.iter().find(|command| command["name"] == "mngr create").unwrap();
    expect(&create["sections"].to_string()).to_contain("--no-connect");
}

#[test]
fn a_headless_agent_lives_as_long_as_its_program() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A program as an agent for as long as it runs: its output, its exit code, a clean worktree, nothing left over
        mngr create check --type headless_command --foreground -- git status
        "#,
    );
    let result = e2e.run("mngr create check --type headless_command --foreground -- git status");
    expect(&result).to_succeed();
    expect(&result.stdout).to_equal("On branch mngr/check\nnothing to commit, working tree clean\n");
    assert!(names(&e2e).is_empty());
    expect(&succeed(&e2e, "git branch --format '%(refname:short)'").stdout).to_equal("main\n");
}

#[test]
fn a_headless_agent_fails_as_its_program_does() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A program as an agent for as long as it runs: its output, its exit code, a clean worktree, nothing left over
        mngr create check --type headless_command --foreground -- git status
        "#,
    );
    let result = e2e.run("mngr create check --type headless_command --foreground -- sh -c 'exit 3'");
    expect(&result).to_have_exit_code(3);
    assert!(names(&e2e).is_empty());
    let result =
        e2e.comment("it needs --foreground").run("mngr create check --type headless_command -- git status");
    expect(&result).to_have_exit_code(2);
    expect(&result.stderr).to_contain("--foreground");
}

#[test]
fn a_headless_agent_reads_standard_input() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # It reads standard input
        git log | mngr create --type headless_command --foreground -- wc -l
        "#,
    );
    let lines = succeed(&e2e, "git log | wc -l").stdout.to_string();
    let result = e2e.run("git log | mngr create --type headless_command --foreground -- wc -l");
    expect(&result).to_succeed();
    assert!(lines.trim() != "0" && result.stdout.trim() == lines.trim(), "{} {lines}", result.stdout);
}
