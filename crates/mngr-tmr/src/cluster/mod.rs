//! Many failures, few causes: messages that differ only in paths, numbers and names are one line.
//!
//! Masks first (what always varies), then a tree after Drain: by stage, by number of words, by the first words; in a
//! leaf the most similar group takes the message. Pure, and the same messages in the same order give the same groups.
//! What must never be here: what to do about a cause.

mod group;
mod mask;

pub use group::{Cluster, Clusters};
pub use mask::mask;
