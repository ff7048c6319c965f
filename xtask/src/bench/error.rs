//! What stops a benchmark.

use std::io;
use std::process::ExitStatus;

use crate::metadata::MetadataError;

/// Why the benchmark could not be finished.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    #[error("the release build failed ({0})")]
    Build(ExitStatus),
    #[error("cannot run `{command}`")]
    Start { command: String, source: io::Error },
    #[error("a command of the benchmark failed\n{0}")]
    Failed(String),
    #[error("cannot prepare the agents in `{what}`")]
    Prepare { what: String, source: io::Error },
    #[error("no tmux server of agents is running where one is needed")]
    NoServer,
    #[error("cannot watch for an interrupt")]
    Signal(#[source] io::Error),
    #[error("interrupted; everything it had started is ended")]
    Interrupted,
}
