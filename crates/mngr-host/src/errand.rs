//! Several things that a host does one after the other in a single round trip, as long as each succeeds.

use crate::files::{Change, FilesError};
use crate::host::{AwaitedLine, Host};
use crate::proc::{Cmd, ExecError, Output};

/// Changes of files, then a command, then more changes, then a wait for what all that brings about.
#[derive(Debug, Clone, Copy)]
pub struct Errand<'a> {
    /// Made first, in their order.
    pub changes: &'a [Change],
    /// Run once they are made.
    pub cmd: &'a Cmd,
    /// Made once the command has succeeded.
    pub then: &'a [Change],
    /// Waited for once the command has succeeded and these changes are made.
    pub awaited: Option<AwaitedLine<'a>>,
}

/// What an errand came to.
#[derive(Debug)]
pub struct ErrandDone {
    /// Of the command, which may have failed.
    pub output: Output,
    /// What the awaited file says; nothing after a failure.
    pub said: Vec<u8>,
}

/// An errand that came to nothing, or nobody knows to what.
#[derive(Debug, thiserror::Error)]
pub enum ErrandError {
    /// A change could not be made, so what comes after it was not done; or the awaited file cannot be watched.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The command could not be run.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

/// One step after the other.
pub(crate) fn run_apart(host: &(impl Host + ?Sized), errand: &Errand<'_>) -> Result<ErrandDone, ErrandError> {
    host.files().apply(errand.changes)?;
    let output = host.exec(errand.cmd)?;
    if !output.success() {
        return Ok(ErrandDone { output, said: Vec::new() });
    }
    host.files().apply(errand.then)?;
    let said =
        errand.awaited.as_ref().map(|awaited| host.await_line(awaited)).transpose()?.unwrap_or_default();
    Ok(ErrandDone { output, said })
}
