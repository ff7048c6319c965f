//! Work dirs and clones below the host dir that no agent uses, living or destroyed.
//!
//! Folders are listed before agents and journals are read: whoever makes a folder writes it down first, so a folder that
//! is listed and written down nowhere belongs to nobody.

use mngr_host::fault;
use mngr_host::files::{FileKind, FilesError};
use mngr_host::git::{Git, GitError};
use mngr_host::host::{Host, SurveyError};
use mngr_host::interrupt::{self, Interrupted};
use mngr_model::HostPath;
use mngr_model::facts::Detail;
use mngr_model::journal::Step;

use super::judge::{Verdict, judge};
use super::report::ResourceKind;
use super::run::{Found, Pass};
use crate::trash::{self, TrashError};
use crate::{journal, snapshot};

/// Why it is not known which folders are in use.
#[derive(Debug, thiserror::Error)]
pub(super) enum UseError {
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error(transparent)]
    Survey(#[from] SurveyError),
    #[error(transparent)]
    Trash(#[from] TrashError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("agent folder `{folder}` cannot be read, so its work dir is not known")]
    BrokenAgent { folder: String },
}

/// Why an orphan was not deleted.
#[derive(Debug, thiserror::Error)]
enum RemoveError {
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Deletes the orphans that hold nothing of their own and reports the others.
pub(super) fn collect(pass: &mut Pass<'_>) -> Result<(), Interrupted> {
    let host = pass.host;
    let layout = host.layout();
    let folders = [
        (layout.worktrees(), ResourceKind::WorkDir),
        (layout.copies(), ResourceKind::WorkDir),
        (layout.projects(), ResourceKind::WorkDir),
        (layout.clones(), ResourceKind::Clone),
    ];
    let mut candidates = Vec::new();
    for (folder, kind) in folders {
        match host.files().list(&folder) {
            Ok(entries) => {
                let entries = entries.into_iter().filter(|entry| entry.kind == FileKind::Folder);
                candidates.extend(entries.map(|entry| (kind, folder.join(&entry.name))));
            }
            Err(error) => pass.problem(folder, crate::error_chain(&error)),
        }
    }
    if candidates.is_empty() {
        return Ok(());
    }
    let used = match paths_in_use(host) {
        Ok(used) => used,
        Err(error) => {
            pass.problem(layout.root().clone(), crate::error_chain(&error));
            return Ok(());
        }
    };
    for (kind, path) in candidates {
        let real = real(host, &path);
        if !used.iter().any(|used| used.is_within(&path) || used.is_within(&real)) {
            interrupt::check()?;
            collect_one(pass, kind, path)?;
        }
    }
    Ok(())
}

fn collect_one(pass: &mut Pass<'_>, kind: ResourceKind, path: HostPath) -> Result<(), Interrupted> {
    let host = pass.host;
    let verdict = match judge(host, &path) {
        Ok(verdict) => verdict,
        Err(error) => {
            pass.problem(path, crate::error_chain(&error));
            return Ok(());
        }
    };
    let found = |reason: &str| Found {
        kind,
        path: path.clone(),
        agent: None,
        bytes: None,
        reason: format!("no agent uses it and {reason}"),
    };
    match verdict {
        Verdict::Kept { reason } => {
            pass.keep(path, reason);
            Ok(())
        }
        Verdict::RemovableWorktree { repository } => {
            pass.remove(found("everything in it is in its repository"), || -> Result<(), RemoveError> {
                Git::new(host, repository).remove_worktree(&path)?;
                fault::point();
                Ok(host.files().remove_tree(&path)?)
            })
        }
        Verdict::RemovableRepository => {
            pass.remove(found("everything in it is on a remote"), || host.files().remove_tree(&path))
        }
    }
}

/// Every path some agent, destroyed agent, snapshot or running command relies on, as it is spelled and as it really is.
pub(super) fn paths_in_use(host: &dyn Host) -> Result<Vec<HostPath>, UseError> {
    let layout = host.layout();
    let mut used = Vec::new();
    for entry in host.files().list(&layout.journals())? {
        let text = host.files().read_if_there(&layout.journals().join(&entry.name))?.unwrap_or_default();
        let steps =
            journal::read(&String::from_utf8_lossy(&text)).map(|(_, steps)| steps).unwrap_or_default();
        used.extend(steps.into_iter().flat_map(paths_of));
    }
    let entries = trash::entries(host)?;
    for id in &entries.unfinished {
        // Being destroyed or brought back right now.
        used.extend(trash::read_manifest(host, &layout.trash_of(id)).map(|manifest| manifest.work_dir));
    }
    for manifest in entries.whole {
        let repository =
            manifest.work.as_ref().and_then(|work| work.checkout()).map(|at| at.repository.clone());
        used.extend([manifest.work_dir].into_iter().chain(manifest.repository).chain(repository));
    }
    used.extend(snapshot::repositories(host)?);
    let survey = host.survey(Detail::Basic)?;
    if let Some(broken) = survey.broken.into_iter().next() {
        return Err(UseError::BrokenAgent { folder: broken.folder });
    }
    for facts in survey.agents {
        used.push(facts.record.work_dir);
        used.extend(facts.record.workspace.and_then(|workspace| workspace.repository));
    }
    let real: Vec<HostPath> = used.iter().map(|path| real(host, path)).collect();
    used.extend(real);
    Ok(used)
}

fn paths_of(step: Step) -> Vec<HostPath> {
    match step {
        Step::Folder { path }
        | Step::Clone { path }
        | Step::File { path }
        | Step::ReplacedFile { path, .. } => vec![path],
        Step::Worktree { repository, path } => vec![repository, path],
        Step::Branch { repository, .. } => vec![repository],
        Step::FilesFor { .. } | Step::Session { .. } | Step::Host { .. } | Step::PoolHost { .. } => {
            Vec::new()
        }
    }
}

fn real(host: &dyn Host, path: &HostPath) -> HostPath {
    host.files().canonical(path).unwrap_or_else(|_| path.clone())
}
