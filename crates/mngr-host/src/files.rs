//! The files of a host, seen through one small trait.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use jiff::Timestamp;
use mngr_model::HostPath;

use crate::beneath::{Beneath, LinkInTheWay, folders_on_the_way};
use crate::fault;
use crate::glance::Seen;

/// Who may read a new file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The user's umask decides.
    Shared,
    /// Only the owner (0600).
    Private,
    /// The owner may also run it (0700).
    PrivateExecutable,
    /// Whoever may read, write and run the file that is replaced; for a new one, the user's umask decides.
    AsBefore,
    /// These permission bits. Until the file is whole, only the owner may read it.
    Exactly(u32),
}

/// Whether a write must survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The system writes it back when it likes.
    Cached,
    /// It is on the disk when the call returns.
    Synced,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// Something else.
    Other,
}

/// What is known of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStat {
    /// What it is; links are not followed.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Last change of its contents.
    pub modified: Option<Timestamp>,
    /// Permission bits.
    pub mode: u32,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
}

/// Something below a folder, see [`Files::list_below`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Below {
    /// Where.
    pub path: HostPath,
    /// What it is; links are not followed.
    pub stat: FileStat,
}

/// What has to be at a path before anything is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Something.
    There,
    /// Nothing.
    Missing,
    /// Nothing, or a file without contents.
    Empty,
}

impl Presence {
    fn require(self, path: &HostPath, found: Option<&FileStat>) -> Result<(), FilesError> {
        let problem = match (self, found) {
            (Self::There, None) => io::ErrorKind::NotFound,
            (Self::Missing, Some(_)) => io::ErrorKind::AlreadyExists,
            (Self::Empty, Some(stat)) if stat.size > 0 => io::ErrorKind::AlreadyExists,
            _ => return Ok(()),
        };
        Err(FilesError { action: "begin with", path: path.clone(), source: problem.into() })
    }
}

/// One of several changes that are made together, see [`Files::apply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// [`Files::make_folder`].
    MakeFolder(HostPath),
    /// [`Files::make_folder_beneath`], with no names below it.
    MakeFolderBeneath(Beneath),
    /// Changes nothing: what comes after it is only made where this holds. It fails as taken, or as missing.
    Require {
        /// The path.
        path: HostPath,
        /// What has to be there.
        presence: Presence,
    },
    /// [`Files::touch`].
    Touch(HostPath),
    /// An empty file for the owner's eyes only, unless something is there.
    MakePrivateFile(HostPath),
    /// [`Files::write`].
    Write {
        /// Where.
        path: HostPath,
        /// The new contents.
        bytes: Vec<u8>,
        /// Who may read it.
        access: Access,
        /// Whether it must survive a power cut.
        durability: Durability,
    },
    /// [`Files::append`], cached.
    Append {
        /// Where.
        path: HostPath,
        /// What is added.
        bytes: Vec<u8>,
    },
    /// [`Files::rename`].
    Rename {
        /// What is moved.
        from: HostPath,
        /// Where it is then.
        to: HostPath,
    },
    /// [`Files::remove_file`].
    RemoveFile(HostPath),
    /// [`Files::remove_tree`].
    RemoveTree(HostPath),
}

impl Change {
    /// A write that the system may write back when it likes.
    pub fn write(path: HostPath, text: impl Into<Vec<u8>>, access: Access) -> Self {
        Self::Write { path, bytes: text.into(), access, durability: Durability::Cached }
    }
}

/// A file operation failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{path}`")]
pub struct FilesError {
    /// What was tried, as a verb.
    pub action: &'static str,
    /// On which path.
    pub path: HostPath,
    /// Why.
    #[source]
    pub source: io::Error,
}

impl FilesError {
    /// Whether it failed because nothing is there.
    pub fn is_missing(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }

    /// Whether it failed because the path is taken.
    pub fn is_taken(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
    }

    /// Whether it failed because a link is in the way, see [`Beneath`].
    pub fn link(&self) -> Option<&LinkInTheWay> {
        LinkInTheWay::of(self)
    }

    /// Whether the two paths are on different file systems.
    pub fn is_cross_device(&self) -> bool {
        self.source.kind() == io::ErrorKind::CrossesDevices
    }
}

/// Fails where a root that must be there is not.
fn require_root<F: Files + ?Sized>(files: &F, place: &Beneath) -> Result<(), FilesError> {
    if place.may_make_root() {
        return Ok(());
    }
    Presence::There.require(place.root(), files.stat(place.root())?.as_ref())
}

/// What can be done with files there. Links are followed for reading and writing, never for removing.
pub trait Files: Send + Sync {
    /// The contents of whatever is there. A pipe is read to its end, so this is for what the user names.
    fn read(&self, path: &HostPath) -> Result<Vec<u8>, FilesError>;

    /// The contents of an ordinary file. What an agent can write is read like this: a pipe it put there would hold the
    /// reader for ever, and is an error here.
    fn read_file(&self, path: &HostPath) -> Result<Vec<u8>, FilesError>;

    /// Replaces the contents in one step: readers see the old or the new file, never a part.
    fn write(
        &self,
        path: &HostPath,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> Result<(), FilesError>;

    /// Appends with a single write, creating the file.
    fn append(&self, path: &HostPath, bytes: &[u8], durability: Durability) -> Result<(), FilesError>;

    /// Makes the folder and those above it.
    fn make_folder(&self, path: &HostPath) -> Result<(), FilesError>;

    /// Makes the folder and those above it that are beneath its root, following no link; nor may one of `names`, which are
    /// folders below it, be a link. One round trip.
    fn make_folder_beneath(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        refuse_by_looking(self, folder, names)?;
        require_root(self, folder)?;
        self.make_folder(folder.path())
    }

    /// Fails if a folder beneath its root, one above it or one of `names` below it is a link. One round trip.
    fn refuse_links(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        refuse_by_looking(self, folder, names)
    }

    /// Replaces the contents of a file beneath its root in one step, see [`Files::write`]; folders above it are made. No
    /// link is followed, and one in place of the file is refused. One round trip.
    fn write_beneath(
        &self,
        file: &Beneath,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> Result<(), FilesError> {
        refuse_by_looking(self, file, &BTreeSet::new())?;
        require_root(self, file)?;
        if let Some((folder, _)) = file.split() {
            self.make_folder(folder.path())?;
        }
        self.write(file.path(), bytes, access, durability)
    }

    /// Removes files below a folder; behind a link nothing is removed. Nothing there is no error. One round trip.
    fn remove_files_beneath(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        refuse_by_looking(self, folder, &folders_on_the_way(names.iter().map(Vec::as_slice)))?;
        for name in names {
            self.remove_file(&folder.path().join(&text_of(folder.path(), name)?))?;
        }
        Ok(())
    }

    /// Makes the folder, which must not be there yet: of several who try, one succeeds. The one above must be there.
    fn make_new_folder(&self, path: &HostPath, access: Access) -> Result<(), FilesError>;

    /// Creates the file or sets its time to now.
    fn touch(&self, path: &HostPath) -> Result<(), FilesError>;

    /// Moves within one file system.
    fn rename(&self, from: &HostPath, to: &HostPath) -> Result<(), FilesError>;

    /// Makes a symbolic link.
    fn link(&self, target: &str, at: &HostPath) -> Result<(), FilesError>;

    /// Removes a file or link; nothing there is no error.
    fn remove_file(&self, path: &HostPath) -> Result<(), FilesError>;

    /// Removes a folder and everything in it; nothing there is no error.
    fn remove_tree(&self, path: &HostPath) -> Result<(), FilesError>;

    /// What it is, without following a link; `None` when nothing is there.
    fn stat(&self, path: &HostPath) -> Result<Option<FileStat>, FilesError>;

    /// What several paths are, see [`Files::stat`]. One round trip.
    fn stat_all(&self, paths: &[HostPath]) -> Result<Vec<Option<FileStat>>, FilesError> {
        paths.iter().map(|path| self.stat(path)).collect()
    }

    /// The entries of a folder, sorted by name; a missing folder has none.
    fn list(&self, path: &HostPath) -> Result<Vec<FolderEntry>, FilesError>;

    /// Everything below a folder, so many levels deep, sorted by path; no link in it is followed. What disappears
    /// meanwhile is left out, and a missing folder has nothing. One round trip.
    fn list_below(&self, path: &HostPath, depth: usize) -> Result<Vec<Below>, FilesError> {
        let mut found = Vec::new();
        let mut folders = vec![path.clone()];
        for _ in 0..depth {
            let mut deeper = Vec::new();
            for folder in &folders {
                for entry in self.list(folder)? {
                    let path = folder.join(&entry.name);
                    let Some(stat) = self.stat(&path)? else { continue };
                    deeper.extend((stat.kind == FileKind::Folder).then(|| path.clone()));
                    found.push(Below { path, stat });
                }
            }
            folders = deeper;
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// The path with all links resolved.
    fn canonical(&self, path: &HostPath) -> Result<HostPath, FilesError>;

    /// Several paths with all links resolved; `None` for one that cannot be. One round trip.
    fn canonical_all(&self, paths: &[HostPath]) -> Result<Vec<Option<HostPath>>, FilesError> {
        Ok(paths.iter().map(|path| self.canonical(path).ok()).collect())
    }

    /// What is at these paths, for a [`Glance`](crate::glance::Glance): in one round trip where asking costs one, and
    /// nothing where it costs none. A path that cannot be looked at is left out.
    fn foresee(&self, _paths: &[HostPath]) -> Result<BTreeMap<HostPath, Option<Seen>>, FilesError> {
        Ok(BTreeMap::new())
    }

    /// Makes changes in their order, up to the first that fails; what was done before it stays. One round trip.
    fn apply(&self, changes: &[Change]) -> Result<(), FilesError> {
        for change in changes {
            match change {
                Change::MakeFolder(path) => self.make_folder(path)?,
                Change::MakeFolderBeneath(folder) => self.make_folder_beneath(folder, &BTreeSet::new())?,
                Change::Require { path, presence } => presence.require(path, self.stat(path)?.as_ref())?,
                Change::Touch(path) => self.touch(path)?,
                Change::MakePrivateFile(path) if self.exists(path)? => {}
                Change::MakePrivateFile(path) => {
                    self.write(path, &[], Access::Private, Durability::Cached)?
                }
                Change::Write { path, bytes, access, durability } => {
                    self.write(path, bytes, *access, *durability)?
                }
                Change::Append { path, bytes } => self.append(path, bytes, Durability::Cached)?,
                Change::Rename { from, to } => self.rename(from, to)?,
                Change::RemoveFile(path) => self.remove_file(path)?,
                Change::RemoveTree(path) => self.remove_tree(path)?,
            }
            fault::point();
        }
        Ok(())
    }

    /// How many bytes a folder holds in all.
    fn tree_size(&self, path: &HostPath) -> Result<u64, FilesError>;

    /// The contents from this byte on; nothing when the file is shorter.
    fn read_from(&self, path: &HostPath, offset: u64) -> Result<Vec<u8>, FilesError> {
        let mut bytes = self.read(path)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        Ok(bytes.split_off(start))
    }

    /// At most `limit` bytes of the contents, from this byte on; nothing when the file is shorter.
    fn read_part(&self, path: &HostPath, offset: u64, limit: usize) -> Result<Vec<u8>, FilesError> {
        let mut bytes = self.read_from(path, offset)?;
        bytes.truncate(limit);
        Ok(bytes)
    }

    /// The contents as text; invalid UTF-8 is replaced.
    fn read_text(&self, path: &HostPath) -> Result<String, FilesError> {
        Ok(String::from_utf8_lossy(&self.read(path)?).into_owned())
    }

    /// The contents of an ordinary file, or `None` when nothing is there. Never waits, see [`Files::read_file`].
    fn read_if_there(&self, path: &HostPath) -> Result<Option<Vec<u8>>, FilesError> {
        match self.read_file(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether anything is there.
    fn exists(&self, path: &HostPath) -> Result<bool, FilesError> {
        Ok(self.stat(path)?.is_some())
    }
}

/// Looks at one path after the other, for files that cannot be opened beneath a folder.
fn refuse_by_looking(
    files: &(impl Files + ?Sized),
    folder: &Beneath,
    names: &BTreeSet<Vec<u8>>,
) -> Result<(), FilesError> {
    let own = [folder.below().as_bytes(), b"/"].concat();
    let own = folders_on_the_way([own.as_slice()]).into_iter().map(|name| (folder.root().clone(), name));
    let below = names.iter().map(|name| (folder.path().clone(), name.clone()));
    for (root, name) in own.chain(below) {
        let name = text_of(&root, &name)?;
        let path = root.join(&name);
        if files.stat(&path)?.is_some_and(|stat| stat.kind == FileKind::Link) {
            let target =
                files.canonical(&path).map_or_else(|_| "nowhere".to_owned(), |real| real.to_string());
            let source = LinkInTheWay { link: name, target }.into_io();
            return Err(FilesError { action: "write to", path, source });
        }
    }
    Ok(())
}

fn text_of(folder: &HostPath, name: &[u8]) -> Result<String, FilesError> {
    let is_below = |text: &&str| !text.starts_with('/') && !text.split('/').any(|part| part == "..");
    match std::str::from_utf8(name).ok().filter(is_below) {
        Some(text) => Ok(text.to_owned()),
        None => {
            let source = io::ErrorKind::InvalidInput.into();
            Err(FilesError { action: "write below", path: folder.clone(), source })
        }
    }
}
