//! Reading what an agent can write: only ordinary files. A pipe in its place would hold the reader for ever.

use mngr_host::files::{FileKind, Files, FilesError};
use mngr_model::HostPath;

/// Whether an ordinary file, or a link to one, is there.
pub fn is_ordinary(files: &dyn Files, path: &HostPath) -> Result<bool, FilesError> {
    let kind = match files.stat(path)?.map(|stat| stat.kind) {
        Some(FileKind::Link) => match files.canonical(path) {
            Ok(target) => files.stat(&target)?.map(|stat| stat.kind),
            Err(error) if error.is_missing() => None,
            Err(error) => return Err(error),
        },
        kind => kind,
    };
    Ok(kind == Some(FileKind::File))
}

/// The contents of an ordinary file; nothing where there is none.
pub fn read_ordinary(files: &dyn Files, path: &HostPath) -> Result<Option<Vec<u8>>, FilesError> {
    if is_ordinary(files, path)? { files.read_if_there(path) } else { Ok(None) }
}
