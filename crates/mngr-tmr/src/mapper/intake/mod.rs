//! Taking in what an agent published: from a stream of bytes nobody trusts to an outcome, files and commits that may be
//! worked with.
//!
//! Nothing is held in memory but one piece at a time and the outcome. Everything is unpacked into a private folder made
//! for it, which gets its final name only when all of it was found good: a link in the archive is refused, and nobody
//! else can put one there meanwhile. Text of the agent loses its control characters here; markup in it stays what it
//! is, text, and must be shown as such.
//!
//! Processes: none without commits, six with. Never evaluates anything, never touches the user's branches or checkout.

mod commits;
mod door;
mod gunzip;
mod pack;
mod refusal;
mod tar;
#[cfg(test)]
mod tests;
mod unpack;

pub use door::{Admitted, Expected, Handover, IntakeError, take_in};
pub use refusal::Refusal;
