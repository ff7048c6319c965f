//! `push`: the user's branch or files to an agent's work dir. The mirror of `pull`.
//!
//! Commits are merged into the branch the agent is on, inside its work dir. Its uncommitted work stays; where it is in
//! the way, nothing is done.

use mngr_host::git::{AheadBehind, Git, MergePreview};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::address::LocationPath;

use crate::fleet::Agent;
use crate::sync::{
    self, BranchChange, BranchReport, Checkout, CheckoutMerge, Extraneous, Incoming, Overlay, SentKind, Spot,
    SyncError, SyncOptions, SyncReport, Target, UnderWay, Way,
};
use crate::visit::Visit;
use crate::world::World;

/// What is pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushWhat {
    /// The branch the user is on, merged into the agent's.
    Branch,
    /// The files of the user's checkout: what git has or would take, uncommitted or not.
    Files(Extraneous),
    /// The branch, and the user's uncommitted work on top.
    Full,
    /// One file or folder. Where to is relative to the agent's work dir or absolute; without it, a path in the user's
    /// repository goes to the same place below the work dir, and any other into the work dir under its own name.
    Path(Option<LocationPath>, Extraneous),
}

/// What to push, where from and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRequest {
    /// What.
    pub what: PushWhat,
    /// Where from: a folder in the repository meant, or the path itself; without it, where the user stands, and for a
    /// path the same place below the top of the user's repository.
    pub source: Option<LocationPath>,
    /// How.
    pub options: SyncOptions,
}

/// Pushes to an agent.
pub fn push(world: &World, agent: &Agent, request: &PushRequest) -> Result<SyncReport, SyncError> {
    let _visit = Visit::begin(world, &agent.host);
    let kind = match request.what {
        PushWhat::Branch => SentKind::Commits,
        PushWhat::Files(_) | PushWhat::Full | PushWhat::Path(..) => SentKind::Files,
    };
    let _under_way = UnderWay::begin(world, agent, Way::To, request.options.effect);
    let sent = bring_over(world, agent, request);
    let report = sync::arrived(agent, request.options.effect, kind, sent)?;
    sync::finish(world, agent, &request.options, report)
}

fn bring_over(world: &World, agent: &Agent, request: &PushRequest) -> Result<SyncReport, SyncError> {
    let (ours, theirs) = (world.client.as_ref(), agent.host.as_ref());
    let here = match &request.source {
        Some(path) => world.cwd.join(path.path()).normalized(),
        None => world.cwd.clone(),
    };
    match &request.what {
        PushWhat::Branch => Push::open(ours, agent, &here, request)?.branch(None),
        PushWhat::Full => {
            let push = Push::open(ours, agent, &here, request)?;
            if push.from.is_same_as(&push.to)? {
                return Err(SyncError::SamePlace { path: here });
            }
            let overlay = Overlay::of(&push.from)?;
            push.branch(Some(&overlay))
        }
        PushWhat::Files(extraneous) => {
            let work_dir = sync::agent_work_dir(agent)?;
            let to = Spot::new(theirs, work_dir.clone());
            let from = Spot::new(ours, top_of(ours, &here)?.unwrap_or(here));
            let copy = sync::tree_copy(from, to, *extraneous, world.reporter.as_ref())?;
            sync::copied(agent, &copy.inside(&work_dir), &request.options)
        }
        PushWhat::Path(place, extraneous) => {
            let work_dir = sync::agent_work_dir(agent)?;
            let (source, target) = path_ends(world, &work_dir, request.source.as_ref(), place.as_ref())?;
            let contents_only =
                request.source.as_ref().or(place.as_ref()).is_some_and(LocationPath::has_trailing_slash);
            let from = Spot::new(ours, source);
            let copy = sync::path_copy(from, contents_only, theirs, &target, *extraneous)?;
            sync::copied(agent, &copy.inside(&work_dir), &request.options)
        }
    }
}

/// The top of the repository that holds a folder.
fn top_of(host: &dyn Host, dir: &HostPath) -> Result<Option<HostPath>, SyncError> {
    Ok(Git::new(host, dir.clone()).locate()?.map(|location| location.root))
}

/// Which path is pushed and where to, from what was said of either.
fn path_ends(
    world: &World,
    work_dir: &HostPath,
    source: Option<&LocationPath>,
    place: Option<&LocationPath>,
) -> Result<(HostPath, Target), SyncError> {
    let top = top_of(world.client.as_ref(), &world.cwd)?.unwrap_or_else(|| world.cwd.clone());
    match (source, place) {
        (Some(source), Some(place)) => {
            Ok((world.cwd.join(source.path()).normalized(), Target::of_agent(work_dir, place)))
        }
        (Some(source), None) => {
            let source = world.cwd.join(source.path()).normalized();
            let target = match sync::below(&source, &top) {
                Some(relative) => {
                    let path = work_dir.join(relative).normalized();
                    Target::Exactly { root: work_dir.clone(), path }
                }
                None => Target::into_folder(work_dir.clone()),
            };
            Ok((source, target))
        }
        (None, place) => {
            let place = work_dir.join(place.map_or(".", LocationPath::path)).normalized();
            let Some(relative) = sync::below(&place, work_dir) else {
                return Err(SyncError::NoSource { path: place });
            };
            let source = top.join(relative).normalized();
            Ok((source, Target::Exactly { root: work_dir.clone(), path: place }))
        }
    }
}

/// A push of commits, both ends known.
struct Push<'a> {
    agent: &'a Agent,
    options: &'a SyncOptions,
    from: Checkout<'a>,
    to: Checkout<'a>,
}

impl<'a> Push<'a> {
    fn open(
        host: &'a dyn Host,
        agent: &'a Agent,
        here: &HostPath,
        request: &'a PushRequest,
    ) -> Result<Self, SyncError> {
        let to = Checkout::of_agent(agent)?;
        let from = Checkout::of_user(host, here)?;
        Ok(Self { agent, options: &request.options, from, to })
    }

    fn branch(&self, overlay: Option<&Overlay>) -> Result<SyncReport, SyncError> {
        let into = self.to.require_branch()?;
        let incoming = sync::bring(&self.from, &self.to)?;
        let preview = sync::previewed(&self.to, "HEAD", into, &incoming)?;
        if let Some(overlay) = overlay {
            overlay.require_fit(&self.to, &incoming, &preview)?;
            overlay.require_way(&self.to, &incoming, &preview)?;
            overlay.require_room(&self.from, &self.to, self.options)?;
        }
        if preview != MergePreview::UpToDate {
            self.to.git.refuse_during_merge()?;
            sync::require_out_of_the_way(&self.to, &incoming, &preview, self.options)?;
        }
        let mut report = SyncReport::new(self.agent, self.options.is_dry_run());
        // Before anything moves: afterwards there would be nothing to count.
        report.branch = Some(self.branch_report(&incoming, into)?);
        let outcome = if self.options.is_dry_run() {
            None
        } else {
            let merge = CheckoutMerge {
                from: &self.from,
                to: &self.to,
                incoming: &incoming,
                preview: &preview,
                overlay,
            };
            let (outcome, aside) = merge.run(self.options.uncommitted)?;
            report.uncommitted = aside;
            Some(outcome)
        };
        report.merge = Some(sync::merge_report(into, &preview, outcome));
        report.files = overlay.map(|overlay| overlay.report(&self.from, &self.to));
        Ok(report)
    }

    fn branch_report(&self, incoming: &Incoming, into: &str) -> Result<BranchReport, SyncError> {
        let AheadBehind { ahead, behind } = self.to.git.ahead_behind(&incoming.commit, "HEAD")?;
        Ok(BranchReport {
            name: incoming.branch.clone(),
            change: if incoming.is_shared { BranchChange::Shared } else { BranchChange::Merged },
            commit: incoming.commit.clone(),
            compared_to: Some(into.to_owned()),
            ahead,
            behind,
            merge_command: None,
        })
    }
}

#[cfg(test)]
mod tests;
