//! From an archive to files below one fresh folder.

use std::collections::BTreeSet;
use std::io::BufRead;

use mngr_host::beneath::Beneath;
use mngr_host::files::{Durability, Files};
use mngr_model::HostPath;
use mngr_model::run::outcome::MAX_OUTCOME_BYTES;

use super::gunzip::Gunzip;
use super::tar::{Entry, EntryKind, TarReader};
use super::{IntakeError, Refusal};
use crate::mapper::Limits;

/// The outcome's name in the archive.
pub(super) const OUTCOME: &str = "outcome.json";
/// The commits' name in the archive.
pub(super) const BUNDLE: &str = "branch.bundle";
/// The folder of everything else.
pub(super) const ARTIFACTS: &str = "artifacts";

/// How much is written at once.
const PIECE: usize = 256 * 1024;

/// What was in an archive.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    /// The bytes of the outcome, which are not written.
    pub(super) outcome: Option<Vec<u8>>,
    pub(super) has_bundle: bool,
    /// Artifacts that are files.
    pub(super) artifacts: u64,
    /// Their bytes together.
    pub(super) artifact_bytes: u64,
}

/// Unpacks everything below `folder`, which is empty and nobody else's.
pub(super) fn unpack(
    archive: impl BufRead,
    files: &dyn Files,
    folder: &HostPath,
    limits: &Limits,
) -> Result<Unpacked, IntakeError> {
    let mut tar = TarReader::new(Gunzip::new(archive, *limits), *limits);
    let mut taken = Taken::default();
    let mut unpacked = Unpacked::default();
    let mut piece = vec![0; PIECE];
    while let Some(entry) = tar.next()? {
        taken.take(&entry)?;
        let size = match entry.kind {
            EntryKind::Folder => {
                require_artifact_folder(&entry)?;
                make_folder(files, folder, &folder.join(&entry.path))?;
                continue;
            }
            EntryKind::File { size } => size,
        };
        match entry.path.as_str() {
            OUTCOME => {
                refuse_above(MAX_OUTCOME_BYTES, size, OUTCOME)?;
                let mut bytes = vec![0; size as usize];
                tar.read(&mut bytes)?;
                unpacked.outcome = Some(bytes);
                continue;
            }
            BUNDLE => {
                refuse_above(limits.bundle_bytes, size, BUNDLE)?;
                unpacked.has_bundle = true;
            }
            path if is_artifact(path) => {
                unpacked.artifacts += 1;
                unpacked.artifact_bytes += size;
            }
            _ => return Err(Refusal::Stray { path: entry.path }.into()),
        }
        let to = folder.join(&entry.path);
        if let Some(above) = to.parent() {
            make_folder(files, folder, &above)?;
        }
        write(&mut tar, size, files, &to, &mut piece)?;
    }
    Ok(unpacked)
}

/// Makes a folder below the one that everything is unpacked into, and through no link.
fn make_folder(files: &dyn Files, root: &HostPath, folder: &HostPath) -> Result<(), IntakeError> {
    let stray = || Refusal::Stray { path: folder.to_string() };
    let folder = Beneath::new(root, folder).ok_or_else(stray)?;
    Ok(files.make_folder_beneath(&folder, &BTreeSet::new())?)
}

fn write<R: BufRead>(
    tar: &mut TarReader<R>,
    size: u64,
    files: &dyn Files,
    to: &HostPath,
    piece: &mut [u8],
) -> Result<(), IntakeError> {
    let mut written = 0;
    loop {
        let bytes = tar.read(piece)?;
        files.append(to, bytes, Durability::Cached)?;
        written += bytes.len() as u64;
        if written == size {
            return Ok(());
        }
    }
}

fn is_artifact(path: &str) -> bool {
    path.strip_prefix(ARTIFACTS).is_some_and(|below| below.starts_with('/'))
}

fn require_artifact_folder(entry: &Entry) -> Result<(), Refusal> {
    if entry.path == ARTIFACTS || is_artifact(&entry.path) {
        Ok(())
    } else {
        Err(Refusal::Stray { path: entry.path.clone() })
    }
}

fn refuse_above(limit: u64, size: u64, path: &str) -> Result<(), Refusal> {
    if size <= limit {
        return Ok(());
    }
    Err(Refusal::TooBig { what: format!("`{path}`"), limit, unit: "bytes" })
}

/// Which paths the archive has used so far.
#[derive(Default)]
struct Taken {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
}

impl Taken {
    fn take(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let path = &entry.path;
        let mut is_free = !self.files.contains(path);
        for (at, _) in path.match_indices('/') {
            is_free &= !self.files.contains(&path[..at]);
            self.folders.insert(path[..at].to_owned());
        }
        is_free &= match entry.kind {
            // A folder may come after what is in it.
            EntryKind::Folder => {
                self.folders.insert(path.clone());
                true
            }
            EntryKind::File { .. } => !self.folders.contains(path) && self.files.insert(path.clone()),
        };
        if is_free { Ok(()) } else { Err(Refusal::Duplicate { path: path.clone() }) }
    }
}
