//! Where things lie in an agent's state folder. Only names: nothing is read or written here.

use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;

/// The agent's own `CODEX_HOME`, below the state folder.
pub(super) const HOME: &str = "plugin/codex/home";
/// A link to the rollout of the agent's conversation, kept by its hooks.
pub(super) const ROLLOUT: &str = "plugin/codex/rollout";
/// The thread of the agent's conversation, kept by its hooks.
pub(super) const THREAD: &str = "plugin/codex/thread";
/// Codex makes a lock here for every conversation it has opened: then it takes messages.
pub(super) const LOCKS: &str = "plugin/codex/home/thread-writer-locks";

/// What its hooks report, one event per line.
pub(super) fn hook_log(agent: &AgentLayout) -> HostPath {
    agent.events().join("codex/hooks.log")
}

/// Codex's own list of everything that was submitted to it.
pub(super) fn history(agent: &AgentLayout) -> HostPath {
    agent.root().join(HOME).join("history.jsonl")
}
