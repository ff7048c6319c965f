//! The beginning: what will happen is written down, once, and the journal is open. One round trip beside the locks.

use mngr_host::files::{Change, Durability, FileStat, Presence};
use mngr_host::lock::LockError;
use mngr_model::HostPath;
use mngr_model::journal::{Header, Operation};

use super::error::DestroyError;
use super::request::DestroyOptions;
use crate::again::LookError;
use crate::fleet::Agent;
use crate::host_lock;
use crate::journal::{Journal, JournalError};
use crate::trash::{self, Manifest};
use crate::world::World;

/// Writes down what is about to happen and opens the journal. Under the host lock, so that it happens once.
pub(super) fn begin<'h>(
    world: &World,
    agent: &'h Agent,
    options: &DestroyOptions,
) -> Result<(Journal<'h>, Manifest), DestroyError> {
    let (host, record) = (agent.host.as_ref(), &agent.facts.record);
    let layout = host.layout();
    let name = || record.name.to_string();
    let trash = layout.trash_of(&record.id);
    let _lock = host_lock::take_telling(world, host)?;
    let now = world.clock.now();
    let manifest = Manifest::begin(record, &layout, now, options.request());
    let header = Header {
        operation: Operation::Destroy,
        agent_id: record.id.clone(),
        name: record.name.clone(),
        started: now,
        command: None,
    };
    let (data, own_journal) = (layout.agent(&record.id).data(), layout.journal(&record.id));
    let require = |path: &HostPath, presence| Change::Require { path: path.clone(), presence };
    let note = trash::manifest_change(&trash, &manifest, Durability::Cached)
        .map_err(|source| DestroyError::Trash { name: name(), source })?;
    let first = vec![
        require(&own_journal, Presence::Empty),
        require(&data, Presence::There),
        require(&trash.state(), Presence::Missing),
        require(&trash.work(), Presence::Missing),
        Change::MakeFolder(trash.root().clone()),
        note,
    ];
    let error = match Journal::begin_with(host, &header, first) {
        Ok(journal) => return Ok((journal, manifest)),
        Err(error) => error,
    };
    let refused = match &error {
        JournalError::Lock(LockError::Held { .. }) => return Err(DestroyError::Busy { name: name() }),
        JournalError::Files(error) if error.is_taken() && error.path == own_journal => {
            return Err(DestroyError::Busy { name: name() });
        }
        JournalError::Files(error) if error.is_missing() && error.path == data => {
            Some(LookError::Gone { name: record.name.clone() }.into())
        }
        JournalError::Files(error) if error.is_taken() && error.path.is_within(trash.root()) => {
            Some(DestroyError::TrashTaken { path: trash.root().clone() })
        }
        _ => None,
    };
    let files = host.files();
    let is_free = |found: Vec<Option<FileStat>>| found.iter().all(Option::is_none);
    if refused.is_none() && files.stat_all(&[trash.state(), trash.work()]).is_ok_and(is_free) {
        // Nothing but the note is in it.
        let _ = files.remove_tree(trash.root());
    }
    // Nothing has begun; under the host lock nobody else has begun anything either.
    let _ = files.remove_file(&own_journal);
    Err(refused.unwrap_or_else(|| error.into()))
}
