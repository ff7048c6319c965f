//! Section "One task from start to end".

use std::fs;

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn a_scripted_agent_edits_commits_and_asks() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A script plays the agent here, so that it costs nothing and does the same every time:
        # it edits a file, commits it, and asks a question
        mngr create fix-login scripted --no-connect -- 'edit login.py fixed' 'commit Fix the login' 'ask is that all?'
        "#,
    );
    succeed(
        &e2e,
        "mngr create fix-login scripted --no-connect -- 'edit login.py fixed' 'commit Fix the login' 'ask is that all?'",
    );
    wait_for(&e2e, "fix-login", "WAITING");
    assert_eq!(agent(&e2e, "fix-login")["waiting_reason"], "QUESTION");
    expect(&succeed(&e2e, "mngr capture fix-login").stdout).to_contain("is that all?");
    expect(&succeed(&e2e, "git log --format=%s mngr/fix-login").stdout)
        .to_equal("Fix the login\nFirst commit\n");
    assert!(!e2e.project().join("login.py").exists(), "it works in a folder of its own");
}

#[test]
fn a_step_that_is_none_is_refused_before_anything_is_made() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A script plays the agent here, so that it costs nothing and does the same every time:
        # it edits a file, commits it, and asks a question
        mngr create fix-login scripted --no-connect -- 'edit login.py fixed' 'commit Fix the login' 'ask is that all?'
        "#,
    );
    let created = e2e.run("mngr create fix-login scripted --no-connect -- 'edti login.py fixed'");
    expect(&created).to_fail();
    expect(&created.stderr).to_contain("edti");
    assert!(names(&e2e).is_empty());
}

#[test]
fn two_agents_do_not_see_each_others_files() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A second agent in the same repository, at the same time. They do not see each other's files
        mngr create docs --no-connect -- sh
        "#,
    );
    fixed_login(&e2e);
    expect(&e2e.run("mngr create docs --no-connect -- sh")).to_succeed();
    expect(&succeed(&e2e, "mngr exec fix-login ls").stdout).to_equal("README.md\nlogin.py\n");
    expect(&succeed(&e2e, "mngr exec docs ls").stdout).to_equal("README.md\n");
}

#[test]
fn list_shows_who_waits() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What are they doing? fix-login waits: it has a question
        mngr list
        "#,
    );
    expect(&e2e.comment("nobody yet").run("mngr list").stdout).to_contain("No agents found");
    succeed(&e2e, "mngr create fix-login scripted --no-connect -- 'ask is that all?'");
    shell(&e2e, "docs");
    wait_for(&e2e, "fix-login", "WAITING");
    let list = e2e.run("mngr list");
    expect(&list).to_succeed();
    expect(&list.stdout).to_match(r"(?m)^fix-login +WAITING \(QUESTION\)").to_match(r"(?m)^docs +RUNNING");
}

#[test]
fn a_look_at_a_question_leaves_it_open() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Look at the question on its own terminal, if you like. Leave with Ctrl-b d, and it still waits
        mngr connect fix-login
        "#,
    );
    succeed(&e2e, "mngr create fix-login scripted --no-connect -- 'ask is that all?'");
    wait_for(&e2e, "fix-login", "WAITING");
    let terminal = e2e.terminal("mngr connect fix-login");
    terminal.expect_screen("is that all?");
    detach(&e2e, terminal);
    let agent = agent(&e2e, "fix-login");
    assert_eq!((&agent["state"], &agent["waiting_reason"]), (&"WAITING".into(), &"QUESTION".into()));
}

#[test]
fn an_answer_is_taken_before_message_returns() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Answer it. The command returns once the agent has taken the message, and fails if it did not
        mngr message fix-login 'yes, thank you'
        "#,
    );
    succeed(
        &e2e,
        "mngr create fix-login scripted --no-connect -- 'ask is that all?' 'write answer {message}' hang",
    );
    wait_for(&e2e, "fix-login", "WAITING");
    expect(&e2e.run("mngr message fix-login 'yes, thank you'")).to_succeed();
    until_printed(&e2e, "mngr exec fix-login 'cat answer'", "yes, thank you\n");
}

#[test]
fn an_agent_that_has_ended_takes_no_answer() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Answer it. The command returns once the agent has taken the message, and fails if it did not
        mngr message fix-login 'yes, thank you'
        "#,
    );
    fixed_login(&e2e);
    let sent = e2e.run("mngr message fix-login 'yes, thank you'");
    expect(&sent).to_have_exit_code(1);
    expect(&sent.stderr).to_contain("cannot take messages: it is DONE");
}

#[test]
fn wait_returns_when_the_agent_has_ended() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Wait until it has ended
        mngr wait fix-login
        "#,
    );
    succeed(&e2e, "mngr create fix-login scripted --no-connect -- 'sleep 0.3s' 'write done yes'");
    let waited = e2e.run("mngr wait fix-login");
    expect(&waited).to_succeed();
    expect(&waited.stdout).to_equal("fix-login is DONE\n");
    expect(&succeed(&e2e, "mngr exec fix-login 'cat done'").stdout).to_equal("yes\n");
}

#[test]
fn pull_merges_the_commits() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Bring its commits here, and merge them into the branch you are on
        mngr pull fix-login --merge
        "#,
    );
    fixed_login(&e2e);
    let pulled = e2e.run("mngr pull fix-login --merge");
    expect(&pulled).to_succeed();
    expect(&pulled.stdout).to_contain("Fast-forwarded main to mngr/fix-login (1 commit)");
    assert_eq!(fs::read_to_string(e2e.project().join("login.py")).unwrap(), "fixed\n");
}

#[test]
fn a_conflict_changes_nothing_and_names_the_file() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Bring its commits here, and merge them into the branch you are on
        mngr pull fix-login --merge
        "#,
    );
    fixed_login(&e2e);
    succeed(&e2e, "echo mine >login.py && git add . && git commit -qm 'My own login'");
    let before = succeed(&e2e, "git rev-parse HEAD").stdout.to_string();
    let pulled = e2e.run("mngr pull fix-login --merge");
    expect(&pulled).to_have_exit_code(1);
    expect(&pulled.stderr).to_contain("login.py");
    expect(&succeed(&e2e, "git rev-parse HEAD").stdout).to_equal(&before);
    expect(&succeed(&e2e, "git status --short").stdout).to_be_empty();
}

#[test]
fn destroy_and_undo_take_one_command_each() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Clear up. It is one command to change your mind
        mngr destroy --force docs
        mngr undo docs
        "#,
    );
    shell(&e2e, "docs");
    let destroyed = e2e.run("mngr destroy --force docs");
    expect(&destroyed).to_succeed();
    expect(&destroyed.stdout).to_contain("Successfully destroyed 1 agent(s)");
    assert!(names(&e2e).is_empty());
    let undone = e2e.run("mngr undo docs");
    expect(&undone).to_succeed();
    expect(&undone.stdout).to_contain("Restored agent: docs on branch mngr/docs");
    assert_eq!(names(&e2e), ["docs"]);
}

#[test]
fn an_agent_that_has_ended_goes_without_force() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Its commits are yours now, so this one can go. An agent that has ended needs no --force
        mngr destroy fix-login
        "#,
    );
    fixed_login(&e2e);
    expect(&e2e.run("mngr destroy fix-login")).to_succeed();
    assert!(names(&e2e).is_empty());
    let again = e2e.comment("it is gone").run("mngr destroy fix-login");
    expect(&again).to_have_exit_code(9);
}
