//! `--reuse`: an existing agent of that name instead of a new one; with `--update` prepared again and restarted.

use mngr_model::address::{AgentAddress, AgentRef, NewHost};
use mngr_model::env::parse_env_file;
use mngr_model::facts::Detail;

use super::error::CreateError;
use super::heritage::Heritage;
use super::program;
use super::provision;
use super::request::{CreateRequest, Created, StoppedHost};
use crate::awake;
use crate::fleet::{Agent, Fleet};
use crate::journal::Journal;
use crate::message::{self, MessageRequest};
use crate::select::SelectError;
use crate::ssh_reach::SshReach;
use crate::start::{self, StartOptions};
use crate::stop::{self, StopOptions};
use crate::world::World;
use mngr_model::journal::{Header, Operation};

/// An agent that is there, on a host that runs.
pub(super) fn awake(world: &World, agent: &Agent) -> Result<Agent, CreateError> {
    let failed = |source| CreateError::Wake { name: agent.name().clone(), source: Box::new(source) };
    awake::with_host(world, agent).map_err(failed)
}

/// Takes the agent of that name, if there is one.
pub(super) fn reuse(world: &World, request: &CreateRequest) -> Result<Option<Created>, CreateError> {
    let Some(name) = &request.name else { return Ok(None) };
    let host = match &request.host {
        NewHost::Named(address) if request.host_spec.pool.is_none() => Some(address.clone()),
        NewHost::Named(_) | NewHost::Local | NewHost::New(_) => None,
    };
    let address = AgentAddress { agent: AgentRef::Name(name.clone()), host };
    let fleet = Fleet::look_for(world, std::slice::from_ref(&address), Detail::Basic);
    let agent = match fleet.one(&address) {
        Ok(agent) if agent.is_host_off() && request.host_spec.stopped == StoppedHost::Refuse => {
            return Err(CreateError::AgentHostOff { evidence: agent.state.evidence.clone() });
        }
        Ok(agent) => awake(world, agent)?,
        Err(SelectError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let agent = if request.update { update(world, &agent, request)? } else { agent };
    if !agent.state.state.accepts_messages() {
        let options = StartOptions { restart: true, resume: start::Resume::Skip };
        start::start(world, &agent, &options).map_err(|error| CreateError::Start(Box::new(error)))?;
    }
    let message_level = match &request.message {
        Some(text) => {
            let message = MessageRequest {
                text: text.clone(),
                idempotency_key: None,
                patience: request.message_patience,
                start: false,
            };
            Some(message::send(world, &agent, &message).map_err(CreateError::ReusedMessage)?.level)
        }
        None => None,
    };
    let record = &agent.facts.record;
    Ok(Some(Created {
        id: record.id.clone(),
        name: record.name.clone(),
        agent_type: record.agent_type.clone(),
        work_dir: record.work_dir.clone(),
        branch: record.initial_branch().map(str::to_owned),
        host: agent.host.info().clone(),
        ssh: agent.host.reach().and_then(|reach| SshReach::of(&reach)),
        was_reused: true,
        message_level,
        branch_note: None,
    }))
}

/// Stops the agent, prepares it again with what the request says, and leaves it stopped, with id and work dir kept.
fn update(world: &World, agent: &Agent, request: &CreateRequest) -> Result<Agent, CreateError> {
    let host = agent.host.as_ref();
    let layout = host.layout().agent(agent.id());
    stop::stop(world, agent, &StopOptions::before_start(&world.settings)).map_err(CreateError::Stop)?;
    let mut record = agent.facts.record.clone();
    let mut request = request.clone();
    request.agent_type.get_or_insert_with(|| record.agent_type.clone());
    let program = if request.agent_args.is_empty() {
        None
    } else {
        Some(program::find(world, &request, &Heritage::default())?)
    };
    let resolved = match &program {
        Some(program) => program.resolved.clone(),
        None => super::agent_type::resolve(&world.settings, &record.agent_type)?,
    };
    if let Some(program) = &program {
        record.agent_type = program.type_name.clone();
        host.files().apply(&Vec::from_iter(program.write_into(&layout, &mut record)))?;
    }
    // What was set before stays unless it is set anew: later pairs win.
    let old = host.files().read_if_there(&layout.env_file())?.unwrap_or_default();
    let mut pairs = parse_env_file(&String::from_utf8_lossy(&old)).unwrap_or_default();
    pairs.extend(provision::variables(world, host, &record, &resolved, &request)?);
    host.files().apply(&[provision::env_file(&layout, &pairs)])?;
    let header = Header {
        operation: Operation::Create,
        agent_id: record.id.clone(),
        name: record.name.clone(),
        started: world.clock.now(),
        command: None,
    };
    let mut journal = Journal::begin(host, &header)?;
    let prepared = provision::prepare(world, host, &record, &resolved, &request, &pairs, &mut journal);
    if prepared.is_ok() {
        journal.add(provision::drop_backups(&journal));
    }
    journal.close()?;
    prepared?;
    crate::record::patch(host, &layout, |data| {
        data.insert("type".into(), record.agent_type.to_string().into());
        data.insert("command".into(), record.command.clone().into());
        data.insert("argv".into(), record.argv.clone().into());
        if let Some(title) = &request.title {
            data.insert("title".into(), title.as_str().into());
        }
        if let Some(labels) = data.entry("labels").or_insert_with(|| serde_json::json!({})).as_object_mut() {
            labels.extend(request.labels.iter().map(|(k, v)| (k.clone(), v.clone().into())));
        }
    })?;
    let fleet = Fleet::look(world, Detail::Basic);
    let address = AgentAddress { agent: AgentRef::Id(record.id.clone()), host: None };
    Ok(fleet.one(&address)?.clone())
}
