//! Messages, screens, events, recordings.

use std::time::{Duration, Instant};

use mngr_testkit::{Signal, Surroundings};
use serde_json::json;

use super::Teller;
use crate::support::{PATIENCE, text, wait_until};

/// Long enough for a recording to have begun.
const BEGUN: Duration = Duration::from_secs(20);

pub(super) fn play(teller: &mut Teller<'_>) {
    let env = &teller.ground.env;
    let steps = ["read", "say got {message}", "read", "say then {message}", "read", "exit 3"];
    let options = ["--type", "scripted", "--message", "hello", "--label", "a=b", "--"];
    teller.create("talker", &[&options[..], &steps].concat());
    let shows =
        |text: &str| wait_until(PATIENCE, || env.mngr(["capture", "talker"]).success().stdout.contains(text));
    shows("got hello");
    for verb in [&["capture", "talker"][..], &["capture", "talker", "--full"]] {
        let captured = env.mngr([verb, &["--format", "json"]].concat()).success().json();
        // What was typed before the program looked may be seen twice.
        let screen = text(&captured["text"]);
        let (_, shown) = screen.split_once("> hello").unwrap_or_default();
        teller.keep("capture", json!([captured["agent"], captured["window"], shown]));
    }
    teller.say(0, &["list", "--include", "name == \"talker\""]);

    // A recording sees what happens while it runs.
    let cast = env.root().join("talker.cast");
    let recording = env.spawn(["record", "talker", "-o", cast.to_str().unwrap()]);
    let began = Instant::now();
    wait_until(BEGUN, || std::fs::read_to_string(&cast).unwrap_or_default().contains("got hello"));
    assert!(began.elapsed() < BEGUN);
    teller.say(0, &["message", "talker", "-m", "again", "--key", "one"]);
    teller.say(0, &["message", "talker", "-m", "again", "--key", "one"]);
    teller.say(1, &["message", "talker", "-m", "other", "--key", "one"]);
    shows("then again");
    wait_until(PATIENCE, || std::fs::read_to_string(&cast).unwrap_or_default().contains("then again"));
    recording.signal_group(Signal::INT);
    let recorded = recording.finish();
    teller.keep("record", json!(recorded.status.code()));
    let played = env.mngr(["replay", cast.to_str().unwrap(), "--dump"]).success().stdout;
    teller.keep("replay", json!([played.contains("got hello"), played.contains("then again")]));

    // A terminal shows it, takes keys and lets go.
    let terminal = env.terminal(Surroundings::Plain, ["connect", "talker"]);
    terminal.wait_for("then again");
    terminal.send_keys(["C-b", "d"]);
    teller.keep("connect", json!(terminal.wait_for_exit()));

    teller.say(1, &["transcript", "talker"]);
    teller.say(0, &["usage", "talker"]);
    let events = env.mngr(["event", "talker"]).success().json_lines();
    let kinds: Vec<_> =
        events.iter().map(|event| json!([event["type"], event["level"], event["text"]])).collect();
    teller.keep("event", json!(kinds));
    let waiting = env.spawn(["wait", "talker", "--state", "DONE", "--timeout", "20", "--format", "json"]);
    teller.say(0, &["message", "talker", "-m", "the end"]);
    teller.keep("wait", super::alike(waiting.finish().success().json()));
    teller.say(0, &["list", "--include", "name == \"talker\""]);
    teller.say(1, &["message", "talker", "-m", "too late"]);
    teller.say(0, &["message", "talker", "-m", "once more", "--start"]);
    shows("got once more");
    teller.say(0, &["exec", "talker", "--", "printf", "%s", "a b"]);
    teller.say(0, &["destroy", "talker", "--force"]);
}
