//! Where a new agent runs: a host that is there, or one that is made for it and goes away with a failure.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mngr_host::host::Host;
use mngr_host::provider::{HostEntry, HostMaker, NewHost as Blueprint, Provider, SnapshotId};
use mngr_host::{fault, interrupt, random};
use mngr_model::address::{HostAddress, HostRef, NewHost};
use mngr_model::journal::Step;
use mngr_model::name_style::NameStyle;
use mngr_model::{AgentId, AgentTypeName, HostId, HostName, ProviderName};

use super::error::CreateError;
use super::request::{CreateRequest, Created, StoppedHost};
use super::{reuse, run, settle, source};
use crate::fleet;
use crate::hosts::{self, Making};
use crate::local_labels;
use crate::pool::{self, Pool};
use crate::snapshot::{self, Kept};
use crate::visit::Visit;
use crate::world::World;

/// How long a host may take to go down, and how often it is looked at meanwhile.
const GOING_DOWN: Duration = Duration::from_secs(20);
const DOWN_PAUSE: Duration = Duration::from_millis(250);

/// Creates an agent, or takes an existing one if the request allows it.
pub fn create(world: &World, request: &CreateRequest) -> Result<Created, CreateError> {
    let created = create_somewhere(world, request)?;
    if created.host.id == world.client.info().id {
        local_labels::add(world.client.as_ref(), &request.host_spec.tags)?;
    }
    Ok(created)
}

fn create_somewhere(world: &World, request: &CreateRequest) -> Result<Created, CreateError> {
    if let Some(pool) = pool_of(world, request)? {
        return create_in(world, request, &pool);
    }
    match &request.host {
        NewHost::Local => run::create_on(world, request, world.client.clone(), None),
        NewHost::New(provider) if *provider == world.client.info().provider => {
            run::create_on(world, request, world.client.clone(), None)
        }
        NewHost::New(provider) => {
            maker_of(world, provider)?;
            // Whoever takes an agent that is there needs no host.
            if request.reuse
                && let Some(created) = reuse::reuse(world, request)?
            {
                return Ok(created);
            }
            create_on_new(world, request, provider, None)
        }
        NewHost::Named(address) => match (hosts::find(world, address)?, &address.provider, &address.host) {
            (None, Some(provider), HostRef::Name(name)) if request.host_spec.must_be_new => {
                create_on_new(world, request, provider, Some(name.clone()))
            }
            (Some(_), _, _) if request.host_spec.must_be_new => {
                Err(CreateError::HostExists { address: address.to_string() })
            }
            (Some(entry), _, _) => {
                refuse_stopped(entry.as_ref(), request)?;
                create_on_known(world, request, entry.as_ref(), address)
            }
            (None, _, _) => Err(CreateError::NoHost { address: address.to_string() }),
        },
    }
}

/// A host may stop by itself while this command waits for its turn: it is started again, once. Nothing was begun then.
fn create_on_known(
    world: &World,
    request: &CreateRequest,
    entry: &dyn HostEntry,
    address: &HostAddress,
) -> Result<Created, CreateError> {
    let on = |host: Arc<dyn Host>, source| {
        let _visit = Visit::begin(world, &host);
        run::create_on(world, request, host, source)
    };
    // The way to the host takes as long as the look at the source here.
    let (prepared, source) = std::thread::scope(|scope| {
        let prepared = scope.spawn(|| entry.prepare());
        let source = source::find_early(world, request);
        (prepared.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), source)
    });
    match on(prepared?, source) {
        Err(CreateError::Lock(error)) if error.is_host_gone() => on(prepare_again(world, address)?, None),
        other => other,
    }
}

/// A host that has just stopped may still be on its way down. What was known of it is out of date.
fn prepare_again(world: &World, address: &HostAddress) -> Result<Arc<dyn Host>, CreateError> {
    let began = Instant::now();
    loop {
        let entry = hosts::find(world, address)?;
        let entry = entry.ok_or_else(|| CreateError::NoHost { address: address.to_string() })?;
        match entry.prepare() {
            Err(_) if began.elapsed() < GOING_DOWN => interrupt::wait(DOWN_PAUSE)?,
            other => return Ok(other?),
        }
    }
}

fn create_on_new(
    world: &World,
    request: &CreateRequest,
    provider: &ProviderName,
    name: Option<HostName>,
) -> Result<Created, CreateError> {
    // Known before the host is made: whoever finds the host left behind looks for this agent on it.
    let agent = request.id.clone().unwrap_or_else(random::agent_id);
    let mut request = CreateRequest { id: Some(agent.clone()), ..request.clone() };
    let origin = match &request.host_spec.snapshot {
        Some(id) => Some(snapshot::of_host(world, provider, id).map_err(Box::new)?),
        None => None,
    };
    request.host_spec.snapshot = origin.as_ref().map(|kept| SnapshotId::new(kept.id.clone()));
    let variables = settle::variables(world, &request.host_spec)?;
    let (host, made) = make(world, &request, provider, name, &agent)?;
    let settled = match &origin {
        Some(kept) => settle_copies(world, &host, kept),
        None => Ok(()),
    };
    let settled = settled.and_then(|()| settle::settle(world, host.as_ref(), &request.host_spec, &variables));
    match settled.and_then(|()| run::create_on(world, &request, host, None)) {
        Ok(created) => {
            made.finish()?;
            Ok(created)
        }
        Err(error) => {
            // Since it can be seen, somebody else may have put an agent on it.
            let _ = match origin {
                Some(_) => made.take_back(world),
                None => made.take_back_unless_used(world, provider),
            };
            Err(error)
        }
    }
}

/// The agents that came with a snapshot are agents of their own, unless the host they come from is gone.
fn settle_copies(world: &World, host: &Arc<dyn Host>, origin: &Kept) -> Result<(), CreateError> {
    for agent in snapshot::settle_copies(world, host, origin).map_err(Box::new)? {
        let (old, name, host) = (&agent.old_name, &agent.name, host.info().address());
        world.reporter.note(&format!("the snapshot brought agent `{old}` along: it is `{name}@{host}`"));
    }
    Ok(())
}

/// A host that does not run is started, unless the user does not want that.
fn refuse_stopped(entry: &dyn HostEntry, request: &CreateRequest) -> Result<(), CreateError> {
    let report = entry.report();
    if request.host_spec.stopped == StoppedHost::Start || !fleet::is_off(report.state) {
        return Ok(());
    }
    let address = format!("{}.{}", entry.name(), entry.provider());
    Err(CreateError::HostOff { address, state: report.state.as_str(), reason: report.reason })
}

/// The pool that a host is taken from, if it is.
fn pool_of(world: &World, request: &CreateRequest) -> Result<Option<Pool>, CreateError> {
    let spec = &request.host_spec;
    match (&spec.pool, &request.host, spec.agents_per_host) {
        (Some(name), _, _) => Ok(Some(Pool::named(world, name)?)),
        (None, NewHost::New(provider), Some(per_host)) if *provider != world.client.info().provider => {
            maker_of(world, provider)?;
            Ok(Some(Pool::shared(provider, spec, per_host)))
        }
        _ => Ok(None),
    }
}

/// Creates an agent on a host of a pool.
fn create_in(world: &World, request: &CreateRequest, pool: &Pool) -> Result<Created, CreateError> {
    // Whoever takes an agent that is there needs no place.
    if request.reuse
        && let Some(created) = reuse::reuse(world, request)?
    {
        return Ok(created);
    }
    // The id is what its place is booked under.
    let id = request.id.clone().unwrap_or_else(random::agent_id);
    let seat = pool::take(world, pool, request, &id)?;
    let request = CreateRequest { id: Some(id), ..request.clone() };
    let _visit = Visit::begin(world, &seat.host);
    match run::create_on(world, &request, seat.host.clone(), None) {
        Ok(created) => {
            seat.settle();
            Ok(created)
        }
        Err(error) => {
            seat.give_up();
            Err(error)
        }
    }
}

/// Whether such an agent could be created, as far as that is known before anything is made. Gives the type it would have.
///
/// # Errors
/// What [`create`] would fail with.
pub fn check(world: &World, request: &CreateRequest) -> Result<AgentTypeName, CreateError> {
    if let Some(pool) = pool_of(world, request)? {
        return match pool.makes_hosts() {
            true => run::check_anywhere(world, request),
            false => run::check_on(world, request, pool::reachable(world, &pool)?.as_ref()),
        };
    }
    match &request.host {
        NewHost::New(provider) if *provider != world.client.info().provider => {
            maker_of(world, provider)?.ready()?;
            run::check_anywhere(world, request)
        }
        NewHost::Local | NewHost::New(_) => run::check_on(world, request, world.client.as_ref()),
        NewHost::Named(address) => match hosts::find(world, address)? {
            Some(entry) => {
                refuse_stopped(entry.as_ref(), request)?;
                run::check_on(world, request, entry.prepare()?.as_ref())
            }
            None if request.host_spec.must_be_new => run::check_anywhere(world, request),
            None => Err(CreateError::NoHost { address: address.to_string() }),
        },
    }
}

fn maker_of<'w>(world: &'w World, name: &ProviderName) -> Result<&'w dyn HostMaker, CreateError> {
    let provider = world.providers.iter().find(|provider| provider.name() == name);
    let provider: &dyn Provider =
        &**provider.ok_or_else(|| CreateError::NoProvider { provider: name.to_string() })?;
    provider.maker().ok_or_else(|| CreateError::CannotCreateHost { provider: name.to_string() })
}

fn make<'w>(
    world: &'w World,
    request: &CreateRequest,
    provider: &ProviderName,
    name: Option<HostName>,
    agent: &AgentId,
) -> Result<(Arc<dyn Host>, Making<'w>), CreateError> {
    let maker = maker_of(world, provider)?;
    let id = random::host_id();
    let name = match name {
        Some(name) => name,
        None => made_up_name(&id, request.host_spec.name_style)?,
    };
    maker.ready()?;
    world.reporter.progress(&format!("making host {name}"));
    let spec = request.host_spec.clone();
    // A name that is made up later is not known yet; until then the agent is called like its host.
    let called = request.name.clone().or_else(|| name.as_str().parse().ok());
    let called = called.ok_or(CreateError::NoFreeName)?;
    let step = Step::Host { provider: provider.clone(), id: id.clone(), is_copy: spec.snapshot.is_some() };
    let made = Making::begin(world, (maker, &id), (agent, called), step)?;
    let blueprint = Blueprint {
        id,
        name,
        snapshot: spec.snapshot,
        stand_in: None,
        build_args: spec.build_args,
        start_args: spec.start_args,
        cpus: spec.cpus,
        memory: spec.memory,
        tags: spec.tags,
    };
    match maker.make(&blueprint) {
        Ok(host) => {
            fault::point();
            Ok((host, made))
        }
        Err(error) => {
            let _ = made.take_back(world);
            Err(error.into())
        }
    }
}

/// A name that people can say. Two hosts with the same one are told apart by the provider, which refuses the second.
fn made_up_name(id: &HostId, style: NameStyle) -> Result<HostName, CreateError> {
    let seed = u64::from_str_radix(&id.hex()[..16], 16).unwrap_or_default();
    style.generate(seed).parse().map_err(|_| CreateError::NoFreeName)
}
