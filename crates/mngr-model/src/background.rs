//! What an agent has going on beside its turns: sub-agents, background shells, wake-ups it has scheduled.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Something an agent started that goes on while no turn of its own does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundTask {
    /// What its program calls it.
    pub id: String,
    /// `subagent`, `shell`, or another word of its program.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is for, as the agent said. Untrusted text.
    pub description: String,
    /// Since when it lives, where that is known.
    pub since: Option<Timestamp>,
}

impl BackgroundTask {
    /// The word for another agent that works for this one.
    pub const SUBAGENT: &str = "subagent";
    /// The word for a command that runs on.
    pub const SHELL: &str = "shell";

    /// Whether it asks a model itself, and so comes to an end of its own; a command may run for good.
    pub fn is_agent(&self) -> bool {
        matches!(self.kind.as_str(), Self::SUBAGENT | "workflow" | "teammate")
    }
}

/// A time at which an agent will begin a turn without being asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeUp {
    /// What its program calls it.
    pub id: String,
    /// When next, where that can be told.
    pub at: Option<Timestamp>,
    /// The schedule in the words of its program.
    pub schedule: String,
    /// Whether it comes again after that.
    pub is_recurring: bool,
    /// What the agent will be told. Untrusted text.
    pub prompt: String,
}

/// Background work in a few words, as in `2 shells, 1 subagent`.
pub fn summary(tasks: &[BackgroundTask]) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for task in tasks {
        match kinds.iter_mut().find(|(kind, _)| *kind == task.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&task.kind, 1)),
        }
    }
    let words = kinds.iter().map(|(kind, count)| match count {
        1 => format!("1 {kind}"),
        _ => format!("{count} {kind}s"),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_each_kind_in_the_order_of_its_first() {
        let task = |kind: &str| BackgroundTask {
            id: "t".into(),
            kind: kind.into(),
            description: String::new(),
            since: None,
        };
        assert_eq!(summary(&[]), "");
        assert_eq!(summary(&[task("shell"), task("subagent"), task("shell")]), "2 shells, 1 subagent");
        assert!(task("subagent").is_agent() && !task("shell").is_agent() && !task("monitor").is_agent());
    }
}
