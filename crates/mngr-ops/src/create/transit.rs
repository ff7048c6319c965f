//! A source on one remote host for an agent on another: the two need not reach each other, so for a while it stands in a
//! private folder of this machine.
//!
//! The folder is removed at the end; what a killed command left is removed by the next one that looks at this machine.

use mngr_host::git::{Git, IgnoredFiles, StartPoint};
use mngr_host::host::Host;
use mngr_host::random;
use mngr_host::rsync::{Endpoint, Rsync};
use mngr_model::HostPath;

use super::error::CreateError;
use super::request::{CreateRequest, UncleanFiles};
use super::source::Source;
use crate::extra_paths;
use crate::scratch::Scratch;
use crate::world::World;

/// What an agent is called in the journal of its files while its name is not chosen.
const UNNAMED: &str = "unnamed";

/// The files of a source, as they stand here.
pub(super) struct Transit(Scratch);

impl Transit {
    /// Brings the source here: its repository with the commit `base`, its uncommitted files and the extra paths.
    pub(super) fn bring(
        world: &World,
        source: &Source,
        base: Option<&str>,
        request: &CreateRequest,
    ) -> Result<Self, CreateError> {
        let name = match &request.name {
            Some(name) => name.clone(),
            None => UNNAMED.parse().map_err(|_| CreateError::NoFreeName)?,
        };
        let transit =
            Scratch::make(world, &world.client, &world.client.layout().transit(), &random::hex32(), &name)?;
        let (client, files) = (transit.host(), transit.files());
        match (&source.repo, base) {
            (Some(repo), Some(base)) => {
                let head = repo.head_oid()?;
                let original = Git::new(source.host.as_ref(), source.path.clone());
                let repository = Git::new(client, transit.folder().join("repository"));
                original.deposit_into(&repository, base)?;
                if head != base {
                    original.deposit_into(&repository, head)?;
                }
                repository.add_worktree(&files, &StartPoint::Commit(head))?;
                if let Some(ignored) = carried(request.unclean) {
                    original.copy_unclean_to(&Git::new(client, files.clone()), ignored)?;
                }
                let missing = |path: &&String| !client.files().exists(&files.join(path)).unwrap_or(false);
                let paths = &world.settings.work_dir_extra_paths;
                let paths = paths.keys().filter(missing).map(|path| (path.clone(), paths[path])).collect();
                extra_paths::lay(&paths, (source.host.as_ref(), &source.path), (client, &files))?;
            }
            _ => {
                client.files().make_folder(&files)?;
                Rsync::new(Endpoint::Contents(source.path.clone()), Endpoint::Contents(files))
                    .options(request.rsync_args.iter().cloned())
                    .run_between(source.host.as_ref(), client)?;
            }
        }
        Ok(Self(transit))
    }

    /// Where the files stand.
    pub(super) fn files(&self) -> HostPath {
        self.0.files()
    }

    /// The machine they stand on.
    pub(super) fn client(&self) -> &dyn Host {
        self.0.host()
    }
}

/// Which uncommitted files are wanted; more than that need not travel.
fn carried(unclean: UncleanFiles) -> Option<IgnoredFiles> {
    match unclean {
        UncleanFiles::AsUsual | UncleanFiles::Carry { ignored: false } => Some(IgnoredFiles::Leave),
        UncleanFiles::Carry { ignored: true } => Some(IgnoredFiles::Include),
        UncleanFiles::Refuse | UncleanFiles::LeaveBehind => None,
    }
}
