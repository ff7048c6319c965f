//! Cutting a growing stream of bytes into lines. The end of a line that is still being written is simply not there yet,
//! and of one that would fill the memory only the beginning is kept: whoever reads it finds it damaged.

/// The longest line. A coding agent writes a file it has read as one.
const LONGEST: usize = 32 * 1024 * 1024;

/// Keeps the unfinished line between pieces.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// The lines that these bytes complete, without their ends.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut complete = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            self.keep(piece);
            complete.push(std::mem::take(&mut self.rest));
        }
        self.keep(last);
        complete
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = LONGEST.saturating_sub(self.rest.len()).min(piece.len());
        self.rest.extend_from_slice(&piece[..room]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_fills_no_memory_and_the_next_one_is_whole() {
        let (mut lines, piece) = (Lines::default(), vec![b'x'; LONGEST / 3]);
        assert_eq!(lines.feed(b"one\ntw"), [b"one"]);
        assert_eq!(lines.feed(b"o\n"), [b"two"]);
        (0..9).for_each(|_| assert!(lines.feed(&piece).is_empty()));
        let last = lines.feed(b"\nthree\n");
        assert_eq!((last[0].len(), last[1].as_slice()), (LONGEST, b"three".as_slice()));
    }
}
