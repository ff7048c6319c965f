//! What a scripted agent says it has used: the file to which the step `spend` appends, read while it grows.
//!
//! Spawns nothing. Lines that are not understood are passed over.

use jiff::Timestamp;
use mngr_host::files::{Files, FilesError};
use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;
use serde::Deserialize;

use super::compile::player_file;
use crate::ordinary::is_ordinary;
use crate::transcript::{Spend, SpendKind, Tokens};

/// The file, relative to the agent's state folder.
pub const USAGE: &str = "plugin/scripted/usage.jsonl";

/// How much is read at once. No line is longer, whatever the agent wrote.
const PIECE: usize = 64 * 1024;

/// How much is read at all.
const MOST: u64 = 16 * 1024 * 1024;

/// What stands for the model.
const MODEL: &str = "scripted";

/// One line of the file.
#[derive(Deserialize)]
struct Line {
    time: Timestamp,
    tokens: u64,
    cost: f64,
}

/// Follows the file of one agent.
#[derive(Debug)]
pub struct SpendingLog {
    path: HostPath,
    offset: u64,
    lines: u64,
}

impl SpendingLog {
    /// At the beginning; `None` when the agent with this state folder is not a scripted one.
    pub fn of_state(files: &dyn Files, state: &HostPath) -> Result<Option<Self>, FilesError> {
        let path = state.join(USAGE);
        let player = player_file(&AgentLayout::new(state.clone()));
        // Of a destroyed agent the player is not kept.
        let is_scripted = is_ordinary(files, &player)? || is_ordinary(files, &path)?;
        Ok(is_scripted.then_some(Self { path, offset: 0, lines: 0 }))
    }

    /// What was recorded since the last call.
    pub fn read_more(&mut self, files: &dyn Files) -> Result<Vec<Spend>, FilesError> {
        if !is_ordinary(files, &self.path)? {
            return Ok(Vec::new());
        }
        let mut spends = Vec::new();
        while self.offset < MOST {
            let bytes = files.read_part(&self.path, self.offset, PIECE)?;
            let is_last = bytes.len() < PIECE;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            self.offset += if whole == 0 && !is_last { PIECE } else { whole } as u64;
            for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
                self.lines += 1;
                spends.extend(self.spend(line));
            }
            if is_last {
                break;
            }
        }
        Ok(spends)
    }

    /// The folder to watch for changes.
    pub fn folder(&self) -> Option<HostPath> {
        self.path.parent()
    }

    fn spend(&self, line: &[u8]) -> Option<Spend> {
        let Line { time, tokens, cost } = serde_json::from_slice(line).ok()?;
        Some(Spend {
            // Agents may spend within the same second; each has a file of its own.
            key: format!("{}:{}", self.path, self.lines),
            timestamp: time,
            model: Some(MODEL.to_owned()),
            requested: None,
            tokens: Tokens { output_tokens: tokens, ..Tokens::default() },
            long_cache_write_tokens: 0,
            cost: Some(cost.max(0.0)),
            session: None,
            kind: SpendKind::Answer,
        })
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::files::{Access, Durability};
    use mngr_host::local::LocalFiles;

    use super::*;

    #[test]
    fn what_is_recorded_is_told_once_and_half_a_line_is_not_there_yet() {
        let dir = tempfile::tempdir().unwrap();
        let state = HostPath::new(dir.path().to_str().unwrap());
        assert!(SpendingLog::of_state(&LocalFiles, &state).unwrap().is_none());
        let put = |path: HostPath, text: &str| {
            LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
            LocalFiles.write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
        };
        put(player_file(&AgentLayout::new(state.clone())), "");
        let mut log = SpendingLog::of_state(&LocalFiles, &state).unwrap().unwrap();
        assert_eq!(log.read_more(&LocalFiles).unwrap(), []);
        let one = "{\"time\":\"2026-01-02T03:04:05Z\",\"tokens\":12,\"cost\":0.5}\n";
        let text = format!("{one}nonsense\n{one}{one}");
        put(state.join(USAGE), &text[..text.len() - 5]);
        let first = log.read_more(&LocalFiles).unwrap();
        let figures: Vec<_> = first.iter().map(|spend| (spend.tokens.total(), spend.cost)).collect();
        assert_eq!(figures, [(12, Some(0.5)), (12, Some(0.5))]);
        assert_ne!(first[0].key, first[1].key);
        put(state.join(USAGE), &text);
        assert_eq!(log.read_more(&LocalFiles).unwrap().len(), 1);
        assert_eq!(log.read_more(&LocalFiles).unwrap(), []);
        // Nothing but one huge line from here on, and then a good one.
        put(state.join(USAGE), &format!("{text}{}\n{one}", "x".repeat(3 * PIECE)));
        assert_eq!(log.read_more(&LocalFiles).unwrap().len(), 1);
    }
}
