//! What the model says, before it is put into a wire format.

use std::time::Duration;

use serde_json::Value;

use super::conversation::{Conversation, Turn};
use super::scenario::Scenario;
use super::tools::{self, Permission};

/// How much of a message is repeated to the user.
const ECHO_CHARS: usize = 200;
/// How many words a slow answer has.
const SLOW_WORDS: usize = 200;
/// The pause between two words of thinking.
const THINKING_PACE: Duration = Duration::from_millis(100);

/// The tokens that one answer is said to have cost. Only the output depends on the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read that no cache held.
    pub input: u64,
    /// Tokens written to the cache; only the Messages format can tell.
    pub cache_write: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written: one for each word of text or thinking, and one for each tool call.
    pub output: u64,
}

/// One thing that the model says or does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Thinking(String),
    Text(String),
    Call(ToolCall),
}

/// A tool of the agent that the model wants to use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) input: Value,
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Complete,
    /// In the middle, without a word.
    Dropped,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    RateLimited,
    LimitReached,
    Overloaded,
    Failed,
    Invalid,
    Unauthorized,
}

/// What is said, how fast, and how it ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Speech {
    pub(super) parts: Vec<Part>,
    /// The pause before each word.
    pub(super) pace: Duration,
    pub(super) ending: Ending,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Speech(Speech),
    Refusal(Refusal),
}

impl Speech {
    fn of(parts: Vec<Part>) -> Self {
        Self { parts, pace: Duration::ZERO, ending: Ending::Complete }
    }

    fn text(text: impl Into<String>) -> Self {
        Self::of(vec![Part::Text(text.into())])
    }

    /// What it costs.
    pub(super) fn usage(&self) -> Usage {
        let tokens = |part: &Part| match part {
            Part::Thinking(text) | Part::Text(text) => words(text).count() as u64,
            Part::Call(_) => 1,
        };
        Usage { input: 10, cache_write: 200, cache_read: 3000, output: self.parts.iter().map(tokens).sum() }
    }

    /// Whether the agent has to do something before the model can go on.
    pub(super) fn calls_a_tool(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call(_)))
    }
}

/// The pieces in which a text is streamed; together they are the text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

impl Answer {
    /// What the model does in `scenario` at this point of the conversation.
    pub(super) fn to(conversation: &Conversation, scenario: &Scenario) -> Self {
        match &conversation.turn {
            Turn::ToolResult(result) if !conversation.is_beside() => {
                Self::Speech(Speech::text(format!("The tool said: {}", beginning(result))))
            }
            _ => Self::step(conversation, scenario),
        }
    }

    /// The same as a step of a play, which what a tool said does not end.
    pub(super) fn step(conversation: &Conversation, scenario: &Scenario) -> Self {
        let said = match &conversation.turn {
            // Titles, summaries and checks of the connection are never part of a scenario.
            _ if conversation.is_beside() => return Self::Speech(Speech::text("A small matter")),
            Turn::ToolResult(result) => result.clone(),
            Turn::User(said) => said.join("\n"),
        };
        let call = |call: Option<ToolCall>, otherwise: &str| match call {
            Some(call) => Speech::of(vec![Part::Text("Let me see.".into()), Part::Call(call)]),
            None => Speech::text(otherwise),
        };
        Self::Speech(match scenario {
            Scenario::RateLimited => return Self::Refusal(Refusal::RateLimited),
            Scenario::LimitReached => return Self::Refusal(Refusal::LimitReached),
            Scenario::Overloaded => return Self::Refusal(Refusal::Overloaded),
            Scenario::Failed => return Self::Refusal(Refusal::Failed),
            Scenario::Invalid => return Self::Refusal(Refusal::Invalid),
            Scenario::Unauthorized => return Self::Refusal(Refusal::Unauthorized),
            Scenario::Echo => Speech::text(format!("You said: {}", beginning(&said))),
            Scenario::Tool { command } => {
                call(tools::shell(&conversation.tools, command, Permission::Asked), "I have no shell.")
            }
            Scenario::SafeTool { command } => {
                call(tools::shell(&conversation.tools, command, Permission::NotNeeded), "I have no shell.")
            }
            Scenario::Call { tool, input } => {
                call(tools::named(&conversation.tools, tool, input), "I have no such tool.")
            }
            Scenario::Ask => call(tools::question(&conversation.tools), "Which colour do you want?"),
            Scenario::Think(time) => {
                let thoughts = time.as_millis().div_ceil(THINKING_PACE.as_millis()).max(1) as usize;
                let parts = vec![
                    Part::Thinking(vec!["hmm"; thoughts].join(" ")),
                    Part::Text("I have thought about it.".into()),
                ];
                Speech { pace: THINKING_PACE, ..Speech::of(parts) }
            }
            Scenario::Slow(pace) => {
                let count = |number: usize| number.to_string();
                let words: Vec<String> = (1..=SLOW_WORDS).map(count).collect();
                Speech { pace: *pace, ..Speech::text(words.join(" ")) }
            }
            Scenario::Dropped => {
                Speech { ending: Ending::Dropped, ..Speech::text("This will never be finished, will it?") }
            }
        })
    }
}

fn beginning(text: &str) -> String {
    text.trim().chars().take(ECHO_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(text: &str) -> Conversation {
        let turn = Turn::User(vec![text.into()]);
        Conversation { turn, tools: vec!["Bash".into()], streamed: true, answers: 0 }
    }

    fn speech(answer: Answer) -> Speech {
        match answer {
            Answer::Speech(speech) => speech,
            Answer::Refusal(refusal) => panic!("refused: {refusal:?}"),
        }
    }

    #[test]
    fn an_echo_costs_one_token_a_word() {
        let speech = speech(Answer::to(&asked("one two"), &Scenario::Echo));
        assert_eq!(speech.parts, [Part::Text("You said: one two".into())]);
        assert_eq!(speech.usage().output, 4);
    }

    #[test]
    fn a_long_message_is_not_repeated_whole() {
        let speech = speech(Answer::to(&asked(&"x".repeat(50_000)), &Scenario::Echo));
        assert_eq!(speech.parts, [Part::Text(format!("You said: {}", "x".repeat(ECHO_CHARS)))]);
    }

    #[test]
    fn a_tool_result_ends_the_turn_in_every_scenario() {
        let conversation = Conversation { turn: Turn::ToolResult("done".into()), ..asked("") };
        let tool = Scenario::Tool { command: "true".into() };
        for scenario in [tool, Scenario::RateLimited, Scenario::Ask] {
            let speech = speech(Answer::to(&conversation, &scenario));
            assert_eq!(speech.parts, [Part::Text("The tool said: done".into())]);
        }
    }

    #[test]
    fn a_step_of_a_play_follows_what_a_tool_said() {
        let conversation = Conversation { turn: Turn::ToolResult("done".into()), ..asked("") };
        let call = Scenario::Call { tool: "Bash".into(), input: json!({"command": "ls"}) };
        let parts = speech(Answer::step(&conversation, &call)).parts;
        let called = ToolCall { name: "Bash".into(), input: json!({"command": "ls"}) };
        assert_eq!(parts[1], Part::Call(called));
        let missing = Scenario::Call { tool: "Fly".into(), input: Value::Null };
        assert!(!speech(Answer::step(&conversation, &missing)).calls_a_tool());
        let beside = Conversation { tools: Vec::new(), ..conversation };
        assert!(!speech(Answer::step(&beside, &call)).calls_a_tool());
    }

    #[test]
    fn a_request_without_tools_is_answered_at_once_in_every_scenario() {
        let conversation = Conversation { tools: Vec::new(), ..asked("[[429]]") };
        for scenario in [Scenario::RateLimited, Scenario::Slow(Duration::from_secs(9)), Scenario::Dropped] {
            let speech = speech(Answer::to(&conversation, &scenario));
            assert_eq!((speech.pace, speech.ending), (Duration::ZERO, Ending::Complete));
        }
    }

    #[test]
    fn thinking_lasts_as_long_as_it_was_told() {
        let speech = speech(Answer::to(&asked(""), &Scenario::Think(Duration::from_secs(3))));
        let Part::Thinking(thoughts) = &speech.parts[0] else { panic!("no thinking in {speech:?}") };
        assert_eq!(words(thoughts).count() as u32 * speech.pace, Duration::from_secs(3));
    }

    #[test]
    fn refusals_are_refusals() {
        let refused = |scenario| Answer::to(&asked(""), &scenario);
        assert_eq!(refused(Scenario::RateLimited), Answer::Refusal(Refusal::RateLimited));
        assert_eq!(refused(Scenario::LimitReached), Answer::Refusal(Refusal::LimitReached));
        assert_eq!(refused(Scenario::Overloaded), Answer::Refusal(Refusal::Overloaded));
        assert_eq!(refused(Scenario::Unauthorized), Answer::Refusal(Refusal::Unauthorized));
    }
}
