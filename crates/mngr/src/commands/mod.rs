//! One file or folder per verb: its arguments, and how its result is shown.

pub(crate) mod batch;
pub(crate) mod capture;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod create;
pub(crate) mod destroy;
pub(crate) mod editor;
pub(crate) mod excerpt;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod gc;
pub(crate) mod help;
pub(crate) mod label;
pub(crate) mod list;
pub(crate) mod message;
pub(crate) mod pull;
pub(crate) mod push;
pub(crate) mod rename;
pub(crate) mod start;
pub(crate) mod stop;
pub(crate) mod sync;
pub(crate) mod targets;
pub(crate) mod transcript;
pub(crate) mod undo;
pub(crate) mod usage;
pub(crate) mod wait;
