//! Path patterns as `.gitignore` spells them, as far as settings need them: `*`, `**`, `?`; a pattern without an inner
//! slash matches at any depth, one that ends in a slash matches everything below. Pure.

use regex::Regex;

/// A pattern for paths inside a repository.
#[derive(Debug, Clone)]
pub struct Glob {
    text: String,
    pattern: Regex,
}

/// A text that is no pattern.
#[derive(Debug, thiserror::Error)]
#[error("`{pattern}` is not a path pattern")]
pub struct GlobError {
    /// The text.
    pub pattern: String,
    /// Why.
    #[source]
    pub source: regex::Error,
}

impl Glob {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Self, GlobError> {
        let pattern =
            Regex::new(&to_regex(text)).map_err(|source| GlobError { pattern: text.to_owned(), source })?;
        Ok(Self { text: text.to_owned(), pattern })
    }

    /// Reads several.
    pub fn all<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Result<Vec<Self>, GlobError> {
        texts.into_iter().map(|text| Self::new(text.as_ref())).collect()
    }

    /// Whether it means this path.
    pub fn matches(&self, path: &str) -> bool {
        self.pattern.is_match(path)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn to_regex(text: &str) -> String {
    let body = text.trim_start_matches('/');
    let is_folder = body.ends_with('/');
    let body = body.trim_end_matches('/');
    let is_anchored = text.starts_with('/') || body.contains('/');
    let mut regex = String::from(r"(?s)\A");
    if !is_anchored {
        regex.push_str("(?:.*/)?");
    }
    let mut rest = body;
    while let Some(c) = rest.chars().next() {
        let (piece, length) = if rest.starts_with("**/") {
            ("(?:.*/)?".to_owned(), 3)
        } else if rest.starts_with("**") {
            (".*".to_owned(), 2)
        } else {
            let piece = match c {
                '*' => "[^/]*".to_owned(),
                '?' => "[^/]".to_owned(),
                other => regex::escape(&other.to_string()),
            };
            (piece, c.len_utf8())
        };
        regex.push_str(&piece);
        rest = &rest[length..];
    }
    // A name may also be a folder: then everything below it is meant.
    regex.push_str(if is_folder { r"/.*\z" } else { r"(?:/.*)?\z" });
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_gitignore_means() {
        for (pattern, yes, no) in [
            ("tests/", &["tests/a", "x/tests/b/c"][..], &["tests", "mytests/a", "tests.py"][..]),
            ("/tests/", &["tests/a"], &["x/tests/a"]),
            ("test_*.py", &["test_a.py", "x/test_b.py"], &["test_a.pyc", "a/test_/b.py", "my_test_a.py"]),
            ("src/**/t.rs", &["src/t.rs", "src/a/b/t.rs"], &["t.rs", "src/at.rs"]),
            ("docs/*.md", &["docs/a.md"], &["docs/a/b.md", "x/docs/a.md"]),
            ("docs/**", &["docs/a", "docs/a/b"], &["docs"]),
            ("a?c", &["abc", "x/abc", "abc/d"], &["a/c", "ac"]),
            ("a.b+(", &["a.b+("], &["axb+("]),
        ] {
            let glob = Glob::new(pattern).unwrap();
            for path in yes {
                assert!(glob.matches(path), "{pattern} must match {path}");
            }
            for path in no {
                assert!(!glob.matches(path), "{pattern} must not match {path}");
            }
        }
    }
}
