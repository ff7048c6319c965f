//! Proof that Codex took a message: its own `UserPromptSubmit` event, or its list of what was submitted. It lists no
//! commands: those are proved by what they do, as far as that is recorded.

use serde::Deserialize;

use crate::brand::CommandFate;
use crate::said::essence;

/// A line of the hook log or of the history.
#[derive(Deserialize)]
struct Submitted {
    /// In an event.
    prompt: Option<String>,
    /// In the history.
    text: Option<String>,
    /// In an event of a sub-agent: what that was told is no message to the agent.
    agent_id: Option<String>,
}

/// A line of the rollout, or of the list of conversations.
#[derive(Deserialize)]
struct Effect {
    /// In the rollout.
    payload: Option<Kind>,
    /// In the list.
    thread_name: Option<String>,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// What became of a command, by what it does: it begins a turn (`/compact`, `/init`, a prompt of the user's), begins a
/// conversation (`/new`), or names it (`/rename`).
pub(super) fn command_fate(appended: &str, text: &str) -> Option<CommandFate> {
    appended.lines().any(|line| is_effect(line, text)).then_some(CommandFate::Ran)
}

fn is_effect(line: &str, text: &str) -> bool {
    if let Some(("SessionStart" | "UserPromptSubmit", event)) = line.split_once(' ') {
        return serde_json::from_str::<Submitted>(event).is_ok_and(|event| event.agent_id.is_none());
    }
    let Ok(effect) = serde_json::from_str::<Effect>(line) else { return false };
    let begins_turn = effect.payload.and_then(|payload| payload.kind).as_deref() == Some("task_started");
    let named = effect.thread_name.as_deref().map(str::trim);
    begins_turn || named.is_some() && named == text.strip_prefix("/rename").map(str::trim)
}

/// Whether a line of the hook log or of the history shows that this text was taken.
pub(super) fn proves(appended: &str, text: &str) -> bool {
    let wanted = essence(text);
    appended.lines().any(|line| submitted_in(line).is_some_and(|submitted| essence(&submitted) == wanted))
}

fn submitted_in(line: &str) -> Option<String> {
    match line.split_once(' ') {
        Some(("UserPromptSubmit", event)) => {
            let event = serde_json::from_str::<Submitted>(event).ok()?;
            event.prompt.filter(|_| event.agent_id.is_none())
        }
        _ => serde_json::from_str::<Submitted>(line).ok()?.text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_text_is_proved_by_event_and_history() {
        let text = "do this\n\tand that";
        for line in [
            r#"UserPromptSubmit {"session_id":"s","prompt":"do this\n\tand that"}"#,
            r#"{"session_id":"s","ts":1,"text":"do this\n    and that"}"#,
        ] {
            assert!(proves(line, text), "{line}");
            assert!(!proves(line, "do this"), "{line}");
        }
        assert!(!proves(r#"Stop {"prompt":"do this\n\tand that"}"#, text));
        assert!(!proves(r#"UserPromptSubmit {"prompt":"do thi"#, text));
        let to_another = r#"UserPromptSubmit {"agent_id":"b","prompt":"do this\n\tand that"}"#;
        assert!(!proves(to_another, text), "a sub-agent was told so");
    }

    #[test]
    fn a_command_is_proved_by_what_it_does() {
        let turn = r#"{"timestamp":"t","type":"event_msg","payload":{"type":"task_started"}}"#;
        let name = r#"{"id":"i","thread_name":"heron","updated_at":"t"}"#;
        assert_eq!(command_fate(turn, "/compact"), Some(CommandFate::Ran));
        assert_eq!(command_fate("SessionStart {}", "/new"), Some(CommandFate::Ran));
        assert_eq!(command_fate(name, "/rename heron"), Some(CommandFate::Ran));
        assert_eq!(command_fate(name, "/rename egret"), None);
        assert_eq!(command_fate("Stop {}\n{\"payload\":{\"type\":\"token_count\"}}", "/compact"), None);
    }

    #[test]
    fn a_shell_command_is_proved_by_the_history() {
        assert!(proves(r#"{"session_id":"s","ts":1,"text":"!ls -l"}"#, "!ls -l"));
    }
}
