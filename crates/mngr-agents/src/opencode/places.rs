//! Where things lie in an agent's state folder. Only names: nothing is read or written here.

use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;

/// Everything of opencode, below the state folder.
pub(super) const FOLDER: &str = "plugin/opencode";
/// What our plugins note of its state, one event per line, below the state folder.
pub(super) const STATUS: &str = "plugin/opencode/status.jsonl";

/// The folder of everything of opencode.
pub(super) fn folder(agent: &AgentLayout) -> HostPath {
    agent.root().join(FOLDER)
}

/// What our plugin notes of the conversation, one event per line.
pub(super) fn transcript(agent: &AgentLayout) -> HostPath {
    folder(agent).join("transcript.jsonl")
}

/// The session of the agent's conversation, kept by our plugin.
pub(super) fn session(agent: &AgentLayout) -> HostPath {
    folder(agent).join("session")
}

/// opencode's own store of the conversation.
pub(super) fn database(agent: &AgentLayout) -> HostPath {
    folder(agent).join("opencode.db")
}
