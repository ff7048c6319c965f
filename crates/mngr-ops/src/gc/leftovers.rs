//! Temporary files and refs of commands that died, and logs that were rotated long ago. Files are searched for only in
//! mngr's own folders.

use jiff::SignedDuration;
use mngr_host::files::{FileKind, FilesError, FolderEntry};
use mngr_host::git::{Git, GitError};
use mngr_host::interrupt::Interrupted;
use mngr_model::HostPath;
use mngr_model::facts::{AgentFacts, Detail};

use super::report::ResourceKind;
use super::run::{Found, Pass};

/// What names of temporary files start with.
const TEMP_PREFIX: &str = ".mngr-";
/// A command that writes a file for longer than this is dead.
const TEMP_AGE: SignedDuration = SignedDuration::from_hours(24);
/// How long rotated logs are kept.
const LOG_AGE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Logs are not deeper than this below their folder.
const LOG_DEPTH: u32 = 4;

/// Deletes all of them.
pub(super) fn collect(pass: &mut Pass<'_>) -> Result<(), Interrupted> {
    collect_incoming(pass)?;
    let layout = pass.host.layout();
    let mut folders = vec![layout.root().clone(), layout.journals()];
    for parent in [layout.agents(), layout.trash(), layout.profiles()] {
        folders.extend(below(pass, &parent));
    }
    for folder in folders {
        collect_temp_files(pass, &folder)?;
    }
    for folder in [layout.events(), layout.root().join("logs")] {
        collect_logs(pass, &folder, LOG_DEPTH)?;
    }
    Ok(())
}

/// What transfers between repositories that died have left in those of agents.
fn collect_incoming(pass: &mut Pass<'_>) -> Result<(), Interrupted> {
    let host = pass.host;
    let agents = host.survey(Detail::Basic).map(|survey| survey.agents).unwrap_or_default();
    let shared = |facts: AgentFacts| facts.record.workspace.and_then(|workspace| workspace.repository);
    let mut repositories: Vec<HostPath> = agents.into_iter().filter_map(shared).collect();
    repositories.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    repositories.dedup();
    for repository in repositories {
        let git = Git::new(host, repository.clone());
        for name in git.left_incoming().unwrap_or_default() {
            let reason = "the command it came with is over".to_owned();
            let (kind, path) = (ResourceKind::TempFile, repository.join(&name));
            let found = Found { kind, path, agent: None, bytes: None, reason };
            pass.remove::<GitError>(found, || git.delete_ref(&name))?;
        }
    }
    Ok(())
}

fn collect_temp_files(pass: &mut Pass<'_>, folder: &HostPath) -> Result<(), Interrupted> {
    for entry in entries(pass, folder) {
        if entry.kind == FileKind::File && entry.name.starts_with(TEMP_PREFIX) {
            remove_if_older(pass, ResourceKind::TempFile, folder.join(&entry.name), TEMP_AGE)?;
        }
    }
    Ok(())
}

fn collect_logs(pass: &mut Pass<'_>, folder: &HostPath, depth: u32) -> Result<(), Interrupted> {
    for entry in entries(pass, folder) {
        let path = folder.join(&entry.name);
        match entry.kind {
            FileKind::Folder if depth > 0 => collect_logs(pass, &path, depth - 1)?,
            FileKind::File if is_rotated(&entry.name) => {
                remove_if_older(pass, ResourceKind::Log, path, LOG_AGE)?
            }
            _ => {}
        }
    }
    Ok(())
}

/// `events.jsonl.3`, `sshd.log.1`.
pub(super) fn is_rotated(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(log, number)| {
        let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        is_number && (log.ends_with(".jsonl") || log.ends_with(".log"))
    })
}

fn remove_if_older(
    pass: &mut Pass<'_>,
    kind: ResourceKind,
    path: HostPath,
    age: SignedDuration,
) -> Result<(), Interrupted> {
    let host = pass.host;
    let stat = host.files().stat(&path).ok().flatten();
    let Some((stat, modified)) = stat.and_then(|stat| Some((stat.clone(), stat.modified?))) else {
        return Ok(());
    };
    if pass.now.duration_since(modified) <= age {
        return Ok(());
    }
    let reason = format!("it was last changed at {modified}");
    let found = Found { kind, path: path.clone(), agent: None, bytes: Some(stat.size), reason };
    pass.remove::<FilesError>(found, || host.files().remove_file(&path))
}

fn below(pass: &mut Pass<'_>, parent: &HostPath) -> Vec<HostPath> {
    let folders = entries(pass, parent).into_iter().filter(|entry| entry.kind == FileKind::Folder);
    folders.map(|entry| parent.join(&entry.name)).collect()
}

fn entries(pass: &mut Pass<'_>, folder: &HostPath) -> Vec<FolderEntry> {
    pass.host.files().list(folder).unwrap_or_else(|error| {
        pass.problem(folder.clone(), crate::error_chain(&error));
        Vec::new()
    })
}
