//! Cutting a growing stream of bytes into lines. The end of a line that is still being written is simply not there yet.

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
            let mut line = std::mem::take(&mut self.rest);
            line.extend_from_slice(piece);
            complete.push(line);
        }
        self.rest.extend_from_slice(last);
        complete
    }
}
