//! Section "Creating agents".

use std::fs;

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn files_for_the_examples_are_outside_the_repository() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Some files for the examples below
        mkdir -p ~/tutorial/notes
        echo 'an idea' >~/tutorial/notes/one.txt
        echo 'read the notes' >~/tutorial/task.md
        echo 'COLOUR=blue' >~/tutorial/api.env
        "#,
    );
    succeed(&e2e, FILES);
    expect(&succeed(&e2e, "cd ~/tutorial && cat notes/one.txt task.md api.env").stdout)
        .to_equal("an idea\nread the notes\nCOLOUR=blue\n");
    expect(&succeed(&e2e, "git status --short").stdout).to_be_empty();
}

#[test]
fn at_a_terminal_create_shows_the_agent() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # At a terminal, create shows you the agent at once. Leave with Ctrl-b d
        mngr create pair -- sh
        "#,
    );
    let terminal = e2e.terminal("mngr create pair -- sh");
    terminal.expect_screen("mngr-pair");
    terminal.send("echo two $((1 + 1))\r");
    terminal.expect_screen("two 2");
    detach(&e2e, terminal);
    assert_eq!(agent(&e2e, "pair")["state"], "RUNNING");
}

#[test]
fn a_name_is_made_up() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Nobody has to think of a name
        mngr create --no-connect -- sh
        "#,
    );
    let created = e2e.run("mngr create --no-connect -- sh");
    expect(&created).to_succeed();
    succeed(&e2e, "mngr create --no-connect -- sh");
    let names = names(&e2e);
    assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
    expect(&created.stdout).to_contain(&format!("Created agent: {} (command)", names[0]));
}

#[test]
fn several_words_are_an_argv_and_one_word_may_be_shell() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Words after -- are the program and its arguments, taken as they are.
        # One word with shell syntax runs through sh
        mngr create sleeper --no-connect -- sleep 1000
        mngr create lister --no-connect -- 'ls >listing.txt; exec sleep 1000'
        "#,
    );
    succeed(&e2e, "mngr create sleeper --no-connect -- sleep 1000");
    succeed(&e2e, "mngr create lister --no-connect -- 'ls >listing.txt; exec sleep 1000'");
    until_printed(&e2e, "mngr exec lister 'cat listing.txt'", "README.md");
    succeed(&e2e, "mngr create literal --no-connect -- touch 'a b' ';'");
    wait_for(&e2e, "literal", "DONE");
    expect(&succeed(&e2e, "mngr exec literal 'ls'").stdout).to_equal(";\nREADME.md\na b\n");
    expect(&succeed(&e2e, "mngr list --format '{name} {command}'").stdout).to_contain("sleeper sleep 1000\n");
}

#[test]
fn a_branch_begins_and_is_called_as_asked() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Begin at another branch than the one you are on, and choose what the new branch is called; * is the name
        mngr create hotfix --branch 'main:hotfix/*' --no-connect -- sh
        "#,
    );
    succeed(&e2e, "git switch -qc feature && git commit -q --allow-empty -m 'Half a feature'");
    expect(&e2e.run("mngr create hotfix --branch 'main:hotfix/*' --no-connect -- sh")).to_succeed();
    expect(&succeed(&e2e, "mngr exec hotfix 'git branch --show-current; git log --format=%s'").stdout)
        .to_equal("hotfix/hotfix\nFirst commit\n");
}

#[test]
fn a_branch_that_does_not_exist_is_named() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Begin at another branch than the one you are on, and choose what the new branch is called; * is the name
        mngr create hotfix --branch 'main:hotfix/*' --no-connect -- sh
        "#,
    );
    let created = e2e.run("mngr create hotfix --branch 'mian:hotfix/*' --no-connect -- sh");
    expect(&created).to_have_exit_code(1);
    expect(&created.stderr).to_contain("unknown revision `mian`");
    assert!(names(&e2e).is_empty());
}

#[test]
fn uncommitted_changes_come_along_when_asked_and_are_never_forgotten() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Take your uncommitted changes along. Without the option, create refuses rather than leave something behind
        echo 'half a thought' >thought.txt
        mngr create go-on --include-unclean --no-connect -- sh
        rm thought.txt
        "#,
    );
    succeed(&e2e, "echo more >>README.md");
    succeed(&e2e, "echo 'half a thought' >thought.txt");
    let refused = e2e.comment("not without a word").run("mngr create go-on --no-connect -- sh");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("uncommitted changes (2): README.md, thought.txt");
    assert!(names(&e2e).is_empty());

    expect(&e2e.run("mngr create go-on --include-unclean --no-connect -- sh")).to_succeed();
    expect(&succeed(&e2e, "git status --short").stdout).to_equal(" M README.md\n?? thought.txt\n");
    succeed(&e2e, "rm thought.txt");
    let there = succeed(&e2e, "mngr exec go-on 'git status --short; cat thought.txt'");
    expect(&there.stdout).to_equal(" M README.md\n?? thought.txt\nhalf a thought\n");
}

#[test]
fn an_agent_can_work_in_this_folder() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # No worktree: work in this very folder
        mngr create here --transfer none --no-connect -- sh
        "#,
    );
    expect(&e2e.run("mngr create here --transfer none --no-connect -- sh")).to_succeed();
    expect(&succeed(&e2e, "mngr exec here pwd").stdout).to_equal(&format!("{}\n", e2e.project().display()));
    succeed(&e2e, "mngr destroy --force here");
    assert!(e2e.project().join("README.md").exists(), "the folder was there before the agent");
}

#[test]
fn a_plain_folder_is_copied() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A folder that is no repository is copied
        mngr create notes --from ~/tutorial/notes --rsync --no-connect -- sh
        "#,
    );
    let missing = e2e
        .comment("not there yet")
        .run("mngr create notes --from ~/tutorial/notes --rsync --no-connect -- sh");
    expect(&missing).to_have_exit_code(1);
    expect(&missing.stderr).to_contain("is not a folder");

    succeed(&e2e, FILES);
    expect(&e2e.run("mngr create notes --from ~/tutorial/notes --rsync --no-connect -- sh")).to_succeed();
    succeed(&e2e, "mngr exec notes 'echo another >>one.txt'");
    expect(&succeed(&e2e, "mngr exec notes 'cat one.txt'").stdout).to_equal("an idea\nanother\n");
    assert_eq!(fs::read_to_string(e2e.home().join("tutorial/notes/one.txt")).unwrap(), "an idea\n");
}

#[test]
fn variables_reach_the_agent_and_no_process_list() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Variables for the agent, one by one or from a file. They never show in a process list
        mngr create api --env PORT=8080 --env-file ~/tutorial/api.env --no-connect -- sh
        "#,
    );
    let missing = e2e.run("mngr create api --env PORT=8080 --env-file ~/tutorial/api.env --no-connect -- sh");
    expect(&missing).to_have_exit_code(2);
    expect(&missing.stderr).to_contain("api.env");

    succeed(&e2e, FILES);
    expect(&e2e.run("mngr create api --env PORT=8080 --env-file ~/tutorial/api.env --no-connect -- sh"))
        .to_succeed();
    succeed(&e2e, r#"mngr message api 'echo "<$PORT $COLOUR>"'"#);
    until_printed(&e2e, "mngr capture api", "\n<8080 blue>\n");
    expect(&succeed(&e2e, "mngr list --format '{command}'").stdout).to_equal("sh\n");
}

#[test]
fn the_folder_is_made_ready_before_the_start() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Make the folder ready before the agent starts: run commands in it, put files into it
        mngr create web --extra-provision-command 'mkdir build' --upload-file ~/tutorial/task.md:TASK.md --no-connect -- sh
        "#,
    );
    succeed(&e2e, FILES);
    let created = e2e.run(
        "mngr create web --extra-provision-command 'mkdir build' --upload-file ~/tutorial/task.md:TASK.md --no-connect -- sh",
    );
    expect(&created).to_succeed();
    expect(&succeed(&e2e, "mngr exec web 'ls -d build; cat TASK.md'").stdout)
        .to_equal("build\nread the notes\n");
}

#[test]
fn a_folder_that_cannot_be_made_ready_leaves_no_agent() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Make the folder ready before the agent starts: run commands in it, put files into it
        mngr create web --extra-provision-command 'mkdir build' --upload-file ~/tutorial/task.md:TASK.md --no-connect -- sh
        "#,
    );
    let created = e2e.run("mngr create web --extra-provision-command 'exit 3' --no-connect -- sh");
    expect(&created).to_have_exit_code(1);
    expect(&created.stderr).to_contain("`exit 3` failed with exit code 3");
    assert!(names(&e2e).is_empty());
    expect(&succeed(&e2e, "git worktree list | wc -l; git branch | wc -l").stdout).to_match(r"^ *1\n *1\n$");
}

#[test]
fn further_windows_are_beside_the_agent() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # More windows beside the agent, for a server or a log
        mngr create server --extra-window 'log=echo the log; exec sh' --no-connect -- sh
        mngr capture server --window log
        "#,
    );
    succeed(&e2e, "mngr create server --extra-window 'log=echo the log; exec sh' --no-connect -- sh");
    until_printed(&e2e, "mngr capture server --window log", "the log\n");
    expect(&succeed(&e2e, "mngr capture server").stdout).not_to_contain("the log");
    expect(&e2e.comment("no such window").run("mngr capture server --window logs")).to_have_exit_code(1);
}

#[test]
fn a_first_message_is_delivered() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Say what it has to do as soon as it is ready
        mngr create greeter scripted --message 'hello' --no-connect
        "#,
    );
    let created = e2e.run("mngr create greeter scripted --message 'hello' --no-connect");
    expect(&created).to_succeed();
    expect(&created.stdout).to_contain("first message accepted");
    until_printed(&e2e, "mngr capture greeter", "got: hello\n");
}

#[test]
fn a_first_message_may_be_written_in_an_editor() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Write a longer task in your editor; the agent is made meanwhile, and gets what you have saved
        mngr create letter scripted --edit-message --no-connect
        "#,
    );
    let editor = e2e.home().join("editor");
    fs::write(&editor, "#!/bin/sh\necho 'dear agent' >\"$1\"\n").unwrap();
    succeed(&e2e, "chmod +x ~/editor");
    e2e.set_env("EDITOR", &editor.display().to_string());
    expect(&e2e.terminal("mngr create letter scripted --edit-message --no-connect").wait()).to_succeed();
    until_printed(&e2e, "mngr capture letter", "got: dear agent\n");
    let refused =
        e2e.comment("nobody sits there").run("mngr create other scripted --edit-message --no-connect");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("-m TEXT");
}

#[test]
fn an_agent_is_reused() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # In a script that may run twice: take the agent of that name if there is one, start it if it does not run
        mngr create greeter --reuse --message 'and again' --no-connect
        "#,
    );
    listener(&e2e, "greeter");
    let id = agent(&e2e, "greeter")["id"].clone();
    let reused = e2e.comment("it runs").run("mngr create greeter --reuse --message 'and again' --no-connect");
    expect(&reused).to_succeed();
    expect(&reused.stdout).to_contain("Reused agent: greeter");
    until_printed(&e2e, "mngr capture greeter", "got: and again\n");

    succeed(&e2e, "mngr stop greeter");
    let started =
        e2e.comment("it is stopped").run("mngr create greeter --reuse --message 'and again' --no-connect");
    expect(&started).to_succeed();
    until_printed(&e2e, "mngr capture greeter", "got: and again\n");
    assert_eq!(names(&e2e), ["greeter"]);
    assert_eq!(agent(&e2e, "greeter")["id"], id);
}

#[test]
fn a_clone_has_the_files_and_a_branch_of_its_own() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A second agent that begins where the first one stands: its files, uncommitted ones too, on a branch of its own
        mngr clone try-it second-try --no-connect
        "#,
    );
    let nobody = e2e.comment("nobody to clone").run("mngr clone try-it second-try --no-connect");
    expect(&nobody).to_have_exit_code(9);

    shell(&e2e, "try-it");
    succeed(&e2e, "mngr exec try-it 'git commit -q --allow-empty -m Work; echo draft >draft.txt'");
    expect(&e2e.run("mngr clone try-it second-try --no-connect")).to_succeed();
    let look = "git branch --show-current; git log -1 --format=%s; cat draft.txt";
    expect(&succeed(&e2e, &format!("mngr exec second-try '{look}'")).stdout)
        .to_equal("mngr/second-try\nWork\ndraft\n");
    succeed(&e2e, "mngr exec second-try 'rm draft.txt'");
    expect(&succeed(&e2e, "mngr exec try-it ls").stdout).to_contain("draft.txt");
}

#[test]
fn a_clone_of_what_is_committed_gets_a_word_of_its_own() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same once more, but only what is committed, and with a word what to do differently
        mngr clone greeter other-way --exclude-unclean --message 'no library this time' --no-connect
        "#,
    );
    listener(&e2e, "greeter");
    succeed(
        &e2e,
        "mngr exec greeter 'echo work >work.txt; git add work.txt; git commit -qm Work; echo draft >draft.txt'",
    );
    let cloned = e2e
        .run("mngr clone greeter other-way --exclude-unclean --message 'no library this time' --no-connect");
    expect(&cloned).to_succeed();
    until_printed(&e2e, "mngr capture other-way", "got: no library this time\n");
    expect(&succeed(&e2e, "mngr capture greeter").stdout).not_to_contain("library");
    expect(&succeed(&e2e, "mngr exec other-way ls").stdout).to_equal("README.md\nwork.txt\n");
}

#[test]
fn an_agent_of_another_type_takes_the_files() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same as another type of agent: files from one, the work done by another
        mngr create review scripted --from try-it --no-connect -- 'run ls' 'ask what shall I look at?'
        "#,
    );
    shell(&e2e, "try-it");
    succeed(&e2e, "mngr exec try-it 'echo draft >draft.txt'");
    let created = e2e.run(
        "mngr create review scripted --from try-it --no-connect -- 'run ls' 'ask what shall I look at?'",
    );
    expect(&created).to_succeed();
    wait_for(&e2e, "review", "WAITING");
    expect(&succeed(&e2e, "mngr capture review").stdout)
        .to_contain("draft.txt")
        .to_contain("what shall I look at?");
    assert_eq!(agent(&e2e, "review")["type"], "scripted");
}
