//! Paths beneath a folder that is trusted, for everything that is written under names an agent can choose.
//!
//! The root is what the user named or what mngr made: links that lead to it are his. Below it no link is followed: an
//! agent commits one, the user merges it, and the next file of the agent would be written behind it.
//!
//! What holds, on the machine mngr runs on:
//! - A file that mngr itself writes or removes goes to a folder that was opened component by component from the root
//!   (`openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`, or `openat` with `O_NOFOLLOW` where the kernel or a
//!   sandbox lacks it), and is named relative to that open folder. Whoever exchanges a folder for a link meanwhile gets
//!   a refusal or his own folder, never a file behind the link.
//! - rsync is started inside the folder that was opened in the same way, and gets `./` as its destination. Links further
//!   below are looked for before it starts. One that appears after the look is replaced by rsync, not followed: only
//!   within the moment between rsync's own look at a folder and its write can a program that runs as the same user still
//!   redirect it.
//! - git never writes behind a link by itself.
//!
//! On another machine the scripts do the same with `cd -P` and a look at where it led.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use mngr_model::HostPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::files::{Access, Durability};
use crate::random;

/// A path below a folder that is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beneath {
    root: HostPath,
    missing_root: Absent,
    below: String,
    path: HostPath,
}

impl Beneath {
    /// The root itself.
    pub fn root_itself(root: HostPath) -> Self {
        Self { path: root.clone(), root, missing_root: Absent::Make, below: String::new() }
    }

    /// The same with a root that must be there: the folder of an agent that was destroyed meanwhile is never made again.
    #[must_use]
    pub fn in_existing_root(self) -> Self {
        Self { missing_root: Absent::Fail, ..self }
    }

    /// Whether a root that is missing may be made.
    pub fn may_make_root(&self) -> bool {
        self.missing_root == Absent::Make
    }

    /// A path that is the root or lies below it by spelling; `None` when it does not.
    pub fn new(root: &HostPath, path: &HostPath) -> Option<Self> {
        let (root, path) = (root.normalized(), path.normalized());
        if !path.is_within(&root) {
            return None;
        }
        let below = path.as_str()[root.as_str().trim_end_matches('/').len()..].trim_matches('/').to_owned();
        Some(Self { root, missing_root: Absent::Make, below, path })
    }

    /// A path of this machine that the user typed or a setting names, see [`typed_root`].
    pub fn typed(path: &HostPath) -> Self {
        let within = typed_root(path).and_then(|root| Self::new(&root, path));
        within.unwrap_or_else(|| Self::root_itself(path.clone()))
    }

    /// The folder that is trusted.
    pub fn root(&self) -> &HostPath {
        &self.root
    }

    /// The path relative to it; empty when it is the root.
    pub fn below(&self) -> &str {
        &self.below
    }

    /// The whole path.
    pub fn path(&self) -> &HostPath {
        &self.path
    }

    /// The folder that holds it, and its name; `None` for the root.
    pub fn split(&self) -> Option<(Self, &str)> {
        let (folder, name) = self.below.rsplit_once('/').unwrap_or(("", &self.below));
        let path = if folder.is_empty() { self.root.clone() } else { self.root.join(folder) };
        let below = folder.to_owned();
        (!name.is_empty()).then(|| (Self { root: self.root.clone(), below, path, ..*self }, name))
    }
}

/// A link stands where a folder or a file beneath a root should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{link}` is a link to `{target}`: nothing was written")]
pub struct LinkInTheWay {
    /// The link, relative to the root.
    pub link: String,
    /// Where it leads, as it says itself.
    pub target: String,
}

impl LinkInTheWay {
    /// The refusal behind an error, if it is one.
    pub fn of<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<Self>() {
                return Some(found);
            }
            // What an I/O error wraps is passed over by its `source`.
            let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            if let Some(found) = wrapped.and_then(|inner| inner.downcast_ref::<Self>()) {
                return Some(found);
            }
            next = error.source();
        }
        None
    }

    /// The same as an error of files.
    pub(crate) fn into_io(self) -> io::Error {
        io::Error::other(self)
    }
}

/// Every folder that is on the way to one of these names, and those names that are folders themselves (`a/`): `a` and
/// `a/b` for `a/b/c`. None of them may be a link.
pub fn folders_on_the_way<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> BTreeSet<Vec<u8>> {
    let mut folders = BTreeSet::new();
    for name in names {
        let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        for folder in ends.map(|end| &name[..end]).filter(|folder| !matches!(*folder, b"" | b".")) {
            if !folders.contains(folder) {
                folders.insert(folder.to_vec());
            }
        }
    }
    folders
}

/// The root of a path that the user typed: the top of the repository it is in, because links in there may have come from
/// an agent. `None` when it is in none: then what was typed is the root, and its links are the user's own.
pub fn typed_root(path: &HostPath) -> Option<HostPath> {
    let path = path.normalized();
    let mut root = None;
    let mut prefix = HostPath::new("/");
    for part in path.as_str().split('/').filter(|part| !part.is_empty()) {
        let whole = prefix.join(part);
        let is_link = std::fs::symlink_metadata(whole.as_str()).is_ok_and(|meta| meta.is_symlink());
        if is_link && root.is_some() {
            break;
        }
        if is_repository(&whole) {
            root = Some(whole.clone());
        }
        prefix = whole;
    }
    root
}

/// Whether git takes a folder for a repository or a work tree: an empty `.git`, such as a sandbox leaves in a folder of
/// temporary files, is none.
fn is_repository(folder: &HostPath) -> bool {
    let git = folder.join(".git");
    let is_there = |path: &HostPath| std::fs::symlink_metadata(path.as_str()).ok();
    is_there(&git).is_some_and(|meta| !meta.is_dir() || is_there(&git.join("HEAD")).is_some())
}

/// What happens to folders that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// They are made.
    Make,
    /// They are an error.
    Fail,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a folder of this machine.
pub(crate) fn open_folder(folder: &Beneath, absent: Absent) -> io::Result<OwnedFd> {
    if absent == Absent::Make && folder.may_make_root() {
        std::fs::create_dir_all(folder.root.as_str())?;
    }
    let root = rustix::fs::open(folder.root.as_str(), FOLDER, Mode::empty())?;
    open_below(root, folder.below.as_bytes(), absent)
}

fn open_below(root: OwnedFd, below: &[u8], absent: Absent) -> io::Result<OwnedFd> {
    let parts: Vec<&[u8]> = parts_of(below)?;
    if parts.is_empty() {
        return Ok(root);
    }
    let whole = parts.join(&b'/');
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // Whatever it says but yes is found out again below, where the component is known: a link, a folder to be made, a
    // kernel or a sandbox without the call.
    if let Ok(opened) = rustix::fs::openat2(&root, OsStr::from_bytes(&whole), FOLDER, Mode::empty(), how) {
        return Ok(opened);
    }
    walk(root, &parts, absent)
}

/// Opens one component after the other.
fn walk(root: OwnedFd, parts: &[&[u8]], absent: Absent) -> io::Result<OwnedFd> {
    let mut at = root;
    for (depth, part) in parts.iter().enumerate() {
        let name = OsStr::from_bytes(part);
        let open = || rustix::fs::openat(&at, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        let opened = match open() {
            Err(Errno::NOENT) if absent == Absent::Make => {
                match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                    // Somebody else may just have made it, or something else in its place.
                    Ok(()) | Err(Errno::EXIST) => open(),
                    Err(errno) => return Err(errno.into()),
                }
            }
            other => other,
        };
        at = match opened {
            Ok(opened) => opened,
            // Linux answers ENOTDIR for a link when a folder is wanted.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => {
                let shown = parts[..=depth].join(&b'/');
                return Err(refusal(at.as_fd(), part, &shown).unwrap_or(Errno::NOTDIR.into()));
            }
            Err(errno) => return Err(errno.into()),
        };
    }
    Ok(at)
}

/// The components; `..` could climb out, and an absolute name begins elsewhere.
fn parts_of(below: &[u8]) -> io::Result<Vec<&[u8]>> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "it does not lie below its root");
    if below.starts_with(b"/") || below.contains(&0) {
        return Err(refused());
    }
    let parts: Vec<&[u8]> =
        below.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b".")).collect();
    if parts.contains(&&b".."[..]) { Err(refused()) } else { Ok(parts) }
}

/// The refusal of a name that is a link.
fn refusal(folder: BorrowedFd<'_>, name: &[u8], shown: &[u8]) -> Option<io::Error> {
    let target = rustix::fs::readlinkat(folder, OsStr::from_bytes(name), Vec::new()).ok()?;
    let link = String::from_utf8_lossy(shown).into_owned();
    Some(LinkInTheWay { link, target: target.to_string_lossy().into_owned() }.into_io())
}

fn shown(folder: &Beneath, name: &[u8]) -> Vec<u8> {
    let folder = folder.below.as_bytes();
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

/// Fails if one of these folders, relative to the folder, is a link. What is not there is none. They come in their order,
/// so a folder is looked at before what is in it.
pub(crate) fn refuse_links(folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> io::Result<()> {
    let opened = match open_folder(folder, Absent::Fail) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    refuse_links_in(opened.as_fd(), folder, names)
}

fn refuse_links_in(opened: BorrowedFd<'_>, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> io::Result<()> {
    for name in names {
        parts_of(name)?;
        let stat = rustix::fs::statat(opened, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW);
        if stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
            && let Some(refused) = refusal(opened, name, &shown(folder, name))
        {
            return Err(refused);
        }
    }
    Ok(())
}

/// Makes a folder of this machine; none of the names below it may be a link.
pub(crate) fn make_folder(folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> io::Result<()> {
    let opened = open_folder(folder, Absent::Make)?;
    refuse_links_in(opened.as_fd(), folder, names)
}

/// Replaces the contents of a file of this machine in one step; folders above it are made. A link in its place is refused.
pub(crate) fn write(file: &Beneath, bytes: &[u8], access: Access, durability: Durability) -> io::Result<()> {
    let Some((folder, name)) = file.split() else { return Err(io::ErrorKind::IsADirectory.into()) };
    parts_of(name.as_bytes())?;
    let at = open_folder(&folder, Absent::Make)?;
    let before = match rustix::fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat),
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(errno.into()),
    };
    match before.as_ref().map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Some(FileType::Symlink) => {
            let refused = refusal(at.as_fd(), name.as_bytes(), file.below.as_bytes());
            return Err(refused.unwrap_or(Errno::LOOP.into()));
        }
        Some(FileType::Directory) => return Err(io::ErrorKind::IsADirectory.into()),
        _ => {}
    }
    let first = match access {
        Access::Shared | Access::AsBefore => 0o666,
        Access::Private | Access::Exactly(_) => 0o600,
        Access::PrivateExecutable => 0o700,
    };
    let then = match access {
        Access::AsBefore => before.map(|stat| Mode::from_raw_mode(stat.st_mode)),
        Access::Exactly(mode) => Some(Mode::from_raw_mode(mode)),
        _ => None,
    };
    let temp = format!(".mngr-{}", random::hex32());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fill = || -> io::Result<()> {
        let opened = rustix::fs::openat(&at, temp.as_str(), flags, Mode::from_raw_mode(first))?;
        let mut opened = File::from(opened);
        opened.write_all(bytes)?;
        if let Some(mode) = then {
            rustix::fs::fchmod(&opened, mode)?;
        }
        if durability == Durability::Synced {
            opened.sync_data()?;
        }
        Ok(rustix::fs::renameat(&at, temp.as_str(), &at, name)?)
    };
    fill().inspect_err(|_| {
        let _ = rustix::fs::unlinkat(&at, temp.as_str(), AtFlags::empty());
    })
}

/// Removes files of this machine, named relative to the folder. What is not there is no error; behind a link nothing is
/// removed.
pub(crate) fn remove_files(folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> io::Result<()> {
    refuse_links(folder, &folders_on_the_way(names.iter().map(Vec::as_slice)))?;
    for name in names {
        let parts = parts_of(name)?;
        let Some((last, above)) = parts.split_last() else { continue };
        let root = open_folder(folder, Absent::Fail)?;
        let at = match open_below(root, &above.join(&b'/'), Absent::Fail) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                continue;
            }
            other => other?,
        };
        match rustix::fs::unlinkat(&at, OsStr::from_bytes(last), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// A path by which a program that is started by us enters a folder that we hold open: it is that folder and no other,
/// whatever its name leads to by then.
pub(crate) fn way_into(folder: &OwnedFd) -> HostPath {
    HostPath::new(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

#[cfg(test)]
mod tests;
