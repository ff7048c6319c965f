//! Removing a host that a dead command made for a pool.

use mngr_model::{HostId, ProviderName};

use super::error::PoolError;
use super::ledger::{Ending, Ledger};
use crate::hosts::{self, Tenant};
use crate::world::World;

/// It is not known whether the host may be removed, or it could not be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TakeBackError {
    /// Who is on the way to it cannot be told.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// Who is on it cannot be told, or it could not be removed.
    #[error(transparent)]
    Host(#[from] hosts::TakeBackError),
}

/// A host that was to be one of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Under which name the bookings of the pool are kept.
    pub(crate) pool: &'a str,
    /// The provider that made the host.
    pub(crate) provider: &'a ProviderName,
    /// The host.
    pub(crate) host: &'a HostId,
    /// `name.provider`.
    pub(crate) address: &'a str,
}

/// Removes the host, unless somebody is on it or on the way to it. Nobody can be on the way to one that is not whole.
pub(crate) fn take_back(world: &World, place: &Place<'_>) -> Result<(), TakeBackError> {
    let ledger = Ledger::open(world, place.pool)?;
    let ending = ledger.wait_until_made(place.address)?;
    // Nobody can book it while it is looked at.
    let page = ledger.enter()?;
    let is_booked = page.bookings.iter().any(|booking| booking.host == place.address);
    if ending == Ending::Abandoned || !is_booked {
        hosts::take_back(world, place.provider, place.host, Tenant::Anybody)?;
        ledger.forget_making(place.address);
    }
    Ok(())
}
