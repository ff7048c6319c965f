//! The agents in a host that was made from a snapshot: they are copies of agents that may still exist.
//!
//! Where the host they come from is gone, they are those agents. Where it exists, each gets an id of its own, and a name
//! that nobody has. Their work dirs, branches and conversations are as they were.

use std::collections::BTreeSet;
use std::sync::Arc;

use mngr_agents::detect;
use mngr_host::host::Host;
use mngr_host::proc::Cmd;
use mngr_host::random;
use mngr_model::facts::Detail;
use mngr_model::layout::AgentLayout;
use mngr_model::{AgentId, AgentName};

use super::error::SnapshotError;
use super::list::Kept;
use crate::fleet::{Agent, Fleet};
use crate::rename::{self, Mode, RenameRequest};
use crate::world::World;

/// How many numbers are tried behind a name that is taken.
const SUFFIXES: u32 = 1000;

/// Puts one id in the place of another in all text below a folder. An id is a word that occurs nowhere else. Databases are
/// left alone: their pages are checked.
const REPLACE: &str = r#"find . -type f ! -name '*.db' ! -name '*.db-*' ! -name '*.sqlite*' -exec sh -c '
old=$1; new=$2; shift 2
for file; do if grep -qF "$old" "$file"; then sed -i "s/$old/$new/g" "$file" || exit 1; fi; done' sh "$1" "$2" {} +"#;

/// Whether the host of a snapshot still exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// The copies become agents of their own.
    Beside,
    /// The copies are the agents.
    InPlace,
}

/// An agent of the new host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledAgent {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// The name it had.
    pub old_name: AgentName,
}

/// Settles the agents of a new host that was made from this snapshot under an id of its own.
pub(crate) fn settle_copies(
    world: &World,
    host: &Arc<dyn Host>,
    kept: &Kept,
) -> Result<Vec<SettledAgent>, SnapshotError> {
    let provider = world.providers.iter().find(|provider| *provider.name() == kept.provider);
    let Some(provider) = provider else { return Ok(Vec::new()) };
    let exists = provider.hosts()?.iter().any(|entry| entry.id().as_ref() == Some(&kept.host));
    settle(world, host, if exists { Settled::Beside } else { Settled::InPlace })
}

/// Settles the agents of a new host.
pub(super) fn settle(
    world: &World,
    host: &Arc<dyn Host>,
    settled: Settled,
) -> Result<Vec<SettledAgent>, SnapshotError> {
    let mut taken: BTreeSet<AgentName> = Fleet::look(world, Detail::Basic)
        .agents
        .iter()
        .filter(|agent| agent.host.info().id != host.info().id)
        .map(|agent| agent.name().clone())
        .collect();
    if settled == Settled::Beside {
        // What the original destroyed is in its own trash.
        host.files().remove_tree(&host.layout().trash())?;
    }
    let mut agents = Vec::new();
    for facts in host.survey(Detail::Basic)?.agents {
        let old_name = facts.record.name.clone();
        let id = match settled {
            Settled::Beside => new_id(host.as_ref(), &facts.record.id, &old_name)?,
            Settled::InPlace => facts.record.id.clone(),
        };
        let name = free_name(&old_name, &taken)?;
        if name != old_name {
            let Some(facts) = host.look_at(&id, Detail::Basic)? else { continue };
            let agent = Agent { host: host.clone(), state: detect::process_state(&facts), facts };
            let request = RenameRequest { new_name: name.clone(), labels: Vec::new(), mode: Mode::Apply };
            rename::rename(world, &agent, &request).map_err(|error| SnapshotError::NotSettled {
                name: old_name.clone(),
                detail: crate::error_chain(&error),
            })?;
        }
        taken.insert(name.clone());
        agents.push(SettledAgent { id, name, old_name });
    }
    Ok(agents)
}

fn free_name(wanted: &AgentName, taken: &BTreeSet<AgentName>) -> Result<AgentName, SnapshotError> {
    let numbered = (2..SUFFIXES).filter_map(|number| format!("{wanted}-restored-{number}").parse().ok());
    let first = format!("{wanted}-restored").parse().ok();
    let mut names = [wanted.clone()].into_iter().chain(first).chain(numbered);
    names.find(|name| !taken.contains(name)).ok_or_else(|| SnapshotError::NoFreeName { name: wanted.clone() })
}

/// Gives an agent that does not run another id: in its state folder, in the folder's name, in the note of its work dir.
fn new_id(host: &dyn Host, old: &AgentId, name: &AgentName) -> Result<AgentId, SnapshotError> {
    let (files, layout) = (host.files(), host.layout());
    let new = random::agent_id();
    let state: AgentLayout = layout.agent(old);
    let cmd = Cmd::new("sh").args(["-c", REPLACE, "sh", old.as_str(), new.as_str()]).cwd(state.root());
    let output = host.exec(&cmd)?;
    if !output.success() {
        return Err(SnapshotError::NotSettled { name: name.clone(), detail: output.stderr_text() });
    }
    files.rename(state.root(), layout.agent(&new).root())?;
    if files.exists(&layout.made_work_dir(old))? {
        files.rename(&layout.made_work_dir(old), &layout.made_work_dir(&new))?;
    }
    Ok(new)
}
