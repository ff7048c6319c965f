//! Pure facts about agents and hosts, and their spelling: ids, names, addresses, states, records, paths as data.
//!
//! Nothing here touches a file, a process, the environment or a clock. Whatever two rooms of one floor share is a
//! type in this crate.

pub mod activity;
pub mod address;
pub mod agent;
pub mod artifacts;
pub mod background;
pub mod branch;
pub mod delivery;
pub mod duration;
pub mod env;
pub mod event;
pub mod facts;
pub mod host;
pub mod ids;
pub mod journal;
pub mod layout;
pub mod name;
pub mod name_style;
pub mod path;
pub mod permission;
pub mod process;
pub mod quote;
pub mod run;
pub mod state;
pub mod title;
pub mod transfer;
pub mod window;
pub mod words;

pub use agent::AgentRecord;
pub use ids::{AgentId, EventId, HostId};
pub use name::{AgentName, AgentTypeName, HostName, ProviderName};
pub use path::HostPath;
pub use state::{AgentState, HostState, StateReport};
