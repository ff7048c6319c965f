//! How far a message got on its way to an agent.

use serde::{Deserialize, Serialize};

/// The levels of delivery, in order. Each agent type declares the highest one it can prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryLevel {
    /// Nothing was typed.
    Nothing,
    /// The text was handed to the agent's terminal.
    Written,
    /// The agent's screen shows it.
    Shown,
    /// It was submitted.
    Submitted,
    /// The agent's own record holds it.
    Accepted,
}

impl DeliveryLevel {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Written => "written",
            Self::Shown => "shown",
            Self::Submitted => "submitted",
            Self::Accepted => "accepted",
        }
    }
}
