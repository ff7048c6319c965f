//! Why a run as a whole cannot begin or go on. A task that fails is no error.

use mngr_host::files::FilesError;
use mngr_host::git::GitError;
use mngr_model::HostPath;
use mngr_model::name::NameError;
use mngr_model::run::TaskId;
use mngr_ops::create::CreateError;
use mngr_ops::pool::PoolError;

use crate::collect::{CollectError, CollectorError};
use crate::integrate::IntegrateError;
use crate::journal::JournalError;
use crate::mapper::prompts::PromptError;
use crate::plan::PreRunError;
use crate::strength::StrengthError;
use crate::verify::{RuleError, RunnerError, VerifyError};

/// The run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Another version of mngr began it.
    #[error("the settings of the run in `{folder}` cannot be read")]
    Settings {
        /// Its folder.
        folder: HostPath,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The settings of the run cannot be written down.
    #[error("the settings of the run cannot be written down")]
    Spelling(#[source] serde_json::Error),
    /// No way to find tests.
    #[error(transparent)]
    Collector(#[from] CollectorError),
    /// The tests cannot be found.
    #[error(transparent)]
    Collect(#[from] CollectError),
    /// The tests cannot be run.
    #[error(transparent)]
    PreRun(#[from] PreRunError),
    /// The rules of the project make no sense.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// A prompt cannot be used.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The changes cannot be put together.
    #[error(transparent)]
    Integrate(#[from] IntegrateError),
    /// A result cannot be measured.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// What tests run cannot be told.
    #[error("what the tests run cannot be told")]
    Strength(#[from] StrengthError),
    /// There are no hosts.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// No checkouts.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// A file of the run cannot be used.
    #[error("a file of the run cannot be used")]
    Files(#[from] FilesError),
    /// The repository cannot be read.
    #[error("the repository cannot be read")]
    Git(#[from] GitError),
    /// The agents of the run may be there, but cannot be seen.
    #[error("the agents of the run on `{place}` cannot be seen: {message}")]
    Unseen {
        /// The host, or the provider.
        place: String,
        /// Why, with its causes.
        message: String,
    },
    /// A name that no agent can have.
    #[error("`{name}` cannot be the name of an agent")]
    Name {
        /// The name.
        name: String,
        /// Why.
        #[source]
        source: NameError,
    },
    /// Agents that nobody can talk to.
    #[error(
        "agents of type `{agent_type}` run without a terminal: they cannot be given a test and reminded of it"
    )]
    Headless {
        /// The type.
        agent_type: String,
    },
    /// No agent of the run could be created.
    #[error(transparent)]
    Crew(#[from] CreateError),
    /// An agent of that name is there already, from another run.
    #[error("there are agents of a run `{run}` already")]
    RunNameTaken {
        /// The run.
        run: String,
    },
    /// Results cannot be taken in or measured, and what would be measured says nothing.
    #[error("task `{task}` cannot go on, because a disk is full: {message}")]
    NoRoom {
        /// The task.
        task: TaskId,
        /// Why, with its causes.
        message: String,
    },
    /// The first agent asked for a permission before it had done anything, and so would every other.
    #[error("the agent of `{task}` may not do what its task needs, and no other was launched: {message}")]
    NotAllowed {
        /// Its task.
        task: TaskId,
        /// What it showed.
        message: String,
    },
    /// A thread could not be started.
    #[error("the system gives no more threads")]
    Thread(#[source] std::io::Error),
    /// There is nothing to put together.
    #[error("no task of the run has a result that could be put together")]
    NothingToIntegrate,
}
