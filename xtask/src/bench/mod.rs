//! `cargo xtask bench`: the release binary against the bare tools under it.
//!
//! Medians of interleaved runs and ratios within one run, because times of two runs on a busy machine cannot
//! be compared. A benchmark and no test: it says where a target is missed and exits 0.

mod cases;
mod error;
mod fleet;
mod measure;
mod memory;
mod options;
mod row;
mod run;

pub(crate) use options::Options;
pub(crate) use run::run;
