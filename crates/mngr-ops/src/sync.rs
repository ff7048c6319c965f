//! What `pull` and `push` share: commits and files between the place the user stands in and an agent's work dir.
//!
//! Both verbs are one movement seen from its two ends, so everything here speaks of `from` and `to`. Nothing is ever
//! dropped from a branch; a conflict is known before anything is touched; uncommitted work at `to` is only touched in
//! the way the user chose ([`UncommittedChanges`]).

mod branch;
mod checkout;
mod copy;
mod error;
mod obstacles;
mod overlay;
mod place;
mod plain;
mod report;
mod set_aside;
mod tree;
mod under_way;

#[cfg(test)]
pub(crate) mod testing;

use mngr_host::git::{MergeOutcome, MergePreview};
use mngr_model::journal::Operation;

use self::copy::Copy;
use self::set_aside::Over;
use crate::fleet::Agent;
use crate::journal;
use crate::stop::{self, StopOptions};
use crate::world::World;

pub use copy::Audience;
pub use error::SyncError;
pub use mngr_host::rsync::{Effect, Extraneous};
pub use report::{
    BranchChange, BranchReport, FileChange, FileChangeKind, FilesReport, MergeKind, MergeReport, SetAside,
    SetAsideState, SyncReport,
};

pub(crate) use branch::{
    Incoming, bring, merge_into_branch, merge_report, previewed, require_out_of_the_way, require_unchanged,
};
pub(crate) use checkout::{Checkout, Spot, agent_work_dir};
pub(crate) use overlay::Overlay;
pub(crate) use place::{Target, below, path_copy};
pub(crate) use plain::{PlainEnd, plain_copy};
pub(crate) use tree::tree_copy;
pub(crate) use under_way::{UnderWay, Way, end_copies_to};

/// What happens to uncommitted work at the destination that stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UncommittedChanges {
    /// Nothing is done at all.
    #[default]
    Fail,
    /// It is set aside with `git stash` and left there.
    Stash,
    /// It is set aside and brought back on top.
    Merge,
    /// It is overwritten. Changes of tracked files can still be found under the commit the report names.
    Clobber,
}

/// What happens to the agent once everything is where it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Afterwards {
    /// Nothing.
    #[default]
    Leave,
    /// It is stopped.
    Stop,
}

/// How to go about it, for both verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncOptions {
    /// What happens to uncommitted work at the destination.
    pub uncommitted: UncommittedChanges,
    /// Whether anything is changed. A dry run may bring commits into the repository, but no branch leads to them.
    pub effect: Effect,
    /// What happens to the agent afterwards.
    pub afterwards: Afterwards,
}

impl Default for SyncOptions {
    fn default() -> Self {
        Self {
            uncommitted: UncommittedChanges::default(),
            effect: Effect::Real,
            afterwards: Afterwards::default(),
        }
    }
}

impl SyncOptions {
    /// Whether nothing may be changed.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.effect == Effect::DryRun
    }
}

/// A merge into the branch that a checkout is on, and uncommitted work on top of it, worked out and not yet made.
pub(crate) struct CheckoutMerge<'a> {
    /// Where the commits and the uncommitted work come from.
    pub(crate) from: &'a Checkout<'a>,
    /// The checkout merged into.
    pub(crate) to: &'a Checkout<'a>,
    /// The commits.
    pub(crate) incoming: &'a Incoming,
    /// What the merge will come to.
    pub(crate) preview: &'a MergePreview,
    /// The uncommitted work.
    pub(crate) overlay: Option<&'a Overlay>,
}

impl CheckoutMerge<'_> {
    /// Makes it, with uncommitted work of the destination treated as the user chose.
    pub(crate) fn run(
        &self,
        choice: UncommittedChanges,
    ) -> Result<(MergeOutcome, Option<SetAside>), SyncError> {
        let overlay = self.overlay.filter(|overlay| !overlay.is_empty());
        if *self.preview == MergePreview::UpToDate && overlay.is_none() {
            return Ok((MergeOutcome::UpToDate, None));
        }
        let _lock = self.to.lock()?;
        let over = match overlay {
            Some(_) if choice != UncommittedChanges::Clobber => Over::Files,
            _ => Over::Commits,
        };
        set_aside::around(&self.to.git, choice, over, || {
            let outcome = branch::merge_into_head(self.to, self.incoming)?;
            if let Some(overlay) = overlay {
                overlay.put_on(self.from, self.to)?;
            }
            Ok(outcome)
        })
    }
}

/// What a plain copy came to.
#[derive(Debug, Clone)]
pub struct PlainCopied {
    /// The files that were copied, or would be.
    pub files: FilesReport,
    /// What became of uncommitted work that was in the way.
    pub uncommitted: Option<SetAside>,
}

/// Makes a copy and tells of it.
pub(crate) fn copied(agent: &Agent, copy: &Copy<'_>, options: &SyncOptions) -> Result<SyncReport, SyncError> {
    let (files, aside) = copy.run(options)?;
    let mut report = SyncReport::new(agent, options.is_dry_run());
    report.files = Some(files);
    report.uncommitted = aside;
    Ok(report)
}

/// Whether the agent was destroyed since it was found. What cannot be told is not so.
fn is_destroyed(agent: &Agent) -> bool {
    let record = agent.host.layout().agent(agent.id()).data();
    agent.host.files().exists(&record).is_ok_and(|exists| !exists)
}

/// Whether somebody is destroying the agent: what was being copied to it was ended then.
fn is_being_destroyed(agent: &Agent) -> bool {
    let journal = agent.host.layout().journal(agent.id());
    let text = agent.host.files().read_text(&journal).unwrap_or_default();
    journal::read(&text).is_some_and(|(header, _)| header.operation == Operation::Destroy)
}

/// What is sent to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentKind {
    /// Commits: git itself fails where their checkout is gone, so a look that costs a round trip is saved.
    Commits,
    /// Files.
    Files,
}

/// What came of sending something to an agent. No success, and no riddle, where it was destroyed meanwhile.
pub(crate) fn arrived<T>(
    agent: &Agent,
    effect: Effect,
    kind: SentKind,
    sent: Result<T, SyncError>,
) -> Result<T, SyncError> {
    let is_afar = agent.host.reach().is_some();
    let is_certain = match &sent {
        Ok(_) => effect == Effect::DryRun || (is_afar && kind == SentKind::Commits),
        Err(error) => error.is_interrupted(),
    };
    if !is_certain && (is_destroyed(agent) || (sent.is_err() && is_being_destroyed(agent))) {
        return Err(SyncError::Destroyed { name: agent.name().clone() });
    }
    sent
}

/// The last step of both verbs.
pub(crate) fn finish(
    world: &World,
    agent: &Agent,
    options: &SyncOptions,
    mut report: SyncReport,
) -> Result<SyncReport, SyncError> {
    if options.afterwards == Afterwards::Stop && !options.is_dry_run() {
        stop::stop(world, agent, &StopOptions::from_settings(&world.settings))?;
        report.is_stopped = true;
    }
    Ok(report)
}
