//! What can be wrong with rules although every single key of them is right.

/// The rules of a type cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScreenError {
    /// It is not said what the rule tells of.
    #[error("the screen rule `{rule}` has no `state`")]
    NoState {
        /// Its name.
        rule: String,
    },
    /// Only a waiting agent has a reason to wait.
    #[error("the screen rule `{rule}` has a `reason`, but its `state` is not WAITING")]
    ReasonWithoutWaiting {
        /// Its name.
        rule: String,
    },
    /// A pattern parses but is too large.
    #[error("the pattern `{key}` cannot be used")]
    Pattern {
        /// Where it stands, below the type.
        key: String,
        /// Why.
        #[source]
        source: regex::Error,
    },
}
