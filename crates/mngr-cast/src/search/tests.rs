//! Texts that are there, in whatever pieces they were printed.

use super::*;
use crate::header::{Size, Version};

fn hits(size: (u16, u16), outputs: &[(u64, &str)], text: &str) -> Vec<(u64, String)> {
    let header = Header::new(Version::V2, Size { cols: size.0, rows: size.1 });
    let events = outputs.iter().map(|(ms, text)| {
        Ok(Event { time: Time::from_millis(*ms), kind: EventKind::Output((*text).to_owned()) })
    });
    Search::new(&header, events, text)
        .map(|hit| hit.unwrap())
        .map(|hit| (hit.time.millis(), hit.line))
        .collect()
}

#[test]
fn a_text_is_found_across_colours_and_pieces_and_line_wraps() {
    let outputs = [(0, "fir\u{1b}[31mst "), (1000, "err\u{1b}[0mor here\r\n"), (2000, "nothing")];
    assert_eq!(hits((40, 5), &outputs, "first error"), [(1000, "first error here".into())]);
    assert_eq!(hits((8, 5), &outputs, "first error").len(), 1, "wrapped after eight columns");
}

#[test]
fn a_text_that_scrolled_away_within_one_event_is_found_and_counted_once() {
    let flood: String = (0..100).map(|line| format!("line {line}\r\n")).collect();
    let outputs = [(0, flood.as_str()), (1000, "\r\nmore\r\nlines\r\n"), (2000, "line 7 again\r\n")];
    assert_eq!(hits((20, 5), &outputs, "line 7").iter().map(|hit| hit.0).collect::<Vec<_>>(), [0, 2000]);
}

#[test]
fn a_text_that_comes_back_is_a_second_hit() {
    let outputs = [(0, "menu"), (1000, "\u{1b}[2K\r"), (2000, "menu")];
    assert_eq!(hits((20, 5), &outputs, "menu").iter().map(|hit| hit.0).collect::<Vec<_>>(), [0, 2000]);
}

#[test]
fn capitals_matter_only_where_the_query_has_some() {
    let outputs = [(0, "Error")];
    assert_eq!(hits((20, 5), &outputs, "error").len(), 1);
    assert_eq!(hits((20, 5), &outputs, "ERROR").len(), 0);
    assert_eq!(hits((20, 5), &outputs, "").len(), 0);
}

#[test]
fn labels_of_markers_are_searched_too() {
    let header = Header::new(Version::V2, Size::DEFAULT);
    let events = [Ok(Event { time: Time::from_millis(5), kind: EventKind::Marker("Step\u{7} two".into()) })];
    let found: Vec<Hit> = Search::new(&header, events.into_iter(), "step").map(Result::unwrap).collect();
    assert_eq!(found, [Hit { time: Time::from_millis(5), line: "Step\u{fffd} two".into() }]);
}
