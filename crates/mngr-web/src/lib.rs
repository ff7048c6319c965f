//! What end-to-end tests left behind, as a page: all runs and tests, transcripts, recordings, comparisons; and a run of the
//! test map-reduce as another ([`report`]).
//!
//! A page is a folder: a small `index.html`, a few scripts and styles ([`assets`]), and pieces of data (`data/**.js`) that
//! are loaded by script tags as they are needed. So the same page opens from disk ([`export`]) and from a server on this
//! machine ([`serve`]); the latter makes a piece when it is first asked for. What is in the data was written by tests and
//! agents: it is never markup, here or in the scripts.
//!
//! Never in it: argv, a terminal, a test run.

mod assets;
pub mod catalogue;
mod export;
mod folder;
mod pages;
pub mod report;
pub mod serve;
#[cfg(test)]
mod testing;

pub use export::{ExportError, Exported, Exporter};
pub use pages::PageError;
