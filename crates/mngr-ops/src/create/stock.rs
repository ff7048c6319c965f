//! What a new host is given before its first agent: the repository that agents will work in.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::transfer::TransferMode;

use super::error::CreateError;
use super::request::CreateRequest;
use super::source::Source;
use super::{carry, heritage, source};
use crate::world::World;

/// What a host is stocked for.
#[derive(Clone, Copy)]
pub(crate) enum Stock<'a> {
    /// The agents of a request.
    Agents(&'a CreateRequest),
    /// Work on this repository of the machine mngr runs on.
    Repository(&'a HostPath),
}

impl Stock<'_> {
    /// Which repository that is, in one text; nothing when none is brought.
    pub(crate) fn identity(self, world: &World) -> Result<Option<String>, CreateError> {
        let place = |source: Source| {
            let repo = source.repo.as_ref()?;
            Some(format!("{} {}", source.host.info().id, repo.common_dir))
        };
        Ok(self.source(world)?.and_then(place))
    }

    /// Brings it there.
    pub(crate) fn lay_in(self, world: &World, host: &Arc<dyn Host>) -> Result<(), CreateError> {
        let Some(source) = self.source(world)? else { return Ok(()) };
        match self {
            Self::Agents(request) => carry::to_host(world, host, source, request)?,
            Self::Repository(_) => carry::head_to_host(world, host, source)?,
        };
        Ok(())
    }

    /// Where it is on a host that has it.
    pub(crate) fn place(self, world: &World, host: &dyn Host) -> Result<Option<HostPath>, CreateError> {
        Ok(self.source(world)?.and_then(|source| {
            let repo = source.repo.as_ref()?;
            Some(carry::place(host, &source, repo))
        }))
    }

    /// A source that is there already; a clone is made for one agent only.
    fn source(self, world: &World) -> Result<Option<Source>, CreateError> {
        let source = match self {
            Self::Agents(request) if request.transfer == Some(TransferMode::None) => return Ok(None),
            Self::Agents(request) => source::find(world, request, &heritage::find(world, request)?)?,
            Self::Repository(path) => source::at(world.client.clone(), path.clone(), None)?,
        };
        Ok(Some(source).filter(|source| source.clone_from.is_none()))
    }
}
