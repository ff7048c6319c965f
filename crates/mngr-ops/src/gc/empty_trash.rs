//! Destroyed agents whose time is over: deleted with their worktree, their rescue refs and their folders.
//!
//! The only place where work is deleted that may exist nowhere else: it was destroyed on request, and there was time to
//! bring it back.

use jiff::{SignedDuration, Timestamp};
use mngr_config::TrashSettings;
use mngr_host::files::Durability;
use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_host::interrupt::Interrupted;
use mngr_host::lock::LockError;
use mngr_model::AgentId;

use super::report::ResourceKind;
use super::run::{Found, Pass};
use crate::host_lock;
use crate::trash::{self, Manifest, TrashError, Work};

/// What a command that died left is not touched before it is this old.
const UNFINISHED_AGE: SignedDuration = SignedDuration::from_hours(24);

/// What the trash may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// For how long.
    pub(crate) age: SignedDuration,
    /// How much.
    pub(crate) bytes: u64,
}

impl Limits {
    pub(crate) fn from_settings(settings: &TrashSettings) -> Self {
        let seconds = (settings.max_age_days * 86_400.0).max(0.0);
        // The casts saturate: an absurd setting means no limit.
        Self {
            age: SignedDuration::from_secs(seconds as i64),
            bytes: (settings.max_size_gb * 1e9).max(0.0) as u64,
        }
    }
}

/// A destroyed agent as far as its time is concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    /// When it was destroyed.
    pub(crate) destroyed_at: Timestamp,
    /// What it takes up.
    pub(crate) bytes: u64,
}

/// Why a destroyed agent's time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// It was there long enough.
    Age,
    /// The trash is too full, and it is the oldest.
    Size,
}

/// Whose time is over. `candidates` are in order, the oldest first.
pub(crate) fn expired(candidates: &[Candidate], now: Timestamp, limits: Limits) -> Vec<Option<Expiry>> {
    let is_old = |candidate: &Candidate| now.duration_since(candidate.destroyed_at) > limits.age;
    let left = candidates.iter().filter(|candidate| !is_old(candidate));
    let mut total: u64 = left.map(|candidate| candidate.bytes).fold(0, u64::saturating_add);
    let judge = |candidate: &Candidate| {
        if is_old(candidate) {
            return Some(Expiry::Age);
        }
        if total <= limits.bytes {
            return None;
        }
        total -= candidate.bytes;
        Some(Expiry::Size)
    };
    candidates.iter().map(judge).collect()
}

/// Why the trash of one agent was not deleted.
#[derive(Debug, thiserror::Error)]
enum RemoveError {
    #[error(transparent)]
    Trash(#[from] TrashError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("another command is working on it")]
    Busy,
}

/// Empties the trash of a host as far as its limits say.
pub(super) fn collect(pass: &mut Pass<'_>) -> Result<(), Interrupted> {
    let host = pass.host;
    let layout = host.layout();
    let entries = match trash::entries(host) {
        Ok(entries) => entries,
        Err(error) => {
            pass.problem(layout.trash(), crate::error_chain(&error));
            return Ok(());
        }
    };
    for damaged in entries.damaged {
        pass.problem(damaged.path, crate::error_chain(&damaged.error));
    }
    for id in entries.expired {
        let reason = "its removal was cut short".to_owned();
        let path = layout.trash_of(&id).root().clone();
        let found = Found { kind: ResourceKind::Trash, path, agent: None, bytes: None, reason };
        let mut kept = None;
        pass.remove(found, || delete(host, &id).map(|note| kept = note))?;
        keep_late(pass, &id, kept);
    }
    for id in entries.unfinished {
        collect_unfinished(pass, &id)?;
    }
    collect_set_aside(pass)?;
    collect_expired(pass, entries.whole)
}

fn collect_expired(pass: &mut Pass<'_>, entries: Vec<Manifest>) -> Result<(), Interrupted> {
    let (host, limits) = (pass.host, Limits::from_settings(&pass.world.settings.trash));
    let mut candidates = Vec::new();
    for manifest in &entries {
        // What cannot be measured is judged by its age alone.
        let bytes = measure(pass, manifest).unwrap_or(0);
        candidates.push(Candidate { destroyed_at: manifest.destroyed_at, bytes });
    }
    let verdicts = expired(&candidates, pass.now, limits);
    for ((manifest, candidate), verdict) in entries.into_iter().zip(candidates).zip(verdicts) {
        let Some(verdict) = verdict else { continue };
        let found = Found {
            kind: ResourceKind::Trash,
            path: host.layout().trash_of(&manifest.id).root().clone(),
            agent: Some(manifest.name.to_string()),
            bytes: Some(candidate.bytes),
            reason: match verdict {
                Expiry::Age => format!("it was destroyed at {}", manifest.destroyed_at),
                Expiry::Size => "the trash is too full and it is the oldest".to_owned(),
            },
        };
        let mut kept = None;
        pass.remove(found, || remove(host, &manifest).map(|note| kept = note))?;
        keep_late(pass, &manifest.id, kept);
    }
    Ok(())
}

/// Tells of commits that were made in the trash and that outlive it.
fn keep_late(pass: &mut Pass<'_>, id: &AgentId, note: Option<String>) {
    if let Some(note) = note {
        let path = pass.host.layout().trash_of(id).root().clone();
        pass.keep(path, note);
    }
}

/// What was written where destroyed agents had been goes when their own time would be over.
fn collect_set_aside(pass: &mut Pass<'_>) -> Result<(), Interrupted> {
    let (host, limits) = (pass.host, Limits::from_settings(&pass.world.settings.trash));
    let below = match host.files().list_below(&host.layout().set_aside(), 2) {
        Ok(below) => below,
        Err(error) => {
            pass.problem(host.layout().set_aside(), crate::error_chain(&error));
            return Ok(());
        }
    };
    // Each was moved here whole, and its folder last changed when something came into it.
    let folders = below.iter().filter(|entry| entry.path.parent() == Some(host.layout().set_aside()));
    for folder in folders {
        let inside = below.iter().filter(|entry| entry.path.is_within(&folder.path));
        let newest = inside.filter_map(|entry| entry.stat.modified).max();
        let Some(newest) = newest.filter(|newest| pass.now.duration_since(*newest) > limits.age) else {
            continue;
        };
        let reason = format!("it was set aside at {newest}");
        let path = folder.path.clone();
        let found = Found { kind: ResourceKind::Trash, path: path.clone(), agent: None, bytes: None, reason };
        pass.remove(found, || host.files().remove_tree(&path))?;
    }
    Ok(())
}

/// Counts once and notes the answer: what is in the trash does not change.
fn measure(pass: &Pass<'_>, manifest: &Manifest) -> Option<u64> {
    let bytes = trash::size_of(pass.host, manifest).ok()?;
    if manifest.bytes.is_none() && !pass.out.dry_run {
        let trash = pass.host.layout().trash_of(&manifest.id);
        let counted = Manifest { bytes: Some(bytes), ..manifest.clone() };
        // Only under the lock: somebody may be bringing it back, and the note must not appear again behind them.
        let note = || -> Result<(), RemoveError> {
            let _lock = host_lock::take(pass.host)?;
            require_idle(pass.host, &manifest.id)?;
            Ok(trash::write_manifest(pass.host, &trash, &counted, Durability::Cached)?)
        };
        // Counting again next time is the only harm.
        let _ = note();
    }
    Some(bytes)
}

/// Deletes one destroyed agent for good. Says what is kept of it.
fn remove(host: &dyn Host, manifest: &Manifest) -> Result<Option<String>, RemoveError> {
    let trash = host.layout().trash_of(&manifest.id);
    {
        let _lock = host_lock::take(host)?;
        require_idle(host, &manifest.id)?;
        // From here on `undo` does not find it, and the next `gc` goes on if this one dies.
        host.files().rename(&trash.manifest(), &trash::expired_manifest(&trash)).map_err(TrashError::from)?;
    }
    delete(host, &manifest.id)
}

/// Nobody is destroying the agent or bringing it back. The caller holds the host lock.
fn require_idle(host: &dyn Host, id: &AgentId) -> Result<(), RemoveError> {
    let layout = host.layout();
    let files = host.files();
    let journal = files.stat(&layout.journal(id)).map_err(TrashError::from)?;
    let is_there = files.exists(&layout.trash_of(id).state()).map_err(TrashError::from)?;
    if journal.is_some_and(|journal| journal.size > 0) || !is_there { Err(RemoveError::Busy) } else { Ok(()) }
}

/// Deletes what the expired manifest names. May find any part of it gone already. Says what is kept.
fn delete(host: &dyn Host, id: &AgentId) -> Result<Option<String>, RemoveError> {
    let (files, trash) = (host.files(), host.layout().trash_of(id));
    let manifest = trash::read_expired(host, &trash)?;
    let mut kept = None;
    if let Some(checkout) = manifest.work.as_ref().and_then(Work::checkout) {
        let is_there = files.exists(&checkout.repository.join("HEAD")).map_err(TrashError::from)?;
        if is_there {
            let git = Git::new(host, checkout.repository.clone());
            kept = trash::keep_late_commits(host, &manifest)?;
            if let Some(to) = manifest.moved_to() {
                // What git does not know, or does not want to remove, is deleted below; it then forgets it by itself.
                for nested in &checkout.nested {
                    let _ = git.remove_worktree(&to.join(nested));
                }
                let _ = git.remove_worktree(to);
            }
            for rescue in &checkout.rescues {
                git.delete_ref(&rescue.name).map_err(TrashError::from)?;
            }
        }
    }
    if let Some(to) = manifest.moved_to() {
        files.remove_tree(to).map_err(TrashError::from)?;
    }
    files.remove_file(&host.layout().made_work_dir(id)).map_err(TrashError::from)?;
    files.remove_tree(trash.root()).map_err(TrashError::from)?;
    Ok(kept)
}

/// The same for a repair.
pub(crate) fn drop_unused_trash(host: &dyn Host, id: &AgentId) -> Result<(), String> {
    drop_unused(host, id).map_err(|error| crate::error_chain(&error))
}

/// Removes the folder of an agent that exists, while nobody begins to destroy it.
fn drop_unused(host: &dyn Host, id: &AgentId) -> Result<(), RemoveError> {
    let layout = host.layout();
    let _lock = host_lock::take(host)?;
    if !host.files().exists(&layout.journal(id)).map_err(TrashError::from)? {
        trash::drop_unused(host, id)?;
    }
    Ok(())
}

/// A folder without an agent: a command died before it moved anything, or after it had brought everything back.
fn collect_unfinished(pass: &mut Pass<'_>, id: &AgentId) -> Result<(), Interrupted> {
    let (host, layout) = (pass.host, pass.host.layout());
    let (files, trash) = (host.files(), layout.trash_of(id));
    if trash::is_unused(host, id).unwrap_or(false) && !files.exists(&layout.journal(id)).unwrap_or(true) {
        let reason = "its agent exists, and nothing of it is in there".to_owned();
        let path = trash.root().clone();
        let found = Found { kind: ResourceKind::Trash, path, agent: None, bytes: None, reason };
        return pass.remove(found, || drop_unused(host, id));
    }
    let modified = files.stat(trash.root()).ok().flatten().and_then(|stat| stat.modified);
    let is_old = modified.is_some_and(|modified| pass.now.duration_since(modified) > UNFINISHED_AGE);
    let has_journal = files.exists(&layout.journal(id)).unwrap_or(true);
    if !is_old || has_journal {
        return Ok(());
    }
    let path = trash.root().clone();
    let holds_work = match trash::read_manifest(host, &trash) {
        Ok(manifest) => manifest.moved_to().is_some_and(|to| files.exists(to).unwrap_or(true)),
        Err(TrashError::Files(error)) if error.is_missing() => false,
        Err(_) => true,
    };
    if holds_work || files.exists(&trash.work()).unwrap_or(true) {
        pass.keep(path, "it holds the work of an agent that is not in the trash".to_owned());
        return Ok(());
    }
    let reason = "a command that died left it empty".to_owned();
    let found = Found { kind: ResourceKind::Trash, path: path.clone(), agent: None, bytes: None, reason };
    pass.remove(found, || files.remove_tree(&path))
}
