//! From the bytes of the keyboard to keys, however the bytes are cut into pieces.

/// A key of a menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A character of the search.
    Char(char),
    /// Takes back the last character.
    Backspace,
    /// Takes back all of them.
    Clear,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// A screenful up.
    PageUp,
    /// A screenful down.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// That one.
    Enter,
    /// Ctrl-A.
    All,
    /// Ctrl-N.
    None,
    /// Ctrl-R.
    Hide,
    /// Ctrl-C or Escape.
    Cancel,
}

const SEQUENCES: &[(&[u8], Key)] = &[
    (b"\x1b[A", Key::Up),
    (b"\x1bOA", Key::Up),
    (b"\x1b[B", Key::Down),
    (b"\x1bOB", Key::Down),
    (b"\x1b[5~", Key::PageUp),
    (b"\x1b[6~", Key::PageDown),
    (b"\x1b[H", Key::Home),
    (b"\x1bOH", Key::Home),
    (b"\x1b[1~", Key::Home),
    (b"\x1b[F", Key::End),
    (b"\x1bOF", Key::End),
    (b"\x1b[4~", Key::End),
    (b"\r", Key::Enter),
    (b"\n", Key::Enter),
    (b"\x01", Key::All),
    (b"\x0e", Key::None),
    (b"\x10", Key::Up),
    (b"\x12", Key::Hide),
    (b"\x15", Key::Clear),
    (b"\x7f", Key::Backspace),
    (b"\x08", Key::Backspace),
    (b"\x03", Key::Cancel),
    (b"\x04", Key::Cancel),
];

const ESCAPE: u8 = 0x1b;

/// Reads keys; what is only the beginning of one is kept for the next time.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pending: Vec<u8>,
}

impl Keys {
    /// The keys in what was typed. Nothing typed means that what is pending will not become more.
    pub(super) fn read(&mut self, typed: &[u8]) -> Vec<Key> {
        let is_late = typed.is_empty();
        self.pending.extend_from_slice(typed);
        let mut found = Vec::new();
        while !self.pending.is_empty() {
            let (key, length) = match next(&self.pending) {
                Found::Key(key, length) => (Some(key), length),
                Found::Nothing(length) => (None, length),
                Found::Part if is_late && self.pending == [ESCAPE] => (Some(Key::Cancel), 1),
                Found::Part if is_late => (None, self.pending.len()),
                Found::Part => break,
            };
            found.extend(key);
            self.pending.drain(..length);
        }
        found
    }
}

/// What bytes begin with.
enum Found {
    Key(Key, usize),
    /// So many bytes mean nothing here.
    Nothing(usize),
    /// More may come.
    Part,
}

fn next(bytes: &[u8]) -> Found {
    if let Some((sequence, key)) = SEQUENCES.iter().find(|(sequence, _)| bytes.starts_with(sequence)) {
        return Found::Key(*key, sequence.len());
    }
    match bytes {
        [ESCAPE] | [ESCAPE, b'[' | b'O'] => Found::Part,
        [ESCAPE, b'[', rest @ ..] => match rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) {
            Some(end) => Found::Nothing(end + 3),
            None => Found::Part,
        },
        [ESCAPE, b'O', _, ..] => Found::Nothing(3),
        [ESCAPE, ..] => Found::Nothing(2),
        [control, ..] if *control < b' ' => Found::Nothing(1),
        _ => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Found {
    let first = &bytes[..bytes.len().min(4)];
    let (text, error) = match std::str::from_utf8(first) {
        Ok(text) => (text, None),
        Err(error) => (std::str::from_utf8(&first[..error.valid_up_to()]).unwrap_or_default(), Some(error)),
    };
    match (text.chars().next(), error.and_then(|error| error.error_len())) {
        (Some(character), _) => Found::Key(Key::Char(character), character.len_utf8()),
        (None, Some(length)) => Found::Nothing(length),
        (None, None) => Found::Part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_same_however_a_link_cuts_them() {
        let typed = "aé\u{1b}[B\u{1b}OA日\u{1b}[5~\u{12}\r".as_bytes();
        let expected = [
            Key::Char('a'),
            Key::Char('é'),
            Key::Down,
            Key::Up,
            Key::Char('日'),
            Key::PageUp,
            Key::Hide,
            Key::Enter,
        ];
        for size in 1..=typed.len() {
            let mut keys = Keys::default();
            let read: Vec<Key> = typed.chunks(size).flat_map(|piece| keys.read(piece)).collect();
            assert_eq!(read, expected, "pieces of {size}");
        }
    }

    #[test]
    fn an_escape_alone_is_one_once_nothing_follows() {
        let mut keys = Keys::default();
        assert_eq!(keys.read(b"\x1b"), []);
        assert_eq!(keys.read(b""), [Key::Cancel]);
        assert_eq!(keys.read(b"\x1b[1;5"), []);
        assert_eq!(keys.read(b""), [], "half a sequence is no text");
    }

    #[test]
    fn what_means_nothing_is_passed_over() {
        let mut keys = Keys::default();
        assert_eq!(keys.read(b"\x1b[1;5Cx\xff\x1bq\x00y"), [Key::Char('x'), Key::Char('y')]);
    }
}
