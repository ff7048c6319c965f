//! Reading what an agent can write: only ordinary files. A pipe in its place would hold the reader for ever.

use mngr_host::files::{FileKind, FileStat, Files, FilesError};
use mngr_host::glance::Glance;
use mngr_model::HostPath;

/// Whether an ordinary file, or a link to one, is there.
pub fn is_ordinary(files: &dyn Files, path: &HostPath) -> Result<bool, FilesError> {
    Ok(ordinary(files, files.stat(path)?, path)?.is_some())
}

/// How long an ordinary file is, or the one that a link leads to; nothing where there is none.
pub(crate) fn ordinary_size(files: &dyn Files, path: &HostPath) -> Result<Option<u64>, FilesError> {
    Ok(ordinary(files, files.stat(path)?, path)?.map(|stat| stat.size))
}

/// What is known of an ordinary file at this path, where there was `found`.
fn ordinary(
    files: &dyn Files,
    found: Option<FileStat>,
    path: &HostPath,
) -> Result<Option<FileStat>, FilesError> {
    let found = match found {
        Some(FileStat { kind: FileKind::Link, .. }) => match files.canonical(path) {
            Ok(target) => files.stat(&target)?,
            Err(error) if error.is_missing() => None,
            Err(error) => return Err(error),
        },
        found => found,
    };
    Ok(found.filter(|stat| stat.kind == FileKind::File))
}

/// The contents of an ordinary file; nothing where there is none. One round trip for a short one.
pub fn read_ordinary(files: &dyn Files, path: &HostPath) -> Result<Option<Vec<u8>>, FilesError> {
    let glance = Glance::at(files, std::slice::from_ref(path))?;
    match ordinary(files, glance.stat(path)?, path)? {
        Some(_) => glance.read_if_there(path),
        None => Ok(None),
    }
}
