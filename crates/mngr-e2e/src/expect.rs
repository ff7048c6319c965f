//! Saying what should hold, in the words of the pytest plugin.
//!
//! An expectation that does not hold ends the test, with the command, its exit code, both streams and the place of the
//! artifacts in the message.

use regex::Regex;

use crate::session::{Printed, RunResult};

/// Begins an expectation about a result or a text.
#[must_use = "an expectation says nothing until one of its methods is called"]
pub fn expect<S: Subject + ?Sized>(subject: &S) -> S::Expectation<'_> {
    subject.expectation()
}

/// What one can have expectations about.
pub trait Subject {
    /// What can be said about it.
    type Expectation<'a>
    where
        Self: 'a;

    /// Begins an expectation.
    fn expectation(&self) -> Self::Expectation<'_>;
}

impl Subject for RunResult {
    type Expectation<'a> = ExpectResult<'a>;

    fn expectation(&self) -> ExpectResult<'_> {
        ExpectResult { result: self }
    }
}

impl Subject for Printed {
    type Expectation<'a> = ExpectText<'a>;

    fn expectation(&self) -> ExpectText<'_> {
        ExpectText { text: self, name: self.stream(), report: Some(self.report()) }
    }
}

impl Subject for str {
    type Expectation<'a> = ExpectText<'a>;

    fn expectation(&self) -> ExpectText<'_> {
        ExpectText { text: self, name: "the text", report: None }
    }
}

impl Subject for String {
    type Expectation<'a> = ExpectText<'a>;

    fn expectation(&self) -> ExpectText<'_> {
        self.as_str().expectation()
    }
}

/// Expectations about how a command ended.
#[derive(Debug, Clone, Copy)]
pub struct ExpectResult<'a> {
    result: &'a RunResult,
}

impl ExpectResult<'_> {
    /// It returned 0.
    #[track_caller]
    pub fn to_succeed(self) -> Self {
        self.check(self.result.exit_code == 0, "succeed")
    }

    /// It returned something else than 0.
    #[track_caller]
    pub fn to_fail(self) -> Self {
        self.check(self.result.exit_code != 0, "fail")
    }

    /// It returned this code.
    #[track_caller]
    pub fn to_have_exit_code(self, code: i32) -> Self {
        self.check(self.result.exit_code == code, &format!("end with {code}"))
    }

    #[track_caller]
    fn check(self, holds: bool, what: &str) -> Self {
        let code = self.result.exit_code;
        assert!(holds, "expected the command to {what}, but it ended with {code}\n{}", self.result.report());
        self
    }
}

/// Expectations about a text.
#[derive(Debug, Clone, Copy)]
pub struct ExpectText<'a> {
    text: &'a str,
    name: &'static str,
    report: Option<&'a str>,
}

impl ExpectText<'_> {
    /// This is somewhere in it.
    #[track_caller]
    pub fn to_contain(self, part: &str) -> Self {
        self.check(self.text.contains(part), &format!("to contain {part:?}"))
    }

    /// This is nowhere in it.
    #[track_caller]
    pub fn not_to_contain(self, part: &str) -> Self {
        self.check(!self.text.contains(part), &format!("not to contain {part:?}"))
    }

    /// Something in it matches this regular expression.
    #[track_caller]
    pub fn to_match(self, pattern: &str) -> Self {
        self.check(regex(pattern).is_match(self.text), &format!("to match /{pattern}/"))
    }

    /// Nothing in it matches this regular expression.
    #[track_caller]
    pub fn not_to_match(self, pattern: &str) -> Self {
        self.check(!regex(pattern).is_match(self.text), &format!("not to match /{pattern}/"))
    }

    /// It is exactly this.
    #[track_caller]
    pub fn to_equal(self, other: &str) -> Self {
        self.check(self.text == other, &format!("to equal {other:?}"))
    }

    /// It is not exactly this.
    #[track_caller]
    pub fn not_to_equal(self, other: &str) -> Self {
        self.check(self.text != other, &format!("not to equal {other:?}"))
    }

    /// There is nothing in it.
    #[track_caller]
    pub fn to_be_empty(self) -> Self {
        self.check(self.text.is_empty(), "to be empty")
    }

    /// There is something in it.
    #[track_caller]
    pub fn not_to_be_empty(self) -> Self {
        self.check(!self.text.is_empty(), "not to be empty")
    }

    #[track_caller]
    fn check(self, holds: bool, what: &str) -> Self {
        match self.report {
            Some(report) => assert!(holds, "expected {} {what}\n{report}", self.name),
            None => {
                assert!(holds, "expected {} {what}\ntext:{}", self.name, crate::session::shown(self.text))
            }
        }
        self
    }
}

#[track_caller]
fn regex(pattern: &str) -> Regex {
    match Regex::new(pattern) {
        Ok(regex) => regex,
        Err(error) => panic!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn message(check: fn() -> ExpectText<'static>) -> String {
        let panic = catch_unwind(AssertUnwindSafe(check)).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    }

    #[test]
    fn what_holds_passes_and_can_be_chained() {
        let text = "one\ntwo\n".to_owned();
        expect(&text).to_contain("one").not_to_contain("three").to_match(r"(?m)^t\w+$");
        expect(&text).not_to_match("^two").to_equal("one\ntwo\n").not_to_be_empty().not_to_equal("");
        expect("").to_be_empty();
    }

    #[test]
    fn each_expectation_fails_when_its_opposite_holds() {
        type Check = fn() -> ExpectText<'static>;
        let checks: [(Check, &str); 9] = [
            (|| expect("ab").to_contain("c"), "expected the text to contain \"c\""),
            (|| expect("ab").not_to_contain("a"), "not to contain \"a\""),
            (|| expect("ab").to_match("^b"), "to match /^b/"),
            (|| expect("ab").not_to_match("b$"), "not to match /b$/"),
            (|| expect("ab").to_equal("abc"), "to equal \"abc\""),
            (|| expect("ab").not_to_equal("ab"), "not to equal \"ab\""),
            (|| expect("ab").to_be_empty(), "to be empty"),
            (|| expect("").not_to_be_empty(), "not to be empty"),
            (|| expect("ab").to_match("("), "regex parse error"),
        ];
        for (check, wanted) in checks {
            let text = message(check);
            assert!(text.contains(wanted), "{text}");
        }
    }
}
