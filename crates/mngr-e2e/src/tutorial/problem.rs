//! What is wrong with a file, with its place.

use serde::Serialize;

use super::shell::UnclosedKind;

/// Whether a check can pass in spite of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can.
    Warning,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// The text was read with replacement characters.
    #[error("byte {byte:#04x} is not UTF-8 (the first of {places} in the file)")]
    NotUtf8 {
        /// The first one.
        byte: u8,
        /// How many there are.
        places: usize,
    },
    /// The script ends inside a here-document.
    #[error("the here-document that begins here never ends: there is no line `{word}`")]
    UnclosedHereDocument {
        /// Its end word.
        word: String,
    },
    /// A quote has no partner.
    #[error("the quote that begins here is not closed before the next empty line")]
    UnclosedQuote,
    /// A `$(` or `${` has no partner.
    #[error("the substitution that begins here is not closed before the next empty line")]
    UnclosedSubstitution,
    /// A test file is not in its language.
    #[error("this is not valid {language}: `{text}`")]
    Syntax {
        /// The language.
        language: &'static str,
        /// The beginning of what is not understood.
        text: String,
    },
    /// A citation is made of something that is only known when the test runs.
    #[error("this citation cannot be read: it is not a string literal")]
    NotLiteral,
    /// A citation cites nothing.
    #[error("this citation holds no command")]
    NoCommand,
    /// A citation that no test makes.
    #[error("a citation outside of a test does not count")]
    OutsideTest,
    /// What the language makes of the backslashes is not what the block says.
    #[error(
        "the test sees other text than is written here, because of a backslash; write a raw string, as in `{raw}`"
    )]
    Backslash {
        /// How a raw string begins in this language.
        raw: &'static str,
    },
}

impl ProblemKind {
    /// Whether a check can pass in spite of it.
    pub fn severity(&self) -> Severity {
        match self {
            Self::NotUtf8 { .. } | Self::OutsideTest | Self::Backslash { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl From<UnclosedKind> for ProblemKind {
    fn from(unclosed: UnclosedKind) -> Self {
        match unclosed {
            UnclosedKind::Quote => Self::UnclosedQuote,
            UnclosedKind::Substitution => Self::UnclosedSubstitution,
            UnclosedKind::HereDocument(word) => Self::UnclosedHereDocument { word },
        }
    }
}

/// Something wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What.
    pub kind: ProblemKind,
}

impl Serialize for Problem {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Problem", 4)?;
        fields.serialize_field("file", &self.file)?;
        fields.serialize_field("line", &self.line)?;
        fields.serialize_field("severity", &self.kind.severity())?;
        fields.serialize_field("message", &self.kind.to_string())?;
        fields.end()
    }
}

/// The bytes as text, and where they are none.
pub(crate) fn decode(file: &str, bytes: &[u8]) -> (String, Option<Problem>) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (mut line, mut places, mut first) = (1, 0, None);
    for chunk in bytes.utf8_chunks() {
        line += chunk.valid().matches('\n').count();
        if let Some(byte) = chunk.invalid().first() {
            places += 1;
            first.get_or_insert((line, *byte));
        }
    }
    let problem = first.map(|(line, byte)| Problem {
        file: file.to_owned(),
        line,
        kind: ProblemKind::NotUtf8 { byte, places },
    });
    (String::from_utf8_lossy(bytes).into_owned(), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_named_with_their_line() {
        let (text, problem) = decode("f", b"\xef\xbb\xbfa\nb\xff\xfe\n\xe9");
        assert_eq!(text, "a\nb\u{fffd}\u{fffd}\n\u{fffd}");
        let problem = problem.unwrap();
        assert_eq!(problem.line, 2);
        assert_eq!(problem.kind.to_string(), "byte 0xff is not UTF-8 (the first of 3 in the file)");
        assert_eq!(problem.kind.severity(), Severity::Warning);
        assert_eq!(decode("f", "ä".as_bytes()), ("ä".to_owned(), None));
    }
}
