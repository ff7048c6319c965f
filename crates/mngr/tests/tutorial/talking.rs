//! Section "Talking with agents".

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn one_text_goes_to_several() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same text to several
        mngr message greeter second-try -m 'echo stop here'
        "#,
    );
    listener(&e2e, "greeter");
    listener(&e2e, "second-try");
    let sent = e2e.run("mngr message greeter second-try -m 'echo stop here'");
    expect(&sent).to_succeed();
    expect(&sent.stdout).to_contain("Successfully sent message to 2 agent(s)");
    for name in ["greeter", "second-try"] {
        until_printed(&e2e, &format!("mngr capture {name}"), "got: echo stop here\n");
    }
}

#[test]
fn one_that_is_missing_does_not_keep_the_other_from_its_message() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same text to several
        mngr message greeter second-try -m 'echo stop here'
        "#,
    );
    listener(&e2e, "greeter");
    let sent = e2e.run("mngr message greeter second-try -m 'echo stop here'");
    expect(&sent).to_have_exit_code(9);
    expect(&sent.stderr).to_contain("second-try");
    until_printed(&e2e, "mngr capture greeter", "got: echo stop here\n");
}

#[test]
fn texts_come_from_standard_input_and_from_files() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Long texts come from standard input, or from a file
        git log -1 | mngr message greeter
        mngr message greeter --message-file ~/tutorial/task.md
        "#,
    );
    listener(&e2e, "greeter");
    expect(&e2e.run("git log -1 | mngr message greeter")).to_succeed();
    until_printed(&e2e, "mngr capture greeter", "    First commit\n");

    let missing = e2e.comment("no such file").run("mngr message greeter --message-file ~/tutorial/task.md");
    expect(&missing).to_have_exit_code(2);
    succeed(&e2e, FILES);
    expect(&e2e.run("mngr message greeter --message-file ~/tutorial/task.md")).to_succeed();
    until_printed(&e2e, "mngr capture greeter", "got: read the notes\n");
}

#[test]
fn a_key_is_delivered_once() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A script that is run again must not repeat itself: a key is delivered once
        mngr message greeter --key nightly-1 -m 'good morning'
        "#,
    );
    listener(&e2e, "greeter");
    expect(&e2e.run("mngr message greeter --key nightly-1 -m 'good morning'")).to_succeed();
    let again = e2e.run("mngr message greeter --key nightly-1 -m 'good morning'");
    expect(&again).to_succeed();
    expect(&again.stdout).to_contain("it was sent before");
    succeed(&e2e, "mngr message greeter -m 'the last word'");
    until_printed(&e2e, "mngr capture greeter", "got: the last word\n");
    let screen = succeed(&e2e, "mngr capture greeter").stdout.to_string();
    assert_eq!(screen.matches("got: good morning").count(), 1, "{screen}");
}

#[test]
fn an_agent_that_takes_no_answer_from_here_says_where_it_does() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent that asks permission can be answered from here, where its program takes an answer: Codex with the setting app_server
        mngr message greeter --approve || echo "ended with $?"
        "#,
    );
    listener(&e2e, "greeter");
    let refused = e2e.run("mngr message greeter --approve");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("at its terminal only").to_contain("mngr connect greeter");
    expect(&e2e.run("mngr message greeter --approve --deny")).to_have_exit_code(2);
}

#[test]
fn wait_returns_when_the_agent_waits_and_tells_a_timeout_apart() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Wait for an agent to wait for you. A timeout has its own exit code, 8
        mngr wait greeter WAITING --timeout 10m
        "#,
    );
    succeed(&e2e, "mngr create greeter scripted --no-connect -- 'sleep 0.3s' read hang");
    let waited = e2e.run("mngr wait greeter WAITING --timeout 10m");
    expect(&waited).to_succeed();
    expect(&waited.stdout).to_equal("greeter is WAITING\n");

    succeed(&e2e, "mngr message greeter go");
    let late = e2e.comment("it hangs now").run("mngr wait greeter WAITING --timeout 0.3s");
    expect(&late).to_have_exit_code(8);
    expect(&late.stderr).to_contain("Timed out").to_contain("greeter is RUNNING");
}

#[test]
fn any_of_several_is_enough() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The first of several that ends
        mngr create quick --no-connect -- sleep 1
        mngr wait greeter sleeper quick --any
        "#,
    );
    listener(&e2e, "greeter");
    succeed(&e2e, "mngr create sleeper --no-connect -- sleep 1000");
    succeed(&e2e, "mngr create quick --no-connect -- sleep 1");
    let waited = e2e.run("mngr wait greeter sleeper quick --any");
    expect(&waited).to_succeed();
    expect(&waited.stdout).to_contain("quick is DONE");
    assert_eq!(agent(&e2e, "sleeper")["state"], "RUNNING");
}

#[test]
fn what_scrolled_away_is_kept() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Everything that scrolled away
        mngr capture greeter --full
        "#,
    );
    succeed(&e2e, "mngr create greeter --no-connect -- 'seq 1000 2000; exec sh'");
    until_printed(&e2e, "mngr capture greeter", "2000\n");
    expect(&succeed(&e2e, "mngr capture greeter").stdout).not_to_contain("1000\n1001\n");
    let full = e2e.run("mngr capture greeter --full");
    expect(&full).to_succeed();
    expect(&full.stdout).to_match(r"^1000\n1001\n").to_contain("2000\n");
}

#[test]
fn events_are_json_lines() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What happened to it, as JSON lines: only messages, the last one
        mngr event greeter messages --tail 1
        mngr event greeter --include 'type == "message_sent"'
        "#,
    );
    listener(&e2e, "greeter");
    succeed(&e2e, "mngr message greeter one");
    succeed(&e2e, "mngr message greeter two");
    let last = succeed(&e2e, "mngr event greeter messages --tail 1");
    let event = json(last.stdout.trim());
    assert_eq!((&event["text"], &event["level"]), (&"two".into(), &"accepted".into()));
    let sent = succeed(&e2e, r#"mngr event greeter --include 'type == "message_sent"'"#);
    let texts: Vec<_> = sent.stdout.lines().map(|line| json(line)["text"].clone()).collect();
    assert_eq!(texts, ["one", "two"]);
    expect(&e2e.comment("nobody").run("mngr event nobody")).to_have_exit_code(9);
}

#[test]
fn events_are_followed_as_they_happen() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Everything that happens to it from now on, too. Leave with Ctrl-c
        mngr event greeter --follow
        "#,
    );
    listener(&e2e, "greeter");
    succeed(&e2e, "mngr message greeter before");
    let terminal = e2e.terminal("mngr event greeter --follow");
    terminal.expect_screen("before");
    succeed(&e2e, "mngr message greeter afterwards");
    terminal.expect_screen("afterwards");
    terminal.press("C-c");
    let _ = terminal.wait();
}
