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
use super::{reuse, run, source};
use crate::hosts;
use crate::world::World;

/// A host that was made for this agent.
struct Made<'w> {
    maker: &'w dyn HostMaker,
    id: HostId,
}

/// Creates an agent, or takes an existing one if the request allows it.
pub fn create(world: &World, request: &CreateRequest) -> Result<Created, CreateError> {
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
            (Some(entry), _, _) => {
                // The way to the host takes as long as the look at the source here.
                let (prepared, source) = std::thread::scope(|scope| {
                    let prepared = scope.spawn(|| entry.prepare());
                    let source = source::find_early(world, request);
                    (prepared.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), source)
                });
                return run::create_on(world, request, prepared?, source);
            }
            (None, _, _) => return Err(CreateError::NoHost { address: address.to_string() }),
        },
    };
    run::create_on(world, request, host, None).inspect_err(|_| {
        if let Some(made) = made {
            let _shield = interrupt::shield();
            if let Err(error) = made.maker.destroy(&made.id) {
                world.reporter.warn(&crate::error_chain(&error));
            }
        }
    })
}

/// Whether such an agent could be created, as far as that is known before anything is made. Gives the type it would have.
///
/// # Errors
/// What [`create`] would fail with.
pub fn check(world: &World, request: &CreateRequest) -> Result<AgentTypeName, CreateError> {
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
