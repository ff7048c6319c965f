//! `cargo xtask gen`: the man pages, the reference and the schemas, written from what the binary says of itself.
//!
//! Nothing here knows a command, an option or a setting: all of it comes from `mngr help --format json`. With `--check`
//! nothing is written, and what is stale is named. Budget: one `cargo build` and one run of the binary.

mod book;
mod man;
mod markdown;
mod roff;
mod schemas;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use mngr_testkit::TestEnv;
use serde::Deserialize;

use crate::metadata::{self, MetadataError};
use book::Book;

/// Folders in which every file is generated.
const FOLDERS: &[&str] = &["man", "docs/reference/cli", "docs/reference/schemas"];

/// What the files begin with, where their form allows it.
const NOTE: &str = "Written by `cargo xtask gen`. Change the command line itself, not this file.";

/// How the chore is run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Write nothing, and fail when a file is not what it should be
    #[arg(long)]
    check: bool,
}

/// Why the chore failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GenerateError {
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    #[error("cannot run `cargo build`")]
    Run(#[source] io::Error),
    #[error("`cargo build -p mngr` failed")]
    Build,
    #[error("cannot read what `mngr help --format json` printed")]
    Parse(#[from] serde_json::Error),
    #[error("cannot {action} `{}`", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("these files are stale; run `cargo xtask gen`:\n{0}")]
    Stale(String),
}

/// The generated files: paths below the root of the workspace, and what is in them.
pub(crate) type Files = BTreeMap<PathBuf, String>;

/// Writes all of them, or checks that they are as they should be.
pub(crate) fn run(options: &Options) -> Result<(), GenerateError> {
    let root = metadata::load()?.workspace_root;
    let book = read_book(&root)?;
    let mut files = man::pages(&book);
    files.extend(markdown::pages(&book));
    files.extend(schemas::files(&book));
    let surplus = surplus(&root, &files)?;
    let stale: Vec<&PathBuf> =
        files.iter().filter(|(path, text)| !is_same(&root.join(path), text)).map(|(path, _)| path).collect();
    if options.check {
        let named: BTreeSet<&PathBuf> = stale.iter().copied().chain(&surplus).collect();
        if !named.is_empty() {
            let lines: Vec<String> = named.iter().map(|path| format!("  - {}", path.display())).collect();
            return Err(GenerateError::Stale(lines.join("\n")));
        }
        println!("gen: {} files are up to date", files.len());
        return Ok(());
    }
    for path in &stale {
        write(&root.join(path), &files[*path])?;
    }
    for path in &surplus {
        let path = root.join(path);
        fs::remove_file(&path).map_err(|source| GenerateError::File { action: "remove", path, source })?;
    }
    println!("gen: {} files, {} written, {} removed", files.len(), stale.len(), surplus.len());
    Ok(())
}

/// Builds the binary and asks it for everything it knows of itself, where no settings are.
fn read_book(root: &Path) -> Result<Book, GenerateError> {
    let binary = build(root)?;
    let env = TestEnv::new(binary);
    let said = env.mngr(["help", "--format", "json"]).success();
    Ok(serde_json::from_str(&said.stdout)?)
}

/// A line of `cargo build --message-format=json`.
#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default)]
    executable: Option<PathBuf>,
}

fn build(root: &Path) -> Result<PathBuf, GenerateError> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "mngr", "--bin", "mngr", "--message-format=json"]);
    let output = cargo.current_dir(root).stderr(Stdio::inherit()).output().map_err(GenerateError::Run)?;
    if !output.status.success() {
        return Err(GenerateError::Build);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    messages.filter_map(|message| message.executable).next_back().ok_or(GenerateError::Build)
}

fn is_same(path: &Path, text: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|found| found == text)
}

/// What lies in the generated folders and is not generated any more.
fn surplus(root: &Path, files: &Files) -> Result<Vec<PathBuf>, GenerateError> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let path = root.join(folder);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(source) if source.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(GenerateError::File { action: "read", path, source }),
        };
        let names = entries.flatten().map(|entry| Path::new(folder).join(entry.file_name()));
        found.extend(names.filter(|name| !files.contains_key(name)));
    }
    Ok(found)
}

fn write(path: &Path, text: &str) -> Result<(), GenerateError> {
    let failed = |source| GenerateError::File { action: "write", path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}
