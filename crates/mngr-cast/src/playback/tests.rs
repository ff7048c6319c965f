//! Every moment shows the same, whichever way one came to it.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::event::EventKind;
use crate::frames::Frames;
use crate::header::Version;
use crate::write::Writer;

/// Three megabytes: more than one note is made.
fn long_recording() -> String {
    let (mut writer, mut text) = Writer::new(&Header::new(Version::V3, Size { cols: 40, rows: 6 }));
    for second in 0..300_u64 {
        let line = format!("{}\r\n\u{1b}[3{}msecond {second}\u{1b}[0m\r\n", "x".repeat(10_000), second % 8);
        text +=
            &writer.line(&Event { time: Time::from_millis(second * 1000), kind: EventKind::Output(line) });
    }
    text
}

fn open(text: &str) -> Playback<Cursor<&str>> {
    Playback::new(Reader::new(Cursor::new(text)).unwrap()).unwrap()
}

#[test]
fn going_back_shows_what_going_forth_showed() {
    let text = long_recording();
    let mut playback = open(&text);
    let moments = [10, 150, 290].map(|second| Time::from_millis(second * 1000 + 500));
    let forth: Vec<Canvas> = moments
        .iter()
        .map(|moment| {
            playback.go_to(*moment).unwrap();
            playback.canvas()
        })
        .collect();
    assert!(playback.notes.len() > 2);
    for (moment, canvas) in moments.iter().zip(&forth).rev() {
        playback.go_to(*moment).unwrap();
        assert_eq!((playback.time(), &playback.canvas()), (*moment, canvas));
        let after = Time::from_millis(moment.millis() + 500);
        assert_eq!(playback.next_time(), Some(after));
    }
    playback.go_to(Time::START).unwrap();
    assert!(playback.canvas().text().contains(&"second 0".to_owned()));
}

#[test]
fn behind_the_end_is_the_end() {
    let text = long_recording();
    let mut playback = open(&text);
    playback.go_to(Time::from_millis(10_000_000)).unwrap();
    assert_eq!((playback.time(), playback.next_time()), (Time::from_millis(299_000), None));
}

proptest! {
    #[test]
    fn any_moment_shows_what_the_frames_up_to_it_show(
        outputs in prop::collection::vec("(\u{1b}\\[[0-9;]{0,4}[A-Hmsu]|\\PC|\r|\n){0,12}", 1..12),
        visits in prop::collection::vec(0u64..13, 1..6),
    ) {
        let header = Header::new(Version::V2, Size { cols: 10, rows: 4 });
        let (mut writer, mut text) = Writer::new(&header);
        for (second, output) in outputs.into_iter().enumerate() {
            let time = Time::from_millis(second as u64 * 1000);
            text += &writer.line(&Event { time, kind: EventKind::Output(output) });
        }
        let mut playback = open(&text);
        for second in visits {
            playback.go_to(Time::from_millis(second * 1000 + 1)).unwrap();
            let mut canvas = Canvas::new(header.size);
            for frame in Frames::new(&header, Reader::new(Cursor::new(&text)).unwrap()) {
                let frame = frame.unwrap();
                if frame.time_ms <= second * 1000 {
                    canvas.apply(&frame);
                }
            }
            prop_assert_eq!(playback.canvas(), canvas);
        }
    }
}
