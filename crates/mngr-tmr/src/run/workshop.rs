//! What every part of a run works with: the same for all its tasks, and the same again when it is resumed.

use std::sync::Arc;

use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_model::HostPath;
use mngr_model::run::RunName;
use mngr_ops::create::CreateRequest;
use mngr_ops::usage::Prices;
use mngr_ops::world::World;

use super::error::RunError;
use super::folder::RunFolder;
use super::settings::RunSettings;
use crate::collect::{Bench, Collector};
use crate::integrate::{Gate, Integrator};
use crate::verify::{Rules, Verifier, WorktreePool};

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
    pub(crate) pool: WorktreePool,
    scratch: HostPath,
    /// The folder of this run on the host: checkouts and short-lived files.
    own: HostPath,
}

impl Workshop {
    /// Puts it together. What an earlier orchestrator left in its folders is removed.
    pub(crate) fn open(
        world: Arc<World>,
        run: RunName,
        settings: RunSettings,
        base: String,
        time: i64,
    ) -> Result<Self, RunError> {
        let said = &world.settings.tmr;
        let tests = Collector::named(&settings.collector, &said.collectors, settings.selection.clone())?;
        let rules = Rules::new(said)?;
        let own = world.client.layout().root().join(&format!("tmr/{}-{run}", settings.name));
        let pool = WorktreePool::open(
            world.client.clone(),
            settings.source.clone(),
            own.join("checkouts"),
            settings.pace.tests,
        )?
        .with_extra_paths(world.settings.work_dir_extra_paths.clone());
        Ok(Self { world, run, settings, base, time, tests, rules, pool, scratch: own.join("scratch"), own })
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
        Bench { runner: &self.pool, files: self.host().files(), scratch: &self.scratch, commit: &self.base }
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
            runner: &self.pool,
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
            runner: &self.pool,
        }
    }

    /// Removes its folders, also when everything else was interrupted.
    pub(crate) fn close(&self) -> Result<(), RunError> {
        let _shield = interrupt::shield();
        self.pool.close()?;
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
