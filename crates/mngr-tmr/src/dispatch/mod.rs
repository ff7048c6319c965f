//! Agents for many tasks at once: one owner of the truth, a keeper for each agent, a few hands that measure results.
//!
//! The owner alone writes the journal and decides; whoever works tells it what happened through one channel and hears from
//! it through a flag. No loop goes round all agents. What must never be here: how results are put together.

pub(crate) mod agent;
mod brief;
pub(crate) mod keeper;
mod liveness;
pub(crate) mod measure;
pub(crate) mod news;
mod owner;
pub(crate) mod queue;
pub(crate) mod test_facts;

pub(crate) use owner::{Owner, Stopping};
