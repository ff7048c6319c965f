//! Making the work dir, step by journaled step.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mngr_config::ExtraPath;
use mngr_host::beneath::Beneath;
use mngr_host::files::{Change, FileKind};
use mngr_host::git::{Git, IgnoredFiles, StartPoint};
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::rsync::{Endpoint, Rsync};
use mngr_model::journal::Step;
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentId, HostPath};

use super::error::CreateError;
use super::plan::{Checkout, Plan};
use super::proof;
use super::request::{CreateRequest, Proof, UncleanFiles};
use super::source::Source;
use crate::journal::Journal;
use crate::world::World;
use crate::{extra_paths, own_dirs};

/// How long a clone may take.
pub(super) const CLONE_DEADLINE: Duration = Duration::from_secs(3600);

/// Makes the work dir that was planned.
pub(super) fn make(
    world: &World,
    host: &dyn Host,
    agent: &AgentId,
    source: &Source,
    plan: &Plan,
    request: &CreateRequest,
    journal: &mut Journal<'_>,
) -> Result<(), CreateError> {
    if plan.transfer == TransferMode::None {
        return Ok(());
    }
    // A name of our own making is nobody's, and its place is known to be ours.
    if request.target_path.is_some() || request.worktree_base.is_some() {
        if host.reach().is_none() {
            // A link in a repository may have come from an agent.
            host.files().refuse_links(&Beneath::typed(&plan.work_dir), &BTreeSet::new())?;
        }
        require_free(host, &plan.work_dir)?;
        if let Some(parent) = plan.work_dir.parent() {
            host.files().make_folder(&parent)?;
        }
        if let Some(note) = own_dirs::note_needed(host, agent, &plan.work_dir) {
            journal.note(Step::File { path: note })?;
            journal.add(own_dirs::note(host, agent, &plan.work_dir));
        }
    }
    match plan.transfer {
        TransferMode::None => {}
        TransferMode::GitWorktree => worktree(host, source, plan, journal)?,
        TransferMode::GitMirror => mirror(host, source, plan, journal)?,
        TransferMode::Rsync => {
            journal.note(Step::Folder { path: plan.work_dir.clone() })?;
            journal.add([Change::MakeFolder(plan.work_dir.clone())]);
            journal.carry_out()?;
            let (from, path) = source.files();
            Rsync::new(Endpoint::Contents(path), Endpoint::Contents(plan.work_dir.clone()))
                .options(request.rsync_args.iter().cloned())
                .run_between(from, host)?;
        }
    }
    let (from, files) = source.files();
    if let Some(UncleanFiles::Carry { ignored }) = plan.carries {
        let ignored = if ignored { IgnoredFiles::Include } else { IgnoredFiles::Leave };
        let copy = Git::new(host, plan.work_dir.clone());
        Git::new(from, files.clone()).copy_unclean_to(&copy, ignored)?;
    }
    if request.proof == Proof::Required {
        proof::files(source, host, plan)?;
    }
    let paths = not_there_yet(world, (from, host), plan)?;
    for path in extra_paths::lay(&paths, (from, &files), (host, &plan.work_dir))? {
        let text = format!("`work_dir_extra_paths` names `{path}`, which the source does not have");
        world.reporter.warn(&text);
    }
    Ok(())
}

/// The extra paths that did not come with the uncommitted files. A link between two checkouts of one host leads nowhere on
/// another.
fn not_there_yet(
    world: &World,
    (from, host): (&dyn Host, &dyn Host),
    plan: &Plan,
) -> Result<BTreeMap<String, ExtraPath>, CreateError> {
    let mut paths = world.settings.work_dir_extra_paths.clone();
    for path in paths.keys().cloned().collect::<Vec<_>>() {
        let at = plan.work_dir.join(&path);
        match host.files().stat(&at)?.filter(|_| plan.carries.is_some()) {
            Some(stat) if stat.kind == FileKind::Link && from.info().id != host.info().id => {
                host.files().remove_file(&at)?;
            }
            Some(_) => {
                paths.remove(&path);
            }
            None => {}
        }
    }
    Ok(paths)
}

fn worktree(
    host: &dyn Host,
    source: &Source,
    plan: &Plan,
    journal: &mut Journal<'_>,
) -> Result<(), CreateError> {
    let Some((checkout, repository)) = plan.checkout.as_ref().zip(plan.repository.clone()) else {
        return Ok(());
    };
    let git = source.repository(host);
    if let Checkout::New { name, base } = checkout {
        journal.note(Step::Branch {
            repository: repository.clone(),
            name: name.clone(),
            at: base.clone(),
        })?;
    }
    journal.note(Step::Worktree { repository, path: plan.work_dir.clone() })?;
    interrupt::check()?;
    let start = match checkout {
        Checkout::New { name, base } => StartPoint::NewBranch { name, base },
        Checkout::Reused { name, from, base } => {
            if from != base {
                journal.carry_out()?;
                git.move_branch(name, from, base)?;
            }
            StartPoint::Branch(name)
        }
        Checkout::Existing { name } => StartPoint::Branch(name),
    };
    Ok(git.add_worktree_after(&journal.take_pending(), &plan.work_dir, &start)?)
}

fn mirror(
    host: &dyn Host,
    source: &Source,
    plan: &Plan,
    journal: &mut Journal<'_>,
) -> Result<(), CreateError> {
    let Some(checkout) = &plan.checkout else { return Ok(()) };
    let start = match checkout {
        Checkout::New { name, base } | Checkout::Reused { name, base, .. } => {
            StartPoint::NewBranch { name, base }
        }
        Checkout::Existing { name } => StartPoint::Branch(name),
    };
    journal.step(Step::Folder { path: plan.work_dir.clone() })?;
    let mirror = Git::new(host, plan.work_dir.clone());
    source.repository(host).mirror_into(&mirror, &start)?;
    mngr_host::fault::point();
    Ok(())
}

fn require_free(host: &dyn Host, path: &HostPath) -> Result<(), CreateError> {
    if !host.files().exists(path)? || host.files().list(path)?.is_empty() {
        return Ok(());
    }
    Err(CreateError::TargetTaken { path: path.clone() })
}
