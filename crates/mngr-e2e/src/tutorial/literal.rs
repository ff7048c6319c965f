//! What string literals of Python and Rust mean.

use super::syntax::Literal;

/// A Python string literal with its prefix and quotes; `None` for bytes, and for what is only known at run time.
pub(crate) fn python(source: &str) -> Option<Literal> {
    let quotes = source.find(['"', '\''])?;
    let (prefix, quoted) = source.split_at(quotes);
    let prefix = prefix.to_ascii_lowercase();
    let written = ["\"\"\"", "'''", "\"", "'"]
        .iter()
        .find_map(|quote| quoted.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)))?;
    if prefix.contains('b') {
        return None;
    }
    let value = if prefix.contains('r') { written.to_owned() } else { unescape(written, python_escape) };
    let value = if prefix.contains(['f', 't']) { value.replace("{{", "{").replace("}}", "}") } else { value };
    Some(Literal { value, written: written.to_owned() })
}

/// A Rust string literal with its prefix and quotes; `None` for bytes.
pub(crate) fn rust(source: &str) -> Option<Literal> {
    if let Some(raw) = source.strip_prefix('r').or_else(|| source.strip_prefix("cr")) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let written = raw.get(hashes + 1..raw.len().checked_sub(hashes + 1)?)?;
        return Some(Literal { value: written.to_owned(), written: written.to_owned() });
    }
    let written = source.strip_prefix('c').unwrap_or(source).strip_prefix('"')?.strip_suffix('"')?;
    Some(Literal { value: unescape(written, rust_escape), written: written.to_owned() })
}

/// What stands for an escape sequence, and how long it is without its backslash. `None`: the backslash is one.
type Escape = fn(&str) -> Option<(String, usize)>;

fn unescape(written: &str, escape: Escape) -> String {
    let mut value = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        value.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match escape(rest) {
            Some((meant, length)) => {
                value.push_str(&meant);
                rest = rest.get(length..).unwrap_or_default();
            }
            None => value.push('\\'),
        }
    }
    value + rest
}

fn python_escape(rest: &str) -> Option<(String, usize)> {
    let first = rest.chars().next()?;
    let one = |meant: &str| Some((meant.to_owned(), 1));
    match first {
        '\n' => one(""),
        '\r' => Some((String::new(), if rest.starts_with("\r\n") { 2 } else { 1 })),
        '\\' | '\'' | '"' => one(&first.to_string()),
        'a' => one("\u{7}"),
        'b' => one("\u{8}"),
        'f' => one("\u{c}"),
        'n' => one("\n"),
        'r' => one("\r"),
        't' => one("\t"),
        'v' => one("\u{b}"),
        'x' => code_point(rest.get(1..3)?, 16, 3),
        'u' => code_point(rest.get(1..5)?, 16, 5),
        'U' => code_point(rest.get(1..9)?, 16, 9),
        '0'..='7' => {
            let digits = rest.bytes().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
            code_point(&rest[..digits], 8, digits)
        }
        _ => None,
    }
}

fn rust_escape(rest: &str) -> Option<(String, usize)> {
    let first = rest.chars().next()?;
    let one = |meant: &str| Some((meant.to_owned(), 1));
    match first {
        // The line goes on at the first character that is no white space.
        '\n' | '\r' => {
            Some((String::new(), rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()))
        }
        '\\' | '\'' | '"' => one(&first.to_string()),
        '0' => one("\0"),
        'n' => one("\n"),
        'r' => one("\r"),
        't' => one("\t"),
        'x' => code_point(rest.get(1..3)?, 16, 3),
        'u' => {
            let digits = rest.strip_prefix("u{")?.split_once('}')?.0;
            code_point(&digits.replace('_', ""), 16, digits.len() + 3)
        }
        _ => None,
    }
}

fn code_point(digits: &str, radix: u32, length: usize) -> Option<(String, usize)> {
    let meant = u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)?;
    Some((meant.to_string(), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_literals_mean_what_python_makes_of_them() {
        for (source, value) in [
            ("'a'", "a"),
            ("\"\"\"a\nb\"\"\"", "a\nb"),
            ("r'''a\\nb'''", "a\\nb"),
            ("R\"\\\"", "\\"),
            (r#"'a\tb\x41\u00e4\101\'\q'"#, "a\tbA\u{e4}A'\\q"),
            ("\"\"\"a \\\n  b\"\"\"", "a   b"),
            (r#""""say \"\"\"x\"\"\"""""#, "say \"\"\"x\"\"\""),
            ("f'{{x}}'", "{x}"),
            ("u''", ""),
            (r"'\N{BULLET}'", r"\N{BULLET}"),
        ] {
            assert_eq!(python(source).unwrap().value, value, "{source}");
        }
        assert_eq!(python("b'a'"), None);
        assert_eq!(python("\"\"\"a \\\n b\"\"\"").unwrap().written, "a \\\n b");
    }

    #[test]
    fn rust_literals_mean_what_rust_makes_of_them() {
        for (source, value) in [
            (r#""a\tb\x41\u{e4}\"""#, "a\tbA\u{e4}\""),
            ("\"a \\\n   b\"", "a b"),
            ("r\"a\\n\"", "a\\n"),
            ("r##\"say \"#\"##", "say \"#"),
        ] {
            assert_eq!(rust(source).unwrap().value, value, "{source}");
        }
        assert_eq!(rust("b\"a\""), None);
    }
}
