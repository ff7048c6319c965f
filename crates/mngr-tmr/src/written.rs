//! Tests that agents write outside of a run, as `tutorial sync` has them do: measured before they are merged, in clean
//! checkouts of what the merge would come to.
//!
//! What must never be here: a measure of its own ([`crate::verify`] has them all), or the merge.

use std::sync::Arc;

use mngr_host::git::{Git, GitError, MergePreview, NewCommit};
use mngr_host::host::Host;
use mngr_host::{interrupt, random};
use mngr_model::HostPath;
use mngr_ops::error_chain;
use mngr_ops::tutorial::{Judge, Judgement};
use mngr_ops::world::World;

use crate::collect::{Collector, Selection};
use crate::plan::Machine;
use crate::run::RunError;
use crate::strength::{AcrossTasks, Driven};
use crate::verify::{
    CommitFacts, Rules, Runner as _, RunnerError, Verifier, WorktreePool, Written, WrittenError,
    WrittenTests, tutorial_command,
};

mod leftovers;

/// What is written, and where.
#[derive(Debug, Clone)]
pub struct WritingRequest {
    /// The repository that the tests are merged into; what is checked out there is what they are merged with.
    pub repository: HostPath,
    /// The tutorial they are for, below the top of the repository.
    pub script: String,
    /// Where the tests are, below the top of the repository.
    pub tests: Vec<String>,
    /// How they are found and run.
    pub collector: String,
}

/// Measures them.
pub struct WrittenJudge<'w> {
    world: &'w World,
    host: Arc<dyn Host>,
    request: WritingRequest,
    tests: Collector,
    rules: Rules,
    runner: WorktreePool,
    across_tasks: AcrossTasks,
    /// Its own folder on this machine: checkouts and short-lived files.
    own: HostPath,
}

impl<'w> WrittenJudge<'w> {
    /// Makes ready for it; nothing is run.
    ///
    /// # Errors
    /// When the settings or the collector make no sense.
    pub fn open(world: &'w World, request: WritingRequest) -> Result<Self, RunError> {
        let said = &world.settings.tmr;
        let all = Collector::named(&request.collector, &said.collectors, Selection::default())?;
        let tests = all.within(&request.tests);
        let rules = Rules::new(said)?;
        let host: Arc<dyn Host> = world.client.clone();
        let name: String = random::hex32().chars().take(8).collect();
        let parent = host.layout().root().join("tmr");
        // Whatever cannot be removed does not keep anybody from measuring.
        if let Err(error) = leftovers::remove_left(&host, &parent) {
            world.reporter.warn(&error_chain(&error));
        }
        let own = parent.join(&format!("{}{name}", leftovers::WRITTEN));
        leftovers::make_folder(host.as_ref(), &own, &request.repository).map_err(RunnerError::from)?;
        let machine = Machine::of(host.as_ref()).map(|machine| machine.parallel_tests()).unwrap_or(1);
        let width = usize::try_from(machine).unwrap_or(1);
        let pool =
            WorktreePool::open(host.clone(), request.repository.clone(), leftovers::checkouts(&own), width)?;
        let runner = pool.with_extra_paths(world.settings.work_dir_extra_paths.clone());
        Ok(Self { world, host, request, tests, rules, runner, across_tasks: AcrossTasks::default(), own })
    }

    /// What was measured of the tests on a branch that ends at `tip`.
    fn measure(&self, tip: &str) -> Result<WrittenTests, WrittenError> {
        let git = Git::new(self.host.as_ref(), self.request.repository.clone());
        let from = git.resolve("HEAD")?;
        let to = match git.preview_merge(&from, tip)? {
            MergePreview::UpToDate => return Ok(WrittenTests::default()),
            MergePreview::FastForward { .. } => tip.to_owned(),
            MergePreview::Merge { tree, .. } => git.commit_tree(&NewCommit {
                tree: &tree,
                parent: &from,
                message: "what the merge would come to",
                name: "mngr",
                email: "mngr",
                time: 0,
            })?,
        };
        let commits: Vec<CommitFacts> = git
            .commits_between(&from, tip)?
            .iter()
            .map(|commit| CommitFacts::new(commit, &self.rules.paths))
            .collect();
        let said = &self.world.settings.tmr;
        let program = match &said.program {
            Some(program) => Some(program.clone()),
            None => tutorial_command(&git, &self.rules, &from)?,
        };
        let program = program.as_deref().and_then(Driven::new);
        let verifier = Verifier {
            host: self.host.as_ref(),
            repository: self.request.repository.clone(),
            scratch: self.own.join("scratch"),
            base: from.clone(),
            tests: &self.tests,
            repeats: usize::from(said.verify_runs),
            rules: &self.rules,
            runner: &self.runner,
            mutants: usize::from(said.mutants),
            across_tasks: &self.across_tasks,
            program: program.as_ref(),
        };
        let script = self.request.script.as_str();
        verifier.judge_written(&Written { from: &from, to: &to, commits: &commits, script })
    }
}

impl Judge for WrittenJudge<'_> {
    fn judge(&self, tip: &str) -> Result<Judgement, String> {
        let WrittenTests { added, changed, strength, reasons, refusals } =
            self.measure(tip).map_err(|error| match error {
                WrittenError::Git(GitError::Conflict { files }) => {
                    format!(
                        "it is not measured: it conflicts with the branch you are on, in {}",
                        files.join(", ")
                    )
                }
                error => format!("it cannot be measured: {}", error_chain(&error)),
            })?;
        let refused = refusals.iter().map(ToString::to_string).collect();
        Ok(Judgement { added, changed, strength, review: reasons, refused })
    }
}

impl Drop for WrittenJudge<'_> {
    /// Also when everything else was interrupted.
    fn drop(&mut self) {
        let _shield = interrupt::shield();
        if let Err(error) = self.runner.close() {
            self.world.reporter.warn(&error_chain(&error));
        }
        if let Err(error) = self.host.files().remove_tree(&self.own) {
            self.world.reporter.warn(&error_chain(&error));
        }
    }
}
