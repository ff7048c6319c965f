//! What is written can be read, in either version.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::header::Size;
use crate::read::Reader;

fn write(header: &Header, events: &[Event]) -> String {
    let (mut writer, mut text) = Writer::new(header);
    text.extend(events.iter().map(|event| writer.line(event)));
    text
}

fn read(text: &str) -> (Header, Vec<Event>) {
    let mut reader = Reader::new(text.as_bytes()).unwrap();
    let events = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(reader.torn(), None);
    (reader.header().clone(), events)
}

fn any_kind() -> impl Strategy<Value = EventKind> {
    let size = (any::<u16>(), any::<u16>()).prop_map(|(cols, rows)| Size { cols, rows });
    prop_oneof![
        4 => ".{0,30}".prop_map(EventKind::Output),
        1 => any::<String>().prop_map(EventKind::Input),
        1 => any::<String>().prop_map(EventKind::Marker),
        1 => size.prop_map(EventKind::Resize),
        1 => any::<i32>().prop_map(EventKind::Exit),
        1 => ("[a-h]", any::<i64>()).prop_map(|(code, data)| EventKind::Other { code, data: json!({ "a": data }) }),
    ]
}

fn any_events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec((0u64..100_000_000, any_kind()), 0..20).prop_map(|parts| {
        let mut time = Time::START;
        let in_order = parts.into_iter().map(|(pause, kind)| {
            time = Time::from_micros(time.micros() + pause);
            Event { time, kind }
        });
        in_order.collect()
    })
}

fn any_header() -> impl Strategy<Value = Header> {
    let text = || prop::option::of(any::<String>());
    let numbers = (any::<u16>(), any::<u16>(), prop::option::of(any::<i32>()), prop::option::of(0u32..1000));
    (numbers, text(), text(), text(), any::<bool>()).prop_map(|(numbers, command, title, term, has_more)| {
        let (cols, rows, timestamp, limit) = numbers;
        let mut header = Header::new(Version::V2, Size { cols, rows });
        header.timestamp = timestamp.map(i64::from);
        header.started_ms = timestamp.map(|seconds| i64::from(seconds) * 1000 + 7);
        header.idle_time_limit = limit.map(f64::from);
        (header.command, header.title, header.term) = (command, title, term);
        if has_more {
            header.theme = Some(json!({ "fg": "#fff" }));
            header.more = Map::from_iter([
                ("tags".to_owned(), json!(["a"])),
                ("env".to_owned(), json!({ "SHELL": "sh" })),
            ]);
        }
        header
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again_in_both_versions(header in any_header(), events in any_events()) {
        for version in [Version::V2, Version::V3] {
            let header = Header { version, ..header.clone() };
            let text = write(&header, &events);
            prop_assert!(text.lines().count() == events.len() + 1, "an event is one line");
            prop_assert_eq!(read(&text), (header, events.clone()));
        }
    }

    #[test]
    fn from_one_version_to_the_other_and_back_nothing_is_lost(header in any_header(), events in any_events()) {
        let (mut there, events_there) = read(&write(&Header { version: Version::V3, ..header.clone() }, &events));
        there.version = Version::V2;
        prop_assert_eq!(read(&write(&there, &events_there)), (header, events));
    }

    #[test]
    fn wherever_a_recorder_is_killed_the_whole_lines_before_can_be_read(events in any_events(), cut in any::<prop::sample::Index>()) {
        let header = Header::new(Version::V2, Size::DEFAULT);
        let text = write(&header, &events);
        let first = text.find('\n').unwrap() + 1;
        let end = first + cut.index(text.len() - first + 1);
        let read: Vec<Event> = Reader::new(&text.as_bytes()[..end]).unwrap().map(Result::unwrap).collect();
        let whole = text.as_bytes()[first..end].iter().filter(|byte| **byte == b'\n').count();
        prop_assert!(read.len() == whole || read.len() == whole + 1);
        prop_assert_eq!(&read[..], &events[..read.len()]);
    }
}

#[test]
fn the_lines_are_those_of_the_format() {
    let mut header = Header::new(Version::V2, Size { cols: 80, rows: 24 });
    header.timestamp = Some(1_700_000_000);
    header.started_ms = Some(1_700_000_000_250);
    let events = [
        Event { time: Time::from_micros(1_500_000), kind: EventKind::Output("\u{1b}[1mé\r\n".into()) },
        Event { time: Time::from_micros(2_000_001), kind: EventKind::Resize(Size { cols: 90, rows: 30 }) },
    ];
    assert_eq!(
        write(&header, &events),
        concat!(
            "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":1700000000,\"mngr\":{\"started_ms\":1700000000250}}\n",
            "[1.500000, \"o\", \"\\u001b[1mé\\r\\n\"]\n[2.000001, \"r\", \"90x30\"]\n"
        )
    );
    header.version = Version::V3;
    let text = write(&header, &events);
    assert!(text.starts_with("{\"version\":3,\"term\":{\"cols\":80,\"rows\":24},"), "{text}");
    assert!(text.ends_with("[0.500001, \"r\", \"90x30\"]\n"), "{text}");
}
