//! Proof that Claude Code took a message: its own `UserPromptSubmit` event, or what it wrote into its transcript, or for
//! commands into its list of what was submitted.

use serde_json::Value;

use crate::brand::CommandFate;

/// What the transcript says became of a command. One that opens a dialog is not noted there.
pub(super) fn command_fate(appended: &str, text: &str) -> Option<CommandFate> {
    let name = text.split_whitespace().next().unwrap_or_default();
    let unknown = format!("Unknown command: {name}");
    let records = appended.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records
        .filter(|record| matches!(record["type"].as_str(), Some("user" | "system")))
        .filter_map(|record| plain(&record["message"]["content"]).or_else(|| plain(&record["content"])))
        .find_map(|content| match content {
            _ if is_command(&content, text) => Some(CommandFate::Ran),
            _ if content.trim() == unknown => Some(CommandFate::Refused),
            _ => None,
        })
}

/// Whether a line of the hook log or of the transcript shows that this text was taken.
pub(super) fn proves(appended: &str, text: &str) -> bool {
    let wanted = squeeze(text);
    appended.lines().any(|line| line_proves(line, text, &wanted))
}

fn line_proves(line: &str, text: &str, wanted: &str) -> bool {
    let (event, json) = match line.split_once(' ') {
        Some((event, json)) if event.chars().all(char::is_alphanumeric) => (Some(event), json),
        _ => (None, line),
    };
    let Ok(record) = serde_json::from_str::<Value>(json) else { return false };
    match event {
        Some("UserPromptSubmit") => record["prompt"].as_str().is_some_and(|prompt| squeeze(prompt) == wanted),
        Some(_) => false,
        None => transcript_proves(&record, text, wanted) || is_listed(&record, wanted),
    }
}

/// Whether the record is the line of the text in the list of what was submitted.
fn is_listed(record: &Value, wanted: &str) -> bool {
    record["display"].as_str().is_some_and(|display| squeeze(display) == wanted)
}

fn transcript_proves(record: &Value, text: &str, wanted: &str) -> bool {
    match record["type"].as_str() {
        // Typed while it was busy: taken, and answered after the turn.
        Some("queue-operation") => {
            record["operation"] == "enqueue"
                && record["content"].as_str().is_some_and(|c| squeeze(c) == wanted)
        }
        Some("user" | "system") => {
            let content = plain(&record["message"]["content"])
                .or_else(|| plain(&record["content"]))
                .unwrap_or_default();
            squeeze(&content) == wanted || is_command(&content, text)
        }
        _ => false,
    }
}

/// A `/command` or `!command` is recorded in tags instead of as it was typed.
fn is_command(content: &str, text: &str) -> bool {
    if let Some(command) = text.strip_prefix('!') {
        return content.contains(&format!("<bash-input>{}</bash-input>", command.trim()));
    }
    let name = text.split_whitespace().next().unwrap_or_default();
    text.starts_with('/') && content.contains(&format!("<command-name>{name}</command-name>"))
}

fn plain(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            Some(parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"))
        }
        _ => None,
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
    fn the_exact_text_is_proved_by_event_queue_and_record() {
        let text = "do this\n\tand that";
        for line in [
            r#"UserPromptSubmit {"prompt":"do this\n\tand that"}"#,
            r#"{"type":"queue-operation","operation":"enqueue","content":"do this\n    and that"}"#,
            r#"{"type":"user","message":{"role":"user","content":"do this\n\tand that"}}"#,
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"do this\n\tand that"}]}}"#,
        ] {
            assert!(proves(line, text), "{line}");
            assert!(!proves(line, "do this"), "{line}");
        }
        assert!(!proves(r#"Stop {"prompt":"do this\n\tand that"}"#, text));
        assert!(!proves(r#"UserPromptSubmit {"prompt":"do thi"#, text));
    }

    #[test]
    fn commands_are_proved_by_their_tags() {
        let slash = r#"{"type":"user","message":{"content":"<command-name>/clear</command-name>\n<command-args></command-args>"}}"#;
        assert!(proves(slash, "/clear") && !proves(slash, "/cle"));
        let shell = r#"{"type":"user","message":{"content":"<bash-input>ls -l</bash-input>"}}"#;
        assert!(proves(shell, "!ls -l") && !proves(shell, "!ls"));
        let listed =
            r#"{"display":"/model","pastedContents":{},"timestamp":1,"project":"/w","sessionId":"s"}"#;
        assert!(proves(listed, "/model") && !proves(listed, "/mod"));
    }

    #[test]
    fn what_became_of_a_command_is_told_by_the_transcript_alone() {
        let ran = r#"{"type":"system","content":"<command-name>/context</command-name>"}"#;
        let unknown = r#"{"type":"system","subtype":"informational","content":"Unknown command: /nosuch"}"#;
        let listed = r#"{"display":"/nosuch thing"}"#;
        assert_eq!(command_fate(ran, "/context"), Some(CommandFate::Ran));
        assert_eq!(command_fate(unknown, "/nosuch thing"), Some(CommandFate::Refused));
        assert_eq!(command_fate(unknown, "/nosu"), None);
        assert_eq!(command_fate(listed, "/nosuch thing"), None);
    }
}
