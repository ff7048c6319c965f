//! `pull`: an agent's branch or files to where the user stands.
//!
//! The branch comes under its own name and no file is touched, unless a merge is asked for. Processes for a worktree
//! agent: 5 git; for a copy: 10 at most; a merge adds 4.

use std::collections::BTreeSet;

use mngr_host::beneath::Beneath;
use mngr_host::git::{AheadBehind, BranchUpdate, Git, GitError, IgnoredFiles, MergeOutcome, MergePreview};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::address::LocationPath;
use mngr_model::quote::sh_quote;

use crate::fleet::Agent;
use crate::sync::{
    self, BranchChange, BranchReport, Checkout, CheckoutMerge, Extraneous, Incoming, Overlay, SetAside, Spot,
    SyncError, SyncOptions, SyncReport, Target, UnderWay, Way,
};
use crate::visit::Visit;
use crate::world::World;

/// What the agent's branch is merged into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeInto {
    /// Nothing: it is only brought.
    Nothing,
    /// The branch the user is on.
    Current,
    /// The branch the user is on, if the agent's is still at this commit: what was looked at is what is merged.
    CurrentAt(String),
    /// This one; without a checkout, unless the user is on it.
    Branch(String),
}

/// What is pulled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullWhat {
    /// The branch the agent is on.
    Branch(MergeInto),
    /// The files of its work dir: what git has or would take, uncommitted or not.
    Files(Extraneous),
    /// The branch, merged into the current one, and the agent's uncommitted work on top.
    Full,
    /// One file or folder, relative to its work dir or absolute.
    Path(LocationPath, Extraneous),
}

/// What to pull, where to and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// What.
    pub what: PullWhat,
    /// Where to: a folder in the repository meant, or the destination of a path; without it, where the user stands.
    /// A path goes to the same place below the top of the user's repository, or under its own name to where the user
    /// stands if it is not below the work dir.
    pub destination: Option<LocationPath>,
    /// How.
    pub options: SyncOptions,
}

/// Pulls from an agent.
pub fn pull(world: &World, agent: &Agent, request: &PullRequest) -> Result<SyncReport, SyncError> {
    let _visit = Visit::begin(world, &agent.host);
    let ours = world.client.as_ref();
    let here = match &request.destination {
        Some(path) => world.cwd.join(path.path()).normalized(),
        None => world.cwd.clone(),
    };
    // A link in a repository may have come from an agent: it must not decide where the next files go.
    if !matches!(request.what, PullWhat::Path(..)) {
        ours.files().refuse_links(&Beneath::typed(&here), &BTreeSet::new())?;
    }
    let _under_way = UnderWay::begin(world, agent, Way::From, request.options.effect);
    let report = match &request.what {
        PullWhat::Branch(merge) => Pull::open(ours, agent, &here, request)?.branch(merge, None)?,
        PullWhat::Full => {
            let pull = Pull::open(ours, agent, &here, request)?;
            if pull.from.is_same_as(&pull.to)? {
                return Err(SyncError::SamePlace { path: here });
            }
            let overlay = Overlay::of(&pull.from)?;
            pull.branch(&MergeInto::Current, Some(&overlay))?
        }
        PullWhat::Files(extraneous) => {
            let from = Spot::new(agent.host.as_ref(), sync::agent_work_dir(agent)?);
            let to = Spot::new(ours, here);
            let copy = sync::tree_copy(from, to, *extraneous, world.reporter.as_ref())?;
            sync::copied(agent, &copy, &request.options)?
        }
        PullWhat::Path(path, extraneous) => {
            let work_dir = sync::agent_work_dir(agent)?;
            let source = work_dir.join(path.path()).normalized();
            let target = match &request.destination {
                Some(destination) => Target::typed(&world.cwd, destination),
                None => default_target(world, &source, &work_dir)?,
            };
            let from = Spot::new(agent.host.as_ref(), source);
            let copy = sync::path_copy(from, path.has_trailing_slash(), ours, &target, *extraneous)?;
            sync::copied(agent, &copy, &request.options)?
        }
    };
    sync::finish(world, agent, &request.options, report)
}

/// Where a path goes when nobody said.
fn default_target(world: &World, source: &HostPath, work_dir: &HostPath) -> Result<Target, SyncError> {
    let Some(relative) = sync::below(source, work_dir) else {
        return Ok(Target::into_folder(world.cwd.clone()));
    };
    let top = match Git::new(world.client.as_ref(), world.cwd.clone()).locate()? {
        Some(location) => location.root,
        None => world.cwd.clone(),
    };
    let path = top.join(relative).normalized();
    Ok(Target::Exactly { root: top, path })
}

/// A pull of commits, both ends known.
struct Pull<'a> {
    agent: &'a Agent,
    options: &'a SyncOptions,
    from: Checkout<'a>,
    to: Checkout<'a>,
}

impl<'a> Pull<'a> {
    fn open(
        host: &'a dyn Host,
        agent: &'a Agent,
        here: &HostPath,
        request: &'a PullRequest,
    ) -> Result<Self, SyncError> {
        let from = Checkout::of_agent(agent)?;
        let to = Checkout::of_user(host, here)?;
        Ok(Self { agent, options: &request.options, from, to })
    }

    fn branch(&self, merge: &MergeInto, overlay: Option<&Overlay>) -> Result<SyncReport, SyncError> {
        let incoming = sync::bring(&self.from, &self.to)?;
        let target = self.target(merge, &incoming)?;
        let update = self.update_of_own_name(&incoming, target.as_ref())?;
        let preview = match &target {
            Some(target) => Some(self.checked_preview(target, &incoming, overlay)?),
            None => None,
        };
        // Before anything moves: afterwards there would be nothing to count.
        let branch = self.branch_report(&incoming, update.as_ref(), target.as_ref())?;
        let mut report = SyncReport::new(self.agent, self.options.is_dry_run());
        if let (Some(target), Some(preview)) = (&target, &preview) {
            let outcome = if self.options.is_dry_run() {
                None
            } else {
                let (outcome, aside) = self.merge(target, &incoming, preview, overlay)?;
                report.uncommitted = aside;
                Some(outcome)
            };
            report.merge = Some(sync::merge_report(&target.name, preview, outcome));
            report.files = overlay.map(|overlay| overlay.report(&self.from, &self.to));
        }
        if let Some(update) = update.filter(|_| !self.options.is_dry_run()) {
            self.to.git.apply_update(&incoming.branch, &update)?;
        }
        report.branch = Some(branch);
        if overlay.is_none() && !self.from.is_same_as(&self.to)? {
            let left = self.from.git.list_unclean(IgnoredFiles::Leave)?;
            report.not_committed = left.iter().map(|entry| entry.path.to_string()).collect();
        }
        Ok(report)
    }

    /// The branch to be merged into; `None` when nothing is merged.
    fn target(&self, merge: &MergeInto, incoming: &Incoming) -> Result<Option<MergeTarget>, SyncError> {
        let current = self.to.branch.as_deref();
        match merge {
            MergeInto::Nothing => Ok(None),
            MergeInto::CurrentAt(commit) if *commit != incoming.commit => {
                Err(SyncError::Moved { branch: incoming.branch.clone(), commit: commit.clone() })
            }
            MergeInto::Current | MergeInto::CurrentAt(_) => {
                Ok(Some(MergeTarget { name: self.to.require_branch()?.to_owned(), is_current: true }))
            }
            MergeInto::Branch(name) if current == Some(name) => {
                Ok(Some(MergeTarget { name: name.clone(), is_current: true }))
            }
            // Bringing a branch under its own name is all that merging it into itself could do.
            MergeInto::Branch(name) if *name == incoming.branch => Ok(None),
            MergeInto::Branch(name) => Ok(Some(MergeTarget { name: name.clone(), is_current: false })),
        }
    }

    /// What happens to the branch of the agent's branch's name here; `None` when it need not be touched.
    fn update_of_own_name(
        &self,
        incoming: &Incoming,
        target: Option<&MergeTarget>,
    ) -> Result<Option<BranchUpdate>, SyncError> {
        let is_merged_into = target.is_some_and(|target| target.name == incoming.branch);
        if incoming.is_shared || is_merged_into {
            return Ok(None);
        }
        let repository = || self.to.root().clone();
        let update =
            self.to.git.plan_update(&incoming.branch, &incoming.commit).map_err(|error| match error {
                GitError::NotFastForward { branch, ahead, behind } => {
                    SyncError::Diverged { branch, repository: repository(), ahead, behind }
                }
                GitError::BranchCheckedOut { branch, at } => SyncError::CheckedOut { branch, at },
                other => other.into(),
            })?;
        if matches!(update, BranchUpdate::Create { .. }) && !self.is_related(&incoming.commit)? {
            let branch = incoming.branch.clone();
            return Err(SyncError::OtherRepository { branch, repository: repository() });
        }
        Ok(Some(update))
    }

    /// Whether the commit belongs to the history of the user's repository; to an empty one everything does.
    fn is_related(&self, commit: &str) -> Result<bool, SyncError> {
        match self.to.git.resolve("HEAD") {
            Ok(head) => Ok(self.to.git.have_common_commit(&head, commit)?),
            Err(GitError::NoCommits { .. }) => Ok(true),
            Err(other) => Err(other.into()),
        }
    }

    /// What the merge would come to, everything that could stop it found out.
    fn checked_preview(
        &self,
        target: &MergeTarget,
        incoming: &Incoming,
        overlay: Option<&Overlay>,
    ) -> Result<MergePreview, SyncError> {
        let ours = self.to.git.resolve(&target.revision()).map_err(|error| match error {
            GitError::UnknownRevision { .. } => {
                SyncError::NoSuchBranch { branch: target.name.clone(), repository: self.to.root().clone() }
            }
            other => other.into(),
        })?;
        let preview = sync::previewed(&self.to, &ours, &target.name, incoming)?;
        if let Some(overlay) = overlay {
            overlay.require_fit(&self.to, incoming, &preview)?;
            overlay.require_way(&self.to, incoming, &preview)?;
            overlay.require_room(&self.from, &self.to, self.options)?;
        }
        if target.is_current && preview != MergePreview::UpToDate {
            self.to.git.refuse_during_merge()?;
            sync::require_unchanged(&self.to, self.options)?;
        }
        Ok(preview)
    }

    fn merge(
        &self,
        target: &MergeTarget,
        incoming: &Incoming,
        preview: &MergePreview,
        overlay: Option<&Overlay>,
    ) -> Result<(MergeOutcome, Option<SetAside>), SyncError> {
        if !target.is_current {
            return Ok((sync::merge_into_branch(&self.to, &target.name, incoming)?, None));
        }
        let merge = CheckoutMerge { from: &self.from, to: &self.to, incoming, preview, overlay };
        merge.run(self.options.uncommitted)
    }

    fn branch_report(
        &self,
        incoming: &Incoming,
        update: Option<&BranchUpdate>,
        target: Option<&MergeTarget>,
    ) -> Result<BranchReport, SyncError> {
        let change = match update {
            None if incoming.is_shared => BranchChange::Shared,
            None => BranchChange::Merged,
            Some(BranchUpdate::Create { .. }) => BranchChange::Created,
            Some(BranchUpdate::FastForward { .. }) => BranchChange::FastForwarded,
            Some(BranchUpdate::UpToDate { .. }) => BranchChange::UpToDate,
        };
        let (revision, name) = match target {
            Some(target) => (target.revision(), target.name.clone()),
            None => ("HEAD".to_owned(), self.to.branch.clone().unwrap_or_else(|| "HEAD".to_owned())),
        };
        let (compared_to, ahead, behind) = match self.to.git.resolve(&revision) {
            Ok(ours) => {
                let AheadBehind { ahead, behind } = self.to.git.ahead_behind(&incoming.commit, &ours)?;
                (Some(name), ahead, behind)
            }
            // A repository without a commit has nothing to compare with.
            Err(GitError::NoCommits { .. }) => (None, 0, 0),
            Err(other) => return Err(other.into()),
        };
        let is_open = target.is_none() && ahead > 0;
        Ok(BranchReport {
            name: incoming.branch.clone(),
            change,
            commit: incoming.commit.clone(),
            compared_to,
            ahead,
            behind,
            merge_command: is_open.then(|| format!("git merge {}", sh_quote(&incoming.branch))),
        })
    }
}

struct MergeTarget {
    name: String,
    is_current: bool,
}

impl MergeTarget {
    fn revision(&self) -> String {
        if self.is_current { "HEAD".to_owned() } else { format!("refs/heads/{}", self.name) }
    }
}

#[cfg(test)]
mod tests;
