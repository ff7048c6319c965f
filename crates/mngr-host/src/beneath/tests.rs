//! What is written beneath a root stays there: nested links, names that climb, modes, and a folder that is exchanged all the time.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use super::*;
use crate::files::Files;
use crate::local::LocalFiles;

struct Ground {
    dir: tempfile::TempDir,
}

impl Ground {
    /// A root, and a folder outside of it that `root/vdir` leads to.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("root/sub")).unwrap();
        fs::create_dir(dir.path().join("secret")).unwrap();
        symlink("../secret", dir.path().join("root/vdir")).unwrap();
        symlink("../../secret", dir.path().join("root/sub/deep")).unwrap();
        Self { dir }
    }

    fn root(&self) -> HostPath {
        HostPath::new(self.dir.path().join("root").to_str().unwrap())
    }

    fn at(&self, below: &str) -> Beneath {
        Beneath::new(&self.root(), &self.root().join(below)).unwrap()
    }

    fn is_untouched(&self) -> bool {
        fs::read_dir(self.dir.path().join("secret")).unwrap().next().is_none()
    }

    fn read(&self, below: &str) -> Option<String> {
        fs::read_to_string(self.dir.path().join("root").join(below)).ok()
    }
}

fn put(file: &Beneath) -> Result<(), crate::files::FilesError> {
    LocalFiles.write_beneath(file, b"text", Access::Shared, Durability::Cached)
}

#[test]
fn a_file_is_written_below_the_root_and_folders_are_made() {
    let ground = Ground::new();
    put(&ground.at("new/deeper/file")).unwrap();
    put(&ground.at("new/deeper/file")).unwrap();
    assert_eq!(ground.read("new/deeper/file").as_deref(), Some("text"));
    let names = fs::read_dir(ground.dir.path().join("root/new/deeper")).unwrap().count();
    assert_eq!(names, 1, "no temporary file is left");
}

#[test]
fn every_link_on_the_way_is_refused_and_named() {
    let ground = Ground::new();
    for (below, link, target) in [
        ("vdir/file", "vdir", "../secret"),
        ("vdir/new/file", "vdir", "../secret"),
        ("sub/deep/file", "sub/deep", "../../secret"),
        ("vdir", "vdir", "../secret"),
    ] {
        let error = put(&ground.at(below)).unwrap_err();
        let refused = error.link().unwrap_or_else(|| panic!("{below}: {error:?}"));
        assert_eq!((refused.link.as_str(), refused.target.as_str()), (link, target), "{below}");
        let folder = LocalFiles.make_folder_beneath(&ground.at(below), &BTreeSet::new()).unwrap_err();
        assert_eq!(folder.link().map(|refused| refused.link.as_str()), Some(link), "{below}");
        assert!(LocalFiles.refuse_links(&ground.at(below), &BTreeSet::new()).is_err());
    }
    assert!(ground.is_untouched());
}

#[test]
fn names_below_a_folder_are_looked_at_as_well() {
    let ground = Ground::new();
    let refused = |names: &[&str]| {
        let names = folders_on_the_way(names.iter().map(|name| name.as_bytes()));
        LocalFiles.make_folder_beneath(&ground.at(""), &names).err().map(|error| error.to_string())
    };
    assert_eq!(
        refused(&["sub/file", "other/file", "vdir"]),
        None,
        "a link that is replaced is not on the way"
    );
    for name in ["vdir/file", "vdir/", "sub/deep/x/y"] {
        assert!(refused(&[name]).is_some(), "{name}");
    }
}

#[test]
fn a_link_that_leads_to_the_root_is_followed() {
    let ground = Ground::new();
    let way = ground.dir.path().join("way");
    symlink("root", &way).unwrap();
    let root = HostPath::new(way.to_str().unwrap());
    put(&Beneath::new(&root, &root.join("sub/file")).unwrap()).unwrap();
    assert_eq!(ground.read("sub/file").as_deref(), Some("text"));
}

#[test]
fn names_that_climb_or_begin_elsewhere_are_refused() {
    let ground = Ground::new();
    assert_eq!(Beneath::new(&ground.root(), &ground.root().join("../secret/x")), None);
    assert_eq!(Beneath::new(&ground.root(), &HostPath::new("/etc/passwd")), None);
    for name in ["../secret/x", "sub/../../secret/x", "/etc/x"] {
        let names = BTreeSet::from([name.as_bytes().to_vec()]);
        assert!(LocalFiles.remove_files_beneath(&ground.at(""), &names).is_err(), "{name}");
        let root = rustix::fs::open(ground.root().as_str(), FOLDER, Mode::empty()).unwrap();
        assert!(open_below(root, name.as_bytes(), Absent::Make).is_err(), "{name}");
    }
    assert!(ground.is_untouched());
}

#[test]
fn files_are_removed_below_the_root_and_never_behind_a_link() {
    let ground = Ground::new();
    fs::write(ground.dir.path().join("secret/precious"), "x").unwrap();
    fs::write(ground.dir.path().join("root/sub/file"), "x").unwrap();
    let remove = |names: &[&str]| {
        let names = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        LocalFiles.remove_files_beneath(&ground.at(""), &names)
    };
    remove(&["sub/file", "missing", "missing/file"]).unwrap();
    assert_eq!(ground.read("sub/file"), None);
    assert!(remove(&["vdir/precious"]).unwrap_err().link().is_some());
    assert!(ground.dir.path().join("secret/precious").exists());
    remove(&["vdir"]).unwrap();
    assert!(ground.dir.path().join("secret/precious").exists());
}

#[test]
fn the_walk_does_what_the_one_call_does() {
    let ground = Ground::new();
    let walk_to = |below: &str, absent| {
        let root = rustix::fs::open(ground.root().as_str(), FOLDER, Mode::empty()).unwrap();
        walk(root, &parts_of(below.as_bytes()).unwrap(), absent)
    };
    walk_to("sub", Absent::Fail).unwrap();
    walk_to("sub/new/newer", Absent::Make).unwrap();
    assert!(ground.dir.path().join("root/sub/new/newer").is_dir());
    assert_eq!(walk_to("missing", Absent::Fail).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(LinkInTheWay::of(&walk_to("vdir", Absent::Make).unwrap_err()).is_some());
    assert!(LinkInTheWay::of(&walk_to("sub/deep/x", Absent::Make).unwrap_err()).is_some());
    assert!(ground.is_untouched());
}

#[test]
fn modes_are_as_they_were_asked_for() {
    let ground = Ground::new();
    let mode = |name: &str| {
        fs::metadata(ground.dir.path().join("root").join(name)).unwrap().permissions().mode() & 0o7777
    };
    let write = |name: &str, access| {
        LocalFiles.write_beneath(&ground.at(name), b"x", access, Durability::Synced).unwrap();
        mode(name)
    };
    assert_eq!(write("private", Access::Private), 0o600);
    assert_eq!(write("tool", Access::Exactly(0o751)), 0o751);
    assert_eq!(write("tool", Access::AsBefore), 0o751);
    LocalFiles.write(&ground.root().join("tool"), b"y", Access::Exactly(0o640), Durability::Cached).unwrap();
    assert_eq!(mode("tool"), 0o640);
}

#[test]
fn the_root_of_what_is_typed_is_the_repository_and_a_link_does_not_move_it() {
    let ground = Ground::new();
    let typed = |path: &str| {
        let path = HostPath::new(ground.dir.path().join(path).to_str().unwrap());
        typed_root(&path).map(|root| root.file_name().unwrap().to_owned())
    };
    assert_eq!(typed("root/vdir/x"), None, "outside of a repository what is typed is the root");
    fs::create_dir(ground.dir.path().join("root/.git")).unwrap();
    assert_eq!(typed("root/vdir/x"), None, "an empty folder of that name makes no repository");
    fs::create_dir(ground.dir.path().join("secret/.git")).unwrap();
    for repository in ["root", "secret"] {
        fs::write(ground.dir.path().join(repository).join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }
    assert_eq!(typed("root/sub/x").as_deref(), Some("root"));
    assert_eq!(typed("root/vdir/x").as_deref(), Some("root"), "a repository behind the link is not meant");
    assert_eq!(typed("secret/x").as_deref(), Some("secret"));
}

/// A program of the same user that exchanges a folder for a link as fast as it can.
#[test]
fn a_folder_that_is_exchanged_for_a_link_all_the_time_leads_nothing_out() {
    let ground = Ground::new();
    let (root, secret) = (ground.dir.path().join("root"), ground.dir.path().join("secret"));
    fs::create_dir(root.join("flip")).unwrap();
    symlink(&secret, root.join("other")).unwrap();
    let is_over = AtomicBool::new(false);
    let (written, refused) = std::thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = |one: &Path, other: &Path| {
                use rustix::fs::{CWD, RenameFlags, renameat_with};
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            };
            while !is_over.load(Ordering::Relaxed) {
                exchange(&root.join("flip"), &root.join("other"));
            }
        });
        let (mut written, mut refused) = (0, 0);
        for number in 0..2000 {
            match put(&ground.at(&format!("flip/new{}/file{number}", number % 7))) {
                Ok(()) => written += 1,
                Err(_) => refused += 1,
            }
        }
        is_over.store(true, Ordering::Relaxed);
        (written, refused)
    });
    assert!(ground.is_untouched(), "{written} written, {refused} refused");
    assert_eq!(written + refused, 2000);
}

proptest! {
    #[test]
    fn whatever_the_name_is_nothing_appears_outside(name in "([a-c./]|vdir/|\\.\\./|sub/){1,12}") {
        let ground = Ground::new();
        if let Some(file) = Beneath::new(&ground.root(), &HostPath::new(format!("{}/{name}", ground.root()))) {
            let _ = put(&file);
        }
        let root = rustix::fs::open(ground.root().as_str(), FOLDER, Mode::empty()).unwrap();
        let _ = open_below(root, name.as_bytes(), Absent::Make);
        prop_assert!(ground.is_untouched());
        let beside = fs::read_dir(ground.dir.path()).unwrap().count();
        prop_assert_eq!(beside, 2);
    }
}
