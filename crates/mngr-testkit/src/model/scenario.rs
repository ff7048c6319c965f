//! What the model does with a message, and the words in a message that choose it.

use std::time::Duration;

use serde_json::Value;

/// What the model does when it is asked.
///
/// A message chooses one by its word in double square brackets, with an argument where one is named below:
/// `please wait [[slow 50]]`. The first such word of a message counts, and one that is none of these does not.
/// Once the agent has sent back what a tool said, the model ends the turn with a short text, whatever the
/// scenario; only a [play](super::ModelServer::rehearse) goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// `[[echo]]`: repeats the beginning of the message.
    Echo,
    /// `[[tool COMMAND]]`: runs a shell command that the agent asks the user about.
    Tool {
        /// The command; a file `made-by-the-model` is created unless one is named.
        command: String,
    },
    /// `[[safe-tool COMMAND]]`: runs a shell command that no agent asks about.
    SafeTool {
        /// The command; it prints a word unless one is named.
        command: String,
    },
    /// Uses a tool of the agent under the agent's own name for it; no word chooses this.
    Call {
        /// The name.
        tool: String,
        /// What the tool is given.
        input: Value,
    },
    /// `[[think MILLISECONDS]]`: thinks aloud for this time, ten seconds unless told, before it answers.
    Think(Duration),
    /// `[[slow MILLISECONDS]]`: a long text with this pause before each word, 100 unless told.
    Slow(Duration),
    /// `[[ask]]`: asks the user a question with the agent's tool for that; plain text where it has none.
    Ask,
    /// `[[429]]`: refuses because of a rate limit that is over in a second.
    RateLimited,
    /// `[[limit]]`: refuses because what the subscription allows is used up for hours.
    LimitReached,
    /// `[[529]]`: refuses because of too much load.
    Overloaded,
    /// `[[500]]`: fails.
    Failed,
    /// `[[400]]`: refuses the request itself.
    Invalid,
    /// `[[401]]`: refuses the credentials.
    Unauthorized,
    /// `[[drop]]`: hangs up in the middle of the answer.
    Dropped,
}

impl Scenario {
    /// The scenario that a message chooses, if it does.
    pub fn in_message(text: &str) -> Option<Self> {
        text.split("[[")
            .skip(1)
            .filter_map(|rest| rest.split_once("]]"))
            .find_map(|(word, _)| Self::from_word(word))
    }

    fn from_word(word: &str) -> Option<Self> {
        let (name, argument) = match word.trim().split_once(char::is_whitespace) {
            Some((name, argument)) => (name, Some(argument.trim())),
            None => (word.trim(), None),
        };
        let millis = |default| match argument {
            Some(text) => text.parse().map(Duration::from_millis).ok(),
            None => Some(Duration::from_millis(default)),
        };
        let command = |default: &str| argument.unwrap_or(default).to_owned();
        Some(match name {
            "echo" => Self::Echo,
            "tool" => Self::Tool { command: command("touch made-by-the-model") },
            "safe-tool" => Self::SafeTool { command: command("echo harmless") },
            "think" => Self::Think(millis(10_000)?),
            "slow" => Self::Slow(millis(100)?),
            "ask" => Self::Ask,
            "429" => Self::RateLimited,
            "limit" => Self::LimitReached,
            "529" => Self::Overloaded,
            "500" => Self::Failed,
            "400" => Self::Invalid,
            "401" => Self::Unauthorized,
            "drop" => Self::Dropped,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_brackets_chooses_and_takes_an_argument() {
        let chosen = |text| Scenario::in_message(text);
        assert_eq!(chosen("go on [[echo]]"), Some(Scenario::Echo));
        assert_eq!(chosen("[[ slow  7 ]] then"), Some(Scenario::Slow(Duration::from_millis(7))));
        assert_eq!(chosen("[[think]]"), Some(Scenario::Think(Duration::from_secs(10))));
        let command = "sh -c 'exit 3'".to_owned();
        assert_eq!(chosen("a [[tool sh -c 'exit 3']] b"), Some(Scenario::Tool { command }));
        assert_eq!(chosen("[[401]] [[429]]"), Some(Scenario::Unauthorized));
    }

    #[test]
    fn what_is_no_scenario_is_passed_over() {
        for text in ["hello", "", "[[nothing]]", "[[echo", "[echo]", "[[slow soon]]", "if [[ -f x ]]; then"] {
            assert_eq!(Scenario::in_message(text), None, "{text:?}");
        }
        assert_eq!(Scenario::in_message("[[ -f x ]] [[ask]]"), Some(Scenario::Ask));
    }
}
