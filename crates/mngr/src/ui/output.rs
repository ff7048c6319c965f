//! `--format`: the same result for people, as one JSON object, as JSON lines, or through a template.
//!
//! A verb makes an [`Output`] before it does anything, so that a template with a mistake stops it in time, and hands
//! it a [`Report`] at the end.

use std::io;

use mngr_query::{Catalog, Template};
use serde_json::Value;

use crate::error::CliError;
use crate::ui::console::Console;

/// What `--format` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for people.
    Human,
    /// One object at the end.
    Json,
    /// One object per line.
    Jsonl,
    /// One line per item, from a template.
    Template(String),
}

impl Format {
    /// Reads the option's value.
    pub(crate) fn parse(text: &str) -> Result<Self, CliError> {
        Ok(match text {
            "human" => Self::Human,
            "json" => Self::Json,
            "jsonl" => Self::Jsonl,
            template if template.contains('{') => Self::Template(template.to_owned()),
            other => {
                let other = mngr_query::sanitize(other);
                let text =
                    format!("Invalid value for `--format`: `{other}` is not one of human, json, jsonl");
                return Err(CliError::usage(text).hinted("a template names fields in braces, as in '{name}'"));
            }
        })
    }
}

/// Which fields a verb's template may name.
pub(crate) enum TemplateFields<'a> {
    /// The verb has no items.
    None,
    /// These.
    Of(&'a Catalog),
}

/// How the result of this command is shown.
#[derive(Debug)]
pub(crate) enum Output {
    /// Text for people.
    Human,
    /// One object at the end.
    Json,
    /// One object per line.
    Jsonl,
    /// One line per item.
    Template(Template),
}

impl Output {
    /// Checks the format against the verb.
    pub(crate) fn new(format: &Format, fields: TemplateFields<'_>) -> Result<Self, CliError> {
        Ok(match (format, fields) {
            (Format::Human, _) => Self::Human,
            (Format::Json, _) => Self::Json,
            (Format::Jsonl, _) => Self::Jsonl,
            (Format::Template(text), TemplateFields::Of(catalog)) => {
                Self::Template(Template::parse(text, catalog)?)
            }
            (Format::Template(_), TemplateFields::None) => {
                let text = "Invalid value for `--format`: this command has no items for a template";
                return Err(CliError::usage(text).hinted("use human, json or jsonl"));
            }
        })
    }

    /// Whether a person reads the result.
    pub(crate) fn is_human(&self) -> bool {
        matches!(self, Self::Human)
    }

    /// Shows a finished result.
    pub(crate) fn show(&self, console: &Console, report: &dyn Report) -> Result<(), CliError> {
        match self {
            Self::Human if console.is_quiet() && report.is_confirmation() => Ok(()),
            Self::Human => console.print(&report.human(console)),
            Self::Json => console.print(&tame_json(report.json_text())),
            Self::Jsonl => console.print(&tame_json(report.jsonl_text())),
            Self::Template(template) => {
                console.print(&lines(report.items().iter().map(|item| template.render(item))))
            }
        }
    }
}

/// The same JSON without the control characters that JSON itself leaves as they are: a terminal would obey them.
pub(crate) fn tame_json(text: String) -> String {
    let is_control = |c: char| matches!(c, '\u{7f}'..='\u{9f}');
    if !text.contains(is_control) {
        return text;
    }
    // Outside of strings there are none.
    let mut tame = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_control(c) {
            true => tame.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => tame.push(c),
        }
    }
    tame
}

/// The same for JSON that is written piece by piece.
pub(crate) struct TameJson<W> {
    to: W,
    /// The first byte of a character that may be such a control.
    lead: bool,
}

impl<W: io::Write> TameJson<W> {
    /// Writes to that.
    pub(crate) fn new(to: W) -> Self {
        Self { to, lead: false }
    }

    /// Ends an object.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        io::Write::write_all(self, b"\n")
    }
}

impl<W: io::Write> io::Write for TameJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        /// `U+0080` to `U+00BF` begin with it, in UTF-8.
        const LEAD: u8 = 0xc2;
        let mut plain = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let is_control = if self.lead { matches!(byte, 0x80..=0x9f) } else { *byte == 0x7f };
            if self.lead && !is_control {
                self.to.write_all(&[LEAD])?;
            }
            if is_control {
                self.to.write_all(&bytes[plain..at])?;
                self.to.write_all(format!("\\u{:04x}", u32::from(*byte)).as_bytes())?;
                plain = at + 1;
            }
            self.lead = *byte == LEAD;
            if self.lead {
                self.to.write_all(&bytes[plain..at])?;
                plain = at + 1;
            }
        }
        self.to.write_all(&bytes[plain..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Each text with a line feed after it.
pub(crate) fn lines(texts: impl IntoIterator<Item = String>) -> String {
    let mut all = String::new();
    for text in texts {
        all.push_str(&text);
        all.push('\n');
    }
    all
}

/// What a verb did, in every form it can be shown.
pub(crate) trait Report {
    /// For people, every line ended. Text that others wrote is sanitized.
    fn human(&self, console: &Console) -> String;

    /// Whether it only says that what was asked for was done, so that `--quiet` leaves it out for people.
    fn is_confirmation(&self) -> bool {
        false
    }

    /// The one object of `--format json`.
    fn json(&self) -> Value;

    /// The objects of `--format jsonl`.
    fn events(&self) -> Vec<Value>;

    /// The text of `--format json`. A report with very many parts writes them one by one.
    fn json_text(&self) -> String {
        format!("{}\n", self.json())
    }

    /// The text of `--format jsonl`.
    fn jsonl_text(&self) -> String {
        lines(self.events().iter().map(Value::to_string))
    }

    /// The items a template is applied to.
    fn items(&self) -> Vec<Value> {
        Vec::new()
    }
}

/// The object with `event` as its first field.
pub(crate) fn event(name: &str, object: Value) -> Value {
    let mut fields = serde_json::Map::from_iter([("event".to_owned(), Value::from(name))]);
    if let Value::Object(rest) = object {
        fields.extend(rest);
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_no_raw_control_character_and_says_the_same() {
        let value = serde_json::json!({ "a": "x\u{9b}31m\u{7f}\u{1b}é" });
        let tame = tame_json(value.to_string());
        let text = value.to_string();
        for size in 1..text.len() {
            let mut written = Vec::new();
            let mut writer = TameJson::new(&mut written);
            for piece in text.as_bytes().chunks(size) {
                io::Write::write_all(&mut writer, piece).unwrap();
            }
            assert_eq!(String::from_utf8(written).unwrap(), tame, "in pieces of {size}");
        }
        assert!(!tame.chars().any(char::is_control), "{tame:?}");
        assert_eq!(serde_json::from_str::<Value>(&tame).unwrap(), value);
    }

    #[test]
    fn a_format_is_a_known_word_or_a_template() {
        assert_eq!(Format::parse("jsonl").unwrap(), Format::Jsonl);
        assert_eq!(Format::parse("{name}").unwrap(), Format::Template("{name}".into()));
        let error = Format::parse("yaml").unwrap_err();
        assert!(error.source.to_string().contains("is not one of"), "{error:?}");
    }

    #[test]
    fn a_bad_template_is_found_before_anything_is_done() {
        let catalog = Catalog::of(&["name"]);
        let format = Format::Template("{nmae}".into());
        assert!(Output::new(&format, TemplateFields::Of(&catalog)).is_err());
        assert!(Output::new(&format, TemplateFields::None).is_err());
    }

    #[test]
    fn an_event_says_first_what_it_is() {
        assert_eq!(event("x", serde_json::json!({"a": 1})).to_string(), r#"{"event":"x","a":1}"#);
    }
}
