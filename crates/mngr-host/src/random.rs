//! Randomness for ids and generated names.

use mngr_model::{AgentId, EventId, HostId};

fn bytes() -> [u8; 16] {
    uuid::Uuid::new_v4().into_bytes()
}

/// A new agent id.
pub fn agent_id() -> AgentId {
    AgentId::from_bytes(bytes())
}

/// A new host id.
pub fn host_id() -> HostId {
    HostId::from_bytes(bytes())
}

/// A new event id.
pub fn event_id() -> EventId {
    EventId::from_bytes(bytes())
}

/// 32 random hex digits, for folder and buffer names that must not collide.
pub fn hex32() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// A seed for generated names.
pub fn seed() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}
