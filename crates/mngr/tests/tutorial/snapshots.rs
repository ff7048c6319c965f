//! Section "Stopping, tidying up, bringing back": snapshots, and agents that move.

use mngr_e2e::session::Session;
use mngr_e2e::{expect, session};

use crate::support::*;

/// An agent with uncommitted work, and a snapshot of it.
fn copied(e2e: &Session) {
    shell(e2e, "try-it");
    succeed(e2e, "mngr exec try-it 'echo then >work.txt'");
    succeed(e2e, "mngr snapshot create try-it --name before");
}

#[test]
fn a_snapshot_is_taken_of_an_agent_at_work() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Before something risky: a copy of an agent as it is now, with uncommitted and ignored files. It works on meanwhile
        mngr snapshot create try-it --name before
        mngr snapshot list try-it
        "#,
    );
    let nobody = e2e.comment("nobody to copy").run("mngr snapshot create try-it --name before");
    expect(&nobody).to_have_exit_code(9);
    shell(&e2e, "try-it");
    let taken = e2e.run("mngr snapshot create try-it --name before");
    expect(&taken).to_succeed();
    expect(&taken.stdout).to_match(r"^Created snapshot: snap-\w+ \(before, of try-it\)\n$");
    expect(&succeed(&e2e, "mngr snapshot list try-it").stdout)
        .to_match(r"(?m)^snap-\w+ +before +try-it@localhost");
    assert_eq!(agent(&e2e, "try-it")["state"], "RUNNING");
}

#[test]
fn a_snapshot_becomes_an_agent_beside_the_one_that_went_on() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Back to that moment, as an agent beside the one that went on; with --replace, in its place
        mngr snapshot restore "$(mngr snapshot list try-it --limit 1 --format '{id}')" try-it-then
        "#,
    );
    copied(&e2e);
    succeed(&e2e, "mngr exec try-it 'echo now >work.txt'");
    let restored = e2e
        .run("mngr snapshot restore \"$(mngr snapshot list try-it --limit 1 --format '{id}')\" try-it-then");
    expect(&restored).to_succeed();
    assert_eq!(agent(&e2e, "try-it-then")["state"], "STOPPED");
    expect(&succeed(&e2e, "mngr exec try-it-then 'cat work.txt'").stdout).to_equal("then\n");
    expect(&succeed(&e2e, "mngr exec try-it 'cat work.txt'").stdout).to_equal("now\n");
}

#[test]
fn snapshots_go_and_nothing_else_does() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Snapshots take space; how much? Removing them takes nothing else away
        mngr snapshot list --format '{id} {name} {size_bytes}'
        mngr snapshot destroy try-it --all-snapshots --dry-run
        mngr snapshot destroy try-it --all-snapshots --force
        "#,
    );
    copied(&e2e);
    expect(&succeed(&e2e, "mngr snapshot list --format '{id} {name} {size_bytes}'").stdout)
        .to_match(r"^snap-\w+ before [1-9]\d*\n$");
    let look = e2e.run("mngr snapshot destroy try-it --all-snapshots --dry-run");
    expect(&look).to_succeed();
    expect(&look.stdout).to_match("^Would destroy snapshot: snap-");
    expect(&succeed(&e2e, "mngr snapshot list").stdout).to_contain("before");
    expect(&e2e.run("mngr snapshot destroy try-it --all-snapshots --force")).to_succeed();
    expect(&succeed(&e2e, "mngr snapshot list").stdout).to_equal("No snapshots found\n");
    expect(&succeed(&e2e, "mngr exec try-it 'cat work.txt'").stdout).to_equal("then\n");
}

#[test]
fn an_agent_that_moves_takes_its_work_along() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent moves to another host with all its work, as in `mngr migrate try-it-then @box`; here it only gets a new name.
        # The old one goes once the copy is shown to be whole, and `mngr undo` has it for 30 days
        mngr migrate try-it-then try-it-moved --no-connect
        "#,
    );
    shell(&e2e, "try-it-then");
    succeed(&e2e, "mngr exec try-it-then 'echo half-done >work.txt'");
    let refused = e2e.comment("it runs").run("mngr migrate try-it-then try-it-moved --no-connect");
    expect(&refused).to_have_exit_code(1);
    succeed(&e2e, "mngr stop try-it-then");
    let moved = e2e.run("mngr migrate try-it-then try-it-moved --no-connect");
    expect(&moved).to_succeed();
    expect(&moved.stdout)
        .to_contain("Migrated agent: try-it-then@localhost.local to try-it-moved@localhost.local");
    assert_eq!(names(&e2e), ["try-it-moved"]);
    expect(&succeed(&e2e, "mngr exec try-it-moved 'cat work.txt'").stdout).to_equal("half-done\n");
    expect(&succeed(&e2e, "mngr undo").stdout).to_contain("try-it-then");
}
