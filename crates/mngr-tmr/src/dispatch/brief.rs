//! What a mapper is: its name, its branch, its variables, what it is told.

use mngr_model::env::{MNGR_E2E_RUN, MNGR_TMR_ATTEMPT, MNGR_TMR_RUN, MNGR_TMR_TASK};
use mngr_model::run::{AttemptKey, AttemptNumber, Task};

use super::agent::{Commission, label};
use super::keeper::Brief;
use super::test_facts::TestFacts;
use crate::mapper::prompts::PromptError;
use crate::mapper::publish::Role;
use crate::run::Site;

/// What an agent and its branch are called within the run.
pub(super) fn own_name(slug: &str, attempt: AttemptNumber) -> String {
    match attempt {
        AttemptNumber(0 | 1) => slug.to_owned(),
        again => format!("{slug}-{again}"),
    }
}

/// The brief of the agent for one attempt at a task.
pub(super) fn brief(
    site: &Site,
    facts: &TestFacts,
    (task, attempt): &AttemptKey,
    queued: &Task,
) -> Result<Brief, PromptError> {
    let slug = queued.slug.as_str();
    let Site { shop, crew, folder } = site;
    let run = shop.run.to_string();
    let own = own_name(slug, *attempt);
    let branch = shop.branch_name(&own);
    let prompt = facts.prompt(shop, (task, queued.reason, &queued.failure), &branch)?;
    let commission = Commission {
        blueprint: crew.mapper.clone(),
        name: shop.agent_name(&own),
        branch,
        start: shop.base.clone(),
        labels: vec![
            (label::RUN, run.clone()),
            (label::ROLE, "MAPPER".to_owned()),
            (label::TASK, task.to_string()),
        ],
        env: vec![
            (MNGR_TMR_RUN, run),
            (MNGR_TMR_TASK, task.to_string()),
            (MNGR_TMR_ATTEMPT, attempt.to_string()),
            (MNGR_E2E_RUN, format!("attempt_{attempt}")),
        ],
    };
    Ok(Brief {
        commission,
        prompt,
        subject: task.to_string(),
        role: Role::Mapper,
        refs: Vec::new(),
        folder: folder.attempt(slug, *attempt),
        patience: shop.settings.patience.mapper,
    })
}
