//! The hermetic world in which the tests and the benchmark run the real `mngr` binary.
//!
//! Everything here is for tests: a crate names it under `[dev-dependencies]` only, and `cargo xtask rooms`
//! fails if one does otherwise. It knows the binary by its path and nothing of its code, so that it can
//! never agree with a mistake in it. What goes wrong here panics, because that is how a test fails.

mod dockerd;
mod env;
mod link;
pub mod model;
mod or_fail;
mod output;
mod processes;
mod reaper;
mod repo;
mod running;
mod snapshot;
mod sshd;
mod terminal;
mod wait;

pub use dockerd::{Containers, Dockerd};
pub use env::TestEnv;
pub use output::CmdOutput;
pub use processes::processes_with_variable;
pub use repo::TestRepo;
pub use running::Running;
pub use rustix::process::Signal;
pub use sshd::Sshd;
pub use terminal::{Surroundings, Terminal};
pub use wait::wait_until;
