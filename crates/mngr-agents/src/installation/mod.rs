//! Which program an agent type would run on a host, and which version of it: looked at before anything is made.
//!
//! `package` says where a program comes from, `version` reads versions, `look` finds them on a host, `memory` keeps what
//! was seen so that it is seen once.
//! Never in here: a decision about what follows.

mod look;
mod memory;
mod package;
mod version;

pub use look::{InstallationError, Program, find, version_of};
pub use memory::Memory;
pub use package::Installation;
pub use version::{Tested, Version};
