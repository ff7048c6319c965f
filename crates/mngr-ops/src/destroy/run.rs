//! The order of steps.
//!
//! Budget for a stopped worktree agent on this machine: one tmux process, three of git, and one `cp` for its events
//! and for each place where its type keeps the conversation.
//! The host lock is held only while the journal is opened, so that many agents go at once.
//!
//! What will happen is written into the trash before it happens. The agent is gone from the moment its state folder is
//! renamed: a failure before that is taken back, a command killed anywhere is carried through by the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mngr_agents::detect;
use mngr_agents::transcript::Brand;
use mngr_agents::usage::SessionTotals;
use mngr_host::fault;
use mngr_host::files::{Change, Durability, Presence};
use mngr_host::glance::Glance;
use mngr_host::host::{EndedCommand, Host, RunningCommands, SurveyError};
use mngr_host::interrupt;
use mngr_model::facts::{AgentFacts, Detail};
use mngr_model::journal::Header;
use mngr_model::{AgentId, AgentRecord, AgentState, HostId, HostPath};

use super::begin::begin;
use super::error::DestroyError;
use super::plan::needs_force;
use super::preserve::{self, Preserved};
use super::request::{DestroyOptions, Destroyed, WorkDir};
use crate::again::{LookError, look_again};
use crate::boot;
use crate::fleet::{Agent, memory};
use crate::stop::{self, StopError, StopOptions};
use crate::trash::{self, BranchRemoval, Manifest, Neighbours, TrashError, Work};
use crate::world::World;
use crate::{fanout, hosts, sync};

/// How long what was seen of an agent is believed.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// Destroys one agent.
pub fn destroy(world: &World, agent: &Agent, options: &DestroyOptions) -> Result<Destroyed, DestroyError> {
    let ground = Ground::of(agent.host.as_ref(), &BTreeSet::from([agent.id().clone()]))?;
    destroy_one(world, agent, options, &ground)
}

/// Destroys agents together, many at once; the results are in their order. Those that go together do not hold each
/// other's folders back.
pub fn destroy_many(
    world: &World,
    agents: &[&Agent],
    options: &DestroyOptions,
) -> Vec<Result<Destroyed, DestroyError>> {
    let ids: BTreeSet<AgentId> = agents.iter().map(|agent| agent.id().clone()).collect();
    let mut grounds: BTreeMap<HostId, Ground> = BTreeMap::new();
    for agent in agents {
        let id = &agent.host.info().id;
        if !grounds.contains_key(id)
            && let Ok(found) = Ground::of(agent.host.as_ref(), &ids)
        {
            grounds.insert(id.clone(), found);
        }
    }
    let destroy_it = |agent: &Agent| match grounds.get(&agent.host.info().id) {
        Some(ground) => destroy_one(world, agent, options, ground),
        // Asked again for this agent alone, so that it has an error to tell.
        None => destroy(world, agent, options),
    };
    let mut results: BTreeMap<usize, Result<Destroyed, DestroyError>> = BTreeMap::new();
    let mut left: Vec<(usize, &Agent)> = agents.iter().copied().enumerate().collect();
    while !left.is_empty() {
        let (now, later) = first_to_go(left);
        let indices: Vec<usize> = now.iter().map(|(index, _)| *index).collect();
        let done = fanout::fan_out(now, |(_, agent)| destroy_it(agent));
        results.extend(indices.into_iter().zip(done));
        left = later;
    }
    results.into_values().collect()
}

/// Those in whose work dir no other's repository lies, and the rest. A worktree is put away while its repository is where it
/// was; so is the clone of an agent before that agent.
#[allow(clippy::type_complexity, reason = "the same list, divided")]
fn first_to_go(agents: Vec<(usize, &Agent)>) -> (Vec<(usize, &Agent)>, Vec<(usize, &Agent)>) {
    let repository = |agent: &Agent| {
        let id = agent.host.info().id.clone();
        Some((id, agent.facts.record.workspace.as_ref()?.repository.clone()?))
    };
    // Many agents share one repository.
    let mut used: BTreeMap<(HostId, HostPath), usize> = BTreeMap::new();
    for repository in agents.iter().filter_map(|(_, agent)| repository(agent)) {
        *used.entry(repository).or_default() += 1;
    }
    let is_needed = |agent: &Agent| {
        let (host, dir) = (&agent.host.info().id, &agent.facts.record.work_dir);
        let own = repository(agent);
        let is_others = |at: &(HostId, HostPath), count: usize| count > 1 || own.as_ref() != Some(at);
        used.iter().any(|(at, count)| at.0 == *host && at.1.is_within(dir) && is_others(at, *count))
    };
    let (later, now): (Vec<_>, Vec<_>) = agents.into_iter().partition(|(_, agent)| is_needed(agent));
    // Two that stand in each other go together.
    if now.is_empty() { (later, now) } else { (now, later) }
}

/// What agents that go together were seen to stand on.
struct Ground {
    /// All agents of their host.
    agents: Vec<AgentFacts>,
    /// Those that stay.
    neighbours: Neighbours,
    /// When the look was taken.
    taken: Instant,
    /// Whose turn it is to begin: those that wait here need no shell of their own that waits for the host.
    turn: Mutex<()>,
}

impl Ground {
    fn of(host: &dyn Host, leaving: &BTreeSet<AgentId>) -> Result<Self, SurveyError> {
        let taken = Instant::now();
        let survey = host.survey(Detail::Full)?;
        let neighbours = Neighbours::among(host, &survey.agents, leaving);
        Ok(Self {
            neighbours: neighbours.and_those_in_the_making(host, &survey.journals, leaving),
            agents: survey.agents,
            taken,
            turn: Mutex::default(),
        })
    }

    /// The agent as it is now. Somebody may have been asked, and the agent been started, since it was chosen.
    fn look_again(&self, agent: &Agent) -> Result<Agent, LookError> {
        let seen = self.agents.iter().find(|facts| facts.record.id == *agent.id());
        match seen.filter(|_| self.taken.elapsed() < FRESH_FOR) {
            Some(facts) => {
                let (host, facts) = (agent.host.clone(), facts.clone());
                Ok(Agent { host, state: detect::process_state(&facts), facts })
            }
            None => look_again(agent, Detail::Full),
        }
    }
}

fn destroy_one(
    world: &World,
    agent: &Agent,
    options: &DestroyOptions,
    ground: &Ground,
) -> Result<Destroyed, DestroyError> {
    interrupt::check()?;
    let agent = &ground.look_again(agent)?;
    require_permission(agent, options)?;
    let host = agent.host.as_ref();
    let (journal, mut manifest) = {
        let _turn = ground.turn.lock().unwrap_or_else(PoisonError::into_inner);
        begin(world, agent, options)?
    };
    let name = || agent.name().to_string();
    let stopped = end(world, agent, &StopOptions { grace: options.grace, commands: RunningCommands::End })
        .and_then(|ended| Ok(interrupt::check().map(|()| ended)?));
    // From here on it runs to its end, or all the way back.
    let _shield = interrupt::shield();
    let cut_short = stopped.is_ok().then(|| sync::end_copies_to(world, agent.id())).flatten();
    let (commands, note) = match stopped {
        Ok(ended) => ended,
        Err(error) => {
            return match drop_note(host, agent.id()) {
                Ok(()) => {
                    journal.finish()?;
                    Err(error)
                }
                Err(left) => Err(left_over(&name(), &error, &left)),
            };
        }
    };
    match carry_out(host, &mut manifest, &ground.neighbours, journal.closing()) {
        Ok(mut destroyed) => {
            drop(journal);
            destroyed.commands = commands;
            destroyed.notes.extend(note.into_iter().chain(cut_short));
            memory::drop_agent(world, host, agent.id());
            if agent.facts.record.start_on_boot {
                boot::settle_or_warn(world, host);
            }
            Ok(destroyed)
        }
        Err(error) => match take_back(host, &manifest) {
            Ok(()) => {
                journal.finish()?;
                Err(DestroyError::Trash { name: name(), source: error })
            }
            Err(left) => Err(left_over(&name(), &error, &left)),
        },
    }
}

/// The journal stays, so that the next command carries it through. That is also all that may be done where the link broke:
/// the lock was lost with it, and somebody else may be at it already.
fn left_over(name: &str, failure: &dyn std::error::Error, left: &TrashError) -> DestroyError {
    DestroyError::LeftOver {
        name: name.to_owned(),
        failure: crate::error_chain(failure),
        left: crate::error_chain(left),
    }
}

/// Stops the agent, of which everything was seen just now. A process that its record names and that is somebody else's must not keep it from being destroyed:
/// that is only noted.
fn end(
    world: &World,
    agent: &Agent,
    options: &StopOptions,
) -> Result<(Vec<EndedCommand>, Option<String>), DestroyError> {
    match stop::stop_seen(world, agent, options) {
        Ok(stopped) => Ok((stopped.commands, None)),
        Err(error @ StopError::NotItsProcess { .. }) => Ok((Vec::new(), Some(error.to_string()))),
        Err(source) => Err(DestroyError::Stop { name: agent.name().to_string(), source }),
    }
}

/// Refuses what lives, or may live, unless that was asked for.
fn require_permission(agent: &Agent, options: &DestroyOptions) -> Result<(), DestroyError> {
    let (name, state) = (agent.name().to_string(), agent.state.state);
    match state {
        _ if options.force || !needs_force(state) => Ok(()),
        AgentState::Unknown => {
            Err(DestroyError::StateUnknown { name, evidence: agent.state.evidence.clone() })
        }
        _ => Err(DestroyError::Running { name, state }),
    }
}

/// Everything after the agent was stopped, with the changes that end the operation. Each step may find itself done
/// already.
fn carry_out(
    host: &dyn Host,
    manifest: &mut Manifest,
    neighbours: &Neighbours,
    mut closing: Vec<Change>,
) -> Result<Destroyed, TrashError> {
    let (files, layout) = (host.files(), host.layout());
    let (trash, agent) = (layout.trash_of(&manifest.id), layout.agent(&manifest.id));
    let mut notes = Vec::new();
    let mut preserved = Preserved::default();
    if Brand::of_type(manifest.agent_type.as_ref()) == Some(Brand::Claude) {
        // What its program remembers is not kept: there may be secrets in it.
        let noted = SessionTotals::keep(files, agent.root());
        notes.extend(noted.err().map(|error| {
            format!("what it used beside its conversation is not kept: {}", crate::error_chain(&error))
        }));
    }
    let mut looked = preserve::signs(manifest, &agent);
    looked.push(agent.root().clone());
    if manifest.work.is_none() {
        looked.push(agent.data());
        looked.extend(trash::signs(host, manifest, neighbours));
    }
    let glance = Glance::at(files, &looked)?;
    if glance.exists(agent.root())? {
        let mut first = Vec::new();
        if manifest.work.is_none() {
            // It may have been renamed between the look at it and the journal, which keeps others from that.
            let record = glance.read_if_there(&agent.data())?.unwrap_or_default();
            if let Ok(record) = serde_json::from_slice::<AgentRecord>(&record) {
                (manifest.name, manifest.labels) = (record.name, record.labels);
            }
            manifest.work = Some(trash::examine(host, manifest, neighbours, &glance)?);
            // It must be on the disk before anything that it tells of moves.
            first.push(trash::manifest_change(&trash, manifest, Durability::Synced)?);
        }
        // Without the note nobody would know what lies there.
        let noted = || Change::Require { path: trash.manifest(), presence: Presence::There };
        if first.is_empty() {
            first.push(noted());
        }
        notes.extend(trash::put_away(host, manifest, first)?);
        let mut last = vec![noted(), Change::Rename { from: agent.root().clone(), to: trash.state() }];
        if !manifest.removes_branch() {
            last.append(&mut closing);
        }
        preserved = match preserve::find(host, manifest, &agent, &glance) {
            Ok(found) => preserve::copy(host, found, &last)?,
            Err(error) => {
                files.apply(&last)?;
                Preserved { at: None, problem: Some(crate::error_chain(&error)) }
            }
        };
        let only_there =
            |problem| format!("its events and its conversation are only in the trash: {problem}");
        notes.extend(preserved.problem.take().map(only_there));
        fault::point();
    }
    let mut deleted_branch = None;
    match trash::remove_branch(host, manifest) {
        Ok(BranchRemoval::NotAsked) => {}
        Ok(BranchRemoval::Deleted { branch }) => deleted_branch = Some(branch),
        Ok(BranchRemoval::Kept { note }) => notes.push(note),
        Err(error) => notes.push(format!("its branch was kept: {}", crate::error_chain(&error))),
    }
    fault::point();
    files.apply(&closing)?;
    Ok(Destroyed {
        id: manifest.id.clone(),
        name: manifest.name.clone(),
        host: host.info().address(),
        work_dir: WorkDir::of(manifest),
        deleted_branch,
        preserved: preserved.at,
        commands: Vec::new(),
        notes,
    })
}

/// Puts everything back as it was, unless the agent is in the trash already: then it has only to be carried through.
pub(crate) fn take_back(host: &dyn Host, manifest: &Manifest) -> Result<(), TrashError> {
    let state = host.layout().trash_of(&manifest.id).state();
    if host.files().exists(&state)? {
        return Err(TrashError::StillThere { path: state });
    }
    if matches!(manifest.work, Some(Work::Moved { .. })) {
        let glance = Glance::at(host.files(), &trash::signs_of_return(manifest))?;
        trash::bring_back(host, manifest, &glance)?;
    }
    trash::drop_rescues(host, manifest);
    drop_note(host, &manifest.id)
}

/// Removes the note of an agent of which nothing is in the trash.
fn drop_note(host: &dyn Host, id: &AgentId) -> Result<(), TrashError> {
    let trash = host.layout().trash_of(id);
    let own = [trash.state(), trash.work()];
    let missing = |path: &HostPath| Change::Require { path: path.clone(), presence: Presence::Missing };
    let changes = own.iter().map(missing).chain([Change::RemoveTree(trash.root().clone())]);
    match host.files().apply(&changes.collect::<Vec<_>>()) {
        Err(error) if error.is_taken() && own.contains(&error.path) => {
            Err(TrashError::StillThere { path: error.path })
        }
        dropped => Ok(dropped?),
    }
}

/// Carries through what a killed command began. The caller holds the journal and removes it afterwards.
pub fn resume(world: &World, host: &dyn Host, header: &Header) -> Result<(), DestroyError> {
    let name = || header.name.to_string();
    let failed = |source| DestroyError::Trash { name: name(), source };
    let trash = host.layout().trash_of(&header.agent_id);
    let noted = trash::read_or_rebuild(host, &trash, &header.agent_id, world.clock.now()).map_err(failed)?;
    let Some(mut manifest) = noted else {
        // It was taken back and died before it could say so.
        return trash::drop_unused(host, &header.agent_id).map(|_| ()).map_err(failed);
    };
    if let Some(agent) = find(world, host, &header.agent_id)? {
        end(world, &agent, &StopOptions::from_settings(&world.settings))?;
    }
    let neighbours = Neighbours::of(host, &BTreeSet::from([header.agent_id.clone()]))?;
    carry_out(host, &mut manifest, &neighbours, Vec::new()).map(|_| ()).map_err(failed)
}

/// The agent, if it is not in the trash yet.
fn find(world: &World, host: &dyn Host, id: &AgentId) -> Result<Option<Agent>, DestroyError> {
    let same_host = hosts::with_id(world, &host.info().id);
    let Some((host, facts)) = same_host.zip(host.look_at(id, Detail::Full)?) else { return Ok(None) };
    Ok(Some(Agent { host, state: detect::process_state(&facts), facts }))
}
