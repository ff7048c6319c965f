//! One integration from inputs to branch: the order of its steps, and what each is worth in the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::run::{Event, FailureKind, Integration, IntegrationStep, ReviewReason, RunName, TaskId};
use serde_json::{Map, Value, json};

use super::assemble::{Assembler, Drafts};
use super::branch;
use super::changes::{Piece, pieces, ranked_changes};
use super::checks::{Check, Checks, Failure, Gate, Snapshot};
use super::error::IntegrateError;
use super::hunks::Votes;
use super::ledger::Ledger;
use super::rank::Score;
use super::repeated::{RepeatedGroup, repeated_groups};
use crate::candidate::Candidate;
use crate::collect::Collector;
use crate::verify::{Rules, Runner, Verification, Verifier};

/// A candidate and what was measured about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// What the agent handed over.
    pub candidate: Candidate,
    /// What was measured.
    pub verification: Verification,
}

/// A change that a person has to look at before it is merged.
#[derive(Debug, Clone, PartialEq)]
pub struct NeedsReview {
    /// The change.
    pub input: Input,
    /// Why, at least one.
    pub reasons: Vec<ReviewReason>,
}

/// The tests of the run, by what they came to before any agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tests<'a> {
    /// Those that pass at the base and have to go on passing.
    pub guards: &'a [TaskId],
    /// Those that fail at the base: a change of tests may turn no other of them green.
    pub red: &'a [TaskId],
}

/// What a commit of the result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitKind {
    /// Tests and documentation of all agents.
    TestsAndDocs,
    /// One change of the implementation, with the tests that need it.
    Implementation,
}

/// A commit of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct IntegratedCommit {
    /// Its name.
    pub oid: String,
    /// Its files.
    pub tree: String,
    /// Its first line.
    pub subject: String,
    /// What it holds.
    pub kind: CommitKind,
    /// The tasks it stands for.
    pub tasks: Vec<TaskId>,
    /// How many agents made this change.
    pub votes: usize,
    /// Why it has its place; nothing for tests and documentation.
    pub score: Option<Score>,
}

/// A task that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expelled {
    /// The task.
    pub task: TaskId,
    /// How its change failed.
    pub failure: Failure,
}

/// A task whose change does not fit beside others: an edge of the graph of conflicts for each of `with`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The tasks of the change that was left out.
    pub tasks: Vec<TaskId>,
    /// The tasks it meets; empty when it fits beside each of them but not beside all.
    pub with: BTreeSet<TaskId>,
    /// The files in which they meet.
    pub files: BTreeSet<String>,
}

/// What a machine cannot decide.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remaining {
    /// Changes that do not fit together.
    pub conflicts: Vec<Conflict>,
    /// The same edit in many files.
    pub repeated_groups: Vec<RepeatedGroup>,
}

/// The result.
#[derive(Debug, Clone, PartialEq)]
pub struct Integrated {
    /// The branch; it exists if there is any commit.
    pub branch: String,
    /// Its last commit, or the base.
    pub tip: String,
    /// Its commits, oldest first.
    pub commits: Vec<IntegratedCommit>,
    /// Tasks whose change was already there through others.
    pub contained: Vec<TaskId>,
    /// Tasks that were left out.
    pub expelled: Vec<Expelled>,
    /// Changes for the review branch, in the order of the tasks.
    pub needs_review: Vec<NeedsReview>,
    /// Files of changes that no test needs, and that are left out.
    pub unneeded: Vec<Unneeded>,
    /// What is left for an agent or a person.
    pub remaining: Remaining,
}

/// Files of a task's change that no test needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unneeded {
    /// The task.
    pub task: TaskId,
    /// The files.
    pub files: BTreeSet<String>,
}

/// What is needed to integrate. It holds no state but what checks came to.
pub struct Integrator<'a> {
    /// Where the repository is.
    pub host: &'a dyn Host,
    /// The repository that has the candidates' commits.
    pub repository: HostPath,
    /// A folder for short-lived files.
    pub scratch: HostPath,
    /// The run.
    pub run: RunName,
    /// The commit all agents started from.
    pub base: String,
    /// The time of all commits, in seconds since 1970: that of the run.
    pub time: i64,
    /// How one test is run.
    pub tests: &'a Collector,
    /// The project's own checks.
    pub gate: Option<Gate<'a>>,
    /// What is a test, and what is risky.
    pub rules: &'a Rules,
    /// Where checks run.
    pub runner: &'a dyn Runner,
    /// What checks came to so far.
    pub ledger: Arc<Ledger>,
    /// What measures the tests that the integrating agent changes; without it they are only run.
    pub measuring: Option<Verifier<'a>>,
}

impl<'a> Integrator<'a> {
    /// Puts the verified candidates together. What needs review is only named here: see [`Integrator::review`].
    pub fn integrate(
        &self,
        inputs: Vec<Input>,
        tests: &Tests<'_>,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Integrated, IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        let checks = self.checks();
        let base = Snapshot { commit: self.base.clone(), tree: git.tree_of(&self.base)? };
        if let Some(failure) = checks.check(&base, &Check::Gate)? {
            return Err(IntegrateError::GateFailsAtBase { failure });
        }
        self.host.files().make_folder(&self.scratch).map_err(mngr_host::git::GitError::from)?;
        let (scratch, drafts) = (&self.scratch, Drafts::default());
        let assembler = Assembler { git: &git, base: &self.base, base_tree: &base.tree, scratch, drafts };
        let mut pieces = pieces(&git, &self.base, self.rules, inputs)?;
        let mut log = Log { on_event };
        log.step(IntegrationStep::Started, pieces.iter().map(Piece::task), None, "", &[]);
        let tools = Work { integrator: self, git: &git, assembler: &assembler, checks: &checks, pieces: &[] };
        for (at, reason) in (Work { pieces: &pieces, ..tools }).not_confined(&base, tests.red)? {
            pieces[at].review.push(reason);
        }
        let (mut pieces, review): (Vec<Piece>, Vec<Piece>) =
            pieces.into_iter().partition(|piece| piece.review.is_empty());
        let mut found = Found {
            unneeded: (Work { pieces: &pieces, ..tools }).unneeded(&base, tests.guards)?,
            ..Found::default()
        };
        for Unneeded { task, files } in &found.unneeded {
            let of_task = pieces.iter_mut().filter(|piece| piece.task() == task);
            of_task.for_each(|piece| {
                piece.implementation.retain(|change| !files.contains(&change.path.to_string()));
            });
        }
        log.grouped(&pieces);

        let work = Work { pieces: &pieces, ..tools };
        let squash = work.squash(&base, tests.guards, &mut found)?;
        let changes = ranked_changes(&pieces, &self.rules.risky);
        for (place, change) in changes.iter().enumerate() {
            let tasks = change.members.iter().map(|at| pieces[*at].task());
            let details = [("place", json!(place + 1)), ("points", json!(change.score.points))];
            log.step(IntegrationStep::Ranked, tasks, None, &change.score.to_string(), &details);
        }
        let commits = work.replay(&base, squash, changes, tests.guards, &mut found)?;

        let branch = self.run.integrated_branch();
        let tip = commits.last().map_or(self.base.clone(), |commit| commit.oid.clone());
        log.found(&commits, &found);
        branch::point_result(&git, &branch, &self.base, &tip)?;
        log.step(IntegrationStep::Finished, [], Some(&tip), "", &[("commits", json!(commits.len()))]);
        let repeated_groups = repeated_groups(&pieces);
        let Found { expelled, conflicts, contained, unneeded } = found;
        let remaining = Remaining { conflicts, repeated_groups };
        let needs = |piece: Piece| NeedsReview { input: piece.input, reasons: piece.review };
        let needs_review = review.into_iter().map(needs).collect();
        Ok(Integrated { branch, tip, commits, contained, expelled, needs_review, unneeded, remaining })
    }

    /// Whether the gate passes before anything was changed.
    ///
    /// # Errors
    /// When it does not, or cannot be run.
    pub fn check_base(&self) -> Result<(), IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        let base = Snapshot { commit: self.base.clone(), tree: git.tree_of(&self.base)? };
        match self.checks().check(&base, &Check::Gate)? {
            Some(failure) => Err(IntegrateError::GateFailsAtBase { failure }),
            None => Ok(()),
        }
    }

    pub(super) fn checks(&self) -> Checks<'_> {
        Checks::of(self)
    }
}

/// What the steps share.
#[derive(Clone, Copy)]
pub(super) struct Work<'w> {
    pub(super) integrator: &'w Integrator<'w>,
    pub(super) git: &'w Git<'w>,
    pub(super) assembler: &'w Assembler<'w>,
    pub(super) checks: &'w Checks<'w>,
    pub(super) pieces: &'w [Piece],
}

/// What was left out, and why.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) expelled: Vec<Expelled>,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) contained: Vec<TaskId>,
    pub(super) unneeded: Vec<Unneeded>,
}

/// Writes the steps down.
pub(super) struct Log<'l> {
    pub(super) on_event: &'l mut dyn FnMut(Event),
}

impl Log<'_> {
    pub(super) fn step<'t>(
        &mut self,
        step: IntegrationStep,
        tasks: impl IntoIterator<Item = &'t TaskId>,
        commit: Option<&str>,
        reason: &str,
        details: &[(&str, Value)],
    ) {
        let details: Map<String, Value> =
            details.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        (self.on_event)(Event::Integration(Integration {
            step,
            tasks: tasks.into_iter().cloned().collect(),
            commit: commit.map(str::to_owned),
            reason: reason.to_owned(),
            details,
        }));
    }

    /// Hunks that several agents made. Those of one file made by the same agents are one line.
    fn grouped(&mut self, pieces: &[Piece]) {
        let mut votes = Votes::default();
        for piece in pieces {
            for changes in [&piece.squashed, &piece.carried, &piece.implementation] {
                votes.count(piece.task(), changes);
            }
        }
        let shared: BTreeMap<(String, &BTreeSet<TaskId>), usize> =
            votes.shared().fold(BTreeMap::new(), |mut counts, (path, tasks)| {
                *counts.entry((path.to_string(), tasks)).or_default() += 1;
                counts
            });
        for ((path, tasks), hunks) in shared {
            let details = [("path", json!(path)), ("votes", json!(tasks.len())), ("hunks", json!(hunks))];
            let reason = format!("{} agents made the same change in `{path}`", tasks.len());
            self.step(IntegrationStep::Grouped, tasks, None, &reason, &details);
        }
    }

    fn found(&mut self, commits: &[IntegratedCommit], found: &Found) {
        for Unneeded { task, files } in &found.unneeded {
            let names: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
            let reason = format!("no test needs {}", names.join(", "));
            self.step(IntegrationStep::Unneeded, [task], None, &reason, &[("files", json!(files))]);
        }
        self.left_out(found);
        for commit in commits {
            let step = match commit.kind {
                CommitKind::TestsAndDocs => IntegrationStep::Squashed,
                CommitKind::Implementation => IntegrationStep::Picked,
            };
            let details = [("votes", json!(commit.votes)), ("subject", json!(commit.subject))];
            let reason = commit.score.as_ref().map(ToString::to_string).unwrap_or_default();
            self.step(step, &commit.tasks, Some(&commit.oid), &reason, &details);
        }
    }

    /// Changes that are on no branch, and why.
    pub(super) fn left_out(&mut self, found: &Found) {
        for conflict in &found.conflicts {
            let details = [("with", json!(conflict.with)), ("files", json!(conflict.files))];
            let reason = "does not fit beside other changes";
            self.step(IntegrationStep::Conflict, &conflict.tasks, None, reason, &details);
        }
        for expelled in &found.expelled {
            let details = [("kind", json!(FailureKind::Gate)), ("output", json!(expelled.failure.tail))];
            let reason = expelled.failure.to_string();
            self.step(IntegrationStep::Expelled, [&expelled.task], None, &reason, &details);
        }
    }
}
