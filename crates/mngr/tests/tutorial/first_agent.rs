//! Section "A first agent".

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn help_lists_every_command() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Everything there is, on one page
        mngr help
        "#,
    );
    let help = e2e.run("mngr help");
    expect(&help).to_succeed();
    expect(&help.stdout).to_match(r"(?m)^  create +Create an agent").to_match(r"(?m)^  view +\w");
}

#[test]
fn a_command_and_a_topic_explain_themselves() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Every command explains itself, with examples. So do topics: states, filters, exit_codes, ...
        mngr help create
        mngr help config set
        mngr help states
        "#,
    );
    expect(&succeed(&e2e, "mngr help create").stdout)
        .to_contain("mngr create [OPTIONS]")
        .to_contain("EXAMPLES");
    expect(&succeed(&e2e, "mngr help config set").stdout)
        .to_contain("mngr config set [OPTIONS] <KEY> <VALUE>");
    expect(&succeed(&e2e, "mngr help states").stdout).to_match("WAITING +its process lives");
}

#[test]
fn help_for_what_does_not_exist_says_so() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Every command explains itself, with examples. So do topics: states, filters, exit_codes, ...
        mngr help create
        mngr help config set
        mngr help states
        "#,
    );
    let help = e2e.run("mngr help creat");
    expect(&help).to_have_exit_code(2);
    expect(&help.stderr).to_contain("No such command or topic: `creat`");
}

#[test]
fn an_agent_is_a_program_with_a_worktree_and_a_branch() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent is a program in a terminal, with a git worktree and a branch of its own.
        # Any program will do: here, just a shell. At a terminal, --no-connect leaves you where you are
        mngr create try-it --no-connect -- sh
        "#,
    );
    let created = e2e.run("mngr create try-it --no-connect -- sh");
    expect(&created).to_succeed();
    expect(&created.stdout)
        .to_contain("Created agent: try-it (command)")
        .to_contain("branch mngr/try-it in ");
    assert_eq!(agent(&e2e, "try-it")["state"], "RUNNING");
    expect(&succeed(&e2e, "git worktree list").stdout).to_contain("[mngr/try-it]");
}

#[test]
fn a_name_is_taken_once() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent is a program in a terminal, with a git worktree and a branch of its own.
        # Any program will do: here, just a shell. At a terminal, --no-connect leaves you where you are
        mngr create try-it --no-connect -- sh
        "#,
    );
    shell(&e2e, "try-it");
    let id = agent(&e2e, "try-it")["id"].clone();
    let again = e2e.comment("the same name").run("mngr create try-it --no-connect -- sh");
    expect(&again).to_have_exit_code(1);
    expect(&again.stderr).to_contain("already exists").to_contain("--reuse");
    assert_eq!(names(&e2e), ["try-it"]);
    assert_eq!(agent(&e2e, "try-it")["id"], id);
}

#[test]
fn a_program_that_does_not_exist_leaves_nothing_behind() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent is a program in a terminal, with a git worktree and a branch of its own.
        # Any program will do: here, just a shell. At a terminal, --no-connect leaves you where you are
        mngr create try-it --no-connect -- sh
        "#,
    );
    let created = e2e.run("mngr create try-it --no-connect -- no-such-program");
    expect(&created).to_have_exit_code(1);
    expect(&created.stderr).to_contain("`no-such-program` was not found");
    assert!(names(&e2e).is_empty());
    expect(&succeed(&e2e, "git branch --format '%(refname:short)'").stdout).to_equal("main\n");
}

#[test]
fn a_message_is_typed_into_the_terminal() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Type a line into it
        mngr message try-it "echo hello"
        "#,
    );
    shell(&e2e, "try-it");
    let sent = e2e.run(r#"mngr message try-it "echo hello""#);
    expect(&sent).to_succeed();
    expect(&sent.stdout).to_contain("Message sent to: try-it");
    until_printed(&e2e, "mngr capture try-it", "\nhello\n");
}

#[test]
fn a_message_to_nobody_says_so() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Type a line into it
        mngr message try-it "echo hello"
        "#,
    );
    let sent = e2e.run(r#"mngr message try-it "echo hello""#);
    expect(&sent).to_have_exit_code(9);
    expect(&sent.stderr).to_contain("Could not find agent `try-it`");
}

#[test]
fn capture_shows_the_screen() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What is on its screen?
        mngr capture try-it
        "#,
    );
    succeed(&e2e, "mngr create try-it --no-connect -- 'echo I am here; exec sh'");
    until_printed(&e2e, "mngr capture try-it", "I am here\n");
}

#[test]
fn capture_does_not_wake_a_stopped_agent() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What is on its screen?
        mngr capture try-it
        "#,
    );
    shell(&e2e, "try-it");
    succeed(&e2e, "mngr stop try-it");
    expect(&e2e.run("mngr capture try-it")).to_have_exit_code(1);
    assert_eq!(agent(&e2e, "try-it")["state"], "STOPPED");
}

#[test]
fn connect_attaches_and_detaching_leaves_the_agent_at_work() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Sit down at its terminal. Leave with Ctrl-b d (inside another tmux: Ctrl-b Ctrl-b d), and it works on
        mngr connect try-it
        "#,
    );
    shell(&e2e, "try-it");
    let terminal = e2e.terminal("mngr connect try-it");
    terminal.expect_screen("mngr-try-it");
    terminal.send("echo typed $((40 + 2))\r");
    terminal.expect_screen("typed 42");
    detach(&e2e, terminal);
    assert_eq!(agent(&e2e, "try-it")["state"], "RUNNING");
    expect(&succeed(&e2e, "mngr capture try-it").stdout).to_contain("typed 42");
}

#[test]
fn exec_runs_in_the_folder_of_the_agent() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Run something beside it, in its folder, without disturbing it
        mngr exec try-it 'git status --short'
        "#,
    );
    shell(&e2e, "try-it");
    succeed(&e2e, r#"mngr message try-it "echo draft >draft.txt""#);
    until_printed(&e2e, "mngr exec try-it 'git status --short'", "?? draft.txt\n");
    expect(&succeed(&e2e, "git status --short").stdout).to_be_empty();
}

#[test]
fn explain_names_the_evidence() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Its state, and how mngr knows
        mngr explain try-it
        "#,
    );
    shell(&e2e, "try-it");
    let explained = e2e.run("mngr explain try-it");
    expect(&explained).to_succeed();
    expect(&explained.stdout)
        .to_match(r"state +RUNNING")
        .to_match(r"program +process \d+ is alive")
        .to_match(r"attach with +tmux -L \S+ attach -t '=mngr-try-it'");
}

#[test]
fn destroy_takes_a_running_agent_only_with_force() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Away with it. --force, because it still runs
        mngr destroy --force try-it
        "#,
    );
    shell(&e2e, "try-it");
    let refused = e2e.comment("not while it runs").run("mngr destroy try-it");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("Use --force");
    assert_eq!(names(&e2e), ["try-it"]);

    expect(&e2e.run("mngr destroy --force try-it")).to_succeed();
    assert!(names(&e2e).is_empty());
}

#[test]
fn undo_brings_id_branch_and_files_back() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A slip of the finger? Destroying loses nothing: it is back, with its id, its branch and its files
        mngr undo try-it
        "#,
    );
    shell(&e2e, "try-it");
    succeed(&e2e, "mngr exec try-it 'echo draft >draft.txt'");
    let before = agent(&e2e, "try-it");
    succeed(&e2e, "mngr destroy --force try-it");

    expect(&e2e.run("mngr undo try-it")).to_succeed();
    let after = agent(&e2e, "try-it");
    assert_eq!(after["state"], "STOPPED");
    for field in ["id", "work_dir", "initial_branch"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    expect(&succeed(&e2e, "mngr exec try-it 'cat draft.txt'").stdout).to_equal("draft\n");
}

#[test]
fn undo_of_what_was_never_there_fails() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A slip of the finger? Destroying loses nothing: it is back, with its id, its branch and its files
        mngr undo try-it
        "#,
    );
    let undone = e2e.run("mngr undo try-it");
    expect(&undone).to_have_exit_code(9);
    expect(&undone.stderr).to_contain("destroyed agent `try-it` not found");
}
