//! A source that is on another host than the agent: its repository is brought there once and kept.
//!
//! Everything after that is as on one host: the agent works in a worktree of that repository, and the next agent of the
//! same source finds its objects there. Only what git does not carry still comes from the source itself. Between two hosts
//! of which neither is this machine, everything comes by way of it (`transit`).

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mngr_host::git::{Git, RepoFacts};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::transfer::TransferMode;

use super::error::CreateError;
use super::request::CreateRequest;
use super::source::{Original, Source};
use super::transit::Transit;
use crate::fleet::memory;
use crate::world::World;

/// The source as the agent's host can use it. One that is on that host, or needs no repository, stays as it is.
pub(super) fn to_host(
    world: &World,
    host: &Arc<dyn Host>,
    source: Source,
    request: &CreateRequest,
) -> Result<Source, CreateError> {
    if source.is_on(host.as_ref()) || request.transfer == Some(TransferMode::None) {
        return Ok(source);
    }
    let base = source.repo.as_ref().map(|repo| base_commit(&source, repo, request)).transpose()?;
    let is_between = !world.is_client(source.host.as_ref()) && !world.is_client(host.as_ref());
    let transit = match is_between {
        true => {
            world.reporter.progress(&format!("Bringing the files from {}", source.host.info().address()));
            Some(Transit::bring(world, &source, base.as_deref(), request)?)
        }
        false => None,
    };
    match base {
        Some(base) => bring(world, host, source, &base, transit),
        None => Ok(Source { transit, ..source }),
    }
}

/// The same for whoever starts from the commit that is checked out.
pub(super) fn head_to_host(
    world: &World,
    host: &Arc<dyn Host>,
    source: Source,
) -> Result<Source, CreateError> {
    let Some(repo) = &source.repo else { return Ok(source) };
    let base = repo.head_oid()?.to_owned();
    bring(world, host, source, &base, None)
}

fn bring(
    world: &World,
    host: &Arc<dyn Host>,
    source: Source,
    base: &str,
    transit: Option<Transit>,
) -> Result<Source, CreateError> {
    let Some(repo) = &source.repo else { return Ok(Source { transit, ..source }) };
    let path = place(host.as_ref(), &source, repo);
    world.reporter.progress(&format!("Bringing the repository to {}", host.info().address()));
    let deposit = Git::new(host.as_ref(), path.clone());
    let branches = match &transit {
        Some(transit) => Git::new(transit.client(), transit.files()).deposit_into(&deposit, base)?,
        None => source.repository(source.host.as_ref()).deposit_into(&deposit, base)?,
    };
    let git_dir = path.join(".git");
    if world.is_client(source.host.as_ref()) {
        memory::add_source(world, host.info(), &git_dir, &repo.common_dir);
    }
    let repo =
        RepoFacts { root: path.clone(), git_dir: git_dir.clone(), common_dir: git_dir, ..repo.clone() };
    Ok(Source {
        original: Some(Original { host: source.host.clone(), path: source.path.clone() }),
        transit,
        host: host.clone(),
        path,
        repo: Some(repo),
        project: source.project(),
        branches: Some(branches),
        ..source
    })
}

/// The commit the agent will start from.
fn base_commit(source: &Source, repo: &RepoFacts, request: &CreateRequest) -> Result<String, CreateError> {
    let Some(base) = request.branch.base() else { return Ok(repo.head_oid()?.to_owned()) };
    Ok(Git::new(source.host.as_ref(), source.path.clone()).resolve(base)?)
}

/// Where the repository is kept: one place for each repository of each host it comes from.
pub(super) fn place(host: &dyn Host, source: &Source, repo: &RepoFacts) -> HostPath {
    let mut hasher = DefaultHasher::new();
    source.host.info().id.as_str().hash(&mut hasher);
    repo.common_dir.as_str().hash(&mut hasher);
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '_';
    let name: String = source.project().unwrap_or_default().chars().filter(is_plain).take(40).collect();
    host.layout().repositories().join(&format!("{name}-{:016x}", hasher.finish()))
}
