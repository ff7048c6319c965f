//! Asking for a view of many records.
//!
//! A record is a JSON object. This crate decides which records are shown ([`FilterSet`]), in what order
//! ([`SortSpec`]), with which fields ([`Projection`]) and how they look ([`Template`], [`Table`]). Every query is
//! a *projection*: it says through a [`FieldSet`] which fields it touches, so that the caller builds only those.
//!
//! Never in here: reading files, starting processes, the environment, the clock, printing. The fields an agent
//! record may have are data ([`Catalog::agents`]); how their values are found out is the caller's business.

mod catalog;
mod field_set;
mod filter;
mod json;
mod path;
mod sanitize;
mod snippet;
mod sort;
mod table;
mod template;

pub use catalog::{Catalog, Field, FieldKind};
pub use field_set::FieldSet;
pub use filter::{
    Filter, FilterError, FilterFault, FilterKind, FilterProblem, FilterProblems, FilterSet, Match,
};
pub use json::{Projection, ProjectionError, cell_text};
pub use path::{FieldError, FieldPath};
pub use sanitize::{is_unsafe, sanitize, sanitize_lines};
pub use sort::{SortDirection, SortError, SortKey, SortSpec};
pub use table::{Align, Cell, CellStyle, Column, HeaderError, Headers, Table, cut, width};
pub use template::{Template, TemplateError, TemplateFault};
