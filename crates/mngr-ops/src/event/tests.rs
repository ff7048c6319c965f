//! Logs of an agent, written as they come.

use mngr_host::files::Durability;

use super::*;
use crate::testing::TestWorld;

struct Bench {
    test: TestWorld,
    state: HostPath,
}

impl Bench {
    fn new() -> Self {
        let test = TestWorld::new();
        let agent = test.add("a", "command", &["true"]);
        let state = test.host.layout().agent(agent.id()).root().clone();
        Self { test, state }
    }

    fn log(&self, path: &str, text: &str) {
        let path = self.state.join("events").join(path);
        self.test.host.files().make_folder(&path.parent().unwrap()).unwrap();
        self.test.host.files().append(&path, text.as_bytes(), Durability::Cached).unwrap();
    }

    fn open(&self, sources: &[&str]) -> EventLogs {
        let sources = sources.iter().map(|source| (*source).to_owned()).collect();
        EventLogs::open(&self.test.world, &"a".parse().unwrap(), sources).unwrap()
    }
}

fn line(id: &str, second: u32) -> String {
    format!("{{\"timestamp\":\"2026-01-01T00:00:{second:02}Z\",\"type\":\"x\",\"event_id\":\"{id}\"}}\n")
}

fn ids(events: &Events) -> Vec<&str> {
    events.events.iter().map(|logged| logged.event["event_id"].as_str().unwrap_or("?")).collect()
}

#[test]
fn sources_are_merged_by_time_and_an_event_is_told_once() {
    let bench = Bench::new();
    bench.log("messages/events.jsonl", &(line("m1", 1) + &line("m3", 3)));
    bench.log("logs/hook/events.jsonl.1", &line("h0", 0));
    bench.log("logs/hook/events.jsonl", &(line("h2", 2) + &line("h0", 0)));
    bench.log("logs/hook/other.txt", "not a log\n");
    let events = bench.open(&[]).read_more().unwrap();
    assert_eq!(ids(&events), ["h0", "m1", "h2", "m3"]);
    assert_eq!(events.events[0].event["source"], "logs/hook");
    assert_eq!(format!("{}\n", events.events[0].line), line("h0", 0), "the line is as it was written");
    assert_eq!(ids(&bench.open(&["logs"]).read_more().unwrap()), ["h0", "h2"]);
    assert_eq!(ids(&bench.open(&["mess"]).read_more().unwrap()), [""; 0], "half a name is no name");
}

#[test]
fn a_half_written_line_comes_later_and_a_damaged_one_is_counted() {
    let bench = Bench::new();
    let (first, second) = (line("m1", 1), line("m2", 2));
    bench.log("messages/events.jsonl", &format!("{first}nonsense\n{}", &second[..10]));
    let mut logs = bench.open(&[]);
    let events = logs.read_more().unwrap();
    assert_eq!((ids(&events), events.damaged), (vec!["m1"], 1));
    assert_eq!(logs.read_more().unwrap(), Events::default());
    bench.log("messages/events.jsonl", &second[10..]);
    bench.log("new/events.jsonl", &line("n3", 3));
    assert_eq!(ids(&logs.wait_for_more().unwrap().unwrap()), ["m2", "n3"]);
}

#[test]
fn a_host_that_is_not_there_is_named() {
    let bench = Bench::new();
    let error = EventLogs::open(&bench.test.world, &"@nowhere".parse().unwrap(), vec![]).err().unwrap();
    assert!(error.to_string().contains("nowhere") && error.to_string().contains("not found"), "{error}");
}
