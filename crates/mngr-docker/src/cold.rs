//! Files of a container that does not run, out of the archive that the engine makes of a folder, volumes included.
//!
//! Budget: one request for each folder. What the archive holds was written by whoever was in the container: untrusted.

use std::io::Read;
use std::time::Duration;

use mngr_host::provider::ColdRead;
use mngr_model::HostPath;

use crate::engine::{EngineClient, EngineError, Limits, encoded};

/// How much of an archive is read. The files that are wanted are small, but others lie between them.
const LIMITS: Limits = Limits { bytes: 64 << 20, time: Duration::from_secs(5) };
/// A file larger than this is none that mngr wrote.
const FILE_BYTES: u64 = 1 << 20;
/// More files than this are not kept.
const MOST_FILES: usize = 10_000;

/// The files `FOLDER/*/NAME` of a container.
pub(crate) fn read_below(
    engine: &EngineClient,
    container: &str,
    folder: &HostPath,
    name: &str,
) -> Result<ColdRead, EngineError> {
    let path = format!("/containers/{}/archive?path={}", encoded(container), encoded(folder.as_str()));
    match engine.download(&path, LIMITS) {
        Ok(archive) => Ok(pick(archive, folder.file_name().unwrap_or_default(), name)),
        Err(error) if error.is_absent() => Ok(ColdRead { files: Vec::new(), is_whole: true }),
        Err(error) => Err(error),
    }
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
