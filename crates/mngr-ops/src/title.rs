//! What an agent works on, in one line: as somebody has called it, as its program calls it, or as its first message began.
//!
//! Nobody is asked, and nothing is read that a look at the agent has not brought. Untrusted text, made harmless.

use mngr_agents::manifest::BuiltIn;
use mngr_model::facts::AgentFacts;
use mngr_model::title::title_of;

use crate::fleet::Agent;

/// The title of an agent, where there is anything to tell.
pub fn of(facts: &AgentFacts) -> Option<String> {
    let record = &facts.record;
    let set = record.title.as_deref().and_then(title_of);
    set.or_else(|| of_program(facts)).or_else(|| facts.extra.title.clone()).or_else(|| record.first_words())
}

/// What the program of a running agent says by itself.
fn of_program(facts: &AgentFacts) -> Option<String> {
    let brand = facts.record.brand.as_deref().and_then(BuiltIn::named)?.brand()?;
    brand.title(facts.program.as_ref()?).as_deref().and_then(title_of)
}

/// The title that a first message gives an agent; nothing where it has one already.
pub(crate) fn first_words(agent: &Agent, text: &str) -> Option<String> {
    if of(&agent.facts).is_some() { None } else { title_of(text) }
}
