//! What an agent made of the rest: its commits on top of the result, taken one by one.
//!
//! Nothing it says is believed. Each commit keeps the rules that hold for all agents, and passes the gate, every test of
//! the result so far, the tests it names, and the guards. What does not is left out, and so is what does not apply
//! without it. What is taken becomes a commit of the run, so that `why` and `drop` know it. What passes and has a reason
//! for review is handed on for the review branch.
//!
//! Processes of git: at most 6 for all, 5 for each commit, and those of the rules. The branch is moved last, in one step.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::git::{CommitInfo, Git, GitError};
use mngr_model::run::{
    AttemptNumber, Event, FailureKind, IntegrationStep, IntegratorOutcome, ReviewReason, Strength,
    StrengthState, TaskId, Verdict,
};
use serde_json::json;

use super::branch;
use super::checks::{Check, Checks, Failure, Snapshot};
use super::confine;
use super::error::IntegrateError;
use super::message::{self, Reviewing, trailer};
use super::run::{CommitKind, Integrated, IntegratedCommit, Integrator, Log};
use crate::candidate::Cost;
use crate::verify::{Changed, CommitFacts, Judged, Refusal, TestChange, breach};

/// What an agent hands over, and what has to go on passing.
#[derive(Debug, Clone, Copy)]
pub struct AdoptRequest<'a> {
    /// The result it was asked about.
    pub integrated: &'a Integrated,
    /// The last of its commits. The first follows the result; their objects are in the repository.
    pub tip: &'a str,
    /// Tests that pass at the base.
    pub guards: &'a [TaskId],
    /// Tests that fail at the base: a commit of tests may turn no other of them green.
    pub red: &'a [TaskId],
    /// What the agent used.
    pub cost: Cost,
    /// What it says, where it said anything.
    pub outcome: Option<&'a IntegratorOutcome>,
}

/// What became of its commits.
#[derive(Debug, Clone, PartialEq)]
pub struct Adopted {
    /// The last commit of the branch now.
    pub tip: String,
    /// The commits that were added to the branch, oldest first.
    pub commits: Vec<IntegratedCommit>,
    /// The commits that a person has to look at first, oldest first.
    pub for_review: Vec<ForReview>,
    /// The commits that are on no branch, oldest first.
    pub left_out: Vec<LeftOut>,
}

/// A commit of the agent for the review branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForReview {
    /// The agent's commit. Its message is that of the run, with what shows why.
    pub(super) offer: CommitInfo,
    /// The tasks of the run that it names.
    pub tasks: Vec<TaskId>,
    /// Why a person has to look at it, at least one.
    pub reasons: Vec<ReviewReason>,
    /// How strong its tests are.
    pub strength: Option<Strength>,
}

/// A commit of the agent that is not part of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The agent's commit.
    pub commit: String,
    /// Its first line; untrusted text.
    pub subject: String,
    /// The tasks of the run that it names.
    pub tasks: Vec<TaskId>,
    /// Why.
    pub reason: NotAdopted,
}

/// Why a commit of the agent is not part of the result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAdopted {
    /// No test would say what it is good for.
    #[error("it names no task of the run")]
    NoTask,
    /// It breaks a rule.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It builds on a commit that is not part of the result.
    #[error("it does not apply without the commits that were left out or need review: {}", .files.join(", "))]
    DoesNotApply {
        /// The files in conflict.
        files: Vec<String>,
    },
    /// Without those that were left out it has no effect.
    #[error("it changes nothing")]
    Nothing,
    /// A check does not pass with it.
    #[error("{failure}")]
    Fails {
        /// Which, and how.
        failure: Failure,
    },
}

impl NotAdopted {
    /// How it is counted.
    pub const fn kind(&self) -> FailureKind {
        match self {
            Self::NoTask | Self::Nothing => FailureKind::Contract,
            Self::Refused(refusal) => refusal.kind(),
            Self::DoesNotApply { .. } => FailureKind::Conflict,
            Self::Fails { .. } => FailureKind::Gate,
        }
    }

    fn output(&self) -> &str {
        match self {
            Self::Fails { failure } => &failure.tail,
            _ => "",
        }
    }
}

impl Integrator<'_> {
    /// Takes the commits of an agent onto the result. What is left out is no error; the branch is as it was if nothing
    /// is taken.
    pub fn adopt(
        &self,
        request: &AdoptRequest<'_>,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Adopted, IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        let start = &request.integrated.tip;
        let offered = git.commits_between(start, request.tip)?;
        refuse_unless_in_line(&offered, start)?;
        let mut adoption = Adoption {
            integrator: self,
            request,
            git: &git,
            checks: self.checks(),
            known: known_tasks(request.integrated),
            passing: passing_tasks(request.integrated),
            tip: Snapshot { commit: start.clone(), tree: git.tree_of(start)? },
        };
        let (mut commits, mut strengths) = (Vec::new(), Vec::new());
        let (mut for_review, mut left_out) = (Vec::new(), Vec::new());
        for offer in &offered {
            let tasks = adoption.tasks_of(offer);
            match adoption.take(offer, &tasks)? {
                Taken::In(commit, strength) => {
                    commits.push(*commit);
                    strengths.push(strength);
                }
                Taken::Review(found) => for_review.push(*found),
                Taken::Out(reason) => {
                    let (commit, subject) = (offer.oid.clone(), offer.subject().to_owned());
                    left_out.push(LeftOut { commit, subject, tasks, reason });
                }
            }
        }
        let tip = adoption.tip.commit;
        let mut log = Log { on_event };
        log.adopted(&commits, &strengths, &left_out);
        if !commits.is_empty() {
            branch::point(&git, &request.integrated.branch, &self.base, &tip)?;
            let all = request.integrated.commits.len() + commits.len();
            log.step(IntegrationStep::Finished, [], Some(&tip), "", &[("commits", json!(all))]);
        }
        Ok(Adopted { tip, commits, for_review, left_out })
    }
}

/// The commits taken so far, and what the next one is judged by.
struct Adoption<'a> {
    integrator: &'a Integrator<'a>,
    request: &'a AdoptRequest<'a>,
    git: &'a Git<'a>,
    checks: Checks<'a>,
    /// The tasks a commit may be for.
    known: BTreeSet<TaskId>,
    /// The tasks whose tests pass with what is taken.
    passing: BTreeSet<TaskId>,
    tip: Snapshot,
}

/// What became of one commit.
enum Taken {
    In(Box<IntegratedCommit>, Option<Strength>),
    Review(Box<ForReview>),
    Out(NotAdopted),
}

impl Adoption<'_> {
    /// The tasks that a commit names anywhere below its subject: agents like to end a message with lines of their own.
    fn tasks_of(&self, offer: &CommitInfo) -> Vec<TaskId> {
        let lines = offer.message.lines().skip(1);
        let values = lines.filter_map(|line| line.strip_prefix(trailer::TASK)?.strip_prefix(':'));
        let tasks: BTreeSet<TaskId> = values.filter_map(|value| value.trim().parse().ok()).collect();
        tasks.intersection(&self.known).cloned().collect()
    }

    /// Adds one commit, if it may be added.
    fn take(&mut self, offer: &CommitInfo, tasks: &[TaskId]) -> Result<Taken, IntegrateError> {
        if tasks.is_empty() {
            return Ok(Taken::Out(NotAdopted::NoTask));
        }
        let facts = CommitFacts::new(offer, &self.integrator.rules.paths);
        if let Some(refusal) = self.refusal(offer, &facts)? {
            return Ok(Taken::Out(refusal.into()));
        }
        let tree = match self.git.merge_trees(parent_of(offer), &self.tip.tree, &offer.tree) {
            Err(GitError::Conflict { files }) => return Ok(Taken::Out(NotAdopted::DoesNotApply { files })),
            other => other?,
        };
        if tree == self.tip.tree {
            return Ok(Taken::Out(NotAdopted::Nothing));
        }
        let passing: BTreeSet<TaskId> = self.passing.iter().chain(tasks).cloned().collect();
        let before = self.before(tasks)?;
        let (cost, said) = (self.request.cost, self.said(tasks));
        let mut text = message::adopted(&facts, &before, &Reviewing::default(), passing.len(), (cost, &said));
        let mut oid = self.integrator.commit(self.git, &tree, &self.tip.commit, &text.whole())?;
        let mut snapshot = Snapshot { commit: oid.clone(), tree: tree.clone() };
        if let Some(failure) = self.failure(&snapshot, &passing)? {
            return Ok(Taken::Out(NotAdopted::Fails { failure }));
        }
        let kind = match facts.touches_implementation() {
            true => CommitKind::Implementation,
            false => CommitKind::TestsAndDocs,
        };
        let (mut reasons, mut strength) = (Vec::new(), None);
        for judged in self.judge(&oid, &before)? {
            if let Some(refusal) = judged.refusal {
                return Ok(Taken::Out(refusal.into()));
            }
            let is_new = |reason: &ReviewReason| !reasons.contains(reason);
            let new: Vec<ReviewReason> = judged.reasons.into_iter().filter(is_new).collect();
            reasons.extend(new);
            let is_told = judged.strength.state != StrengthState::NotNeeded;
            strength = strength.or(is_told.then_some(judged.strength));
        }
        if kind == CommitKind::TestsAndDocs {
            reasons.extend(self.not_confined(&snapshot, tasks)?);
        }
        let found = Reviewing { reasons: &reasons, strength: strength.as_ref() };
        if !reasons.is_empty() {
            // On the review branch only its own tests are run.
            let text = message::adopted(&facts, &before, &found, before.len(), (cost, &said));
            let offer = CommitInfo { message: text.whole(), ..offer.clone() };
            let tasks = tasks.to_vec();
            return Ok(Taken::Review(Box::new(ForReview { offer, tasks, reasons, strength })));
        }
        if strength.is_some() {
            text = message::adopted(&facts, &before, &found, passing.len(), (cost, &said));
            oid = self.integrator.commit(self.git, &tree, &self.tip.commit, &text.whole())?;
            snapshot.commit.clone_from(&oid);
        }
        (self.tip, self.passing) = (snapshot, passing);
        let (subject, tasks) = (text.subject, tasks.to_vec());
        let commit = IntegratedCommit { oid, tree, subject, kind, tasks, votes: 1, score: None };
        Ok(Taken::In(Box::new(commit), strength))
    }

    /// The places that the agent gave to these tasks by how much they matter.
    fn said(&self, tasks: &[TaskId]) -> Vec<String> {
        let importance =
            self.request.outcome.map(|outcome| outcome.importance.as_slice()).unwrap_or_default();
        let is_own = |name: &str| tasks.iter().any(|task| task.as_str() == name);
        let of = importance.len();
        let named = (1..).zip(importance).filter(|(_, one)| is_own(one.test.as_str()));
        named.map(|(place, one)| format!("{place} of {of}: {}", one.reason_markdown.as_str())).collect()
    }

    /// What is measured of its tests, as of those of all agents; nothing where nothing is measured. Each test that failed
    /// is a question of its own; where all passed, one measurement is for all of them.
    fn judge(&self, commit: &str, before: &BTreeMap<TaskId, Verdict>) -> Result<Vec<Judged>, IntegrateError> {
        let Some(verifier) = &self.integrator.measuring else { return Ok(Vec::new()) };
        let failed = before.iter().filter(|(_, verdict)| **verdict != Verdict::Passed);
        let mut asked: Vec<(&TaskId, &Verdict)> = failed.collect();
        if asked.is_empty() {
            asked.extend(before.iter().next());
        }
        let (attempt, from) = (AttemptNumber::NO_AGENT.next(), self.tip.commit.as_str());
        let judge = |(task, before): (&TaskId, &Verdict)| {
            let change = TestChange { task, attempt, from, to: commit, before: *before, is_new: false };
            verifier.judge_tests(&change).map_err(|error| IntegrateError::Verify(Box::new(error)))
        };
        asked.into_iter().map(judge).collect()
    }

    /// That a commit of nothing but tests and documents turns other tests green.
    fn not_confined(
        &self,
        changed: &Snapshot,
        tasks: &[TaskId],
    ) -> Result<Option<ReviewReason>, IntegrateError> {
        let others: Vec<TaskId> =
            self.request.red.iter().filter(|test| !tasks.contains(test)).cloned().collect();
        let green = self.checks.turns_green(&self.tip, changed, &others)?;
        Ok((!green.is_empty()).then(|| confine::reason(&green)))
    }

    /// How the commit breaks a rule that holds for all agents.
    fn refusal(&self, offer: &CommitInfo, facts: &CommitFacts) -> Result<Option<Refusal>, GitError> {
        let (from, to) = (parent_of(offer), offer.oid.as_str());
        let files = self.git.patch_between(from, to)?;
        let commits = std::slice::from_ref(facts);
        let changed = Changed { from, to, commits, files: &files, script: None };
        breach(self.git, self.integrator.rules, &changed)
    }

    /// What the tests of these tasks come to without the commit.
    fn before(&self, tasks: &[TaskId]) -> Result<BTreeMap<TaskId, Verdict>, IntegrateError> {
        let verdict = |task: &TaskId| {
            let failure = self.checks.check(&self.tip, &Check::Test(task.clone()))?;
            Ok((task.clone(), Verdict::of([failure.is_none()])))
        };
        tasks.iter().map(verdict).collect()
    }

    /// The first check that does not pass. A guard that already failed at the base is nobody's fault.
    fn failure(
        &self,
        snapshot: &Snapshot,
        passing: &BTreeSet<TaskId>,
    ) -> Result<Option<Failure>, IntegrateError> {
        let tests: BTreeSet<&TaskId> = passing.iter().chain(self.request.guards).collect();
        let base = self.base()?;
        let is_old = |failure: &Failure| {
            let is_guard = failure.check.test().is_some_and(|task| !passing.contains(task));
            Ok(is_guard && self.checks.check(&base, &failure.check)?.is_some())
        };
        Ok(self.checks.failures_but(snapshot, tests, &is_old)?.into_iter().next())
    }

    fn base(&self) -> Result<Snapshot, GitError> {
        let base = &self.integrator.base;
        Ok(Snapshot { commit: base.clone(), tree: self.git.tree_of(base)? })
    }
}

impl Log<'_> {
    fn adopted(
        &mut self,
        commits: &[IntegratedCommit],
        strengths: &[Option<Strength>],
        left_out: &[LeftOut],
    ) {
        for LeftOut { commit, tasks, reason, .. } in left_out {
            let details = [("kind", json!(reason.kind())), ("output", json!(reason.output()))];
            self.step(IntegrationStep::Expelled, tasks, Some(commit), &reason.to_string(), &details);
        }
        for (commit, strength) in commits.iter().zip(strengths) {
            let mut details = vec![("votes", json!(commit.votes)), ("subject", json!(commit.subject))];
            details.extend(strength.iter().map(|strength| ("strength", json!(strength))));
            let reason = "made by the integrator";
            self.step(IntegrationStep::Picked, &commit.tasks, Some(&commit.oid), reason, &details);
        }
    }
}

fn parent_of(commit: &CommitInfo) -> &str {
    commit.parents.first().map(String::as_str).unwrap_or_default()
}

fn refuse_unless_in_line(offered: &[CommitInfo], start: &str) -> Result<(), IntegrateError> {
    let mut parent = start;
    for offer in offered {
        if offer.parents != [parent] {
            return Err(IntegrateError::NotInLine { commit: offer.oid.clone() });
        }
        parent = &offer.oid;
    }
    Ok(())
}

/// The tasks whose tests pass on the result.
fn passing_tasks(integrated: &Integrated) -> BTreeSet<TaskId> {
    let in_commits = integrated.commits.iter().flat_map(|commit| &commit.tasks);
    in_commits.chain(&integrated.contained).cloned().collect()
}

/// All tasks that the integration was about.
fn known_tasks(integrated: &Integrated) -> BTreeSet<TaskId> {
    let expelled = integrated.expelled.iter().map(|expelled| &expelled.task);
    let in_conflict = integrated.remaining.conflicts.iter().flat_map(|conflict| &conflict.tasks);
    let others = expelled.chain(in_conflict).cloned();
    passing_tasks(integrated).into_iter().chain(others).collect()
}
