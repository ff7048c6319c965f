//! All files of a work dir (`--sync-mode files`): what git has or would take, without git's own state.

use std::collections::BTreeSet;

use mngr_host::beneath::Beneath;
use mngr_host::files::FileKind;
use mngr_host::git::{Git, IgnoredFiles, RepoPath, UncleanKind};
use mngr_host::rsync::{Endpoint, Extraneous, Rsync};

use super::SyncError;
use super::checkout::Spot;
use super::copy::{Audience, BY_CONTENTS, Copy, Destination};
use super::place::require_apart;
use crate::world::Reporter;

/// Works out the copy of everything in `from` to `to`.
///
/// From the top of a checkout it is the files git has or would take, and they go to the top of the checkout that holds
/// `to`; submodules and other repositories inside are left alone. From a plain folder it is everything, and it goes to
/// `to` itself.
pub(crate) fn tree_copy<'h>(
    from: Spot<'h>,
    to: Spot<'h>,
    extraneous: Extraneous,
    reporter: &dyn Reporter,
) -> Result<Copy<'h>, SyncError> {
    let git = Git::new(from.host, from.path.clone());
    let is_checkout = git.locate()?.is_some_and(|location| location.root == from.path.normalized());
    if is_checkout {
        checkout_copy(&git, to, extraneous, reporter)
    } else {
        folder_copy(from, to, extraneous)
    }
}

fn folder_copy<'h>(from: Spot<'h>, to: Spot<'h>, extraneous: Extraneous) -> Result<Copy<'h>, SyncError> {
    if from.is_same_as(&to)? {
        return Err(SyncError::SamePlace { path: from.path });
    }
    require_apart(&from, &to, extraneous)?;
    let rsync = Rsync::new(Endpoint::Contents(from.path.clone()), Endpoint::Contents(to.path.clone()))
        .options(BY_CONTENTS)
        .exclude(".git")
        .extraneous(extraneous);
    let Spot { host: to_host, path } = to;
    Ok(Copy {
        rsync,
        from,
        to: Destination::Folder(Beneath::root_itself(path)),
        to_host,
        removed: BTreeSet::new(),
        audience: Audience::Nobody,
    })
}

fn checkout_copy<'h>(
    from: &Git<'h>,
    to: Spot<'h>,
    extraneous: Extraneous,
    reporter: &dyn Reporter,
) -> Result<Copy<'h>, SyncError> {
    let there = Git::new(to.host, to.path.clone()).locate()?;
    let folder = there.as_ref().map_or_else(|| to.path.clone(), |location| location.root.clone());
    let source = Spot::new(from.host(), from.dir().clone());
    if source.is_same_as(&Spot::new(to.host, folder.clone()))? {
        return Err(SyncError::SamePlace { path: folder });
    }
    let (nested, files): (BTreeSet<RepoPath>, BTreeSet<RepoPath>) =
        from.list_files()?.into_iter().partition(RepoPath::is_folder);
    for repository in nested {
        reporter.warn(&format!("`{repository}` is a repository of its own and is not copied"));
    }
    let removed = match (extraneous, there) {
        (Extraneous::Keep, _) => BTreeSet::new(),
        (Extraneous::Delete, Some(location)) => {
            extraneous_files(from, &files, &Git::new(to.host, location.root))?
        }
        (Extraneous::Delete, None) => return Err(SyncError::CannotDelete { path: folder }),
    };
    Git::new(to.host, folder.clone()).refuse_links_above(&files)?;
    let rsync = Rsync::new(Endpoint::Contents(from.dir().clone()), Endpoint::Contents(folder.clone()))
        .options(BY_CONTENTS)
        // Every file is listed; a folder in the list is a submodule, whose files belong to another repository.
        .options(["--no-recursive", "--ignore-missing-args"])
        .exclude(".git")
        .only(files.iter().map(RepoPath::as_bytes));
    Ok(Copy {
        rsync,
        from: source,
        to: Destination::Folder(Beneath::root_itself(folder)),
        to_host: to.host,
        removed,
        audience: Audience::Nobody,
    })
}

/// The files that only the destination has.
fn extraneous_files(
    from: &Git<'_>,
    listed: &BTreeSet<RepoPath>,
    to: &Git<'_>,
) -> Result<BTreeSet<RepoPath>, SyncError> {
    let gone_here = deleted_files(from)?;
    let gone_there = deleted_files(to)?;
    let is_extraneous = |path: &RepoPath| {
        let is_at_source = listed.contains(path) && !gone_here.contains(path);
        !path.is_folder() && !is_at_source && !gone_there.contains(path)
    };
    let candidates = to.list_files()?.into_iter().filter(is_extraneous);
    let mut removed = BTreeSet::new();
    for path in candidates {
        // A folder that git lists is a submodule.
        let is_folder = match path.as_str() {
            Some(name) => {
                let stat = to.host().files().stat(&to.dir().join(name))?;
                stat.is_some_and(|stat| stat.kind == FileKind::Folder)
            }
            None => false,
        };
        if !is_folder {
            removed.insert(path);
        }
    }
    Ok(removed)
}

/// Files git has and the checkout has not.
fn deleted_files(git: &Git<'_>) -> Result<BTreeSet<RepoPath>, SyncError> {
    let unclean = git.list_unclean(IgnoredFiles::Leave)?;
    let deleted = unclean.into_iter().filter(|entry| entry.kind == UncleanKind::Deleted);
    Ok(deleted.map(|entry| entry.path).collect())
}
