//! Proof that Codex took a message: its own `UserPromptSubmit` event, or its list of what was submitted.

use serde::Deserialize;

/// A line of the hook log or of the history.
#[derive(Deserialize)]
struct Submitted {
    /// In an event.
    prompt: Option<String>,
    /// In the history.
    text: Option<String>,
}

/// Whether a line of the hook log or of the history shows that this text was taken.
pub(super) fn proves(appended: &str, text: &str) -> bool {
    let wanted = squeeze(text);
    appended.lines().any(|line| submitted_in(line).is_some_and(|submitted| squeeze(&submitted) == wanted))
}

fn submitted_in(line: &str) -> Option<String> {
    match line.split_once(' ') {
        Some(("UserPromptSubmit", event)) => serde_json::from_str::<Submitted>(event).ok()?.prompt,
        _ => serde_json::from_str::<Submitted>(line).ok()?.text,
    }
}

/// The terminal may change white space (tabs, line ends); nothing else.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
    }

    #[test]
    fn a_shell_command_is_proved_by_the_history() {
        assert!(proves(r#"{"session_id":"s","ts":1,"text":"!ls -l"}"#, "!ls -l"));
    }
}
