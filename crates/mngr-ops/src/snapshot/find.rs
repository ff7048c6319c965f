//! From the id that somebody typed to a snapshot.

use mngr_host::provider::SnapshotId;
use mngr_model::ProviderName;

use super::error::SnapshotError;
use super::list::{Kept, everything};
use crate::world::World;

/// As much of an id must be given at least.
const SHORTEST: usize = 4;

/// The snapshot of that id, of which the beginning is enough; the word before a `:` may be left out.
pub(super) fn find(world: &World, id: &str) -> Result<Kept, SnapshotError> {
    let listing = everything(world);
    let bare = |full: &str| full.split_once(':').map_or(full.to_owned(), |(_, rest)| rest.to_owned());
    let is_exact = |kept: &&Kept| kept.id == id || bare(&kept.id) == id;
    if let Some(exact) = listing.snapshots.iter().find(is_exact) {
        return Ok(exact.clone());
    }
    let begins =
        |kept: &&Kept| id.len() >= SHORTEST && (kept.id.starts_with(id) || bare(&kept.id).starts_with(id));
    let found: Vec<&Kept> = listing.snapshots.iter().filter(begins).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] if listing.failures.is_empty() => Err(SnapshotError::NotFound { id: id.to_owned() }),
        [] => {
            let name = |failure: &crate::fleet::Failure| {
                failure.address().unwrap_or_else(|| failure.provider.clone())
            };
            let unavailable = listing.failures.iter().map(name).collect();
            Err(SnapshotError::Unavailable { id: id.to_owned(), unavailable })
        }
        several => {
            let candidates = several.iter().map(|kept| kept.id.clone()).collect();
            Err(SnapshotError::Ambiguous { id: id.to_owned(), candidates })
        }
    }
}

/// The snapshot of a host that hosts of this provider can be made from.
pub(crate) fn of_host(
    world: &World,
    provider: &ProviderName,
    id: &SnapshotId,
) -> Result<Kept, SnapshotError> {
    let kept = find(world, id.as_str())?;
    if kept.agent.is_some() {
        return Err(SnapshotError::OfAgent { id: kept.id });
    }
    if kept.provider != *provider {
        return Err(SnapshotError::OtherProvider { id: kept.id, provider: kept.provider });
    }
    Ok(kept)
}
