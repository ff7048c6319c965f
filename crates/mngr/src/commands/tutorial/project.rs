//! The project a tutorial belongs to, and where its proposals are kept.

use mngr_e2e::tutorial::fill::Store;
use mngr_host::git::Git;
use mngr_model::HostPath;
use mngr_ops::world::World;

use crate::error::{CliError, ErrorKind};

/// A project: a repository, or a folder outside of one.
pub(super) struct Project {
    /// Its top.
    pub(super) root: HostPath,
}

impl Project {
    /// The one this folder is in.
    pub(super) fn around(world: &World, folder: &HostPath) -> Result<Self, CliError> {
        let location = Git::new(world.client.as_ref(), folder.normalized()).locate();
        let location = location.map_err(|error| CliError::new(ErrorKind::Failed, error))?;
        Ok(Self { root: location.map_or_else(|| folder.normalized(), |found| found.root) })
    }

    /// Its proposals.
    pub(super) fn store<'w>(&self, world: &'w World) -> Store<'w> {
        let folder = self.root.join(&format!(".{}", world.root_name)).join("tutorial");
        Store::new(world.client.files(), folder)
    }

    /// A path as it is called below the top.
    pub(super) fn relative(&self, path: &HostPath) -> Result<String, CliError> {
        let path = path.normalized();
        let below = path.as_str().strip_prefix(self.root.as_str()).filter(|_| path.is_within(&self.root));
        let below = below.map(|below| below.trim_start_matches('/').to_owned());
        below.ok_or_else(|| CliError::failed(format!("`{path}` is not in the repository at `{}`", self.root)))
    }
}
