//! The verbs: the order of steps, the locks, the fan-out over hosts. No terminal, no argv, no exit codes.
//!
//! One file or folder per verb. A verb takes a [`world::World`] and a request and returns what it did.

pub mod activity;
pub mod again;
pub mod archive;
pub mod awake;
pub mod boot;
pub mod capture;
pub mod connect;
pub mod create;
pub mod destroy;
pub mod doctor;
pub mod event;
pub mod exec;
pub mod explain;
pub mod extra_paths;
pub mod fanout;
pub mod file;
pub mod fleet;
mod follow;
pub mod gc;
pub mod git;
mod git_locks;
pub mod hosts;
pub mod journal;
pub mod known;
pub mod label;
pub mod launch;
pub mod limit;
pub mod list;
pub mod message;
pub mod migrate;
mod names;
pub mod observe;
mod own_dirs;
pub mod pool;
pub mod pull;
pub mod push;
mod record;
pub mod recording;
pub mod recover;
pub mod remains;
pub mod rename;
pub mod rsync;
mod scratch;
pub mod select;
pub mod signs;
pub mod snapshot;
pub mod start;
mod states;
pub mod stop;
pub mod sync;
mod terminal;
#[cfg(test)]
mod testing;
mod text;
pub mod transcript;
mod trash;
pub mod tutorial;
pub mod undo;
pub mod usage;
pub mod vigil;
pub mod visit;
pub mod wait;
pub mod world;

pub use text::error_chain;
