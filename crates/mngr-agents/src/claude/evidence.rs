//! Proof that Claude Code took a message: its own `UserPromptSubmit` event, or what it wrote into its transcript, or for
//! commands into its list of what was submitted.

use serde_json::Value;

use crate::brand::CommandFate;
use crate::said::essence;

/// Why a message leaves the queue that is taken up in the middle of a turn.
const ABSORBED: &str = "absorbed_mid_turn";

/// What the transcript says became of a command. One that opens a dialog is not noted there.
pub(super) fn command_fate(appended: &str, text: &str) -> Option<CommandFate> {
    let name = text.split_whitespace().next().unwrap_or_default();
    let unknown = format!("Unknown command: {name}");
    // It may go on with what was meant: `Unknown command: /contxt. Did you mean /context?`
    let is_refusal = |said: &str| {
        let rest = said.strip_prefix(unknown.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ']))
    };
    let records = || appended.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    // What its menu made of it is listed in its place.
    let listed = records().find_map(|record| record["display"].as_str().map(str::to_owned));
    let chosen = listed.filter(|listed| listed.starts_with('/') && essence(listed) != essence(text));
    if let Some(other) = chosen {
        return Some(CommandFate::RanAs(other));
    }
    records()
        .filter(|record| matches!(record["type"].as_str(), Some("user" | "system")))
        .filter_map(|record| plain(&record["message"]["content"]).or_else(|| plain(&record["content"])))
        .find_map(|content| match content {
            _ if is_command(&content, text) => Some(CommandFate::Ran),
            _ if is_completed(&content, name) => Some(CommandFate::Ran),
            _ if is_refusal(content.trim()) => Some(CommandFate::Refused(content.trim().to_owned())),
            _ => None,
        })
}

/// Whether a line of the hook log or of the transcript shows that this text was taken.
pub(super) fn proves(appended: &str, text: &str) -> bool {
    let wanted = essence(text);
    appended.lines().any(|line| line_proves(line, text, &wanted))
}

fn line_proves(line: &str, text: &str, wanted: &str) -> bool {
    let (event, json) = match line.split_once(' ') {
        Some((event, json)) if event.chars().all(char::is_alphanumeric) => (Some(event), json),
        _ => (None, line),
    };
    let Ok(record) = serde_json::from_str::<Value>(json) else { return false };
    match event {
        Some("UserPromptSubmit") => record["prompt"].as_str().is_some_and(|prompt| essence(prompt) == wanted),
        Some(_) => false,
        None => transcript_proves(&record, text, wanted) || is_listed(&record, wanted),
    }
}

/// Whether the record is the line of the text in the list of what was submitted.
fn is_listed(record: &Value, wanted: &str) -> bool {
    record["display"].as_str().is_some_and(|display| essence(display) == wanted)
}

fn transcript_proves(record: &Value, text: &str, wanted: &str) -> bool {
    match record["type"].as_str() {
        // Typed while it was busy: taken, and answered after the turn.
        Some("queue-operation") => {
            let is_taken = record["operation"] == "enqueue" || record["reason"] == ABSORBED;
            is_taken && record["content"].as_str().is_some_and(|c| essence(c) == wanted)
        }
        // It was, and the model is told of it before the turn is over: there is no other record of it.
        Some("attachment") => record["attachment"]["prompt"].as_str().is_some_and(|p| essence(p) == wanted),
        Some("user" | "system") => {
            let content = plain(&record["message"]["content"])
                .or_else(|| plain(&record["content"]))
                .unwrap_or_default();
            essence(&content) == wanted || is_command(&content, text)
        }
        _ => false,
    }
}

/// A `/command` or `!command` is recorded in tags instead of as it was typed.
fn is_command(content: &str, text: &str) -> bool {
    if let Some(command) = text.strip_prefix('!') {
        let tagged = essence(&format!("<bash-input>{}</bash-input>", command.trim()));
        return essence(content).contains(&tagged);
    }
    let name = text.split_whitespace().next().unwrap_or_default();
    text.starts_with('/') && content.contains(&format!("<command-name>{name}</command-name>"))
}

/// Whether a command ran whose name begins like this one: the menu completes names.
fn is_completed(content: &str, name: &str) -> bool {
    content.contains(&format!("<command-name>{name}"))
}

pub(super) fn plain(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            Some(parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
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
    fn a_text_that_the_program_changed_on_the_way_is_the_same() {
        let typed = "cafe\u{301} ze\u{200b}ro \u{feff}mark";
        let line = "UserPromptSubmit {\"prompt\":\"caf\u{e9} zero mark\"}";
        assert!(proves(line, typed) && proves(line, "caf\u{e9} zero mark"));
        assert!(!proves(line, "cafe zero mark"));
    }

    #[test]
    fn a_message_that_was_taken_up_in_the_middle_of_a_turn_is_proved_and_one_taken_back_is_not() {
        let absorbed =
            r#"{"type":"queue-operation","operation":"remove","content":"now","reason":"absorbed_mid_turn"}"#;
        let told = r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"now"}}"#;
        assert!(proves(absorbed, "now") && proves(told, "now"));
        let back = r#"{"type":"queue-operation","operation":"remove","content":"now","reason":"edited"}"#;
        assert!(!proves(back, "now"));
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
        let refused = |said: &str| Some(CommandFate::Refused(said.to_owned()));
        assert_eq!(command_fate(unknown, "/nosuch thing"), refused("Unknown command: /nosuch"));
        assert_eq!(command_fate(unknown, "/nosu"), None);
        let meant = "Unknown command: /contxt. Did you mean /context?";
        let mistyped = format!(r#"{{"type":"system","content":"{meant}"}}"#);
        assert_eq!(command_fate(&mistyped, "/contxt"), refused(meant));
        assert_eq!(command_fate(listed, "/nosuch thing"), None);
        let completed = Some(CommandFate::RanAs("/context".to_owned()));
        assert_eq!(command_fate(r#"{"display":"/context"}"#, "/cont"), completed);
        assert_eq!(command_fate(ran, "/cont"), Some(CommandFate::Ran));
    }
}
