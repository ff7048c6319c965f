//! What cargo knows about the crates of this workspace. Budget: one `cargo metadata`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use serde::Deserialize;

/// The part of `cargo metadata --no-deps` that chores need.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_root: PathBuf,
}

/// One crate of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    /// Also holds a feature for every optional dependency.
    pub(crate) features: BTreeMap<String, Vec<String>>,
}

impl Package {
    /// The folder of its `Cargo.toml`.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }
}

/// One edge from a crate to another.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` is what cargo calls a normal dependency.
    pub(crate) kind: Option<DependencyKind>,
}

/// The sections other than `[dependencies]`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DependencyKind {
    Dev,
    Build,
}

/// Why the metadata could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MetadataError {
    #[error("cannot run `cargo metadata`")]
    Run(#[source] io::Error),
    #[error("`cargo metadata` failed ({status}): {stderr}")]
    Failed { status: ExitStatus, stderr: String },
    #[error("cannot read what `cargo metadata` printed")]
    Parse(#[from] serde_json::Error),
}

/// The cargo that runs this chore.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Asks cargo.
pub(crate) fn load() -> Result<Metadata, MetadataError> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .map_err(MetadataError::Run)?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(MetadataError::Failed { status: output.status, stderr });
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
