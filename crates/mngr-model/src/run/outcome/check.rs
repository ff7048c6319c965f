//! The validator: compares a JSON value with a shape and says what is wrong in words an agent can act on.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::shape::{
    Demand, Kind, MAX_CHARS, MAX_LABEL_CHARS, MAX_PATH_CHARS, MAX_TEST_CHARS, Need, Rule, Shape,
};
use crate::quote::excerpt;

/// Something wrong at one place of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, as in `changes[0].kind`; empty for the whole.
    pub at: String,
    /// What.
    pub fault: Fault,
}

/// What is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Another type of JSON.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A field that must be there is not.
    #[error("is missing")]
    Missing,
    /// A field nobody knows.
    #[error("is not a field; the fields here are {}", in_ticks(.known))]
    Unknown {
        /// Those that are known.
        known: Vec<&'static str>,
    },
    /// A word that is not one of the choice.
    #[error("`{found}` is not one of {}", in_ticks(.known))]
    Word {
        /// The beginning of what is there.
        found: String,
        /// Those that are known.
        known: Vec<&'static str>,
    },
    /// Text without a word.
    #[error("is empty")]
    Empty,
    /// Too many words.
    #[error("has {found} words, at most {limit} are allowed")]
    Words {
        /// How many there are.
        found: usize,
        /// How many may be there.
        limit: usize,
    },
    /// Too many characters.
    #[error("has {found} characters, at most {limit} are allowed")]
    Chars {
        /// How many there are.
        found: usize,
        /// How many may be there.
        limit: usize,
    },
    /// More than one line.
    #[error("must be one line")]
    Lines,
    /// Not a path below the root of the repository.
    #[error("`{found}` is not a path relative to the root of the repository")]
    Path {
        /// The beginning of what is there.
        found: String,
    },
    /// Too many entries.
    #[error("has {found} entries, at most {limit} are allowed")]
    Entries {
        /// How many there are.
        found: usize,
        /// How many may be there.
        limit: usize,
    },
    /// Two entries of a list are alike where they must differ.
    #[error("`{found}` stands in an earlier entry already")]
    Repeated {
        /// The beginning of what is there.
        found: String,
    },
    /// A rule that depends on another field is broken.
    #[error("must {demand} when `{field}` is `{word}`")]
    Rule {
        /// What is asked for.
        demand: String,
        /// The field that brings the rule in.
        field: &'static str,
        /// What that field holds.
        word: &'static str,
    },
    /// It fits its description, but cannot be read.
    #[error("cannot be read: {message}")]
    Unreadable {
        /// What the reader said.
        message: String,
    },
}

impl Problem {
    /// How many are reported; whoever has more has another kind of problem.
    pub const MOST: usize = 20;

    pub(super) fn unreadable(error: &serde_json::Error) -> Self {
        Self { at: String::new(), fault: Fault::Unreadable { message: excerpt(&error.to_string()) } }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at.as_str() {
            "" => write!(f, "the outcome: {}", self.fault),
            at => write!(f, "`{at}`: {}", self.fault),
        }
    }
}

/// Everything wrong with the value, in the order of the shape.
pub(super) fn check(value: &Value, shape: &Shape) -> Vec<Problem> {
    let mut report = Report { problems: Vec::new() };
    report.object("", value, shape);
    report.problems
}

struct Report {
    problems: Vec<Problem>,
}

impl Report {
    fn add(&mut self, at: &str, fault: Fault) {
        if self.problems.len() < Problem::MOST {
            self.problems.push(Problem { at: at.to_owned(), fault });
        }
    }

    fn object(&mut self, at: &str, value: &Value, shape: &Shape) {
        let Value::Object(object) = value else {
            return self.add(at, Fault::Type { expected: "an object", found: type_of(value) });
        };
        for field in shape.fields {
            let at = below(at, field.name);
            match (object.get(field.name), field.need) {
                (None, Need::Required) => self.add(&at, Fault::Missing),
                (None, Need::Optional) => {}
                // A list can be left out, but an empty one says the same and is simpler to read back.
                (Some(Value::Null), Need::Optional) if !matches!(field.kind, Kind::List(_)) => {}
                (Some(value), _) => self.value(&at, value, field.kind),
            }
        }
        let known: Vec<_> = shape.fields.iter().map(|field| field.name).collect();
        for name in object.keys().filter(|name| !known.contains(&name.as_str())) {
            self.add(&below(at, &excerpt(name)), Fault::Unknown { known: known.clone() });
        }
        for rule in shape.rules {
            self.rule(at, object, rule);
        }
    }

    fn value(&mut self, at: &str, value: &Value, kind: Kind) {
        match (kind, value) {
            (Kind::Choice(words), Value::String(text)) => {
                if !words.iter().any(|known| known.word == text) {
                    let known = words.iter().map(|word| word.word).collect();
                    self.add(at, Fault::Word { found: excerpt(text), known });
                }
            }
            (Kind::Markdown { words }, Value::String(text)) => self.markdown(at, text, words),
            (Kind::Label, Value::String(text)) => {
                self.chars(at, text, MAX_LABEL_CHARS);
                self.one_line(at, text);
            }
            (Kind::TestName, Value::String(text)) => {
                self.chars(at, text, MAX_TEST_CHARS);
                self.one_line(at, text);
            }
            (Kind::SourcePath, Value::String(text)) => {
                self.chars(at, text, MAX_PATH_CHARS);
                let is_inside = |part: &str| !matches!(part, "" | "." | "..");
                if !text.split('/').all(is_inside) || text.contains(['\n', '\0']) {
                    self.add(at, Fault::Path { found: excerpt(text) });
                }
            }
            (Kind::Flag, Value::Bool(_)) => {}
            (Kind::Count, Value::Number(number)) if number.as_u64().is_some_and(is_count) => {}
            (Kind::List(shape), Value::Array(entries)) => self.list(at, entries, shape),
            (kind, value) => {
                self.add(at, Fault::Type { expected: kind.expected(), found: type_of(value) });
            }
        }
    }

    fn one_line(&mut self, at: &str, text: &str) {
        if text.contains(['\n', '\r']) {
            self.add(at, Fault::Lines);
        }
    }

    fn markdown(&mut self, at: &str, text: &str, limit: usize) {
        self.chars(at, text, MAX_CHARS);
        let found = text.split_whitespace().count();
        if found > limit {
            self.add(at, Fault::Words { found, limit });
        }
    }

    fn chars(&mut self, at: &str, text: &str, limit: usize) {
        let found = text.chars().count();
        if text.trim().is_empty() {
            self.add(at, Fault::Empty);
        } else if found > limit {
            self.add(at, Fault::Chars { found, limit });
        }
    }

    fn list(&mut self, at: &str, entries: &[Value], shape: &Shape) {
        if entries.len() > shape.at_most {
            self.add(at, Fault::Entries { found: entries.len(), limit: shape.at_most });
        }
        let mut seen = BTreeSet::new();
        for (index, entry) in entries.iter().take(shape.at_most).enumerate() {
            let at = format!("{at}[{index}]");
            self.object(&at, entry, shape);
            let Some(field) = shape.unlike_in else { continue };
            let Some(text) = entry.get(field).and_then(Value::as_str) else { continue };
            if !seen.insert(text) {
                self.add(&below(&at, field), Fault::Repeated { found: excerpt(text) });
            }
        }
    }

    fn rule(&mut self, at: &str, object: &Map<String, Value>, rule: &Rule) {
        if object.get(rule.field).and_then(Value::as_str) != Some(rule.is) {
            return;
        }
        for demand in rule.then {
            if !demand.is_met(object.get(demand.field())) {
                let fault = Fault::Rule { demand: demand.in_words(), field: rule.field, word: rule.is };
                self.add(&below(at, demand.field()), fault);
            }
        }
    }
}

impl Demand {
    fn is_met(self, value: Option<&Value>) -> bool {
        let entries = || value.and_then(Value::as_array).map_or(0, Vec::len);
        match self {
            Self::Present(_) => value.is_some_and(|value| !value.is_null()),
            Self::True(_) => value == Some(&Value::Bool(true)),
            Self::Empty(_) => entries() == 0,
            Self::NonEmpty(_) => entries() > 0,
            Self::AtMostWords(_, limit) => {
                value.and_then(Value::as_str).is_none_or(|text| text.split_whitespace().count() <= limit)
            }
        }
    }
}

impl Kind {
    fn expected(self) -> &'static str {
        match self {
            Self::Choice(_) | Self::Markdown { .. } | Self::Label | Self::TestName | Self::SourcePath => {
                "a string"
            }
            Self::Flag => "`true` or `false`",
            Self::Count => "a whole number from 1 on",
            Self::List(_) => "a list",
        }
    }
}

fn is_count(number: u64) -> bool {
    (1..=u64::from(u32::MAX)).contains(&number)
}

fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "`null`",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "another number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn in_ticks(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
