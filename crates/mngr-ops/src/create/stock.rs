//! What a new host is given before its first agent: the repository that agents will work in.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_model::transfer::TransferMode;

use super::error::CreateError;
use super::request::CreateRequest;
use super::{carry, heritage, source};
use crate::world::World;

/// Which repository that is, in one text; nothing when agents bring no repository.
pub(crate) fn identity(world: &World, request: &CreateRequest) -> Result<Option<String>, CreateError> {
    let source = source(world, request)?;
    let place = |source: source::Source| {
        let repo = source.repo.as_ref()?;
        Some(format!("{} {}", source.host.info().id, repo.common_dir))
    };
    Ok(source.and_then(place))
}

/// Brings it there.
pub(crate) fn lay_in(
    world: &World,
    host: &Arc<dyn Host>,
    request: &CreateRequest,
) -> Result<(), CreateError> {
    if let Some(source) = source(world, request)? {
        carry::to_host(world, host, source, request)?;
    }
    Ok(())
}

/// A source that is there already; a clone is made for one agent only.
fn source(world: &World, request: &CreateRequest) -> Result<Option<source::Source>, CreateError> {
    if request.transfer == Some(TransferMode::None) {
        return Ok(None);
    }
    let source = source::find(world, request, &heritage::find(world, request)?)?;
    Ok(Some(source).filter(|source| source.clone_from.is_none()))
}
