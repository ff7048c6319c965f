//! From the bytes of the keyboard to what the user wants of the player.

/// What a key means while a recording plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Pause, or go on.
    Pause,
    /// 5 s back.
    Back,
    /// 5 s forth.
    Forth,
    /// To the start.
    Start,
    /// To the end.
    End,
    /// Twice as fast.
    Faster,
    /// Half as fast.
    Slower,
    /// Type a text to look for.
    Search,
    /// To the next place where it appears.
    Next,
    /// No more.
    Quit,
}

/// The keys in what was typed. What means nothing is left out.
pub(super) fn keys(typed: &[u8]) -> Vec<Key> {
    const SEQUENCES: &[(&[u8], Key)] = &[
        (b"\x1b[D", Key::Back),
        (b"\x1b[C", Key::Forth),
        (b"\x1bOD", Key::Back),
        (b"\x1bOC", Key::Forth),
        (b"\x1b[H", Key::Start),
        (b"\x1b[F", Key::End),
        (b"\x1b[1~", Key::Start),
        (b"\x1b[4~", Key::End),
        (b" ", Key::Pause),
        (b"h", Key::Back),
        (b"l", Key::Forth),
        (b"0", Key::Start),
        (b"G", Key::End),
        (b"+", Key::Faster),
        (b"-", Key::Slower),
        (b"/", Key::Search),
        (b"n", Key::Next),
        (b"q", Key::Quit),
        (b"\x03", Key::Quit),
        (b"\x04", Key::Quit),
    ];
    let (mut found, mut rest) = (Vec::new(), typed);
    while !rest.is_empty() {
        match SEQUENCES.iter().find(|(sequence, _)| rest.starts_with(sequence)) {
            Some((sequence, key)) => {
                found.push(*key);
                rest = &rest[sequence.len()..];
                // What follows the stroke is the text to look for.
                if *key == Key::Search {
                    break;
                }
            }
            // A sequence that means nothing here is skipped whole: its letters are no keys.
            None if rest.starts_with(b"\x1b") => {
                let end = rest.iter().skip(2).position(|byte| byte.is_ascii_alphabetic() || *byte == b'~');
                rest = end.map_or(&[][..], |end| &rest[end + 3..]);
            }
            None => rest = &rest[1..],
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_sequences_are_told_apart_and_unknown_ones_mean_nothing() {
        assert_eq!(keys(b" \x1b[Dq"), [Key::Pause, Key::Back, Key::Quit]);
        assert_eq!(keys(b"\x1b[Ax\x1b[5~n"), [Key::Next]);
        assert_eq!(keys(b"/quit"), [Key::Search]);
        assert_eq!(keys(b"\x1b"), []);
    }
}
