//! How a message travels to the player, and where the player says which messages it took.

use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;

/// Starts a head line. A terminal passes this character on untouched, and no message may hold it.
const RECORD_SEPARATOR: char = '\u{1e}';

/// A head line with key and number of lines, then the lines.
pub fn frame(key: &str, text: &str) -> String {
    let lines = text.split('\n').count();
    format!("{RECORD_SEPARATOR}{key} {lines}\n{text}\n")
}

/// The file to which the player appends the key of every message it took.
pub fn accepted_file(agent: &AgentLayout) -> HostPath {
    agent.plugin().join("scripted/accepted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_counts_the_lines_that_follow() {
        assert_eq!(frame("k", "a\nb"), "\u{1e}k 2\na\nb\n");
        assert_eq!(frame("k", "a\n"), "\u{1e}k 2\na\n\n");
    }
}
