//! Work dirs that no agent uses, agents without a work dir, and worktrees that git remembers and nobody has.

use std::collections::BTreeSet;

use mngr_host::files::{FileKind, FileStat};
use mngr_host::git::{Git, GitError};
use mngr_host::host::Host;
use mngr_model::HostPath;

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::gc::{self, GcOptions, Resource};
use crate::world::World;

const CHECK: &str = "work_dirs";
const WORKTREES: &str = "worktrees";

/// Checks the work dirs of a host.
pub(super) fn check(world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let mut found = missing(place);
    found.extend(unused(world, place));
    if found.is_empty() {
        found.push(Finding::ok(CHECK, "every work dir has its agent, and every agent its work dir"));
    }
    found.extend(worktrees(place));
    found
}

fn missing(place: &Place) -> Vec<Finding> {
    let agents = &place.survey.agents;
    let paths: Vec<HostPath> = agents.iter().map(|agent| agent.record.work_dir.clone()).collect();
    let stats = match place.host.files().stat_all(&paths) {
        Ok(stats) => stats,
        Err(error) => return vec![unknown(CHECK, &error)],
    };
    let gone = agents.iter().zip(stats).filter(|(agent, stat)| {
        // One that is being made or destroyed may have none at the moment.
        stat.is_none() && !place.has_journal(&agent.record.id)
    });
    gone.map(|(agent, _)| {
        let (name, dir) = (&agent.record.name, &agent.record.work_dir);
        Finding::fail(CHECK, format!("the work dir `{dir}` of agent `{name}` is gone"))
            .because("the agent cannot be started again")
            .advise(format!("bring the folder back, or `mngr destroy {name}`; its branch stays"))
    })
    .collect()
}

fn unused(world: &World, place: &Place) -> Vec<Finding> {
    let rehearsal = GcOptions { dry_run: true, ..GcOptions::default() };
    let Ok(swept) = gc::sweep(world, place.host.as_ref(), &rehearsal) else { return Vec::new() };
    let mut found: Vec<Finding> = Vec::new();
    if let Some(Resource { path, .. }) = swept.removed.first() {
        let count = swept.removed.len();
        found.push(
            Finding::warn(CHECK, format!("{count} thing(s) that no agent uses, such as `{path}`"))
                .because("they take up room, and everything in them exists elsewhere")
                .mended_by(Repair::Sweep(place.host.clone())),
        );
    }
    found.extend(swept.kept.into_iter().map(|kept| {
        let told = Finding::warn(CHECK, format!("no agent uses `{}`: {}", kept.path, kept.reason))
            .because("what is in there may exist nowhere else, so mngr does not delete it");
        match is_plain_copy(place.host.as_ref(), &kept.path) {
            true => {
                told.mended_by(Repair::SetFolderAside { host: place.host.clone(), path: kept.path.clone() })
            }
            false => told.advise("look into it, then move or delete it yourself"),
        }
    }));
    found.extend(swept.problems.into_iter().map(|problem| {
        Finding::warn(CHECK, format!("`{}` cannot be judged: {}", problem.path, problem.message))
            .because("it is not known whether anybody needs it")
            .advise("mend that first, then run `mngr doctor` again")
    }));
    found
}

/// The folders of ours that no agent uses, that may not be deleted, and that nothing else refers to.
pub(super) fn unused_folders(world: &World, host: &dyn Host) -> Vec<HostPath> {
    let rehearsal = GcOptions { dry_run: true, ..GcOptions::default() };
    let kept = gc::sweep(world, host, &rehearsal).map(|swept| swept.kept).unwrap_or_default();
    kept.into_iter().map(|kept| kept.path).filter(|path| is_plain_copy(host, path)).collect()
}

/// Whether it is a copy that is no checkout: nothing knows where it is, so it can be moved.
fn is_plain_copy(host: &dyn Host, path: &HostPath) -> bool {
    let is_copy = path.file_name().is_some() && path.parent().as_ref() == Some(&host.layout().copies());
    let is_folder = |found: Vec<Option<FileStat>>| match found.as_slice() {
        [Some(folder), None] => folder.kind == FileKind::Folder,
        _ => false,
    };
    is_copy && host.files().stat_all(&[path.clone(), path.join(".git")]).is_ok_and(is_folder)
}

/// The repositories that the agents of a host work on, living or destroyed.
pub(super) fn repositories(place: &Place) -> BTreeSet<HostPath> {
    let living = place.survey.agents.iter().filter_map(|agent| agent.record.workspace.as_ref());
    let living = living.filter_map(|workspace| workspace.repository.clone());
    let destroyed = place.trash.iter().flat_map(|entries| &entries.whole);
    living.chain(destroyed.filter_map(|gone| gone.repository.clone())).collect()
}

fn worktrees(place: &Place) -> Vec<Finding> {
    let mut found = Vec::new();
    for repository in repositories(place) {
        match forgotten(place, &repository) {
            Ok(paths) => found.extend(paths.first().map(|path| {
                Finding::warn(
                    WORKTREES,
                    format!("git remembers {} worktree(s) that are gone, such as `{path}`", paths.len()),
                )
                .because("their branches count as checked out, so nothing else can use them")
                .mended_by(Repair::ForgetWorktrees {
                    host: place.host.clone(),
                    repository: repository.clone(),
                    paths: paths.clone(),
                })
            })),
            Err(error) => found.push(unknown(WORKTREES, &error)),
        }
    }
    found
}

/// Worktrees in our own folders that are missing and that no agent has, in the trash neither.
fn forgotten(place: &Place, repository: &HostPath) -> Result<Vec<HostPath>, GitError> {
    let host = place.host.as_ref();
    if !host.files().exists(repository)? {
        return Ok(Vec::new());
    }
    let ours = host.layout().worktrees();
    let real = host.files().canonical(&ours).unwrap_or_else(|_| ours.clone());
    let is_ours = |path: &HostPath| path.is_within(&ours) || path.is_within(&real);
    let living = place.survey.agents.iter().map(|agent| agent.record.work_dir.file_name());
    let names: BTreeSet<Option<&str>> = living.collect();
    let entries = Git::new(host, repository.clone()).list_worktrees()?.into_iter();
    let gone = entries.filter(|entry| entry.is_prunable).map(|entry| HostPath::new(entry.path));
    Ok(gone.filter(|path| is_ours(path) && !names.contains(&path.file_name())).collect())
}
