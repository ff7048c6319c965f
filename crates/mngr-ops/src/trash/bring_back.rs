//! Moving a work dir out of the trash to where it was, on the branch it was on.
//!
//! The same steps take back a removal that failed half-way. Each may find itself done already.

use std::collections::BTreeSet;

use mngr_host::beneath::Beneath;
use mngr_host::fault;
use mngr_host::files::FilesError;
use mngr_host::git::{BranchState, Git, GitError, LateCommits, MoveOutcome, StartPoint, rescue_ref};
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_model::{AgentId, HostPath};

use super::error::TrashError;
use super::manifest::{Checkout, HeldBranch, Manifest, Rescue, Work};
use super::put_away::move_whole;

/// How many numbers are tried behind a branch name that is taken.
const SUFFIXES: u32 = 100;

/// What came back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Returned {
    /// The branch it is on now.
    pub(crate) branch: Option<String>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// What has to be looked at to know what is to be brought back.
pub(crate) fn signs_of_return(manifest: &Manifest) -> Vec<HostPath> {
    std::iter::once(&manifest.work_dir).chain(manifest.moved_to()).cloned().collect()
}

/// Fails if a link leads to where the work dir was: where the user had it made, one may have come since, with a merge of an
/// agent's work.
pub(crate) fn refuse_links(host: &dyn Host, manifest: &Manifest) -> Result<(), FilesError> {
    let dir = &manifest.work_dir;
    if host.reach().is_some() || dir.is_within(host.layout().root()) {
        return Ok(());
    }
    host.files().refuse_links(&Beneath::typed(dir), &BTreeSet::new())
}

/// Brings the work dir back, after a glance at [`signs_of_return`].
pub(crate) fn bring_back(
    host: &dyn Host,
    manifest: &Manifest,
    glance: &Glance<'_>,
) -> Result<Returned, TrashError> {
    let dir = &manifest.work_dir;
    refuse_links(host, manifest)?;
    match &manifest.work {
        None | Some(Work::Kept { .. }) => {
            let note =
                (!glance.exists(dir)?).then(|| format!("its work dir `{dir}` does not exist any more"));
            Ok(Returned { branch: None, notes: note.into_iter().collect() })
        }
        Some(Work::Missing { checkout }) => Ok(match checkout {
            Some(checkout) => check_out_again(host, manifest, checkout),
            None => Returned { branch: None, notes: vec![format!("its work dir `{dir}` was gone before")] },
        }),
        Some(Work::Moved { to, checkout }) => {
            let has_commit = checkout.as_ref().filter(|checkout| checkout.head.is_some());
            match (presence(host, to, dir, glance)?, has_commit) {
                (Whereabouts::Nowhere, None) => return Err(TrashError::WorkLost { path: to.clone() }),
                (Whereabouts::Nowhere, Some(checkout)) => {
                    return Ok(check_out_again(host, manifest, checkout));
                }
                (Whereabouts::Back, Some(checkout)) if is_half_checked_out(host, dir)? => {
                    return Ok(check_out_again(host, manifest, checkout));
                }
                _ => {}
            }
            let outcome = move_whole(host, to, dir, checkout.as_ref())?;
            fault::point();
            match (outcome, checkout) {
                (_, None) => Ok(Returned::default()),
                (MoveOutcome::Complete, Some(checkout)) => rejoin(host, manifest, checkout),
                (MoveOutcome::FilesOnly { reason }, Some(checkout)) if is_known(host, dir, checkout)? => {
                    Err(TrashError::NotJoined { repository: checkout.repository.clone(), reason })
                }
                (MoveOutcome::FilesOnly { reason }, Some(_)) => Ok(Returned {
                    branch: None,
                    notes: vec![format!(
                        "its files are back, but its repository could not be told: {reason}"
                    )],
                }),
            }
        }
    }
}

/// Where a work dir is that was moved into the trash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whereabouts {
    Trash,
    Back,
    Nowhere,
}

/// Looks for a work dir. A git that a killed command left behind may be moving it just now: so it is only called missing when
/// it is at neither place twice, and where it leaves is looked at first.
fn presence(
    host: &dyn Host,
    to: &HostPath,
    dir: &HostPath,
    glance: &Glance<'_>,
) -> Result<Whereabouts, TrashError> {
    if glance.exists(to)? {
        return Ok(Whereabouts::Trash);
    }
    if glance.exists(dir)? || host.files().exists(dir)? {
        return Ok(Whereabouts::Back);
    }
    Ok(if host.files().exists(to)? { Whereabouts::Trash } else { Whereabouts::Nowhere })
}

/// Whether a command died between making a worktree and writing its files.
fn is_half_checked_out(host: &dyn Host, dir: &HostPath) -> Result<bool, TrashError> {
    match Git::new(host, dir.clone()).worktree()? {
        Some(location) => Ok(!host.files().exists(&location.git_dir.join("index"))?),
        None => Ok(false),
    }
}

/// Whether its repository still has a place for the checkout.
fn is_known(host: &dyn Host, dir: &HostPath, checkout: &Checkout) -> Result<bool, TrashError> {
    match Git::new(host, dir.clone()).worktree()? {
        Some(location) if location.common_dir == checkout.repository => {
            Ok(host.files().exists(&location.git_dir.join("HEAD"))?)
        }
        _ => Ok(false),
    }
}

/// Puts the checkout back on its branch, or on a new one at the same commit if that has moved since.
fn rejoin(host: &dyn Host, manifest: &Manifest, checkout: &Checkout) -> Result<Returned, TrashError> {
    let dir = &manifest.work_dir;
    let (git, repository) = (Git::new(host, dir.clone()), Git::new(host, checkout.repository.clone()));
    let mut returned = Returned::default();
    match (&checkout.branch, &checkout.head) {
        (Some(wanted), Some(oid)) => {
            let branch = settle_branch(&repository, wanted, oid, Some(dir))?;
            fault::point();
            let late = git.attach_head_keeping(&branch, oid, &late_ref(&manifest.id))?;
            returned.notes.extend(late.map(|late| told_late(&late)));
            if branch != *wanted {
                returned.notes.push(format!(
                    "branch `{wanted}` has moved since, or is in use elsewhere: the agent is on `{branch}`"
                ));
            }
            returned.branch = Some(branch);
        }
        (Some(unborn), None) => {
            git.attach_head(unborn)?;
            returned.branch = Some(unborn.clone());
        }
        (None, _) => {}
    }
    if let Some(HeldBranch { name, oid }) = &checkout.removed_branch {
        // A branch of that name made since is somebody's own.
        if repository.branch_state(name, oid)? == BranchState::Missing {
            repository.create_ref(&format!("refs/heads/{name}"), oid)?;
        }
    }
    fault::point();
    Ok(returned)
}

/// A branch at that commit that no other checkout has: the wanted one, or one with a number.
fn settle_branch(
    git: &Git<'_>,
    wanted: &str,
    oid: &str,
    own: Option<&HostPath>,
) -> Result<String, TrashError> {
    for number in 1..=SUFFIXES {
        let name = if number == 1 { wanted.to_owned() } else { format!("{wanted}-{number}") };
        let is_ours = match git.branch_state(&name, oid)? {
            BranchState::Missing => match git.create_ref(&format!("refs/heads/{name}"), oid) {
                Ok(()) => true,
                // `a` cannot be made beside `a/b`, and somebody may just have taken the name.
                Err(GitError::BranchNameConflict { .. } | GitError::RefMoved { .. }) => false,
                Err(error) => return Err(error.into()),
            },
            BranchState::HoldsNothingOfItsOwn { oid: at } | BranchState::HasOwnCommits { oid: at } => {
                at == oid
            }
            BranchState::CheckedOutAt { path, oid: at } => at == oid && is_same(git, &path, own),
        };
        if is_ours {
            return Ok(name);
        }
    }
    Err(TrashError::NoFreeBranch { branch: wanted.to_owned() })
}

fn is_same(git: &Git<'_>, listed: &HostPath, own: Option<&HostPath>) -> bool {
    let real = |path: &HostPath| git.host().files().canonical(path).unwrap_or_else(|_| path.clone());
    own.is_some_and(|own| real(own) == real(listed))
}

/// The files are gone, but their commit is not.
fn check_out_again(host: &dyn Host, manifest: &Manifest, checkout: &Checkout) -> Returned {
    let dir = &manifest.work_dir;
    let failed = |problem: String| Returned {
        branch: None,
        notes: vec![format!("its work dir `{dir}` was gone and could not be checked out again: {problem}")],
    };
    let Some(oid) = &checkout.head else { return failed("it had no commit".to_owned()) };
    let git = Git::new(host, checkout.repository.clone());
    let make = || -> Result<Option<String>, TrashError> {
        if host.files().exists(dir)? {
            // Begun by a command that died.
            git.fill_worktree(dir, &StartPoint::Commit("HEAD"))?;
            return Ok(Git::new(host, dir.clone()).head_branch()?);
        }
        // What git still lists at that path is only a name.
        let _ = git.remove_worktree(dir);
        let branch =
            checkout.branch.as_deref().map(|wanted| settle_branch(&git, wanted, oid, None)).transpose()?;
        git.add_worktree(dir, &branch.as_deref().map_or(StartPoint::Commit(oid), StartPoint::Branch))?;
        Ok(branch)
    };
    match make() {
        Ok(branch) => Returned {
            branch,
            notes: vec!["its work dir was gone: its last commit was checked out again".to_owned()],
        },
        Err(error) => failed(crate::error_chain(&error)),
    }
}

/// Keeps commits that were made in the trash, before the work dir there is deleted: nobody asked for that. Says what the user
/// should know.
pub(crate) fn keep_late_commits(host: &dyn Host, manifest: &Manifest) -> Result<Option<String>, TrashError> {
    let Some(Work::Moved { to, checkout: Some(checkout) }) = &manifest.work else { return Ok(None) };
    let git = Git::new(host, to.clone());
    let Some(location) = git.worktree()?.filter(|location| location.common_dir == checkout.repository) else {
        return Ok(None);
    };
    let git = Git::in_checkout(host, location);
    let known = checkout.head.as_deref().unwrap_or_default();
    Ok(git.keep_late_commits(known, &late_ref(&manifest.id))?.map(|late| told_late(&late)))
}

/// The beginning of the name of a ref for commits that were made after an agent was destroyed.
fn late_ref(id: &AgentId) -> String {
    format!("{}-late", rescue_ref(id))
}

fn told_late(late: &LateCommits) -> String {
    let LateCommits { name, count } = late;
    format!("{count} commit(s) that were made after it was destroyed are kept as `{name}`")
}

/// Deletes the rescue refs whose commits the agent's checkout or another ref holds again.
pub(crate) fn drop_rescues(host: &dyn Host, manifest: &Manifest) -> Vec<String> {
    let Some(checkout) = manifest.work.as_ref().and_then(Work::checkout) else { return Vec::new() };
    if checkout.rescues.is_empty() {
        return Vec::new();
    }
    let git = Git::new(host, checkout.repository.clone());
    let head = Git::new(host, manifest.work_dir.clone()).resolve("HEAD").ok();
    let is_held = |oid: &String| {
        head.as_ref() == Some(oid) || matches!(git.commits_not_held_elsewhere(oid, &[]), Ok(0))
    };
    let drop = |Rescue { name, oid }: &Rescue| {
        let note = |why: &str| Some(format!("`{name}` was kept: {why}"));
        match is_held(oid) {
            true => git.delete_ref(name).err().and_then(|error| note(&error.to_string())),
            false => note("nothing else holds its commits"),
        }
    };
    checkout.rescues.iter().filter_map(drop).collect()
}
