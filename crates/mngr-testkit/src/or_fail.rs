//! Failing a test with a sentence that says what was being done.

use std::fmt::Display;

/// Unwraps a result, or fails the test at the caller's line.
pub(crate) trait OrFail<T> {
    /// The value, or a panic that reads "`doing`: `error`".
    fn or_fail(self, doing: impl Display) -> T;
}

impl<T, E: Display> OrFail<T> for Result<T, E> {
    #[track_caller]
    fn or_fail(self, doing: impl Display) -> T {
        match self {
            Ok(value) => value,
            Err(error) => panic!("{doing}: {error}"),
        }
    }
}
