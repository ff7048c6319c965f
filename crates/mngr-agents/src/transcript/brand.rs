//! The brands whose conversations can be read, and where each keeps them below an agent's state folder.

use std::time::Duration;

use mngr_host::files::{Below, FileKind, Files, FilesError};
use mngr_host::glance::Glance;
use mngr_model::HostPath;

use crate::claude::SESSION_HISTORY;
use crate::codex::SESSIONS;
use crate::conversation::ADOPTED;
use crate::ordinary::{ordinary_size, read_ordinary};
use crate::usage::SESSION_USAGE;

const CLAUDE_PROJECTS: &str = "plugin/claude/anthropic/projects";
const OPENCODE_LOG: &str = "plugin/opencode/transcript.jsonl";

/// How deep below its root a brand hides its files: days of a month of a year, or a session's sub-agents.
const DEEPEST: usize = 5;

/// A brand of agent that leaves a record of its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brand {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// opencode.
    Opencode,
}

/// One file of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TranscriptFile {
    pub(super) path: HostPath,
    /// Whether it is the agent's own conversation: not that of a program the agent ran.
    pub(super) is_own: bool,
    /// How long it was when it was listed.
    pub(super) size: u64,
}

impl Brand {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Opencode];

    /// Its name, which is also that of the agent type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }

    /// What people call it.
    pub fn program(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "opencode",
        }
    }

    /// How long after its program said what it did the record may still lack it.
    pub(super) fn lag(self) -> Duration {
        match self {
            // Its hooks and its status come first; the record is written now and then, 180 ms later at most as measured.
            Self::Claude => Duration::from_millis(300),
            // What they say is read off the record, or written after it.
            Self::Codex | Self::Opencode => Duration::ZERO,
        }
    }

    /// The brand of an agent type, headless or not.
    pub fn of_type(agent_type: &str) -> Option<Self> {
        let name = agent_type.strip_prefix("headless_").unwrap_or(agent_type);
        Self::ALL.into_iter().find(|brand| brand.name() == name)
    }

    /// What tells whose things lie in a state folder, see [`Brand::of_state`].
    pub fn signs(state: &HostPath) -> [HostPath; 3] {
        Self::ALL.map(|brand| state.join("plugin").join(brand.name()))
    }

    /// The brand whose things lie in this state folder.
    pub fn of_state(glance: &Glance<'_>, state: &HostPath) -> Result<Option<Self>, FilesError> {
        for (brand, sign) in Self::ALL.into_iter().zip(Self::signs(state)) {
            if glance.exists(&sign)? {
                return Ok(Some(brand));
            }
        }
        Ok(None)
    }

    /// What of a state folder must be kept for the conversation to stay readable: files and folders relative to it.
    pub fn kept(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &[SESSION_HISTORY, CLAUDE_PROJECTS, SESSION_USAGE, ADOPTED],
            Self::Codex => &[SESSIONS, ADOPTED],
            Self::Opencode => &[OPENCODE_LOG],
        }
    }

    /// The files that are there, those of the agent's own conversation in the order of their beginnings.
    pub(super) fn files(
        self,
        files: &dyn Files,
        state: &HostPath,
    ) -> Result<Vec<TranscriptFile>, FilesError> {
        let own = |path: HostPath, size: u64| TranscriptFile { path, is_own: true, size };
        match self {
            Self::Claude => claude_files(files, state),
            // The names begin with the time.
            Self::Codex => {
                let rollouts = found_rollouts(files, &state.join(SESSIONS))?.into_iter();
                Ok(rollouts.map(|found| own(found.path, found.stat.size)).collect())
            }
            Self::Opencode => {
                let path = state.join(OPENCODE_LOG);
                Ok(ordinary_size(files, &path)?.map(|size| own(path, size)).into_iter().collect())
            }
        }
    }

    /// The files of the agent's own conversations, in the order of their beginnings.
    pub(crate) fn own_files(self, files: &dyn Files, state: &HostPath) -> Result<Vec<HostPath>, FilesError> {
        let own = self.files(files, state)?.into_iter().filter(|file| file.is_own);
        Ok(own.map(|file| file.path).collect())
    }

    /// The files of all conversations with their sizes.
    pub(crate) fn sizes(
        self,
        files: &dyn Files,
        state: &HostPath,
    ) -> Result<Vec<(HostPath, u64)>, FilesError> {
        Ok(self.files(files, state)?.into_iter().map(|file| (file.path, file.size)).collect())
    }

    /// The folders in which something new may appear, deepest last.
    pub(super) fn folders(self, files: &dyn Files, state: &HostPath) -> Result<Vec<HostPath>, FilesError> {
        match self {
            Self::Claude => folders_below(files, &state.join(CLAUDE_PROJECTS)),
            Self::Codex => folders_below(files, &state.join(SESSIONS)),
            Self::Opencode => Ok(state.join(OPENCODE_LOG).parent().into_iter().collect()),
        }
    }
}

/// The sessions the history names, in its order; without a history all of them, the oldest first. A sub-agent's file
/// is `<session>/subagents/agent-*.jsonl`, or `agent-*.jsonl` beside the sessions, and belongs to the conversation.
fn claude_files(files: &dyn Files, state: &HostPath) -> Result<Vec<TranscriptFile>, FilesError> {
    let history = read_ordinary(files, &state.join(SESSION_HISTORY))?;
    let history = history.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let sessions: Vec<&str> = history.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    let mut found = Vec::new();
    for Below { path, stat } in jsonl_below(files, &state.join(CLAUDE_PROJECTS))? {
        let name = path.file_name().unwrap_or_default().trim_end_matches(".jsonl");
        let is_sub_agent = name.starts_with("agent-");
        let place = sessions.iter().position(|session| *session == name);
        let is_own = history.is_none() || place.is_some() || is_sub_agent;
        let file = TranscriptFile { path, is_own, size: stat.size };
        found.push((place.unwrap_or(usize::MAX), stat.modified, file));
    }
    found.sort_by(|a, b| (a.0, a.1, &a.2.path).cmp(&(b.0, b.1, &b.2.path)));
    Ok(found.into_iter().map(|(_, _, file)| file).collect())
}

/// The rollouts of Codex below this folder, sorted. Their names begin with the time.
pub(crate) fn rollouts_below(files: &dyn Files, folder: &HostPath) -> Result<Vec<HostPath>, FilesError> {
    Ok(found_rollouts(files, folder)?.into_iter().map(|found| found.path).collect())
}

fn found_rollouts(files: &dyn Files, folder: &HostPath) -> Result<Vec<Below>, FilesError> {
    let mut found = jsonl_below(files, folder)?;
    found.retain(|found| found.path.file_name().is_some_and(|name| name.starts_with("rollout-")));
    Ok(found)
}

/// Links are not followed: what an agent writes must not lead elsewhere.
fn jsonl_below(files: &dyn Files, folder: &HostPath) -> Result<Vec<Below>, FilesError> {
    let mut found = files.list_below(folder, DEEPEST + 1)?;
    let has_ending = |path: &HostPath| path.file_name().is_some_and(|name| name.ends_with(".jsonl"));
    found.retain(|found| found.stat.kind == FileKind::File && has_ending(&found.path));
    Ok(found)
}

/// The folder and those in it. Links are not followed: what an agent writes must not lead elsewhere.
fn folders_below(files: &dyn Files, folder: &HostPath) -> Result<Vec<HostPath>, FilesError> {
    let below = files.list_below(folder, DEEPEST)?.into_iter();
    let folders = below.filter(|found| found.stat.kind == FileKind::Folder).map(|found| found.path);
    Ok(std::iter::once(folder.clone()).chain(folders).collect())
}
