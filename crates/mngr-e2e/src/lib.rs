//! From a tutorial to tests: what a tutorial says and which tests cite it.
//!
//! Reaches files and programs only through `mngr-host`. Never in it: a terminal, argv, an agent.

pub mod expect;
pub mod recorder;
pub mod session;
pub mod transcript;
pub mod tutorial;

pub use expect::expect;
