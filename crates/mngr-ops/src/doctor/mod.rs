//! `doctor`: is everything mngr needs there, and has nothing been left behind?
//!
//! One file per group of checks. A check looks only; what it would do about a finding is data ([`Repair`]), carried out by
//! `repair.rs` when somebody asks for it. Checks run side by side, on all hosts that answer; a
//! host as a whole has so much time, after which the rest is told without it.
//!
//! Budget per host: one look at its agents, one script about the machine, some five small requests, one git process for each
//! repository.

mod boot;
mod branches;
mod connections;
mod finding;
mod git_locks;
mod hosts;
mod idle;
mod leftovers;
mod machine;
mod permissions;
mod place;
mod programs;
mod repair;
mod run;
mod servers;
mod sessions;
mod trash;
mod work_dirs;

pub use finding::{Finding, Mended, Status};
use repair::Repair;
pub use run::{examine, mend};
