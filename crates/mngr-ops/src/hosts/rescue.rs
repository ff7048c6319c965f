//! Bringing everything that exists only on a host to the machine mngr runs on, before the host goes away.
//!
//! All its agents are in its trash by then. Of each repository there the refs with commits of their own come as a bundle,
//! and as refs of the repository they were made from, where this machine has that. Of each agent the files that are in no
//! commit come, and what was kept of its events and its conversation. Nothing is removed there.
//!
//! Round trips: for each repository a look, the bundle and its copy; for each agent a `git status` and an rsync.

use std::collections::BTreeSet;

use mngr_host::beneath::Beneath;
use mngr_host::files::{FileKind, FilesError};
use mngr_host::git::{Elsewhere, Git, GitError, IgnoredFiles, OwnRef, RESCUE_PREFIX, UncleanKind};
use mngr_host::host::Host;
use mngr_host::random;
use mngr_host::rsync::{Endpoint, Rsync, RsyncError};
use mngr_model::HostPath;

use crate::fleet::memory;
use crate::trash::{self, Manifest, TrashError, Work};
use crate::world::World;

/// The folder of this machine that holds what came from hosts that are gone, below what is preserved of agents.
const HOSTS: &str = "hosts";
/// The folder for an agent's files, in what is preserved of it.
const WORK: &str = "work";
/// Submodules of submodules are not followed deeper than this.
const SUBMODULE_DEPTH: u32 = 8;
/// What is read later must not lead anywhere, and is for nobody else.
const PLAIN_AND_PRIVATE: [&str; 2] = ["--no-links", "--chmod=D0700,F0600"];

/// What came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rescued {
    /// Bundles with commits, on this machine.
    pub bundles: Vec<HostPath>,
    /// Refs in repositories of this machine that hold the same commits.
    pub refs: Vec<RescuedRef>,
    /// Folders of this machine with files that are in no commit.
    pub folders: Vec<HostPath>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Rescued {
    /// Whether there was nothing to bring.
    pub fn is_empty(&self) -> bool {
        self.bundles.is_empty() && self.folders.is_empty()
    }
}

/// A ref that holds what came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RescuedRef {
    /// The git dir of the repository.
    pub repository: HostPath,
    /// Its full name.
    pub name: String,
}

/// Something could not be brought, so it must not be removed there.
#[derive(Debug, thiserror::Error)]
pub enum RescueError {
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A repository could not be looked at or copied.
    #[error("a repository there could not be brought here")]
    Git(#[from] GitError),
    /// Files could not be copied.
    #[error("files could not be copied from there")]
    Rsync(#[from] RsyncError),
    /// The trash there cannot be read.
    #[error("its trash cannot be read")]
    Trash(#[from] TrashError),
}

/// Brings everything that only this host has. Its agents are in its trash.
pub(super) fn rescue(world: &World, host: &dyn Host) -> Result<Rescued, RescueError> {
    let entries = trash::entries(host)?;
    if let Some(damaged) = entries.damaged.into_iter().next() {
        return Err(damaged.error.into());
    }
    let mut rescue = Rescue { world, host, repositories: BTreeSet::new(), rescued: Rescued::default() };
    rescue.own_repositories()?;
    for manifest in &entries.whole {
        rescue.work_of(manifest)?;
    }
    rescue.commits()?;
    rescue.preserved()?;
    Ok(rescue.rescued)
}

struct Rescue<'a> {
    world: &'a World,
    host: &'a dyn Host,
    /// Git dirs there.
    repositories: BTreeSet<HostPath>,
    rescued: Rescued,
}

impl Rescue<'_> {
    /// The repositories that agents share, whether or not an agent of theirs is left.
    fn own_repositories(&mut self) -> Result<(), RescueError> {
        let (files, layout) = (self.host.files(), self.host.layout());
        for parent in [layout.repositories(), layout.clones()] {
            for entry in files.list(&parent)?.into_iter().filter(|entry| entry.kind == FileKind::Folder) {
                let git_dir = parent.join(&entry.name).join(".git");
                if files.exists(&git_dir.join("HEAD"))? {
                    self.repositories.insert(git_dir);
                }
            }
        }
        Ok(())
    }

    /// The files of a destroyed agent that are in no commit; all of them where there is no repository.
    fn work_of(&mut self, manifest: &Manifest) -> Result<(), RescueError> {
        let work = match &manifest.work {
            Some(Work::Moved { to, .. }) => to,
            Some(Work::Kept { .. }) => &manifest.work_dir,
            Some(Work::Missing { .. }) | None => return Ok(()),
        };
        let is_folder = self.host.files().stat(work)?.is_some_and(|stat| stat.kind == FileKind::Folder);
        if !is_folder {
            return Ok(());
        }
        if self.host.layout().root().is_within(work) {
            let note = format!("the work dir of agent `{}`, `{work}`, was not brought", manifest.name);
            self.rescued.notes.push(note);
            return Ok(());
        }
        let git = Git::new(self.host, work.clone());
        let Some(location) = git.locate()?.filter(|found| found.root == work.normalized()) else {
            return self.copy(manifest, Rsync::new(Endpoint::Contents(work.clone()), self.place(manifest)));
        };
        self.repositories.insert(location.common_dir);
        self.submodules_of(&git, SUBMODULE_DEPTH)?;
        let unclean = git.list_unclean(IgnoredFiles::Include)?;
        let count = |wanted: UncleanKind| unclean.iter().filter(|entry| entry.kind == wanted).count();
        let (ignored, deleted) = (count(UncleanKind::Ignored), count(UncleanKind::Deleted));
        let name = &manifest.name;
        if ignored > 0 {
            let note = format!("{ignored} file(s) of agent `{name}` that git ignores were not brought");
            self.rescued.notes.push(note);
        }
        let is_there = |kind: &UncleanKind| !matches!(kind, UncleanKind::Ignored | UncleanKind::Deleted);
        let paths: Vec<_> = unclean.iter().filter(|entry| is_there(&entry.kind)).collect();
        if deleted > 0 {
            let note = format!("agent `{name}` had deleted {deleted} file(s) without a commit");
            self.rescued.notes.push(note);
        }
        if paths.is_empty() {
            return Ok(());
        }
        let copy = Rsync::new(Endpoint::Contents(work.clone()), self.place(manifest))
            .options(["--ignore-missing-args"])
            .only(paths.iter().map(|entry| entry.path.as_bytes()));
        self.copy(manifest, copy)
    }

    /// Submodules have repositories of their own. Files of theirs that are in no commit come with their folder.
    fn submodules_of(&mut self, git: &Git<'_>, depth: u32) -> Result<(), RescueError> {
        for submodule in git.submodules()? {
            let inner = git.at(git.dir().join(&submodule.path));
            // An empty one is a folder of the checkout around it.
            let found = inner.locate()?.filter(|found| found.root == inner.dir().normalized());
            let Some(found) = found.filter(|_| depth > 0) else { continue };
            self.repositories.insert(found.common_dir);
            self.submodules_of(&inner, depth - 1)?;
        }
        Ok(())
    }

    fn folder_of(&self, manifest: &Manifest) -> HostPath {
        self.world.client.layout().preserved_of(&manifest.name, &manifest.id).join(WORK)
    }

    fn place(&self, manifest: &Manifest) -> Endpoint {
        Endpoint::Contents(self.folder_of(manifest))
    }

    fn copy(&mut self, manifest: &Manifest, copy: Rsync) -> Result<(), RescueError> {
        let folder = self.folder_of(manifest);
        let client = self.world.client.as_ref();
        let beneath = Beneath::new(&client.layout().preserved(), &folder);
        let beneath = beneath.unwrap_or_else(|| Beneath::root_itself(folder.clone()));
        client.files().make_folder_beneath(&beneath, &BTreeSet::new())?;
        copy.beneath(beneath).run_between(self.host, client)?;
        self.rescued.folders.push(folder);
        Ok(())
    }

    fn commits(&mut self) -> Result<(), RescueError> {
        let sources = memory::sources(self.world, self.host.info());
        for git_dir in std::mem::take(&mut self.repositories) {
            let git = Git::new(self.host, git_dir);
            let source = match sources.get(git.dir()) {
                Some(path) if self.world.client.files().exists(&path.join("HEAD"))? => Some(path),
                _ => None,
            };
            let elsewhere = if source.is_some() { Elsewhere::SourceAndRemotes } else { Elsewhere::Remotes };
            let refs = git.own_refs(elsewhere)?;
            if !refs.is_empty() {
                self.bundle(&git, &refs, elsewhere)?;
                self.refs_into(source, &git, &refs)?;
            }
        }
        Ok(())
    }

    /// The commits as refs of the repository they were made from.
    fn refs_into(
        &mut self,
        source: Option<&HostPath>,
        git: &Git<'_>,
        refs: &[OwnRef],
    ) -> Result<(), RescueError> {
        if let Some(source) = source {
            let names: Vec<(&str, String)> =
                refs.iter().map(|own| (own.name.as_str(), self.name_here(&own.name))).collect();
            Git::new(self.world.client.as_ref(), source.clone()).fetch_refs(git, &names)?;
            let held = names.into_iter().map(|(_, name)| RescuedRef { repository: source.clone(), name });
            self.rescued.refs.extend(held);
        }
        Ok(())
    }

    /// The commits as a file.
    fn bundle(&mut self, git: &Git<'_>, refs: &[OwnRef], elsewhere: Elsewhere) -> Result<(), RescueError> {
        let client = self.world.client.as_ref();
        let info = self.host.info();
        let folder = client.layout().preserved().join(HOSTS).join(&format!("{}--{}", info.name, info.id));
        let name = git.dir().parent().and_then(|above| above.file_name().map(str::to_owned));
        let name = format!("{}-{}.bundle", name.unwrap_or_default(), &random::hex32()[..8]);
        let (there, here) = (self.host.layout().root().join(&format!(".mngr-{name}")), folder.join(&name));
        git.bundle_refs(refs, &there, elsewhere)?;
        client.files().make_folder(&folder)?;
        let copied = Rsync::new(Endpoint::Itself(there.clone()), Endpoint::Itself(here.clone()))
            .options(PLAIN_AND_PRIVATE)
            .run_between(self.host, client);
        let _ = self.host.files().remove_file(&there);
        copied?;
        self.rescued.bundles.push(here);
        Ok(())
    }

    /// A rescue ref keeps its name, which is an agent's; all others say which host they came from.
    fn name_here(&self, name: &str) -> String {
        if name.starts_with(RESCUE_PREFIX) {
            return name.to_owned();
        }
        let short = name.strip_prefix("refs/").unwrap_or(name);
        format!("{RESCUE_PREFIX}{}/{short}", self.host.info().id)
    }

    /// What is kept of events and conversations, also of agents that are long gone.
    fn preserved(&mut self) -> Result<(), RescueError> {
        let (from, to) = (self.host.layout().preserved(), self.world.client.layout().preserved());
        if self.host.files().list(&from)?.is_empty() {
            return Ok(());
        }
        self.world.client.files().make_folder(&to)?;
        Rsync::new(Endpoint::Contents(from), Endpoint::Contents(to))
            .options(PLAIN_AND_PRIVATE)
            .run_between(self.host, self.world.client.as_ref())?;
        Ok(())
    }
}
