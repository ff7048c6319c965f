//! `create`: a new agent, whole or not at all.

pub mod agent_type;
mod carry;
mod error;
mod foreground;
mod heritage;
mod new_host;
mod plan;
mod preflight;
mod provision;
mod request;
mod reuse;
mod run;
mod source;
pub(crate) mod stock;
mod workspace;

pub use error::CreateError;
pub use foreground::{Attended, Ended, Finished, FollowError, Piece};
pub use new_host::{check, create};
pub use plan::BranchNote;
pub use request::{
    Attendance, Audience, CreateRequest, Created, HostSpec, PROVISION_PATIENCE, Project, SourceSpec,
    UncleanFiles, Upload,
};
