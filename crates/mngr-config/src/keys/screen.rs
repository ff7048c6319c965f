//! `[agent_types.<name>.screen.<rule>]` and its neighbours: what a type's terminal shows, how text gets into it, and how
//! that is proved. The built-in types are described in the same words.
//!
//! Only the words are here. What follows from them is decided by those who look at terminals.

use super::duration::DurationSetting;
use crate::declare::{choice, ruled_text, settings_table};

ruled_text! {
    /// A regular expression that parses.
    pub struct Pattern, "a regular expression", check_pattern
}

/// Parsing only: to compile takes longer, and most commands look at no screen.
fn check_pattern(text: &str) -> Result<(), String> {
    regex_syntax::Parser::new().parse(text).map(drop).map_err(|error| match error {
        regex_syntax::Error::Parse(error) => {
            format!("{} at character {}", error.kind(), error.span().start.column)
        }
        regex_syntax::Error::Translate(error) => {
            format!("{} at character {}", error.kind(), error.span().start.column)
        }
        _ => "it does not parse".to_owned(),
    })
}

choice! {
    /// Where a rule looks.
    pub enum ScreenPlace {
        /// At the text the terminal shows.
        Screen = "screen",
        /// At the terminal's title.
        Title = "title",
        /// At what is typed in the input box. Where no box is to be seen, such a rule never applies.
        InputBox = "input_box",
    }
}

choice! {
    /// The state a rule tells of.
    pub enum ScreenState {
        /// The agent works.
        Running = "RUNNING",
        /// The agent waits for somebody.
        Waiting = "WAITING",
    }
}

choice! {
    /// Why an agent waits.
    pub enum ScreenReason {
        /// It finished a turn.
        EndOfTurn = "END_OF_TURN",
        /// It asks for a permission.
        Permissions = "PERMISSIONS",
        /// It asks a question.
        Question = "QUESTION",
        /// The model's service refuses further requests for now.
        RateLimited = "RATE_LIMITED",
        /// The model's service does not accept its credentials.
        Auth = "AUTH",
    }
}

choice! {
    /// What the other evidence says, as a condition of a rule.
    pub enum ScreenCondition {
        /// The agent is said to work.
        Running = "RUNNING",
        /// The agent is said to wait, for whatever reason.
        Waiting = "WAITING",
        /// The other evidence is not understood.
        Unknown = "UNKNOWN",
        /// It is said to have finished a turn.
        EndOfTurn = "END_OF_TURN",
        /// It is said to ask for a permission.
        Permissions = "PERMISSIONS",
        /// It is said to ask a question.
        Question = "QUESTION",
    }
}

choice! {
    /// How text is drawn.
    pub enum TextStyle {
        /// Bold.
        Bold = "bold",
        /// Dim.
        Dim = "dim",
        /// In reverse video.
        Reverse = "reverse",
        /// In the terminal's own colour.
        Uncoloured = "uncoloured",
    }
}

choice! {
    /// How a message is laid out on its way into the terminal.
    pub enum FramingSetting {
        /// Its lines, each ended by Enter.
        Lines = "lines",
        /// A bracketed paste, then Enter as a write of its own.
        Pasted = "pasted",
    }
}

choice! {
    /// The folder a path starts from.
    pub enum ProofFolder {
        /// The agent's work dir.
        WorkDir = "work_dir",
        /// The agent's state folder.
        StateDir = "state_dir",
    }
}

settings_table! {
    /// `[agent_types.<name>.screen.<rule>]`.
    #[derive(Default)]
    #[serde(default)]
    pub struct ScreenRuleSettings {
        /// Place among the rules of the type, 100 when absent; the lower is tried first, and the first that applies decides.
        pub order: Option<u32>,
        /// Where to look: `screen` when absent.
        pub look: Option<ScreenPlace>,
        /// How many of the screen's last lines with text to look at; all when absent.
        pub lines: Option<u32>,
        /// What must be found there, `^` and `$` at the ends of lines; nothing when absent.
        pub pattern: Option<Pattern>,
        /// What must not be found there.
        pub unless: Option<Pattern>,
        /// Look only while the other evidence says one of these: states or reasons. Always when empty.
        pub when: Vec<ScreenCondition>,
        /// How much later than what the other evidence tells of the terminal must have shown something new, for a program
        /// that reports a change before it draws it.
        pub later_by: Option<DurationSetting>,
        /// The state this tells of. Every rule needs one, its own or that of the rule it changes.
        pub state: Option<ScreenState>,
        /// Why the agent waits then; PERMISSIONS and QUESTION keep messages from being typed.
        pub reason: Option<ScreenReason>,
        /// Whether the rule is used; it is unless this says otherwise.
        pub is_enabled: Option<bool>,
    }
}

settings_table! {
    /// `[agent_types.<name>.input_box]`: the input box.
    #[derive(Default)]
    #[serde(default)]
    pub struct InputBoxSettings {
        /// What the box's first line begins with; the lowest such line of the screen is the box.
        pub sign: Option<Pattern>,
        /// How the sign is drawn, exactly; in any way when empty.
        pub sign_style: Vec<TextStyle>,
        /// Another sign, of a box in which somebody has begun to type a command: it never counts as empty.
        pub typing_sign: Option<Pattern>,
        /// How hints in an empty box are drawn.
        pub hint_style: Option<TextStyle>,
        /// What the first line below the box looks like.
        pub until: Option<Pattern>,
        /// How many lines the box has at most; to the end of the screen when absent.
        pub lines: Option<u32>,
        /// Column of the cursor in an empty box, counted from 0, for a program that shows its cursor only in the box. It
        /// stands in for a sign that the terminal has not drawn.
        pub cursor_column: Option<u32>,
    }
}

settings_table! {
    /// `[agent_types.<name>.delivery]`: how messages are typed.
    #[derive(Default)]
    #[serde(default)]
    pub struct DeliverySettings {
        /// How a message is laid out: `lines`, each ended by Enter, or `pasted` into the input box.
        pub framing: Option<FramingSetting>,
        /// What the program gets to take in a paste before Enter.
        pub settle: Option<DurationSetting>,
        /// What it gets besides for each kilobyte.
        pub settle_per_kilobyte: Option<DurationSetting>,
        /// How long nothing may happen after Enter before the box is looked at again.
        pub look_again: Option<DurationSetting>,
        /// How often Enter is pressed at most, as long as the box still holds the text.
        pub presses: Option<u32>,
    }
}

settings_table! {
    /// `[agent_types.<name>.proof]`: the program's own record of what it was told.
    #[derive(Default)]
    #[serde(default)]
    pub struct ProofSettings {
        /// The file, below the folder `below`.
        pub file: Option<String>,
        /// Which folder that is: `work_dir` when absent.
        pub below: Option<ProofFolder>,
        /// What a record of a message looks like; its first group must be the whole message. Without one, what is added to
        /// the file must contain the message.
        pub pattern: Option<Pattern>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_refused_with_the_reason_and_the_spot() {
        assert_eq!(check_pattern(r"(?i)esc\s+to \w+ — é"), Ok(()));
        assert_eq!(check_pattern("ab(c"), Err("unclosed group at character 3".to_owned()));
    }

    #[test]
    fn a_rule_is_read_in_its_words() {
        let rule: ScreenRuleSettings =
            toml::from_str("look = 'title'\nunless = 'x'\nwhen = ['PERMISSIONS']\nstate = 'RUNNING'")
                .unwrap();
        assert_eq!((rule.look, rule.state), (Some(ScreenPlace::Title), Some(ScreenState::Running)));
        assert_eq!(rule.when, [ScreenCondition::Permissions]);
    }
}
