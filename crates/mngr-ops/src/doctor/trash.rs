//! How full the trash is, and what in it cannot be read. Deleting what is in it is for `gc`, never for a repair. What was
//! written where a destroyed agent had been is set aside.

use std::collections::BTreeSet;

use jiff::Timestamp;
use mngr_model::AgentId;

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::gc::{Candidate, Limits, expired};
use crate::trash::{
    self, DamagedEntry, Entries, Manifest, Neighbours, Stray, TrashError, is_unused, size_of,
};
use crate::world::World;

const CHECK: &str = "trash";

/// Checks the trash of a host.
pub(super) fn check(world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let entries = match &place.trash {
        Ok(entries) => entries,
        Err(error) => return vec![unknown(CHECK, error)],
    };
    let limits = Limits::from_settings(&world.settings.trash);
    let candidates: Vec<Candidate> = entries
        .whole
        .iter()
        .map(|gone| Candidate {
            destroyed_at: gone.destroyed_at,
            bytes: size_of(place.host.as_ref(), gone).unwrap_or(0),
        })
        .collect();
    let total: u64 = candidates.iter().map(|candidate| candidate.bytes).sum();
    let over = expired(&candidates, world.clock.now(), limits).into_iter().flatten().count();
    let text = format!("{} destroyed agent(s), {:.1} GB", candidates.len(), total as f64 / 1e9);
    let mut found = vec![match over {
        0 => Finding::ok(CHECK, text),
        over => Finding::warn(
            CHECK,
            format!("{text}; {over} of them are past `trash.max_age_days` or `trash.max_size_gb`"),
        )
        .because("the trash is only emptied by `mngr gc`")
        .advise("`mngr gc --dry-run`, then `mngr gc`: what it deletes cannot be brought back"),
    }];
    let is_unused =
        |id: &&AgentId| !place.has_journal(id) && is_unused(place.host.as_ref(), id).unwrap_or(false);
    let unused: Vec<AgentId> = entries.unfinished.iter().filter(is_unused).cloned().collect();
    if !unused.is_empty() {
        let text = format!("{} folder(s) in the trash are of agents that exist", unused.len());
        let because = "a command died before it moved anything, or after it had brought everything back";
        let repair = Repair::DropUnusedTrash { host: place.host.clone(), ids: unused };
        found.push(Finding::fail(CHECK, text).because(because).mended_by(repair));
    }
    found.extend(strays(place, entries));
    found.extend(unnoted(place, entries).into_iter().map(|id| {
        let path = place.host.layout().trash_of(&id).root().clone();
        Finding::warn(CHECK, format!("`{path}` holds an agent without the note of what it is"))
            .because("`mngr undo` does not know it")
            .mended_by(Repair::RestoreNote { host: place.host.clone(), id })
    }));
    let is_noted = |damaged: &&DamagedEntry| !is_unnoted(damaged);
    found.extend(entries.damaged.iter().filter(is_noted).map(|damaged| {
        let error = crate::error_chain(&damaged.error);
        Finding::warn(CHECK, format!("`{}` cannot be read: {error}", damaged.path))
            .because("`mngr undo` cannot bring this agent back")
            .advise("its work may still be in there; take out what you need and delete the folder")
    }));
    found
}

/// Agents that are in the trash, or whose work is, without a note of what they are.
fn unnoted(place: &Place, entries: &Entries) -> Vec<AgentId> {
    let id_of = |damaged: &DamagedEntry| damaged.path.file_name().and_then(AgentId::parse);
    let whole = entries.damaged.iter().filter(|damaged| is_unnoted(damaged)).filter_map(id_of);
    let is_half = |id: &&AgentId| {
        trash::rebuild(place.host.as_ref(), id, Timestamp::UNIX_EPOCH).is_ok_and(|found| found.is_some())
    };
    let half = entries.unfinished.iter().filter(is_half).cloned();
    whole.chain(half).filter(|id| !place.has_journal(id)).collect()
}

fn is_unnoted(damaged: &DamagedEntry) -> bool {
    matches!(&damaged.error, TrashError::Files(error) if error.is_missing())
}

/// What was written where a destroyed agent had been. An operation on the agent may still be at it.
fn strays(place: &Place, entries: &Entries) -> Vec<Finding> {
    let host = place.host.as_ref();
    let is_idle = |gone: &&Manifest| !place.has_journal(&gone.id);
    let neighbours = Neighbours::among(host, &place.survey.agents, &BTreeSet::new());
    let mut found = Vec::new();
    for gone in entries.whole.iter().filter(is_idle) {
        let strays = trash::stray_state(host, &gone.id)
            .and_then(|state| Ok(state.into_iter().chain(trash::stray_work(host, gone, &neighbours)?)));
        match strays {
            Err(error) => found.push(unknown(CHECK, &error)),
            Ok(strays) => found.extend(strays.map(|stray| {
                let Stray { path, .. } = &stray;
                Finding::warn(
                    CHECK,
                    format!("`{path}` was written after agent `{}` was destroyed", gone.name),
                )
                .because(
                    "a program of the agent was not ended, or a command was late; the files are nobody's",
                )
                .mended_by(Repair::SetAside {
                    host: place.host.clone(),
                    gone: Box::new(gone.clone()),
                    stray,
                })
            })),
        }
    }
    found
}
