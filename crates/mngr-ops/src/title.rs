//! What an agent works on, in one line: as somebody has called it, as its program calls it, or as its first message began.
//!
//! Nobody is asked, and nothing is read that a look at the agent has not brought. Untrusted text, made harmless.

use mngr_agents::manifest::BuiltIn;
use mngr_model::facts::AgentFacts;
use mngr_model::title::title_of;

use crate::fleet::Agent;
use crate::record;
use crate::world::World;

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

/// Notes what an agent was told first, where it has neither a title nor a first message yet. Nobody fails for a title.
pub(crate) fn note_first_words(world: &World, agent: &Agent, text: &str) {
    let record = &agent.facts.record;
    let has_one = record.title.is_some() || record.first_words().is_some();
    let Some(line) = title_of(text).filter(|_| !has_one) else { return };
    let layout = agent.host.layout().agent(agent.id());
    let noted = record::patch(agent.host.as_ref(), &layout, |record| {
        record.entry("first_line").or_insert_with(|| line.into());
    });
    if let Err(error) = noted {
        world.reporter.warn(&format!("the agent has no title yet: {}", crate::error_chain(&error)));
    }
}
