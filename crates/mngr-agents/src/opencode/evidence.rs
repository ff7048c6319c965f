//! Proof that opencode took a message: the message in its own events, or the command it ran.
//!
//! A message that began a conversation counts once that is shown: until then the box is still that of the first page,
//! and what is typed next would go away with it. On a busy machine the box holds the text for as long.

use std::collections::HashSet;

use serde_json::Value;

use crate::said::essence;

/// Whether lines of our plugin's record show that this text was taken.
pub(super) fn proves(appended: &str, text: &str) -> bool {
    follow(appended, text).any(|(is_taken, is_page_due)| is_taken && !is_page_due)
}

/// Whether they show that it is being taken: it was, or it begins a conversation.
pub(super) fn is_taking(appended: &str, text: &str) -> bool {
    follow(appended, text).any(|(is_taken, is_page_due)| is_taken || is_page_due)
}

/// After each event: whether the text was taken, and whether a conversation was begun that is not shown.
fn follow(appended: &str, text: &str) -> impl Iterator<Item = (bool, bool)> {
    let mut evidence = Evidence { wanted: essence(text), ..Evidence::default() };
    // The newest line may be half-written.
    let events = appended.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.map(move |event| {
        evidence.add(&event);
        (evidence.is_taken, evidence.is_page_due)
    })
}

/// What is known after some events.
#[derive(Default)]
struct Evidence {
    /// The text.
    wanted: String,
    /// Messages of the user.
    said: HashSet<String>,
    /// Messages that opencode made in the user's name, to note that the user ran a command.
    made: HashSet<String>,
    /// Answers to those, which hold the command.
    ran: HashSet<String>,
    /// Whether the text was taken.
    is_taken: bool,
    /// Whether a conversation was begun that is not shown yet.
    is_page_due: bool,
}

impl Evidence {
    fn add(&mut self, event: &Value) {
        let properties = &event["properties"];
        let is_wanted = match event["type"].as_str() {
            Some("session.created") => {
                // Those of sub-agents are not shown.
                self.is_page_due |= text_in(&properties["info"], "parentID").is_empty();
                false
            }
            Some("tui.page") => {
                self.is_page_due = false;
                false
            }
            Some("message.updated") => {
                self.note(&properties["info"]);
                false
            }
            Some("message.part.updated") => self.is_wanted_part(&properties["part"]),
            // What a command says to the model is in its file, not in the text.
            Some("command.execute.before") => {
                let [name, words] = ["command", "arguments"].map(|key| text_in(properties, key));
                self.is_wanted(&format!("/{name} {words}"))
            }
            Some("tui.command") => self.is_wanted(text_in(properties, "text")),
            _ => false,
        };
        self.is_taken |= is_wanted;
    }

    fn note(&mut self, message: &Value) {
        let id = text_in(message, "id").to_owned();
        if text_in(message, "role") == "user" {
            self.said.insert(id);
            return;
        }
        if self.made.contains(text_in(message, "parentID")) {
            self.ran.insert(id);
        }
        // A turn that failed has no last step.
        self.is_page_due &= message["error"].is_null();
    }

    fn is_wanted_part(&mut self, part: &Value) -> bool {
        let message = text_in(part, "messageID");
        match text_in(part, "type") {
            // Another version may not tell which page it shows. It has shown the conversation by then.
            "step-finish" => {
                self.is_page_due = false;
                false
            }
            // An answer may repeat the text; only what the user said counts.
            "text" if self.said.contains(message) => {
                if part["synthetic"] == true {
                    self.made.insert(message.to_owned());
                    return false;
                }
                self.is_wanted(text_in(part, "text"))
            }
            "tool" if self.ran.contains(message) => {
                self.is_wanted(&format!("!{}", text_in(&part["state"]["input"], "command")))
            }
            _ => false,
        }
    }

    fn is_wanted(&self, text: &str) -> bool {
        essence(text) == self.wanted
    }
}

fn text_in<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str) -> String {
        format!(r#"{{"type":"message.updated","properties":{{"info":{{"id":"m","role":"{role}"}}}}}}"#)
    }

    #[test]
    fn the_exact_text_of_the_user_is_proof_and_an_answer_is_not() {
        let part = r#"{"type":"message.part.updated","properties":{"part":{"messageID":"m","type":"text","text":"do this\n\tand that "}}}"#;
        let taken = format!("{}\n{part}", message("user"));
        assert!(proves(&taken, "do this\n    and that") && !proves(&taken, "do this"));
        assert!(!proves(&format!("{}\n{part}", message("assistant")), "do this and that"));
        assert!(!proves(&taken[..taken.len() - 20], "do this and that"));
    }

    #[test]
    fn a_message_that_began_a_conversation_counts_once_that_is_shown() {
        let part = r#"{"type":"message.part.updated","properties":{"part":{"messageID":"m","type":"text","text":"hello"}}}"#;
        let begun = |parent: &str| {
            let created =
                format!(r#"{{"type":"session.created","properties":{{"info":{{"id":"s"{parent}}}}}}}"#);
            format!("{created}\n{}\n{part}", message("user"))
        };
        let ended =
            r#"{"type":"message.part.updated","properties":{"part":{"messageID":"n","type":"step-finish"}}}"#;
        let shown = r#"{"type":"tui.page","properties":{"sessionID":"s"}}"#;
        let failed = r#"{"type":"message.updated","properties":{"info":{"id":"n","role":"assistant","error":{"name":"APIError"}}}}"#;
        assert!(!proves(&begun(""), "hello") && is_taking(&begun(""), "hello"));
        assert!(is_taking(begun("").lines().next().unwrap(), "hello") && !is_taking("", "hello"));
        assert!(proves(&format!("{}\n{failed}", begun("")), "hello"));
        assert!(proves(&format!("{}\n{shown}", begun("")), "hello"));
        assert!(proves(&format!("{}\n{ended}", begun("")), "hello"));
        assert!(proves(&begun(r#","parentID":"p""#), "hello"));
    }

    #[test]
    fn a_shell_command_of_the_user_is_proof_and_one_of_the_model_is_not() {
        let run = |made: &str| {
            [
                message("user"),
                format!(r#"{{"type":"message.part.updated","properties":{{"part":{{"messageID":"m","type":"text","text":"t"{made}}}}}}}"#),
                r#"{"type":"message.updated","properties":{"info":{"id":"n","role":"assistant","parentID":"m"}}}"#.to_owned(),
                r#"{"type":"message.part.updated","properties":{"part":{"messageID":"n","type":"tool","state":{"input":{"command":"ls -l"}}}}}"#.to_owned(),
            ]
            .join("\n")
        };
        assert!(
            proves(&run(r#","synthetic":true"#), "!ls -l") && !proves(&run(r#","synthetic":true"#), "!ls")
        );
        assert!(!proves(&run(""), "!ls -l"));
    }

    #[test]
    fn a_command_is_proved_by_its_name_and_words() {
        let run =
            r#"{"type":"command.execute.before","properties":{"command":"greet","arguments":"Bob  twice"}}"#;
        assert!(proves(run, "/greet Bob twice") && !proves(run, "/greet Bob"));
        let bare = r#"{"type":"command.execute.before","properties":{"command":"init","arguments":""}}"#;
        assert!(proves(bare, "/init"));
        let own = r#"{"type":"tui.command","properties":{"text":"/compact"}}"#;
        assert!(proves(own, "/compact") && !proves(own, "/comp"));
    }
}
