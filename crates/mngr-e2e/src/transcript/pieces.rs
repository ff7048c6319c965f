//! Cutting a stream of bytes so that no character is split.
//!
//! A read ends where the pipe happened to be empty, which may be in the middle of a character. Its beginning is held
//! back until the rest has come, so that text stays text; bytes that can never become a character are not held back.

/// The bytes of one stream that are not handed on yet: at most three.
#[derive(Debug, Default)]
pub struct Pieces {
    held: Vec<u8>,
}

impl Pieces {
    /// Takes what was read and returns what may be handed on; nothing while only the beginning of a character is there.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut piece = std::mem::take(&mut self.held);
        piece.extend_from_slice(bytes);
        let cut = piece.len() - unfinished(&piece);
        self.held = piece.split_off(cut);
        (!piece.is_empty()).then_some(piece)
    }

    /// What is left when the stream has ended.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then_some(rest)
    }
}

/// How many bytes at the end are the beginning of a character that may still be completed.
fn unfinished(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so only the last three can be an unfinished one.
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let starts = (0..tail.len()).filter(|at| tail[*at] & 0b1100_0000 == 0b1100_0000);
    for at in starts {
        let is_open = |error: std::str::Utf8Error| error.error_len().is_none() && error.valid_up_to() == 0;
        if std::str::from_utf8(&tail[at..]).err().is_some_and(is_open) {
            return tail.len() - at;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_split_by_a_read_comes_whole() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.push(b"gr\xc3"), Some(b"gr".to_vec()));
        assert_eq!(pieces.push(b"\xbcn"), Some("ün".as_bytes().to_vec()));
        assert_eq!(pieces.push(b"\xf0\x9f"), None);
        assert_eq!(pieces.push(b"\x90\xb3"), Some("🐳".as_bytes().to_vec()));
        assert_eq!(pieces.finish(), None);
    }

    #[test]
    fn bytes_that_are_no_beginning_are_not_held_back() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.push(b"a\xff"), Some(b"a\xff".to_vec()));
        assert_eq!(pieces.push(b"\x80\x80"), Some(b"\x80\x80".to_vec()));
        assert_eq!(pieces.push(b"\xe2\x82"), None);
        assert_eq!(pieces.finish(), Some(b"\xe2\x82".to_vec()));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_text_stays_text(text in "\\PC{0,40}", cuts in prop::collection::vec(0usize..200, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Pieces::default();
            let mut out: Vec<Vec<u8>> = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                out.extend(pieces.push(&bytes[from..cut]));
                from = cut;
            }
            out.extend(pieces.finish());
            prop_assert!(out.iter().all(|piece| std::str::from_utf8(piece).is_ok()));
            prop_assert_eq!(out.concat(), bytes);
        }
    }
}
