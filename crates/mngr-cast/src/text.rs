//! A recording as plain text: what a viewer could have read from top to bottom.

use crate::event::Event;
use crate::header::Header;
use crate::read::ReadError;
use crate::screen::Emulator;
use crate::steps::Steps;

/// An iterator over the lines of a recording: those that scrolled away, then those on the screen at its end. No control
/// characters are in them. What full-screen programs showed and took away again is not.
pub struct PlainText<I> {
    steps: Option<Steps<I>>,
    emulator: Emulator,
    ready: std::vec::IntoIter<String>,
}

impl<I: Iterator<Item = Result<Event, ReadError>>> PlainText<I> {
    /// The text of these events.
    pub fn new(header: &Header, events: I) -> Self {
        let emulator = Emulator::new(header.size);
        Self { steps: Some(Steps::new(events)), emulator, ready: Vec::new().into_iter() }
    }
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Iterator for PlainText<I> {
    type Item = Result<String, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(line) = self.ready.next() {
                return Some(Ok(line));
            }
            let step = match self.steps.as_mut()?.next_step() {
                Ok(step) => step,
                Err(error) => {
                    self.steps = None;
                    return Some(Err(error));
                }
            };
            let lines = match step {
                Some(step) => {
                    step.iter().for_each(|event| self.emulator.apply(&event.kind));
                    self.emulator.take_scrolled()
                }
                None => {
                    self.steps = None;
                    self.emulator.text()
                }
            };
            self.ready = lines.into_iter();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Reader;

    fn text_of(recording: &str) -> Vec<String> {
        let reader = Reader::new(recording.as_bytes()).unwrap();
        PlainText::new(&reader.header().clone(), reader).map(Result::unwrap).collect()
    }

    #[test]
    fn lines_that_scrolled_away_come_before_the_screen_and_wraps_are_joined() {
        let text = text_of(concat!(
            "{\"version\":2,\"width\":4,\"height\":2}\n",
            "[0, \"o\", \"one\\r\\n\\u001b[31mtwotwotwo\\u001b[0m\\r\\nend\"]\n"
        ));
        assert_eq!(text, ["one", "twotwotwo", "end"]);
    }

    #[test]
    fn nothing_a_terminal_obeys_is_left() {
        let text = text_of(concat!(
            "{\"version\":2,\"width\":40,\"height\":4}\n",
            "[0, \"o\", \"\\u001b]52;c;aGk=\\u0007\\u001b]0;title\\u0007\\u001b[6n\\u001bP+q544e\\u001b\\\\a\\u0007\\u009b6n\\u0085b\"]\n"
        ));
        let all = text.join("\n");
        assert!(!all.replace('\n', "").chars().any(char::is_control), "{all:?}");
        assert!(all.contains('a') && all.contains('b') && !all.contains("aGk="), "{all:?}");
    }
}
