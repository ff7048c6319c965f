//! `create`: a new agent, whole or not at all.

pub mod agent_type;
mod error;
mod plan;
mod provision;
mod request;
mod reuse;
mod run;
mod source;
mod workspace;

pub use error::CreateError;
pub use plan::BranchNote;
pub use request::{CreateRequest, Created, Project, SourceSpec, UncleanFiles, Upload};
pub use run::create;
