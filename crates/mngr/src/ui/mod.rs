//! The only rooms that print: data to standard output, all else to standard error.

pub(crate) mod ask;
pub(crate) mod console;
pub(crate) mod error_text;
pub(crate) mod in_place;
pub(crate) mod input;
pub(crate) mod line;
pub(crate) mod menu;
pub(crate) mod output;
pub(crate) mod paint;
pub(crate) mod progress;
pub(crate) mod terminal;
pub(crate) mod theme;
pub(crate) mod words;

pub(crate) use console::Console;
pub(crate) use output::{Format, Output, Report};
