//! Cutting a stream of bytes into lines, of which none is held for ever.

/// How long a line may get before it is given out in pieces.
const LONGEST: usize = 64 * 1024;

/// Keeps the line that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct LineCutter {
    rest: Vec<u8>,
}

impl LineCutter {
    /// The lines that these bytes complete, with their ends, and pieces of lines that are too long.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(part);
            if part.ends_with(b"\n") {
                pieces.push(std::mem::take(&mut self.rest));
            }
            while self.rest.len() > LONGEST {
                let later = self.rest.split_off(character_boundary(&self.rest));
                pieces.push(std::mem::replace(&mut self.rest, later));
            }
        }
        pieces
    }

    /// What is left when nothing more comes.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.rest)).filter(|rest| !rest.is_empty())
    }
}

/// Where a line of that many bytes may be cut: not inside a character of UTF-8, which has at most four bytes.
fn character_boundary(bytes: &[u8]) -> usize {
    let is_boundary = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    (LONGEST - 3..=LONGEST).rev().find(is_boundary).unwrap_or(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_the_bytes_come() {
        let mut cutter = LineCutter::default();
        let mut lines = cutter.feed(b"one\ntw");
        lines.extend(cutter.feed(b"o\n\nthree"));
        assert_eq!(lines, [&b"one\n"[..], b"two\n", b"\n"]);
        assert_eq!(cutter.rest().as_deref(), Some(&b"three"[..]));
        assert_eq!(cutter.rest(), None);
    }

    #[test]
    fn an_endless_line_is_cut_between_characters() {
        let mut cutter = LineCutter::default();
        let text = "é€🎉".repeat(LONGEST);
        let mut pieces = cutter.feed(text.as_bytes());
        pieces.extend(cutter.rest());
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= LONGEST));
        let joined: String = pieces.iter().map(|piece| std::str::from_utf8(piece).unwrap()).collect();
        assert_eq!(joined, text);
    }
}
