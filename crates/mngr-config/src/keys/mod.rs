//! The settings themselves: one table per file, each a typed struct that is also its own checker and documentation.
//!
//! To add a key, add a documented field to its struct and, unless it is optional, its default to
//! `defaults.toml`. Nothing here merges, reads or prints.

pub(crate) mod agent_type;
pub(crate) mod brand;
pub(crate) mod command;
pub(crate) mod duration;
pub(crate) mod housekeeping;
pub(crate) mod logging;
pub(crate) mod names;
pub(crate) mod plugin;
pub(crate) mod pool;
pub(crate) mod price;
pub(crate) mod provider;
pub(crate) mod retry;
pub(crate) mod screen;
pub(crate) mod template;
pub(crate) mod tmr;
pub(crate) mod tmux;
pub(crate) mod top;
