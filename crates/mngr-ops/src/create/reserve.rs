//! A name and an id that nobody else has.

use mngr_host::host::Host;
use mngr_host::random;
use mngr_host::tmux::ServerStart;
use mngr_model::facts::Detail;
use mngr_model::journal::{Header, Operation};
use mngr_model::{AgentId, AgentName};

use super::error::CreateError;
use super::request::CreateRequest;
use crate::host_lock;
use crate::journal::{self, Journal};
use crate::recover;
use crate::terminal;
use crate::world::World;

/// How many made-up names are tried.
const NAME_TRIES: u32 = 64;

/// What was chosen.
pub(super) struct Reserved<'h> {
    pub(super) journal: Journal<'h>,
    pub(super) id: AgentId,
    pub(super) name: AgentName,
    /// Whether starting the agent may start a tmux server: not while others live on one.
    pub(super) server: ServerStart,
}

/// Chooses name and id and writes the journal's head, under the host lock: nobody else can choose the same.
pub(super) fn reserve<'h>(
    world: &World,
    host: &'h dyn Host,
    request: &CreateRequest,
) -> Result<Reserved<'h>, CreateError> {
    let layout = host.layout();
    let take = || host_lock::take_telling(world, host);
    let mut lock = take()?;
    let mut survey = host.survey(Detail::Basic)?;
    if !survey.journals.is_empty() && recover::has_leftovers(host, &survey.journals)? {
        drop(lock);
        recover::recover(world, host);
        lock = take()?;
        survey = host.survey(Detail::Basic)?;
    }
    let _lock = lock;
    let id = request.id.clone().unwrap_or_else(random::agent_id);
    if survey.agents.iter().any(|facts| facts.record.id == id)
        || survey.broken.iter().any(|b| b.folder == id.as_str())
    {
        return Err(CreateError::IdTaken { id });
    }
    // One that another command is about to start may lose its socket before this one gets that far.
    let is_lived_in = survey.agents.iter().any(terminal::lives_in_pane) || !survey.journals.is_empty();
    let server = if is_lived_in { ServerStart::Forbidden } else { ServerStart::Allowed };
    let mut taken: Vec<AgentName> = survey.agents.into_iter().map(|facts| facts.record.name).collect();
    for entry in &survey.journals {
        let text = host.files().read_if_there(&layout.journals().join(entry))?.unwrap_or_default();
        let reserved = journal::read(&String::from_utf8_lossy(&text)).map(|(header, _)| header);
        // An agent of another host does not take a name here.
        taken.extend(reserved.filter(|header| header.operation.reserves_name()).map(|header| header.name));
    }
    let name = match &request.name {
        Some(name) if taken.contains(name) => return Err(CreateError::NameTaken { name: name.clone() }),
        Some(name) => name.clone(),
        None => free_name(request, &taken)?,
    };
    let header = Header {
        operation: Operation::Create,
        agent_id: id.clone(),
        name: name.clone(),
        started: world.clock.now(),
        command: None,
    };
    Ok(Reserved { journal: Journal::begin(host, &header)?, id, name, server })
}

fn free_name(request: &CreateRequest, taken: &[AgentName]) -> Result<AgentName, CreateError> {
    for attempt in 0..NAME_TRIES {
        let mut text = request.name_style.generate(random::seed());
        // Lists of single words run out; a number makes room.
        if attempt > NAME_TRIES / 2 {
            text = format!("{text}-{attempt}");
        }
        if let Ok(name) = text.parse::<AgentName>()
            && !taken.contains(&name)
        {
            return Ok(name);
        }
    }
    Err(CreateError::NoFreeName)
}
