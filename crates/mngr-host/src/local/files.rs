//! [`Files`] for this machine.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use mngr_model::HostPath;
use rustix::fs::OFlags;

use crate::beneath::{self, Beneath};
use crate::files::{Access, Durability, FileKind, FileStat, Files, FilesError, FolderEntry};

/// This machine's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalFiles;

/// Room for a record, so that it is read in one go.
const ROOM: usize = 4096;

fn failed<'a>(action: &'static str, path: &'a HostPath) -> impl FnOnce(io::Error) -> FilesError + 'a {
    move |source| FilesError { action, path: path.clone(), source }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn open_ordinary(path: &HostPath) -> io::Result<fs::File> {
    // Without NONBLOCK the opening of a pipe waits for its writer.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path.as_str())?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file"))
    }
}

impl Files for LocalFiles {
    fn read(&self, path: &HostPath) -> Result<Vec<u8>, FilesError> {
        fs::read(path.as_str()).map_err(failed("read", path))
    }

    fn read_file(&self, path: &HostPath) -> Result<Vec<u8>, FilesError> {
        self.read_part(path, 0, usize::MAX)
    }

    fn read_from(&self, path: &HostPath, offset: u64) -> Result<Vec<u8>, FilesError> {
        self.read_part(path, offset, usize::MAX)
    }

    fn read_part(&self, path: &HostPath, offset: u64, limit: usize) -> Result<Vec<u8>, FilesError> {
        let read = || {
            let mut file = open_ordinary(path)?;
            let mut bytes = Vec::with_capacity(ROOM);
            if offset > 0 {
                file.seek(io::SeekFrom::Start(offset))?;
            }
            file.take(limit as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(failed("read", path))
    }

    fn write(
        &self,
        path: &HostPath,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> Result<(), FilesError> {
        replace(Path::new(path.as_str()), bytes, access, durability).map_err(failed("write", path))
    }

    fn append(&self, path: &HostPath, bytes: &[u8], durability: Durability) -> Result<(), FilesError> {
        let append = || {
            // An agent can write where its logs are: a link must not lead us elsewhere, nor a pipe hold us.
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let mut file = fs::File::options()
                .append(true)
                .create(true)
                .custom_flags(flags.bits() as i32)
                .open(path.as_str())?;
            // One write(2) on O_APPEND: lines of several writers never mix.
            if file.write(bytes)? != bytes.len() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            if durability == Durability::Synced { file.sync_data() } else { Ok(()) }
        };
        append().map_err(failed("append to", path))
    }

    fn make_folder(&self, path: &HostPath) -> Result<(), FilesError> {
        fs::create_dir_all(path.as_str()).map_err(failed("create the folder", path))
    }

    fn make_folder_beneath(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        beneath::make_folder(folder, names).map_err(failed("create the folder", folder.path()))
    }

    fn refuse_links(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        beneath::refuse_links(folder, names).map_err(failed("write to", folder.path()))
    }

    fn write_beneath(
        &self,
        file: &Beneath,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> Result<(), FilesError> {
        beneath::write(file, bytes, access, durability).map_err(failed("write", file.path()))
    }

    fn remove_files_beneath(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        beneath::remove_files(folder, names).map_err(failed("remove files in", folder.path()))
    }

    fn make_new_folder(&self, path: &HostPath, access: Access) -> Result<(), FilesError> {
        let mut builder = fs::DirBuilder::new();
        let is_private = matches!(access, Access::Private | Access::PrivateExecutable);
        builder.mode(if is_private { 0o700 } else { 0o777 });
        builder.create(path.as_str()).map_err(failed("create the folder", path))
    }

    fn touch(&self, path: &HostPath) -> Result<(), FilesError> {
        let touch = || {
            let file = fs::File::options().append(true).create(true).open(path.as_str())?;
            file.set_modified(std::time::SystemTime::now())
        };
        touch().map_err(failed("touch", path))
    }

    fn rename(&self, from: &HostPath, to: &HostPath) -> Result<(), FilesError> {
        fs::rename(from.as_str(), to.as_str()).map_err(failed("move", from))
    }

    fn link(&self, target: &str, at: &HostPath) -> Result<(), FilesError> {
        std::os::unix::fs::symlink(target, at.as_str()).map_err(failed("create the link", at))
    }

    fn remove_file(&self, path: &HostPath) -> Result<(), FilesError> {
        match fs::remove_file(path.as_str()) {
            Err(error) if is_missing(&error) => Ok(()),
            other => other.map_err(failed("remove", path)),
        }
    }

    fn remove_tree(&self, path: &HostPath) -> Result<(), FilesError> {
        match remove_tree(Path::new(path.as_str())) {
            Err(error) if is_missing(&error) => Ok(()),
            other => other.map_err(failed("remove", path)),
        }
    }

    fn stat(&self, path: &HostPath) -> Result<Option<FileStat>, FilesError> {
        match fs::symlink_metadata(path.as_str()) {
            Ok(meta) => Ok(Some(FileStat {
                kind: kind_of(meta.file_type()),
                size: meta.len(),
                modified: meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok()),
                mode: meta.mode() & 0o7777,
            })),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(failed("examine", path)(error)),
        }
    }

    fn list(&self, path: &HostPath) -> Result<Vec<FolderEntry>, FilesError> {
        let entries = match fs::read_dir(path.as_str()) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(failed("list", path)(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed("list", path))?;
            // A name that is not UTF-8 cannot be one of ours; it is left alone.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type().map(kind_of).unwrap_or(FileKind::Other);
            found.push(FolderEntry { name, kind });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    fn canonical(&self, path: &HostPath) -> Result<HostPath, FilesError> {
        let found = fs::canonicalize(path.as_str()).map_err(failed("find", path))?;
        match found.into_os_string().into_string() {
            Ok(text) => Ok(HostPath::new(text)),
            Err(_) => Err(failed("use the non-UTF-8 path", path)(io::ErrorKind::InvalidData.into())),
        }
    }

    fn tree_size(&self, path: &HostPath) -> Result<u64, FilesError> {
        tree_size(Path::new(path.as_str())).map_err(failed("measure", path))
    }
}

fn kind_of(file_type: fs::FileType) -> FileKind {
    if file_type.is_symlink() {
        FileKind::Link
    } else if file_type.is_dir() {
        FileKind::Folder
    } else if file_type.is_file() {
        FileKind::File
    } else {
        FileKind::Other
    }
}

/// Temp file in the same folder, then rename: a full disk leaves the old file as it was.
fn replace(path: &Path, bytes: &[u8], access: Access, durability: Durability) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = match access {
        Access::Shared | Access::AsBefore => 0o666,
        Access::Private | Access::Exactly(_) => 0o600,
        Access::PrivateExecutable => 0o700,
    };
    // A link is written through: replacing the link itself would cut a dotfile manager's arrangement. Private files are
    // only ever our own: a link in their place was put there by an agent, to make us write elsewhere.
    let target = match access {
        Access::Shared | Access::AsBefore => fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
        Access::Private | Access::PrivateExecutable | Access::Exactly(_) => path.to_owned(),
    };
    let folder = target.parent().unwrap_or(folder);
    let temp = tempfile::Builder::new()
        .prefix(".mngr-")
        .make_in(folder, |at| fs::File::options().write(true).create_new(true).mode(mode).open(at))?;
    temp.as_file().write_all(bytes)?;
    if let Some(before) = fs::metadata(&target).ok().filter(|_| access == Access::AsBefore) {
        temp.as_file().set_permissions(before.permissions())?;
    }
    if let Access::Exactly(mode) = access {
        temp.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    }
    if durability == Durability::Synced {
        temp.as_file().sync_data()?;
    }
    temp.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// How often a folder is begun anew that gets new files while it is removed.
const REMOVE_TRIES: u32 = 10;

/// Like `remove_dir_all`, but gets through folders the owner made unwritable (Go's module cache does), and through those a
/// program that is just ending puts its last files into.
fn remove_tree(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    let mut tries = 0;
    loop {
        tries += 1;
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && tries == 1 => {
                make_writable(path)?;
            }
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && tries < REMOVE_TRIES => {
                std::thread::sleep(Duration::from_millis(u64::from(tries)));
            }
            other => return other,
        }
    }
}

fn make_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

fn tree_size(path: &Path) -> io::Result<u64> {
    let mut total = 0;
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                total += meta.len();
            }
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, HostPath) {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().to_str().unwrap());
        (dir, path)
    }

    #[test]
    fn a_file_is_read_on_from_where_it_ended_and_past_its_end_there_is_nothing() {
        let (_guard, dir) = folder();
        let path = dir.join("log");
        LocalFiles.append(&path, b"one", Durability::Cached).unwrap();
        LocalFiles.append(&path, b"two", Durability::Cached).unwrap();
        assert_eq!(LocalFiles.read_from(&path, 3).unwrap(), b"two");
        assert_eq!(LocalFiles.read_from(&path, 7).unwrap(), b"");
        assert_eq!(LocalFiles.read_part(&path, 3, 2).unwrap(), b"tw");
        assert!(LocalFiles.read_from(&dir.join("none"), 0).unwrap_err().is_missing());
    }

    #[test]
    fn a_pipe_in_place_of_a_file_holds_nobody() {
        let (_guard, dir) = folder();
        let path = dir.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(path.as_str()).status().unwrap();
        assert!(made.success());
        assert!(LocalFiles.read_if_there(&path).is_err());
        assert!(LocalFiles.read_from(&path, 0).is_err());
    }

    #[test]
    fn a_private_file_is_private_from_the_start() {
        let (_guard, dir) = folder();
        let path = dir.join("env");
        LocalFiles.write(&path, b"x", Access::Private, Durability::Cached).unwrap();
        assert_eq!(LocalFiles.stat(&path).unwrap().unwrap().mode, 0o600);
    }

    #[test]
    fn a_replaced_file_can_stay_what_it_was_for_others() {
        let (_guard, dir) = folder();
        let (path, link) = (dir.join("tool"), dir.join("link"));
        LocalFiles.write(&path, b"x", Access::PrivateExecutable, Durability::Cached).unwrap();
        LocalFiles.link("tool", &link).unwrap();
        LocalFiles.write(&link, b"y", Access::AsBefore, Durability::Cached).unwrap();
        assert_eq!(LocalFiles.read(&path).unwrap(), b"y");
        assert_eq!(LocalFiles.stat(&path).unwrap().unwrap().mode, 0o700);
        assert_eq!(LocalFiles.stat(&link).unwrap().unwrap().kind, FileKind::Link);
    }

    #[test]
    fn a_new_folder_is_made_once_and_a_private_one_is_private() {
        let (_guard, dir) = folder();
        let path = dir.join("new");
        LocalFiles.make_new_folder(&path, Access::Private).unwrap();
        assert_eq!(LocalFiles.stat(&path).unwrap().unwrap().mode, 0o700);
        assert!(LocalFiles.make_new_folder(&path, Access::Private).unwrap_err().is_taken());
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_temp_file() {
        let (_guard, dir) = folder();
        let path = dir.join("sub/file");
        assert!(LocalFiles.write(&path, b"x", Access::Shared, Durability::Cached).is_err());
        LocalFiles.make_folder(&dir.join("sub")).unwrap();
        LocalFiles.write(&path, b"old", Access::Shared, Durability::Synced).unwrap();
        LocalFiles.write(&path, b"new", Access::Shared, Durability::Synced).unwrap();
        assert_eq!(LocalFiles.read(&path).unwrap(), b"new");
        assert_eq!(LocalFiles.list(&dir.join("sub")).unwrap().len(), 1);
    }

    #[test]
    fn writing_through_a_link_keeps_the_link() {
        let (_guard, dir) = folder();
        LocalFiles.write(&dir.join("real"), b"a", Access::Shared, Durability::Cached).unwrap();
        LocalFiles.link("real", &dir.join("link")).unwrap();
        LocalFiles.write(&dir.join("link"), b"b", Access::Shared, Durability::Cached).unwrap();
        assert_eq!(LocalFiles.read(&dir.join("real")).unwrap(), b"b");
        assert_eq!(LocalFiles.stat(&dir.join("link")).unwrap().unwrap().kind, FileKind::Link);
    }

    #[test]
    fn removing_gets_through_unwritable_folders_and_spares_link_targets() {
        let (_guard, dir) = folder();
        let tree = dir.join("tree");
        LocalFiles.make_folder(&tree.join("a/b")).unwrap();
        LocalFiles.write(&dir.join("precious"), b"", Access::Shared, Durability::Cached).unwrap();
        LocalFiles.link("../../precious", &tree.join("a/link")).unwrap();
        fs::set_permissions(tree.join("a").as_str(), fs::Permissions::from_mode(0o500)).unwrap();
        LocalFiles.remove_tree(&tree).unwrap();
        assert!(!LocalFiles.exists(&tree).unwrap());
        assert!(LocalFiles.exists(&dir.join("precious")).unwrap());
    }

    #[test]
    fn a_folder_that_still_gets_files_while_it_is_removed_goes_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..50 {
            let tree = dir.path().join("tree");
            fs::create_dir(&tree).unwrap();
            let writer = std::thread::spawn({
                let tree = tree.clone();
                // It has no way to make the folder again, as a program whose work dir is gone has none.
                move || (0..20).all(|number| fs::write(tree.join(number.to_string()), "x").is_ok())
            });
            remove_tree(&tree).unwrap();
            writer.join().unwrap();
            assert!(!tree.exists());
        }
    }
}
