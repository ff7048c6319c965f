//! The files of one folder as they were at one moment, held in memory: read like any others, never changed.
//!
//! For what lies on a host that does not run. Touches no machine, and follows no link.

use std::collections::BTreeMap;
use std::io;

use mngr_model::HostPath;

use crate::files::{Access, Durability, FileKind, FileStat, Files, FilesError, FolderEntry};

/// A folder and everything below it that was read.
#[derive(Debug)]
pub struct FrozenFiles {
    root: HostPath,
    nodes: BTreeMap<HostPath, Node>,
    is_whole: bool,
}

#[derive(Debug)]
struct Node {
    stat: FileStat,
    contents: Option<Vec<u8>>,
}

/// The path is elsewhere.
#[derive(Debug, thiserror::Error)]
#[error("its host does not run, and only `{root}` was read")]
struct Outside {
    root: HostPath,
}

/// The file is there, and what it says was left out.
#[derive(Debug, thiserror::Error)]
#[error("its host does not run, and it was not read there: it is too large, or has several names")]
struct LeftOut;

/// Following it could lead anywhere.
#[derive(Debug, thiserror::Error)]
#[error("its host does not run, and links are not followed there")]
struct IsLink;

impl FrozenFiles {
    /// A folder of which nothing was read yet.
    pub fn new(root: HostPath) -> Self {
        Self { root, nodes: BTreeMap::new(), is_whole: true }
    }

    /// Adds what is at a path; a file without contents is one that was not read. What is not below the folder is left out.
    pub fn add(&mut self, path: HostPath, stat: FileStat, contents: Option<Vec<u8>>) {
        if path.is_within(&self.root) {
            self.nodes.insert(path, Node { stat, contents });
        }
    }

    /// Notes that there is more, which was not read.
    pub fn cut_short(&mut self) {
        self.is_whole = false;
    }

    /// Whether everything was read that is there.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn node(&self, path: &HostPath) -> Result<Option<&Node>, io::Error> {
        if path.is_within(&self.root) {
            return Ok(self.nodes.get(path));
        }
        Err(io::Error::new(io::ErrorKind::Unsupported, Outside { root: self.root.clone() }))
    }

    fn contents(&self, path: &HostPath) -> Result<&[u8], io::Error> {
        let node = self.node(path)?.ok_or(io::ErrorKind::NotFound)?;
        match (node.stat.kind, &node.contents) {
            (FileKind::File, Some(bytes)) => Ok(bytes),
            (FileKind::File, None) => Err(io::Error::new(io::ErrorKind::FileTooLarge, LeftOut)),
            (FileKind::Folder, _) => Err(io::ErrorKind::IsADirectory.into()),
            (FileKind::Link, _) => Err(io::Error::new(io::ErrorKind::InvalidInput, IsLink)),
            (FileKind::Other, _) => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn below(&self, folder: &HostPath) -> impl Iterator<Item = (&HostPath, &Node)> {
        let start = format!("{folder}/");
        let from = self.nodes.range(HostPath::new(start.clone())..);
        from.take_while(move |(path, _)| path.as_str().starts_with(&start))
    }
}

fn failed(action: &'static str, path: &HostPath, source: impl Into<io::Error>) -> FilesError {
    FilesError { action, path: path.clone(), source: source.into() }
}

fn unchanged(action: &'static str, path: &HostPath) -> Result<(), FilesError> {
    Err(failed(action, path, io::ErrorKind::ReadOnlyFilesystem))
}

impl Files for FrozenFiles {
    fn read(&self, path: &HostPath) -> Result<Vec<u8>, FilesError> {
        self.read_part(path, 0, usize::MAX)
    }

    fn read_file(&self, path: &HostPath) -> Result<Vec<u8>, FilesError> {
        self.read_part(path, 0, usize::MAX)
    }

    fn read_from(&self, path: &HostPath, offset: u64) -> Result<Vec<u8>, FilesError> {
        self.read_part(path, offset, usize::MAX)
    }

    fn read_part(&self, path: &HostPath, offset: u64, limit: usize) -> Result<Vec<u8>, FilesError> {
        let bytes = self.contents(path).map_err(|source| failed("read", path, source))?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(limit).min(bytes.len());
        Ok(bytes[start..end].to_vec())
    }

    fn stat(&self, path: &HostPath) -> Result<Option<FileStat>, FilesError> {
        let node = self.node(path).map_err(|source| failed("examine", path, source))?;
        Ok(node.map(|node| node.stat.clone()))
    }

    fn list(&self, path: &HostPath) -> Result<Vec<FolderEntry>, FilesError> {
        self.node(path).map_err(|source| failed("list", path, source))?;
        let entries = self.below(path).filter_map(|(below, node)| {
            let name = below.as_str().get(path.as_str().len() + 1..)?;
            let entry = || FolderEntry { name: name.to_owned(), kind: node.stat.kind };
            (!name.contains('/')).then(entry)
        });
        Ok(entries.collect())
    }

    fn canonical(&self, path: &HostPath) -> Result<HostPath, FilesError> {
        let whole = path.normalized();
        match self.node(&whole) {
            Ok(Some(node)) if node.stat.kind != FileKind::Link => Ok(whole),
            Ok(Some(_)) => Err(failed("resolve", path, io::Error::new(io::ErrorKind::InvalidInput, IsLink))),
            Ok(None) => Err(failed("resolve", path, io::ErrorKind::NotFound)),
            Err(source) => Err(failed("resolve", path, source)),
        }
    }

    fn tree_size(&self, path: &HostPath) -> Result<u64, FilesError> {
        self.node(path).map_err(|source| failed("measure", path, source))?;
        Ok(self.below(path).map(|(_, node)| node.stat.size).sum())
    }

    fn write(&self, path: &HostPath, _: &[u8], _: Access, _: Durability) -> Result<(), FilesError> {
        unchanged("write", path)
    }

    fn append(&self, path: &HostPath, _: &[u8], _: Durability) -> Result<(), FilesError> {
        unchanged("append to", path)
    }

    fn make_folder(&self, path: &HostPath) -> Result<(), FilesError> {
        unchanged("make", path)
    }

    fn make_new_folder(&self, path: &HostPath, _: Access) -> Result<(), FilesError> {
        unchanged("make", path)
    }

    fn touch(&self, path: &HostPath) -> Result<(), FilesError> {
        unchanged("touch", path)
    }

    fn rename(&self, from: &HostPath, _: &HostPath) -> Result<(), FilesError> {
        unchanged("move", from)
    }

    fn link(&self, _: &str, at: &HostPath) -> Result<(), FilesError> {
        unchanged("make", at)
    }

    fn remove_file(&self, path: &HostPath) -> Result<(), FilesError> {
        unchanged("remove", path)
    }

    fn remove_tree(&self, path: &HostPath) -> Result<(), FilesError> {
        unchanged("remove", path)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    fn stat(kind: FileKind, size: u64) -> FileStat {
        FileStat { kind, size, modified: None, mode: 0o600 }
    }

    fn state() -> FrozenFiles {
        let at = |path: &str| HostPath::new(format!("/s/a{path}"));
        let mut files = FrozenFiles::new(at(""));
        files.add(at(""), stat(FileKind::Folder, 0), None);
        files.add(at("/events"), stat(FileKind::Folder, 0), None);
        files.add(at("/events/log"), stat(FileKind::File, 7), Some(b"one two".to_vec()));
        files.add(at("/events.old"), stat(FileKind::File, 9000), None);
        files.add(at("/link"), stat(FileKind::Link, 0), None);
        files.add(HostPath::new("/s/ab"), stat(FileKind::File, 1), Some(b"x".to_vec()));
        files
    }

    fn why(error: &FilesError) -> String {
        error.source().map(ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn files_are_read_and_folders_are_listed() {
        let files = state();
        let log = HostPath::new("/s/a/events/log");
        assert_eq!(files.read_file(&log).unwrap(), b"one two");
        assert_eq!(files.read_part(&log, 4, 2).unwrap(), b"tw");
        assert_eq!(files.read_from(&log, 100).unwrap(), b"");
        let names = |path: &str| -> Vec<String> {
            files.list(&HostPath::new(path)).unwrap().into_iter().map(|entry| entry.name).collect()
        };
        assert_eq!(names("/s/a"), ["events", "events.old", "link"]);
        assert_eq!(names("/s/a/events"), ["log"]);
        assert_eq!(names("/s/a/nothing"), [""; 0]);
        assert_eq!(files.tree_size(&HostPath::new("/s/a/events")).unwrap(), 7);
        assert!(files.read_file(&HostPath::new("/s/a/nothing")).unwrap_err().is_missing());
        assert_eq!(files.stat(&HostPath::new("/s/a/nothing")).unwrap(), None);
    }

    #[test]
    fn what_was_not_read_is_not_taken_for_missing() {
        let files = state();
        let refused = |path: &str| why(&files.read_file(&HostPath::new(path)).unwrap_err());
        assert!(refused("/s/a/events.old").contains("too large"));
        assert!(refused("/s/a/link").contains("links are not followed"));
        assert!(refused("/s/ab").contains("only `/s/a` was read"));
        assert!(!files.list(&HostPath::new("/s")).unwrap_err().is_missing());
    }

    #[test]
    fn nothing_can_be_changed() {
        let files = state();
        let log = HostPath::new("/s/a/events/log");
        assert!(files.append(&log, b"three", Durability::Cached).is_err());
        assert!(files.remove_file(&log).is_err());
        assert_eq!(files.read_file(&log).unwrap(), b"one two");
    }
}
