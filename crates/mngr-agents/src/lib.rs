//! What is peculiar to one brand of agent: how it is launched, how its state is read, how a message reaches it.
//!
//! Facts about a brand are data (`manifests/*.toml`); code is only what data cannot say. All I/O goes through
//! `mngr-host`, so that an agent may live on any machine.

pub mod brand;
pub mod claude;
pub mod codex;
pub mod conversation;
pub mod deliver;
pub mod detect;
pub mod headless;
pub mod installation;
mod json;
pub mod kind;
pub mod launch;
pub mod login;
pub mod manifest;
pub mod opencode;
pub mod ordinary;
mod said;
pub mod screen;
pub mod scripted;
mod settings;
mod share;
pub mod transcript;
pub mod usage;
pub mod user;
