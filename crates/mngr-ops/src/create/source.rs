//! Where an agent's files come from.

use std::collections::BTreeSet;
use std::sync::Arc;

use mngr_host::git::{Git, RepoFacts, clone_repository, repo_name_from_url};
use mngr_host::host::Host;
use mngr_host::random;
use mngr_model::address::Location;
use mngr_model::facts::Detail;
use mngr_model::journal::Step;
use mngr_model::layout::AgentLayout;
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentRecord, HostPath};

use super::error::CreateError;
use super::heritage::{Ancestor, Heritage};
use super::request::{CreateRequest, SourceSpec};
use super::reuse::awake;
use super::transit::Transit;
use super::workspace::CLONE_DEADLINE;
use crate::fleet::Fleet;
use crate::hosts;
use crate::journal::Journal;
use crate::world::World;

/// A source before anything was made.
pub(super) struct Source {
    pub(super) host: Arc<dyn Host>,
    /// The folder itself; for a repository its top folder.
    pub(super) path: HostPath,
    /// What git says of it; `None` for a plain folder.
    pub(super) repo: Option<RepoFacts>,
    /// The origin's URL, without credentials.
    pub(super) origin: Option<String>,
    /// The project label of the agent it is taken from.
    pub(super) project: Option<String>,
    /// The state folder of that agent.
    pub(super) parent: Option<AgentLayout>,
    /// To be cloned first.
    pub(super) clone_from: Option<String>,
    /// Where it was before its repository was brought to the agent's host.
    pub(super) original: Option<Original>,
    /// Its files on their way from one remote host to another.
    pub(super) transit: Option<Transit>,
    /// The branches that its repository may have, where they were just seen.
    pub(super) branches: Option<BTreeSet<String>>,
}

/// A place on another host.
#[derive(Clone)]
pub(super) struct Original {
    pub(super) host: Arc<dyn Host>,
    pub(super) path: HostPath,
}

impl Source {
    /// Whether it is on that host.
    pub(super) fn is_on(&self, host: &dyn Host) -> bool {
        self.host.info().id == host.info().id
    }

    /// Where the user's files are.
    pub(super) fn home(&self) -> (&dyn Host, &HostPath) {
        match &self.original {
            Some(original) => (original.host.as_ref(), &original.path),
            None => (self.host.as_ref(), &self.path),
        }
    }

    /// Where the user's files can be copied from.
    pub(super) fn files(&self) -> (&dyn Host, HostPath) {
        match &self.transit {
            Some(transit) => (transit.client(), transit.files()),
            None => {
                let (host, path) = self.home();
                (host, path.clone())
            }
        }
    }

    /// Git where the user's revisions mean what they say.
    pub(super) fn git(&self) -> Git<'_> {
        let (host, path) = self.home();
        Git::new(host, path.clone())
    }

    /// Git in its repository on that host, where the agent will work.
    pub(super) fn repository<'h>(&self, host: &'h dyn Host) -> Git<'h> {
        match &self.repo {
            Some(repo) => Git::in_checkout(host, repo.location()),
            None => Git::new(host, self.path.clone()),
        }
    }

    /// The name of the project it belongs to.
    pub(super) fn project(&self) -> Option<String> {
        let of_url = || self.clone_from.as_deref().or(self.origin.as_deref()).and_then(repo_name_from_url);
        self.project.clone().or_else(of_url).or_else(|| self.path.file_name().map(str::to_owned))
    }
}

/// Finds the source. One git process for its state and one for its origin, side by side.
pub(super) fn find(
    world: &World,
    request: &CreateRequest,
    heritage: &Heritage,
) -> Result<Source, CreateError> {
    match &request.source {
        SourceSpec::Here => here(world, request),
        SourceSpec::GitUrl(url) => Ok(Source {
            host: world.client.clone(),
            path: clone_path(world.client.as_ref(), url),
            repo: None,
            origin: None,
            project: None,
            parent: None,
            clone_from: Some(url.clone()),
            original: None,
            transit: None,
            branches: None,
        }),
        SourceSpec::Location(Location::Local(path)) => {
            let path = world.cwd.join(&expand_home(world, path.path()));
            at(world.client.clone(), path.normalized(), None)
        }
        SourceSpec::Location(Location::Agent { address, path }) => {
            if let Some(ancestor) = heritage.ancestor() {
                return of_ancestor(ancestor);
            }
            let fleet = Fleet::look(world, Detail::Basic);
            let agent = awake(world, fleet.one(address)?)?;
            let record = &agent.facts.record;
            let path = match path {
                Some(path) => record.work_dir.join(path.path()).normalized(),
                None => record.work_dir.clone(),
            };
            let project = record.labels.get(AgentRecord::PROJECT_LABEL).cloned();
            let parent = agent.host.layout().agent(agent.id());
            Ok(Source { parent: Some(parent), ..at(agent.host.clone(), path, project)? })
        }
        SourceSpec::Snapshot { id, .. } => heritage.ancestor().map(of_ancestor).unwrap_or_else(|| {
            let missing = crate::snapshot::SnapshotError::NotFound { id: id.clone() };
            Err(CreateError::Snapshot(Box::new(missing)))
        }),
        SourceSpec::Location(Location::Host { address, path }) => {
            let missing = || CreateError::NoHost { address: address.to_string() };
            let host = hosts::find(world, address)?.ok_or_else(missing)?.open()?.ok_or_else(missing)?;
            let path = on_host(world, host.as_ref(), path.path());
            at(host, path, None)
        }
    }
}

fn of_ancestor(ancestor: &Ancestor) -> Result<Source, CreateError> {
    let project = ancestor.record.labels.get(AgentRecord::PROJECT_LABEL).cloned();
    let parent = AgentLayout::new(ancestor.remains.state.clone());
    let source = at(ancestor.remains.host.clone(), ancestor.files.clone(), project)?;
    // Without a commit there is nothing to check out or to mirror: its files are what there is of it.
    let has_commits = |repo: &RepoFacts| repo.head.oid.is_some();
    let repo = source.repo.filter(has_commits);
    Ok(Source { parent: Some(parent), repo, ..source })
}

/// Finds a source that is on the machine mngr runs on and nobody has to be asked for.
pub(super) fn find_early(world: &World, request: &CreateRequest) -> Option<Result<Source, CreateError>> {
    match &request.source {
        SourceSpec::Here | SourceSpec::Location(Location::Local(_)) => {
            Some(find(world, request, &Heritage::default()))
        }
        _ => None,
    }
}

fn here(world: &World, request: &CreateRequest) -> Result<Source, CreateError> {
    let location = Git::new(world.client.as_ref(), world.cwd.clone()).locate()?;
    match location {
        Some(location) => at(world.client.clone(), location.root, None),
        None if request.transfer == Some(TransferMode::None) => {
            at(world.client.clone(), world.cwd.clone(), None)
        }
        None => Err(CreateError::NoSource { path: world.cwd.clone() }),
    }
}

/// What is at a path of a host.
pub(super) fn at(
    host: Arc<dyn Host>,
    path: HostPath,
    project: Option<String>,
) -> Result<Source, CreateError> {
    let is_folder = host.files().exists(&path.join("."))?;
    if !is_folder {
        return Err(CreateError::SourceMissing { path });
    }
    let git = Git::new(host.as_ref(), path.clone());
    // A folder inside a repository is a plain folder: its git state belongs to the whole.
    let is_top = git.locate()?.is_some_and(|location| location.root == path.normalized());
    if !is_top {
        return Ok(Source {
            host,
            path,
            repo: None,
            origin: None,
            project,
            parent: None,
            clone_from: None,
            original: None,
            transit: None,
            branches: None,
        });
    }
    let (repo, origin) = std::thread::scope(|scope| {
        let origin = scope.spawn(|| git.origin_url());
        (git.inspect(), origin.join())
    });
    let origin = origin.ok().and_then(Result::ok).flatten();
    Ok(Source {
        path,
        repo: Some(repo?),
        origin,
        project,
        parent: None,
        clone_from: None,
        original: None,
        transit: None,
        branches: None,
        host: host.clone(),
    })
}

/// Clones a source that is a URL; others stay as they are.
pub(super) fn fetch(
    world: &World,
    agents_host: &dyn Host,
    source: Source,
    journal: &mut Journal<'_>,
) -> Result<Source, CreateError> {
    let Some(url) = source.clone_from.clone() else { return Ok(source) };
    world.reporter.progress(&format!("Cloning {}", mngr_host::git::strip_credentials(&url)));
    let host = source.host.clone();
    if let Some(parent) = source.path.parent() {
        host.files().make_folder(&parent)?;
    }
    // The journal speaks of the agent's host. A clone elsewhere is kept by nobody, and its name is never used again.
    if source.is_on(agents_host) {
        journal.step(Step::Clone { path: source.path.clone() })?;
    }
    clone_repository(host.as_ref(), &url, &source.path, CLONE_DEADLINE)?;
    let project = source.project();
    at(host, source.path, project)
}

fn clone_path(host: &dyn Host, url: &str) -> HostPath {
    let hint = repo_name_from_url(url).unwrap_or_else(|| "clone".to_owned());
    host.layout().clones().join(&format!("{hint}-{}", random::hex32()))
}

/// A path as a user writes it for a host: relative to the home there.
pub(super) fn on_host(world: &World, host: &dyn Host, path: &str) -> HostPath {
    let relative = path.strip_prefix("~/").or((path == "~").then_some("."));
    match world.home_on(host) {
        Some(home) => home.join(relative.unwrap_or(path)).normalized(),
        None => HostPath::new(path).normalized(),
    }
}

fn expand_home(world: &World, path: &str) -> String {
    match (path.strip_prefix("~/"), &world.home) {
        (Some(rest), Some(home)) => home.join(rest).to_string(),
        (None, Some(home)) if path == "~" => home.to_string(),
        _ => path.to_owned(),
    }
}
