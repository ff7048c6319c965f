//! A shape in words, as a list an agent can follow.

use std::fmt::Write as _;

use super::shape::{Field, Kind, MAX_CHARS, MAX_LABEL_CHARS, MAX_PATH_CHARS, Need, Shape};

/// The fields with their meaning, and the rules between them.
pub(super) fn in_words(shape: &Shape) -> String {
    let mut text = String::new();
    fields(&mut text, shape, 0);
    text
}

fn fields(text: &mut String, shape: &Shape, depth: usize) {
    for field in shape.fields {
        line(text, depth, &about(field));
        match field.kind {
            Kind::Choice(words) => {
                for word in words {
                    line(text, depth + 1, &format!("`{}`: {}", word.word, word.about.trim()));
                }
            }
            Kind::List(below) => fields(text, below, depth + 1),
            _ => {}
        }
    }
    for rule in shape.rules {
        for demand in rule.then {
            let (field, words) = (demand.field(), demand.in_words());
            line(text, depth, &format!("if `{}` is `{}`, `{field}` must {words}", rule.field, rule.is));
        }
    }
}

fn about(field: &Field) -> String {
    let need = match field.need {
        Need::Required => "",
        Need::Optional => ", may be left out",
    };
    format!("`{}` ({}{need}): {}", field.name, kind(field.kind), field.about.trim())
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Choice(_) => "one of these words".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Count => "a whole number from 1 on".to_owned(),
        Kind::Markdown { words } => {
            format!("Markdown without raw HTML, at most {words} words and {MAX_CHARS} characters")
        }
        Kind::Label => format!("one line, at most {MAX_LABEL_CHARS} characters"),
        Kind::TestName => "the name of a test as it stands above".to_owned(),
        Kind::SourcePath => {
            format!("relative to the root of the repository, at most {MAX_PATH_CHARS} characters")
        }
        Kind::List(shape) => {
            let unlike = shape.unlike_in.map(|field| format!(", no two with the same `{field}`"));
            format!("a list of at most {} objects{}", shape.at_most, unlike.unwrap_or_default())
        }
    }
}

fn line(text: &mut String, depth: usize, words: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{:indent$}- {words}", "", indent = depth * 2);
}
