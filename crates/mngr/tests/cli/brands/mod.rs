//! The real coding agents, each against a scripted model on loopback. They need the programs of `agents.lock`: where
//! those cannot be had, the whole module is left out by its name.

mod adopt;
mod agent_view;
mod app_server;
mod background;
mod books;
mod characters;
mod claude;
mod clone;
mod codex;
mod defaults;
mod every;
mod headless;
mod login;
mod mixed;
mod opencode;
mod options;
mod record;
mod restart;
mod scene;
mod timing;
mod tutorial;
