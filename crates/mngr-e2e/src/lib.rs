//! From a tutorial to tests: what it says, which tests cite it, the sessions they run in and the recordings they leave.
//!
//! Reaches files and programs only through `mngr-host`. Never in it: a person's terminal, argv, an agent.

pub mod expect;
pub mod recorder;
pub mod session;
pub mod transcript;
pub mod tutorial;

pub use expect::expect;
