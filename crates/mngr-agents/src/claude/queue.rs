//! Claude Code's queue: what was sent in the middle of a turn, from the transcript, which notes what goes in and out.

use jiff::Timestamp;
use serde_json::Value;

use super::evidence::plain;
use crate::brand::QueuePlace;
use crate::said::essence;

/// Where a message is that was about to be typed at this time.
pub(super) fn place_of(record: &str, text: &str, since: Timestamp) -> QueuePlace {
    let wanted = essence(text);
    let mut queue: Vec<(String, bool)> = Vec::new();
    let mut place = QueuePlace::Unknown;
    let mut turn_since = None;
    // The first line may be cut off, the last one half-written.
    for record in record.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let at = record["timestamp"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        let is_since = at.is_some_and(|at| at >= since);
        let begins = |said: &str| is_since && essence(said) == wanted;
        match (record["type"].as_str(), record["operation"].as_str()) {
            (Some("queue-operation"), Some("enqueue")) => {
                let said = essence(record["content"].as_str().unwrap_or_default());
                let is_wanted = is_since && said == wanted;
                queue.push((said, is_wanted));
            }
            (Some("queue-operation"), Some("dequeue")) => {
                turn_since = at;
                if !queue.is_empty() && queue.remove(0).1 {
                    place = QueuePlace::Begun;
                }
            }
            // Taken up in the middle of a turn, or taken back.
            (Some("queue-operation"), Some(_)) => {
                let said = record["content"].as_str().map(essence);
                let leaves =
                    |(in_queue, _): &(String, bool)| said.as_ref().is_none_or(|said| said == in_queue);
                if queue.iter().any(|one| leaves(one) && one.1) {
                    place = QueuePlace::Begun;
                }
                queue.retain(|one| !leaves(one));
            }
            (Some("user"), _) => {
                if let Some(said) = plain(&record["message"]["content"]).filter(|said| !said.is_empty()) {
                    turn_since = at;
                    if begins(&said) {
                        place = QueuePlace::Begun;
                    }
                }
            }
            (Some("attachment"), _) if record["attachment"]["prompt"].as_str().is_some_and(begins) => {
                place = QueuePlace::Begun;
            }
            _ => {}
        }
    }
    match place {
        QueuePlace::Unknown if queue.iter().any(|(_, is_wanted)| *is_wanted) => {
            QueuePlace::Waits { turn_since }
        }
        place => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENQUEUED: &str = r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:02Z","content":"wait for it"}"#;
    const OTHER: &str = r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:01Z","content":"other"}"#;
    const DEQUEUED: &str =
        r#"{"type":"queue-operation","operation":"dequeue","timestamp":"2026-01-01T00:00:03Z"}"#;
    const ABSORBED: &str = r#"{"type":"queue-operation","operation":"remove","timestamp":"2026-01-01T00:00:03Z","content":"wait for it","reason":"absorbed_mid_turn"}"#;
    const SAID: &str =
        r#"{"type":"user","timestamp":"2026-01-01T00:00:01Z","message":{"content":"wait for it"}}"#;

    fn place(lines: &[&str], since: &str) -> QueuePlace {
        place_of(&lines.join("\n"), "wait for it", format!("2026-01-01T00:00:{since}Z").parse().unwrap())
    }

    fn waits(since: Option<&str>) -> QueuePlace {
        QueuePlace::Waits {
            turn_since: since.map(|since| format!("2026-01-01T00:00:{since}Z").parse().unwrap()),
        }
    }

    #[test]
    fn a_message_waits_until_it_is_taken_out_in_its_turn() {
        assert_eq!(place(&[], "00"), QueuePlace::Unknown);
        assert_eq!(place(&[ENQUEUED], "00"), waits(None));
        assert_eq!(place(&[OTHER, ENQUEUED, DEQUEUED], "00"), waits(Some("03")));
        assert_eq!(place(&[OTHER, ENQUEUED, DEQUEUED, DEQUEUED], "00"), QueuePlace::Begun);
        assert_eq!(place(&[OTHER, ENQUEUED, ABSORBED], "00"), QueuePlace::Begun);
    }

    #[test]
    fn the_same_words_of_an_earlier_message_say_nothing() {
        assert_eq!(place(&[SAID], "00"), QueuePlace::Begun);
        assert_eq!(place(&[SAID], "01.5"), QueuePlace::Unknown);
        assert_eq!(place(&[SAID, ENQUEUED], "01.5"), waits(Some("01")));
    }
}
