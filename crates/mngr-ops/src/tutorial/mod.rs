//! `tutorial fill` and `tutorial sync`: agents that propose what a tutorial lacks, and that write the tests it lacks.
//!
//! What is lacking, and what a proposal is worth, is known in `mngr_e2e::tutorial`. Here agents are asked, waited for and
//! dismissed, and what the user decides is carried out.

mod crew;
mod decide;
mod fill;
mod judge;
mod prompts;
mod skill;
mod sync;

pub use crew::{CrewOptions, Dismissal, Ending};
pub use decide::{DecideError, accept, reject};
pub use fill::{FillError, FillRequest, Filled, Insertion, fill};
pub use judge::{Judge, Judgement};
pub use skill::{SKILLS, Skill};
pub use sync::{Portion, SyncTestsError, SyncTestsRequest, Synced, sync};
