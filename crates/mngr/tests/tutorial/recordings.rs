//! Section "Recordings".

use std::fs;

use mngr_e2e::session::Session;
use mngr_e2e::{expect, session};

use crate::support::*;

/// Makes the recording that the section is about.
#[track_caller]
fn demo(e2e: &Session) {
    let _ = succeed(e2e, "mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'");
}

#[test]
fn a_command_is_recorded() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Record a command, as it looks in a terminal
        mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'
        "#,
    );
    succeed(&e2e, "mkdir ~/tutorial");
    expect(&e2e.run("mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'")).to_succeed();
    let cast = fs::read_to_string(e2e.home().join("tutorial/demo.cast")).unwrap();
    assert_eq!(json(cast.lines().next().unwrap())["version"], 2);
    expect(&cast).to_contain("hello").to_contain("README.md");
}

#[test]
fn a_recording_has_the_exit_code_of_its_command_and_overwrites_nothing() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Record a command, as it looks in a terminal
        mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'
        "#,
    );
    succeed(&e2e, "mkdir ~/tutorial");
    expect(&e2e.run("mngr record -o ~/tutorial/demo.cast -- sh -c 'echo first; exit 3'"))
        .to_have_exit_code(3);
    let again = e2e.run("mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'");
    expect(&again).to_fail();
    expect(&again.stderr).to_contain("tutorial/demo.cast");
    expect(&fs::read_to_string(e2e.home().join("tutorial/demo.cast")).unwrap())
        .to_contain("first")
        .not_to_contain("hello");
}

#[test]
fn a_recording_is_played() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Play it: space pauses, the arrow keys go back and forth, q ends
        mngr replay ~/tutorial/demo.cast --speed 4 --idle-limit 1s
        "#,
    );
    succeed(&e2e, "mkdir ~/tutorial");
    demo(&e2e);
    let terminal = e2e.terminal("mngr replay ~/tutorial/demo.cast --speed 4 --idle-limit 1s");
    terminal.expect_screen("README.md");
    expect(&terminal.screen()).to_contain("hello");
    terminal.press("q");
    expect(&terminal.wait()).to_succeed();
}

#[test]
fn what_is_no_recording_is_not_played() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Play it: space pauses, the arrow keys go back and forth, q ends
        mngr replay ~/tutorial/demo.cast --speed 4 --idle-limit 1s
        "#,
    );
    succeed(&e2e, "mkdir ~/tutorial");
    expect(&e2e.comment("no such file").run("mngr replay ~/tutorial/demo.cast --speed 4 --idle-limit 1s"))
        .to_fail();
    let other = e2e.comment("another file").run("mngr replay README.md");
    expect(&other).to_fail();
    expect(&other.stderr).to_contain("README.md");
}

#[test]
fn a_recording_is_searched_and_printed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # When does a text appear? And what could be read in the end?
        mngr replay ~/tutorial/demo.cast --search hello
        mngr replay ~/tutorial/demo.cast --dump
        "#,
    );
    succeed(&e2e, "mkdir ~/tutorial");
    demo(&e2e);
    expect(&succeed(&e2e, "mngr replay ~/tutorial/demo.cast --search hello").stdout)
        .to_match(r"^0:0\d\.\d  hello\n$");
    expect(&succeed(&e2e, "mngr replay ~/tutorial/demo.cast --dump").stdout).to_match(r"^hello\nREADME.md");
    expect(&e2e.comment("not in it").run("mngr replay ~/tutorial/demo.cast --search goodbye").stdout)
        .to_be_empty();
}

#[test]
fn an_agent_is_recorded_until_it_ends() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Record an agent until it ends, or until Ctrl-c
        mngr record hotfix -o ~/tutorial/hotfix.cast
        "#,
    );
    succeed(&e2e, "mkdir ~/tutorial");
    expect(&e2e.comment("nobody").run("mngr record hotfix -o ~/tutorial/hotfix.cast")).to_have_exit_code(9);
    shell(&e2e, "hotfix");
    let recorder = e2e.terminal("mngr record hotfix -o ~/tutorial/hotfix.cast");
    until_printed(&e2e, "cat ~/tutorial/hotfix.cast || true", "\"version\"");
    succeed(&e2e, "mngr message hotfix 'echo it was $((6 * 7))'");
    until_printed(&e2e, "mngr capture hotfix", "it was 42");
    succeed(&e2e, "mngr stop hotfix");
    expect(&recorder.wait()).to_succeed();
    expect(&succeed(&e2e, "mngr replay ~/tutorial/hotfix.cast --dump").stdout).to_contain("it was 42");
}

#[test]
fn ctrl_c_ends_a_recording_and_not_the_agent() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Record an agent until it ends, or until Ctrl-c
        mngr record hotfix -o ~/tutorial/hotfix.cast
        "#,
    );
    succeed(&e2e, "mkdir ~/tutorial");
    succeed(&e2e, "mngr create hotfix --no-connect -- 'echo I am here; exec sh'");
    let recorder = e2e.terminal("mngr record hotfix -o ~/tutorial/hotfix.cast");
    until_printed(&e2e, "cat ~/tutorial/hotfix.cast || true", "I am here");
    recorder.press("C-c");
    let _ = recorder.wait();
    assert_eq!(agent(&e2e, "hotfix")["state"], "RUNNING");
    expect(&succeed(&e2e, "mngr replay ~/tutorial/hotfix.cast --dump").stdout).to_contain("I am here");
}
