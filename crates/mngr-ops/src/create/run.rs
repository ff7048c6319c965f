//! From a request to an agent: what is checked before anything is made, and what is taken back when making it fails.
//!
//! Budget on this machine: `git status` and `git config` side by side, and that of the steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_agents::deliver;
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_model::AgentTypeName;

use super::build::Build;
use super::error::CreateError;
use super::heritage::{self, Heritage};
use super::preflight::{self, Login};
use super::program::{self, Program};
use super::request::{CreateRequest, Created};
use super::reserve::{Reserved, reserve};
use super::source::{self, Source};
use super::{provision, reuse};
use crate::boot;
use crate::recover;
use crate::world::World;

/// Creates an agent on a host, or takes an existing one if the request allows it. The source may have been found before.
pub(super) fn create_on(
    world: &World,
    request: &CreateRequest,
    host: Arc<dyn Host>,
    source: Option<Result<Source, CreateError>>,
) -> Result<Created, CreateError> {
    if request.reuse
        && let Some(created) = reuse::reuse(world, request)?
    {
        return Ok(created);
    }
    let Ready { heritage, program, env, login } = ready(world, host.as_ref(), request)?;
    // What is typed into a terminal must not hold keys; what is read from a file may be anything.
    let typed = request.message.as_deref().filter(|_| program.resolved.headless.is_none());
    let message = typed.map(deliver::normalize).transpose()?;
    let source = source.unwrap_or_else(|| source::find(world, request, &heritage))?;
    let Reserved { mut journal, id, name, server } = reserve(world, host.as_ref(), request)?;
    let build = Build {
        world,
        host: &host,
        request,
        program: &program,
        heritage: &heritage,
        env: &env,
        login,
        id: &id,
        name: &name,
        server,
    };
    let built = build.run(source, message.as_deref(), &mut journal);
    match built {
        Ok(created) => Ok(created),
        Err(error) => {
            let _shield = interrupt::shield();
            match recover::take_back(world, host.as_ref(), &id, journal.steps()) {
                Ok(()) => {
                    journal.finish()?;
                    if request.start_on_boot {
                        boot::settle_or_warn(world, host.as_ref());
                    }
                    Err(error)
                }
                // The journal stays, so that the next command tries again.
                Err(left) => Err(CreateError::LeftOver { failure: crate::error_chain(&error), left }),
            }
        }
    }
}

/// Whether such an agent could be created, as far as that is known before anything is made: its type exists, its program
/// is installed and logged in, its files are there. Gives the type it would have.
///
/// # Errors
/// What creating it would fail with.
pub(super) fn check_on(
    world: &World,
    request: &CreateRequest,
    host: &dyn Host,
) -> Result<AgentTypeName, CreateError> {
    let Ready { heritage, program, .. } = ready(world, host, request)?;
    preflight::first_start(world, request, &program, &heritage)?;
    Ok(program.type_name)
}

/// The same for a host that is yet to be made: only what does not depend on it.
pub(super) fn check_anywhere(world: &World, request: &CreateRequest) -> Result<AgentTypeName, CreateError> {
    let heritage = heritage::find(world, request)?;
    provision::check_uploads(world, request)?;
    let program = program::find(world, request, &heritage)?;
    preflight::first_start(world, request, &program, &heritage)?;
    Ok(program.type_name)
}

/// What is known before anything is made.
struct Ready {
    heritage: Heritage,
    program: Program,
    env: BTreeMap<String, String>,
    login: Login,
}

fn ready(world: &World, host: &dyn Host, request: &CreateRequest) -> Result<Ready, CreateError> {
    let heritage = heritage::find(world, request)?;
    let program = program::find(world, request, &heritage)?;
    provision::check_uploads(world, request)?;
    if request.start_on_boot {
        boot::check(world, host)?;
    }
    preflight::tmux(world, host)?;
    let mut env = preflight::surrounding_of(world, host, program.resolved.base)?;
    for pair in provision::given_variables(world, &program.resolved, request)? {
        env.insert(pair.name().to_string(), pair.value().to_owned());
    }
    preflight::installation(world, host, &program, &env)?;
    let login = preflight::login(world, request, &program, &env)?;
    Ok(Ready { heritage, program, env, login })
}
