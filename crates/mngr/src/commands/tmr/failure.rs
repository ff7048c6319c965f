//! From the errors of `mngr-tmr` to failures of a command, with what the user can do about them.

use mngr_tmr::collect::CollectorError;
use mngr_tmr::integrate::IntegrateError;
use mngr_tmr::journal::JournalError;
use mngr_tmr::run::RunError;

use crate::error::{CliError, ErrorKind};

/// A journal cannot be used.
pub(super) fn of_journal(error: JournalError) -> CliError {
    let (kind, hint) = match &error {
        JournalError::Exists { .. } => (
            ErrorKind::Failed,
            Some(
                "`mngr tmr resume` goes on with it; another `--run-name` or `--output-dir` starts a new one",
            ),
        ),
        JournalError::Missing { .. } => (ErrorKind::NotFound, Some("`mngr tmr` starts one")),
        JournalError::Owned { .. } => {
            (ErrorKind::Failed, Some("`mngr tmr status --watch` shows what it does; `mngr tmr stop` ends it"))
        }
        _ => (ErrorKind::Failed, None),
    };
    hinted(CliError::new(kind, error), hint)
}

/// A run cannot begin or go on.
pub(super) fn of_run(error: RunError) -> CliError {
    match error {
        RunError::Journal(error) => of_journal(error),
        RunError::Integrate(error) => of_integration(error),
        error => {
            let (kind, hint) = match &error {
                RunError::Collector(CollectorError::NotDetected { .. }) => (
                    ErrorKind::Usage,
                    Some("name one with `--collector`; `[tmr.collectors]` in the settings describes others"),
                ),
                RunError::Collector(_) => (ErrorKind::Usage, None),
                RunError::Name { .. } => (ErrorKind::Usage, Some("change `--name` or `--run-name`")),
                RunError::Headless { .. } => {
                    (ErrorKind::Usage, Some("choose another type with `--agent-type`"))
                }
                RunError::RunNameTaken { .. } => (
                    ErrorKind::Failed,
                    Some("`mngr tmr resume` goes on with a run; another `--run-name` starts a new one"),
                ),
                RunError::Settings { .. } => {
                    (ErrorKind::Failed, Some("go on with it with the version of mngr that began it"))
                }
                RunError::Prompt(_) => (
                    ErrorKind::Usage,
                    Some("a prompt of your own is given with `--mapper-prompt` or `--reducer-prompt`"),
                ),
                _ => (ErrorKind::Failed, None),
            };
            hinted(CliError::new(kind, error), hint)
        }
    }
}

fn of_integration(error: IntegrateError) -> CliError {
    let hint = match &error {
        IntegrateError::NoSuchCommit { .. } => Some("`git log` of the branch shows its commits"),
        IntegrateError::GateFailsAtBase { .. } => {
            Some("mend the base commit, or set another command with `--gate` or `tmr.gate`")
        }
        IntegrateError::NotImplementation { .. } => {
            Some("leave out single tests with `git revert` or an editor: they are one commit")
        }
        _ => None,
    };
    hinted(CliError::new(ErrorKind::Failed, error), hint)
}

fn hinted(failure: CliError, hint: Option<&str>) -> CliError {
    hint.into_iter().fold(failure, CliError::hinted)
}
