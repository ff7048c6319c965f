//! `work_dir_extra_paths`: files git does not carry, shared with or copied from the source, for whoever makes a checkout.

use std::collections::{BTreeMap, BTreeSet};

use mngr_config::ExtraPath;
use mngr_host::beneath::Beneath;
use mngr_host::files::FilesError;
use mngr_host::host::Host;
use mngr_host::rsync::{Endpoint, Rsync, RsyncError};
use mngr_model::HostPath;

/// An extra path cannot be laid.
#[derive(Debug, thiserror::Error)]
pub enum ExtraPathError {
    /// It is absolute or leaves the work dir.
    #[error("`work_dir_extra_paths` names `{path}`, which is not a path inside the work dir")]
    Outside {
        /// The path.
        path: String,
    },
    /// Something is there already.
    #[error("`{path}` already exists")]
    Taken {
        /// The path.
        path: HostPath,
    },
    /// A file operation failed.
    #[error("an extra path cannot be laid")]
    Files(#[from] FilesError),
    /// It could not be copied.
    #[error("an extra path cannot be copied")]
    Copy(#[from] RsyncError),
}

/// Lays them from one checkout into another, and returns those that the source does not have. What is to be shared is
/// copied where the two are on different hosts.
pub fn lay(
    paths: &BTreeMap<String, ExtraPath>,
    (theirs, source): (&dyn Host, &HostPath),
    (host, work_dir): (&dyn Host, &HostPath),
) -> Result<Vec<String>, ExtraPathError> {
    let is_one_host = theirs.info().id == host.info().id;
    let mut missing = Vec::new();
    for (path, kind) in paths {
        let is_inside =
            !path.starts_with('/') && !path.split('/').any(|part| part == "..") && !path.is_empty();
        if !is_inside {
            return Err(ExtraPathError::Outside { path: path.clone() });
        }
        let (from, to) = (source.join(path), work_dir.join(path));
        if !theirs.files().exists(&from)? {
            missing.push(path.clone());
            continue;
        }
        let within = Beneath::new(work_dir, &to);
        let Some((folder, _)) = within.as_ref().and_then(Beneath::split) else {
            return Err(ExtraPathError::Outside { path: path.clone() });
        };
        host.files().make_folder_beneath(&folder, &BTreeSet::new())?;
        if host.files().exists(&to)? {
            return Err(ExtraPathError::Taken { path: to });
        }
        match kind {
            ExtraPath::Share if is_one_host => host.files().link(from.as_str(), &to)?,
            ExtraPath::Share | ExtraPath::Copy => {
                let target = Endpoint::Contents(folder.path().clone());
                Rsync::new(Endpoint::Itself(from), target).beneath(folder).run_between(theirs, host)?;
            }
        }
    }
    Ok(missing)
}
