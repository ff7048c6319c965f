//! Doing things on one host: processes, files, locks, tmux, git. The only floor that touches the machine.
//!
//! Everything above speaks to a [`host::Host`] and must not assume that a path is local.

pub mod allowance;
pub mod beneath;
pub mod clock;
pub mod errand;
pub mod event_log;
pub mod fault;
pub mod file_reader;
pub mod files;
pub mod frozen;
pub mod git;
pub mod glance;
pub mod host;
pub mod interrupt;
pub mod local;
pub mod lock;
pub mod proc;
pub mod provider;
pub mod pty;
pub mod random;
pub mod remote;
pub mod rsync;
pub mod socket;
mod survey;
pub mod tmux;
pub mod trace;
mod transfers;
pub mod watch;
