//! Just enough of Rust's grammar to measure a source file.
//!
//! Comments and literals are blanked out first, so that what follows can look for words and braces without
//! being misled by text.

/// A source file, measured.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Lines outside `#[cfg(test)]` items.
    pub(crate) lines: usize,
    /// Functions with a body outside `#[cfg(test)]` items.
    pub(crate) functions: usize,
    /// Whether the file says first what it is for.
    pub(crate) has_head: bool,
}

/// Measures the text of one file.
pub(crate) fn measure(text: &str) -> Measured {
    let code = without_test_items(&blanked(text));
    Measured {
        lines: code.iter().collect::<String>().lines().count(),
        functions: functions_with_body(&code),
        has_head: text.starts_with("//!"),
    }
}

/// The same text with a blank for every character of a comment or literal; line breaks stay.
fn blanked(text: &str) -> Vec<char> {
    let chars: Vec<char> = text.chars().collect();
    let mut code = Vec::with_capacity(chars.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end == at {
            code.push(chars[at]);
            at += 1;
        } else {
            let blank = |c: &char| if *c == '\n' { '\n' } else { ' ' };
            code.extend(chars[at..end.min(chars.len())].iter().map(blank));
            at = end;
        }
    }
    code
}

/// Where the comment or literal that starts at `at` ends; `at` itself when none does.
fn literal_end(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    match rest {
        ['/', '/', ..] => at + rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => at + block_comment_length(rest),
        ['"', ..] => at + quoted_length(rest, '"'),
        ['r', '"' | '#', ..] if starts_literal(chars, at) => at + raw_string_length(rest),
        ['\'', '\\', ..] | ['\'', _, '\'', ..] => at + quoted_length(rest, '\''),
        _ => at,
    }
}

/// Whether the `r` at `at` begins a word, perhaps after the `b` or `c` of a byte or C string.
fn starts_literal(chars: &[char], at: usize) -> bool {
    let in_word = |index: usize| chars.get(index).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    match at.checked_sub(1) {
        Some(before) if matches!(chars[before], 'b' | 'c') => before == 0 || !in_word(before - 1),
        Some(before) => !in_word(before),
        None => true,
    }
}

fn block_comment_length(rest: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn quoted_length(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The length of a raw string, or 0 for a raw identifier such as `r#fn`.
fn raw_string_length(rest: &[char]) -> usize {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let mut closing = vec!['"'];
    closing.resize(1 + hashes, '#');
    let body = 2 + hashes;
    let end = rest[body..].windows(closing.len()).position(|window| *window == closing[..]);
    end.map_or(rest.len(), |end| body + end + closing.len())
}

/// The code without the items that are compiled for tests only.
fn without_test_items(code: &[char]) -> Vec<char> {
    let attribute: Vec<char> = "#[cfg(test)]".chars().collect();
    let mut kept = Vec::with_capacity(code.len());
    let mut at = 0;
    while at < code.len() {
        if code[at..].starts_with(&attribute) {
            at = item_end(code, at + attribute.len());
        } else {
            kept.push(code[at]);
            at += 1;
        }
    }
    kept
}

/// Where the item that begins at `at` ends: behind its `;`, or behind the brace that closes its body.
fn item_end(code: &[char], at: usize) -> usize {
    let Some(opening) = body_or_semicolon(code, at) else { return code.len() };
    if code[opening] == ';' {
        return opening + 1;
    }
    let mut depth = 0_usize;
    for (offset, c) in code[opening..].iter().enumerate() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return opening + offset + 1;
        }
    }
    code.len()
}

/// The first `{` or `;` that is not inside parentheses or brackets.
fn body_or_semicolon(code: &[char], at: usize) -> Option<usize> {
    let mut depth = 0_isize;
    (at..code.len()).find(|index| {
        match code[*index] {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' | ';' => return depth == 0,
            _ => {}
        }
        false
    })
}

fn functions_with_body(code: &[char]) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let named = |at: usize| {
        let free = at == 0 || !is_word(code[at - 1]);
        // A name has to follow: `fn(u8) -> u8` is a type.
        free && code[at..].starts_with(&['f', 'n', ' ']) && code.get(at + 3).copied().is_some_and(is_word)
    };
    let has_body = |at: usize| body_or_semicolon(code, at).is_some_and(|found| code[found] == '{');
    (0..code.len()).filter(|at| named(*at) && has_body(*at)).count()
}

#[cfg(test)]
mod tests;
