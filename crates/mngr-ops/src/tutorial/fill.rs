//! `tutorial fill --launch`: agents propose blocks for the gaps of a script.

use mngr_e2e::tutorial::Script;
use mngr_e2e::tutorial::fill::{
    Gap, Judge, LARGEST_FILE, Offers, Origin, Proposal, Status, Store, StoreError, gaps, insert_marked,
    read_offers,
};
use mngr_host::files::FileKind;
use mngr_host::interrupt::Interrupted;
use mngr_model::{AgentName, HostPath};
use serde::Serialize;

use super::crew::{self, BranchFate, CrewOptions, Ending, FOLDER, Job};
use super::decide::{self, DecideError};
use super::prompts;
use crate::create::UncleanFiles;
use crate::fleet::Agent;
use crate::world::World;

/// What agents leave, in the folder of their task.
const PROPOSALS: &str = "proposals.jsonl";

/// When proposals get into the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insertion {
    /// When they are accepted.
    Later,
    /// At once, marked.
    AtOnce,
}

/// What agents are asked for.
pub struct FillRequest<'a> {
    /// The script.
    pub script: &'a Script,
    /// Where it is.
    pub path: HostPath,
    /// What it is called in proposals: its path below the folder that `root` names.
    pub name: String,
    /// The top of the project.
    pub root: HostPath,
    /// Everything the programs of the tutorial say about themselves.
    pub help: String,
    /// Judges what they propose.
    pub judge: Judge<'a>,
    /// Where proposals are kept.
    pub store: Store<'a>,
    /// How many proposals at most, in all.
    pub max: usize,
    /// When they get into the script.
    pub insertion: Insertion,
    /// Which agents.
    pub crew: CrewOptions,
}

/// What one agent came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Filled {
    /// Its name.
    pub agent: AgentName,
    /// How it ended.
    #[serde(flatten)]
    pub ending: Ending,
    /// What it proposed and nobody had proposed before.
    pub proposals: Vec<Proposal>,
    /// How many of its proposals were known already.
    pub known: usize,
    /// How many were more than asked for.
    pub left_out: usize,
    /// Why there are none.
    pub problem: Option<String>,
}

/// No proposals could be asked for or kept.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
    /// Proposals could not be kept.
    #[error("the proposals cannot be kept")]
    Store(#[from] StoreError),
    /// They could not be put into the script.
    #[error("the proposals cannot be put into the script")]
    Insert(#[from] DecideError),
}

/// Asks agents, and keeps what they propose.
pub fn fill(world: &World, request: &FillRequest<'_>) -> Result<Vec<Filled>, FillError> {
    let gaps = gaps(request.script);
    if gaps.is_empty() {
        return Ok(Vec::new());
    }
    let jobs = jobs(world, request, &gaps)?;
    let share = request.max.div_ceil(jobs.len().max(1));
    let done = crew::work(world, jobs, &request.crew, |agent, _| offers(agent, share))?;
    let mut all = Vec::new();
    for job in done {
        let (offers, problem) = match job.made {
            Some(Ok(offers)) => (offers, None),
            Some(Err(problem)) => (Offers::default(), Some(problem)),
            None => (Offers::default(), None),
        };
        let origin =
            Origin { script: request.name.clone(), agent: job.agent.to_string(), time: world.clock.now() };
        let mut filled = Filled {
            agent: job.agent,
            ending: job.ending,
            proposals: Vec::new(),
            known: 0,
            left_out: offers.left_out,
            problem,
        };
        for line in &offers.lines {
            let proposal = request.judge.judge(line, &origin);
            if request.store.has(&proposal.id)? {
                filled.known += 1;
            } else {
                request.store.save(&proposal)?;
                filled.proposals.push(proposal);
            }
        }
        all.push(filled);
    }
    if request.insertion == Insertion::AtOnce {
        insert(world, request, &all)?;
    }
    Ok(all)
}

/// The gaps in as many parts as there are agents.
fn jobs(world: &World, request: &FillRequest<'_>, gaps: &[Gap]) -> Result<Vec<Job>, FillError> {
    let script = world.client.files().read(&request.path).map_err(StoreError::from)?;
    let parts = request.crew.at_once.clamp(1, gaps.len());
    let name = crew::names("fill");
    let jobs = gaps.chunks(gaps.len().div_ceil(parts)).enumerate().filter_map(|(number, part)| {
        Some(Job {
            name: name(number)?,
            label: "fill",
            task: prompts::fill_task(part, request.max.div_ceil(parts)),
            files: vec![("tutorial.sh", script.clone()), ("help.md", request.help.clone().into_bytes())],
            // They change nothing, and find the script as it is beside their task.
            unclean: UncleanFiles::LeaveBehind,
            branch: BranchFate::Remove,
        })
    });
    Ok(jobs.collect())
}

/// What an agent wrote. It can be anything, a pipe or a link too.
fn offers(agent: &Agent, max: usize) -> Result<Offers, String> {
    let files = agent.host.files();
    let path = agent.facts.record.work_dir.join(FOLDER).join(PROPOSALS);
    let text = |error: &dyn std::error::Error| crate::error_chain(error);
    match files.stat(&path).map_err(|error| text(&error))? {
        None => Err("it proposed nothing".to_owned()),
        Some(stat) if stat.kind != FileKind::File => Err("what it left is not a file".to_owned()),
        Some(_) => {
            let bytes = files.read_part(&path, 0, LARGEST_FILE + 1).map_err(|error| text(&error))?;
            read_offers(&bytes, max).map_err(|error| text(&error))
        }
    }
}

fn insert(world: &World, request: &FillRequest<'_>, filled: &[Filled]) -> Result<(), FillError> {
    let proposed = filled.iter().flat_map(|filled| &filled.proposals);
    for proposal in proposed.filter(|proposal| proposal.status == Status::Proposed) {
        decide::edit(world, &request.store, &request.root, proposal, |bytes| {
            Ok(insert_marked(bytes, proposal)?)
        })?;
    }
    Ok(())
}
