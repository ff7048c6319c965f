//! A stand-in for the model behind the coding agents, and the real agents set up to talk to it.
//!
//! [`ModelServer`] listens on loopback and speaks the three wire formats that the agents use. What it answers
//! is a [`Scenario`], chosen by a word in the user's message or set on the server. [`Agents`] finds the pinned
//! programs and writes the settings with which they start without a dialog and without the outside network.
//!
//! Nothing of how `mngr` deals with an agent belongs here: a test that trusts this module must be able to
//! prove `mngr` wrong.

mod agents;
mod answer;
mod chat;
mod check;
mod conversation;
mod http;
mod messages;
mod responses;
mod scenario;
mod server;
mod tools;
mod wire;

pub use agents::{Agents, Brand, FirstStart, Folders};
pub use answer::Usage;
pub use check::SafetyCheck;
pub use scenario::Scenario;
pub use server::{ModelServer, Recorded};
