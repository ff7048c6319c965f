//! JSON schemas: of the settings, and of what commands print.

use std::path::PathBuf;

use serde_json::Value;

use super::Files;
use super::book::Book;

/// All of them.
pub(crate) fn files(book: &Book) -> Files {
    let outputs = book.schemas.outputs.iter().map(|(words, schema)| file(&words.replace(' ', "-"), schema));
    let line =
        |(words, schema): (&String, &Value)| file(&format!("{}.line", words.replace(' ', "-")), schema);
    let lines = book.schemas.lines.iter().map(line);
    outputs.chain(lines).chain([file("settings", &book.schemas.settings)]).collect()
}

fn file(name: &str, schema: &Value) -> (PathBuf, String) {
    (PathBuf::from(format!("docs/reference/schemas/{name}.json")), format!("{schema:#}\n"))
}
