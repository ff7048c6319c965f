//! Removing snapshots. Nothing else goes with them.

use mngr_host::provider::SnapshotId;
use mngr_model::address::AgentOrHost;

use super::create::copying;
use super::error::SnapshotError;
use super::find::find;
use super::list::{Kept, list};
use super::store;
use crate::scratch;
use crate::world::World;

/// Which snapshots go.
#[derive(Debug, Clone)]
pub enum Which {
    /// Those of these ids.
    Ids(Vec<String>),
    /// All of these agents and hosts.
    AllOf(Vec<AgentOrHost>),
}

/// Those that would go, and what cannot be found.
pub fn plan_destroy(world: &World, which: &Which) -> (Vec<Kept>, Vec<(String, SnapshotError)>) {
    match which {
        Which::Ids(ids) => {
            let (mut found, mut errors) = (Vec::<Kept>::new(), Vec::new());
            for id in ids {
                match find(world, id) {
                    Ok(kept) if found.contains(&kept) => {}
                    Ok(kept) => found.push(kept),
                    Err(error) => errors.push((id.clone(), error)),
                }
            }
            (found, errors)
        }
        Which::AllOf(targets) => (list(world, targets).snapshots, Vec::new()),
    }
}

/// Removes one. One that is gone is removed.
pub fn destroy(world: &World, kept: &Kept) -> Result<(), SnapshotError> {
    if kept.agent.is_none() {
        let missing = || SnapshotError::NotFound { id: kept.id.clone() };
        let (_, snapshots) = copying(world, &kept.provider).ok_or_else(missing)?;
        return Ok(snapshots.destroy(&SnapshotId::new(kept.id.clone()))?);
    }
    match store::open(world, &kept.host, &kept.id) {
        Ok(snapshot) => Ok(scratch::discard(snapshot.host.as_ref(), &snapshot.folder())?),
        Err(SnapshotError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
