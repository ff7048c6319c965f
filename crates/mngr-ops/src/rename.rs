//! `rename`: another name for an agent, in its session, its environment and, last, its record.
//!
//! The record is the commit point: until it is written, everything can be and is taken back. Branch, work dir and the
//! environment of processes that already run keep the old name. Budget: at most two tmux processes.

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::{Host, SurveyError};
use mngr_host::interrupt;
use mngr_host::lock::LockError;
use mngr_host::tmux::{SessionClaim, SessionName, SessionNameError, Tmux, TmuxError};
use mngr_model::env::{EnvFileError, EnvPair, MNGR_AGENT_NAME, parse_env_file, render_env_file};
use mngr_model::facts::Detail;
use mngr_model::layout::AgentLayout;
use mngr_model::{AgentId, AgentName, HostPath};

use crate::again::{LookError, look_again};
use crate::fleet::Agent;
use crate::label::{Label, LabelChanges};
use crate::record::{self, RecordError};
use crate::world::World;
use crate::{boot, host_lock, names, terminal};

/// Whether to do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Do it.
    #[default]
    Apply,
    /// Only check that it could be done.
    DryRun,
}

/// What to rename.
#[derive(Debug, Clone)]
pub struct RenameRequest {
    /// The new name.
    pub new_name: AgentName,
    /// Labels set in the same step.
    pub labels: Vec<Label>,
    /// Whether to do it.
    pub mode: Mode,
}

/// What was renamed, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The agent.
    pub agent_id: AgentId,
    /// Its name before.
    pub old_name: AgentName,
    /// Its name after; the same as before when it had that name already.
    pub new_name: AgentName,
}

/// The agent keeps its name.
#[derive(Debug, thiserror::Error)]
pub enum RenameError {
    /// Somebody has the name.
    #[error("an agent named `{name}` already exists on host `{host}`")]
    Taken {
        /// The new name.
        name: AgentName,
        /// Where.
        host: String,
    },
    /// Another command works on the agent.
    #[error("another command is working on agent `{name}`")]
    Busy {
        /// Its name.
        name: AgentName,
    },
    /// Names are being chosen by another command.
    #[error("cannot reserve the new name")]
    Lock(#[from] LockError),
    /// It cannot be seen any more.
    #[error("nothing was renamed")]
    Look(#[from] LookError),
    /// Whether the name is free cannot be told.
    #[error("cannot tell whether the new name is free")]
    Survey(#[from] SurveyError),
    /// The new name does not make a session name.
    #[error("cannot name the agent's session")]
    Session(#[from] SessionNameError),
    /// tmux could not rename the session.
    #[error("cannot rename the agent's session")]
    Tmux(#[from] TmuxError),
    /// The agent's environment could not be changed.
    #[error("cannot change the agent's environment")]
    Files(#[from] FilesError),
    /// The agent's environment is not a list of variables.
    #[error("cannot read the environment in `{path}`")]
    EnvFile {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: EnvFileError,
    },
    /// The record could not be changed.
    #[error("the agent keeps its name")]
    Record(#[from] RecordError),
}

/// Renames an agent.
pub fn rename(world: &World, agent: &Agent, request: &RenameRequest) -> Result<Renamed, RenameError> {
    let host = agent.host.as_ref();
    let layout = host.layout();
    let _names = host_lock::take_telling(world, host)?;
    let agent = look_again(agent, Detail::Full)?;
    let (old_name, new_name) = (agent.name().clone(), request.new_name.clone());
    let renamed = Renamed { agent_id: agent.id().clone(), old_name, new_name };
    if host.files().exists(&layout.journal(agent.id()))? {
        return Err(RenameError::Busy { name: renamed.old_name });
    }
    if let Some(host) = names::holder_of(world, host, &renamed.new_name, agent.id())? {
        return Err(RenameError::Taken { name: renamed.new_name, host });
    }
    let session = world.session_name(&renamed.new_name)?;
    let is_same = renamed.old_name == renamed.new_name;
    if request.mode == Mode::DryRun || (is_same && request.labels.is_empty()) {
        return Ok(renamed);
    }
    // From here on it is done whole or taken back; both are quick.
    let _shield = interrupt::shield();
    let own = layout.agent(agent.id());
    if is_same {
        commit(host, &own, request)?;
        return Ok(renamed);
    }
    let session_before = rename_session(world, &agent, &session)?;
    let take_session_back = || take_session_back(world, &agent, &session, &session_before);
    let env_before = match rename_in_env(host, &own.env_file(), &renamed.new_name) {
        Ok(before) => before,
        Err(error) => {
            take_session_back();
            return Err(error);
        }
    };
    if let Err(error) = commit(host, &own, request) {
        if let Some(before) = env_before {
            let restored = host.files().write(&own.env_file(), &before, Access::Private, Durability::Cached);
            warn_about(world, "environment", restored.err());
        }
        take_session_back();
        return Err(error.into());
    }
    if agent.facts.record.start_on_boot {
        let mut record = agent.facts.record.clone();
        record.name = renamed.new_name.clone();
        boot::renew(world, host, &record);
    }
    Ok(renamed)
}

fn commit(host: &dyn Host, own: &AgentLayout, request: &RenameRequest) -> Result<(), RecordError> {
    let labels = LabelChanges { set: request.labels.clone(), ..LabelChanges::default() };
    record::patch(host, own, |record| {
        record.insert("name".to_owned(), request.new_name.as_ref().into());
        labels.apply(record);
    })
}

/// Renames the agent's session, if it has one, and returns the name it had.
fn rename_session(world: &World, agent: &Agent, to: &SessionName) -> Result<SessionName, RenameError> {
    let from = match terminal::pane_of(agent) {
        // By its pane, because the prefix may have been set differently at launch.
        Some(pane) => match terminal::session_panes(world, agent, &pane)?.first() {
            Some(own) => SessionName::new(own.session.as_str())?,
            None => world.session_name(agent.name())?,
        },
        // Its own pane is gone, but further windows may be open.
        None => world.session_name(agent.name())?,
    };
    if from != *to {
        let claim = SessionClaim::NotMarkedOtherwise;
        world.with_tmux(agent.host.as_ref(), |tmux| tmux.rename_session_of(&from, to, agent.id(), claim))?;
    }
    Ok(from)
}

fn take_session_back(world: &World, agent: &Agent, from: &SessionName, to: &SessionName) {
    if from != to {
        let claim = SessionClaim::NotMarkedOtherwise;
        let rename = |tmux: Tmux<'_>| tmux.rename_session_of(from, to, agent.id(), claim);
        let restored = world.with_tmux(agent.host.as_ref(), rename);
        warn_about(world, "session", restored.err());
    }
}

fn warn_about(world: &World, what: &str, problem: Option<impl std::error::Error>) {
    if let Some(problem) = problem {
        let reason = crate::error_chain(&problem);
        world
            .reporter
            .warn(&format!("the agent's {what} kept the new name although it was not renamed: {reason}"));
    }
}

/// Puts the new name into the agent's environment file and returns what was there before.
pub(crate) fn rename_in_env(
    host: &dyn Host,
    path: &HostPath,
    name: &AgentName,
) -> Result<Option<Vec<u8>>, RenameError> {
    let Some(before) = host.files().read_if_there(path)? else { return Ok(None) };
    let pairs = parse_env_file(&String::from_utf8_lossy(&before))
        .map_err(|source| RenameError::EnvFile { path: path.clone(), source })?;
    let text = render_env_file(&with_name(pairs, name));
    host.files().write(path, text.as_bytes(), Access::Private, Durability::Cached)?;
    Ok(Some(before))
}

/// The variables with the new name; without one when they never held a name.
fn with_name(pairs: Vec<EnvPair>, name: &AgentName) -> Vec<EnvPair> {
    let renamed = |pair: EnvPair| {
        if pair.name().as_str() != MNGR_AGENT_NAME {
            return pair;
        }
        EnvPair::new(pair.name().clone(), name.as_ref()).unwrap_or(pair)
    };
    pairs.into_iter().map(renamed).collect()
}

#[cfg(test)]
mod tests;
