//! What every case needs.

use std::path::PathBuf;

use crate::bench::measure::Interrupt;
use crate::bench::options::Effort;

/// One run of the benchmark.
#[derive(Debug)]
pub(crate) struct Bench {
    /// The release binary.
    pub(crate) binary: PathBuf,
    pub(crate) effort: Effort,
    pub(crate) interrupt: Interrupt,
}
