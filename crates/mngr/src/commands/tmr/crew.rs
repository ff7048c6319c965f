//! What the agents of a run are created with: the same from options as from the journal of a run that goes on.

use mngr_agents::brand::Consent;
use mngr_model::env::EnvPair;
use mngr_tmr::run::{AgentSettings, Crew, Variables};

use crate::commands::{create, usage};
use crate::ctx::Ctx;
use crate::error::CliError;

/// Creates them as `mngr create` would, with the templates, labels and variables of the run.
pub(super) fn of(
    ctx: &mut Ctx,
    agents: &AgentSettings,
    variables: &Variables,
    consent: Consent,
) -> Result<Crew, CliError> {
    let mut words = vec!["--no-connect".to_owned()];
    for (option, value) in [
        ("--type", agents.agent_type.as_ref().map(ToString::to_string)),
        ("--provider", agents.provider.clone()),
    ] {
        words.extend(value.map(|value| format!("{option}={value}")));
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
