//! Why a commit of the result is there: from its trailers and from the journal, without asking anybody.

use std::collections::BTreeSet;

use mngr_host::git::{CommitInfo, Git};
use mngr_model::run::{Entry, Event, Integration, IntegrationStep, Run, Started, Strength, Task, TaskId};

use super::error::IntegrateError;
use super::line::Line;
use super::message::trailer;

/// Fewer digits do not mean a commit.
const SHORTEST_HASH: usize = 4;

/// What is known about a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// Its name.
    pub oid: String,
    /// Its first line.
    pub subject: String,
    /// The tasks it stands for.
    pub tasks: Vec<TaskId>,
    /// Its trailers, in order; untrusted text.
    pub trailers: Vec<(String, String)>,
    /// The files it changes.
    pub paths: Vec<String>,
    /// The steps of the last integration that were about it or its tasks.
    pub steps: Vec<Integration>,
    /// How strong the tests of its tasks are, where that was measured.
    pub strength: Vec<Strength>,
}

/// Explains a commit of a branch of the run: by any unique beginning of its name, a branch or another revision, a task it
/// is for, or what tells of that task: its agent, the agent's branch or commit, or the end of its id.
pub fn why(git: &Git<'_>, started: &Started, what: &str, journal: &[Entry]) -> Result<Why, IntegrateError> {
    let line = Line::read(git, &started.run, &started.base_commit)?;
    let info = &line.commits[find(git, &line, what, journal)?];
    let tasks = tasks_of(info);
    let steps: Vec<&Integration> = journal.iter().filter_map(step_of).collect();
    // What an earlier integration came to no longer counts.
    let last = steps.iter().rposition(|step| step.step == IntegrationStep::Started).unwrap_or(0);
    let is_about = |step: &&&Integration| match step.step {
        IntegrationStep::Started | IntegrationStep::Finished | IntegrationStep::Unknown => false,
        _ if step.commit.is_some() => step.commit.as_ref() == Some(&info.oid),
        _ => step.tasks.iter().any(|task| tasks.contains(task)),
    };
    let steps = &steps[last..];
    let of_integrator = strength_of_integrator(&info.oid, steps);
    let of_tasks = || tasks.iter().filter_map(|task| strength_of(journal, task)).collect();
    Ok(Why {
        oid: info.oid.clone(),
        subject: info.subject().to_owned(),
        trailers: trailers(&info.message),
        paths: info.paths.iter().map(ToString::to_string).collect(),
        steps: steps.iter().filter(is_about).map(|step| (*step).clone()).collect(),
        strength: of_integrator.map_or_else(of_tasks, |strength| vec![strength]),
        tasks,
    })
}

/// The place of the commit that is meant.
fn find(git: &Git<'_>, line: &Line, what: &str, journal: &[Entry]) -> Result<usize, IntegrateError> {
    let unknown = match line.find(what) {
        Ok(at) => return Ok(at),
        Err(error) => error,
    };
    if let Ok(oid) = git.resolve(what)
        && let Some(at) = line.commits.iter().position(|commit| commit.oid == oid)
    {
        return Ok(at);
    }
    let Some(task) = task_of(what, journal) else { return Err(unknown) };
    line.find(task.as_str()).map_err(|error| in_no_commit(task.as_str(), journal).unwrap_or(error))
}

/// The task that is meant by its id, its agent, the branch or a commit of its agent, or the end of its id.
fn task_of(what: &str, journal: &[Entry]) -> Option<TaskId> {
    let run = Run::fold(journal);
    let what = what.strip_prefix("refs/heads/").unwrap_or(what);
    // Branch and agent are called alike: `name/run/slug` and `name-run-slug`.
    let called = what.replace('/', "-");
    let is_agent = |task: &&Task| {
        task.attempts.iter().any(|attempt| attempt.agent.as_ref().is_some_and(|agent| *agent == called))
    };
    let has_commit = |task: &&Task| {
        let mut commits = task.attempts.iter().flat_map(|attempt| &attempt.commits);
        what.len() >= SHORTEST_HASH && commits.any(|commit| commit.hash.starts_with(what))
    };
    let is_end = |task: &&Task| {
        let before = task.id.as_str().strip_suffix(what);
        !what.is_empty() && before.is_some_and(|before| before.ends_with(['/', ':', ' ', '.']))
    };
    let only = |is_meant: &dyn Fn(&&Task) -> bool| {
        let mut meant = run.tasks.iter().filter(|task| is_meant(task));
        meant.next().filter(|_| meant.next().is_none()).map(|task| task.id.clone())
    };
    let is_it = |task: &&Task| task.id.as_str() == what || task.slug == what;
    only(&is_it).or_else(|| only(&is_agent)).or_else(|| only(&has_commit)).or_else(|| only(&is_end))
}

/// How a test of the run ended that has no commit.
fn in_no_commit(what: &str, journal: &[Entry]) -> Option<IntegrateError> {
    let task: TaskId = what.parse().ok()?;
    let end = journal.iter().rev().find_map(|entry| match &entry.event {
        Event::Stage(change) if change.task == task && change.evidence.is_empty() => {
            Some(change.stage.to_string())
        }
        Event::Stage(change) if change.task == task => Some(format!("{}: {}", change.stage, change.evidence)),
        _ => None,
    })?;
    Some(IntegrateError::InNoCommit { task, end })
}

/// The latest word on the strength of a task's tests.
fn strength_of(journal: &[Entry], task: &TaskId) -> Option<Strength> {
    journal.iter().rev().find_map(|entry| match &entry.event {
        Event::Strength(strength) if strength.task == *task => Some(strength.clone()),
        _ => None,
    })
}

/// What was measured of a commit that the integrator made. It may have had other names before something else was taken
/// over or dropped.
fn strength_of_integrator(oid: &str, steps: &[&Integration]) -> Option<Strength> {
    let mut names = BTreeSet::from([oid.to_owned()]);
    for step in steps.iter().rev() {
        let rewritten = step.details.get("rewritten").and_then(|it| it.as_object());
        for (old, new) in rewritten.into_iter().flatten() {
            if new.as_str().is_some_and(|new| names.contains(new)) {
                names.insert(old.clone());
            }
        }
    }
    let is_about = |step: &&&Integration| step.commit.as_ref().is_some_and(|commit| names.contains(commit));
    let said = steps.iter().filter(is_about).find_map(|step| step.details.get("strength"))?;
    serde_json::from_value(said.clone()).ok()
}

fn step_of(entry: &Entry) -> Option<&Integration> {
    match &entry.event {
        Event::Integration(step) => Some(step),
        _ => None,
    }
}

/// The tasks a commit stands for.
pub(super) fn tasks_of(commit: &CommitInfo) -> Vec<TaskId> {
    let values = trailers(&commit.message).into_iter().filter(|(name, _)| name == trailer::TASK);
    values.filter_map(|(_, value)| value.parse().ok()).collect()
}

/// The lines of the last paragraph.
pub(super) fn trailers(message: &str) -> Vec<(String, String)> {
    let last = message.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let pairs = last.lines().filter_map(|line| line.split_once(": "));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
