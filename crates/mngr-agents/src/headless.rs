//! Programs that run once, without a terminal: `headless_<type>` of a type whose manifest says how.
//!
//! Pure: words for a command line, and what the end of the program's own output says. The conversation itself is read
//! where every other agent of the brand keeps it.

use mngr_config::AgentTypeSettings;
use serde::Deserialize;
use serde_json::Value;

use crate::manifest::BuiltIn;

/// How the name of a type begins whose agents run without a terminal.
pub const PREFIX: &str = "headless_";

/// The setting that lets an agent run tools without asking.
const ALLOW_ALL: &str = "auto_allow_permissions";

/// The words that make a program do without a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Headless {
    /// Right behind the program.
    #[serde(default)]
    pub before: Vec<String>,
    /// Behind everything else.
    #[serde(default)]
    pub after: Vec<String>,
    /// Right behind `before` where every tool may be used, for programs that otherwise refuse instead of asking.
    #[serde(default)]
    pub when_all_is_allowed: Vec<String>,
    /// Whether it is of no use without something to read.
    #[serde(default)]
    pub needs_message: bool,
}

/// The built-in type that a headless type's name names.
pub fn named(name: &str) -> Option<BuiltIn> {
    let built_in = BuiltIn::named(name.strip_prefix(PREFIX)?)?;
    built_in.manifest().headless.map(|_| built_in)
}

impl Headless {
    /// The program's words with those around them; the settings of its type are nearest first.
    pub fn around(&self, mut words: Vec<String>, settings: &[AgentTypeSettings]) -> Vec<String> {
        let allows = settings.iter().find_map(|settings| settings.extra.get(ALLOW_ALL)?.as_bool());
        let allowed = self.when_all_is_allowed.iter().filter(|_| allows == Some(true));
        let at = words.len().min(1);
        words.splice(at..at, self.before.iter().chain(allowed).cloned());
        words.extend(self.after.iter().cloned());
        words
    }
}

/// What the end of a coding agent's own output says of the whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Its last word to the user.
    pub answer: Option<String>,
    /// Why it failed.
    pub failure: Option<String>,
}

impl Verdict {
    /// Reads the end of the output, of which the first line may be cut. A line that is no event is what a program says
    /// that did not get as far as having any.
    pub fn read(tail: &str) -> Self {
        let mut verdict = Self::default();
        let mut plain = None;
        for line in tail.lines().filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str::<Value>(line) {
                Ok(event @ Value::Object(_)) => verdict.heed(&event),
                _ if line.starts_with('{') => {}
                _ => plain = Some(line.to_owned()),
            }
        }
        verdict.failure = verdict.failure.or(plain);
        verdict
    }

    fn heed(&mut self, event: &Value) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let is_error = event.pointer("/is_error").and_then(Value::as_bool) == Some(true);
        match text("/type").as_deref() {
            // Claude Code's last event.
            Some("result") if is_error => {
                self.failure = text("/result").or_else(|| text("/errors/0")).or_else(|| text("/subtype"));
            }
            Some("result") => self.answer = text("/result"),
            // Codex's.
            Some("turn.failed") => self.failure = text("/error/message"),
            Some("item.completed") if text("/item/type").as_deref() == Some("agent_message") => {
                self.answer = text("/item/text");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn only_types_that_can_do_without_a_terminal_have_a_headless_form() {
        for name in ["claude", "codex", "command"] {
            assert_eq!(named(&format!("{PREFIX}{name}")).map(BuiltIn::name), Some(name));
        }
        for name in ["claude", "headless_scripted", "headless_nothing", "headless_"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn the_words_of_a_type_stand_between_those_that_take_the_terminal_away() {
        let codex = BuiltIn::Codex.manifest().headless.unwrap();
        assert_eq!(codex.around(words("codex -m x"), &[]), words("codex exec --json -m x -"));
        let allowing = toml::from_str("auto_allow_permissions = true").unwrap();
        let allowed = codex.around(words("codex"), &[allowing]);
        assert_eq!(allowed.len(), words("codex exec --json -").len() + codex.when_all_is_allowed.len());
        let denying = toml::from_str("auto_allow_permissions = false").unwrap();
        assert_eq!(codex.around(words("codex"), &[denying]), words("codex exec --json -"));
    }

    #[test]
    fn the_last_event_tells_how_it_went() {
        let cut = "lf of a line\"}\n{\"type\":\"system\"}\n";
        let read = |line: &str| Verdict::read(&format!("{{\"type\":\"x\", ha{cut}{line}\n"));
        let answered = Verdict { answer: Some("done".into()), failure: None };
        assert_eq!(read(r#"{"is_error":false,"result":"done","type":"result"}"#), answered);
        assert_eq!(
            read(r#"{"type":"item.completed","item":{"type":"agent_message","text":"done"}}"#),
            answered
        );
        for failed in [
            r#"{"type":"result","is_error":true,"result":"401"}"#,
            r#"{"type":"result","is_error":true,"subtype":"error_max_turns","errors":["401"]}"#,
            r#"{"type":"turn.failed","error":{"message":"401"}}"#,
            "401",
        ] {
            assert_eq!(read(failed).failure.as_deref(), Some("401"), "{failed}");
        }
    }
}
