//! What is to become of a work dir: looked at once, after the agent was stopped and before anything is changed.
//!
//! Processes: `git worktree list` for a linked worktree; more only for commits that could lose their last ref.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::files::Change;
use mngr_host::git::{Git, GitError, Location, rescue_ref};
use mngr_host::glance::Glance;
use mngr_host::host::{Host, SurveyError};
use mngr_model::facts::{AgentFacts, Detail};
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentId, AgentName, AgentRecord, HostPath};

use super::error::TrashError;
use super::manifest::{Checkout, HeldBranch, KeptReason, Manifest, Rescue, Work};
use super::store::trash_beside;
use crate::own_dirs;

/// The other agents of a host: none of them may lose the ground it stands on.
pub(crate) struct Neighbours(Vec<Neighbour>);

struct Neighbour {
    name: AgentName,
    work_dir: HostPath,
    repository: Option<HostPath>,
}

impl Neighbours {
    /// Every agent of the host but those that are being destroyed.
    pub(crate) fn of(host: &dyn Host, except: &BTreeSet<AgentId>) -> Result<Self, SurveyError> {
        Ok(Self::among(host, &host.survey(Detail::Basic)?.agents, except))
    }

    /// The same of a host whose agents were looked at just now.
    pub(crate) fn among(host: &dyn Host, agents: &[AgentFacts], except: &BTreeSet<AgentId>) -> Self {
        let records = agents.iter().map(|facts| &facts.record);
        let others: Vec<&AgentRecord> = records.filter(|record| !except.contains(&record.id)).collect();
        let repository = |record: &AgentRecord| {
            record.workspace.as_ref().and_then(|workspace| workspace.repository.clone())
        };
        // Many share one repository.
        let paths: BTreeSet<HostPath> = others
            .iter()
            .flat_map(|record| [Some(record.work_dir.clone()), repository(record)])
            .flatten()
            .collect();
        let paths = Vec::from_iter(paths);
        let real: BTreeMap<&HostPath, HostPath> = paths.iter().zip(real_paths(host, &paths)).collect();
        let real_of = |path: HostPath| real.get(&path).cloned().unwrap_or(path);
        Self(
            others
                .iter()
                .map(|record| Neighbour {
                    name: record.name.clone(),
                    work_dir: real_of(record.work_dir.clone()),
                    repository: repository(record).map(real_of),
                })
                .collect(),
        )
    }

    /// Those that work inside the folder (its links resolved), or in a checkout of a repository inside it.
    fn users_of(&self, dir: &HostPath) -> Vec<AgentName> {
        let is_user = |other: &&Neighbour| {
            other.work_dir.is_within(dir) || other.repository.as_ref().is_some_and(|path| path.is_within(dir))
        };
        self.0.iter().filter(is_user).map(|other| other.name.clone()).collect()
    }
}

/// What becomes of a work dir, as far as a look tells without asking git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays.
    Kept(KeptReason),
    /// It is gone already.
    Missing,
    /// It is moved: a linked worktree of a repository that exists.
    MovedWorktree {
        /// Where everything is.
        location: Location,
        /// The folder with its links resolved.
        real: HostPath,
    },
    /// It is moved: any other folder.
    MovedFolder,
}

/// What has to be looked at to know what becomes of a work dir.
pub(crate) fn signs(host: &dyn Host, manifest: &Manifest) -> Vec<HostPath> {
    let git = Git::new(host, manifest.work_dir.clone());
    let mut signs = own_dirs::signs(&host.layout(), &manifest.id, &manifest.work_dir);
    signs.extend(git.signs_of_a_worktree(manifest.repository.as_ref()));
    signs
}

/// Looks at the work dir, as far as it can be by a glance at [`signs`]. Spawns and changes nothing.
pub(crate) fn fate(
    host: &dyn Host,
    manifest: &Manifest,
    neighbours: &Neighbours,
    glance: &Glance<'_>,
) -> Result<Fate, TrashError> {
    let dir = &manifest.work_dir;
    if !manifest.is_generated {
        return Ok(Fate::Kept(KeptReason::InPlace));
    }
    if !glance.exists(dir)? {
        return Ok(Fate::Missing);
    }
    if !own_dirs::is_ours(glance, &host.layout(), &manifest.id, dir)? {
        return Ok(Fate::Kept(KeptReason::NotOurs));
    }
    let worktree = Git::new(host, dir.clone()).worktree_in(glance)?;
    let was_worktree = worktree.is_some() || manifest.transfer == Some(TransferMode::GitWorktree);
    if was_worktree && !manifest.request.allow_worktree_removal {
        return Ok(Fate::Kept(KeptReason::NotAllowed));
    }
    let real = glance.real(dir).unwrap_or_else(|| real_path(host, dir));
    let agents = neighbours.users_of(&real);
    if !agents.is_empty() {
        return Ok(Fate::Kept(KeptReason::UsedBy { agents }));
    }
    Ok(worktree.map_or(Fate::MovedFolder, |location| Fate::MovedWorktree { location, real }))
}

/// Decides what becomes of the work dir and notes everything needed to bring it back.
pub(crate) fn examine(
    host: &dyn Host,
    manifest: &Manifest,
    neighbours: &Neighbours,
    glance: &Glance<'_>,
) -> Result<Work, TrashError> {
    Ok(match fate(host, manifest, neighbours, glance)? {
        Fate::Kept(reason) => Work::Kept { reason },
        Fate::Missing => Work::Missing { checkout: missing_checkout(host, manifest)? },
        Fate::MovedFolder => Work::Moved { to: place_for(host, manifest)?, checkout: None },
        Fate::MovedWorktree { location, real } => {
            let repository = location.common_dir.clone();
            let checkout = look_at_checkout(&Git::in_checkout(host, location), repository, &real, manifest)?;
            Work::Moved { to: place_for(host, manifest)?, checkout }
        }
    })
}

/// What the repository still knows of a worktree whose folder somebody deleted.
fn missing_checkout(host: &dyn Host, manifest: &Manifest) -> Result<Option<Checkout>, TrashError> {
    let Some(repository) = &manifest.repository else { return Ok(None) };
    let is_worktree = manifest.transfer == Some(TransferMode::GitWorktree);
    if !is_worktree || !host.files().exists(&repository.join("HEAD"))? {
        return Ok(None);
    }
    let real = real_path(host, &manifest.work_dir);
    Ok(look_at_checkout(&Git::new(host, repository.clone()), repository.clone(), &real, manifest)?)
}

fn look_at_checkout(
    git: &Git<'_>,
    repository: HostPath,
    real: &HostPath,
    manifest: &Manifest,
) -> Result<Option<Checkout>, GitError> {
    let worktrees = git.list_worktrees()?;
    let Some(own) = worktrees.iter().find(|entry| entry.path == real.as_str()) else { return Ok(None) };
    let mut head = own.head.clone().filter(|oid| oid.bytes().any(|digit| digit != b'0'));
    let has_branch = own.branch.is_some() && head.is_some();
    if head.is_none() && !own.is_prunable {
        // Before the first commit, or somebody deleted the branch: then its commits are only in the reflog.
        head = git.last_recorded_head()?;
    }
    let inside = |path: &str| HostPath::new(path).is_within(real) && path != real.as_str();
    let nested = worktrees.iter().filter(|entry| inside(&entry.path));
    let mut checkout = Checkout {
        repository,
        branch: own.branch.clone(),
        head,
        rescues: Vec::new(),
        removed_branch: None,
        nested: nested.map(|entry| entry.path[real.as_str().len() + 1..].to_owned()).collect(),
    };
    if manifest.request.remove_created_branch {
        checkout.removed_branch = created_branch(git, manifest, &checkout, has_branch)?;
    }
    checkout.rescues = rescues(git, &manifest.id, &checkout, has_branch)?;
    Ok(Some(checkout))
}

/// The branch mngr made for the agent, where it is now.
fn created_branch(
    git: &Git<'_>,
    manifest: &Manifest,
    checkout: &Checkout,
    has_branch: bool,
) -> Result<Option<HeldBranch>, GitError> {
    let Some(name) = manifest.created_branch.clone() else { return Ok(None) };
    if checkout.branch.as_ref() == Some(&name) {
        return Ok(checkout.head.clone().filter(|_| has_branch).map(|oid| HeldBranch { name, oid }));
    }
    match git.resolve(&format!("refs/heads/{name}")) {
        Ok(oid) => Ok(Some(HeldBranch { name, oid })),
        Err(GitError::UnknownRevision { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The refs needed so that no commit loses its last one.
fn rescues(
    git: &Git<'_>,
    id: &AgentId,
    checkout: &Checkout,
    has_branch: bool,
) -> Result<Vec<Rescue>, GitError> {
    let removed = checkout.removed_branch.as_ref();
    let is_removed = |branch: &str| removed.is_some_and(|removed| removed.name == branch);
    let stays_on_branch = has_branch && checkout.branch.as_deref().is_some_and(|branch| !is_removed(branch));
    let mut rescues = Vec::new();
    if let Some(oid) = checkout.head.as_ref().filter(|_| !stays_on_branch)
        && needs_rescue(git, oid, removed)?
    {
        rescues.push(Rescue { name: rescue_ref(id), oid: oid.clone() });
    }
    if let Some(HeldBranch { oid, .. }) =
        removed.filter(|removed| Some(&removed.oid) != checkout.head.as_ref())
        && needs_rescue(git, oid, removed)?
    {
        rescues.push(Rescue { name: format!("{}-branch", rescue_ref(id)), oid: oid.clone() });
    }
    Ok(rescues)
}

/// Whether a commit would be held by no ref. Branches beside the removed one do not count: they belong to other agents
/// that may be destroyed in the same moment, each relying on the other's branch.
fn needs_rescue(git: &Git<'_>, oid: &str, removed: Option<&HeldBranch>) -> Result<bool, GitError> {
    let Some(removed) = removed else { return Ok(git.commits_not_held_elsewhere(oid, &[])? > 0) };
    let Some((folder, _)) = removed.name.rsplit_once('/') else { return Ok(true) };
    Ok(git.commits_not_held_elsewhere(oid, &[&format!("refs/heads/{folder}/*")])? > 0)
}

/// The path as git lists it.
fn real_path(host: &dyn Host, path: &HostPath) -> HostPath {
    real_paths(host, std::slice::from_ref(path)).pop().unwrap_or_else(|| path.clone())
}

/// Paths as git lists them. Of a missing folder only the one above can be resolved. At most two round trips.
fn real_paths(host: &dyn Host, paths: &[HostPath]) -> Vec<HostPath> {
    let resolve =
        |paths: &[HostPath]| host.files().canonical_all(paths).unwrap_or_else(|_| vec![None; paths.len()]);
    let mut real = resolve(paths);
    let missing: Vec<usize> = (0..paths.len()).filter(|at| real[*at].is_none()).collect();
    let above: Vec<HostPath> =
        missing.iter().map(|at| paths[*at].parent().unwrap_or_else(|| paths[*at].clone())).collect();
    for (at, above) in missing.into_iter().zip(resolve(&above)) {
        real[at] = above.zip(paths[at].file_name()).map(|(above, name)| above.join(name));
    }
    real.into_iter().zip(paths).map(|(real, path)| real.unwrap_or_else(|| path.clone())).collect()
}

/// Where the work dir goes: a folder that a rename reaches, found by renaming an empty file the other way.
fn place_for(host: &dyn Host, manifest: &Manifest) -> Result<HostPath, TrashError> {
    let (files, trash) = (host.files(), host.layout().trash_of(&manifest.id));
    let Some(parent) = manifest.work_dir.parent() else { return Ok(trash.work()) };
    let (probe, landing) =
        (trash.root().join(".mngr-probe"), parent.join(&format!(".mngr-probe-{}", manifest.id)));
    let there_and_gone = [
        Change::Touch(probe.clone()),
        Change::Rename { from: probe.clone(), to: landing.clone() },
        Change::RemoveFile(landing),
    ];
    match files.apply(&there_and_gone) {
        Ok(()) => Ok(trash.work()),
        Err(error) => {
            files.remove_file(&probe)?;
            if error.is_cross_device() {
                return Ok(trash_beside(&parent, &manifest.id));
            }
            Err(error.into())
        }
    }
}
