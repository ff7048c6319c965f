//! What the agents of a run are created with: the same from options as from the journal of a run that goes on.

use mngr_agents::brand::Consent;
use mngr_model::env::EnvPair;
use mngr_ops::pool::{Pool, PoolError};
use mngr_ops::world::World;
use mngr_tmr::run::{AgentSettings, Crew, Variables};

use crate::cli::values::Values;
use crate::commands::{create, usage};
use crate::ctx::Ctx;
use crate::error::CliError;

/// Creates them as `mngr create` would, with the templates, labels and variables of the run.
pub(super) fn of(
    ctx: &mut Ctx,
    world: &World,
    agents: &AgentSettings,
    variables: &Variables,
    consent: Consent,
) -> Result<Crew, CliError> {
    let mut options = Values::default();
    options.add("no_connect", ["true"]);
    options.add("label", agents.labels.iter());
    let mut one = |id: &str, value: String| options.set(id, vec![value.into()]);
    if let Some(name) = &agents.agent_type {
        one("agent_type", name.to_string());
    }
    if let Some(id) = &agents.snapshot {
        one("snapshot", id.to_string());
    }
    if let Some(place) = &agents.provider {
        match Pool::named(world, place) {
            // Hosts that are made, a few agents on each.
            Err(PoolError::Unknown { .. }) => {
                one("provider", place.clone());
                one("agents_per_host", agents.per_host().to_string());
            }
            _ => one("pool", place.clone()),
        }
    }
    let mut mapper = create::request_of_values(ctx, &options, &agents.templates)?;
    mapper.consent = consent;
    // Variables go past the options: their values may be secrets, and options are shown in errors.
    mapper.env.extend(variables.all.iter().cloned());
    let mut reducer = mapper.clone();
    let is_replaced = |pair: &EnvPair| variables.reducer.iter().any(|other| other.name() == pair.name());
    reducer.env.retain(|pair| !is_replaced(pair));
    reducer.env.extend(variables.reducer.iter().cloned());
    Ok(Crew { mapper, reducer, prices: usage::prices(ctx)? })
}
