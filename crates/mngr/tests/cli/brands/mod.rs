//! The real coding agents, each against a scripted model on loopback. They need the programs of `agents.lock`: where
//! those cannot be had, the whole module is left out by its name.

mod adopt;
mod characters;
mod claude;
mod clone;
mod codex;
mod every;
mod headless;
mod login;
mod mixed;
mod opencode;
mod options;
mod restart;
mod scene;
mod timing;
mod tutorial;
