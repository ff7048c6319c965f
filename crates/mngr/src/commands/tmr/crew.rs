//! What the agents of a run are created with: the same from options as from the journal of a run that goes on.

use mngr_agents::brand::Consent;
use mngr_model::env::EnvPair;
use mngr_ops::pool::{Pool, PoolError};
use mngr_ops::world::World;
use mngr_tmr::run::{AgentSettings, Crew, Variables};

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
    let mut words = vec!["--no-connect".to_owned()];
    words.extend(agents.agent_type.as_ref().map(|name| format!("--type={name}")));
    words.extend(agents.snapshot.as_ref().map(|id| format!("--snapshot={id}")));
    if let Some(place) = &agents.provider {
        match Pool::named(world, place) {
            // Hosts that are made, a few agents on each.
            Err(PoolError::Unknown { .. }) => {
                let per_host = agents.per_host();
                words.extend([format!("--provider={place}"), format!("--agents-per-host={per_host}")]);
            }
            _ => words.push(format!("--pool={place}")),
        }
    }
    words.extend(agents.labels.iter().map(|label| format!("--label={label}")));
    let mut mapper = create::request_of_words(ctx, &words, &agents.templates)?;
    mapper.consent = consent;
    // Variables go past the words: their values may be secrets, and words are shown in errors.
    mapper.env.extend(variables.all.iter().cloned());
    let mut reducer = mapper.clone();
    let is_replaced = |pair: &EnvPair| variables.reducer.iter().any(|other| other.name() == pair.name());
    reducer.env.retain(|pair| !is_replaced(pair));
    reducer.env.extend(variables.reducer.iter().cloned());
    Ok(Crew { mapper, reducer, prices: usage::prices(ctx)? })
}
