//! `--format '{name}\t{state:<10}'`: one line per record, in the look of Python's format strings.
//!
//! - `{field.path}`, with `[0]`, `[-1]`, `[:3]` on lists; `{{` and `}}` are braces.
//! - `!s` (plain, the default), `!r` (quoted), `!a` (quoted, ASCII only).
//! - `:` and `[[fill]<>^][0][width][,][.precision][s|d|f]`; widths count terminal columns.
//! - `\t`, `\n`, `\r` and `\\` in the text between fields are decoded.
//!
//! A known field without a value renders as nothing (padded to its width). Values are data: what they contain is
//! never read as a template.

mod format_spec;
mod parse;
mod quoted;

use std::borrow::Cow;

use serde_json::Value;
use thiserror::Error;

use crate::catalog::Catalog;
use crate::field_set::FieldSet;
use crate::json::cell_text;
use crate::path::{FieldError, FieldPath};
use crate::sanitize::sanitize;
use crate::snippet;
use format_spec::FormatSpec;

/// A template that cannot be used, with the place of the fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid template: {fault}")]
pub struct TemplateError {
    template: String,
    /// In characters from the start of the template.
    at: usize,
    /// Part of the message itself: a template has one fault, not a chain of causes.
    fault: TemplateFault,
}

impl TemplateError {
    /// What is wrong.
    pub fn fault(&self) -> &TemplateFault {
        &self.fault
    }

    /// The template with a caret under the fault: two lines, ready to print below the message.
    pub fn snippet(&self) -> String {
        snippet::caret(&self.template, self.at)
    }
}

/// What is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateFault {
    /// A `{` without its `}`.
    #[error("`{{` is never closed (write `{{{{` for a brace)")]
    Unclosed,
    /// A `}` without its `{`.
    #[error("`}}` closes nothing (write `}}}}` for a brace)")]
    Unopened,
    /// Braces around nothing.
    #[error("a field is missing between the braces")]
    EmptyField,
    /// A field that cannot be shown.
    #[error("{0}")]
    Field(FieldError),
    /// Something else than `!s`, `!r` or `!a`.
    #[error("unknown conversion `!{conversion}`, expected `!s`, `!r` or `!a`")]
    Conversion {
        /// What stands after the `!`.
        conversion: String,
    },
    /// A format that is not understood.
    #[error("unknown format `{spec}`, expected something like `<20`, `>8.2f` or `,d`")]
    Format {
        /// What stands after the `:`.
        spec: String,
    },
    /// A width or precision no line needs.
    #[error("a width of {width} is above the limit of {limit}")]
    TooWide {
        /// What was asked for.
        width: String,
        /// The largest that is accepted.
        limit: usize,
    },
    /// A number format on something that is no number.
    #[error("format `{spec}` needs a number, but field `{field}` is a {kind}")]
    NotANumber {
        /// What stands after the `:`.
        spec: String,
        /// The field.
        field: String,
        /// Its kind.
        kind: &'static str,
    },
}

/// How a value becomes text before it is formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    Plain,
    Quoted,
    QuotedAscii,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field { path: FieldPath, conversion: Conversion, spec: FormatSpec },
}

/// Whether control characters in values are made visible.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Controls {
    Visible,
    Verbatim,
}

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Parses a template; every field in it is checked against the catalogue.
    pub fn parse(template: &str, catalog: &Catalog) -> Result<Self, TemplateError> {
        parse::pieces(template, catalog).map(|pieces| Self { pieces }).map_err(|(fault, at)| TemplateError {
            template: template.to_owned(),
            at,
            fault,
        })
    }

    /// The fields the template reads.
    pub fn wanted(&self) -> FieldSet {
        let path = |piece: &Piece| match piece {
            Piece::Text(_) => None,
            Piece::Field { path, .. } => Some(path.wanted()),
        };
        self.pieces.iter().filter_map(path).collect()
    }

    /// The text for one record. Control characters in values are made visible, so a record stays one line.
    pub fn render(&self, record: &Value) -> String {
        self.render_with(record, Controls::Visible)
    }

    /// The text for one record with its values untouched, for output that is the point of the verb (`{stdout}`).
    pub fn render_verbatim(&self, record: &Value) -> String {
        self.render_with(record, Controls::Verbatim)
    }

    fn render_with(&self, record: &Value, controls: Controls) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Field { path, conversion, spec } => {
                    let value = path.get(record).unwrap_or(Cow::Owned(Value::Null));
                    out.push_str(&render_field(&value, *conversion, spec, controls));
                }
            }
        }
        out
    }
}

fn render_field(value: &Value, conversion: Conversion, spec: &FormatSpec, controls: Controls) -> String {
    if let (Conversion::Plain, Value::Number(number)) = (conversion, value) {
        return spec.number(number);
    }
    let text = match conversion {
        _ if value.is_null() => String::new(),
        Conversion::Plain => cell_text(value),
        Conversion::Quoted => quoted::quoted(value, quoted::Charset::Unicode),
        Conversion::QuotedAscii => quoted::quoted(value, quoted::Charset::Ascii),
    };
    match controls {
        Controls::Visible => spec.text(&sanitize(&text)),
        Controls::Verbatim => spec.text(&text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn record() -> Value {
        json!({
            "name": "alpha", "pid": 1234567, "age": 2.25, "url": null, "start_on_boot": true,
            "labels": {"team": "in\"fra'", "a.b": "x"}, "activity_sources": ["A", "B", "C"],
            "host": {"provider_name": "local", "name": "日本"}, "command": "a\n\x1b[31mb",
        })
    }

    fn render(template: &str) -> String {
        Template::parse(template, &Catalog::agents())
            .unwrap_or_else(|error| panic!("{template}: {error}"))
            .render(&record())
    }

    fn error(template: &str) -> TemplateError {
        Template::parse(template, &Catalog::agents()).unwrap_err()
    }

    #[test]
    fn fields_are_replaced_by_their_values() {
        assert_eq!(render("{name}@{host.name}.{host.provider}"), "alpha@日本.local");
        assert_eq!(
            render("{labels.a} {labels[a.b]} {start_on_boot} [{url}] [{labels.nope}]"),
            " x true [] []"
        );
        assert_eq!(render("{activity_sources} {activity_sources[-1]} {activity_sources[:2]}"), "A,B,C C A,B");
    }

    #[test]
    fn braces_and_backslashes_are_decoded() {
        assert_eq!(render(r"{{{name}}}\t{{}}\n\\n\q"), "{alpha}\t{}\n\\n\\q");
    }

    #[test]
    fn formats_follow_python() {
        assert_eq!(
            render("{name:<8}|{name:>8}|{name:^9}|{name:*^9}|{name:.2}|{name:8.2s}|"),
            "alpha   |   alpha|  alpha  |**alpha**|al|al      |"
        );
        assert_eq!(
            render("{pid:,d}|{pid:>10}|{pid:<10}|{pid:010d}|{pid:f}"),
            "1,234,567|   1234567|1234567   |0001234567|1234567.000000"
        );
        assert_eq!(render("{age:.1f}|{age:8.3f}|{age:d}|{age}"), "2.2|   2.250|2|2.25");
        assert_eq!(render("{host.name:>6}|{host.name:.2}|"), "  日本|日|", "widths are terminal columns");
        assert_eq!(render("{url:>4}|{labels.nope:.2f}|"), "    ||", "no value is nothing, padded");
    }

    #[test]
    fn conversions_quote() {
        assert_eq!(
            render("{name!s} {name!r} {host.name!r} {host.name!a}"),
            r"alpha 'alpha' '日本' '\u65e5\u672c'"
        );
        assert_eq!(render("{labels.team!r}"), r#"'in"fra\''"#);
        assert_eq!(render("{activity_sources!r:>17} {start_on_boot!r} {url!r}"), "  ['A', 'B', 'C'] True ");
        assert_eq!(render("{command!r}"), r"'a\n\x1b[31mb'");
    }

    #[test]
    fn control_characters_are_shown_unless_asked_for_verbatim() {
        assert_eq!(render("{command}"), "a\\n\\x1b[31mb");
        let template = Template::parse("{stdout}", &Catalog::of(&["agent", "stdout"])).unwrap();
        assert_eq!(template.render_verbatim(&json!({"stdout": "a\nb"})), "a\nb");
    }

    #[test]
    fn faults_are_named_and_placed() {
        let cases = [
            ("{nmae}", "unknown field `nmae`, did you mean `name`?", 1),
            ("a {name", "`{` is never closed (write `{{` for a brace)", 2),
            ("a } b", "`}` closes nothing (write `}}` for a brace)", 2),
            ("{}", "a field is missing between the braces", 0),
            ("{name!x}", "unknown conversion `!x`, expected `!s`, `!r` or `!a`", 6),
            ("{name:zz}", "unknown format `zz`, expected something like `<20`, `>8.2f` or `,d`", 6),
            ("{name:99999}", "a width of 99999 is above the limit of 1000", 6),
            ("é{name:d}", "format `d` needs a number, but field `name` is a string", 7),
        ];
        for (template, message, at) in cases {
            let error = error(template);
            assert_eq!(error.to_string(), format!("invalid template: {message}"), "{template}");
            assert_eq!(error.at, at, "{template}");
        }
        assert_eq!(error("é {nmae}").snippet(), "  é {nmae}\n     ^");
    }

    #[test]
    fn only_the_named_fields_are_wanted() {
        let template =
            Template::parse("{name} {host.provider} {activity_sources[0]}", &Catalog::agents()).unwrap();
        assert_eq!(
            template.wanted().paths().collect::<Vec<_>>(),
            ["activity_sources", "host.provider_name", "name"]
        );
    }

    proptest! {
        #[test]
        fn any_text_parses_or_is_one_error(template in "\\PC{0,40}|[{}!:.,<>^0-9a-z\\[\\]\\\\]{0,40}") {
            match Template::parse(&template, &Catalog::of(&["a", "name"])) {
                Ok(parsed) => drop(parsed.render(&json!({"a": 1.5, "name": ["x", {"y": null}]}))),
                Err(error) => prop_assert_eq!(error.snippet().lines().count(), 2),
            }
        }

        #[test]
        fn escaped_text_comes_back_as_it_was(text in any::<String>()) {
            let escaped = text.replace('\\', "\\\\").replace('{', "{{").replace('}', "}}");
            let template = Template::parse(&escaped, &Catalog::agents()).unwrap();
            prop_assert_eq!(template.render(&json!({})), text);
        }

        #[test]
        fn values_are_never_read_as_a_template(value in "[{}!:\\\\a-z\\[\\]]{0,20}") {
            let template = Template::parse("<{name}>", &Catalog::agents()).unwrap();
            prop_assert_eq!(template.render(&json!({"name": value, "id": "secret"})), format!("<{value}>"));
        }

        #[test]
        fn padded_text_is_at_least_as_wide_as_asked(value in any::<String>(), width in 0usize..50) {
            let template = Template::parse(&format!("{{name:>{width}}}"), &Catalog::agents()).unwrap();
            let rendered = template.render(&json!({"name": value}));
            prop_assert!(unicode_width::UnicodeWidthStr::width(rendered.as_str()) >= width);
        }
    }
}
