//! A look at the expression's tokens before the parser sees it.
//!
//! Two things must happen first: an expression deep enough to overflow the stack is refused, because the parser
//! recurses without a usable limit of its own; and `has(` gets a private name of the same length, because the
//! parser's own `has` refuses a bare field. The text keeps its length, so every column stays right.

use super::error::FilterFault;

/// What `has` is called from here on. As long as `has`, so that no column moves.
pub(super) const PRIVATE_HAS: &str = "___";

/// The longest expression, in bytes.
const LONGEST: usize = 64 * 1024;

/// How much nesting is accepted: eight brackets, or forty operators in a chain, or a mixture. In an unoptimised
/// build the parser needs 170 kB of stack for a bracket and the evaluation 36 kB for an operator, and a thread has
/// 2 MB for both.
const MAX_NESTING: usize = 40;
const BRACKET_COST: usize = 5;

/// The nesting inside one pair of brackets.
#[derive(Default)]
struct Level {
    /// Operators that stack up until the next `&&`, `||` or comma: those two the parser balances.
    chain: usize,
    /// `?` of conditionals; they nest to the right across `&&` and `||`, up to the next comma.
    conditionals: usize,
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    /// The last token was a dot, so a name is a member.
    after_dot: bool,
    outermost: Level,
    /// The brackets that are open, innermost last.
    inner: Vec<Level>,
}

/// Checks the expression's size and nesting and gives `has` its private name.
pub(super) fn scan(source: &str) -> Result<String, (FilterFault, usize)> {
    if source.len() > LONGEST {
        return Err((FilterFault::TooLong { length: source.len(), limit: LONGEST }, 0));
    }
    if source.trim().is_empty() {
        return Err((FilterFault::Empty, 0));
    }
    let mut scanner = Scanner {
        chars: source.chars().collect(),
        at: 0,
        after_dot: false,
        outermost: Level::default(),
        inner: Vec::new(),
    };
    while scanner.at < scanner.chars.len() {
        scanner.token()?;
        if scanner.nesting() > MAX_NESTING {
            return Err((FilterFault::TooDeep, scanner.at - 1));
        }
    }
    Ok(scanner.chars.into_iter().collect())
}

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn nesting(&self) -> usize {
        let levels = self.inner.iter().chain([&self.outermost]);
        let operators: usize = levels.map(|level| level.chain + level.conditionals).sum();
        operators + self.inner.len() * BRACKET_COST
    }

    fn level(&mut self) -> &mut Level {
        self.inner.last_mut().unwrap_or(&mut self.outermost)
    }

    fn token(&mut self) -> Result<(), (FilterFault, usize)> {
        let Some(character) = self.peek(0) else { return Ok(()) };
        if character.is_whitespace() {
            self.at += 1;
            return Ok(());
        }
        let was_after_dot = std::mem::replace(&mut self.after_dot, character == '.');
        match character {
            '/' if self.peek(1) == Some('/') => self.comment(),
            '"' | '\'' => self.quoted(character, Escapes::Yes)?,
            '`' => self.escaped_name()?,
            'a'..='z' | 'A'..='Z' | '_' => self.word(was_after_dot)?,
            '0'..='9' => self.skip_while(|c| c.is_ascii_alphanumeric() || c == '.'),
            _ => self.punctuation(character),
        }
        Ok(())
    }

    fn skip_while(&mut self, belongs: impl Fn(char) -> bool) {
        while self.peek(0).is_some_and(&belongs) {
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        self.skip_while(|c| c != '\n');
    }

    fn quoted(&mut self, quote: char, escapes: Escapes) -> Result<(), (FilterFault, usize)> {
        let start = self.at;
        let is_triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let width = if is_triple { 3 } else { 1 };
        self.at += width;
        loop {
            match self.peek(0) {
                None => return Err((FilterFault::UnterminatedQuote, start)),
                Some('\n') if !is_triple => return Err((FilterFault::UnterminatedQuote, start)),
                Some('\\') if escapes == Escapes::Yes => self.at += 2,
                Some(_) if (0..width).all(|ahead| self.peek(ahead) == Some(quote)) => {
                    self.at += width;
                    return Ok(());
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn escaped_name(&mut self) -> Result<(), (FilterFault, usize)> {
        let start = self.at;
        self.at += 1;
        self.skip_while(|c| c != '`' && c != '\n');
        if self.peek(0) != Some('`') {
            return Err((FilterFault::UnterminatedQuote, start));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, is_member: bool) -> Result<(), (FilterFault, usize)> {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let word: String = self.chars[start..self.at].iter().collect();
        if let Some(quote @ ('"' | '\'')) = self.peek(0)
            && matches!(word.to_ascii_lowercase().as_str(), "r" | "b" | "rb" | "br")
        {
            let is_raw = word.contains(['r', 'R']);
            return self.quoted(quote, if is_raw { Escapes::No } else { Escapes::Yes });
        }
        if word == "in" {
            self.level().chain += 1;
        }
        let next = self.chars[self.at..].iter().find(|c| !c.is_whitespace());
        if word == "has" && !is_member && next == Some(&'(') {
            self.chars.splice(start..self.at, PRIVATE_HAS.chars());
        }
        Ok(())
    }

    fn punctuation(&mut self, character: char) {
        let is_double = self.peek(1) == Some(character);
        match character {
            '(' | '[' | '{' => self.inner.push(Level::default()),
            ')' | ']' | '}' => {
                self.inner.pop();
                // What follows is applied to the bracket: `a[0][0]` is as deep as `a.b.c`.
                self.level().chain += 1;
            }
            ',' => *self.level() = Level::default(),
            '&' | '|' if is_double => {
                self.level().chain = 0;
                self.at += 1;
            }
            '?' => self.level().conditionals += 1,
            ':' => {}
            '=' | '!' | '<' | '>' => {
                self.level().chain += 1;
                self.at += usize::from(self.peek(1) == Some('='));
            }
            _ => self.level().chain += 1,
        }
        self.at += 1;
    }
}

/// Whether a backslash in a quoted text hides the next character.
#[derive(PartialEq, Clone, Copy)]
enum Escapes {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn has_is_renamed_only_where_it_is_the_function() {
        assert_eq!(scan("has(url) && has (labels.x)").unwrap(), "___(url) && ___ (labels.x)");
        for untouched in [
            "name == 'has(url)'",
            r#"name == "a\"has(x)""#,
            "x.has(y)",
            "has == 1",
            "r'\\' == 'has(x)' // has(x)",
        ] {
            assert_eq!(scan(untouched).unwrap(), untouched);
        }
        assert_eq!(
            scan("r'\\' == name && has(x)").unwrap(),
            "r'\\' == name && ___(x)",
            "raw text has no escapes"
        );
        assert_eq!(scan("'''a'has(x)''' == has(y)").unwrap(), "'''a'has(x)''' == ___(y)");
    }

    #[test]
    fn an_open_quote_is_found_at_its_start() {
        assert_eq!(scan("name == \"a"), Err((FilterFault::UnterminatedQuote, 8)));
        assert_eq!(scan("name == 'a\n'"), Err((FilterFault::UnterminatedQuote, 8)));
        assert_eq!(scan("labels.`x"), Err((FilterFault::UnterminatedQuote, 7)));
    }

    #[test]
    fn depth_counts_brackets_and_chains_but_not_breadth() {
        for unit in ["(", "[", "- ", "!", "1 + ", "a.", "a ? b : "] {
            assert!(matches!(scan(&unit.repeat(41)), Err((FilterFault::TooDeep, _))), "{unit}");
        }
        assert!(matches!(scan(&format!("a{}", "[0]".repeat(60))), Err((FilterFault::TooDeep, _))));
        assert!(matches!(scan(&"a && b ? c : ".repeat(60)), Err((FilterFault::TooDeep, _))));
        assert!(scan(&format!("{}true", "(name == 'a') || ".repeat(500))).is_ok());
        assert!(scan(&format!("name in [{}'z']", "'a' + 'b', ".repeat(500))).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length(text in any::<String>()) {
            if let Ok(scanned) = scan(&text) {
                prop_assert_eq!(scanned.chars().count(), text.chars().count());
            }
        }
    }
}
