//! From steps to `sh`.

use mngr_model::layout::AgentLayout;
use mngr_model::quote::sh_quote;
use mngr_model::{AgentName, HostPath};

use crate::scripted::script::Step;

const PLAYER: &str = include_str!("player.sh");

/// Where the script of an agent lies.
pub fn player_file(agent: &AgentLayout) -> HostPath {
    agent.commands().join("play.sh")
}

/// The script that plays these steps.
pub fn compile(steps: &[Step], name: &AgentName) -> String {
    let mut text = format!("#!/bin/sh\n# Written by mngr; changes are lost.\n{PLAYER}\nwhile :; do\n");
    for step in steps {
        text.push_str("    ");
        text.push_str(&call(step, name));
        text.push('\n');
    }
    text.push_str("    exit 0\ndone\n");
    text
}

fn call(step: &Step, name: &AgentName) -> String {
    let word = |text: &str| expand(text, name);
    match step {
        Step::Say(text) => format!("say {}", word(text)),
        Step::Read => "read_message END_OF_TURN".to_owned(),
        Step::Ask(question) => format!("ask {}", word(question)),
        Step::Write { path, text } => format!("write_file ./{} {}", word(path), word(text)),
        Step::Edit { path, text } => format!("edit_file ./{} {}", word(path), word(text)),
        Step::Commit(subject) => format!("commit {}", word(subject)),
        // In its own shell: its `exit` or `cd` must not end or move the player.
        Step::Run(command) => format!("sh -c {} || :", sh_quote(command)),
        Step::Spend { tokens, dollars } => format!("spend {tokens} {dollars}"),
        Step::Sleep(time) => format!("sleep {}", time.as_secs_f64()),
        Step::Hang => "hang".to_owned(),
        Step::Repeat => "continue".to_owned(),
        Step::Exit(code) => format!("exit {code}"),
        Step::Crash => "crash".to_owned(),
    }
}

/// One word for `sh` in which `{message}` is the last message and everything else is literal.
fn expand(text: &str, name: &AgentName) -> String {
    let text = text.replace("{name}", name.as_ref());
    let parts: Vec<String> = text
        .split("{message}")
        .map(|part| if part.is_empty() { String::new() } else { sh_quote(part).into_owned() })
        .collect();
    let joined = parts.join("\"$scripted_message\"");
    if joined.is_empty() { "''".to_owned() } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_placeholder_is_expanded() {
        let name: AgentName = "a1".parse().unwrap();
        assert_eq!(expand("{message}", &name), "\"$scripted_message\"");
        assert_eq!(expand("$(id) {message}", &name), "'$(id) '\"$scripted_message\"");
        assert_eq!(expand("", &name), "''");
        assert!(expand("{name}!", &name).contains("a1!"));
        let step = Step::Edit { path: "notes-{name}.txt".into(), text: "x".into() };
        assert_eq!(call(&step, &name), "edit_file ./notes-a1.txt x");
    }
}
