//! What a test holds in memory of a command's output, however much it printed.

use std::collections::VecDeque;

/// How much is held of the beginning, and how much of the end.
const HALF: usize = 4 * 1024 * 1024;
/// How much of a stream a failure message shows of the beginning, and how much of the end.
const SHOWN_HALF: usize = 2_000;

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Capture {
    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(HALF - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(HALF);
        self.tail.drain(..over);
        self.left_out += over;
    }

    /// As text, with a line in the place of what was too much. What is not UTF-8 is replaced.
    pub(crate) fn into_text(self, whole: &str) -> String {
        if self.left_out == 0 {
            let mut bytes = self.head;
            bytes.extend(self.tail);
            return String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        }
        let tail: Vec<u8> = self.tail.into();
        let marker =
            format!("\n[... {} bytes left out here, all of them are in {whole} ...]\n", self.left_out);
        [&String::from_utf8_lossy(&self.head), marker.as_str(), &String::from_utf8_lossy(&tail)].concat()
    }
}

/// A stream as a failure message shows it: indented, and cut in the middle when it is long.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for line in middle_cut(text).lines() {
        shown.push_str("\n  ");
        shown.push_str(line);
    }
    if shown.is_empty() { " (empty)".to_owned() } else { shown }
}

fn middle_cut(text: &str) -> String {
    if text.len() <= 3 * SHOWN_HALF {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(SHOWN_HALF)];
    let tail = &text[text.ceil_char_boundary(text.len() - SHOWN_HALF)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[... {left_out} bytes ...]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_held_up_to_the_limit_and_both_ends_beyond_it() {
        let mut capture = Capture::default();
        capture.push(b"small");
        assert_eq!(capture.into_text("x"), "small");
        let mut capture = Capture::default();
        for _ in 0..3 {
            capture.push(&vec![b'a'; HALF]);
        }
        capture.push(b"end");
        assert!(capture.head.len() + capture.tail.len() <= 2 * HALF);
        let text = capture.into_text("transcript.jsonl");
        assert!(text.starts_with("aaa") && text.ends_with("end"));
        assert!(text.contains(&format!(
            "[... {} bytes left out here, all of them are in transcript.jsonl",
            HALF + 3
        )));
    }

    #[test]
    fn a_message_shows_both_ends_of_a_long_text() {
        let text = shown(&format!("first\n{}\nlast", "ü".repeat(10_000)));
        assert!(text.starts_with("\n  first") && text.ends_with("\n  last"), "{text}");
        assert!(text.len() < 5_000);
        assert_eq!(shown(""), " (empty)");
    }
}
