//! Branches that were made for agents which are gone for good. A git process for each repository and for each such branch.

use std::collections::BTreeSet;

use mngr_host::git::{Git, GitError};
use mngr_model::HostPath;

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use super::work_dirs::repositories;
use crate::world::World;

const CHECK: &str = "branches";

/// What the names of branches begin with that mngr makes unless it is told otherwise.
const PREFIX: &str = "mngr";

/// The branches of all agents that were seen, living or destroyed.
pub(super) fn in_use(places: &[Place]) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for place in places {
        for agent in &place.survey.agents {
            let record = &agent.record;
            used.extend(record.created_branch_name.clone());
            used.extend(record.checked_out_branch_name.clone());
        }
        for gone in place.trash.iter().flat_map(|entries| &entries.whole) {
            used.extend(gone.created_branch.clone());
            let checkout = gone.work.as_ref().and_then(|work| work.checkout());
            used.extend(checkout.and_then(|checkout| checkout.branch.clone()));
        }
    }
    used
}

/// Checks the branches of a host's repositories.
pub(super) fn check(world: &World, place: &Place, everywhere: &Everywhere) -> Vec<Finding> {
    let host = place.host.as_ref();
    let mut repositories = repositories(place);
    if world.is_client(host) {
        let here = Git::new(host, world.cwd.clone()).locate().ok().flatten();
        repositories.extend(here.map(|here| here.common_dir));
    }
    let mut found = Vec::new();
    for repository in repositories {
        match of_repository(place, &repository, everywhere) {
            Ok(told) => found.extend(told),
            Err(error) => found.push(unknown(CHECK, &error)),
        }
    }
    if found.is_empty() {
        found.push(Finding::ok(CHECK, "every branch of ours has its agent"));
    }
    found
}

fn of_repository(
    place: &Place,
    repository: &HostPath,
    everywhere: &Everywhere,
) -> Result<Vec<Finding>, GitError> {
    let host = place.host.as_ref();
    if !host.files().exists(repository)? {
        return Ok(Vec::new());
    }
    let git = Git::new(host, repository.clone());
    let (mut removable, mut kept) = (Vec::new(), Vec::new());
    for tip in git.branches_below(PREFIX)? {
        if tip.is_checked_out || everywhere.branches.contains(&tip.name) {
            continue;
        }
        let own_ref = format!("refs/heads/{}", tip.name);
        match git.commits_not_held_elsewhere(&tip.oid, &[&own_ref])? {
            0 => removable.push((tip.name, tip.oid)),
            count => kept.push((tip.name, count)),
        }
    }
    let mut found = Vec::new();
    if let Some((name, _)) = removable.first() {
        let text = format!(
            "{} branch(es) of agents that are gone, such as `{name}`, in `{repository}`",
            removable.len()
        );
        let finding = Finding::warn(CHECK, text).because("all of their commits are elsewhere too");
        found.push(match everywhere.is_complete {
            true => finding.mended_by(Repair::DeleteBranches {
                host: place.host.clone(),
                repository: repository.clone(),
                branches: removable,
            }),
            // An agent on a host that does not answer may have one of them.
            false => finding.advise("run this again when every host answers"),
        });
    }
    found.extend(kept.into_iter().map(|(name, count)| {
        Finding::warn(
            CHECK,
            format!("branch `{name}` in `{repository}` is no agent's and has {count} commit(s) of its own"),
        )
        .because("its commits are nowhere else, so mngr does not delete it")
        .advise(format!("merge it, or `git branch -D {name}`"))
    }));
    Ok(found)
}
