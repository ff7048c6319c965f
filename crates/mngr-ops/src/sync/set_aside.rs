//! Uncommitted work at the destination: out of the way before, and back or not afterwards, as the user chose.

use mngr_host::git::{Git, GitError, Stash};
use mngr_host::interrupt;

use super::report::{SetAside, SetAsideState};
use super::{SyncError, UncommittedChanges};

/// The message of the stash entry.
const LABEL: &str = "mngr-sync-stash";

/// What the work that was set aside comes back on top of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// Commits only.
    Commits,
    /// Files that were written and not committed.
    Files,
}

/// Runs `work` with the uncommitted work of a checkout out of its way. If it fails, everything is brought back.
///
/// From the moment the work is set aside until it is back, an interrupt waits.
pub(crate) fn around<T>(
    git: &Git<'_>,
    choice: UncommittedChanges,
    over: Over,
    work: impl FnOnce() -> Result<T, SyncError>,
) -> Result<(T, Option<SetAside>), SyncError> {
    if choice == UncommittedChanges::Fail {
        return Ok((work()?, None));
    }
    // Setting work aside would end a merge that the user has begun.
    git.refuse_during_merge()?;
    interrupt::check()?;
    let _shield = interrupt::shield();
    let set_aside = |state, stash: Option<&Stash>| {
        Some(SetAside { checkout: git.dir().clone(), stash: stash.map(|stash| stash.oid.clone()), state })
    };
    let stash = match (choice, over) {
        // Only what is in the way is overwritten; the rest stays where it is.
        (UncommittedChanges::Clobber, Over::Files) => {
            let saved = git.save_changes()?;
            return Ok((work()?, set_aside(SetAsideState::Overwritten, saved.as_ref())));
        }
        (UncommittedChanges::Clobber, Over::Commits) => git.discard_changes()?,
        _ => git.stash_changes(LABEL)?,
    };
    let Some(stash) = stash else { return Ok((work()?, None)) };
    match (work(), choice) {
        (Err(failure), _) => Err(match bring_back_unused(git, &stash, over) {
            Ok(()) => failure,
            Err(source) => SyncError::LeftAside {
                checkout: git.dir().clone(),
                stash: stash.oid,
                failure: crate::error_chain(&failure),
                source: Box::new(source),
            },
        }),
        (Ok(done), UncommittedChanges::Merge) => match bring_back(git, &stash, over) {
            Ok(()) => Ok((done, set_aside(SetAsideState::Restored, Some(&stash)))),
            Err(source) => Err(SyncError::NotBroughtBack {
                checkout: git.dir().clone(),
                stash: stash.oid,
                source: Box::new(source),
            }),
        },
        (Ok(done), UncommittedChanges::Clobber) => {
            Ok((done, set_aside(SetAsideState::Overwritten, Some(&stash))))
        }
        (Ok(done), _) => Ok((done, set_aside(SetAsideState::Stashed, Some(&stash)))),
    }
}

/// Brings work back that was set aside for nothing: as it was, staged files included, unless files were half copied.
fn bring_back_unused(git: &Git<'_>, stash: &Stash, over: Over) -> Result<(), GitError> {
    match git.unstash_changes(stash) {
        // Trying again on top of a conflict would only make it worse.
        Err(error) if over == Over::Files && !matches!(error, GitError::Conflict { .. }) => {
            git.unstash_over_files(stash)
        }
        outcome => outcome,
    }
}

fn bring_back(git: &Git<'_>, stash: &Stash, over: Over) -> Result<(), GitError> {
    match over {
        Over::Commits => git.unstash_changes(stash),
        Over::Files => git.unstash_over_files(stash),
    }
}
