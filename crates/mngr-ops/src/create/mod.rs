//! `create`: a new agent, whole or not at all.

pub mod agent_type;
mod build;
mod carry;
mod error;
mod foreground;
mod heritage;
mod like;
mod new_host;
mod plan;
mod preflight;
mod program;
mod proof;
mod provision;
mod request;
mod reserve;
mod reuse;
mod run;
pub(crate) mod settle;
mod source;
pub(crate) mod stock;
mod transit;
mod workspace;

pub use error::CreateError;
pub use foreground::{Attended, Ended, Finished, FollowError, Piece};
pub use new_host::{check, create};
pub use plan::BranchNote;
pub(crate) use preflight::surrounding;
pub use request::{
    Attendance, Audience, CreateRequest, Created, FirstStart, HostSpec, PROVISION_PATIENCE, Project, Proof,
    SourceSpec, StoppedHost, UncleanFiles, Upload,
};
