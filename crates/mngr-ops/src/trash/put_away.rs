//! Moving a work dir into the trash, step by step; each step may find itself done already by a command that died.
//!
//! Processes for a worktree: one to free its branch, one to move it, one per commit that needs a ref. On another machine
//! the first two, and the changes before them, are one round trip.

use mngr_host::fault;
use mngr_host::files::Change;
use mngr_host::git::{BranchState, DeleteBranch, Git, GitError, MoveOutcome, Relocated};
use mngr_host::host::Host;
use mngr_model::HostPath;

use super::error::TrashError;
use super::manifest::{Checkout, HeldBranch, Manifest, Work};

/// What became of the branch mngr had made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BranchRemoval {
    /// Nobody asked, or there was none.
    NotAsked,
    /// It is gone; its commits are held elsewhere.
    Deleted {
        /// Its name.
        branch: String,
    },
    /// It is still there.
    Kept {
        /// Why, for the user.
        note: String,
    },
}

/// Makes the first changes; then secures the commits, frees the branch and moves the work dir. Returns what the user
/// should know.
pub(crate) fn put_away(
    host: &dyn Host,
    manifest: &Manifest,
    mut first: Vec<Change>,
) -> Result<Vec<String>, TrashError> {
    let Some(work) = &manifest.work else { return Ok(Vec::new()) };
    if let Some(checkout) = work.checkout().filter(|checkout| !checkout.rescues.is_empty()) {
        host.files().apply(&std::mem::take(&mut first))?;
        let repository = Git::new(host, checkout.repository.clone());
        for rescue in &checkout.rescues {
            repository.create_ref(&rescue.name, &rescue.oid)?;
            fault::point();
        }
    }
    match work {
        Work::Moved { to, checkout } => move_away(host, manifest, to, checkout.as_ref(), first),
        Work::Missing { checkout: Some(checkout) } => {
            host.files().apply(&first)?;
            let repository = Git::new(host, checkout.repository.clone());
            let forgotten = repository.remove_worktree(&manifest.work_dir);
            fault::point();
            Ok(forgotten
                .err()
                .map(|error| format!("git still lists the missing work dir: {error}"))
                .into_iter()
                .collect())
        }
        Work::Kept { .. } | Work::Missing { checkout: None } => {
            host.files().apply(&first)?;
            Ok(Vec::new())
        }
    }
}

fn move_away(
    host: &dyn Host,
    manifest: &Manifest,
    to: &HostPath,
    checkout: Option<&Checkout>,
    mut first: Vec<Change>,
) -> Result<Vec<String>, TrashError> {
    let mut notes = Vec::new();
    let from = &manifest.work_dir;
    if let Some(checkout) = checkout.filter(|checkout| host.reach().is_some() && !is_unborn(checkout)) {
        let repository = Git::new(host, checkout.repository.clone());
        let at = checkout.head.as_deref().filter(|_| checkout.branch.is_some());
        if repository.relocate_worktree(&std::mem::take(&mut first), from, at, to)? == Relocated::Moved {
            repair_nested(host, to, checkout)?;
            return Ok(notes);
        }
    }
    host.files().apply(&first)?;
    if let Some(checkout) = checkout
        && host.files().exists(from)?
    {
        // Only the branch's name stays taken if this fails; a git that was killed may have left its lock behind.
        if let Err(error) = free_branch(&Git::new(host, from.clone()), manifest, checkout) {
            notes.push(format!("its branch could not be freed: {error}"));
        }
        fault::point();
    }
    if let MoveOutcome::FilesOnly { reason } = move_whole(host, from, to, checkout)? {
        notes.push(format!("its files were moved, but its repository could not be told: {reason}"));
    }
    fault::point();
    Ok(notes)
}

/// Takes the checkout off its branch without touching index and files, so that others can have the branch.
fn free_branch(git: &Git<'_>, manifest: &Manifest, checkout: &Checkout) -> Result<(), GitError> {
    match (&checkout.branch, &checkout.head) {
        (Some(_), Some(oid)) => git.detach_head_in_place(oid),
        // Without a commit there is nothing to be detached at; a name nobody uses does the same.
        (Some(_), None) => git.attach_head(&format!("mngr-trash/{}", manifest.id)),
        (None, _) => Ok(()),
    }
}

/// Moves a work dir with everything in it, and tells its repository.
///
/// A move that was cut short is begun again from where it started: only a whole move also joins the submodules.
pub(super) fn move_whole(
    host: &dyn Host,
    from: &HostPath,
    to: &HostPath,
    checkout: Option<&Checkout>,
) -> Result<MoveOutcome, GitError> {
    if let Some(checkout) = checkout.filter(|_| host.reach().is_some()) {
        let repository = Git::new(host, checkout.repository.clone());
        if repository.relocate_worktree(&[], from, None, to)? == Relocated::Moved {
            repair_nested(host, to, checkout)?;
            return Ok(MoveOutcome::Complete);
        }
    }
    let files = host.files();
    if files.exists(to)? && !files.exists(from)? {
        if checkout.is_none() {
            return Ok(MoveOutcome::Complete);
        }
        files.rename(to, from)?;
        Git::new(host, from.clone()).repair_worktrees()?;
    }
    let outcome = Git::new(host, from.clone()).move_checkout(to)?;
    if let Some(checkout) = checkout.filter(|_| outcome == MoveOutcome::Complete) {
        repair_nested(host, to, checkout)?;
    }
    Ok(outcome)
}

/// Joins the worktrees inside a checkout that was moved with their repository again.
fn repair_nested(host: &dyn Host, to: &HostPath, checkout: &Checkout) -> Result<(), GitError> {
    for path in &checkout.nested {
        Git::new(host, to.join(path)).repair_worktrees()?;
    }
    Ok(())
}

/// Whether the checkout is on a branch without a commit.
fn is_unborn(checkout: &Checkout) -> bool {
    checkout.branch.is_some() && checkout.head.is_none()
}

/// Removes the branch mngr had made, if that was asked for and loses nothing.
pub(crate) fn remove_branch(host: &dyn Host, manifest: &Manifest) -> Result<BranchRemoval, GitError> {
    let Some(checkout) = manifest.work.as_ref().and_then(Work::checkout) else {
        return Ok(BranchRemoval::NotAsked);
    };
    let Some(HeldBranch { name, oid }) = &checkout.removed_branch else { return Ok(BranchRemoval::NotAsked) };
    let git = Git::new(host, checkout.repository.clone());
    let kept = |why: String| Ok(BranchRemoval::Kept { note: format!("branch `{name}` was kept: {why}") });
    match git.branch_state(name, oid)? {
        BranchState::CheckedOutAt { path, .. } => return kept(format!("it is checked out at `{path}`")),
        BranchState::HoldsNothingOfItsOwn { oid: now } | BranchState::HasOwnCommits { oid: now }
            if now != *oid =>
        {
            return kept("it has moved".to_owned());
        }
        BranchState::HoldsNothingOfItsOwn { .. } | BranchState::HasOwnCommits { .. } => {
            git.delete_branch(name, DeleteBranch::OnlyAt(oid))?;
        }
        BranchState::Missing => {}
    }
    Ok(BranchRemoval::Deleted { branch: name.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trash::testing::Bench;

    #[test]
    fn a_move_cut_short_anywhere_still_joins_the_submodules() {
        let bench = Bench::new();
        bench.make_repository("sub");
        let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../sub", "lib"];
        bench.git("repo", &add);
        bench.commit("repo", "submodule");
        bench.agent("foo");
        let picture = |dir: &str| (bench.picture(dir), bench.picture(&format!("{dir}/lib")));
        let (host, from, to) = (bench.host.as_ref(), bench.path(&bench.work("foo")), bench.path("moved"));
        let before = picture(&bench.work("foo"));
        let checkout = Checkout {
            repository: bench.path("repo/.git"),
            branch: None,
            head: None,
            rescues: vec![],
            removed_branch: None,
            nested: vec![],
        };
        for deaths in 0.. {
            host.die_after(deaths);
            let moved = move_whole(host, &from, &to, Some(&checkout));
            host.revive();
            let is_done = matches!(moved, Ok(MoveOutcome::Complete));
            if !is_done {
                move_whole(host, &from, &to, Some(&checkout)).unwrap();
            }
            assert_eq!(picture("moved"), before, "after {deaths} actions");
            move_whole(host, &to, &from, Some(&checkout)).unwrap();
            assert_eq!(picture(&bench.work("foo")), before, "after {deaths} actions");
            if is_done {
                assert!(deaths > 3);
                return;
            }
        }
    }
}
