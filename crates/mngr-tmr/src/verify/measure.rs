//! One candidate, measured: before, after, and without its fix.
//!
//! Commands run: k at the base, k at the tip if it differs, k without the fix if both tests and implementation were
//! changed. Processes of git: 2 for each of these, and at most 6 more.

use mngr_host::git::{FileChange, Git, GitError, NewCommit, RepoPath, TreeEntry};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::run::{
    AttemptNumber, ChangeKind, Classified, ClassifiedCommit, Event, Measured, MeasuredRun, ReviewReason,
    Stage, Strength, StrengthState, TaskId, Verdict, What,
};
use serde::{Deserialize, Serialize};

use super::breach::{Changed, breach};
use super::commits::CommitFacts;
use super::decide::{Decision, Facts, Parts, Refusal, decide};
use super::paths::{PathClass, PathRules};
use super::rules::Rules;
use super::runner::{Runner, RunnerError, TestReport, run_test};
use crate::candidate::{Candidate, Claims};
use crate::collect::{Bench, Collector, TestStatus};
use crate::strength::{AcrossTasks, Driven, Measure, Side, Sides, StrengthError, Subject};

/// Several runs of one test on one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// Each run.
    pub runs: Vec<MeasuredRun>,
    /// How many passed.
    pub passed: usize,
    /// What they come to.
    pub verdict: Verdict,
    /// The end of what the first failing run printed, or the last run if none failed; untrusted text.
    pub tail: String,
}

impl std::fmt::Display for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.passed, self.runs.len())
    }
}

/// Why it cannot be measured whether a test would notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unmeasurable {
    /// Nothing was changed.
    NoChange,
    /// Only tests or documentation were changed: there is no fix that could be taken back.
    NoFix,
}

/// Whether the test notices that the fix is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutation {
    /// The changed test on the old implementation.
    Run(Runs),
    /// The test was not changed, so the runs at the base say it.
    SameAsBefore,
    /// It cannot be said.
    NotMeasurable(Unmeasurable),
}

/// What an agent claims and what was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The test.
    pub task: TaskId,
    /// Which try it was.
    pub attempt: AttemptNumber,
    /// What the agent said.
    pub claims: Claims,
    /// The test at the base.
    pub before: Runs,
    /// The test at the agent's last commit.
    pub after: Runs,
    /// The test without the fix.
    pub mutation: Mutation,
    /// The commits, claimed and measured, oldest first.
    pub commits: Vec<CommitFacts>,
    /// How strong the tests are that were changed; nothing from a binary that did not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// Source files in which only test code was changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inline_tests: Vec<String>,
    /// What follows.
    pub decision: Decision,
}

impl Verification {
    /// The part of the project to which its change of a file belongs.
    pub fn class(&self, paths: &PathRules, path: &RepoPath) -> PathClass {
        let is_inline = path.as_str().is_some_and(|path| self.inline_tests.iter().any(|test| test == path));
        if is_inline { PathClass::Test } else { paths.class(path) }
    }

    /// Whether it may be integrated although nobody has measured its tests: an earlier binary did not.
    pub fn is_unmeasured(&self) -> bool {
        self.strength.is_none() && matches!(self.decision, Decision::Integrate(_))
    }

    /// Where the task ends, if nothing of it may be integrated. `reason` is why the agent could not go on, as it says.
    pub fn end(&self, reason: Option<&str>) -> Option<(Stage, String)> {
        match &self.decision {
            Decision::Integrate(_) | Decision::Review { .. } => None,
            Decision::Clean => Some((Stage::Clean, "the test passes and nothing was changed".to_owned())),
            Decision::Unresolved => Some(match reason {
                Some(reason) => (Stage::Blocked, reason.to_owned()),
                None => (Stage::Unresolved, "the test does not pass".to_owned()),
            }),
            Decision::Refuse(refusal) => Some((Stage::Failed { kind: refusal.kind() }, refusal.to_string())),
        }
    }

    /// What the changed test comes to on the old implementation.
    pub fn without_fix(&self) -> Verdict {
        match &self.mutation {
            Mutation::Run(runs) => runs.verdict,
            Mutation::SameAsBefore => self.before.verdict,
            Mutation::NotMeasurable(_) => Verdict::NotMeasurable,
        }
    }

    /// The subject of the first commit that changes the implementation, or of the first; untrusted text.
    pub fn subject(&self) -> &str {
        let wanted = self.commits.iter().find(|commit| commit.touches_implementation());
        wanted.or(self.commits.first()).map(|commit| commit.subject.as_str()).unwrap_or_default()
    }

    /// In a few words, for trailers and reports.
    pub fn evidence(&self) -> String {
        let without = match &self.mutation {
            Mutation::Run(runs) => format!("{runs} without the fix"),
            Mutation::SameAsBefore => format!("{} without the fix", self.before),
            Mutation::NotMeasurable(_) => "without the fix not measurable".to_owned(),
        };
        let strength = match &self.strength {
            Some(strength) if strength.state != StrengthState::NotNeeded => format!(", strength {strength}"),
            _ => String::new(),
        };
        format!("passed {} before, {} after, {without}{strength}", self.before, self.after)
    }

    /// The lines it is worth in the journal.
    pub fn events(&self) -> Vec<Event> {
        let measured = |what, runs: Option<&Runs>, verdict| {
            let (task, attempt) = (self.task.clone(), self.attempt);
            let (passed, runs) = (runs.map(|runs| runs.passed), runs.map(|runs| runs.runs.clone()));
            Event::Measured(Measured { task, attempt, what, runs: runs.unwrap_or_default(), passed, verdict })
        };
        let mutation = match &self.mutation {
            Mutation::Run(runs) => Some(runs),
            Mutation::SameAsBefore => Some(&self.before),
            Mutation::NotMeasurable(_) => None,
        };
        let mut events = vec![
            measured(What::Before, Some(&self.before), self.before.verdict),
            measured(What::After, Some(&self.after), self.after.verdict),
            measured(What::Mutation, mutation, self.without_fix()),
            Event::Classified(Classified {
                task: self.task.clone(),
                attempt: self.attempt,
                commits: self.commits.iter().map(|commit| classified(commit, self.before.verdict)).collect(),
            }),
        ];
        events.extend(self.strength.clone().map(Event::Strength));
        events
    }
}

fn classified(commit: &CommitFacts, before: Verdict) -> ClassifiedCommit {
    let measured = match commit.measured.iter().collect::<Vec<_>>()[..] {
        [PathClass::Implementation] => Some(ChangeKind::FixImpl),
        [PathClass::Doc] => Some(ChangeKind::FixTutorial),
        [PathClass::Test] if before == Verdict::Passed => Some(ChangeKind::ImproveTest),
        [PathClass::Test] => Some(ChangeKind::FixTest),
        _ => None,
    };
    ClassifiedCommit {
        hash: commit.oid.clone(),
        subject: commit.subject.clone(),
        claimed: commit.claimed,
        measured,
        paths: commit.paths.iter().map(ToString::to_string).collect(),
    }
}

/// Why a candidate could not be measured. It says nothing about the candidate.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The repository could not be read.
    #[error("cannot read the commits of task `{task}`")]
    Git {
        /// The task.
        task: TaskId,
        /// Why.
        #[source]
        source: GitError,
    },
    /// The test could not be run.
    #[error("cannot run the test `{task}`")]
    Runner {
        /// The task.
        task: TaskId,
        /// Why.
        #[source]
        source: RunnerError,
    },
    /// The strength of its tests could not be looked at.
    #[error("cannot measure the strength of the tests of `{task}`")]
    Strength {
        /// The task.
        task: TaskId,
        /// Why.
        #[source]
        source: Box<StrengthError>,
    },
}

impl VerifyError {
    /// Whether it failed only because the user interrupted.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Git { source, .. } => source.is_interrupted(),
            Self::Runner { source, .. } => source.is_interrupted(),
            Self::Strength { source, .. } => source.is_interrupted(),
        }
    }
}

/// Measures candidates. One may be used by many threads at once.
pub struct Verifier<'a> {
    /// Where the repository is.
    pub host: &'a dyn Host,
    /// The repository that has the candidates' commits.
    pub repository: HostPath,
    /// A folder for short-lived files.
    pub scratch: HostPath,
    /// The commit all agents started from.
    pub base: String,
    /// How one test is run.
    pub tests: &'a Collector,
    /// How often each measurement is repeated.
    pub repeats: usize,
    /// What is a test, and what no agent may change.
    pub rules: &'a Rules,
    /// Where tests run.
    pub runner: &'a dyn Runner,
    /// How many mutants the tests of a task are measured with.
    pub mutants: usize,
    /// What measurements of this run have found out so far.
    pub across_tasks: &'a AcrossTasks,
    /// The program that tests drive, where one is known.
    pub program: Option<&'a Driven>,
}

/// A change whose tests are to be measured.
struct Measurable<'a> {
    candidate: &'a Candidate,
    parts: Parts,
    before: Verdict,
}

/// A change of tests between two commits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestChange<'a> {
    /// The task it is for.
    pub(crate) task: &'a TaskId,
    /// Which try of it.
    pub(crate) attempt: AttemptNumber,
    /// The commit before it.
    pub(crate) from: &'a str,
    /// The commit with it.
    pub(crate) to: &'a str,
    /// What the test of the task came to before it.
    pub(crate) before: Verdict,
    /// Whether there was no such test before it.
    pub(crate) is_new: bool,
}

/// What was found about a change of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    /// How strong the tests are.
    pub(crate) strength: Strength,
    /// Why a person has to look at it.
    pub(crate) reasons: Vec<ReviewReason>,
    /// Why it is refused.
    pub(crate) refusal: Option<Refusal>,
}

impl Verifier<'_> {
    /// Measures one candidate.
    pub fn verify(&self, candidate: &Candidate) -> Result<Verification, VerifyError> {
        let task = &candidate.task;
        let git_error = |source| VerifyError::Git { task: task.clone(), source };
        let run = |commit: &str| self.run_for(candidate, commit);
        let git = Git::new(self.host, self.repository.clone());
        let infos = git.commits_between(&self.base, &candidate.tip).map_err(git_error)?;
        let is_on_base = match infos.first() {
            Some(first) => first.parents.first() == Some(&self.base),
            None => candidate.tip == self.base,
        };
        let changes = git.patch_between(&self.base, &candidate.tip).map_err(git_error)?;
        let sides = Sides::read(&git, &changes, &self.rules.paths).map_err(git_error)?;
        let is_program = |side: &Side| matches!(side, Side::Program | Side::Both);
        let sided = || changes.iter().zip(&sides.sides);
        let implementation: Vec<&FileChange> =
            sided().filter(|(_, side)| is_program(side)).map(|(change, _)| change).collect();
        let others: Vec<&FileChange> =
            sided().filter(|(_, side)| !is_program(side)).map(|(change, _)| change).collect();
        let inline_tests: Vec<String> = others
            .iter()
            .filter(|change| self.rules.paths.class(&change.path) == PathClass::Implementation)
            .map(|change| change.path.to_string())
            .collect();
        let commits: Vec<CommitFacts> = infos
            .iter()
            .map(|commit| {
                CommitFacts::new(commit, &self.rules.paths)
                    .with_inline_tests(&inline_tests, &self.rules.paths)
            })
            .collect();

        let breach = match is_on_base {
            false => Some(Refusal::NotOnBase),
            true => {
                let (from, to) = (self.base.as_str(), candidate.tip.as_str());
                let change = Changed { from, to, commits: &commits, files: &changes, script: None };
                breach(&git, self.rules, &change).map_err(git_error)?
            }
        };
        let before = run(&self.base)?;
        let after = if changes.is_empty() { before.clone() } else { run(&candidate.tip)? };
        let mutation = match (implementation.is_empty(), others.is_empty()) {
            (true, true) => Mutation::NotMeasurable(Unmeasurable::NoChange),
            (true, false) => Mutation::NotMeasurable(Unmeasurable::NoFix),
            (false, true) => Mutation::SameAsBefore,
            (false, false) => Mutation::Run(run(&self.without_fix(&git, &others).map_err(git_error)?)?),
        };
        let mut verification = Verification {
            task: task.clone(),
            attempt: candidate.attempt,
            claims: candidate.claims,
            before,
            after,
            mutation,
            commits,
            strength: None,
            inline_tests,
            decision: Decision::Unresolved,
        };
        verification.decision = decide(Facts {
            breach,
            has_tests_or_docs: !others.is_empty(),
            has_implementation: !implementation.is_empty(),
            claims_green: candidate.claims.passing_after == Some(true),
            after: (verification.after.passed, verification.after.runs.len()),
            verdict: verification.after.verdict,
            without_fix: verification.without_fix(),
        });
        if let Decision::Integrate(parts) = verification.decision {
            let result = Measurable { candidate, parts, before: verification.before.verdict };
            let (strength, decision) = self.strength(&git, &result, &others)?;
            verification.strength = Some(strength);
            verification.decision = decision;
        }
        Ok(verification)
    }

    /// How strong the tests of a change are that holds so far, and what follows from that.
    fn strength(
        &self,
        git: &Git<'_>,
        result: &Measurable<'_>,
        others: &[&FileChange],
    ) -> Result<(Strength, Decision), VerifyError> {
        let Measurable { candidate, parts, before } = result;
        let task = &candidate.task;
        let git_error = |source| VerifyError::Git { task: task.clone(), source };
        let new = match parts {
            Parts::All => candidate.tip.clone(),
            Parts::WithoutImplementation => self.without_fix(git, others).map_err(git_error)?,
        };
        let (attempt, from, before) = (candidate.attempt, self.base.as_str(), *before);
        let change = TestChange { task, attempt, from, to: &new, before, is_new: false };
        let Judged { strength, reasons, refusal } = self.judge_tests(&change)?;
        let decision = match (refusal, reasons.is_empty()) {
            (Some(refusal), _) => Decision::Refuse(refusal),
            (None, true) => Decision::Integrate(*parts),
            (None, false) => Decision::Review { parts: *parts, reasons },
        };
        Ok((strength, decision))
    }

    /// Measures the tests that two commits differ in.
    pub(crate) fn judge_tests(&self, change: &TestChange<'_>) -> Result<Judged, VerifyError> {
        let TestChange { task, attempt, from, to, before, is_new } = *change;
        let git = Git::new(self.host, self.repository.clone());
        let git_error = |source| VerifyError::Git { task: task.clone(), source };
        let files = git.patch_between(from, to).map_err(git_error)?;
        let sides = Sides::read(&git, &files, &self.rules.paths).map_err(git_error)?;
        let mut reasons = self.rules.reasons_of_reach(&files);
        if sides.tests.is_empty() {
            let strength = Strength::not_needed(task.clone(), attempt);
            return Ok(Judged { strength, reasons, refusal: None });
        }
        let (old, old_tree) = self.with_old_tests(&git, to, &sides).map_err(git_error)?;
        let measure = Measure {
            git: &git,
            tests: self.tests,
            runner: self.runner,
            paths: &self.rules.paths,
            mutants: self.mutants,
            repeats: self.repeats,
            across_tasks: self.across_tasks,
            program: self.program,
        };
        let subject = Subject {
            task,
            attempt,
            files: &sides.tests,
            old: &old,
            old_tree: &old_tree,
            new: to,
            base: &self.base,
            before,
            is_new,
            changes_program: sides.sides.iter().any(|side| matches!(side, Side::Program | Side::Both)),
        };
        let finding = measure
            .measure(&subject)
            .map_err(|source| VerifyError::Strength { task: task.clone(), source: Box::new(source) })?;
        reasons.extend(finding.reasons);
        Ok(Judged { strength: finding.strength, reasons, refusal: finding.refusal })
    }

    /// The result with the tests as they were at the base, and the tree of that commit.
    fn with_old_tests(&self, git: &Git<'_>, new: &str, sides: &Sides) -> Result<(String, String), GitError> {
        self.host.files().make_folder(&self.scratch)?;
        let tree = git.overlay_tree(new, &sides.tests.old_entries(git)?, &self.scratch)?;
        let commit = git.commit_tree(&NewCommit {
            tree: &tree,
            parent: new,
            message: "with the old tests",
            name: "mngr",
            email: "mngr",
            time: 0,
        })?;
        Ok((commit, tree))
    }

    /// A commit with the changed tests and documentation on the old implementation.
    fn without_fix(&self, git: &Git<'_>, others: &[&FileChange]) -> Result<String, GitError> {
        self.host.files().make_folder(&self.scratch)?;
        let entries: Vec<TreeEntry> = others.iter().map(|change| (*change).into()).collect();
        let tree = git.overlay_tree(&self.base, &entries, &self.scratch)?;
        git.commit_tree(&NewCommit {
            tree: &tree,
            parent: &self.base,
            message: "without the fix",
            name: "mngr",
            email: "mngr",
            time: 0,
        })
    }

    /// Runs the test of a candidate several times at a commit. One that depends on the order has to pass alone and
    /// together with the others.
    fn run_for(&self, candidate: &Candidate, commit: &str) -> Result<Runs, VerifyError> {
        let alone = self.run(&candidate.task, commit)?;
        match &candidate.together {
            Some(others) if alone.verdict == Verdict::Passed => {
                self.run_together(&candidate.task, others, commit)
            }
            _ => Ok(alone),
        }
    }

    /// Runs many tests in one process several times at a commit, and tells what one of them comes to.
    fn run_together(&self, task: &TaskId, ids: &[TaskId], commit: &str) -> Result<Runs, VerifyError> {
        let bench = Bench { runner: self.runner, commit };
        let mut reports = Vec::new();
        for _ in 0..self.repeats.max(1) {
            let examined = self.tests.run_together(&bench, ids);
            let examined = examined.map_err(|source| VerifyError::Runner { task: task.clone(), source })?;
            // Where a process had to be ended, the last one that had the test speaks for it.
            let Some(own) = examined.into_iter().rfind(|examined| examined.tests.contains_key(task)) else {
                return self.run(task, commit);
            };
            let is_pass = own.tests.get(task).is_some_and(|result| result.status == TestStatus::Passed);
            reports.push(TestReport { run: own.run, is_pass, tail: own.tail });
        }
        Ok(Runs::of(reports))
    }

    /// Runs a test several times at a commit.
    pub(super) fn run(&self, task: &TaskId, commit: &str) -> Result<Runs, VerifyError> {
        let reports: Vec<TestReport> = (0..self.repeats.max(1))
            .map(|_| run_test(self.runner, self.tests, commit, task))
            .collect::<Result<_, _>>()
            .map_err(|source| VerifyError::Runner { task: task.clone(), source })?;
        Ok(Runs::of(reports))
    }
}

impl Runs {
    fn of(reports: Vec<TestReport>) -> Self {
        let shown = reports.iter().find(|report| !report.is_pass).or(reports.last());
        Self {
            tail: shown.map(|report| report.tail.clone()).unwrap_or_default(),
            verdict: Verdict::of(reports.iter().map(|report| report.is_pass)),
            passed: reports.iter().filter(|report| report.is_pass).count(),
            runs: reports.into_iter().map(|report| report.run).collect(),
        }
    }
}
