//! Command lines with places for ids, paths and flags. Every word put in is quoted by the one function that quotes.

use mngr_model::quote::{sh_join, sh_quote};

/// A line of `sh` with places such as `{id}`. Braces around anything else are left to the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(String);

/// What is put into a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Word<'a> {
    /// One word.
    One(&'a str),
    /// Any number of words.
    Many(&'a [String]),
    /// A piece of the line as it is, from the collector itself.
    Piece(&'a str),
}

impl Template {
    pub(super) fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }

    /// Whether it has this place.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains(&format!("{{{name}}}"))
    }

    /// The line with these places filled, in one pass: what is put in is never looked into.
    pub(super) fn fill(&self, places: &[(&str, Word<'_>)]) -> String {
        let mut line = String::with_capacity(self.0.len() + 64);
        let mut rest = self.0.as_str();
        while let Some(open) = rest.find('{') {
            line.push_str(&rest[..open]);
            rest = &rest[open..];
            let inner = rest.find('}').map(|close| (&rest[1..close], close));
            let found = inner.and_then(|(name, close)| {
                let (_, word) = places.iter().find(|(place, _)| *place == name)?;
                Some((word, close))
            });
            match found {
                Some((word, close)) => {
                    line.push_str(&word.quoted());
                    rest = &rest[close + 1..];
                }
                None => {
                    line.push('{');
                    rest = &rest[1..];
                }
            }
        }
        line.push_str(rest);
        line.trim_end().to_owned()
    }
}

impl Word<'_> {
    fn quoted(self) -> String {
        match self {
            Self::One(word) => sh_quote(word).into_owned(),
            Self::Many(words) => sh_join(words),
            Self::Piece(text) => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_quoted_and_never_a_place_itself() {
        let template = Template::new("run {id} ${HOME} {x} {flags}");
        let flags = ["{id}".to_owned(), "-k a b".to_owned()];
        let line = template.fill(&[("id", Word::One("$(rm)")), ("flags", Word::Many(&flags))]);
        assert_eq!(line, "run '$(rm)' ${HOME} {x} '{id}' '-k a b'");
        assert_eq!(Template::new("run {flags}").fill(&[("flags", Word::Many(&[]))]), "run");
    }

    #[test]
    fn a_brace_without_its_end_stays() {
        assert_eq!(Template::new("a { {id").fill(&[("id", Word::One("x"))]), "a { {id");
    }
}
