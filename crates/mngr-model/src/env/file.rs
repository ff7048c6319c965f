//! Reading dotenv files: `KEY=value` lines, comments, `export`, quotes. Nothing is ever expanded or run.
//!
//! A value that starts with a quote is read as the shell reads adjacent quoted pieces, over line ends too; any other
//! value is the rest of its line, verbatim, without surrounding blanks and a ` # comment`.

use super::{EnvError, EnvName, EnvPair};

/// Why an env file is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct EnvFileError {
    /// The line where the variable starts, from 1 on.
    pub line: usize,
    /// What is wrong there.
    pub problem: EnvFileProblem,
}

/// What is wrong with a line of an env file. Values are never part of the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvFileProblem {
    /// The variable itself.
    #[error(transparent)]
    Variable(#[from] EnvError),
    /// A quote that is never closed.
    #[error("the value of `{0}` has no closing quote")]
    UnclosedQuote(EnvName),
    /// Something other than a comment after a quoted value.
    #[error("there is text after the closing quote of `{0}`")]
    TextAfterQuote(EnvName),
}

/// Reads the text of a dotenv file: its variables in order. A name may come twice; the later one is meant to win.
///
/// # Errors
/// The first line that is neither blank, a comment nor `KEY=value`.
pub fn parse_env_file(text: &str) -> Result<Vec<EnvPair>, EnvFileError> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut pairs = Vec::new();
    let mut line = 1;
    while !rest.is_empty() {
        let (pair, after) = take_entry(rest).map_err(|problem| EnvFileError { line, problem })?;
        pairs.extend(pair);
        line += rest[..rest.len() - after.len()].matches('\n').count();
        rest = after;
    }
    Ok(pairs)
}

/// The entry at the start of `text`, if its line holds one, and the text after that entry's last line.
fn take_entry(text: &str) -> Result<(Option<EnvPair>, &str), EnvFileProblem> {
    let (line, after_line) = text.split_once('\n').unwrap_or((text, ""));
    let content = line.trim();
    if content.is_empty() || content.starts_with('#') {
        return Ok((None, after_line));
    }
    let assignment = match content.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => content,
    };
    let Some((name, value)) = assignment.split_once('=') else {
        return Err(EnvError::without_equals_sign(assignment).into());
    };
    let name: EnvName = name.trim_end().parse()?;
    if !value.trim_start().starts_with(['\'', '"']) {
        return Ok((Some(EnvPair::new(name, without_comment(value).trim())?), after_line));
    }
    // A quoted value may go on over the end of the line, so it is read from the whole text.
    let quoted = text.split_once('=').map_or("", |(_, value)| value).trim_start();
    let Some((value, after)) = take_quoted(quoted) else {
        return Err(EnvFileProblem::UnclosedQuote(name));
    };
    let (tail, after_line) = after.split_once('\n').unwrap_or((after, ""));
    let is_comment = tail.trim_start().starts_with('#') && tail.starts_with(char::is_whitespace);
    if !tail.trim().is_empty() && !is_comment {
        return Err(EnvFileProblem::TextAfterQuote(name));
    }
    Ok((Some(EnvPair::new(name, value)?), after_line))
}

/// An unquoted value up to a `#` that follows a blank or starts it.
fn without_comment(value: &str) -> &str {
    let starts_comment = |at: usize| value[..at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = value.match_indices('#').map(|(at, _)| at).find(|&at| starts_comment(at));
    comment.map_or(value, |at| &value[..at])
}

/// Adjacent quoted pieces and `\x` between them, as in `'it'\''s'`, and what follows; `None` when a quote stays open.
fn take_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.chars();
    loop {
        let rest = chars.as_str();
        match chars.next() {
            Some('\'') => {
                let (inner, after) = chars.as_str().split_once('\'')?;
                value.push_str(inner);
                chars = after.chars();
            }
            Some('"') => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => push_escaped(&mut value, chars.next()?),
                    other => value.push(other),
                }
            },
            Some('\\') => value.push(chars.next()?),
            _ => return Some((value, rest)),
        }
    }
}

/// What `\` and `escaped` mean between double quotes: the usual escapes; a pair without a meaning stays as it is.
fn push_escaped(value: &mut String, escaped: char) {
    match escaped {
        'n' => value.push('\n'),
        'r' => value.push('\r'),
        't' => value.push('\t'),
        '"' | '\\' | '$' | '`' | '\'' => value.push(escaped),
        other => value.extend(['\\', other]),
    }
}
