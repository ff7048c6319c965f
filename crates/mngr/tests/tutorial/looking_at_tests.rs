//! Section "Looking at what tests did".

use std::io::{Read, Write};
use std::net::TcpStream;

use mngr_e2e::session::Session;
use mngr_e2e::{expect, session};

use crate::support::*;

/// What a test that failed has left.
pub(crate) fn a_run(e2e: &Session) {
    let folder = e2e.project().join(".test_output/e2e/nightly/test_login--test_typo");
    write(
        &folder.join("test.json"),
        r##"{"schema": 1, "id": "test_login.py::test_typo", "name": "test_typo", "file": "test_login.py", "status": "failed",
            "message": "a typo was accepted", "started_at": "2026-01-02T03:04:05.000Z", "ended_at": "2026-01-02T03:04:06.000Z",
            "duration_ms": 1000, "blocks": [{"text": "# Log in\nlogin --user me"}], "try": 1, "recordings": []}"##,
    );
}

/// Asks a server of this machine for a page.
fn get(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_page_is_served_to_who_knows_the_token() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # All runs of your end-to-end tests on a page: what passed, transcripts, recordings. Ctrl-c ends it
        mngr view
        "#,
    );
    a_run(&e2e);
    let terminal = e2e.terminal("mngr view");
    terminal.expect_screen_to_match(r"http://127\.0\.0\.1:\d+/\?token=\w{32}");
    let screen = terminal.screen();
    let address = screen.split("http://").nth(1).unwrap().split_whitespace().next().unwrap();
    let (host, path) = address.split_once('/').unwrap();
    expect(&get(host, "/")).not_to_match("^HTTP/1.1 [23]00");
    expect(&get(host, &format!("/{path}"))).to_match("^HTTP/1.1 [23]0[0-9]").to_contain("mngr");
    terminal.press("C-c");
    let _ = terminal.wait();
    assert!(TcpStream::connect(host).is_err(), "it listens no longer");
}

#[test]
fn without_runs_there_is_nothing_to_see() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # All runs of your end-to-end tests on a page: what passed, transcripts, recordings. Ctrl-c ends it
        mngr view
        "#,
    );
    let view = e2e.run("mngr view");
    expect(&view).to_have_exit_code(1);
    expect(&view.stderr).to_contain(".test_output/e2e");
}

#[test]
fn the_page_is_a_folder_that_opens_from_disk() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same as a folder that opens from disk, for those who were not there
        mngr view --export ~/tutorial/page
        "#,
    );
    a_run(&e2e);
    let exported = e2e.run("mngr view --export ~/tutorial/page");
    expect(&exported).to_succeed();
    expect(&exported.stdout).to_contain("1 test in 1 run");
    let index = succeed(&e2e, "cat ~/tutorial/page/index.html");
    expect(&index.stdout).to_contain("<script src=").not_to_contain("http://").not_to_contain("https://");
    expect(
        &succeed(
            &e2e,
            "cat ~/tutorial/page/data/*.js ~/tutorial/page/data/*/*.js ~/tutorial/page/data/test/*/*.js 2>/dev/null || true",
        )
        .stdout,
    )
    .to_contain("a typo was accepted");
}

#[test]
fn a_folder_with_other_things_in_it_is_left_alone() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same as a folder that opens from disk, for those who were not there
        mngr view --export ~/tutorial/page
        "#,
    );
    a_run(&e2e);
    write(&e2e.home().join("tutorial/page/thesis.txt"), "years of work\n");
    let refused = e2e.run("mngr view --export ~/tutorial/page");
    expect(&refused).to_fail();
    expect(&succeed(&e2e, "ls ~/tutorial/page").stdout).to_equal("thesis.txt\n");
}
