//! What is known of the tests of a run before an agent begins, put into the words that agents get.
//!
//! Processes: those of [`TestSources::read`], once for all tests.

use mngr_host::git::GitError;
use mngr_model::run::{QueueReason, Run, TaskId};

use crate::mapper::prompts::{MapperText, Prompt, PromptError};
use crate::run::Workshop;
use crate::test_sources::TestSources;

/// What is known of the tests of a run.
pub(crate) struct TestFacts {
    sources: TestSources,
}

impl TestFacts {
    /// Reads what the base commit says of those that get an agent.
    pub(crate) fn read(shop: &Workshop, run: &Run) -> Result<Self, GitError> {
        let with_agent = run.tasks.iter().filter(|task| task.reason.needs_agent());
        let tests: Vec<TaskId> = with_agent.map(|task| task.id.clone()).collect();
        Self::of(shop, &tests)
    }

    /// Reads what the base commit says of these.
    pub(crate) fn of(shop: &Workshop, tests: &[TaskId]) -> Result<Self, GitError> {
        Ok(Self { sources: TestSources::read(&shop.git(), &shop.rules, &shop.base, tests)? })
    }

    /// The first message of the agent of a test.
    pub(crate) fn prompt(
        &self,
        shop: &Workshop,
        (task, reason, failure): (&TaskId, QueueReason, &str),
        branch: &str,
    ) -> Result<String, PromptError> {
        let prompt = match shop.settings.prompts.mapper.clone() {
            Some(own) => Prompt::own(own)?,
            None => Prompt::packaged()?,
        };
        let said = &shop.world.settings.tmr;
        let is_unstable = reason == QueueReason::Unstable;
        prompt.render(&MapperText {
            task: task.as_str(),
            command: &shop.tests.one_line(task),
            branch,
            base_commit: &shop.base,
            run: shop.run.as_str(),
            reason: in_words(reason),
            failure,
            order_command: &shop.tests.together_line().filter(|_| is_unstable).unwrap_or_default(),
            source: self.sources.source(task),
            blocks: self.sources.blocks(task),
            test_paths: &said.test_paths,
            doc_paths: &said.doc_paths,
            mutants: usize::from(said.mutants),
            minutes: shop.settings.patience.mapper.as_secs() / 60,
            tokens: said.tokens_per_agent,
            agents: shop.settings.pace.agents,
        })
    }
}

fn in_words(reason: QueueReason) -> &'static str {
    match reason {
        QueueReason::Failing => "You have this test because it fails.",
        QueueReason::Unstable => {
            "You have this test because it depends on the order: it passes alone and fails together with other tests."
        }
        QueueReason::Named => "You have this test because somebody named it. It passes.",
        QueueReason::All => "You have this test because all tests are looked at. It passes.",
        QueueReason::Passing => "This test passes, so it gets no agent.",
        QueueReason::Skipped => "The test runner skips this test, so it gets no agent.",
    }
}
