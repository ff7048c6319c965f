//! The hands that measure what agents claim, a few at once, while other agents still work.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use mngr_host::files::{Access, Durability, FilesError};
use mngr_model::HostPath;
use mngr_model::run::{Attempt, AttemptKey, FailureKind, Outcome, QueueReason, Run, Task, TaskId};
use mngr_ops::error_chain;

use super::news::{Failure, News, Word};
use crate::candidate::{Candidate, Claims, Cost};
use crate::integrate::Input;
use crate::run::Site;
use crate::verify::{Verification, VerifyError};

/// What was measured, beside what was published.
const KEPT: &str = "verification.json";
/// The commits of an attempt, beside what it says.
const BUNDLE: &str = "branch.bundle";
/// The name of the branch that holds them.
const BRANCH: &str = "branch";

/// Something to be measured.
pub(super) struct Job {
    pub(super) key: AttemptKey,
    /// What was published.
    pub(super) folder: HostPath,
    pub(super) outcome: Outcome,
    pub(super) cost: Cost,
    /// The tests it has to pass together with, where it passes alone.
    pub(super) together: Option<Arc<[TaskId]>>,
}

/// The tests with which the test of a task has to pass in one process: all of the run, if it passes alone and fails with them.
pub(super) fn together(run: &Run, task: &Task) -> Option<Arc<[TaskId]>> {
    let depends_on_order = task.reason == QueueReason::Unstable;
    depends_on_order.then(|| run.tasks.iter().map(|task| task.id.clone()).collect())
}

/// Jobs that wait for a hand.
#[derive(Default)]
pub(super) struct Jobs {
    waiting: Mutex<(VecDeque<Job>, bool)>,
    changed: Condvar,
}

impl Jobs {
    /// One more.
    pub(super) fn add(&self, job: Job) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).0.push_back(job);
        self.changed.notify_one();
    }

    /// No more come: hands go home after what they have in hand. What waits is left for whoever goes on with the run.
    pub(super) fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.changed.notify_all();
    }

    fn next(&self) -> Option<Job> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if waiting.1 {
                return None;
            }
            if let Some(job) = waiting.0.pop_front() {
                return Some(job);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A hand: measures until no more jobs come.
pub(super) fn work(site: &Site, jobs: &Jobs, news: &Sender<News>) {
    while let Some(job) = jobs.next() {
        let key = job.key.clone();
        let measured = measure(site, &job).map(Box::new);
        if news.send(News::Attempt(key, Word::Measured(measured))).is_err() {
            return;
        }
    }
}

fn measure(site: &Site, job: &Job) -> Result<Verification, Failure> {
    let internal = |text: String| Failure::new(FailureKind::Internal, text);
    let shop = &site.shop;
    let candidate = candidate(site, job)?;
    let verification = shop.verifier().verify(&candidate).map_err(|error| {
        let kind = if error.is_interrupted() { FailureKind::Interrupted } else { FailureKind::Internal };
        Failure::new(kind, error_chain(&error))
    })?;
    keep(site, &job.folder, &verification).map_err(internal)?;
    Ok(verification)
}

/// Keeps what was measured beside what was published.
fn keep(site: &Site, folder: &HostPath, verification: &Verification) -> Result<(), String> {
    let text = serde_json::to_vec_pretty(verification).map_err(|error| error.to_string())?;
    let files = site.shop.host().files();
    files
        .write(&folder.join(KEPT), &text, Access::Private, Durability::Synced)
        .map_err(|error| error_chain(&error))
}

/// The agent's work, its commits in the repository.
pub(super) fn candidate(site: &Site, job: &Job) -> Result<Candidate, Failure> {
    let tip = tip(site, &job.folder, &site.shop.base)?;
    let (task, attempt) = job.key.clone();
    let (claims, together) = (Claims::from(&job.outcome), job.together.clone());
    Ok(Candidate { task, attempt, tip, claims, cost: job.cost, together })
}

/// The last commit of what was published, brought into the repository; where it started from if there is none.
pub(crate) fn tip(site: &Site, folder: &HostPath, start: &str) -> Result<String, Failure> {
    let shop = &site.shop;
    let internal = |text: String| Failure::new(FailureKind::Internal, text);
    let files = shop.host().files();
    let bundle = folder.join(BUNDLE);
    if !files.exists(&bundle).map_err(|error| internal(error_chain(&error)))? {
        return Ok(start.to_owned());
    }
    let branch = files.read_text(&folder.join(BRANCH)).map_err(|error| internal(error_chain(&error)))?;
    let fetched = shop.git().take_bundle(&bundle, branch.trim_end());
    fetched.map_err(|error| internal(error_chain(&error)))
}

/// Notes the branch of what was taken in.
pub(super) fn note_branch(site: &Site, folder: &HostPath, branch: &str) -> Result<(), FilesError> {
    let line = format!("{branch}\n");
    site.shop.host().files().write(&folder.join(BRANCH), line.as_bytes(), Access::Private, Durability::Cached)
}

/// What was measured about an attempt before, if that is whole.
pub(crate) fn kept(site: &Site, folder: &HostPath) -> Option<Verification> {
    let bytes = site.shop.host().files().read_if_there(&folder.join(KEPT)).ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// Starts the hands.
pub(super) fn hire(
    site: &Arc<Site>,
    jobs: &Arc<Jobs>,
    news: &Sender<News>,
) -> Result<Vec<std::thread::JoinHandle<()>>, std::io::Error> {
    let hand = |number| {
        let (site, jobs, news) = (site.clone(), jobs.clone(), news.clone());
        let name = format!("measure-{number}");
        std::thread::Builder::new().name(name).spawn(move || work(&site, &jobs, &news))
    };
    (0..site.shop.settings.pace.tests.max(1)).map(hand).collect()
}

/// A task and what may be integrated of it, once it was measured.
pub(crate) fn input(
    site: &Site,
    run: &Run,
    task: &TaskId,
    verification: Verification,
) -> Option<(TaskId, Input)> {
    let attempt = run.task(task)?.attempts.iter().find(|attempt| attempt.number == verification.attempt)?;
    let tip = verification.commits.last().map_or_else(|| site.shop.base.clone(), |commit| commit.oid.clone());
    let candidate = Candidate {
        task: task.clone(),
        attempt: attempt.number,
        tip,
        claims: verification.claims,
        cost: Cost { tokens: attempt.tokens, dollars: attempt.cost },
        together: together(run, run.task(task)?),
    };
    Some((task.clone(), Input { candidate, verification }))
}

/// What an orchestrator before this one left of an attempt.
pub(crate) struct Earlier {
    pub(crate) input: Input,
    /// Whether it was measured here, because that was not kept or not whole.
    pub(crate) is_measured_anew: bool,
}

/// The same as [`input`] for what was measured by an orchestrator before this one; measured anew if that was not kept.
pub(crate) fn again(
    site: &Site,
    run: &Run,
    task: &Task,
    attempt: &Attempt,
) -> Result<Option<Earlier>, VerifyError> {
    let Some(outcome) = attempt.outcome.clone() else { return Ok(None) };
    let folder = site.folder.attempt(&task.slug, attempt.number);
    let cost = Cost { tokens: attempt.tokens, dollars: attempt.cost };
    let together = together(run, task);
    let job = Job { key: (task.id.clone(), attempt.number), folder, outcome, cost, together };
    // Its commits may be gone from the repository: nothing there holds them.
    let Ok(candidate) = candidate(site, &job) else { return Ok(None) };
    // An earlier binary merged changes of tests without measuring them.
    let kept = kept(site, &job.folder).filter(|kept| !kept.is_unmeasured());
    let is_measured_anew = kept.is_none();
    let verification = match kept {
        Some(verification) => verification,
        None => {
            let verification = site.shop.verifier().verify(&candidate)?;
            // What is not kept is measured once more by whoever comes next.
            let _ = keep(site, &job.folder, &verification);
            verification
        }
    };
    let input = input(site, run, &task.id, verification);
    Ok(input.map(|(_, input)| Earlier { input, is_measured_anew }))
}
