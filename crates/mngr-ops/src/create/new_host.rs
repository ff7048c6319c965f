//! Where a new agent runs: a host that is there, or one that is made for it and goes away with a failure.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_host::provider::{HostMaker, NewHost as Blueprint, Provider};
use mngr_host::{interrupt, random};
use mngr_model::address::{HostRef, NewHost};
use mngr_model::name_style::NameStyle;
use mngr_model::{AgentTypeName, HostId, HostName, ProviderName};

use super::error::CreateError;
use super::request::{CreateRequest, Created};
use super::{reuse, run};
use crate::hosts;
use crate::pool::{self, Pool};
use crate::world::World;

/// A host that was made for this agent.
struct Made<'w> {
    maker: &'w dyn HostMaker,
    id: HostId,
}

/// Creates an agent, or takes an existing one if the request allows it.
pub fn create(world: &World, request: &CreateRequest) -> Result<Created, CreateError> {
    if let Some(pool) = pool_of(world, request)? {
        return create_in(world, request, &pool);
    }
    let (host, made) = match &request.host {
        NewHost::Local => (world.client.clone(), None),
        NewHost::New(provider) if *provider == world.client.info().provider => (world.client.clone(), None),
        NewHost::New(provider) => {
            let maker = maker_of(world, provider)?;
            // Whoever takes an agent that is there needs no host.
            if request.reuse
                && let Some(created) = reuse::reuse(world, request)?
            {
                return Ok(created);
            }
            make(world, request, maker, None)?
        }
        NewHost::Named(address) => match (hosts::find(world, address)?, &address.provider, &address.host) {
            (None, Some(provider), HostRef::Name(name)) if request.host_spec.must_be_new => {
                make(world, request, maker_of(world, provider)?, Some(name.clone()))?
            }
            (Some(_), _, _) if request.host_spec.must_be_new => {
                return Err(CreateError::HostExists { address: address.to_string() });
            }
            (Some(entry), _, _) => (entry.prepare()?, None),
            (None, _, _) => return Err(CreateError::NoHost { address: address.to_string() }),
        },
    };
    run::create_on(world, request, host).inspect_err(|_| {
        if let Some(made) = made {
            let _shield = interrupt::shield();
            if let Err(error) = made.maker.destroy(&made.id) {
                world.reporter.warn(&crate::error_chain(&error));
            }
        }
    })
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
    match run::create_on(world, &request, seat.host.clone()) {
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
            maker_of(world, provider)?;
            run::check_anywhere(world, request)
        }
        NewHost::Local | NewHost::New(_) => run::check_on(world, request, world.client.as_ref()),
        NewHost::Named(address) => match hosts::find(world, address)? {
            Some(entry) => run::check_on(world, request, entry.prepare()?.as_ref()),
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
    world: &World,
    request: &CreateRequest,
    maker: &'w dyn HostMaker,
    name: Option<HostName>,
) -> Result<(Arc<dyn Host>, Option<Made<'w>>), CreateError> {
    let id = random::host_id();
    let name = match name {
        Some(name) => name,
        None => made_up_name(&id)?,
    };
    world.reporter.progress(&format!("making host {name}"));
    let spec = request.host_spec.clone();
    let blueprint = Blueprint {
        id: id.clone(),
        name,
        snapshot: spec.snapshot,
        stand_in: None,
        build_args: spec.build_args,
        start_args: spec.start_args,
        cpus: spec.cpus,
        memory: spec.memory,
        tags: spec.tags,
    };
    Ok((maker.make(&blueprint)?, Some(Made { maker, id })))
}

/// A name that people can say. Two hosts with the same one are told apart by the provider, which refuses the second.
fn made_up_name(id: &HostId) -> Result<HostName, CreateError> {
    let seed = u64::from_str_radix(&id.hex()[..16], 16).unwrap_or_default();
    NameStyle::default().generate(seed).parse().map_err(|_| CreateError::NoFreeName)
}
