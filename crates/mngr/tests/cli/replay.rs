//! `replay`: recordings played, searched, printed; none of them trusted.

use std::fs;

use mngr_testkit::{Surroundings, TestEnv};

use crate::support::*;

/// Three seconds with a pause, then something hostile.
const RECORDING: &str = concat!(
    "{\"version\": 2, \"width\": 60, \"height\": 8, \"title\": \"Demo\"}\n",
    "[0.1, \"o\", \"\\u001b[31mfirst\\u001b[0m line\\r\\n\"]\n",
    "[1.0, \"o\", \"second line\\r\\n\"]\n",
    "[600.0, \"o\", \"third line\\r\\n\"]\n",
    "[600.5, \"o\", \"\\u001b]52;c;aGFja2Vk\\u0007\\u001b]0;taken over\\u0007\\u001b[6n\\u001b[c\\u001bP+q544e\\u001b\\\\last line\"]\n",
);

fn env_with(recording: &str) -> TestEnv {
    let env = env_with_repo();
    fs::write(env.work_dir().join("a.cast"), recording).unwrap();
    env
}

#[test]
fn off_a_terminal_the_plain_text_is_printed_and_nothing_a_terminal_obeys() {
    let env = env_with(RECORDING);
    let output = env.mngr(["replay", "a.cast"]).success();
    assert_eq!(output.stdout, "first line\nsecond line\nthird line\nlast line\n");
    let later = env.mngr(["replay", "a.cast", "--dump", "--from", "10m"]).success();
    assert_eq!(later.stdout, output.stdout, "what was on the screen before is part of it");
}

#[test]
fn text_that_would_reorder_a_line_is_shown_by_its_number() {
    let env = env_with("{\"version\": 2, \"width\": 60, \"height\": 8}\n[0.1, \"o\", \"is \u{202e}evil\"]\n");
    assert_eq!(env.mngr(["replay", "a.cast"]).success().stdout, "is \\u{202e}evil\n");
    let found = env.mngr(["replay", "a.cast", "--search", "evil"]).success();
    assert_eq!(found.stdout, "0:00.1  is \\u{202e}evil\n");
}

#[test]
fn json_says_what_the_recording_is() {
    let env = env_with(RECORDING);
    let json = env.mngr(["replay", "a.cast", "--format", "json"]).success().json();
    assert_eq!((&json["version"], &json["duration"], &json["events"]), (&2.into(), &600.5.into(), &4.into()));
    assert_eq!((&json["title"], &json["is_cut_off"]), (&"Demo".into(), &false.into()));
    let json = env.mngr(["replay", "a.cast", "--dump", "--format", "json"]).success().json();
    assert!(json["text"].as_str().unwrap().ends_with("last line\n"), "{json}");
}

#[test]
fn a_text_is_found_with_its_moment() {
    let env = env_with(RECORDING);
    let found = env.mngr(["replay", "a.cast", "--search", "LINE"]).code(1);
    assert_eq!(found.stdout, "");
    let found = env.mngr(["replay", "a.cast", "--search", "first line"]).success();
    assert_eq!(found.stdout, "0:00.1  first line\n");
    let json = env
        .mngr(["replay", "a.cast", "--search", "line", "--from", "1s", "--format", "json"])
        .success()
        .json();
    let times: Vec<f64> =
        json["hits"].as_array().unwrap().iter().map(|hit| hit["time"].as_f64().unwrap()).collect();
    assert_eq!(times, [1.0, 600.0, 600.5]);
}

#[test]
fn what_is_no_recording_is_refused_and_a_cut_off_one_is_not() {
    let env = env_with("hello\n");
    let refused = env.mngr(["replay", "a.cast"]).code(1);
    assert!(refused.stderr.contains("no asciicast header"), "{refused}");
    assert!(env.mngr(["replay", "nope.cast"]).code(1).stderr.contains("nope.cast"));
    fs::write(env.work_dir().join("a.cast"), &RECORDING[..RECORDING.len() - 20]).unwrap();
    assert!(env.mngr(["replay", "a.cast"]).success().stdout.ends_with("third line\n"));
    fs::write(env.work_dir().join("a.cast"), "{\"version\": 1, \"stdout\": []}\n").unwrap();
    assert!(env.mngr(["replay", "a.cast"]).code(1).stderr.contains("asciicast v1"));
    for speed in ["0", "-1", "fast"] {
        let _ = env.mngr(["replay", "a.cast", &format!("--speed={speed}")]).code(2);
    }
}

#[test]
fn in_a_terminal_it_plays_skips_pauses_seeks_searches_and_ends() {
    let env = env_with(RECORDING);
    let terminal = env.terminal(Surroundings::Plain, ["replay", "a.cast", "--idle-limit", "1s"]);
    terminal.wait_for("third line");
    let screen = terminal.wait_for("last line");
    assert!(screen.contains("10:00.5 / 10:00.5  end"), "{screen}");
    terminal.send_keys(["0"]);
    terminal.send_keys(["Right"]);
    let screen = terminal.wait_for("0:05.0 / 10:00.5  paused");
    assert!(screen.contains("second line") && !screen.contains("third line"), "{screen}");
    terminal.send_keys(["Left"]);
    terminal.wait_for("0:00.0 / 10:00.5");
    terminal.send_keys(["n"]);
    terminal.wait_for("`/` searches");
    terminal.send_text("/third");
    terminal.wait_for("/third");
    terminal.send_keys(["Enter"]);
    let screen = terminal.wait_for("third line");
    assert!(screen.contains("10:00.0 / 10:00.5"), "{screen}");
    terminal.send_text("/nowhere");
    terminal.send_keys(["Enter"]);
    terminal.wait_for("never appears");
    terminal.send_keys(["q"]);
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(!terminal.screen().contains("third line"), "the screen is as it was before");
}

#[test]
fn nothing_of_a_hostile_recording_reaches_the_terminal() {
    let env = env_with(RECORDING);
    // What a terminal gets is what another recorder sees.
    let binary = env!("CARGO_BIN_EXE_mngr");
    let script = format!("{binary} replay a.cast --from 10m");
    let terminal = env.terminal(Surroundings::Plain, ["record", "-o", "b.cast", "--", "sh", "-c", &script]);
    terminal.wait_for("last line");
    terminal.send_keys(["q"]);
    assert_eq!(terminal.wait_for_exit(), 0);
    let sent = fs::read_to_string(env.work_dir().join("b.cast")).unwrap();
    assert!(sent.contains("last line"), "{sent}");
    for sequence in ["]52;", "]0;", "[6n", "[c\"", "P+q", "aGFja2Vk"] {
        assert!(!sent.contains(sequence), "{sequence} in {sent}");
    }
    assert!(sent.contains("\\u001b[?1049l"), "the terminal is put back");
}

#[test]
fn the_screen_of_one_moment_is_printed() {
    let env = env_with_repo();
    let script = "printf 'gone\\rover\\033[3;5Hlow'; sleep 0.5; printf '\\033[2J\\033[Hend'";
    let _ = env.mngr(["record", "-o", "ours.cast", "--", "sh", "-c", script]).success();
    assert_eq!(env.mngr(["replay", "--screen", "ours.cast"]).success().stdout, "end\n");
    let before = env.mngr(["replay", "--screen", "--from", "0.4s", "ours.cast"]).success();
    assert_eq!(before.stdout, "over\n\n    low\n");
}

#[test]
fn asciinema_plays_our_recordings_and_we_play_its() {
    let env = env_with_repo();
    let script = "printf '\\033[1mbold\\033[0m \\346\\227\\245\\n'; exit 0";
    let _ = env.mngr(["record", "-o", "ours.cast", "--", "sh", "-c", script]).success();
    // It wants a terminal of its own, which a recording gives it.
    let _ = env.mngr(["record", "-o", "played.cast", "--", "asciinema", "cat", "ours.cast"]).success();
    assert_eq!(env.mngr(["replay", "--dump", "played.cast"]).success().stdout, "bold 日\n");
    let mut record = env.command("asciinema");
    record.args(["rec", "-q", "-c", "echo from asciinema", "theirs.cast"]).current_dir(env.work_dir());
    let _ = env.run(record).success();
    assert_eq!(env.mngr(["replay", "theirs.cast"]).success().stdout, "from asciinema\n");
}
