//! Many hosts under one name: new agents are spread over them, and hosts that are made are provisioned once and copied.
//!
//! A pool is named in the settings, is all hosts of a provider that cannot make any, or is whatever `--agents-per-host`
//! makes. Who goes where is decided under a lock on the machine mngr runs on, with a booking that stays until the agent
//! is there, so that any number of commands of one user fill it evenly. Other machines that use the same hosts are seen
//! only by the agents they have made.
//!
//! What must never be here: how an agent is created on the host it was given.

mod choice;
mod error;
mod ledger;
mod look;
mod make;
mod marked;
mod seat;
mod spec;
mod take_back;
mod warm;

pub use error::PoolError;
pub use make::{Fresh, fresh_host};
pub(crate) use marked::sweep;
pub use marked::{RUN_TAG, asleep, end_hosts, remove_host, wake_hosts};
pub(crate) use seat::{reachable, take};
pub use spec::Pool;
pub(crate) use take_back::{Place, take_back};
pub(crate) use warm::{is_superseded, is_warm};
