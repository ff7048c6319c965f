//! Messages to real agents in a real tmux.

use mngr_host::files::Durability;
use mngr_host::host::Host;
use mngr_model::event::Event;
use serde_json::{Map, Value};

use super::*;
use crate::fanout::fan_out;
use crate::testing::{PATIENCE, TestWorld, eventually};

/// Reads lines from its terminal and keeps them, without echoing them.
const READER: [&str; 3] = ["sh", "-c", "stty -echo; : >ready; exec cat >>got"];

fn reader(test: &TestWorld, name: &str) -> Agent {
    let agent = test.launch(name, &READER);
    eventually(|| test.host.files().exists(&test.work("ready")).unwrap().then_some(()));
    agent
}

fn request(text: &str) -> MessageRequest {
    MessageRequest { text: text.to_owned(), idempotency_key: None, patience: PATIENCE, start: false }
}

fn keyed(text: &str, key: &str) -> MessageRequest {
    MessageRequest { idempotency_key: Some(key.parse().unwrap()), ..request(text) }
}

fn log_of(test: &TestWorld, agent: &Agent) -> Vec<Value> {
    let path = test.host.layout().agent(agent.id()).message_events();
    let text = test.host.files().read_text(&path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn odd_texts_arrive_in_order_and_verbatim_even_while_someone_scrolls() {
    let test = TestWorld::new();
    let agent = reader(&test, "a");
    assert!(test.tmux(&["copy-mode", "-t", "=mngr-a:"]).success());
    let texts = [
        "-n",
        "two\nlines",
        "trailing \\",
        "naïve ☃ 漢字",
        "a;",
        "$(touch pwned) `id` \"'",
        "  spaces  ",
        "\ttab",
    ];
    for text in texts {
        let sent = send(&test.world, &agent, &request(text)).unwrap();
        assert_eq!((sent.level, sent.was_repeated), (DeliveryLevel::Written, false));
    }
    let wanted: String = texts.iter().map(|text| format!("{text}\n")).collect();
    eventually(|| (test.read("got").len() >= wanted.len()).then_some(()));
    assert_eq!(test.read("got"), wanted);
}

#[test]
fn twenty_senders_at_once_lose_and_double_nothing() {
    let test = TestWorld::new();
    let agent = reader(&test, "a");
    let texts: Vec<String> = (0..60).map(|n| format!("message {n}\nsecond line {n}")).collect();
    let results = fan_out(texts.clone(), |text| send(&test.world, &agent, &request(&text)));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    eventually(|| (test.read("got").lines().count() >= 2 * texts.len()).then_some(()));
    let got = test.read("got");
    assert_eq!(got.lines().count(), 2 * texts.len());
    for text in texts {
        assert_eq!(got.matches(&format!("{text}\n")).count(), 1, "{text} is whole and there once");
    }
}

#[test]
fn a_hundred_kilobytes_in_lines_arrive_whole() {
    let test = TestWorld::new();
    let agent = reader(&test, "a");
    let text: Vec<String> = (0..26).map(|n| format!("{n:02}{}", "x".repeat(3900))).collect();
    let text = text.join("\n");
    send(&test.world, &agent, &request(&text)).unwrap();
    eventually(|| (test.read("got").len() > text.len()).then_some(()));
    assert_eq!(test.read("got"), format!("{text}\n"));
}

#[test]
fn a_line_the_terminal_would_cut_is_refused_before_anything_is_typed() {
    let test = TestWorld::new();
    let agent = reader(&test, "a");
    let error = send(&test.world, &agent, &request(&format!("short\n{}", "x".repeat(5000)))).unwrap_err();
    let is_too_long = matches!(
        error,
        SendError::Deliver { source: DeliverError::LineTooLong { line: 2, length: 5000 }, .. }
    );
    assert!(is_too_long, "{error:?}");
    send(&test.world, &agent, &request("after")).unwrap();
    eventually(|| (!test.read("got").is_empty()).then_some(()));
    assert_eq!(test.read("got"), "after\n");
}

#[test]
fn a_key_counts_once() {
    let test = TestWorld::new();
    let agent = reader(&test, "a");
    assert!(!send(&test.world, &agent, &keyed("one", "k1")).unwrap().was_repeated);
    assert!(send(&test.world, &agent, &keyed("one\n", "k1")).unwrap().was_repeated);
    let error = send(&test.world, &agent, &keyed("other", "k1")).unwrap_err();
    assert!(matches!(error, SendError::KeyReused { .. }), "{error:?}");
    send(&test.world, &agent, &keyed("two", "k2")).unwrap();
    eventually(|| test.read("got").contains("two").then_some(()));
    assert_eq!(test.read("got"), "one\ntwo\n");
    let log = log_of(&test, &agent);
    let sent: Vec<&Value> = log.iter().filter(|event| event["type"] == "message_sent").collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(
        (&sent[0]["key"], &sent[0]["text"], &sent[0]["level"]),
        (&"k1".into(), &"one".into(), &"written".into())
    );
}

/// What a sender leaves that was killed between its two notes.
fn note_a_killed_sender(test: &TestWorld, agent: &Agent, key: &str) {
    let event = Event {
        timestamp: test.world.clock.now(),
        kind: "message_typing".to_owned(),
        event_id: mngr_host::random::event_id(),
        source: "messages".to_owned(),
        fields: Map::from_iter([("key".to_owned(), key.into())]),
    };
    let layout = test.host.layout().agent(agent.id());
    test.host.files().make_folder(&layout.message_events().parent().unwrap()).unwrap();
    let line = event.to_line();
    test.host.files().append(&layout.message_events(), line.as_bytes(), Durability::Cached).unwrap();
}

#[test]
fn a_key_of_a_killed_sender_is_typed_again_only_where_the_agent_tells_messages_apart() {
    let test = TestWorld::new();
    let plain = reader(&test, "plain");
    note_a_killed_sender(&test, &plain, "k1");
    let error = send(&test.world, &plain, &keyed("x", "k1")).unwrap_err();
    assert!(matches!(error, SendError::Uncertain { .. }), "{error:?}");
    let scripted = test.launch_scripted("player", "read\nrepeat\n");
    note_a_killed_sender(&test, &scripted, "k1");
    let sent = send(&test.world, &scripted, &keyed("x", "k1")).unwrap();
    assert_eq!((sent.level, sent.was_repeated), (DeliveryLevel::Accepted, false));
}

#[test]
fn a_scripted_agent_accepts_each_message_once() {
    let test = TestWorld::new();
    let agent = test.launch_scripted("player", "read\nedit log {message}\nrepeat\n");
    for n in 0..5 {
        let sent = send(&test.world, &agent, &request(&format!("message {n}"))).unwrap();
        assert_eq!(sent.level, DeliveryLevel::Accepted);
    }
    eventually(|| (test.read("log").lines().count() >= 5).then_some(()));
    assert_eq!(test.read("log"), "message 0\nmessage 1\nmessage 2\nmessage 3\nmessage 4\n");
}

#[test]
fn what_an_agent_does_not_accept_in_time_is_not_called_delivered() {
    let test = TestWorld::new();
    let agent = test.launch_scripted("player", "hang\n");
    let hasty = MessageRequest { patience: Duration::from_millis(50), ..keyed("x", "k1") };
    let error = send(&test.world, &agent, &hasty).unwrap_err();
    assert_eq!(error.level(), DeliveryLevel::Written, "{error:?}");
    assert_eq!(log_of(&test, &agent).last().unwrap()["may_be_typed"], true);
}

#[test]
fn a_message_to_an_ended_agent_is_refused_and_never_run_by_the_shell_it_left() {
    let test = TestWorld::new();
    test.launch("a", &["true"]);
    let agent = test.look_when("a", AgentState::Done);
    let error = send(&test.world, &agent, &request("touch pwned")).unwrap_err();
    assert!(matches!(error, SendError::NotReceiving { state: AgentState::Done, .. }), "{error:?}");
    assert!(!test.host.files().exists(&test.work("pwned")).unwrap());
}

#[test]
fn an_agent_that_is_not_there_any_more_is_said_to_be_gone() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["cat"]);
    test.host.files().remove_tree(test.host.layout().agent(agent.id()).root()).unwrap();
    let error = send(&test.world, &agent, &request("x")).unwrap_err();
    assert!(matches!(error, SendError::Look(LookError::Gone { .. })), "{error:?}");
}

#[test]
fn a_stopped_agent_is_started_first_where_that_is_wanted() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &READER);
    let error = send(&test.world, &agent, &request("x")).unwrap_err();
    assert!(matches!(error, SendError::NotReceiving { state: AgentState::Stopped, .. }), "{error:?}");
    let sent = send(&test.world, &agent, &MessageRequest { start: true, ..request("x") }).unwrap();
    assert_eq!(sent.level, DeliveryLevel::Written);
    eventually(|| (test.read("got") == "x\n").then_some(()));
}

#[test]
fn a_deleted_socket_does_not_keep_a_message_away() {
    let test = TestWorld::new();
    let agent = reader(&test, "a");
    test.delete_socket();
    send(&test.world, &agent, &request("still here")).unwrap();
    eventually(|| (!test.read("got").is_empty()).then_some(()));
    assert_eq!(test.read("got"), "still here\n");
}
