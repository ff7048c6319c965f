//! Proposals that the user keeps or drops, in the store and in the script.

use std::time::Duration;

use mngr_e2e::tutorial::fill::{
    PlaceError, Placed, Proposal, ProposalId, Status, Store, StoreError, drop_from, keep,
};
use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::lock::{LockError, LockWait};
use mngr_model::HostPath;

use crate::world::World;

/// How long another command may be at it.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// A decision could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// It was decided already.
    #[error("the proposal `{id}` is {} already", .status.as_str())]
    Decided {
        /// Its id.
        id: ProposalId,
        /// What was decided.
        status: Status,
    },
    /// It cannot be used as it is.
    #[error("the proposal `{id}` cannot be used: {}", .problems.join("; "))]
    Invalid {
        /// Its id.
        id: ProposalId,
        /// Why not.
        problems: Vec<String>,
    },
    /// The script is not one of this project.
    #[error("the proposal `{id}` is for `{script}`, which is not below `{root}`")]
    Outside {
        /// Its id.
        id: ProposalId,
        /// What it is for.
        script: String,
        /// The project.
        root: HostPath,
    },
    /// It has no place in the script.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// It cannot be read or kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The script cannot be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Another command is at it.
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// Keeps a proposal: it is in the script afterwards, without a mark.
pub fn accept(
    world: &World,
    store: &Store<'_>,
    root: &HostPath,
    id: &ProposalId,
) -> Result<Proposal, DecideError> {
    let mut proposal = store.load(id)?;
    match proposal.status {
        Status::Proposed | Status::Rejected => {}
        Status::Accepted => return Err(decided(&proposal)),
        Status::Invalid => {
            return Err(DecideError::Invalid { id: id.clone(), problems: proposal.problems });
        }
    }
    edit(world, store, root, &proposal, |bytes| Ok(keep(bytes, &proposal)?))?;
    proposal.status = Status::Accepted;
    proposal.rejected_because = None;
    store.save(&proposal)?;
    Ok(proposal)
}

/// Drops a proposal: it is not in the script afterwards, and is not proposed again.
pub fn reject(
    world: &World,
    store: &Store<'_>,
    root: &HostPath,
    id: &ProposalId,
    because: Option<&str>,
) -> Result<Proposal, DecideError> {
    let mut proposal = store.load(id)?;
    if matches!(proposal.status, Status::Accepted | Status::Rejected) {
        return Err(decided(&proposal));
    }
    if proposal.status == Status::Proposed {
        edit(world, store, root, &proposal, |bytes| Ok(drop_from(bytes, &proposal)))?;
    }
    proposal.status = Status::Rejected;
    let problems = proposal.problems.join("; ");
    proposal.rejected_because = because.map(str::to_owned).or((!problems.is_empty()).then_some(problems));
    store.save(&proposal)?;
    Ok(proposal)
}

fn decided(proposal: &Proposal) -> DecideError {
    DecideError::Decided { id: proposal.id.clone(), status: proposal.status }
}

/// Changes the script of a proposal, alone.
pub(super) fn edit(
    world: &World,
    store: &Store<'_>,
    root: &HostPath,
    proposal: &Proposal,
    change: impl FnOnce(&[u8]) -> Result<Placed, DecideError>,
) -> Result<(), DecideError> {
    let files = world.client.files();
    store.make()?;
    let _lock = world.client.lock(&store.folder().join("lock"), LockWait::For(LOCK_WAIT))?;
    let script = root.join(&proposal.script).normalized();
    // A repository can bring proposals of its own, and links.
    if !files.canonical(&script)?.is_within(&files.canonical(root)?) {
        return Err(DecideError::Outside {
            id: proposal.id.clone(),
            script: proposal.script.clone(),
            root: root.clone(),
        });
    }
    if let Placed::Written(bytes) = change(&files.read(&script)?)? {
        files.write(&script, &bytes, Access::AsBefore, Durability::Synced)?;
    }
    Ok(())
}
