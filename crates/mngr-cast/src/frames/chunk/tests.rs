//! Where chunks begin, and what is known at the end.

use super::*;
use crate::header::Version;

fn recording(seconds: u64) -> impl Iterator<Item = Result<Event, ReadError>> {
    (0..seconds).map(|second| {
        let kind = match second {
            5 => EventKind::Marker("five".into()),
            6 => EventKind::Resize(Size { cols: 100, rows: 20 }),
            second => EventKind::Output(format!("{second}\r\n")),
        };
        Ok(Event { time: Time::from_millis(second * 1000), kind })
    })
}

#[test]
fn a_chunk_ends_after_its_time_and_the_next_begins_with_a_whole_screen() {
    let header = Header::new(Version::V2, Size::DEFAULT);
    let limits = Limits { millis: 10_000, bytes: usize::MAX };
    let mut chunks = Chunks::new(&header, recording(60), limits);
    let all: Vec<Chunk> = chunks.by_ref().map(Result::unwrap).collect();
    assert_eq!(
        all.iter().map(|chunk| chunk.start).collect::<Vec<_>>(),
        [0, 11_000, 22_000, 33_000, 44_000, 55_000]
    );
    assert!(all.iter().all(|chunk| chunk.frames[0].is_key()));
    assert_eq!(
        all.iter().flat_map(|chunk| &chunk.frames).filter(|frame| frame.is_key()).count(),
        7,
        "and one resize"
    );
    let overview = chunks.overview();
    assert_eq!((overview.size, overview.duration_ms), ((100, 24), 59_000));
    assert_eq!(overview.markers, [(5000, "five".to_owned())]);
}

#[test]
fn a_chunk_ends_when_it_is_large_enough() {
    let header = Header::new(Version::V2, Size::DEFAULT);
    let limits = Limits { millis: u64::MAX, bytes: 4096 };
    for chunk in Chunks::new(&header, recording(600), limits) {
        let json = serde_json::to_string(&chunk.unwrap()).unwrap();
        assert!(json.len() < 2 * 4096, "{}", json.len());
    }
}

#[test]
fn the_json_is_what_the_head_of_the_module_says() {
    let header = Header::new(Version::V2, Size { cols: 8, rows: 2 });
    let events = [(0, "$ \u{1b}[1;32mls\u{1b}[0m\r\n"), (1250, "a\r\nb\u{1b}[?25l")].map(|(ms, text)| {
        Ok(Event { time: Time::from_millis(ms), kind: EventKind::Output(text.to_owned()) })
    });
    let chunk = Chunks::new(&header, events.into_iter(), Limits::default()).next().unwrap().unwrap();
    assert_eq!(
        serde_json::to_string(&chunk).unwrap(),
        concat!(
            r#"{"start":0,"end":1250,"frames":["#,
            r#"{"t":0,"s":[8,2],"l":[[0,["$ ",["ls",2,-1,1]]]],"c":[0,1]},"#,
            r#"{"t":1250,"l":[[0,["a"]],[1,["b"]]],"c":null}]}"#
        )
    );
}
