//! The certified record of one agent: `agents/<id>/data.json`. Written by mngr alone; the agent's own reports are not here.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::path::HostPath;
use crate::title::title_of;
use crate::transfer::TransferMode;
use crate::{AgentId, AgentName, AgentTypeName};

/// An additional tmux window of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdditionalCommand {
    /// Shell text.
    pub command: String,
    /// Name of the window; absent means tmux's choice.
    pub window_name: Option<String>,
}

/// Geometry of the agent's terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TmuxGeometry {
    /// Columns.
    pub width: u16,
    /// Lines.
    pub height: u16,
    /// tmux's `window-size`; absent means `manual`.
    pub window_size: Option<String>,
}

impl Default for TmuxGeometry {
    fn default() -> Self {
        Self { width: 200, height: 50, window_size: None }
    }
}

/// Where an agent's files came from and what mngr made for it, so that destroy and undo know what is theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// How the files came here.
    pub transfer: TransferMode,
    /// mngr made the work dir, so mngr may move it away; an in-place dir belongs to the user.
    pub is_generated: bool,
    /// The repository (its common git dir) a worktree belongs to.
    pub repository: Option<HostPath>,
    /// The commit the work started from.
    pub base_commit: Option<String>,
    /// The branch the work started from, when it was a branch.
    pub base_branch: Option<String>,
}

/// What `data.json` holds. Unknown fields are ignored on reading; writers patch the JSON so that they survive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// Identity for life.
    pub id: AgentId,
    /// Unique on its host; the tmux session is derived from it.
    pub name: AgentName,
    /// The agent type's name.
    #[serde(rename = "type")]
    pub agent_type: AgentTypeName,
    /// Where it works.
    pub work_dir: HostPath,
    /// When it was created.
    pub create_time: Timestamp,
    /// The command as one line of shell, for people and for scripts that read it.
    pub command: String,
    /// The command exactly: these words, no shell in between.
    #[serde(default)]
    pub argv: Vec<String>,
    /// What was given after `--` at creation, for agents that are made from it; what a script file said is spelled out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent_args: Vec<String>,
    /// Further windows.
    #[serde(default)]
    pub additional_commands: Vec<AdditionalCommand>,
    /// What it works on, as somebody has called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The beginning of the conversation it goes on with, where it was created without a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_line: Option<String>,
    /// The first message, as given at creation.
    #[serde(default)]
    pub initial_message: Option<String>,
    /// Sent on every later start.
    #[serde(default)]
    pub resume_message: Option<String>,
    /// How long readiness may take.
    #[serde(default)]
    pub ready_timeout_seconds: Option<f64>,
    /// Whether the host starts it when it boots.
    #[serde(default)]
    pub start_on_boot: bool,
    /// Free labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The branch mngr made for it.
    #[serde(default)]
    pub created_branch_name: Option<String>,
    /// The branch checked out at creation (made by mngr or not).
    #[serde(default)]
    pub checked_out_branch_name: Option<String>,
    /// Terminal geometry.
    #[serde(default)]
    pub tmux: TmuxGeometry,
    /// The built-in coding agent its type rests on, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// The file in which its program says what it does, below the state folder; `{pid}` stands for its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_file: Option<String>,
    /// The folder in which something new appears when its program is ready, below the state folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_folder: Option<String>,
    /// The server that lives with it, where its program is one that joins a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<AgentServer>,
    /// It runs once and without a terminal: its streams are files, and nobody can be asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub headless: bool,
    /// What mngr made for it. Absent in records of the Python mngr.
    #[serde(default)]
    pub workspace: Option<Workspace>,
}

/// A server that is started before an agent's program, ends with it, and speaks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentServer {
    /// Its command.
    pub argv: Vec<String>,
    /// The socket it answers at, below the state folder.
    pub socket: String,
}

impl AgentRecord {
    /// The socket at which its server answers, below the state folder. A record that names one outside of it is not
    /// believed: the agent can write it.
    pub fn server_socket(&self) -> Option<&str> {
        let is_below = |path: &&str| !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        self.server.as_ref().map(|server| server.socket.as_str()).filter(is_below)
    }

    /// The file in which the program of this process says what it does, below the state folder. A record that names
    /// one outside of it is not believed: the agent can write it.
    pub fn status_file_of(&self, pid: i32) -> Option<String> {
        let is_below = |path: &&str| !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        let pattern = self.status_file.as_deref().filter(is_below)?;
        Some(pattern.replace("{pid}", &pid.to_string()))
    }

    /// What it was first told to do, in one line.
    pub fn first_words(&self) -> Option<String> {
        [&self.initial_message, &self.first_line].into_iter().flatten().find_map(|text| title_of(text))
    }

    /// The branch it was created on.
    pub fn initial_branch(&self) -> Option<&str> {
        self.created_branch_name.as_deref().or(self.checked_out_branch_name.as_deref())
    }

    /// The label `project`.
    pub fn project(&self) -> Option<&str> {
        self.labels.get(Self::PROJECT_LABEL).map(String::as_str)
    }

    /// Name of the label that says which project an agent belongs to.
    pub const PROJECT_LABEL: &'static str = "project";
    /// Name of the label that holds the origin URL, without credentials.
    pub const REMOTE_LABEL: &'static str = "remote";
    /// Name of the label whose presence means archived.
    pub const ARCHIVED_LABEL: &'static str = "archived_at";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_the_python_mngr_reads() {
        let text = r#"{"id":"agent-0123456789abcdef0123456789abcdef","name":"foo","type":"claude",
            "work_dir":"/w","create_time":"2026-08-22T10:00:00.123456Z","command":"claude","additional_commands":
            [{"command":"htop","window_name":null}],"start_on_boot":false,"labels":{"project":"p"},
            "created_branch_name":"mngr/foo","plugin":{"claude":{}},"something_new":1}"#;
        let record: AgentRecord = serde_json::from_str(text).unwrap();
        assert_eq!(record.initial_branch(), Some("mngr/foo"));
        assert_eq!(record.project(), Some("p"));
        assert_eq!(record.tmux, TmuxGeometry::default());
        assert!(record.workspace.is_none());
    }
}
