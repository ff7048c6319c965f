//! Copying one agent, which may be at work meanwhile, into a folder of its host.
//!
//! The copy is compared with the original afterwards. If files changed under it, it is made again; what an agent writes
//! all the time is kept as it was met, and named.

use mngr_host::fault;
use mngr_host::files::FileKind;
use mngr_host::git::{Difference, Git, IgnoredFiles, StartPoint};
use mngr_host::host::Host;
use mngr_host::rsync::{Endpoint, Rsync};
use mngr_host::{interrupt, random};
use mngr_model::HostPath;

use super::error::SnapshotError;
use super::manifest::{Form, Manifest, VERSION};
use super::store;
use crate::fleet::Agent;
use crate::scratch::Scratch;
use crate::world::World;

/// How often a copy is made before it is taken as it is.
const TRIES: u32 = 3;
/// How many files that would not hold still are named.
const NAMED: usize = 5;

/// A copy of an agent.
pub(super) struct Copied {
    pub(super) manifest: Manifest,
    /// What the user should know.
    pub(super) note: Option<String>,
}

/// What was seen of the files before they were copied.
struct Seen {
    form: Form,
    branch: Option<String>,
    head: Option<String>,
    /// What the copy is a checkout of.
    repository: Option<HostPath>,
}

/// Copies an agent. Whole or not at all.
pub(super) fn copy(world: &World, agent: &Agent, name: &str) -> Result<Copied, SnapshotError> {
    let (host, record) = (agent.host.as_ref(), &agent.facts.record);
    let dir = &record.work_dir;
    if !host.files().exists(&dir.join("."))? {
        return Err(SnapshotError::NoWorkDir { name: record.name.clone(), dir: dir.clone() });
    }
    let host_dir = host.files().canonical(host.layout().root())?;
    if host_dir.is_within(&host.files().canonical(dir)?) {
        return Err(SnapshotError::HoldsState { dir: dir.clone() });
    }
    let mut tries_left = TRIES;
    loop {
        tries_left -= 1;
        interrupt::check()?;
        let id = format!("{}{}", store::ID_PREFIX, random::hex32());
        let mut scratch = Scratch::make(world, &agent.host, &host.layout().snapshots(), &id, &record.name)?;
        fault::point();
        let seen = look(agent)?;
        if let Some(repository) = &seen.repository {
            scratch.checks_out(repository)?;
        }
        let state = store::state(scratch.folder());
        host.files().make_folder(&state)?;
        let own = host.layout().agent(&record.id);
        Rsync::new(Endpoint::Contents(own.root().clone()), Endpoint::Contents(state)).run(host)?;
        fault::point();
        files(host, dir, &scratch.files(), &seen)?;
        fault::point();
        let unsteady = differences(host, dir, &scratch.files(), seen.form)?;
        if !unsteady.is_empty() && tries_left > 0 {
            continue;
        }
        let manifest = Manifest {
            version: VERSION,
            id,
            name: name.to_owned(),
            created_at: world.clock.now(),
            form: seen.form,
            branch: seen.branch,
            bytes: host.files().tree_size(scratch.folder())?,
            agent: record.clone(),
        };
        store::write(host, scratch.folder(), &manifest)?;
        fault::point();
        scratch.keep();
        let named = unsteady.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let note = (!unsteady.is_empty())
            .then(|| format!("`{}` was at work: {named} changed while they were copied", record.name));
        return Ok(Copied { manifest, note });
    }
}

fn look(agent: &Agent) -> Result<Seen, SnapshotError> {
    let (host, record) = (agent.host.as_ref(), &agent.facts.record);
    let git = Git::new(host, record.work_dir.clone());
    let location = git.locate()?.filter(|location| location.root == record.work_dir.normalized());
    let Some(location) = location else {
        return Ok(Seen { form: Form::Folder, branch: None, head: None, repository: None });
    };
    let facts = git.inspect()?;
    let is_generated = record.workspace.as_ref().is_some_and(|workspace| workspace.is_generated);
    // A repository that goes away with the agent must be kept itself.
    let form = match git.worktree()?.is_some() || !is_generated {
        _ if facts.head.oid.is_none() => Form::Folder,
        true => Form::Worktree,
        false => Form::Repository,
    };
    let repository = (form == Form::Worktree).then_some(location.common_dir);
    Ok(Seen { form, branch: facts.head.branch, head: facts.head.oid, repository })
}

fn files(host: &dyn Host, dir: &HostPath, to: &HostPath, seen: &Seen) -> Result<(), SnapshotError> {
    let (git, copy) = (Git::new(host, dir.clone()), Git::new(host, to.clone()));
    let head = seen.head.as_deref().unwrap_or("HEAD");
    match seen.form {
        Form::Folder => {
            host.files().make_folder(to)?;
            whole_folder(host, dir, to)?.run(host)?;
            return Ok(());
        }
        Form::Worktree => git.add_worktree(to, &StartPoint::Commit(head))?,
        Form::Repository => git.mirror_into(&copy, &StartPoint::Commit(head))?,
    }
    git.copy_unclean_to(&copy, IgnoredFiles::Include)?;
    Ok(())
}

/// What copies everything in a folder. A file `.git` leads to what belongs to this checkout alone: a copy that had it would
/// change the original.
fn whole_folder(host: &dyn Host, dir: &HostPath, to: &HostPath) -> Result<Rsync, SnapshotError> {
    let copy = Rsync::new(Endpoint::Contents(dir.clone()), Endpoint::Contents(to.clone()));
    let is_linked = host.files().stat(&dir.join(".git"))?.is_some_and(|stat| stat.kind == FileKind::File);
    Ok(if is_linked { copy.exclude("/.git") } else { copy })
}

fn differences(
    host: &dyn Host,
    dir: &HostPath,
    copy: &HostPath,
    form: Form,
) -> Result<Vec<String>, SnapshotError> {
    if form == Form::Folder {
        let changes = whole_folder(host, dir, copy)?.changes(host)?;
        return Ok(changes
            .into_iter()
            .map(|change| format!("`{}`", String::from_utf8_lossy(&change.path)))
            .collect());
    }
    let copy = Git::new(host, copy.clone());
    let found = Git::new(host, dir.clone()).differences_to(&copy, IgnoredFiles::Include)?;
    Ok(found.iter().map(Difference::to_string).collect())
}
