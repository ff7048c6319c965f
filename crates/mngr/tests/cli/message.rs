//! `message`: in order, exactly once, verbatim.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use mngr_testkit::TestEnv;

use crate::support::*;

/// An agent that writes every line it reads to a file, byte for byte.
#[track_caller]
fn reader(env: &TestEnv, name: &str) -> PathBuf {
    create(env, name, &["sh", "-c", "stty -echo; cat > got"]);
    let got = work_dir(env, name).join("got");
    wait_until(PATIENCE, || got.exists());
    got
}

#[track_caller]
fn wait_for_text(file: &PathBuf, wanted: &str) {
    let read = || fs::read_to_string(file).unwrap_or_default();
    let deadline = std::time::Instant::now() + PATIENCE;
    while read() != wanted && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let got = read();
    assert!(
        got == wanted,
        "got {} bytes, wanted {}: {:?}",
        got.len(),
        wanted.len(),
        &got[..got.len().min(200)]
    );
}

#[test]
fn odd_texts_arrive_verbatim_and_in_order() {
    let env = env_with_repo();
    let got = reader(&env, "a");
    let texts = [
        "plain",
        "-n leading dash",
        "--help",
        "trailing backslash \\",
        "semicolon;",
        ";",
        "$(id) `id` ${HOME} \"quoted\" 'single'",
        "tmux #{session_name} ~ ^ %1",
        "ünïcödé 漢字 🎉",
        "tab\there",
        "first line\nsecond line\n\nfourth line",
        "Enter",
        "C-c",
    ];
    for text in texts {
        let _ = env.mngr(["message", "a", "-m", text]).success();
    }
    let wanted: String = texts.iter().map(|text| format!("{text}\n")).collect();
    wait_for_text(&got, &wanted);
}

#[test]
fn a_hundred_kilobytes_in_lines_arrive_whole() {
    let env = env_with_repo();
    let got = reader(&env, "a");
    let line = "x".repeat(4000);
    let text = (0..25).map(|n| format!("{n:02} {line}")).collect::<Vec<_>>().join("\n");
    assert!(text.len() > 100_000);
    let _ = env.mngr_stdin(["message", "a"], text.as_bytes()).success();
    wait_for_text(&got, &format!("{text}\n"));
}

#[test]
fn a_line_the_terminal_would_cut_is_refused_before_anything_is_typed() {
    let env = env_with_repo();
    let got = reader(&env, "a");
    let text = format!("short\n{}", "x".repeat(4096));
    let refused = env.mngr_stdin(["message", "a"], text.as_bytes()).code(1);
    assert!(refused.stderr.contains("line 2") && refused.stderr.contains("4096 bytes"), "{refused}");
    let _ = env.mngr(["message", "a", "after"]).success();
    wait_for_text(&got, "after\n");
    // A program that reads byte by byte has no such limit.
    create(&env, "raw", &["sh", "-c", "stty raw -echo; head -c 5001 > got; sleep 1000"]);
    let raw = work_dir(&env, "raw").join("got");
    wait_until(PATIENCE, || raw.exists());
    let _ = env.mngr_stdin(["message", "raw"], "y".repeat(5000).as_bytes()).success();
    wait_for_text(&raw, &format!("{}\r", "y".repeat(5000)));
}

#[test]
fn copy_mode_does_not_swallow_a_message() {
    let env = env_with_repo();
    let got = reader(&env, "a");
    let _ = env.tmux(["copy-mode", "-t", "=mngr-a:"]).success();
    let _ = env.mngr(["message", "a", "seen"]).success();
    wait_for_text(&got, "seen\n");
}

#[test]
fn twenty_senders_at_once_lose_and_double_nothing() {
    let env = env_with_repo();
    let got = reader(&env, "a");
    let running: Vec<_> = (0..20)
        .flat_map(|sender| {
            (0..3).map(move |n| format!("sender {sender} message {n}\nsecond line of {sender}/{n}"))
        })
        .map(|text| env.spawn(["message", "a", "-m", &text]))
        .collect();
    for one in running {
        let _ = one.finish().success();
    }
    wait_until(PATIENCE, || fs::read_to_string(&got).is_ok_and(|text| text.lines().count() == 120));
    let text = fs::read_to_string(&got).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.chunks(2) {
        let key = pair[0].replace("sender ", "").replace(" message ", "/");
        assert_eq!(pair[1], format!("second line of {key}"), "two messages were mixed");
    }
    let mut counts = BTreeMap::new();
    for line in &lines {
        *counts.entry(*line).or_insert(0) += 1;
    }
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

#[test]
fn a_scripted_agent_proves_acceptance_and_takes_a_key_once() {
    let env = env_with_repo();
    create_scripted(&env, "a", &["read", "edit got {message}", "repeat"]);
    let got = work_dir(&env, "a").join("got");
    let sent = env.mngr(["message", "a", "-m", "one\ntwo", "--format", "json"]).success().json();
    assert_eq!(sent["total_sent"], 1);
    wait_for_text(&got, "one\ntwo\n");
    for _ in 0..3 {
        let _ = env.mngr(["message", "a", "-m", "once", "--key", "k1"]).success();
    }
    let _ = env.mngr(["message", "a", "-m", "last"]).success();
    wait_for_text(&got, "one\ntwo\nonce\nlast\n");
}

#[test]
fn what_cannot_be_delivered_is_said_with_its_code() {
    let env = env_with_repo();
    create(&env, "stopped", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "stopped"]).success();
    let _ = env.mngr(["message", "stopped", "hello"]).code(1);
    let missing = env.mngr(["message", "nobody", "hello"]).code(9);
    assert!(missing.stderr.contains("not found"), "{missing}");
    let control = env.mngr(["message", "stopped", "-m", "a\u{1b}[A"]);
    assert!(!control.status.success() && control.stderr.contains("control character"), "{control}");
    let empty = env.mngr(["message", "stopped", "-m", ""]);
    assert!(!empty.status.success() && empty.stderr.contains("empty"), "{empty}");
}

#[test]
fn one_word_is_the_agent_the_rest_is_the_text_unless_the_text_is_an_option() {
    let env = env_with_repo();
    let (a, b) = (reader(&env, "a"), reader(&env, "b"));
    let _ = env.mngr(["message", "a", "two", "words"]).success();
    let both = env.mngr(["message", "a", "b", "-m", "both"]).success();
    assert!(both.stdout.contains("Successfully sent message to 2 agent(s)"), "{both}");
    let _ = env.mngr_stdin(["message", "-", "-m", "piped names"], b"a\n\nb\n").success();
    wait_for_text(&a, "two words\nboth\npiped names\n");
    wait_for_text(&b, "both\npiped names\n");
}

#[test]
fn a_stopped_agent_is_started_on_request() {
    let env = env_with_repo();
    create_scripted(&env, "a", &["read", "edit got {message}", "hang"]);
    let _ = env.mngr(["stop", "a"]).success();
    let _ = env.mngr(["message", "a", "-m", "wake up", "--start"]).success();
    wait_for_text(&work_dir(&env, "a").join("got"), "wake up\n");
}

#[test]
fn soak_a_thousand_sends_lose_and_double_nothing() {
    let env = env_with_repo();
    let got = reader(&env, "a");
    for batch in 0..50 {
        let running: Vec<_> = (0..20)
            .map(|n| env.spawn(["message", "a", "-m", &format!("message {}", batch * 20 + n)]))
            .collect();
        for one in running {
            let _ = one.finish().success();
        }
    }
    wait_until(PATIENCE, || fs::read_to_string(&got).is_ok_and(|text| text.lines().count() >= 1000));
    let text = fs::read_to_string(&got).unwrap();
    let mut numbers: Vec<u32> =
        text.lines().map(|line| line.strip_prefix("message ").unwrap().parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
}
