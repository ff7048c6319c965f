//! Finding a program on a host, and its version.
//!
//! Spawns nothing where a package or the program's own path tells the version; else `PROGRAM --version`, once for
//! each program file.

use std::time::Duration;

use mngr_host::files::{FileKind, Files, FilesError};
use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError};
use mngr_model::HostPath;
use serde::Deserialize;

use super::{Installation, Memory, Version};

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// How far above a program its package may be described.
const PACKAGE_ABOVE: usize = 4;

/// The program of a type is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum InstallationError {
    /// It is not there.
    #[error("{} is not installed: there is no `{}` on PATH", .0.summary, .0.name)]
    Missing(Box<Program>),
    /// It is another version than the type wants.
    #[error("`{}` is version {found}, and the agent type wants {wanted}", .program.name)]
    OtherVersion {
        /// The program.
        program: Box<Program>,
        /// What is installed.
        found: Version,
        /// What the setting says.
        wanted: String,
    },
    /// The type wants a version, and the program does not tell its own.
    #[error("`{}` does not tell its version, and the agent type wants {wanted}", .program.name)]
    NoVersion {
        /// The program.
        program: Box<Program>,
        /// What the setting says.
        wanted: String,
    },
    /// A file cannot be looked at.
    #[error("cannot look for the agent's program")]
    Files(#[from] FilesError),
    /// The program could not be asked.
    #[error("cannot ask the agent's program for its version")]
    Exec(#[from] ExecError),
}

/// A program, as the user is told about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The word that runs it.
    pub name: String,
    /// What it is, in a few words.
    pub summary: String,
    /// How it is installed.
    pub installation: Installation,
}

/// Looks a program up as a shell would: a path as it is, a bare word in the folders of `search`. What is found is the
/// file itself, behind all links.
pub fn find(files: &dyn Files, search: &str, program: &str) -> Result<Option<HostPath>, FilesError> {
    let folders = search.split(':').filter(|folder| folder.starts_with('/'));
    let candidates: Vec<HostPath> = match program.contains('/') {
        true => vec![HostPath::new(program)],
        false => folders.map(|folder| HostPath::new(folder).join(program)).collect(),
    };
    for candidate in candidates {
        let Ok(path) = files.canonical(&candidate) else { continue };
        let stat = files.stat(&path)?;
        if stat.is_some_and(|stat| stat.kind == FileKind::File && stat.mode & 0o111 != 0) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The version of a program that is there; `None` when it does not tell one.
pub fn version_of(
    host: &dyn Host,
    path: &HostPath,
    installation: &Installation,
    memory: &mut Memory,
) -> Result<Option<Version>, InstallationError> {
    let files = host.files();
    if let Some(version) = of_package(files, path, &installation.package)? {
        return Ok(Some(version));
    }
    // The vendors' own installers keep each version under its number.
    if let Some(version) = path.file_name().and_then(|name| name.parse().ok()) {
        return Ok(Some(version));
    }
    let Some(stat) = files.stat(path)? else { return Ok(None) };
    if let Some(version) = memory.version(path, &stat) {
        return Ok(Some(version));
    }
    let output = host.exec(&Cmd::new(path.as_str()).arg("--version").deadline(PATIENCE))?;
    let version = Version::in_text(&output.stdout_text()).filter(|_| output.success());
    if let Some(version) = &version {
        memory.keep_version(path, &stat, version.clone());
    }
    Ok(version)
}

/// What the package says that the program lies in.
fn of_package(files: &dyn Files, path: &HostPath, name: &str) -> Result<Option<Version>, FilesError> {
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: Version,
    }
    let mut folder = path.parent();
    for _ in 0..PACKAGE_ABOVE {
        let Some(here) = folder else { break };
        let text = files.read_if_there(&here.join("package.json"))?.unwrap_or_default();
        if let Ok(package) = serde_json::from_slice::<Package>(&text)
            && package.name == name
        {
            return Ok(Some(package.version));
        }
        folder = here.parent();
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
