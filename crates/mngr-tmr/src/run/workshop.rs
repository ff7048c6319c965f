//! What every part of a run works with: the same for all its tasks, and the same again when it is resumed.

use std::sync::Arc;

use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_model::run::{RunName, TaskId};
use mngr_model::{HostPath, ProviderName};
use mngr_ops::archive::{AtWork, archive};
use mngr_ops::create::{CreateRequest, HostSpec};
use mngr_ops::error_chain;
use mngr_ops::fanout::fan_out;
use mngr_ops::fleet::Agent;
use mngr_ops::pool::{self, Pool};
use mngr_ops::usage::Prices;
use mngr_ops::world::World;

use super::control::agents_of;
use super::error::RunError;
use super::folder::RunFolder;
use super::settings::RunSettings;
use crate::collect::{Bench, Collector};
use crate::integrate::{Gate, Integrator, Ledger};
use crate::strength::{AcrossTasks, Driven, Outlook, Question, Tested};
use crate::verify::{Elsewhere, Rules, Runner, Subject, Verifier, WorktreePool, tutorial_command};

/// What the agents of a run are created with; names, branches, messages and the run's own labels are added here.
#[derive(Clone)]
pub struct Crew {
    /// Those that look after a test.
    pub mapper: CreateRequest,
    /// The one that is asked for what is left.
    pub reducer: CreateRequest,
    /// What models cost.
    pub prices: Prices,
}

/// Everything a run works with.
pub(crate) struct Workshop {
    pub(crate) world: Arc<World>,
    pub(crate) run: RunName,
    pub(crate) settings: RunSettings,
    /// The commit all agents start from.
    pub(crate) base: String,
    /// When that was decided, in seconds since 1970: the time of all commits of the result.
    pub(crate) time: i64,
    pub(crate) tests: Collector,
    pub(crate) rules: Rules,
    /// Where tests run.
    pub(crate) runner: Box<dyn Runner>,
    /// What was built for measurements so far.
    across_tasks: AcrossTasks,
    /// The program that tests drive, where one is known.
    program: Option<Driven>,
    /// What checks came to while results were put together.
    pub(crate) ledger: Arc<Ledger>,
    scratch: HostPath,
    /// The folder of this run on this machine: checkouts and short-lived files.
    own: HostPath,
}

impl Workshop {
    /// Puts it together. What an earlier orchestrator left in its folders is removed. `hosts` is what hosts made for its
    /// agents are asked to be.
    pub(crate) fn open(
        world: Arc<World>,
        run: RunName,
        settings: RunSettings,
        hosts: &HostSpec,
        base: String,
        time: i64,
    ) -> Result<Self, RunError> {
        let said = &world.settings.tmr;
        let tests = Collector::named(&settings.collector, &said.collectors, settings.selection.clone())?;
        let rules = Rules::new(said)?;
        let folder = format!("tmr/{}-{run}", settings.name);
        let own = world.client.layout().root().join(&folder);
        let (width, extra_paths) = (settings.pace.tests, world.settings.work_dir_extra_paths.clone());
        let runner: Box<dyn Runner> = match &settings.checks.place {
            None => {
                let (host, checkouts) = (world.client.clone(), own.join("checkouts"));
                let pool = WorktreePool::open(host, settings.source.clone(), checkouts, width)?;
                Box::new(pool.with_extra_paths(extra_paths))
            }
            Some(place) => {
                let is_of_agents = settings.agents.provider.as_ref() == Some(place);
                let spec = if is_of_agents { hosts.clone() } else { HostSpec::default() };
                let pool = Pool::at(&world, place, &spec, 1)?;
                let subject = Subject {
                    repository: settings.source.clone(),
                    base: base.clone(),
                    extra_paths,
                    folder,
                    mark: mark(&world, &settings, &run),
                    width,
                    patience: settings.patience.host,
                };
                Box::new(Elsewhere::new(world.clone(), pool, subject))
            }
        };
        let program = match &said.program {
            Some(program) => Some(program.clone()),
            None => {
                let git = Git::new(world.client.as_ref(), settings.source.clone());
                tutorial_command(&git, &rules, &base)?
            }
        };
        let program = program.as_deref().and_then(Driven::new);
        let (across_tasks, ledger, scratch) = (AcrossTasks::default(), Arc::default(), own.join("scratch"));
        Ok(Self {
            world,
            run,
            settings,
            base,
            time,
            tests,
            rules,
            runner,
            across_tasks,
            program,
            ledger,
            scratch,
            own,
        })
    }

    /// What hosts that are made for this run are labelled with. Nobody else's run has the same.
    pub(crate) fn mark(&self) -> String {
        mark(&self.world, &self.settings, &self.run)
    }

    /// Whether hosts may have been made for this run.
    fn may_have_hosts(&self) -> bool {
        self.settings.agents.provider.is_some() || self.settings.checks.place.is_some()
    }

    /// Hides the agents that have ended from listings: whatever they made is in the run.
    pub(crate) fn archive_agents(&self) {
        let ended = agents_of(&self.world, self.run.as_str());
        let ended = ended.into_iter().filter(|agent| agent.state.state.is_final()).collect();
        let archived = fan_out(ended, |agent: Agent| archive(&self.world, &agent, AtWork::Refused));
        self.warn_of(archived.into_iter().filter_map(Result::err).map(|error| error_chain(&error)).collect());
    }

    /// Ends the hosts that were made for this run, as the settings say. Its results are here by now.
    pub(crate) fn end_hosts(&self) {
        if self.may_have_hosts() {
            let after = self.world.settings.tmr.hosts_after;
            self.warn_of(pool::end_hosts(&self.world, &self.mark(), after));
        }
    }

    /// Starts the hosts of its agents again, for whoever goes on.
    pub(crate) fn wake_hosts(&self) {
        if self.may_have_hosts() {
            self.warn_of(pool::wake_hosts(&self.world, &self.mark()));
        }
    }

    fn warn_of(&self, problems: Vec<String>) {
        problems.iter().for_each(|problem| self.world.reporter.warn(problem));
    }

    /// The providers that agents of the run can be on; nothing where any can have them.
    pub(crate) fn providers(&self) -> Result<Vec<ProviderName>, RunError> {
        match &self.settings.agents.provider {
            None => Ok(vec![self.host().info().provider.clone()]),
            Some(place) => Ok(Pool::at(&self.world, place, &HostSpec::default(), 1)?.providers()),
        }
    }

    /// The host that has the repository and the run's folder.
    pub(crate) fn host(&self) -> &dyn Host {
        self.world.client.as_ref()
    }

    /// The repository.
    pub(crate) fn git(&self) -> Git<'_> {
        Git::new(self.host(), self.settings.source.clone())
    }

    /// Where tests are collected and run before any agent.
    pub(crate) fn bench(&self) -> Bench<'_> {
        Bench { runner: self.runner.as_ref(), commit: &self.base }
    }

    /// What will be measured of the tests that agents change.
    pub(crate) fn outlook(&self) -> Result<Outlook, RunError> {
        let (paths, mutants) = (&self.rules.paths, usize::from(self.world.settings.tmr.mutants));
        Ok(Outlook::of(&self.git(), &self.base, paths, mutants, self.program.as_ref())?)
    }

    /// What the tests run: the program of their checkout, or another one.
    pub(crate) fn subject(&self, passing: &[TaskId], failing: &[TaskId]) -> Result<Tested, RunError> {
        let git = self.git();
        let question = Question {
            git: &git,
            tests: &self.tests,
            runner: self.runner.as_ref(),
            base: &self.base,
            paths: &self.rules.paths,
        };
        Ok(question.answer(passing, failing)?)
    }

    /// Measures what agents claim.
    pub(crate) fn verifier(&self) -> Verifier<'_> {
        Verifier {
            host: self.host(),
            repository: self.settings.source.clone(),
            scratch: self.scratch.clone(),
            base: self.base.clone(),
            tests: &self.tests,
            repeats: self.settings.checks.runs,
            rules: &self.rules,
            runner: self.runner.as_ref(),
            mutants: usize::from(self.world.settings.tmr.mutants),
            across_tasks: &self.across_tasks,
            program: self.program.as_ref(),
        }
    }

    /// Puts verified changes together.
    pub(crate) fn integrator(&self) -> Integrator<'_> {
        let checks = &self.settings.checks;
        Integrator {
            host: self.host(),
            repository: self.settings.source.clone(),
            scratch: self.scratch.clone(),
            run: self.run.clone(),
            base: self.base.clone(),
            time: self.time,
            tests: &self.tests,
            gate: checks.gate.as_deref().map(|command| Gate { command, deadline: checks.gate_timeout }),
            rules: &self.rules,
            runner: self.runner.as_ref(),
            ledger: self.ledger.clone(),
            measuring: Some(self.verifier()),
        }
    }

    /// Removes its folders, also when everything else was interrupted.
    pub(crate) fn close(&self) -> Result<(), RunError> {
        let _shield = interrupt::shield();
        self.runner.close()?;
        Ok(self.host().files().remove_tree(&self.own)?)
    }

    /// What an agent of the run is called: `<name>-<run>-<rest>`.
    pub(crate) fn agent_name(&self, rest: &str) -> String {
        format!("{}-{}-{rest}", self.settings.name, self.run)
    }

    /// The branch of an agent of the run: `<name>/<run>/<rest>`.
    pub(crate) fn branch_name(&self, rest: &str) -> String {
        format!("{}/{}/{rest}", self.settings.name, self.run)
    }
}

/// The name of a run that nobody else has.
pub(super) fn mark(world: &World, settings: &RunSettings, run: &RunName) -> String {
    format!("{}-{run}-{}", settings.name, &world.client.info().id.hex()[..12])
}

impl Drop for Workshop {
    /// For a run that was only looked at. What cannot be removed now is removed by the next one of this name.
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// A run that is under way: what it works with, where it is kept, and what its agents are created with.
pub(crate) struct Site {
    pub(crate) shop: Workshop,
    pub(crate) folder: RunFolder,
    pub(crate) crew: Crew,
}
