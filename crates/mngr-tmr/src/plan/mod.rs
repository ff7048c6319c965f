//! Deciding before spending: which tests need an agent, how many agents run at once, what it will cost.
//!
//! A test that passes needs none, unless it was named or all were asked for. What must never be here: launching one.

mod decide;
mod forecast;
mod machine;
mod pre_run;
mod set_up;
#[cfg(test)]
mod tests;

pub use decide::{AgentsFor, Plan, Planned};
pub use forecast::{Estimate, Forecast};
pub use machine::{Machine, MachineError};
pub use pre_run::{Finding, PreRunError, Shown, Tested, pre_run, pre_run_checked};
pub use set_up::{SetUp, SetUpError};
