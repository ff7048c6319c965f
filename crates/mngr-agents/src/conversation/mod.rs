//! Conversations that a new agent goes on with: the user's own (`find`) or another agent's (`of_agent`), copied into
//! its state folder (`carry`), where its program finds them at the first start.
//!
//! What opencode keeps in a database is carried by `opencode::carry`. Never in here: a change of the original, a link to
//! it, a process.

mod adopted;
mod carry;
mod find;
mod first_words;
mod of_agent;

pub use adopted::note_adopted;
pub(crate) use adopted::{ADOPTED, adopted};
pub use carry::carry;
pub(crate) use carry::copy_lines;
pub use find::{AdoptError, find};
pub use first_words::first_words;
pub use of_agent::of_agent;

use mngr_model::HostPath;

use crate::transcript::Brand;

/// A conversation in its brand's own form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Who wrote it.
    pub brand: Brand,
    /// The brand's own id of it.
    pub id: String,
    /// Its file.
    pub path: HostPath,
}
