//! `tutorial sync --launch`: agents write and mend the tests that a tutorial lacks, each for a portion of the work.

use mngr_e2e::tutorial::work::{WorkGroup, WorkItem};
use mngr_e2e::tutorial::{Script, Strictness, Suite, TestPath, check};
use mngr_host::git::{Git, IgnoredFiles};
use mngr_host::interrupt::Interrupted;
use mngr_model::AgentName;
use serde::Serialize;

use super::crew::{self, BranchFate, CrewOptions, Ending, Job};
use super::judge::{Judge, Judgement};
use super::prompts;
use crate::create::UncleanFiles;
use crate::fleet::Agent;
use crate::pull::{self, MergeInto, PullRequest, PullWhat};
use crate::sync::{BranchReport, MergeReport, SyncOptions};
use crate::world::World;

/// What agents are asked for.
pub struct SyncTestsRequest<'a> {
    /// The tutorial.
    pub script: &'a Script,
    /// Where it is, below the top of the repository.
    pub name: String,
    /// Where the tests are, below the top of the repository.
    pub tests: Vec<String>,
    /// The work, one portion for each agent.
    pub groups: Vec<WorkGroup>,
    /// Says whether the branch of an agent is merged into the one the user is on; without it none is.
    pub judge: Option<&'a dyn Judge>,
    /// Which agents.
    pub crew: CrewOptions,
}

/// What the tests of one agent come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Portion {
    /// What is still to be done of its portion.
    pub open: Vec<WorkItem>,
    /// How much of it is done.
    pub done: usize,
    /// Files it did not commit.
    pub uncommitted: usize,
    /// Its branch.
    pub branch: Option<BranchReport>,
    /// What was found about its tests, where they are to be merged.
    pub measured: Option<Judgement>,
    /// The merge, where one was asked for.
    pub merge: Option<MergeReport>,
    /// What went wrong with it.
    pub problems: Vec<String>,
}

/// What one agent came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Synced {
    /// Its name.
    pub agent: AgentName,
    /// How it ended.
    #[serde(flatten)]
    pub ending: Ending,
    /// The branch it worked on.
    pub work_branch: Option<String>,
    /// The headings its portion stands under.
    pub sections: Vec<String>,
    /// What it made.
    #[serde(flatten)]
    pub portion: Portion,
}

/// No agents could be asked.
#[derive(Debug, thiserror::Error)]
pub enum SyncTestsError {
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

/// Has agents write the tests, and brings their branches.
pub fn sync(world: &World, request: &SyncTestsRequest<'_>) -> Result<Vec<Synced>, SyncTestsError> {
    let name = crew::names("sync");
    let named: Vec<(AgentName, &WorkGroup)> = request
        .groups
        .iter()
        .enumerate()
        .filter_map(|(number, group)| Some((name(number)?, group)))
        .collect();
    let job = |(name, group): &(AgentName, &WorkGroup)| Job {
        name: name.clone(),
        label: "sync",
        task: prompts::sync_task(&request.name, &request.tests, group),
        files: Vec::new(),
        // Their branches are merged: what the user has not committed would stand in the way.
        unclean: UncleanFiles::Refuse,
        branch: BranchFate::Keep,
    };
    let jobs = named.iter().map(job).collect();
    let group_of = |name: &AgentName| named.iter().find(|(agent, _)| agent == name).map(|(_, group)| *group);
    let done = crew::work(world, jobs, &request.crew, |agent, ending| {
        let items = group_of(agent.name()).map(|group| group.items.as_slice()).unwrap_or_default();
        let mut portion = look(request, items, agent);
        bring(world, agent, MergeInto::Nothing, &mut portion);
        // What an agent left half-done is for the user to look at.
        if let (Some(judge), Ending::Finished) = (request.judge, ending) {
            merge(world, agent, judge, &mut portion);
        }
        portion
    })?;
    let synced = done.into_iter().map(|job| {
        let group = group_of(&job.agent);
        let items = group.map(|group| group.items.clone()).unwrap_or_default();
        Synced {
            ending: job.ending,
            work_branch: job.branch,
            sections: group.map(|group| group.sections.clone()).unwrap_or_default(),
            portion: job.made.unwrap_or_else(|| untouched(items)),
            agent: job.agent,
        }
    });
    Ok(synced.collect())
}

fn untouched(open: Vec<WorkItem>) -> Portion {
    Portion { open, done: 0, uncommitted: 0, branch: None, measured: None, merge: None, problems: Vec::new() }
}

/// What is done and what is still open in the agent's own checkout.
fn look(request: &SyncTestsRequest<'_>, items: &[WorkItem], agent: &Agent) -> Portion {
    let work_dir = &agent.facts.record.work_dir;
    let path = |name: &String| TestPath { path: work_dir.join(name), shown: name.clone() };
    let paths: Vec<TestPath> = request.tests.iter().map(path).collect();
    let mut portion = untouched(items.to_vec());
    match Suite::find(agent.host.files(), &paths, Strictness::Tutorial) {
        Ok(suite) => {
            let report = check(request.script, &suite, Strictness::Tutorial);
            portion.open.retain(|item| item.is_open(&report));
            portion.done = items.len() - portion.open.len();
        }
        Err(error) => portion.problems.push(crate::error_chain(&error)),
    }
    match Git::new(agent.host.as_ref(), work_dir.clone()).list_unclean(IgnoredFiles::Leave) {
        Ok(unclean) => portion.uncommitted = unclean.len(),
        Err(error) => portion.problems.push(crate::error_chain(&error)),
    }
    portion
}

/// Merges the agent's branch if its tests are good.
fn merge(world: &World, agent: &Agent, judge: &dyn Judge, portion: &mut Portion) {
    let Some(branch) = portion.branch.as_ref().filter(|branch| branch.ahead > 0) else { return };
    let tip = branch.commit.clone();
    world.reporter.progress(&format!("Measuring the tests of agent {}", agent.name()));
    match judge.judge(&tip) {
        Err(problem) => portion.problems.push(problem),
        Ok(measured) => {
            let may_be_merged = measured.may_be_merged();
            portion.measured = Some(measured);
            if may_be_merged {
                bring(world, agent, MergeInto::CurrentAt(tip), portion);
            }
        }
    }
}

/// Brings the agent's branch, as `pull` does.
fn bring(world: &World, agent: &Agent, merge: MergeInto, portion: &mut Portion) {
    let bring = |merge: MergeInto| {
        let what = PullWhat::Branch(merge);
        pull::pull(world, agent, &PullRequest { what, destination: None, options: SyncOptions::default() })
    };
    match bring(merge) {
        Ok(report) => (portion.branch, portion.merge) = (report.branch, report.merge),
        Err(error) => {
            portion.problems.push(crate::error_chain(&error));
            // The branch and the command that merges it are there all the same.
            portion.branch = bring(MergeInto::Nothing).ok().and_then(|report| report.branch);
        }
    }
}
