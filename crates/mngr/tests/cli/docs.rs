//! The commands in the documentation are ones that mngr accepts.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::*;

/// Where pages for users are.
const FOLDERS: &[&str] = &[".", "docs/guides", "docs/concepts"];

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = FOLDERS.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.sort();
    pages
}

/// What stands in the blocks of a page that a shell reads; of a session at a prompt, what is typed.
fn commands(page: &str) -> String {
    let mut language = None;
    let mut found = String::new();
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), language) {
            (Some(_), Some(_)) => language = None,
            (Some(name), None) => language = Some(name),
            (None, Some("sh")) => found.push_str(&format!("{line}\n")),
            (None, Some("console")) => {
                found.extend(line.strip_prefix("$ ").map(|typed| format!("{typed}\n")));
            }
            (None, _) => {}
        }
    }
    found
}

#[test]
fn every_command_in_the_documentation_is_right() {
    let env = env();
    let mut seen = 0;
    for page in pages() {
        let text = commands(&fs::read_to_string(&page).unwrap());
        seen += text.matches("mngr ").count();
        let script = env.work_dir().join("commands.sh");
        fs::write(&script, text).unwrap();
        let linted = env.mngr(["tutorial", "lint", "commands.sh"]);
        assert!(linted.status.success(), "{}\n{linted}", page.display());
    }
    assert!(seen > 80, "{seen} commands");
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let mut broken = Vec::new();
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let more = [
        reference.join("README.md"),
        reference.join("reference/cli.md"),
        reference.join("reference/settings.md"),
    ];
    for page in pages().into_iter().chain(more) {
        let text = fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', '#', ' ']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            if !page.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
