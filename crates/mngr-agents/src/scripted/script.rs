//! The steps of a script, one per line.
//!
//! | step | what the agent does |
//! |---|---|
//! | `say TEXT` | prints a line |
//! | `read` | waits for the next message |
//! | `ask QUESTION` | prints the question and waits for the answer, as an agent with a question does |
//! | `write PATH TEXT` | replaces a file of the work dir by one line |
//! | `edit PATH TEXT` | appends a line to a file of the work dir |
//! | `commit SUBJECT` | commits everything in the work dir |
//! | `run COMMAND` | runs a shell command; its failure does not end the script |
//! | `spend TOKENS [DOLLARS]` | records that it used so much |
//! | `sleep DURATION` | waits (`0.5s`, `2m`) |
//! | `hang` | does nothing for ever |
//! | `repeat` | starts again with the first step |
//! | `exit CODE` | ends with that code |
//! | `crash` | ends by SIGKILL |
//!
//! In a text, `{message}` stands for the last message and `{name}` for the agent's name. Empty lines and lines that
//! start with `#` are passed over. A script that comes to its end exits with 0.

use std::time::Duration;

use mngr_model::duration::{DurationError, parse_duration};

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Print a line.
    Say(String),
    /// Wait for a message.
    Read,
    /// Print a question and wait for the answer.
    Ask(String),
    /// Replace a file.
    Write {
        /// Relative to the work dir.
        path: String,
        /// The line.
        text: String,
    },
    /// Append to a file.
    Edit {
        /// Relative to the work dir.
        path: String,
        /// The line.
        text: String,
    },
    /// Commit everything.
    Commit(String),
    /// Run shell text.
    Run(String),
    /// Record what was used.
    Spend {
        /// Tokens.
        tokens: u64,
        /// US dollars.
        dollars: f64,
    },
    /// Wait.
    Sleep(Duration),
    /// Do nothing for ever.
    Hang,
    /// Start again.
    Repeat,
    /// End with a code.
    Exit(u8),
    /// End by SIGKILL.
    Crash,
}

/// The words that start a step.
const WORDS: [&str; 13] = [
    "say", "read", "ask", "write", "edit", "commit", "run", "spend", "sleep", "hang", "repeat", "exit",
    "crash",
];

/// What a script without steps does: it takes every message it gets.
pub const DEFAULT_SCRIPT: &str = "say ready\nread\nsay got: {message}\nrepeat\n";

/// Why a line is not a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptProblem {
    /// The first word is not known.
    #[error("`{word}` is not a step; steps are {}{}", WORDS.join(", "), suggestion(.word))]
    Unknown {
        /// The word.
        word: String,
    },
    /// Something must follow the word.
    #[error("`{word}` needs {what}")]
    Missing {
        /// The word.
        word: &'static str,
        /// What must follow.
        what: &'static str,
    },
    /// Nothing may follow the word.
    #[error("`{word}` takes nothing after it")]
    Surplus {
        /// The word.
        word: String,
    },
    /// The path leaves the work dir.
    #[error("the path `{path}` leaves the work dir")]
    Outside {
        /// The path.
        path: String,
    },
    /// The code is not one.
    #[error("`{code}` is not an exit code from 0 to 255")]
    Code {
        /// The text.
        code: String,
    },
    /// What was used is not a number.
    #[error("`{text}` is not a number of tokens and, if any, of US dollars")]
    Amount {
        /// The text.
        text: String,
    },
    /// The time is not one.
    #[error("bad time to sleep")]
    Duration(#[source] DurationError),
    /// The text holds a NUL.
    #[error("the step holds a NUL character")]
    Nul,
}

/// A line that is not a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the script")]
pub struct ScriptError {
    /// Which line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    #[source]
    pub problem: ScriptProblem,
}

/// Reads a script.
pub fn parse(text: &str) -> Result<Vec<Step>, ScriptError> {
    let mut steps = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        steps.push(parse_step(line).map_err(|problem| ScriptError { line: index + 1, problem })?);
    }
    Ok(steps)
}

fn parse_step(line: &str) -> Result<Step, ScriptProblem> {
    if line.contains('\0') {
        return Err(ScriptProblem::Nul);
    }
    let (word, rest) =
        line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
    let text = |word: &'static str, what| match rest {
        "" => Err(ScriptProblem::Missing { word, what }),
        text => Ok(text.to_owned()),
    };
    let alone =
        |step| if rest.is_empty() { Ok(step) } else { Err(ScriptProblem::Surplus { word: word.to_owned() }) };
    match word {
        "say" => Ok(Step::Say(rest.to_owned())),
        "read" => alone(Step::Read),
        "ask" => Ok(Step::Ask(text("ask", "a question")?)),
        "write" => file_step("write", rest).map(|(path, text)| Step::Write { path, text }),
        "edit" => file_step("edit", rest).map(|(path, text)| Step::Edit { path, text }),
        "commit" => Ok(Step::Commit(text("commit", "a subject")?)),
        "run" => Ok(Step::Run(text("run", "a command")?)),
        "spend" => spend_step(&text("spend", "a number of tokens")?),
        "sleep" => {
            parse_duration(&text("sleep", "a time")?).map(Step::Sleep).map_err(ScriptProblem::Duration)
        }
        "hang" => alone(Step::Hang),
        "repeat" => alone(Step::Repeat),
        "exit" => {
            let code = text("exit", "a code")?;
            code.parse().map(Step::Exit).map_err(|_| ScriptProblem::Code { code })
        }
        "crash" => alone(Step::Crash),
        other => Err(ScriptProblem::Unknown { word: other.chars().take(40).collect() }),
    }
}

fn file_step(word: &'static str, rest: &str) -> Result<(String, String), ScriptProblem> {
    let missing = ScriptProblem::Missing { word, what: "a path and a text" };
    let (path, text) = rest.split_once(char::is_whitespace).ok_or(missing)?;
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(ScriptProblem::Outside { path: path.to_owned() });
    }
    Ok((path.to_owned(), text.trim().to_owned()))
}

fn spend_step(text: &str) -> Result<Step, ScriptProblem> {
    let (tokens, dollars) = text.split_once(char::is_whitespace).unwrap_or((text, "0"));
    match (tokens.parse(), dollars.trim().parse::<f64>()) {
        (Ok(tokens), Ok(dollars)) if dollars.is_finite() && dollars >= 0.0 => {
            Ok(Step::Spend { tokens, dollars })
        }
        _ => Err(ScriptProblem::Amount { text: text.to_owned() }),
    }
}

fn suggestion(word: &str) -> String {
    let best = WORDS
        .iter()
        .map(|known| (strsim::normalized_damerau_levenshtein(word, known), known))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((score, known)) if score > 0.6 => format!("; did you mean `{known}`?"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_word_parses() {
        let text = "say\nread\nask why?\nwrite a.txt x y\nedit d/a.txt z\ncommit one two\nrun ls | wc\nspend 9 0.1\nsleep 0.5s\n\
                    hang\nrepeat\nexit 3\ncrash\n# comment\n\n";
        assert_eq!(parse(text).unwrap().len(), WORDS.len());
    }

    #[test]
    fn mistakes_name_the_line_and_the_remedy() {
        let cases = [
            ("say x\nsya y", 2, "did you mean `say`"),
            ("read now", 1, "takes nothing"),
            ("exit 300", 1, "exit code"),
            ("edit ../x y", 1, "leaves the work dir"),
            ("commit", 1, "needs a subject"),
            ("sleep soon", 1, "time to sleep"),
            ("spend much", 1, "`much` is not a number of tokens"),
            ("spend 1 -2", 1, "and, if any, of US dollars"),
            ("spend 1 inf", 1, "and, if any, of US dollars"),
        ];
        for (text, line, part) in cases {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.problem.to_string().contains(part), "{text}: {}", error.problem);
        }
    }
}
