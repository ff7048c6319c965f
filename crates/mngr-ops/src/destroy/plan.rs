//! `--dry-run`: what would be done. Spawns and changes nothing.

use std::collections::BTreeSet;

use mngr_host::glance::Glance;
use mngr_model::{AgentId, AgentName, AgentState};

use super::error::DestroyError;
use super::request::{DestroyOptions, WorkDir};
use crate::fleet::Agent;
use crate::trash::{self, Fate, KeptReason, Manifest, Neighbours};
use crate::world::World;

/// What destroying an agent would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// `name.provider` of its host.
    pub host: String,
    /// What it does now.
    pub state: AgentState,
    /// Whether it would be refused without `--force`.
    pub needs_force: bool,
    /// What would become of its work dir.
    pub work_dir: WorkDir,
    /// The branch that would be removed.
    pub removed_branch: Option<String>,
}

/// What destroying these agents together would do.
pub fn plan(world: &World, agents: &[&Agent], options: &DestroyOptions) -> Vec<Result<Plan, DestroyError>> {
    let ids: BTreeSet<AgentId> = agents.iter().map(|agent| agent.id().clone()).collect();
    agents.iter().map(|agent| plan_one(world, agent, options, &ids)).collect()
}

fn plan_one(
    world: &World,
    agent: &Agent,
    options: &DestroyOptions,
    ids: &BTreeSet<AgentId>,
) -> Result<Plan, DestroyError> {
    let (host, record) = (agent.host.as_ref(), &agent.facts.record);
    let layout = host.layout();
    let manifest = Manifest::begin(record, &layout, world.clock.now(), options.request());
    let fate = if agent.is_host_off() {
        // Nobody can be asked; what its record says is what is likely.
        if manifest.is_generated { Fate::MovedFolder } else { Fate::Kept(KeptReason::InPlace) }
    } else {
        let neighbours = Neighbours::of(host, ids)?;
        let glance = Glance::at(host.files(), &trash::signs(host, &manifest, &neighbours))?;
        trash::fate(host, &manifest, &neighbours, &glance)
            .map_err(|source| DestroyError::Trash { name: record.name.to_string(), source })?
    };
    let path = record.work_dir.clone();
    let is_worktree = match fate {
        Fate::MovedWorktree { .. } => true,
        Fate::MovedFolder => agent.is_host_off(),
        Fate::Kept(_) | Fate::Missing => false,
    };
    let removes_branch = options.remove_created_branch && is_worktree;
    Ok(Plan {
        id: record.id.clone(),
        name: record.name.clone(),
        host: host.info().address(),
        state: agent.state.state,
        needs_force: needs_force(agent.state.state),
        work_dir: match fate {
            Fate::Kept(reason) => WorkDir::Kept { path, reason: reason.to_string() },
            Fate::Missing => WorkDir::Missing { path },
            Fate::MovedWorktree { .. } | Fate::MovedFolder => {
                WorkDir::Trashed { from: path, to: layout.trash_of(&record.id).work() }
            }
        },
        removed_branch: record.created_branch_name.clone().filter(|_| removes_branch),
    })
}

/// What lives, and what may live, is only ended on request.
pub fn needs_force(state: AgentState) -> bool {
    state.is_alive() || state == AgentState::Unknown
}
