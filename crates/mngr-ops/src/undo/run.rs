//! The order of steps.
//!
//! Budget for a worktree agent: one git process to move it, two or three for its branch. The agent is back from the
//! moment its state folder is renamed; a failure before that puts it away again, a command killed anywhere is carried
//! through by the next one.

use std::sync::Arc;

use jiff::Timestamp;
use mngr_host::fault;
use mngr_host::files::{Change, FilesError, Presence};
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_model::address::AgentRef;
use mngr_model::journal::Header;
use mngr_model::layout::AgentLayout;
use mngr_model::process::{Ending, ProcessRecord};
use mngr_model::{AgentId, AgentName, HostPath};
use serde_json::{Map, Value};

use super::begin::{begin, require_repository, stray_work};
use super::error::UndoError;
use super::list::{Found, FoundAgent, Reach, find_all};
use crate::trash::{self, Manifest, Stray, TrashError, Work};
use crate::world::World;
use crate::{again, boot, hosts, record, rename};

/// An agent that came back, as STOPPED.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Its id.
    pub id: AgentId,
    /// Its name now.
    pub name: AgentName,
    /// The name it had.
    pub old_name: AgentName,
    /// `name.provider` of its host.
    pub host: String,
    /// Where it works.
    pub work_dir: HostPath,
    /// The branch it is on, if it is on one.
    pub branch: Option<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Brings a destroyed agent back.
pub fn undo(world: &World, target: &AgentRef) -> Result<Restored, UndoError> {
    let found = find(world, target)?;
    let (host, manifest) = awake(world, found)?;
    let shared = host;
    let host = shared.as_ref();
    interrupt::check()?;
    trash::refuse_links(host, &manifest)?;
    let (journal, name, manifest) = begin(world, host, &manifest)?;
    // From here on it runs to its end, or all the way back.
    let _shield = interrupt::shield();
    match carry_out(host, &manifest, &name, world.clock.now()) {
        Ok(restored) => {
            journal.finish()?;
            // It comes back as it was, and may be wanted at boot under another name.
            match again::find(&shared, &restored.id) {
                Ok(Some(agent)) if agent.facts.record.start_on_boot => {
                    boot::renew(world, host, &agent.facts.record);
                    boot::settle_or_warn(world, host);
                }
                _ => {}
            }
            Ok(restored)
        }
        Err(error) => match put_away_again(host, &manifest) {
            Ok(()) => {
                journal.finish()?;
                Err(error)
            }
            // The journal stays, so that the next command tries again.
            Err(left) => Err(UndoError::LeftOver {
                name,
                failure: crate::error_chain(&error),
                left: crate::error_chain(&left),
            }),
        },
    }
}

/// Takes back what was done, unless the agent is back already: then it has only to be carried through.
fn put_away_again(host: &dyn Host, manifest: &Manifest) -> Result<(), TrashError> {
    let state = host.layout().trash_of(&manifest.id).state();
    if !host.files().exists(&state)? {
        return Err(TrashError::NotThere { path: state });
    }
    if let Some(to) = manifest.moved_to()
        && host.files().exists(to)?
    {
        // It has not left.
        return Ok(());
    }
    // What needs a ref got one when the agent was destroyed.
    trash::put_away(host, &manifest.clone().without_rescues(), Vec::new())?;
    // A branch that went with the agent goes again; one that stays is found by the next attempt.
    let _ = trash::remove_branch(host, manifest);
    Ok(())
}

/// Starts the host of a destroyed agent where it does not run, and reads there what is to be brought back.
fn awake(world: &World, found: FoundAgent) -> Result<(Arc<dyn Host>, Manifest), UndoError> {
    let FoundAgent { host, manifest, reach } = found;
    if reach == Reach::Now {
        return Ok((host, manifest));
    }
    let failed = |source| UndoError::Host { name: manifest.name.clone(), source: Box::new(source) };
    let target = hosts::Target::of_host(world, host.info()).map_err(failed)?;
    let host = hosts::start(world, &target).map_err(failed)?.host;
    let trash = host.layout().trash_of(&manifest.id);
    match trash::read_manifest(host.as_ref(), &trash) {
        Ok(manifest) => Ok((host, manifest)),
        Err(source) => Err(UndoError::Trash { name: manifest.name, source }),
    }
}

/// The one destroyed agent that is meant.
fn find(world: &World, target: &AgentRef) -> Result<FoundAgent, UndoError> {
    let Found { agents, failures, .. } = find_all(world);
    let names: Vec<String> = agents.iter().map(|agent| agent.manifest.name.to_string()).collect();
    let is_meant = |manifest: &Manifest| match target {
        AgentRef::Id(id) => manifest.id == *id,
        AgentRef::Name(name) => manifest.name == *name,
    };
    let mut meant: Vec<_> = agents.into_iter().filter(|agent| is_meant(&agent.manifest)).collect();
    let target = match target {
        AgentRef::Id(id) => id.to_string(),
        AgentRef::Name(name) => name.to_string(),
    };
    if meant.len() > 1 {
        let describe = |FoundAgent { host, manifest, .. }: &FoundAgent| {
            let at = manifest.destroyed_at.strftime("%Y-%m-%d %H:%M:%SZ");
            format!("{}  destroyed {at} on {}", manifest.id, host.info().address())
        };
        return Err(UndoError::Ambiguous { target, candidates: meant.iter().map(describe).collect() });
    }
    match meant.pop() {
        Some(found) => Ok(found),
        None if failures.is_empty() => {
            Err(UndoError::NotFound { similar: similar_to(&target, names), target })
        }
        None => {
            let unavailable =
                failures.into_iter().map(|failure| failure.host.unwrap_or(failure.provider)).collect();
            Err(UndoError::Unavailable { target, unavailable })
        }
    }
}

fn similar_to(target: &str, mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| strsim::jaro_winkler(name, target) > 0.85);
    names.sort_unstable();
    names.dedup();
    names.truncate(3);
    names
}

/// Everything after the journal was opened. Each step may find itself done already.
fn carry_out(
    host: &dyn Host,
    manifest: &Manifest,
    name: &AgentName,
    now: Timestamp,
) -> Result<Restored, UndoError> {
    let (files, layout) = (host.files(), host.layout());
    let (trash, agent) = (layout.trash_of(&manifest.id), layout.agent(&manifest.id));
    let mut notes = Vec::new();
    let mut branch = None;
    let state = AgentLayout::new(trash.state());
    let looked = [trash.state(), state.process(), agent.root().clone()];
    let looked = looked.into_iter().chain(trash::signs_of_return(manifest));
    let glance = Glance::at(files, &looked.collect::<Vec<_>>())?;
    if glance.exists(&trash.state())? {
        notes.extend(clear_the_way(host, manifest, &glance)?);
        let returned = trash::bring_back(host, manifest, &glance)
            .map_err(|source| UndoError::Trash { name: manifest.name.clone(), source })?;
        notes.extend(returned.notes);
        branch = returned.branch;
        rewrite(host, &state, manifest, name, branch.as_deref())?;
        let home = [
            Change::MakeFolder(layout.agents()),
            Change::Rename { from: state.root().clone(), to: agent.root().clone() },
        ];
        let stopped = stop_line_needed(&glance, &state, now)?;
        match files.apply(&stopped.into_iter().chain(home.clone()).collect::<Vec<_>>()) {
            // A late hook was faster.
            Err(error) if error.is_taken() => {
                let stray = trash::stray_state(host, &manifest.id)?.ok_or(error)?;
                notes.push(trash::told(&stray, &trash::set_aside(host, &stray)?));
                files.apply(&home)?;
            }
            applied => applied?,
        }
        fault::point();
    }
    if *name != manifest.name {
        notes.push(format!("the name `{}` is taken: the agent is called `{name}`", manifest.name));
    }
    notes.extend(empty(host, manifest));
    Ok(Restored {
        id: manifest.id.clone(),
        name: name.clone(),
        old_name: manifest.name.clone(),
        host: host.info().address(),
        work_dir: manifest.work_dir.clone(),
        branch,
        notes,
    })
}

/// Sets aside what stands where the agent comes back to. Says what the user should know.
fn clear_the_way(
    host: &dyn Host,
    manifest: &Manifest,
    glance: &Glance<'_>,
) -> Result<Vec<String>, UndoError> {
    let mut strays = Vec::new();
    if glance.exists(host.layout().agent(&manifest.id).root())? {
        strays.extend(trash::stray_state(host, &manifest.id)?);
    }
    let dir = &manifest.work_dir;
    match &manifest.work {
        Some(Work::Moved { to, .. }) if glance.exists(dir)? && glance.exists(to)? => {
            let stray = stray_work(host, manifest)?;
            strays.push(stray.ok_or_else(|| UndoError::PathTaken { path: dir.clone() })?);
        }
        // A checkout there was begun by a command that died.
        Some(Work::Missing { .. }) if glance.exists(dir)? => strays.extend(stray_work(host, manifest)?),
        _ => {}
    }
    let set_aside = |stray: &Stray| Ok(trash::told(stray, &trash::set_aside(host, stray)?));
    strays.iter().map(set_aside).collect()
}

/// Puts the name and branch it comes back with into its record and its environment.
fn rewrite(
    host: &dyn Host,
    state: &AgentLayout,
    manifest: &Manifest,
    name: &AgentName,
    branch: Option<&str>,
) -> Result<(), UndoError> {
    let renamed = manifest.branch().zip(branch).filter(|(old, new)| old != new);
    if *name == manifest.name && renamed.is_none() {
        return Ok(());
    }
    rename::rename_in_env(host, &state.env_file(), name)
        .map_err(|source| UndoError::Environment { name: name.clone(), source: Box::new(source) })?;
    record::patch(host, state, |record| {
        record.insert("name".to_owned(), name.as_str().into());
        if let Some((old, new)) = renamed {
            rename_branch(record, old, new);
        }
    })?;
    Ok(())
}

fn rename_branch(record: &mut Map<String, Value>, old: &str, new: &str) {
    for key in ["created_branch_name", "checked_out_branch_name"] {
        if let Some(value) = record.get_mut(key).filter(|value| value.as_str() == Some(old)) {
            *value = new.into();
        }
    }
}

/// However it had ended before: an agent comes back as stopped.
fn stop_line_needed(
    glance: &Glance<'_>,
    state: &AgentLayout,
    now: Timestamp,
) -> Result<Option<Change>, FilesError> {
    let bytes = glance.read_if_there(&state.process())?.unwrap_or_default();
    let process = ProcessRecord::parse(&String::from_utf8_lossy(&bytes));
    if matches!(process.ending, Some(Ending::Stopped { .. })) {
        return Ok(None);
    }
    let line = ProcessRecord::stop_line(now);
    Ok(Some(Change::Append { path: state.process(), bytes: line.into_bytes() }))
}

/// Removes what is left in the trash once the agent is back: nothing that it does not have itself.
fn empty(host: &dyn Host, manifest: &Manifest) -> Vec<String> {
    let (files, layout) = (host.files(), host.layout());
    let mut notes = trash::drop_rescues(host, manifest);
    fault::point();
    let trash = layout.trash_of(&manifest.id);
    let remove = || -> Result<(), FilesError> {
        let emptied = files.apply(&[
            Change::RemoveTree(layout.preserved_of(&manifest.name, &manifest.id)),
            Change::Require { path: trash.state(), presence: Presence::Missing },
            Change::Require { path: trash.work(), presence: Presence::Missing },
            Change::RemoveTree(trash.root().clone()),
        ]);
        match emptied {
            // Work that is still there is nobody's to delete.
            Err(error) if error.is_taken() && [trash.state(), trash.work()].contains(&error.path) => {}
            emptied => emptied?,
        }
        let beside = manifest.moved_to().filter(|to| !to.is_within(trash.root())).and_then(HostPath::parent);
        match beside {
            Some(beside) if files.list(&beside)?.is_empty() => files.remove_tree(&beside),
            _ => Ok(()),
        }
    };
    notes.extend(
        remove().err().map(|error| format!("the trash was not emptied: {}", crate::error_chain(&error))),
    );
    notes
}

/// What became of a return that was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    /// The agent is back.
    Completed,
    /// It cannot come back, and is in the trash as before.
    TakenBack,
}

/// Carries through what a killed command began, or takes it back where that is impossible. The caller holds the journal and
/// removes it afterwards.
pub fn resume(world: &World, host: &dyn Host, header: &Header) -> Result<Resumed, UndoError> {
    let trash = host.layout().trash_of(&header.agent_id);
    let failed = |source| UndoError::Trash { name: header.name.clone(), source };
    let noted = trash::read_or_rebuild(host, &trash, &header.agent_id, world.clock.now()).map_err(failed)?;
    let Some(manifest) = noted else {
        // It was back, and died while it emptied the trash.
        let dropped = trash::drop_unused(host, &header.agent_id);
        return dropped.map(|_| Resumed::Completed).map_err(failed);
    };
    let repository =
        manifest.work.as_ref().and_then(Work::checkout).map(|checkout| checkout.repository.clone());
    let manifest = match repository {
        Some(repository) if host.files().exists(&trash.state())? => {
            let is_there = host.files().exists(&repository.join("HEAD"))?;
            match require_repository(host, manifest.clone(), &repository, is_there) {
                Ok(found) => found,
                // Until its source is back, it stays where it is.
                Err(error) => {
                    return put_away_again(host, &manifest).map(|()| Resumed::TakenBack).map_err(|_| error);
                }
            }
        }
        _ => manifest,
    };
    match carry_out(host, &manifest, &header.name, world.clock.now()) {
        Ok(_) => Ok(Resumed::Completed),
        Err(error) => match put_away_again(host, &manifest) {
            Ok(()) => Ok(Resumed::TakenBack),
            Err(_) => Err(error),
        },
    }
}
