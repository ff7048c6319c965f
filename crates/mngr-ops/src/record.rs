//! Changing an agent's certified record without losing what a newer mngr wrote into it.

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_model::layout::AgentLayout;
use serde_json::{Map, Value};

/// The record could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It could not be read or written.
    #[error("cannot change the agent's record")]
    Files(#[from] FilesError),
    /// It is not a JSON object.
    #[error("the agent's record is damaged")]
    Damaged(#[source] serde_json::Error),
    /// Another command changes it.
    #[error("the agent's record is being changed by another command")]
    Busy(#[source] mngr_host::lock::LockError),
}

/// Reads the record, lets `change` patch it, and replaces it in one synced step, under the agent's own lock.
pub(crate) fn patch(
    host: &dyn Host,
    agent: &AgentLayout,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<(), RecordError> {
    let wait = mngr_host::lock::LockWait::For(std::time::Duration::from_secs(30));
    let _lock = host.lock(&agent.root().join("data.lock"), wait).map_err(RecordError::Busy)?;
    let bytes = host.files().read_file(&agent.data())?;
    let mut record: Map<String, Value> = serde_json::from_slice(&bytes).map_err(RecordError::Damaged)?;
    change(&mut record);
    let text = serde_json::to_vec_pretty(&record).map_err(RecordError::Damaged)?;
    host.files().write(&agent.data(), &text, Access::Shared, Durability::Synced)?;
    Ok(())
}
