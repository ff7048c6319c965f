//! The contract with the agents of a run: what they are told, how they publish, and how what they publish is taken in.
//!
//! What an agent hands over is hostile until proven otherwise. Whether its claims hold is for verification to find out.

pub mod intake;
mod limits;
pub mod prompts;
pub mod publish;
#[cfg(test)]
mod testing;

pub use limits::Limits;
