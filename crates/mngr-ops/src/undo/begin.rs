//! The beginning: everything that can be refused is refused here, then the journal is open. Nothing is changed before.

use std::collections::BTreeSet;

use mngr_host::git::Git;
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_model::journal::{Header, Operation};
use mngr_model::{AgentName, HostPath};

use super::error::UndoError;
use crate::host_lock;
use crate::journal::Journal;
use crate::names;
use crate::trash::{self, Manifest, Neighbours, Stray, Work};
use crate::world::World;

/// How many numbers are tried behind a name that is taken.
const SUFFIXES: u32 = 100;

/// Chooses the name and opens the journal. Under the host lock, so that nobody else chooses the same.
pub(super) fn begin<'h>(
    world: &World,
    host: &'h dyn Host,
    manifest: &Manifest,
) -> Result<(Journal<'h>, AgentName, Manifest), UndoError> {
    let layout = host.layout();
    let _lock = host_lock::take_telling(world, host)?;
    let (journal, noted) = (layout.journal(&manifest.id), layout.trash_of(&manifest.id).manifest());
    let (agent, work_dir) = (layout.agent(&manifest.id).data(), &manifest.work_dir);
    let repository = manifest.work.as_ref().and_then(Work::checkout).map(|checkout| &checkout.repository);
    let mut looked = vec![journal.clone(), noted.clone(), agent.clone(), work_dir.clone()];
    looked.extend(repository.map(|repository| repository.join("HEAD")));
    let glance = Glance::at(host.files(), &looked)?;
    if glance.stat(&journal)?.is_some_and(|journal| journal.size > 0) {
        return Err(UndoError::Busy { name: manifest.name.clone() });
    }
    // Somebody may have brought it back, or emptied the trash, since it was found.
    if !glance.exists(&noted)? {
        let target = manifest.id.to_string();
        return Err(UndoError::NotFound { target, similar: Vec::new() });
    }
    // It may have been brought back and destroyed again since it was found; what was found then says nothing of it.
    let now = trash::manifest_in(host, &glance, &layout.trash_of(&manifest.id))
        .map_err(|source| UndoError::Trash { name: manifest.name.clone(), source })?;
    if (now.destroyed_at, &now.work) != (manifest.destroyed_at, &manifest.work) {
        return Err(UndoError::Busy { name: manifest.name.clone() });
    }
    if glance.exists(&agent)? {
        return Err(UndoError::Exists { id: manifest.id.clone() });
    }
    let comes_back = !matches!(manifest.work, None | Some(Work::Kept { .. }));
    if comes_back && glance.exists(work_dir)? && stray_work(host, manifest)?.is_none() {
        return Err(UndoError::PathTaken { path: manifest.work_dir.clone() });
    }
    let mut manifest = now;
    if let Some(repository) = repository {
        let is_there = glance.exists(&repository.join("HEAD"))?;
        manifest = require_repository(host, manifest, repository, is_there)?;
    }
    let manifest = manifest;
    let name = free_name(world, host, &manifest)?;
    let header = Header {
        operation: Operation::Undo,
        agent_id: manifest.id.clone(),
        name: name.clone(),
        started: world.clock.now(),
        command: None,
    };
    Ok((Journal::begin(host, &header)?, name, manifest))
}

/// Something that is only in the way where the work dir comes back to, and can be set aside.
pub(super) fn stray_work(host: &dyn Host, manifest: &Manifest) -> Result<Option<Stray>, UndoError> {
    let neighbours = Neighbours::of(host, &BTreeSet::from([manifest.id.clone()]))?;
    Ok(trash::stray_work(host, manifest, &neighbours)?)
}

/// Refuses an agent whose repository is in the trash itself, or on its way there, with another agent. One that is gone for
/// good is no reason: the files come back without it. One that came back to another place than it was noted at is found by
/// the work dir.
pub(super) fn require_repository(
    host: &dyn Host,
    manifest: Manifest,
    repository: &HostPath,
    is_there: bool,
) -> Result<Manifest, UndoError> {
    let layout = host.layout();
    // Only what is in the work dir of an agent goes away with one.
    let work_dirs = [layout.worktrees(), layout.copies(), layout.projects(), layout.trash()];
    if is_there && !work_dirs.iter().any(|folder| repository.is_within(folder)) {
        return Ok(manifest);
    }
    let failed = |source| UndoError::Trash { name: manifest.name.clone(), source };
    let holds = |other: &Manifest| {
        let is_inside = |folder: &HostPath| repository.is_within(folder);
        other.id != manifest.id && (is_inside(&other.work_dir) || other.moved_to().is_some_and(is_inside))
    };
    let entries = trash::entries(host).map_err(failed)?;
    // An agent that is being destroyed has noted so, and is not whole in the trash yet.
    let leaving = entries.unfinished.iter().filter(|id| **id != manifest.id);
    let mut leaving = leaving.filter_map(|id| trash::read_manifest(host, &layout.trash_of(id)).ok());
    if let Some(other) = leaving.find(holds)
        && host.files().exists(&layout.journal(&other.id))?
    {
        return Err(UndoError::Busy { name: other.name });
    }
    let is_moved = |other: &&Manifest| other.moved_to().is_some() && holds(other);
    if let Some(source) = entries.whole.iter().find(is_moved) {
        let (name, needed, id) = (manifest.name.clone(), source.name.clone(), source.id.clone());
        return Err(UndoError::NeedsSource { name, needed, id });
    }
    if is_there {
        return Ok(manifest);
    }
    let now = manifest.moved_to().map(|to| Git::new(host, to.clone()).worktree()).transpose();
    let now = now.map_err(|error| failed(error.into()))?.flatten().map(|location| location.common_dir);
    match now {
        Some(now) if host.files().exists(&now.join("HEAD"))? => Ok(manifest.with_repository(now)),
        _ => Ok(manifest),
    }
}

/// The name it had, or that name with a number.
fn free_name(world: &World, host: &dyn Host, manifest: &Manifest) -> Result<AgentName, UndoError> {
    let numbered = (2..=SUFFIXES).filter_map(|number| format!("{}-{number}", manifest.name).parse().ok());
    for name in [manifest.name.clone()].into_iter().chain(numbered) {
        if names::holder_of(world, host, &name, &manifest.id)?.is_none() {
            return Ok(name);
        }
    }
    Err(UndoError::NoFreeName { name: manifest.name.clone() })
}
