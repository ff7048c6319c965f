//! What will be made: decided before anything is made.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::git::{BranchState, Git, UncleanEntry, UncleanKind};
use mngr_host::host::Host;
use mngr_host::random;
use mngr_model::agent::Workspace;
use mngr_model::quote::excerpt;
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentName, AgentRecord, HostPath};

use super::error::CreateError;
use super::request::{CreateRequest, Project, UncleanFiles};
use super::source::{Source, on_host};
use crate::world::World;

/// The branch a checkout gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checkout {
    /// A branch that does not exist.
    New { name: String, base: String },
    /// A left-over branch of that name that holds nothing of its own; moved from `from` to `base`.
    Reused { name: String, from: String, base: String },
    /// A branch that exists and stays where it is.
    Existing { name: String },
}

impl Checkout {
    pub(super) fn branch(&self) -> &str {
        match self {
            Self::New { name, .. } | Self::Reused { name, .. } | Self::Existing { name } => name,
        }
    }
}

/// What the user should know about the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchNote {
    /// A left-over branch was taken again.
    Reused {
        /// Its name.
        branch: String,
    },
    /// The wanted name was taken by a branch with commits of its own.
    Suffixed {
        /// What was wanted.
        wanted: String,
        /// What was used.
        used: String,
    },
}

/// How the work dir will be made.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) transfer: TransferMode,
    pub(super) work_dir: HostPath,
    pub(super) checkout: Option<Checkout>,
    pub(super) base_commit: Option<String>,
    pub(super) base_branch: Option<String>,
    pub(super) repository: Option<HostPath>,
    pub(super) carries: Option<UncleanFiles>,
    /// New files of the source that nobody gave to git, and that the agent does not get.
    pub(super) left_behind: Vec<String>,
    pub(super) note: Option<BranchNote>,
}

impl Plan {
    pub(super) fn workspace(&self) -> Workspace {
        Workspace {
            transfer: self.transfer,
            is_generated: self.transfer != TransferMode::None,
            repository: self.repository.clone(),
            base_commit: self.base_commit.clone(),
            base_branch: self.base_branch.clone(),
        }
    }
}

/// How many names are tried for a branch.
const SUFFIXES: u32 = 1000;

/// Decides. A git process runs only for an explicit base and for a branch name that is not free.
pub(super) fn plan(
    world: &World,
    host: &dyn Host,
    source: &Source,
    name: &AgentName,
    request: &CreateRequest,
) -> Result<Plan, CreateError> {
    let is_here = source.original.is_none() && source.is_on(host);
    let target = request.target_path.as_deref().map(|path| match is_here {
        true => source.path.join(path).normalized(),
        false => on_host(world, host, path),
    });
    let transfer = match (is_here, request.transfer, &target) {
        (false, Some(TransferMode::None), Some(_)) => TransferMode::None,
        (false, Some(mode @ TransferMode::None), None) => {
            let reason = "works in a folder of the host, which has to be named, as in `foo@box:/path`";
            return Err(CreateError::Transfer { mode: mode.as_str(), reason });
        }
        _ => choose_transfer(source, target.as_ref().filter(|_| is_here), request.transfer)?,
    };
    let work_dir = match (transfer, target) {
        (TransferMode::None, Some(target)) if !is_here => target,
        (TransferMode::None, _) => source.path.clone(),
        (_, Some(target)) => target,
        (TransferMode::GitWorktree, None) => {
            let given = request.worktree_base.as_deref().map(|path| on_host(world, host, path));
            let base = given.unwrap_or_else(|| host.layout().worktrees());
            base.join(&format!("{name}-{}", random::hex32()))
        }
        (_, None) => host.layout().copies().join(&format!("{name}-{}", random::hex32())),
    };
    refuse_endless_copy(host, source, transfer, request.unclean)?;
    let mut plan = Plan {
        transfer,
        work_dir,
        checkout: None,
        base_commit: None,
        base_branch: None,
        repository: None,
        carries: None,
        left_behind: Vec::new(),
        note: None,
    };
    let Some(repo) = source.repo.as_ref().filter(|_| source.is_on(host)) else { return Ok(plan) };
    plan.base_commit = repo.head.oid.clone();
    plan.base_branch = repo.head.branch.clone();
    if matches!(transfer, TransferMode::None | TransferMode::Rsync) {
        // Nothing is carried; who asks for a clean folder all the same gets one or nothing.
        if request.unclean == UncleanFiles::Refuse {
            let _ = unclean_files(world, source, request, false)?;
        }
        return Ok(plan);
    }
    plan.repository = Some(repo.common_dir.clone());
    let choice = request.branch.resolve(name)?;
    (plan.carries, plan.left_behind) = unclean_files(world, source, request, choice.base.is_some())?;
    let head = repo.head_oid()?;
    let git = source.repository(host);
    match (choice.base, choice.new) {
        (Some(branch), None) => {
            plan.base_commit = Some(source.git().resolve(&branch)?);
            plan.checkout = Some(Checkout::Existing { name: branch });
        }
        (base, new) => {
            if let Some(base) = base.filter(|base| Some(base) != repo.head.branch.as_ref()) {
                plan.base_commit = Some(source.git().resolve(&base)?);
                plan.base_branch = Some(base);
            }
            let base = plan.base_commit.clone().unwrap_or_else(|| head.to_owned());
            let wanted = new.unwrap_or_else(|| name.to_string());
            let (checkout, note) = choose_branch(&git, source.branches.as_ref(), wanted, base, transfer)?;
            plan.checkout = Some(checkout);
            plan.note = note;
        }
    }
    Ok(plan)
}

fn choose_transfer(
    source: &Source,
    target: Option<&HostPath>,
    wanted: Option<TransferMode>,
) -> Result<TransferMode, CreateError> {
    let is_git = source.repo.is_some();
    let is_in_place = target.is_some_and(|target| *target == source.path.normalized());
    let refuse = |mode: TransferMode, reason| Err(CreateError::Transfer { mode: mode.as_str(), reason });
    match wanted {
        None if is_in_place => Ok(TransferMode::None),
        None if is_git => Ok(TransferMode::GitWorktree),
        None => Ok(TransferMode::Rsync),
        Some(mode @ TransferMode::None) if target.is_some() && !is_in_place => {
            refuse(mode, "works in the source itself, so it takes no other `--target-path`")
        }
        Some(mode @ TransferMode::Rsync) if is_git => {
            refuse(mode, "is for folders that are not git repositories; use `git-mirror` for a full copy")
        }
        Some(mode @ (TransferMode::GitWorktree | TransferMode::GitMirror)) if !is_git => {
            refuse(mode, "needs a git repository as its source")
        }
        Some(mode) if mode != TransferMode::None && is_in_place => {
            refuse(mode, "cannot copy a folder onto itself; use `none` to work in it")
        }
        Some(mode) => Ok(mode),
    }
}

/// The copy would find itself in what it copies.
fn refuse_endless_copy(
    host: &dyn Host,
    source: &Source,
    transfer: TransferMode,
    unclean: UncleanFiles,
) -> Result<(), CreateError> {
    if source.original.is_some() || !source.is_on(host) {
        return Ok(());
    }
    let copies_everything = transfer == TransferMode::Rsync
        || (transfer != TransferMode::None && unclean == UncleanFiles::Carry { ignored: true });
    let host_dir =
        host.files().canonical(&host.info().host_dir).unwrap_or_else(|_| host.info().host_dir.clone());
    let path = host.files().canonical(&source.path).unwrap_or_else(|_| source.path.clone());
    if copies_everything && host_dir.is_within(&path) {
        return Err(CreateError::SourceHoldsState { source_path: source.path.clone(), host_dir });
    }
    Ok(())
}

/// What becomes of files of the source that no commit has, and which of them the agent does not get unasked.
fn unclean_files(
    world: &World,
    source: &Source,
    request: &CreateRequest,
    has_explicit_base: bool,
) -> Result<(Option<UncleanFiles>, Vec<String>), CreateError> {
    let unclean = source.repo.as_ref().map(|repo| repo.unclean.as_slice()).unwrap_or_default();
    let asked = match request.unclean {
        UncleanFiles::AsUsual if source.parent.is_some() && !has_explicit_base => {
            UncleanFiles::Carry { ignored: false }
        }
        other => other,
    };
    let named = |entries: &[&UncleanEntry]| entries.iter().map(|entry| entry.path.to_string()).collect();
    match asked {
        // Work that starts from another commit does not start from these files.
        UncleanFiles::Refuse | UncleanFiles::AsUsual if has_explicit_base => Ok((None, Vec::new())),
        UncleanFiles::Refuse | UncleanFiles::AsUsual => {
            // The settings that `mngr config` writes are nobody's work.
            let own = format!(".{}/", world.root_name);
            let is_own = |entry: &&UncleanEntry| entry.path.as_bytes().starts_with(own.as_bytes());
            let unclean: Vec<&UncleanEntry> = unclean.iter().filter(|entry| !is_own(entry)).collect();
            let is_new = |entry: &&UncleanEntry| entry.kind == UncleanKind::Untracked;
            if unclean.is_empty() || (asked == UncleanFiles::AsUsual && unclean.iter().all(is_new)) {
                return Ok((None, named(&unclean)));
            }
            let first = &unclean[..unclean.len().min(5)];
            Err(CreateError::Unclean { count: unclean.len(), files: named(first) })
        }
        UncleanFiles::LeaveBehind => Ok((None, Vec::new())),
        carry @ UncleanFiles::Carry { ignored } => {
            Ok(((ignored || !unclean.is_empty()).then_some(carry), Vec::new()))
        }
    }
}

/// What is said of new files that the agent does not get.
pub(super) fn left_behind_note(files: &[String]) -> Option<String> {
    const SHOWN: usize = 3;
    let named = files.iter().take(SHOWN).map(|file| excerpt(file)).collect::<Vec<_>>().join(", ");
    let more = match files.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let are = if files.len() == 1 { "file is" } else { "files are" };
    (!files.is_empty()).then(|| {
        format!(
            "untracked {are} not in the agent's folder: {named}{more} (`--include-unclean` takes them along)"
        )
    })
}

/// A left-over branch is taken again when nothing is lost by it; otherwise the new one gets a number.
fn choose_branch(
    git: &Git<'_>,
    seen: Option<&BTreeSet<String>>,
    wanted: String,
    base: String,
    transfer: TransferMode,
) -> Result<(Checkout, Option<BranchNote>), CreateError> {
    for number in 1..=SUFFIXES {
        let name = if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") };
        let suffixed =
            (number > 1).then(|| BranchNote::Suffixed { wanted: wanted.clone(), used: name.clone() });
        let is_free = seen.is_some_and(|seen| !seen.contains(&name));
        let state = if is_free { BranchState::Missing } else { git.branch_state(&name, &base)? };
        match state {
            BranchState::Missing => return Ok((Checkout::New { name, base }, suffixed)),
            // In a mirror the branch is a copy: the source's own branch is not touched.
            BranchState::HoldsNothingOfItsOwn { oid } if transfer == TransferMode::GitWorktree => {
                let note = suffixed.or_else(|| Some(BranchNote::Reused { branch: name.clone() }));
                return Ok((Checkout::Reused { name, from: oid, base }, note));
            }
            BranchState::HoldsNothingOfItsOwn { .. } => return Ok((Checkout::New { name, base }, suffixed)),
            BranchState::HasOwnCommits { .. } | BranchState::CheckedOutAt { .. } => {}
        }
    }
    Err(CreateError::NoFreeName)
}

/// The labels of the new agent.
pub(super) fn labels(source: &Source, request: &CreateRequest) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    let project = match &request.project {
        Project::Named(name) => Some(name.clone()),
        Project::OfSource => source.project(),
    };
    if let Some(project) = project {
        labels.insert(AgentRecord::PROJECT_LABEL.to_owned(), project);
    }
    if let Some(origin) = &source.origin {
        labels.insert(AgentRecord::REMOTE_LABEL.to_owned(), origin.clone());
    }
    labels.extend(request.labels.iter().cloned());
    labels
}
