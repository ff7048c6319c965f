//! Recordings as others write them, whole and broken.

use super::*;
use crate::header::Size;

fn events(recording: &str) -> Result<Vec<Event>, ReadError> {
    Reader::new(recording.as_bytes())?.collect()
}

const HEADER: &str = "{\"version\": 2, \"width\": 80, \"height\": 24}\n";

#[test]
fn times_of_v2_are_since_the_start_and_those_of_v3_since_the_event_before() {
    let v2 = events(&format!("{HEADER}[1.5, \"o\", \"a\"]\n[2.0, \"o\", \"b\"]\n")).unwrap();
    let v3 = events(concat!(
        "{\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 24}}\n",
        "# a comment\n[1.5, \"o\", \"a\"]\n\n[0.5, \"o\", \"b\"]\n"
    ))
    .unwrap();
    assert_eq!(v2, v3);
    assert_eq!(v2[1].time, Time::from_millis(2000));
}

#[test]
fn every_code_is_understood_or_kept() {
    let lines = "[0,\"i\",\"x\"]\n[0,\"m\",\"here\"]\n[0,\"r\",\"90x30\"]\n[0,\"x\",\"3\"]\n[0,\"z\",{\"a\":1}]\n[0,\"r\",\"big\"]\n";
    let kinds: Vec<EventKind> =
        events(&format!("{HEADER}{lines}")).unwrap().into_iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds[..4],
        [
            EventKind::Input("x".into()),
            EventKind::Marker("here".into()),
            EventKind::Resize(Size { cols: 90, rows: 30 }),
            EventKind::Exit(3),
        ]
    );
    assert!(matches!(&kinds[4], EventKind::Other { code, data } if code == "z" && data["a"] == 1));
    assert!(matches!(&kinds[5], EventKind::Other { code, .. } if code == "r"));
}

#[test]
fn a_cut_off_last_line_is_left_out_and_reported() {
    let text = format!("{HEADER}[1, \"o\", \"whole\"]\n[2, \"o\", \"cut");
    for length in 0..=text.len() - HEADER.len() {
        let bytes = &text.as_bytes()[..HEADER.len() + length];
        let mut reader = Reader::new(bytes).unwrap();
        let read: Vec<Event> = reader.by_ref().map(Result::unwrap).collect();
        let whole = bytes[HEADER.len()..].contains(&b']');
        assert_eq!(read.len(), usize::from(whole), "after {length} bytes");
    }
    let mut reader = Reader::new(text.as_bytes()).unwrap();
    assert!(reader.by_ref().all(|event| event.is_ok()));
    let torn = reader.torn().unwrap();
    assert_eq!(&text[torn.offset as usize..], "[2, \"o\", \"cut");
    assert_eq!(torn.bytes, 13);
}

#[test]
fn a_broken_line_within_it_is_an_error_that_names_the_line() {
    let error = events(&format!("{HEADER}[1, \"o\", \"a\"]\nnonsense\n[2, \"o\", \"b\"]\n")).unwrap_err();
    assert!(matches!(error, ReadError::Line { line: 3, .. }), "{error}");
    for time in ["-1", "1e300"] {
        let error = events(&format!("{HEADER}[{time}, \"o\", \"a\"]\n")).unwrap_err();
        assert!(matches!(error, ReadError::Time { line: 2, .. }), "{error}");
    }
}

#[test]
fn a_clock_that_went_back_does_not_reorder_events() {
    let times: Vec<u64> =
        events(&format!("{HEADER}[5, \"o\", \"a\"]\n[3, \"o\", \"b\"]\n[6, \"o\", \"c\"]\n"))
            .unwrap()
            .iter()
            .map(|event| event.time.millis())
            .collect();
    assert_eq!(times, [5000, 5000, 6000]);
}

#[test]
fn what_is_no_recording_is_refused_by_what_it_is() {
    let error = |text: &str| Reader::new(text.as_bytes()).err().unwrap();
    assert!(matches!(error(""), ReadError::Empty));
    for text in
        ["hello\n", "{}\n", "[1]\n", "{\"version\":2}\n", "{\"version\":3,\"term\":{}}\n", "\u{0}\u{1}"]
    {
        assert!(matches!(error(text), ReadError::NotACast), "{text:?}");
    }
    assert!(matches!(error("{\"version\":9}\n"), ReadError::TooNew { version: 9 }));
    assert!(matches!(error("{\"version\":1,\"stdout\":[]}\n"), ReadError::TooOld));
    assert!(matches!(error("{\n  \"version\": 1,\n  \"width\": 80,\n"), ReadError::TooOld));
}

#[test]
fn a_line_without_an_end_does_not_fill_the_memory() {
    let endless = std::io::BufReader::new(std::io::repeat(b'x'));
    let start = std::io::BufReader::new(HEADER.as_bytes());
    let mut reader = Reader::new(start.chain(endless)).unwrap();
    assert!(matches!(reader.next_event(), Err(ReadError::TooLong { line: 2 })));
}

#[test]
fn a_recording_copied_with_other_line_ends_is_the_same() {
    let plain = format!("{HEADER}[1, \"o\", \"a\"]\n");
    assert_eq!(events(&plain.replace('\n', "\r\n")).unwrap(), events(&plain).unwrap());
}
