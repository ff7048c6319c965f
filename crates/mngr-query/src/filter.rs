//! `--include` and `--exclude`: choosing records with expressions in the Common Expression Language.
//!
//! What differs from plain CEL, for the user's sake:
//! - `has(url)` works on a bare field, and null counts as absent (`url == null` is `!has(url)`).
//! - A missing value makes an expression *no match*, silently, also under `!` and `!=`: an agent without the label
//!   is neither `labels.x == "a"` nor `labels.x != "a"`. Say `!has(labels.x) || labels.x != "a"` to keep it.
//! - Field and function names are checked before the first record is seen.
//!
//! Evaluation binds only the fields an expression names, and borrows their text. Never in here: knowing what a
//! field means, or printing a problem.

mod bind;
mod error;
mod evaluate;
mod language;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cel::{Env, IdedExpr};
use serde_json::Value;

use crate::catalog::Catalog;
use crate::field_set::FieldSet;
use bind::Slot;

pub use error::{FilterError, FilterFault};

/// Whether matching records are kept or dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilterKind {
    /// Only matching records are kept.
    Include,
    /// Matching records are dropped.
    Exclude,
    /// Something is waited for until it is true.
    Until,
}

impl fmt::Display for FilterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Include => "include filter",
            Self::Exclude => "exclude filter",
            Self::Until => "`--until`",
        })
    }
}

/// What one filter says about one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// The expression is true.
    Yes,
    /// The expression is false, or speaks about a value the record does not have.
    No,
    /// The expression makes no sense for this record, for instance compares a number with a text. Counts as no
    /// match.
    Failed {
        /// Why, as a fragment for a message.
        reason: String,
    },
}

/// A compiled filter expression.
pub struct Filter {
    kind: FilterKind,
    source: String,
    expression: IdedExpr,
    slots: Vec<Slot>,
    language: Arc<Env>,
}

impl Filter {
    /// Compiles one expression. Every name in it is checked against the catalogue.
    pub fn compile(source: &str, kind: FilterKind, catalog: &Catalog) -> Result<Self, FilterError> {
        let fail = |(fault, at)| FilterError::new(kind, source, at, fault);
        let language = language::language().map_err(|error| fail((FilterFault::Language(error), 0)))?;
        let scanned = scan::scan(source).map_err(fail)?;
        let (expression, places) = language::parse(&language, &scanned).map_err(fail)?;
        let (expression, slots) = bind::bind(expression, &places, catalog).map_err(fail)?;
        Ok(Self { kind, source: source.to_owned(), expression, slots, language })
    }

    /// The expression as the user wrote it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The fields the expression reads.
    pub fn wanted(&self) -> FieldSet {
        self.slots.iter().map(|slot| slot.path.wanted()).collect()
    }

    /// Applies the expression to one record.
    pub fn matches(&self, record: &Value) -> Match {
        evaluate::evaluate(&self.expression, &self.slots, &self.language, record)
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("kind", &self.kind)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// All filters of one view: every include must match, and no exclude may.
#[derive(Debug, Default)]
pub struct FilterSet {
    filters: Vec<Filter>,
}

impl FilterSet {
    /// Compiles the expressions of `--include` and `--exclude`; the first bad one is the error.
    pub fn compile<S: AsRef<str>>(
        includes: &[S],
        excludes: &[S],
        catalog: &Catalog,
    ) -> Result<Self, FilterError> {
        let include = includes.iter().map(|source| (source, FilterKind::Include));
        let exclude = excludes.iter().map(|source| (source, FilterKind::Exclude));
        let filters = include
            .chain(exclude)
            .map(|(source, kind)| Filter::compile(source.as_ref(), kind, catalog))
            .collect::<Result<_, _>>()?;
        Ok(Self { filters })
    }

    /// Adds one more filter.
    pub fn push(&mut self, filter: Filter) {
        self.filters.push(filter);
    }

    /// Whether there is no filter, so that every record is kept.
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// The fields the filters read.
    pub fn wanted(&self) -> FieldSet {
        let mut wanted = FieldSet::new();
        for filter in &self.filters {
            wanted.merge(filter.wanted());
        }
        wanted
    }

    /// Whether a record passes. What could not be applied is noted in `problems`, once per expression.
    pub fn keeps(&self, record: &Value, problems: &mut FilterProblems) -> bool {
        self.filters.iter().all(|filter| {
            let is_match = match filter.matches(record) {
                Match::Yes => true,
                Match::No => false,
                Match::Failed { reason } => {
                    problems.note(filter, reason);
                    false
                }
            };
            is_match == (filter.kind != FilterKind::Exclude)
        })
    }
}

/// The expressions that could not be applied to some record, each once.
#[derive(Debug, Clone, Default)]
pub struct FilterProblems {
    found: BTreeMap<(FilterKind, String), FilterProblem>,
}

/// An expression that could not be applied to some records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterProblem {
    /// Whether it was an include or an exclude.
    pub kind: FilterKind,
    /// The expression as the user wrote it.
    pub source: String,
    /// Why it could not be applied to the first of these records.
    pub reason: String,
    /// How many records it could not be applied to.
    pub records: usize,
}

impl FilterProblems {
    /// No problem yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The problems, includes first.
    pub fn iter(&self) -> impl Iterator<Item = &FilterProblem> {
        self.found.values()
    }

    fn note(&mut self, filter: &Filter, reason: String) {
        let key = (filter.kind, filter.source.clone());
        self.found
            .entry(key)
            .or_insert_with(|| FilterProblem {
                kind: filter.kind,
                source: filter.source.clone(),
                reason,
                records: 0,
            })
            .records += 1;
    }
}

impl fmt::Display for FilterProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, source, reason, records } = self;
        let noun = if *records == 1 { "record" } else { "records" };
        let source = crate::sanitize(source);
        write!(f, "{kind} `{source}` could not be applied to {records} {noun}: {reason}")
    }
}
