//! Where things lie in an agent's state folder. Only names: nothing is read or written here.

use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;

/// The agent's own `CODEX_HOME`, below the state folder.
pub(super) const HOME: &str = "plugin/codex/home";
/// A link to the rollout of the agent's conversation, kept by its hooks.
pub(crate) const ROLLOUT: &str = "plugin/codex/rollout";
/// The thread of the agent's conversation, kept by its hooks.
pub(crate) const THREAD: &str = "plugin/codex/thread";
/// The rollouts of all its conversations, in folders by day, below the state folder.
pub(crate) const SESSIONS: &str = "plugin/codex/home/sessions";
/// Codex makes a lock here for every conversation it has opened: then it takes messages.
pub(super) const LOCKS: &str = "plugin/codex/home/thread-writer-locks";

/// Where its app server answers, below the state folder.
pub(super) const SOCKET: &str = "plugin/codex/server.sock";

/// What its hooks report, one event per line.
pub(super) fn hook_log(agent: &AgentLayout) -> HostPath {
    agent.events().join("codex/hooks.log")
}

/// Codex's own list of everything that was submitted to it.
pub(super) fn history(agent: &AgentLayout) -> HostPath {
    agent.root().join(HOME).join("history.jsonl")
}

/// Codex's list of the names that conversations were given.
pub(super) fn names(agent: &AgentLayout) -> HostPath {
    agent.root().join(HOME).join("session_index.jsonl")
}

/// The thread whose rollout this is: `rollout-<time>-<thread>.jsonl`.
pub(crate) fn thread_of_rollout(path: &HostPath) -> Option<&str> {
    let name = path.file_name()?.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    let (_, thread) = name.split_at_checked(name.len().checked_sub(36)?)?;
    is_thread(thread).then_some(thread)
}

/// Whether this can be the id of a thread.
pub(super) fn is_thread(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Where a rollout belongs, below the folder of all of them: by the day in its name. A file that the user has called
/// something else gets a name Codex finds by its thread.
pub(crate) fn rollout_place(path: &HostPath, thread: &str) -> String {
    let name = path.file_name().filter(|_| thread_of_rollout(path) == Some(thread));
    let name = name.map_or_else(|| format!("rollout-1970-01-01T00-00-00-{thread}.jsonl"), str::to_owned);
    let mut day = name.trim_start_matches("rollout-").splitn(3, '-');
    let mut part = |length: usize| {
        let digits = day.next().and_then(|part| part.get(..length));
        // The name may be somebody else's, and these become folders.
        digits.filter(|part| part.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or("00").to_owned()
    };
    format!("{}/{}/{}/{name}", part(4), part(2), part(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_is_known_by_its_thread_and_lies_in_the_folder_of_its_day() {
        let thread = "01a1df30-02d5-7030-b8fb-7ba2773cd87c";
        let name = format!("rollout-2026-11-15T12-30-28-{thread}.jsonl");
        let path = HostPath::new("/x").join(&name);
        assert_eq!(thread_of_rollout(&path), Some(thread));
        assert_eq!(rollout_place(&path, thread), format!("2026/11/15/{name}"));
        let elsewhere = format!("rollout-....-..-..T12-30-28-{thread}.jsonl");
        let place = rollout_place(&HostPath::new("/x").join(&elsewhere), thread);
        assert_eq!(place, format!("00/00/00/{elsewhere}"));
        let renamed = HostPath::new("/x/talk.jsonl");
        assert_eq!(thread_of_rollout(&renamed), None);
        assert_eq!(
            rollout_place(&renamed, thread),
            format!("1970/01/01/rollout-1970-01-01T00-00-00-{thread}.jsonl")
        );
        assert_eq!(thread_of_rollout(&HostPath::new("/x/rollout-é.jsonl")), None);
    }
}
