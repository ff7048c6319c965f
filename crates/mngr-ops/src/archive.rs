//! `archive` and `unarchive`: the label that takes an agent out of sight. Nothing else about the agent changes.

use mngr_model::quote::excerpt;

use crate::destroy::needs_force;
use crate::fleet::Agent;
use crate::label::{self, Label, LabelChanges, LabelError, LabelKey, RelabelError};
use crate::world::World;

/// The label that marks an archived agent; it says since when.
pub const ARCHIVED_AT: &str = "archived_at";

/// What became of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archiving {
    /// It is changed.
    Changed,
    /// It was so already.
    WasSo,
}

/// Whether agents at work are archived too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtWork {
    /// They are left alone.
    Refused,
    /// They are archived, and work on.
    Archived,
}

/// An agent was not archived.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is at work, or may be.
    #[error("agent `{name}` is {state}")]
    AtWork {
        /// Its name.
        name: String,
        /// What it is.
        state: &'static str,
    },
    /// The label itself is none.
    #[error("the time cannot be a label")]
    Label(#[from] LabelError),
    /// Its labels could not be changed.
    #[error(transparent)]
    Relabel(#[from] RelabelError),
}

/// Whether the agent is archived.
pub fn is_archived(agent: &Agent) -> bool {
    agent.facts.record.labels.contains_key(ARCHIVED_AT)
}

/// Archives the agent. One that is archived keeps its time.
pub fn archive(world: &World, agent: &Agent, at_work: AtWork) -> Result<Archiving, ArchiveError> {
    check(agent, at_work)?;
    if is_archived(agent) {
        return Ok(Archiving::WasSo);
    }
    let archived = Label::new(ARCHIVED_AT.parse()?, world.clock.now().to_string())?;
    label::label(agent, &LabelChanges { set: vec![archived], ..LabelChanges::default() })?;
    Ok(Archiving::Changed)
}

/// Whether [`archive`] would refuse the agent.
pub fn check(agent: &Agent, at_work: AtWork) -> Result<(), ArchiveError> {
    let state = agent.state.state;
    if at_work == AtWork::Refused && needs_force(state) {
        return Err(ArchiveError::AtWork { name: excerpt(agent.name().as_str()), state: state.as_str() });
    }
    Ok(())
}

/// Takes the agent back into sight.
pub fn unarchive(agent: &Agent) -> Result<Archiving, ArchiveError> {
    if !is_archived(agent) {
        return Ok(Archiving::WasSo);
    }
    let key: LabelKey = ARCHIVED_AT.parse()?;
    label::label(agent, &LabelChanges { remove: vec![key], ..LabelChanges::default() })?;
    Ok(Archiving::Changed)
}
