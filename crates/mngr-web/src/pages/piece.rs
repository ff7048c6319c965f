//! A piece of data for the page, and where pieces go.

use mngr_host::files::FilesError;
use serde::Serialize;

/// A script that hands one value to the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its name, which is its path below `data/` without the `.js`.
    pub(crate) name: String,
    /// The script.
    pub(crate) script: String,
}

impl Piece {
    /// The piece for this value.
    pub(crate) fn new(name: impl Into<String>, value: &impl Serialize) -> Self {
        let name = name.into();
        let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        let script = format!(
            "mngr.add({},{});\n",
            inert(&serde_json::Value::from(name.as_str()).to_string()),
            inert(&json)
        );
        Self { name, script }
    }

    /// The last part of its name.
    pub(crate) fn last_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

/// JSON that is also safe inside a script element and in scripts of old: no `<`, no line separators but `\n`.
fn inert(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // They occur only inside of strings, where the escape means the same.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text += &format!("\\u{:04x}", u32::from(c)),
            c => text.push(c),
        }
    }
    text
}

/// Where pieces go.
pub(crate) trait Sink {
    /// Takes one.
    ///
    /// # Errors
    /// When it cannot be kept, or nobody wants more.
    fn put(&mut self, piece: Piece) -> Result<(), PageError>;
}

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Nobody wants it any more.
    #[error("the page is no longer wanted")]
    Stopped,
}

impl Sink for Vec<Piece> {
    fn put(&mut self, piece: Piece) -> Result<(), PageError> {
        self.push(piece);
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The value inside a piece.
    pub(crate) fn value(piece: &Piece) -> Value {
        let start = format!("mngr.add(\"{}\",", piece.name);
        let json = piece.script.strip_prefix(&start).and_then(|rest| rest.strip_suffix(");\n"));
        serde_json::from_str(json.unwrap_or_else(|| panic!("{}", piece.script))).unwrap()
    }

    #[test]
    fn nothing_in_a_value_ends_a_script_element_or_a_line() {
        let hostile = json!({"text": "</script><!--\u{2028}\u{2029}\"\\&\n", "</script>": 1});
        let piece = Piece::new("a", &hostile);
        for forbidden in ["<", ">", "\u{2028}", "\u{2029}"] {
            assert!(!piece.script.contains(forbidden), "{}", piece.script);
        }
        assert_eq!(piece.script.matches('\n').count(), 1);
        assert_eq!(value(&piece), hostile);
    }
}
