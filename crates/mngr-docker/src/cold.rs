//! Files of a container that does not run, out of the archive that the engine makes of a folder, volumes included.
//!
//! Budget: one request for each folder. What the archive holds was written by whoever was in the container: untrusted.

use std::io::Read;
use std::time::Duration;

use jiff::Timestamp;
use mngr_host::files::{FileKind, FileStat};
use mngr_host::frozen::FrozenFiles;
use mngr_host::provider::ColdRead;
use mngr_model::HostPath;

use crate::engine::{Download, EngineClient, EngineError, Limits, encoded};

/// How much of an archive is read. The files that are wanted are small, but others lie between them.
const LIMITS: Limits = Limits { bytes: 64 << 20, time: Duration::from_secs(5) };
/// A file larger than this is none that mngr wrote.
const FILE_BYTES: u64 = 1 << 20;
/// More files than this are not kept.
const MOST_FILES: usize = 10_000;
/// How much of the archive of one agent's folder is read.
const TREE_LIMITS: Limits = Limits { bytes: 512 << 20, time: Duration::from_secs(30) };
/// What one file, all of them, and how many of them may take up in memory.
const TREE: TreeLimits = TreeLimits { file: 64 << 20, all: 256 << 20, entries: 50_000 };

/// How much of a folder is kept.
#[derive(Debug, Clone, Copy)]
struct TreeLimits {
    /// Bytes of one file.
    file: u64,
    /// Bytes of all files.
    all: u64,
    /// How many files, folders and whatever else.
    entries: usize,
}

/// The files `FOLDER/*/NAME` of a container.
pub(crate) fn read_below(
    engine: &EngineClient,
    container: &str,
    folder: &HostPath,
    name: &str,
) -> Result<ColdRead, EngineError> {
    Ok(match archive_of(engine, container, folder, LIMITS)? {
        Some(archive) => pick(archive, folder.file_name().unwrap_or_default(), name),
        None => ColdRead { files: Vec::new(), is_whole: true },
    })
}

/// A folder of a container and everything below it.
pub(crate) fn read_tree(
    engine: &EngineClient,
    container: &str,
    folder: &HostPath,
) -> Result<FrozenFiles, EngineError> {
    Ok(match archive_of(engine, container, folder, TREE_LIMITS)? {
        Some(archive) => keep(archive, folder, TREE),
        None => FrozenFiles::new(folder.clone()),
    })
}

/// The archive of what is at a path, where something is. A link there is not followed.
fn archive_of<'e>(
    engine: &'e EngineClient,
    container: &str,
    path: &HostPath,
    limits: Limits,
) -> Result<Option<Download<'e>>, EngineError> {
    let path = format!("/containers/{}/archive?path={}", encoded(container), encoded(path.as_str()));
    match engine.download(&path, limits) {
        Ok(archive) => Ok(Some(archive)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Everything in the archive of a folder, as far as it can be read.
fn keep(archive: impl Read, folder: &HostPath, limits: TreeLimits) -> FrozenFiles {
    let mut found = FrozenFiles::new(folder.clone());
    if read_entries(archive, folder, limits, &mut found).is_none() {
        found.cut_short();
    }
    found
}

/// Nothing where the archive ends too early, or holds too much.
fn read_entries(
    archive: impl Read,
    folder: &HostPath,
    limits: TreeLimits,
    found: &mut FrozenFiles,
) -> Option<()> {
    let top = folder.file_name().unwrap_or_default();
    let mut archive = tar::Archive::new(archive);
    let mut bytes_left = limits.all;
    for (count, entry) in archive.entries().ok()?.enumerate() {
        let mut entry = entry.ok().filter(|_| count < limits.entries)?;
        let Some(path) = path_of(&entry.path_bytes(), top, folder) else { continue };
        let header = entry.header();
        let kind = kind_of(header.entry_type());
        let modified = header.mtime().ok().and_then(|second| i64::try_from(second).ok());
        let stat = FileStat {
            kind,
            size: entry.size(),
            modified: modified.and_then(|second| Timestamp::from_second(second).ok()),
            mode: header.mode().unwrap_or_default() & 0o7777,
        };
        // A further name of a file that came before has no contents.
        let is_kept = header.entry_type().is_file() && stat.size <= limits.file;
        let mut contents = None;
        if is_kept {
            bytes_left = bytes_left.checked_sub(stat.size)?;
            let mut bytes = Vec::new();
            // An archive that ends in the middle of a file is no error to its reader.
            entry.read_to_end(&mut bytes).ok().filter(|_| bytes.len() as u64 == stat.size)?;
            contents = Some(bytes);
        }
        found.add(path, stat, contents);
    }
    Some(())
}

fn kind_of(kind: tar::EntryType) -> FileKind {
    match kind {
        kind if kind.is_file() || kind.is_hard_link() => FileKind::File,
        kind if kind.is_dir() => FileKind::Folder,
        kind if kind.is_symlink() => FileKind::Link,
        _ => FileKind::Other,
    }
}

/// The path that `TOP/...` stands for, unless it could lead out of the folder.
fn path_of(path: &[u8], top: &str, folder: &HostPath) -> Option<HostPath> {
    let path = std::str::from_utf8(path).ok()?;
    let mut words = path.trim_end_matches('/').split('/');
    if words.next() != Some(top) {
        return None;
    }
    words.try_fold(folder.clone(), |above, word| {
        let is_name = !matches!(word, "" | "." | "..") && !word.contains('\0');
        is_name.then(|| above.join(word))
    })
}

/// The files `TOP/*/NAME` of an archive, as far as it can be read.
fn pick(archive: impl Read, top: &str, name: &str) -> ColdRead {
    let mut found = ColdRead::default();
    let mut archive = tar::Archive::new(archive);
    let Ok(entries) = archive.entries() else { return found };
    for entry in entries {
        let Ok(mut entry) = entry else { return found };
        let Some(below) = folder_of(&entry.path_bytes(), top, name) else { continue };
        if !entry.header().entry_type().is_file() || entry.size() > FILE_BYTES {
            continue;
        }
        let mut bytes = Vec::new();
        // An archive that ends in the middle of a file is no error to its reader.
        let is_read = entry.read_to_end(&mut bytes).is_ok() && bytes.len() as u64 == entry.size();
        if found.files.len() >= MOST_FILES || !is_read {
            return found;
        }
        found.files.push((below, bytes));
    }
    found.is_whole = true;
    found
}

/// The folder in the middle of `TOP/FOLDER/NAME`.
fn folder_of(path: &[u8], top: &str, name: &str) -> Option<String> {
    let path = std::str::from_utf8(path).ok()?;
    let (first, rest) = path.split_once('/')?;
    let (folder, last) = rest.split_once('/')?;
    (first == top && last == name && !folder.is_empty()).then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use mngr_host::files::Files;

    use super::*;

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn only_files_of_that_name_one_folder_down_are_kept() {
        let bytes = archive(&[
            ("agents/a/data.json", "1"),
            ("agents/a/events/data.json", "2"),
            ("agents/data.json", "3"),
            ("agents/b/env", "4"),
            ("agents/b/data.json", "5"),
        ]);
        let found = pick(bytes.as_slice(), "agents", "data.json");
        assert!(found.is_whole);
        assert_eq!(found.files, [("a".to_owned(), b"1".to_vec()), ("b".to_owned(), b"5".to_vec())]);
    }

    #[test]
    fn an_archive_cut_short_gives_what_came_and_says_so() {
        let bytes = archive(&[("agents/a/data.json", "1"), ("agents/b/data.json", &"x".repeat(5000))]);
        let found = pick(&bytes[..2048], "agents", "data.json");
        assert!(!found.is_whole);
        assert_eq!(found.files, [("a".to_owned(), b"1".to_vec())]);
    }

    #[test]
    fn a_folder_is_kept_with_what_its_names_say_and_nothing_outside() {
        let folder = HostPath::new("/mngr/agents/a");
        let mut bytes = archive(&[("a/events/log", "one"), ("a/b/data.json", "two"), ("b/data.json", "no")]);
        let mut outside = tar::Header::new_gnu();
        let name = b"a/../b/data.json";
        outside.as_old_mut().name[..name.len()].copy_from_slice(name);
        outside.set_size(0);
        outside.set_cksum();
        bytes.splice(0..0, outside.as_bytes().iter().copied());
        let found = keep(bytes.as_slice(), &folder, TREE);
        assert!(found.is_whole());
        assert_eq!(found.read_file(&folder.join("events/log")).unwrap(), b"one");
        let all = |path: &str| found.list(&HostPath::new(path)).unwrap().len();
        assert_eq!((all("/mngr/agents/a/b"), all("/mngr/agents/a/events")), (1, 1));
        assert_eq!(found.stat(&folder.join("../b/data.json")).unwrap(), None);
    }

    #[test]
    fn what_is_too_much_of_a_folder_is_left_out_and_said() {
        let folder = HostPath::new("/agents");
        let bytes = archive(&[("agents/a", "123"), ("agents/b", "12345678"), ("agents/c", "123")]);
        let limits = TreeLimits { file: 5, all: 6, entries: 3 };
        let found = keep(bytes.as_slice(), &folder, limits);
        assert!(found.is_whole());
        assert_eq!(found.read_file(&folder.join("c")).unwrap(), b"123");
        assert_eq!(found.stat(&folder.join("b")).unwrap().unwrap().size, 8);
        assert!(!found.read_file(&folder.join("b")).unwrap_err().is_missing());
        for limits in [TreeLimits { all: 5, ..limits }, TreeLimits { entries: 2, ..limits }] {
            let found = keep(bytes.as_slice(), &folder, limits);
            assert!(!found.is_whole() && found.exists(&folder.join("a")).unwrap(), "{limits:?}");
        }
        assert!(!keep(&bytes[..700], &folder, TREE).is_whole());
    }

    #[test]
    fn a_link_and_a_huge_file_are_passed_over() {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        builder.append_link(&mut header, "agents/a/data.json", "/etc/passwd").unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_size(FILE_BYTES + 1);
        let huge = vec![b'x'; FILE_BYTES as usize + 1];
        builder.append_data(&mut header, "agents/b/data.json", huge.as_slice()).unwrap();
        let found = pick(builder.into_inner().unwrap().as_slice(), "agents", "data.json");
        assert_eq!(found, ColdRead { files: Vec::new(), is_whole: true });
    }
}
