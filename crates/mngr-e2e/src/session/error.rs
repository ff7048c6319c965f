//! What can go wrong around a test, as opposed to in it.

use mngr_host::files::FilesError;
use mngr_host::local::LocalHostError;
use mngr_host::lock::LockError;
use mngr_host::proc::ExecError;
use mngr_model::HostPath;

use crate::recorder::RecordError;

/// The session cannot do its work. A test ends with it; an expectation that does not hold is no error of this kind.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A variable holds a word that is none of the choices.
    #[error("`{variable}` is `{found}`, expected `no`, `on-failure` or `yes`")]
    BadChoice {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        found: String,
    },
    /// An environment is to be kept whose artifacts, with the way into it, are not.
    #[error(
        "the environment is kept more often than the artifacts: `{keep_env}` is wider than `{artifacts}`"
    )]
    NarrowArtifacts {
        /// The variable for the environment.
        keep_env: &'static str,
        /// The variable for the artifacts.
        artifacts: &'static str,
    },
    /// A file of the environment or of the artifacts.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The environment's host dir.
    #[error(transparent)]
    Host(#[from] LocalHostError),
    /// Two processes of one run have to agree on its name.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A program could not be started or watched.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// What a terminal shows could not be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A terminal could not be made.
    #[error("cannot make a terminal")]
    Terminal {
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The repository could not be made.
    #[error("cannot make the repository `{path}`: {message}")]
    Repository {
        /// Where.
        path: HostPath,
        /// What git says.
        message: String,
    },
    /// Something of the test is still there.
    #[error("the environment `{root}` could not be cleaned up")]
    Remains {
        /// The environment's folder.
        root: HostPath,
    },
}

/// Ends the test: inside a test there is nobody to hand an error to.
#[track_caller]
pub(crate) fn fail(error: &SessionError) -> ! {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str("\n  caused by: ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    panic!("{text}")
}

/// The value, or the end of the test.
#[track_caller]
pub(crate) fn or_fail<T>(result: Result<T, SessionError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fail(&error),
    }
}
