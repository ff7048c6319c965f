//! The same cases for this machine's files and for another's: they must mean the same.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::glance::Glance;
use crate::local::LocalFiles;
use crate::remote::testing::{ShellLine, with_shells};

type Case = fn(&dyn Files, &HostPath);

const CASES: [(&str, Case); 26] = [
    ("contents_come_back", contents_come_back),
    ("a_file_is_read_in_parts", a_file_is_read_in_parts),
    ("what_is_not_there_is_missing", what_is_not_there_is_missing),
    ("a_pipe_holds_nobody", a_pipe_holds_nobody),
    ("modes_are_as_asked", modes_are_as_asked),
    ("a_replaced_file_stays_what_it_was", a_replaced_file_stays_what_it_was),
    ("a_failed_write_leaves_nothing", a_failed_write_leaves_nothing),
    ("links_are_written_through_or_replaced", links_are_written_through_or_replaced),
    ("nothing_goes_behind_a_link_beneath_a_root", nothing_goes_behind_a_link_beneath_a_root),
    ("appending_adds_and_follows_no_link", appending_adds_and_follows_no_link),
    ("folders_are_made", folders_are_made),
    (
        "a_folder_is_made_below_one_that_is_there_and_never_without_it",
        a_folder_is_made_below_one_that_is_there_and_never_without_it,
    ),
    ("touching_creates_and_renews", touching_creates_and_renews),
    ("renaming_moves_and_replaces", renaming_moves_and_replaces),
    ("removing_spares_what_links_point_at", removing_spares_what_links_point_at),
    ("removing_gets_through_unwritable_folders", removing_gets_through_unwritable_folders),
    ("stat_tells_kind_size_time_and_mode", stat_tells_kind_size_time_and_mode),
    ("lists_are_sorted_and_whole", lists_are_sorted_and_whole),
    ("links_are_resolved", links_are_resolved),
    ("sizes_are_summed", sizes_are_summed),
    ("several_changes_are_made_in_their_order", several_changes_are_made_in_their_order),
    ("several_paths_are_examined_together", several_paths_are_examined_together),
    ("changes_end_with_the_first_that_fails", changes_end_with_the_first_that_fails),
    ("changes_are_only_made_where_all_is_as_required", changes_are_only_made_where_all_is_as_required),
    ("a_glance_tells_what_single_questions_tell", a_glance_tells_what_single_questions_tell),
    (
        "what_is_below_a_folder_is_listed_so_many_levels_deep",
        what_is_below_a_folder_is_listed_so_many_levels_deep,
    ),
];

fn nothing_goes_behind_a_link_beneath_a_root(files: &dyn Files, dir: &HostPath) {
    let (root, secret) = (dir.join("root"), dir.join("secret"));
    files.make_folder(&root.join("sub")).unwrap();
    files.make_folder(&secret).unwrap();
    files.link("../secret", &root.join("vdir")).unwrap();
    files.link("../../secret", &root.join("sub/deep")).unwrap();
    let at = |below: &str| Beneath::new(&root, &root.join(below)).unwrap();
    let put = |below: &str, access| files.write_beneath(&at(below), b"x", access, Durability::Cached);
    put("new/er/file", Access::Shared).unwrap();
    put("new/er/file", Access::Exactly(0o640)).unwrap();
    assert_eq!(files.stat(&root.join("new/er/file")).unwrap().unwrap().mode, 0o640);
    assert_eq!(files.list(&root.join("new/er")).unwrap().len(), 1);
    let (none, way) = (BTreeSet::new(), |name: &str| crate::beneath::folders_on_the_way([name.as_bytes()]));
    for (below, link, target) in [
        ("vdir/file", "vdir", "../secret"),
        ("vdir/a/b", "vdir", "../secret"),
        ("sub/deep/file", "sub/deep", "../../secret"),
        ("vdir", "vdir", "../secret"),
    ] {
        let refusals = [
            put(below, Access::AsBefore),
            files.make_folder_beneath(&at(below), &none),
            files.refuse_links(&at(below), &none),
            files.apply(&[Change::MakeFolderBeneath(at(below))]),
            files.make_folder_beneath(&at(""), &way(&format!("{below}/"))),
            files.remove_files_beneath(&at(""), &BTreeSet::from([format!("{below}/x").into_bytes()])),
        ];
        for (number, refused) in refusals.into_iter().enumerate() {
            let error = refused.unwrap_err();
            let refused = error.link().map(|refused| (refused.link.as_str(), refused.target.as_str()));
            assert_eq!(refused, Some((link, target)), "{below} {number}: {error:?}");
        }
    }
    assert_eq!(files.list(&secret).unwrap(), []);
    files.make_folder_beneath(&at("sub/made"), &way("file")).unwrap();
    files.refuse_links(&at("missing/folder"), &way("a/b")).unwrap();
    files.apply(&[Change::MakeFolderBeneath(at("made/too"))]).unwrap();
    assert!(files.exists(&root.join("sub/made")).unwrap() && files.exists(&root.join("made/too")).unwrap());
    let gone = ["new/er/file", "missing", "-f"].map(|name| name.as_bytes().to_vec());
    files.remove_files_beneath(&at(""), &BTreeSet::from(gone)).unwrap();
    assert!(!files.exists(&root.join("new/er/file")).unwrap());
}

fn run_cases(files: &dyn Files) {
    for (name, case) in CASES {
        // Also a name that a shell would take apart.
        for folder in ["plain", "-odd 'name' $(x)\n*"] {
            let dir = tempfile::tempdir().unwrap();
            let path = HostPath::new(dir.path().to_str().unwrap()).join(folder);
            fs::create_dir(path.as_str()).unwrap();
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(files, &path)));
            assert!(caught.is_ok(), "{name} in {folder:?}");
        }
    }
}

#[test]
fn files_of_this_machine() {
    run_cases(&LocalFiles);
}

#[test]
fn files_of_a_machine_with_gnu_programs() {
    let (_line, shells) = with_shells(ShellLine::to("/bin/dash"));
    run_cases(&RemoteFiles::new(Arc::new(shells)));
}

#[test]
fn files_of_a_machine_with_busybox() {
    let (_line, shells) = with_shells(ShellLine::to_busybox());
    run_cases(&RemoteFiles::new(Arc::new(shells)));
}

fn write(files: &dyn Files, path: &HostPath, text: &str) {
    files.write(path, text.as_bytes(), Access::Shared, Durability::Cached).unwrap();
}

fn kind(error: FilesError) -> io::ErrorKind {
    error.source.kind()
}

fn contents_come_back(files: &dyn Files, dir: &HostPath) {
    let bytes: Vec<u8> = (0..300_000_u32).map(|index| (index % 256) as u8).collect();
    for contents in [&bytes[..], b"", b"\n\n", b"\0"] {
        let path = dir.join("file");
        files.write(&path, contents, Access::Shared, Durability::Synced).unwrap();
        assert!(files.read(&path).unwrap() == contents);
        assert!(files.read_file(&path).unwrap() == contents);
    }
}

fn a_file_is_read_in_parts(files: &dyn Files, dir: &HostPath) {
    let path = dir.join("log");
    write(files, &path, "onetwo");
    assert_eq!(files.read_from(&path, 3).unwrap(), b"two");
    assert_eq!(files.read_from(&path, 6).unwrap(), b"");
    assert_eq!(files.read_from(&path, 7).unwrap(), b"");
    assert_eq!(files.read_part(&path, 3, 2).unwrap(), b"tw");
    assert_eq!(files.read_part(&path, 4, 100).unwrap(), b"wo");
    let long = dir.join("long");
    files.write(&long, &vec![b'x'; 1 << 20], Access::Shared, Durability::Cached).unwrap();
    assert_eq!(files.read_part(&long, 10, 5).unwrap(), b"xxxxx");
}

fn what_is_not_there_is_missing(files: &dyn Files, dir: &HostPath) {
    write(files, &dir.join("file"), "x");
    files.link("nowhere", &dir.join("dangling")).unwrap();
    for name in ["none", "none/deeper", "file/below", "dangling"] {
        let path = dir.join(name);
        assert!(files.read(&path).unwrap_err().is_missing(), "{name}");
        assert!(files.read_file(&path).unwrap_err().is_missing(), "{name}");
        assert!(files.read_part(&path, 0, 5).unwrap_err().is_missing(), "{name}");
        assert!(files.read_if_there(&path).unwrap().is_none(), "{name}");
        assert!(files.canonical(&path).unwrap_err().is_missing(), "{name}");
        assert!(files.list(&path).unwrap().is_empty(), "{name}");
        assert_eq!(files.tree_size(&path).unwrap(), 0, "{name}");
        assert_eq!(files.exists(&path).unwrap(), name == "dangling", "{name}");
    }
    for name in ["none", "none/deeper", "file/below"] {
        files.remove_file(&dir.join(name)).unwrap();
        files.remove_tree(&dir.join(name)).unwrap();
        assert!(files.rename(&dir.join(name), &dir.join("to")).unwrap_err().is_missing(), "{name}");
    }
    assert_eq!(kind(files.read(dir).unwrap_err()), io::ErrorKind::IsADirectory);
}

fn a_pipe_holds_nobody(files: &dyn Files, dir: &HostPath) {
    let path = dir.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(path.as_str()).status().unwrap();
    assert!(made.success());
    assert!(files.read_if_there(&path).is_err());
    assert!(files.read_from(&path, 0).is_err());
    assert!(files.read_part(&path, 0, 1).is_err());
    assert!(files.append(&path, b"x", Durability::Cached).is_err());
    assert!(files.read_file(dir).is_err());
}

fn modes_are_as_asked(files: &dyn Files, dir: &HostPath) {
    for (access, mode) in
        [(Access::Private, 0o600), (Access::PrivateExecutable, 0o700), (Access::Shared, 0o644)]
    {
        let path = dir.join("file");
        files.remove_file(&path).unwrap();
        files.write(&path, b"x", access, Durability::Cached).unwrap();
        let before = files.stat(&path).unwrap().unwrap().mode;
        if access == Access::Shared {
            assert_ne!(before & 0o400, 0);
            assert_eq!(before & 0o111, 0);
        } else {
            assert_eq!(before, mode);
        }
    }
}

fn a_replaced_file_stays_what_it_was(files: &dyn Files, dir: &HostPath) {
    let (path, link) = (dir.join("tool"), dir.join("link"));
    files.write(&path, b"x", Access::PrivateExecutable, Durability::Cached).unwrap();
    files.link("tool", &link).unwrap();
    files.write(&link, b"y", Access::AsBefore, Durability::Cached).unwrap();
    assert_eq!(files.read(&path).unwrap(), b"y");
    assert_eq!(files.stat(&path).unwrap().unwrap().mode, 0o700);
    assert_eq!(files.stat(&link).unwrap().unwrap().kind, FileKind::Link);
    files.write(&dir.join("new"), b"y", Access::AsBefore, Durability::Cached).unwrap();
}

fn a_failed_write_leaves_nothing(files: &dyn Files, dir: &HostPath) {
    let failed = files.write(&dir.join("sub/file"), b"x", Access::Shared, Durability::Cached).unwrap_err();
    assert!(failed.is_missing(), "{:?}", failed.source);
    files.make_folder(&dir.join("taken")).unwrap();
    let failed = files.write(&dir.join("taken"), b"x", Access::Private, Durability::Cached).unwrap_err();
    assert_eq!(kind(failed), io::ErrorKind::IsADirectory);
    assert_eq!(files.list(dir).unwrap().len(), 1);
    assert!(files.list(&dir.join("taken")).unwrap().is_empty());
}

fn links_are_written_through_or_replaced(files: &dyn Files, dir: &HostPath) {
    write(files, &dir.join("real"), "a");
    files.link("real", &dir.join("link")).unwrap();
    write(files, &dir.join("link"), "b");
    assert_eq!(files.read(&dir.join("real")).unwrap(), b"b");
    assert_eq!(files.stat(&dir.join("link")).unwrap().unwrap().kind, FileKind::Link);
    // A private file is only ever our own: a link in its place, even to a folder, is replaced.
    files.make_folder(&dir.join("folder")).unwrap();
    files.link("folder", &dir.join("trap")).unwrap();
    for name in ["link", "trap"] {
        files.write(&dir.join(name), b"c", Access::Private, Durability::Cached).unwrap();
        assert_eq!(files.stat(&dir.join(name)).unwrap().unwrap().kind, FileKind::File, "{name}");
    }
    assert_eq!(files.read(&dir.join("real")).unwrap(), b"b");
    assert!(files.list(&dir.join("folder")).unwrap().is_empty());
}

fn appending_adds_and_follows_no_link(files: &dyn Files, dir: &HostPath) {
    let path = dir.join("log");
    files.append(&path, b"one\n", Durability::Cached).unwrap();
    files.append(&path, b"", Durability::Cached).unwrap();
    files.append(&path, &vec![b'x'; 200_000], Durability::Synced).unwrap();
    let all = files.read(&path).unwrap();
    assert!(all.starts_with(b"one\nx") && all.len() == 200_004);
    files.link("log", &dir.join("link")).unwrap();
    assert!(files.append(&dir.join("link"), b"x", Durability::Cached).is_err());
    assert!(files.append(&dir.join("none/log"), b"x", Durability::Cached).unwrap_err().is_missing());
}

fn folders_are_made(files: &dyn Files, dir: &HostPath) {
    files.make_folder(&dir.join("a/b/c")).unwrap();
    files.make_folder(&dir.join("a/b/c")).unwrap();
    files.make_new_folder(&dir.join("new"), Access::Private).unwrap();
    assert_eq!(files.stat(&dir.join("new")).unwrap().unwrap().mode, 0o700);
    assert!(files.make_new_folder(&dir.join("new"), Access::Private).unwrap_err().is_taken());
    assert!(files.make_new_folder(&dir.join("no/new"), Access::Shared).unwrap_err().is_missing());
    write(files, &dir.join("file"), "x");
    assert!(files.make_folder(&dir.join("file")).unwrap_err().is_taken());
    assert_eq!(kind(files.make_folder(&dir.join("file/x")).unwrap_err()), io::ErrorKind::NotADirectory);
}

fn a_folder_is_made_below_one_that_is_there_and_never_without_it(files: &dyn Files, dir: &HostPath) {
    let root = dir.join("it's here");
    let deep = root.join("a/b c");
    let below = |path: &HostPath| Beneath::new(&root, path).unwrap().in_existing_root();
    let make = |path: &HostPath| files.make_folder_beneath(&below(path), &BTreeSet::new());
    assert!(make(&deep).unwrap_err().is_missing());
    assert!(!files.exists(&root).unwrap());
    let change = [Change::MakeFolderBeneath(below(&deep))];
    assert!(files.apply(&change).unwrap_err().is_missing());
    let file = below(&root.join("file"));
    let write = || files.write_beneath(&file, b"x", Access::Shared, Durability::Cached);
    assert!(write().unwrap_err().is_missing());
    assert!(!files.exists(&root).unwrap());
    files.make_folder(&root).unwrap();
    make(&root).unwrap();
    make(&deep).unwrap();
    write().unwrap();
    files.apply(&change).unwrap();
    assert_eq!(files.stat(&deep).unwrap().unwrap().kind, FileKind::Folder);
    for outside in [dir.join("x"), root.join("../x"), dir.join("it's hereafter")] {
        assert!(Beneath::new(&root, &outside).is_none(), "{outside}");
    }
}

fn touching_creates_and_renews(files: &dyn Files, dir: &HostPath) {
    let path = dir.join("file");
    files.touch(&path).unwrap();
    let old = std::time::SystemTime::now() - Duration::from_secs(1000);
    fs::File::options().append(true).open(path.as_str()).unwrap().set_modified(old).unwrap();
    let before = files.stat(&path).unwrap().unwrap().modified.unwrap();
    files.touch(&path).unwrap();
    assert!(files.stat(&path).unwrap().unwrap().modified.unwrap() > before);
    assert!(files.touch(&dir.join("none/file")).unwrap_err().is_missing());
}

fn renaming_moves_and_replaces(files: &dyn Files, dir: &HostPath) {
    write(files, &dir.join("a"), "a");
    write(files, &dir.join("b"), "b");
    files.rename(&dir.join("a"), &dir.join("b")).unwrap();
    assert_eq!(
        (files.read(&dir.join("b")).unwrap(), files.exists(&dir.join("a")).unwrap()),
        (b"a".to_vec(), false)
    );
    files.make_folder(&dir.join("full/x")).unwrap();
    files.make_folder(&dir.join("moved")).unwrap();
    assert!(files.rename(&dir.join("moved"), &dir.join("full")).unwrap_err().is_taken());
    assert_eq!(
        kind(files.rename(&dir.join("b"), &dir.join("full")).unwrap_err()),
        io::ErrorKind::IsADirectory
    );
    files.rename(&dir.join("full"), &dir.join("moved")).unwrap();
    assert!(files.exists(&dir.join("moved/x")).unwrap());
    assert!(files.rename(&dir.join("b"), &dir.join("none/b")).unwrap_err().is_missing());
    if std::path::Path::new("/dev/shm").is_dir() {
        let elsewhere = HostPath::new(format!("/dev/shm/mngr-test-{}", std::process::id()));
        assert!(files.rename(&dir.join("b"), &elsewhere).unwrap_err().is_cross_device());
    }
}

fn removing_spares_what_links_point_at(files: &dyn Files, dir: &HostPath) {
    files.make_folder(&dir.join("precious")).unwrap();
    write(files, &dir.join("precious/file"), "x");
    files.make_folder(&dir.join("tree")).unwrap();
    files.link("../precious", &dir.join("tree/link")).unwrap();
    files.link("precious", &dir.join("link")).unwrap();
    files.remove_tree(&dir.join("tree")).unwrap();
    files.remove_tree(&dir.join("link")).unwrap();
    files.link("precious/file", &dir.join("link")).unwrap();
    files.remove_file(&dir.join("link")).unwrap();
    assert!(files.remove_file(&dir.join("precious")).is_err());
    assert!(files.exists(&dir.join("precious/file")).unwrap());
    assert_eq!(files.list(dir).unwrap().len(), 1);
    assert!(files.link("x", &dir.join("precious")).unwrap_err().is_taken());
    assert!(files.list(&dir.join("precious")).unwrap().len() == 1);
}

fn removing_gets_through_unwritable_folders(files: &dyn Files, dir: &HostPath) {
    let tree = dir.join("tree");
    files.make_folder(&tree.join("a/b")).unwrap();
    fs::set_permissions(tree.join("a").as_str(), fs::Permissions::from_mode(0o500)).unwrap();
    files.remove_tree(&tree).unwrap();
    assert!(!files.exists(&tree).unwrap());
}

fn stat_tells_kind_size_time_and_mode(files: &dyn Files, dir: &HostPath) {
    let path = dir.join("file");
    write(files, &path, "12345");
    fs::set_permissions(path.as_str(), fs::Permissions::from_mode(0o4751)).unwrap();
    files.link("nowhere", &dir.join("link")).unwrap();
    for name in ["file", "link", "."] {
        let path = dir.join(name);
        assert_eq!(files.stat(&path).unwrap(), LocalFiles.stat(&path).unwrap(), "{name}");
    }
    assert_eq!(files.stat(&HostPath::new("/dev/null")).unwrap().unwrap().kind, FileKind::Other);
}

fn lists_are_sorted_and_whole(files: &dyn Files, dir: &HostPath) {
    use std::os::unix::ffi::OsStrExt;
    assert!(files.list(dir).unwrap().is_empty());
    for name in ["b", "a", ".hidden", "..odd", "with\nnewline", "sp ace", "*", "-rf", "é"] {
        write(files, &dir.join(name), "");
    }
    let not_text = std::ffi::OsStr::from_bytes(b"bad\xff");
    fs::write(std::path::Path::new(dir.as_str()).join(not_text), "").unwrap();
    files.make_folder(&dir.join("folder")).unwrap();
    files.link("nowhere", &dir.join("link")).unwrap();
    let names: Vec<String> = files.list(dir).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(
        names,
        ["*", "-rf", "..odd", ".hidden", "a", "b", "folder", "link", "sp ace", "with\nnewline", "é"]
    );
    assert_eq!(files.list(dir).unwrap(), LocalFiles.list(dir).unwrap());
}

fn links_are_resolved(files: &dyn Files, dir: &HostPath) {
    files.make_folder(&dir.join("real/deep")).unwrap();
    files.link("real", &dir.join("link")).unwrap();
    let found = files.canonical(&dir.join("link/deep/..")).unwrap();
    assert_eq!(found, LocalFiles.canonical(&dir.join("real")).unwrap());
}

fn sizes_are_summed(files: &dyn Files, dir: &HostPath) {
    write(files, &dir.join("a"), "12345");
    files.make_folder(&dir.join("x/y")).unwrap();
    write(files, &dir.join("x/y/b"), "123");
    files.link("a", &dir.join("x/link")).unwrap();
    assert_eq!(files.tree_size(dir).unwrap(), 5 + 3 + 1);
}

fn several_changes_are_made_in_their_order(files: &dyn Files, dir: &HostPath) {
    let (log, script, empty) = (dir.join("a/b/log"), dir.join("a/b/run"), dir.join("a/empty"));
    let gone = dir.join("gone");
    fs::write(gone.as_str(), "x").unwrap();
    let append = |text: &[u8]| Change::Append { path: log.clone(), bytes: text.to_vec() };
    let changes = [
        Change::MakeFolder(dir.join("a/b")),
        append(b"one\0\n"),
        Change::write(script.clone(), "echo 'it'; $(x)\n", Access::PrivateExecutable),
        Change::write(empty.clone(), "", Access::Private),
        append(b""),
        append(b"two"),
        Change::Touch(dir.join("a/touched")),
        Change::RemoveFile(gone.clone()),
        Change::RemoveFile(dir.join("never was")),
    ];
    files.apply(&changes).unwrap();
    assert_eq!(files.read(&log).unwrap(), b"one\0\ntwo");
    assert_eq!(files.read(&script).unwrap(), b"echo 'it'; $(x)\n");
    let mode = |path: &HostPath| files.stat(path).unwrap().unwrap().mode;
    assert_eq!((mode(&script), mode(&empty)), (0o700, 0o600));
    assert!(files.exists(&dir.join("a/touched")).unwrap() && !files.exists(&gone).unwrap());
    files.apply(&[]).unwrap();
}

fn changes_end_with_the_first_that_fails(files: &dyn Files, dir: &HostPath) {
    let missing = dir.join("no/folder");
    let changes = [
        Change::write(dir.join("before"), "1", Access::Shared),
        Change::Append { path: missing.clone(), bytes: b"2".to_vec() },
        Change::write(dir.join("after"), "3", Access::Shared),
    ];
    let error = files.apply(&changes).unwrap_err();
    assert!(error.is_missing() && error.path == missing, "{error:?}");
    assert_eq!(error.action, "append to");
    assert!(files.exists(&dir.join("before")).unwrap() && !files.exists(&dir.join("after")).unwrap());
}

fn several_paths_are_examined_together(files: &dyn Files, dir: &HostPath) {
    let (file, link, missing) = (dir.join("file"), dir.join("link"), dir.join("no/such"));
    fs::write(file.as_str(), "12345").unwrap();
    std::os::unix::fs::symlink("file", link.as_str()).unwrap();
    let paths = [missing.clone(), file.clone(), link.clone()];
    let seen = files.stat_all(&paths).unwrap();
    let kinds: Vec<_> = seen.iter().map(|stat| stat.as_ref().map(|stat| (stat.kind, stat.size))).collect();
    assert_eq!(kinds, [None, Some((FileKind::File, 5)), Some((FileKind::Link, 4))]);
    let real = files.canonical(&file).unwrap();
    assert_eq!(files.canonical_all(&paths).unwrap(), [None, Some(real.clone()), Some(real)]);
    assert!(files.stat_all(&[]).unwrap().is_empty() && files.canonical_all(&[]).unwrap().is_empty());
}

fn changes_are_only_made_where_all_is_as_required(files: &dyn Files, dir: &HostPath) {
    let (full, empty, gone) = (dir.join("full"), dir.join("empty"), dir.join("gone"));
    write(files, &full, "x");
    write(files, &empty, "");
    std::os::unix::fs::symlink("nowhere", dir.join("link").as_str()).unwrap();
    let made = dir.join("made");
    let require = |path: &HostPath, presence| Change::Require { path: path.clone(), presence };
    let holding = [
        require(&full, Presence::There),
        require(&dir.join("link"), Presence::There),
        require(&empty, Presence::Empty),
        require(&gone, Presence::Empty),
        require(&gone, Presence::Missing),
        Change::MakePrivateFile(made.clone()),
    ];
    files.apply(&holding).unwrap();
    assert_eq!(files.stat(&made).unwrap().unwrap().mode, 0o600);
    files.append(&made, b"kept", Durability::Cached).unwrap();
    files.apply(&[Change::MakePrivateFile(made.clone())]).unwrap();
    assert_eq!(files.read(&made).unwrap(), b"kept", "what is there stays");
    files.apply(&[Change::RemoveTree(made.clone()), Change::RemoveTree(gone.clone())]).unwrap();
    let failing = [
        (require(&gone, Presence::There), io::ErrorKind::NotFound),
        (require(&full, Presence::Empty), io::ErrorKind::AlreadyExists),
        (require(&dir.join("link"), Presence::Missing), io::ErrorKind::AlreadyExists),
    ];
    for (change, expected) in failing {
        let Change::Require { path, .. } = change.clone() else { unreachable!() };
        let error = files.apply(&[change, Change::Touch(made.clone())]).unwrap_err();
        assert_eq!((&error.path, error.source.kind()), (&path, expected));
        assert!(!files.exists(&made).unwrap(), "nothing is made after {error:?}");
    }
}

fn a_glance_tells_what_single_questions_tell(files: &dyn Files, dir: &HostPath) {
    let inside = dir.join("f\u{fc}ll");
    for folder in [&inside, &dir.join("hollow")] {
        files.make_folder(folder).unwrap();
    }
    files.write(&inside.join(".hidden"), b"a\nb\n\n", Access::Private, Durability::Cached).unwrap();
    files.write(&dir.join("nothing"), b"", Access::Shared, Durability::Cached).unwrap();
    let long = vec![b'x'; usize::try_from(MOST_READ).unwrap() + 1];
    files.write(&dir.join("long"), &long, Access::Shared, Durability::Cached).unwrap();
    std::os::unix::fs::symlink(inside.as_str(), dir.join("link").as_str()).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.join("dangling").as_str()).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(dir.join("pipe").as_str()).status().unwrap();
    assert!(pipe.success());
    let names = ["f\u{fc}ll", "f\u{fc}ll/.hidden", "hollow", "nothing", "long", "link", "dangling", "pipe"];
    let names = names.into_iter().chain(["gone", "nothing/below", "link/.hidden"]);
    let paths: Vec<HostPath> = names.map(|name| dir.join(name)).collect();
    let glance = Glance::at(files, &paths).unwrap();
    for path in &paths {
        assert_eq!(glance.stat(path).unwrap(), files.stat(path).unwrap(), "{path}");
        assert_eq!(glance.exists(path).unwrap(), files.exists(path).unwrap(), "{path}");
        assert_eq!(glance.real(path), files.canonical(path).ok(), "{path}");
        let (read, expected) = (glance.read_if_there(path), files.read_if_there(path));
        assert_eq!(read.ok(), expected.ok(), "{path}");
    }
    let holds = |name: &str| glance.holds_something(&dir.join(name)).unwrap();
    assert!(holds("f\u{fc}ll") && holds("nothing") && holds("long"));
    assert!(!holds("hollow") && !holds("link") && !holds("gone"));
}

fn what_is_below_a_folder_is_listed_so_many_levels_deep(files: &dyn Files, dir: &HostPath) {
    let top = dir.join("top");
    for folder in ["top/a b/c/d", "top/-n", "elsewhere"] {
        files.make_folder(&dir.join(folder)).unwrap();
    }
    for name in ["top/x\ny", "top/a b/.hidden", "top/a b/c/d/deep", "elsewhere/secret"] {
        write(files, &dir.join(name), "four");
    }
    std::os::unix::fs::symlink(dir.join("elsewhere").as_str(), top.join("link").as_str()).unwrap();
    let below = |depth| files.list_below(&top, depth).unwrap();
    let expected =
        ["-n", "a b", "a b/.hidden", "a b/c", "a b/c/d", "link", "x\ny"].map(|name| top.join(name));
    let found = below(3);
    assert_eq!(found.iter().map(|below| below.path.clone()).collect::<Vec<_>>(), expected);
    for Below { path, stat } in &found {
        assert_eq!(Some(stat), files.stat(path).unwrap().as_ref(), "{path}");
    }
    assert_eq!(below(1).len(), 4);
    assert_eq!(below(9).len(), 8);
    assert!(files.list_below(&dir.join("gone"), 3).unwrap().is_empty());
}
