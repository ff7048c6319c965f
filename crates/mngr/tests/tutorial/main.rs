//! The tutorial, block by block: each test cites the block it is about and runs its commands as a person does.
//!
//! One file per section of `tutorial/tutorial.sh`. That every block has a test is checked in `tests/cli/own_tutorial.rs`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clearing_up;
mod coding_agents;
mod creating;
mod first_agent;
mod from_top_to_bottom;
mod in_scripts;
mod looking_at_tests;
mod many_at_once;
mod moving_work;
mod one_agent_per_test;
mod one_task;
mod recordings;
mod running_beside;
mod settings;
mod snapshots;
mod support;
mod talking;
mod tidying_up;
mod tutorials;
