//! What can be wrong with a filter expression, and where.

use thiserror::Error;

use super::FilterKind;
use crate::path::{FieldError, did_you_mean};
use crate::snippet;

/// An expression that cannot be used, with the place of the fault.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("Invalid {kind} expression: {fault}")]
pub struct FilterError {
    kind: FilterKind,
    expression: String,
    /// In characters from the start of the expression.
    at: usize,
    /// Part of the message itself: an expression has one fault, not a chain of causes.
    fault: FilterFault,
}

impl FilterError {
    pub(super) fn new(kind: FilterKind, expression: &str, at: usize, fault: FilterFault) -> Self {
        Self { kind, expression: expression.to_owned(), at, fault }
    }

    /// What is wrong.
    pub fn fault(&self) -> &FilterFault {
        &self.fault
    }

    /// Where it is wrong, in characters from the start of the expression.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The expression with a caret under the fault: two lines, ready to print below the message.
    pub fn snippet(&self) -> String {
        snippet::caret(&self.expression, self.at)
    }
}

/// What is wrong with an expression.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FilterFault {
    /// There is no expression.
    #[error("it is empty")]
    Empty,
    /// It is longer than any expression a person writes.
    #[error("it is {length} bytes long, the limit is {limit}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The longest that is accepted.
        limit: usize,
    },
    /// Its brackets and operators are stacked too deep.
    #[error("it is nested too deeply")]
    TooDeep,
    /// A quote that never ends.
    #[error("the quote never ends")]
    UnterminatedQuote,
    /// It does not follow the grammar.
    #[error("{message}")]
    Syntax {
        /// What stands there.
        message: String,
    },
    /// A field that no record has.
    #[error("{0}{hint}", hint = quotes_hint(.0))]
    Field(FieldError),
    /// A function that does not exist.
    #[error("unknown function `{name}`{}", did_you_mean(.suggestion))]
    Function {
        /// The name as written.
        name: String,
        /// The function most like it.
        suggestion: Option<String>,
    },
    /// `has` of something that is no field.
    #[error("`has` takes one field, such as `has(url)` or `has(labels.x)`")]
    HasArgument,
    /// `exists`, `all`, `map` and their like with the wrong arguments.
    #[error(
        "`{name}` is called on a list with a variable and an expression, such as `xs.{name}(x, x == \"a\")`"
    )]
    MacroArguments {
        /// The macro's name.
        name: String,
    },
    /// A literal of a message type.
    #[error("`{type_name}{{...}}` is not supported")]
    MessageLiteral {
        /// The type's name.
        type_name: String,
    },
    /// The language itself could not be set up.
    #[error("the filter language could not be set up: {0}")]
    Language(#[source] cel::DeclarationError),
}

/// A name that is like no field is most often text without its quotes.
fn quotes_hint(error: &FieldError) -> &'static str {
    match error {
        FieldError::Unknown { suggestion: None, .. } => " (text must be in quotes)",
        _ => "",
    }
}
