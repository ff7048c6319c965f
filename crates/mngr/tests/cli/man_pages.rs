//! The man pages as `man` shows them. That they say what the command line is, is checked by `cargo xtask gen --check`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../man");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

#[test]
fn they_are_shown_without_a_warning() {
    let pages = pages();
    assert!(pages.len() > 50, "{pages:?}");
    let shown =
        Command::new("groff").args(["-man", "-Tutf8", "-ww", "-rLL=80n"]).args(&pages).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&shown.stderr), "");
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("mngr-config-set - Change a setting"), "{text:.2000}");
}
