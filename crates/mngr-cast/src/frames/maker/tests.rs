//! Frames against the emulation itself.

use proptest::prelude::*;

use super::*;
use crate::frames::{Chunks, Limits};
use crate::header::Version;

const SIZE: Size = Size { cols: 12, rows: 5 };

fn output(ms: u64, text: &str) -> Event {
    Event { time: Time::from_millis(ms), kind: EventKind::Output(text.to_owned()) }
}

fn frames(size: Size, events: &[Event]) -> Vec<Frame> {
    let header = Header::new(Version::V2, size);
    Frames::new(&header, events.iter().cloned().map(Ok)).map(Result::unwrap).collect()
}

fn any_event() -> impl Strategy<Value = EventKind> {
    let size = (1u16..20, 1u16..9).prop_map(|(cols, rows)| Size { cols, rows });
    prop_oneof![
        10 => "(\u{1b}\\[[0-9;]{0,6}[@A-HJKLMPSTXm]|\u{1b}\\[\\?(25|7|1049|6)[hl]|\u{1b}[78DMc]|\\PC|日|\r|\n|\t){0,20}"
            .prop_map(EventKind::Output),
        4 => "([a-c]{1,14}\r\n){1,6}".prop_map(EventKind::Output),
        1 => size.prop_map(EventKind::Resize),
        1 => Just(EventKind::Marker(String::new())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn a_whole_screen_and_the_changes_after_it_give_the_emulated_screen(
        parts in prop::collection::vec((0u64..80, any_event()), 1..30),
        bytes in 1usize..2000,
    ) {
        let mut ms = 0;
        let events: Vec<Event> = parts
            .into_iter()
            .map(|(pause, kind)| {
                ms += pause;
                Event { time: Time::from_millis(ms), kind }
            })
            .collect();
        let header = Header::new(Version::V2, SIZE);
        let limits = Limits { millis: 500, bytes };
        let chunks: Vec<_> =
            Chunks::new(&header, events.iter().cloned().map(Ok), limits).map(Result::unwrap).collect();
        for chunk in &chunks {
            prop_assert!(chunk.frames[0].is_key());
            // Each chunk is shown alone, after a trip through JSON, on a canvas of the wrong size.
            let chunk: crate::frames::Chunk = serde_json::from_str(&serde_json::to_string(chunk).unwrap()).unwrap();
            let mut canvas = Canvas::new(Size { cols: 1, rows: 1 });
            chunk.frames.iter().for_each(|frame| canvas.apply(frame));
            let mut emulator = Emulator::new(SIZE);
            let until = events.iter().take_while(|event| event.time.millis() <= chunk.end);
            until.for_each(|event| emulator.apply(&event.kind));
            prop_assert_eq!(&canvas.rows, &emulator.rows());
            prop_assert_eq!(canvas.cursor, emulator.cursor());
            prop_assert_eq!(canvas.size, emulator.size());
        }
        let text: String = chunks.iter().flat_map(|chunk| &chunk.frames).flat_map(|frame| &frame.lines)
            .flat_map(|(_, runs)| runs).map(|run| run.text.as_str()).collect();
        prop_assert!(!text.chars().any(char::is_control));
    }
}

#[test]
fn scrolling_is_told_as_scrolling() {
    let lines: String = (0..30).map(|line| format!("line {line}\r\n")).collect();
    let events = [output(0, &lines), output(1000, "one more\r\n"), output(2000, "and two\r\nmore\r\n")];
    let frames = frames(Size { cols: 20, rows: 24 }, &events);
    assert_eq!((frames[1].up, frames[1].lines.len()), (1, 1));
    assert_eq!((frames[2].up, frames[2].lines.len()), (2, 2));
}

#[test]
fn a_row_that_did_not_scroll_with_the_others_is_sent_again() {
    let header: String = (0..6).map(|line| format!("line {line}\r\n")).collect();
    let events = [
        output(0, &format!("{header}\u{1b}[8;1Hstatus\u{1b}[1;7r\u{1b}[7;1H")),
        output(1000, "seven\r\neight"),
    ];
    let frames = frames(Size { cols: 20, rows: 8 }, &events);
    assert_eq!(frames[1].up, 1);
    let rows: Vec<u16> = frames[1].lines.iter().map(|line| line.0).collect();
    assert_eq!(rows, [5, 6, 7]);
}

#[test]
fn events_in_quick_succession_are_one_frame_and_what_shows_nothing_is_none() {
    let events =
        [output(0, "a"), output(10, "b"), output(30, "c"), output(500, ""), output(600, "\u{1b}[0m")];
    let frames = frames(SIZE, &events);
    assert_eq!(frames.len(), 1);
    assert_eq!((frames[0].time_ms, frames[0].lines[0].1[0].text.as_str()), (30, "abc"));
}

#[test]
fn a_hostile_size_is_clamped() {
    let frames = frames(Size { cols: u16::MAX, rows: 0 }, &[output(0, "x")]);
    assert_eq!(frames[0].size, Some((1000, 1)));
}

#[test]
fn wide_characters_are_runs_of_their_own() {
    let frames = frames(SIZE, &[output(0, "a日本b")]);
    let runs: Vec<(&str, bool)> =
        frames[0].lines[0].1.iter().map(|run| (run.text.as_str(), run.style.wide)).collect();
    assert_eq!(runs, [("a", false), ("日本", true), ("b", false)]);
}
