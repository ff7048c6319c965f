//! A run that is in its folder: gone on with, put together again, asked about.

use std::sync::Arc;

use mngr_host::clock::SystemClock;
use mngr_model::HostPath;
use mngr_model::run::{
    AttemptNumber, EndReason, Event, QueueReason, Run, Stage, StageChange, Started, TaskId,
};
use mngr_ops::create::HostSpec;
use mngr_ops::world::World;

use super::conduct::{Before, RunEnd, conduct};
use super::control::StopKind;
use super::error::RunError;
use super::folder::{RunFolder, Variables};
use super::listener::Listener;
use super::observer::Observer;
use super::prepare::plan;
use super::reduce::{Reduced, reduce};
use super::scribe::Scribe;
use super::settings::RunSettings;
use super::workshop::{Crew, Site, Workshop};
use crate::integrate::IntegrateError;
use crate::journal::{self, Journal};

/// A run in its folder.
pub struct Saved {
    /// Its folder.
    pub folder: RunFolder,
    /// How it began.
    pub started: Started,
    /// What it was told.
    pub settings: RunSettings,
    /// The variables its agents got.
    pub variables: Variables,
    /// What its journal adds up to.
    pub run: Run,
}

impl Saved {
    /// Reads the run in a folder.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn open(world: &World, folder: HostPath) -> Result<Self, RunError> {
        let recorded = journal::read(world.client.as_ref(), &folder)?;
        let folder = RunFolder::new(folder);
        let missing = || journal::JournalError::Missing { folder: folder.path().clone() };
        let started = recorded.run.started.clone().ok_or_else(missing)?;
        let settings = RunSettings::from_map(&started.settings)
            .map_err(|source| RunError::Settings { folder: folder.path().clone(), source })?;
        let variables = folder.read_variables(world.client.as_ref())?;
        Ok(Self { folder, started, settings, variables, run: recorded.run })
    }

    /// Goes on with it, wherever its orchestrator ended.
    ///
    /// # Errors
    /// When it cannot go on, or an orchestrator is at work.
    pub fn resume(
        self,
        world: &Arc<World>,
        crew: Crew,
        observer: &mut dyn Observer,
    ) -> Result<RunEnd, RunError> {
        let (shop, before, mut scribe) = self.take_over(world, &crew.mapper.host_spec, observer)?;
        complete_plan(&shop, &mut scribe, self.started.tasks_total)?;
        if before.ended == Some(EndReason::Finished) && is_whole(scribe.run()) {
            let branch = has_task(scribe.run(), Stage::Integrated).then(|| shop.run.integrated_branch());
            let review = has_task(scribe.run(), Stage::NeedsReview).then(|| shop.run.review_branch());
            scribe.note(Event::RunEnded { reason: EndReason::Finished })?;
            return Ok(RunEnd { run: scribe.run().clone(), reason: EndReason::Finished, branch, review });
        }
        conduct(Arc::new(Site { shop, folder: self.folder, crew }), &mut scribe, Some(before))
    }

    /// Puts together again what was verified, but not what was done for the tasks of `without`.
    ///
    /// # Errors
    /// When there is nothing, or it cannot be put together, or the run has no such task.
    pub fn reintegrate(
        self,
        world: &Arc<World>,
        crew: Crew,
        without: &[String],
        observer: &mut dyn Observer,
    ) -> Result<RunEnd, RunError> {
        let known = |text: &String| -> Result<TaskId, RunError> {
            let task: Option<TaskId> = text.parse().ok().filter(|task| self.run.task(task).is_some());
            task.ok_or_else(|| IntegrateError::NoSuchTask { task: text.clone() }.into())
        };
        let without: Vec<TaskId> = without.iter().map(known).collect::<Result<_, _>>()?;
        let (shop, before, mut scribe) = self.take_over(world, &crew.mapper.host_spec, observer)?;
        let site = Arc::new(Site { shop, folder: self.folder, crew });
        let listener = Listener::begin(&world.client, &site.folder)?;
        let reduced = reduce(&site, &mut scribe, std::collections::BTreeMap::new(), &listener, &without);
        let closed = site.shop.close();
        site.shop.end_hosts();
        let reason = match (&reduced, before.ended) {
            (Ok(_), Some(ended)) => ended,
            (Ok(_), None) if is_whole(scribe.run()) => EndReason::Finished,
            // Its orchestrator was killed, and nobody goes on with the tasks that it had not finished.
            (Ok(_), None) => EndReason::Interrupted,
            (Err(_), _) if listener.wish() == Some(StopKind::Now) => EndReason::Interrupted,
            (Err(_), _) => EndReason::Failed,
        };
        scribe.note(Event::RunEnded { reason })?;
        let Reduced { branch, review } = reduced?;
        closed?;
        let is_there = scribe.run().tasks.iter().any(|task| scribe.run().can_be_integrated(task));
        if !is_there {
            return Err(RunError::NothingToIntegrate);
        }
        Ok(RunEnd { run: scribe.run().clone(), reason, branch, review })
    }

    /// Becomes its orchestrator: what it works with, what it was before, and who writes its journal now.
    pub(super) fn take_over<'o>(
        &self,
        world: &Arc<World>,
        hosts: &HostSpec,
        observer: &'o mut dyn Observer,
    ) -> Result<(Workshop, Before, Scribe<'o>), RunError> {
        // The journal first: whoever has it may use the folders of the run.
        let (journal, before) = self.take_journal(world)?;
        Ok((self.workshop(world, hosts)?, before, Scribe::resumed(journal, observer)))
    }

    /// What the run works with.
    fn workshop(&self, world: &Arc<World>, hosts: &HostSpec) -> Result<Workshop, RunError> {
        let Started { run, base_commit, .. } = &self.started;
        let time = self.run.began.map_or(0, |began| began.as_second());
        let (run, settings) = (run.clone(), self.settings.clone());
        Workshop::open(world.clone(), run, settings, hosts, base_commit.clone(), time)
    }

    /// The journal, and what it said before it was taken.
    fn take_journal(&self, world: &World) -> Result<(Journal, Before), RunError> {
        let journal = Journal::resume(world.client.clone(), Arc::new(SystemClock), self.folder.path())?;
        self.folder.forget_stop_request(world.client.as_ref())?;
        Ok((journal, Before { ended: self.run.ended.map(|ended| ended.reason) }))
    }
}

/// Whether every task has come to its end, and the results were put together.
fn is_whole(run: &Run) -> bool {
    run.tasks.iter().all(|task| task.stage().is_final())
}

fn has_task(run: &Run, stage: Stage) -> bool {
    run.tasks.iter().any(|task| task.stage() == stage)
}

/// An orchestrator that was killed while it planned has not noted every task: the rest is planned again.
fn complete_plan(shop: &Workshop, scribe: &mut Scribe<'_>, total: u64) -> Result<(), RunError> {
    let run = scribe.run();
    let needs_no_agent: Vec<_> = run
        .tasks
        .iter()
        .filter(|task| task.stage() == Stage::Queued && !task.reason.needs_agent())
        .map(|task| (task.id.clone(), task.reason))
        .collect();
    for (task, reason) in needs_no_agent {
        let evidence = if reason == QueueReason::Skipped { "the framework skips it" } else { "it passes" };
        let stage = StageChange::new(task, AttemptNumber::NO_AGENT, Stage::Clean, evidence);
        scribe.note(Event::Stage(stage))?;
    }
    if (scribe.run().tasks.len() as u64) < total {
        scribe.doing("planning the rest");
        let tests = shop.tests.collect(&shop.bench())?;
        let mut rest = plan(shop, tests)?;
        rest.tasks.retain(|planned| scribe.run().task(&planned.task).is_none());
        for event in rest.events() {
            scribe.note(event)?;
        }
    }
    Ok(())
}
