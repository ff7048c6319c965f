//! What is to become of a work dir: looked at once, after the agent was stopped and before anything is changed.
//!
//! Processes: `git worktree list` for a linked worktree; more only for commits that could lose their last ref.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use mngr_host::files::{Change, FilesError};
use mngr_host::git::{Git, GitError, Location, WorktreeEntry, rescue_ref};
use mngr_host::glance::Glance;
use mngr_host::host::{Host, SurveyError};
use mngr_model::facts::{AgentFacts, Detail};
use mngr_model::journal::{Operation, Step};
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentId, AgentName, AgentRecord, HostPath};

use super::error::TrashError;
use super::manifest::{Checkout, HeldBranch, KeptReason, Manifest, Rescue, Work};
use super::store::{self, trash_beside};
use crate::{journal, own_dirs};

/// So many paths of neighbours are looked at together with the work dir; more of them before.
const FEW: usize = 16;

/// The other agents of a host: none of them may lose the ground it stands on.
pub(crate) struct Neighbours {
    agents: Vec<Neighbour>,
    /// Their paths with all links resolved, once somebody needed them.
    real: OnceLock<BTreeMap<HostPath, HostPath>>,
}

struct Neighbour {
    name: AgentName,
    work_dir: HostPath,
    repository: Option<HostPath>,
}

impl Neighbours {
    /// Every agent of the host but those that are being destroyed.
    pub(crate) fn of(host: &dyn Host, except: &BTreeSet<AgentId>) -> Result<Self, SurveyError> {
        let survey = host.survey(Detail::Basic)?;
        let others = Self::among(host, &survey.agents, except);
        Ok(others.and_those_in_the_making(host, &survey.journals, except))
    }

    /// And those that are just being created or brought back. A round trip where there are any.
    pub(crate) fn and_those_in_the_making(
        mut self,
        host: &dyn Host,
        journals: &[String],
        except: &BTreeSet<AgentId>,
    ) -> Self {
        if journals.is_empty() {
            return self;
        }
        let folder = host.layout().journals();
        let paths: Vec<HostPath> = journals.iter().map(|name| folder.join(name)).collect();
        // One that cannot be read has just ended. Whoever makes an agent looks itself, at the end, at what it stands on.
        let Ok(glance) = Glance::at(host.files(), &paths) else { return self };
        for path in &paths {
            let text = glance.read_if_there(path).ok().flatten().unwrap_or_default();
            let Some((header, steps)) = journal::read(&String::from_utf8_lossy(&text)) else { continue };
            if except.contains(&header.agent_id) {
                continue;
            }
            if header.operation == Operation::Undo {
                self.agents.extend(coming_back(host, &header.agent_id));
            }
            let made = steps.into_iter().filter_map(|step| match step {
                Step::Worktree { repository, path } if header.operation == Operation::Create => {
                    Some((repository, path))
                }
                _ => None,
            });
            self.agents.extend(made.map(|(repository, work_dir)| Neighbour {
                name: header.name.clone(),
                work_dir,
                repository: Some(repository),
            }));
        }
        // What was resolved before is not all any more.
        self.real = OnceLock::new();
        self
    }

    /// The same of a host whose agents were looked at just now.
    pub(crate) fn among(host: &dyn Host, agents: &[AgentFacts], except: &BTreeSet<AgentId>) -> Self {
        let records = agents.iter().map(|facts| &facts.record);
        let others: Vec<&AgentRecord> = records.filter(|record| !except.contains(&record.id)).collect();
        let neighbour = |record: &&AgentRecord| Neighbour {
            name: record.name.clone(),
            work_dir: record.work_dir.clone(),
            repository: record.workspace.as_ref().and_then(|workspace| workspace.repository.clone()),
        };
        let found = Self { agents: others.iter().map(neighbour).collect(), real: OnceLock::new() };
        let paths = found.paths();
        if paths.len() > FEW {
            // Once for all that go together.
            let real = real_paths(host, &paths);
            let _ = found.real.set(paths.into_iter().zip(real).collect());
        }
        found
    }

    /// The paths that have to be looked at to know who uses a folder.
    fn signs(&self) -> Vec<HostPath> {
        if self.real.get().is_some() { Vec::new() } else { self.paths() }
    }

    /// All paths; many agents share one repository.
    fn paths(&self) -> Vec<HostPath> {
        let paths = self.agents.iter().flat_map(|other| [Some(&other.work_dir), other.repository.as_ref()]);
        Vec::from_iter(paths.flatten().cloned().collect::<BTreeSet<_>>())
    }

    /// Those that work inside the folder, or in a checkout of a repository inside it.
    pub(super) fn inside(&self, host: &dyn Host, dir: &HostPath) -> Vec<AgentName> {
        match Glance::at(host.files(), &self.signs()) {
            Ok(glance) => self.users_of(host, &real_path(host, dir), &glance),
            // Who cannot be asked may be one.
            Err(_) => self.agents.iter().map(|other| other.name.clone()).collect(),
        }
    }

    /// Those that work inside the folder (its links resolved), or in a checkout of a repository inside it.
    fn users_of(&self, host: &dyn Host, dir: &HostPath, glance: &Glance<'_>) -> Vec<AgentName> {
        let real = self.real.get_or_init(|| {
            let seen = self.paths().into_iter().map(|path| (glance.real(&path), path));
            let (known, unknown): (Vec<_>, Vec<_>) = seen.partition(|(real, _)| real.is_some());
            let unknown: Vec<HostPath> = unknown.into_iter().map(|(_, path)| path).collect();
            let asked = real_paths(host, &unknown);
            let known = known.into_iter().filter_map(|(real, path)| Some((path, real?)));
            known.chain(unknown.into_iter().zip(asked)).collect()
        });
        let is_inside = |path: &HostPath| real.get(path).unwrap_or(path).is_within(dir);
        let is_user = |other: &&Neighbour| {
            is_inside(&other.work_dir) || other.repository.as_ref().is_some_and(is_inside)
        };
        self.agents.iter().filter(is_user).map(|other| other.name.clone()).collect()
    }
}

/// An agent that is being brought back.
fn coming_back(host: &dyn Host, id: &AgentId) -> Option<Neighbour> {
    let manifest = store::read_manifest(host, &host.layout().trash_of(id)).ok()?;
    let checkout = manifest.work.as_ref().and_then(Work::checkout);
    let repository = checkout.map(|checkout| checkout.repository.clone()).or(manifest.repository);
    Some(Neighbour { name: manifest.name, work_dir: manifest.work_dir, repository })
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
pub(crate) fn signs(host: &dyn Host, manifest: &Manifest, neighbours: &Neighbours) -> Vec<HostPath> {
    let git = Git::new(host, manifest.work_dir.clone());
    let mut signs = neighbours.signs();
    signs.extend(own_dirs::signs(&host.layout(), &manifest.id, &manifest.work_dir));
    signs.extend(git.signs_of_a_worktree(manifest.repository.as_ref()));
    signs.push(worktrees_of(&manifest.work_dir));
    signs
}

/// Where a repository in the work dir keeps what it knows of its worktrees.
fn worktrees_of(dir: &HostPath) -> HostPath {
    dir.join(".git/worktrees")
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
    let agents = neighbours.users_of(host, &real, glance);
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
        Fate::MovedFolder => {
            // It is home to worktrees: who has come, or stayed, since the agents were looked at must not lose it.
            if glance.exists(&worktrees_of(&manifest.work_dir))? {
                let now = Neighbours::of(host, &BTreeSet::from([manifest.id.clone()]))?;
                let agents = now.inside(host, &manifest.work_dir);
                if !agents.is_empty() {
                    return Ok(Work::Kept { reason: KeptReason::UsedBy { agents } });
                }
            }
            Work::Moved { to: place_for(host, manifest)?, checkout: None }
        }
        Fate::MovedWorktree { location, real } => {
            let repository = location.common_dir.clone();
            let git = Git::in_checkout(host, location);
            let (to, worktrees) = match git.list_worktrees_after(&probe(host, manifest)) {
                Ok(worktrees) => (host.layout().trash_of(&manifest.id).work(), worktrees),
                Err(GitError::Files(error)) => (place_without(host, manifest, error)?, git.list_worktrees()?),
                Err(error) => return Err(error.into()),
            };
            Work::Moved { to, checkout: look_at_checkout(&git, &worktrees, repository, &real, manifest)? }
        }
    })
}

/// The place in its repository of a work dir that was moved already, if it is a linked worktree of one that exists.
pub(super) fn checkout_at(
    host: &dyn Host,
    manifest: &Manifest,
    to: &HostPath,
) -> Result<Option<Checkout>, TrashError> {
    let Some(location) = Git::new(host, to.clone()).worktree()? else { return Ok(None) };
    let repository = location.common_dir.clone();
    let git = Git::in_checkout(host, location);
    Ok(look_at_checkout(&git, &git.list_worktrees()?, repository, &real_path(host, to), manifest)?)
}

/// What the repository still knows of a worktree whose folder somebody deleted.
pub(super) fn missing_checkout(host: &dyn Host, manifest: &Manifest) -> Result<Option<Checkout>, TrashError> {
    let Some(repository) = &manifest.repository else { return Ok(None) };
    let is_worktree = manifest.transfer == Some(TransferMode::GitWorktree);
    if !is_worktree || !host.files().exists(&repository.join("HEAD"))? {
        return Ok(None);
    }
    let real = real_path(host, &manifest.work_dir);
    let git = Git::new(host, repository.clone());
    Ok(look_at_checkout(&git, &git.list_worktrees()?, repository.clone(), &real, manifest)?)
}

fn look_at_checkout(
    git: &Git<'_>,
    worktrees: &[WorktreeEntry],
    repository: HostPath,
    real: &HostPath,
    manifest: &Manifest,
) -> Result<Option<Checkout>, GitError> {
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

/// Where the work dir goes: a folder that a rename reaches.
fn place_for(host: &dyn Host, manifest: &Manifest) -> Result<HostPath, TrashError> {
    match host.files().apply(&probe(host, manifest)) {
        Ok(()) => Ok(host.layout().trash_of(&manifest.id).work()),
        Err(error) => place_without(host, manifest, error),
    }
}

/// Renames an empty file the other way: what shows whether a rename reaches the trash.
fn probe(host: &dyn Host, manifest: &Manifest) -> Vec<Change> {
    let Some(parent) = manifest.work_dir.parent() else { return Vec::new() };
    let probe = probe_file(host, manifest);
    let landing = parent.join(&format!(".mngr-probe-{}", manifest.id));
    vec![
        Change::Touch(probe.clone()),
        Change::Rename { from: probe, to: landing.clone() },
        Change::RemoveFile(landing),
    ]
}

fn probe_file(host: &dyn Host, manifest: &Manifest) -> HostPath {
    host.layout().trash_of(&manifest.id).root().join(".mngr-probe")
}

/// Where the work dir goes when the probe did not come through.
fn place_without(host: &dyn Host, manifest: &Manifest, error: FilesError) -> Result<HostPath, TrashError> {
    host.files().remove_file(&probe_file(host, manifest))?;
    match manifest.work_dir.parent().filter(|_| error.is_cross_device()) {
        Some(parent) => Ok(trash_beside(&parent, &manifest.id)),
        None => Err(error.into()),
    }
}
