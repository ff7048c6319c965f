//! The note of a destroyed agent that has lost it, written again from what is left.
//!
//! No command takes a note away from an agent that is in the trash; earlier ones did when a link broke, and a user may.
//! Without it nobody would know what lies there.

use jiff::Timestamp;
use mngr_host::files::Durability;
use mngr_host::git::{BranchState, Git, rescue_ref};
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_model::layout::{AgentLayout, TrashLayout};
use mngr_model::{AgentId, AgentRecord, HostPath};

use super::error::TrashError;
use super::examine::{checkout_at, missing_checkout};
use super::manifest::{Checkout, KeptReason, Manifest, Request, Rescue, Work};
use super::store::{expired_manifest, read_manifest, trash_beside, write_manifest};

/// The note of an agent in the trash. One that is lost is written again; nothing where nothing of an agent is in the trash.
pub(crate) fn read_or_rebuild(
    host: &dyn Host,
    trash: &TrashLayout,
    id: &AgentId,
    now: Timestamp,
) -> Result<Option<Manifest>, TrashError> {
    if host.files().exists(&trash.manifest())? {
        return read_manifest(host, trash).map(Some);
    }
    let Some(manifest) = rebuild(host, id, now)? else { return Ok(None) };
    if let Some(checkout) = manifest.work.as_ref().and_then(Work::checkout) {
        let repository = Git::new(host, checkout.repository.clone());
        for rescue in &checkout.rescues {
            repository.create_ref(&rescue.name, &rescue.oid)?;
        }
    }
    write_manifest(host, trash, &manifest, Durability::Synced)?;
    Ok(Some(manifest))
}

/// What the note would say that is lost. Nothing where it is there, or where nothing of an agent is in the trash. The agent
/// counts as destroyed now, so that it is kept for as long as any other.
pub(crate) fn rebuild(host: &dyn Host, id: &AgentId, now: Timestamp) -> Result<Option<Manifest>, TrashError> {
    let layout = host.layout();
    let trash = layout.trash_of(id);
    let (gone, living) = (AgentLayout::new(trash.state()).data(), layout.agent(id).data());
    let notes = [trash.manifest(), expired_manifest(&trash)];
    let own = [trash.state(), trash.work()];
    let looked: Vec<HostPath> = notes.iter().chain(&own).chain([&gone, &living]).cloned().collect();
    let glance = Glance::at(host.files(), &looked)?;
    for note in &notes {
        if glance.exists(note)? {
            return Ok(None);
        }
    }
    if !glance.exists(&own[0])? && !glance.exists(&own[1])? {
        return Ok(None);
    }
    let found = match glance.read_if_there(&gone)? {
        Some(bytes) => Some((gone, bytes)),
        None => glance.read_if_there(&living)?.map(|bytes| (living, bytes)),
    };
    let Some((path, bytes)) = found else { return Ok(None) };
    let record: AgentRecord = serde_json::from_slice(&bytes)
        .map_err(|source| TrashError::Damaged { path: path.clone(), source })?;
    if record.id != *id {
        return Err(TrashError::Misleading { path });
    }
    let request = Request { remove_created_branch: false, allow_worktree_removal: true };
    let mut manifest = Manifest::begin(&record, &layout, now, request);
    manifest.work = Some(find_work(host, &manifest, trash.work())?);
    Ok(Some(manifest))
}

/// Where its work is: in the trash, beside where it was, or where it was.
fn find_work(host: &dyn Host, manifest: &Manifest, own: HostPath) -> Result<Work, TrashError> {
    let files = host.files();
    let beside = manifest.work_dir.parent().map(|above| trash_beside(&above, &manifest.id));
    for to in std::iter::once(own).chain(beside) {
        if files.exists(&to)? {
            let checkout = checkout_at(host, manifest, &to)?;
            let checkout = match checkout {
                Some(checkout) => Some(as_it_was(host, manifest, checkout)?),
                None => None,
            };
            return Ok(Work::Moved { to, checkout });
        }
    }
    Ok(match (files.exists(&manifest.work_dir)?, manifest.is_generated) {
        (_, false) => Work::Kept { reason: KeptReason::InPlace },
        (true, true) => Work::Kept { reason: KeptReason::NotOurs },
        (false, true) => Work::Missing { checkout: missing_checkout(host, manifest)? },
    })
}

/// It was taken off its branch when it was moved. The branch that was made for it is the best guess, if it is where the
/// checkout is and nobody else has it. A ref that holds its commits already goes when the agent comes back.
fn as_it_was(host: &dyn Host, manifest: &Manifest, mut checkout: Checkout) -> Result<Checkout, TrashError> {
    let (name, repository) = (rescue_ref(&manifest.id), Git::new(host, checkout.repository.clone()));
    if checkout.rescues.is_empty()
        && let Ok(oid) = repository.resolve(&name)
    {
        checkout.rescues.push(Rescue { name, oid });
    }
    if let (None, Some(head), Some(name)) = (&checkout.branch, &checkout.head, &manifest.created_branch) {
        let state = repository.branch_state(name, head)?;
        let at = match &state {
            BranchState::HoldsNothingOfItsOwn { oid } | BranchState::HasOwnCommits { oid } => Some(oid),
            BranchState::CheckedOutAt { .. } | BranchState::Missing => None,
        };
        if at == Some(head) {
            checkout.branch = Some(name.clone());
        }
    }
    Ok(checkout)
}

#[cfg(test)]
mod tests {
    use mngr_host::files::Files;
    use mngr_host::local::LocalFiles;
    use mngr_model::address::AgentRef;

    use super::*;
    use crate::destroy::{DestroyOptions, destroy};
    use crate::trash::testing::Bench;
    use crate::undo;

    fn restore(bench: &Bench, id: &AgentId) -> Manifest {
        let trash = bench.host.layout().trash_of(id);
        LocalFiles.remove_file(&trash.manifest()).unwrap();
        let rebuilt = read_or_rebuild(bench.host.as_ref(), &trash, id, bench.world.clock.now());
        rebuilt.unwrap().unwrap()
    }

    #[test]
    fn a_worktree_whose_note_is_lost_comes_back_on_its_branch_or_off_it_as_it_was() {
        let bench = Bench::new();
        let options = DestroyOptions::from_settings(&bench.world.settings);
        for is_detached in [false, true] {
            let name = if is_detached { "off" } else { "on" };
            let agent = bench.agent(name);
            bench.write(&format!("{}/new.txt", bench.work(name)), "mine\n");
            if is_detached {
                bench.git(&bench.work(name), &["checkout", "--quiet", "--detach"]);
                bench.commit(&bench.work(name), "on no branch");
            }
            let before = bench.picture(&bench.work(name));
            destroy(&bench.world, &agent, &options).unwrap();
            let manifest = restore(&bench, agent.id());
            assert_eq!(manifest.branch().is_some(), !is_detached, "{manifest:?}");
            undo::undo(&bench.world, &AgentRef::Id(agent.id().clone())).unwrap();
            bench.assert_back(&agent, &before);
        }
    }

    #[test]
    fn a_copy_and_a_folder_of_the_user_whose_notes_are_lost_come_back() {
        let bench = Bench::new();
        let options = DestroyOptions::from_settings(&bench.world.settings);
        bench.write("own/file", "text");
        for (agent, file) in [
            (bench.agent_in_copy("copy"), "host/copies/copy/file"),
            (bench.agent_in_place("here", "own"), "own/file"),
        ] {
            destroy(&bench.world, &agent, &options).unwrap();
            let _ = restore(&bench, agent.id());
            undo::undo(&bench.world, &AgentRef::Id(agent.id().clone())).unwrap();
            assert!(bench.exists(file) && bench.look(agent.name().as_str()).is_some());
        }
    }

    #[test]
    fn what_is_no_agent_or_is_being_deleted_for_good_gets_no_note() {
        let bench = Bench::new();
        let agent = bench.agent("foo");
        let (host, now) = (bench.host.as_ref(), bench.world.clock.now());
        let trash = host.layout().trash_of(agent.id());
        assert_eq!(rebuild(host, agent.id(), now).unwrap(), None, "it lives");
        destroy(&bench.world, &agent, &DestroyOptions::from_settings(&bench.world.settings)).unwrap();
        assert_eq!(rebuild(host, agent.id(), now).unwrap(), None, "it has its note");
        LocalFiles.rename(&trash.manifest(), &expired_manifest(&trash)).unwrap();
        assert_eq!(rebuild(host, agent.id(), now).unwrap(), None, "it is being deleted");
        LocalFiles.remove_file(&expired_manifest(&trash)).unwrap();
        LocalFiles.rename(&trash.state(), &trash.root().join("something")).unwrap();
        LocalFiles.remove_tree(&trash.work()).unwrap();
        assert_eq!(rebuild(host, agent.id(), now).unwrap(), None, "there is nothing of it");
    }
}
