//! Machines that have everything, lack something, or may not install it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::remote::testing::{ShellLine, with_shells};

/// The small programs every machine has, and nothing else.
const SMALL: [&str; 21] = [
    "sh", "env", "mkdir", "rm", "wc", "head", "tail", "cat", "chmod", "ln", "id", "setsid", "sleep", "tr",
    "dirname", "tar", "flock", "rsync", "git", "kill", "true",
];

/// A machine with stub programs of its own on a `PATH` of its own.
fn machine(lacks: &[&str], stubs: &[(&str, &str)]) -> (Arc<ShellLine>, Shells) {
    let line = ShellLine::to("/bin/dash");
    let bin = line.root.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in SMALL.iter().filter(|name| !lacks.contains(name)) {
        let found =
            ["/usr/bin", "/bin"].iter().map(|dir| Path::new(dir).join(name)).find(|path| path.exists());
        std::os::unix::fs::symlink(found.unwrap(), bin.join(name)).unwrap();
    }
    for (name, text) in stubs {
        let path = bin.join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, format!("#!/bin/sh\nbin={}\n{text}\n", bin.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = bin.to_str().unwrap().to_owned();
    with_shells(line.with_path(&path))
}

const TMUX: (&str, &str) = ("tmux", "echo tmux 3.3a");
/// Puts every package it is asked for on the `PATH` and notes how it was called.
const MANAGER: &str = r#"echo "$0 $*" >>"$bin/../calls"; for p do :; done
printf '#!/bin/sh\necho %s 3.4\n' "$p" >"$bin/tmux"; chmod +x "$bin/tmux""#;

fn calls(line: &ShellLine) -> String {
    std::fs::read_to_string(line.root.path().join("calls")).unwrap_or_default()
}

fn host_dir(line: &ShellLine) -> String {
    line.root.path().join("deep/.mngr").to_str().unwrap().to_owned()
}

#[test]
fn a_machine_that_has_everything_is_ready_and_keeps_its_id() {
    let (line, shells) = machine(&[], &[TMUX]);
    let dir = host_dir(&line);
    let first = bootstrap(&shells, &dir, Install::Missing).unwrap();
    assert_eq!((first.tmux, first.host_dir.as_str()), (Some(Version(3, 3)), dir.as_str()));
    assert!(first.git.is_some() && first.installed.is_empty());
    assert_eq!(std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(bootstrap(&shells, &dir, Install::Nothing).unwrap().id, first.id);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn what_is_missing_is_installed_with_the_manager_that_is_there() {
    for (manager, words) in [
        ("apt-get", "apt-get install --yes --quiet --no-install-recommends tmux"),
        ("dnf", "dnf install --assumeyes --quiet tmux"),
        ("apk", "apk add --no-cache --quiet tmux"),
    ] {
        let (line, shells) = machine(&[], &[(manager, MANAGER), ("id", "echo 0")]);
        let prepared = bootstrap(&shells, &host_dir(&line), Install::Missing).unwrap();
        assert_eq!((prepared.installed, prepared.tmux), (vec!["tmux".to_owned()], Some(Version(3, 4))));
        assert!(calls(&line).trim_end().ends_with(words), "{}", calls(&line));
    }
}

#[test]
fn without_rights_nothing_is_installed_and_the_command_is_named() {
    let sudo = ("sudo", "exit 1");
    let (line, shells) = machine(&["flock"], &[("dnf", MANAGER), ("id", "echo 1000"), sudo]);
    let error = bootstrap(&shells, &host_dir(&line), Install::Missing).unwrap_err();
    assert_eq!(
        error.to_string(),
        "host `test` lacks `tmux`, `flock`: run there as root: dnf install tmux util-linux"
    );
    assert_eq!(calls(&line), "");
}

#[test]
fn with_sudo_that_asks_nothing_it_is_used() {
    let sudo = ("sudo", r#"shift; exec "$@""#);
    let (line, shells) = machine(&[], &[("apk", MANAGER), ("id", "echo 1000"), sudo]);
    assert_eq!(bootstrap(&shells, &host_dir(&line), Install::Missing).unwrap().installed, ["tmux"]);
}

#[test]
fn nothing_is_installed_unless_it_may_be_and_a_failed_installation_says_why() {
    let (line, shells) = machine(&[], &[("apk", MANAGER), ("id", "echo 0")]);
    let error = bootstrap(&shells, &host_dir(&line), Install::Nothing).unwrap_err().to_string();
    assert_eq!(error, "host `test` lacks `tmux`: run there: apk add tmux");
    assert_eq!(calls(&line), "");
    let (line, shells) =
        machine(&[], &[("apk", "echo first; echo 'no such package' >&2; exit 1"), ("id", "echo 0")]);
    let error = bootstrap(&shells, &host_dir(&line), Install::Missing).unwrap_err().to_string();
    assert_eq!(error, "host `test` lacks `tmux`: no such package");
    let (line, shells) = machine(&[], &[]);
    let error = bootstrap(&shells, &host_dir(&line), Install::Missing).unwrap_err().to_string();
    assert_eq!(error, "host `test` lacks `tmux`: no apt-get, dnf or apk was found there");
}

#[test]
fn a_tmux_that_is_too_old_is_refused_and_an_old_git_is_known() {
    let (line, shells) = machine(&[], &[("tmux", "echo tmux 2.9a")]);
    let error = bootstrap(&shells, &host_dir(&line), Install::Missing).unwrap_err();
    assert!(matches!(error, BootstrapError::OldTmux { found: Version(2, 9), .. }), "{error}");
    let (line, shells) = machine(&[], &[TMUX, ("git", "echo git version 2.30.2")]);
    assert!(bootstrap(&shells, &host_dir(&line), Install::Missing).unwrap().has_old_git());
}

#[test]
fn a_host_dir_that_cannot_be_made_says_why() {
    let (_line, shells) = machine(&[], &[TMUX]);
    let error = bootstrap(&shells, "/dev/null/x", Install::Missing).unwrap_err();
    assert!(matches!(error, BootstrapError::HostDir { .. }), "{error}");
    assert!(error.to_string().ends_with("Not a directory"), "{error}");
}

#[test]
fn versions_are_read_as_tools_spell_them() {
    for (text, version) in [
        ("tmux 3.3a", Some(Version(3, 3))),
        ("tmux next-3.4", Some(Version(3, 4))),
        ("git version 2.39.5", Some(Version(2, 39))),
        ("tmux master", None),
    ] {
        assert_eq!(Version::in_text(text), version, "{text}");
    }
}
