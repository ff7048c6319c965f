//! Single paths: which file or folder is meant, and where it goes. The rules are rsync's.
//!
//! A folder with a slash behind it stands for what is in it. A destination that is a folder, or ends in a slash, takes
//! the source under its own name; any other destination is the new name itself.

use std::collections::BTreeSet;

use mngr_host::beneath::{self, Beneath};
use mngr_host::files::FileKind;
use mngr_host::host::Host;
use mngr_host::rsync::{Endpoint, Extraneous, Rsync};
use mngr_model::HostPath;
use mngr_model::address::LocationPath;

use super::SyncError;
use super::checkout::Spot;
use super::copy::{Audience, BY_CONTENTS, Copy, Destination};

/// Where a path goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Here, whatever it is called at the source. The path was worked out, so no link below the root may decide where it
    /// is.
    Exactly {
        /// The folder that is trusted.
        root: HostPath,
        /// The path.
        path: HostPath,
    },
    /// As rsync reads a destination.
    Given {
        /// The path.
        path: HostPath,
        /// It was written with a slash at its end.
        is_folder: bool,
        /// A folder whose links are not the user's own, if the path is in one.
        root: Option<HostPath>,
    },
}

impl Target {
    /// A destination on this machine as the user wrote it, relative to where he stands.
    pub(crate) fn typed(cwd: &HostPath, path: &LocationPath) -> Self {
        let whole = cwd.join(path.path()).normalized();
        let root = beneath::typed_root(&whole);
        Self::Given { path: whole, is_folder: path.has_trailing_slash(), root }
    }

    /// A destination of an agent as the user wrote it, relative to its work dir.
    pub(crate) fn of_agent(work_dir: &HostPath, path: &LocationPath) -> Self {
        let whole = work_dir.join(path.path()).normalized();
        let root = whole.is_within(work_dir).then(|| work_dir.clone());
        Self::Given { path: whole, is_folder: path.has_trailing_slash(), root }
    }

    /// Into a folder, under its own name.
    pub(crate) fn into_folder(folder: HostPath) -> Self {
        Self::Given { root: Some(folder.clone()), path: folder, is_folder: true }
    }

    /// A folder or file that the copy goes to, beneath what is trusted: where nothing else is said, what the user typed.
    fn beneath(&self, path: &HostPath) -> Beneath {
        let (root, typed) = match self {
            Self::Exactly { root, path } => (Some(root), path),
            Self::Given { root, path, .. } => (root.as_ref(), path),
        };
        let within = root.and_then(|root| Beneath::new(root, path)).or_else(|| Beneath::new(typed, path));
        within.unwrap_or_else(|| Beneath::root_itself(path.clone()))
    }
}

/// `path` relative to `folder`, by spelling; `None` when it lies elsewhere.
pub(crate) fn below<'p>(path: &'p HostPath, folder: &HostPath) -> Option<&'p str> {
    if !path.is_within(folder) {
        return None;
    }
    Some(path.as_str()[folder.as_str().trim_end_matches('/').len()..].trim_start_matches('/'))
}

/// Works out the copy of one file or folder. Git's own state is never part of it.
pub(crate) fn path_copy<'h>(
    from: Spot<'h>,
    contents_only: bool,
    host: &'h dyn Host,
    target: &Target,
    extraneous: Extraneous,
) -> Result<Copy<'h>, SyncError> {
    let source = &from.path;
    let Some(stat) = from.host.files().stat(source)? else {
        return Err(SyncError::Missing { path: source.clone() });
    };
    let is_folder = match stat.kind {
        FileKind::Folder => true,
        FileKind::Link => contents_only && is_folder_at(from.host, source)?,
        FileKind::File | FileKind::Other => false,
    };
    match is_folder {
        true => folder_copy(from, contents_only, host, target, extraneous),
        false if contents_only => Err(SyncError::NotAFolder { path: source.clone() }),
        false if extraneous == Extraneous::Delete => Err(SyncError::NothingToDelete { path: source.clone() }),
        false => file_copy(from, host, target),
    }
}

fn folder_copy<'h>(
    from: Spot<'h>,
    contents_only: bool,
    host: &'h dyn Host,
    target: &Target,
    extraneous: Extraneous,
) -> Result<Copy<'h>, SyncError> {
    let source = &from.path;
    let folder = match (target, source.file_name()) {
        (Target::Given { path, .. }, Some(name)) if !contents_only => path.join(name),
        (Target::Given { path, .. } | Target::Exactly { path, .. }, _) => path.clone(),
    };
    let beneath = target.beneath(&folder);
    refuse_here(host, &beneath)?;
    if host.files().exists(&folder)? && !is_folder_at(host, &folder)? {
        return Err(SyncError::NotAFolder { path: folder });
    }
    let to = Spot::new(host, folder.clone());
    if from.is_same_as(&to)? {
        return Err(SyncError::SamePlace { path: folder });
    }
    require_apart(&from, &to, extraneous)?;
    let rsync = Rsync::new(Endpoint::Contents(source.clone()), Endpoint::Contents(folder.clone()))
        .options(BY_CONTENTS)
        .exclude(".git")
        .extraneous(extraneous);
    Ok(Copy {
        rsync,
        from,
        to: Destination::Folder(beneath),
        to_host: host,
        removed: BTreeSet::new(),
        audience: Audience::Nobody,
    })
}

fn file_copy<'h>(from: Spot<'h>, host: &'h dyn Host, target: &Target) -> Result<Copy<'h>, SyncError> {
    let source = &from.path;
    let file = match target {
        Target::Exactly { path, .. } => path.clone(),
        Target::Given { path, is_folder, .. } if *is_folder || is_folder_at(host, path)? => {
            path.join(source.file_name().unwrap_or_default())
        }
        Target::Given { path, .. } => path.clone(),
    };
    let beneath = target.beneath(&file);
    if let Some((folder, _)) = beneath.split() {
        refuse_here(host, &folder)?;
    }
    // rsync would put the file into the folder.
    if is_folder_at(host, &file)? {
        return Err(SyncError::IsAFolder { path: file });
    }
    if from.is_same_as(&Spot::new(host, file.clone()))? {
        return Err(SyncError::SamePlace { path: file });
    }
    let rsync =
        Rsync::new(Endpoint::Itself(source.clone()), Endpoint::Itself(file.clone())).options(BY_CONTENTS);
    Ok(Copy {
        rsync,
        from,
        to: Destination::File(beneath),
        to_host: host,
        removed: BTreeSet::new(),
        audience: Audience::Nobody,
    })
}

/// Fails before anything is looked at behind a link. Elsewhere it would be a round trip: there it is found out when the
/// folder is made.
fn refuse_here(host: &dyn Host, folder: &Beneath) -> Result<(), SyncError> {
    if host.reach().is_none() {
        host.files().refuse_links(folder, &BTreeSet::new())?;
    }
    Ok(())
}

/// Deleting what only the destination has must not reach the source.
pub(super) fn require_apart(
    source: &Spot<'_>,
    target: &Spot<'_>,
    extraneous: Extraneous,
) -> Result<(), SyncError> {
    if extraneous == Extraneous::Keep || !source.is_beside(target) {
        return Ok(());
    }
    let real =
        |spot: &Spot<'_>| spot.host.files().canonical(&spot.path).unwrap_or_else(|_| spot.path.normalized());
    let (one, other) = (real(source), real(target));
    if one.is_within(&other) || other.is_within(&one) {
        return Err(SyncError::Overlap { one, other });
    }
    Ok(())
}

/// Whether a folder is there, or a link to one.
fn is_folder_at(host: &dyn Host, path: &HostPath) -> Result<bool, SyncError> {
    Ok(host.files().exists(&path.join("."))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_a_folder_by_whole_components() {
        let rest =
            |path: &str, folder: &str| below(&HostPath::new(path), &HostPath::new(folder)).map(str::to_owned);
        assert_eq!(rest("/a/b/c", "/a").as_deref(), Some("b/c"));
        assert_eq!(rest("/a", "/a").as_deref(), Some(""));
        assert_eq!(rest("/a", "/").as_deref(), Some("a"));
        assert_eq!(rest("/ab", "/a"), None);
    }
}
