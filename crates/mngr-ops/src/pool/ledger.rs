//! Who is on the way to which host: bookings of the commands of this machine.
//!
//! Each is a file that its command holds locked. One that is neither locked nor settled is of a command that died, and
//! counts no more. A settled one is kept for a while: whoever looked at the host before the agent was there has to know
//! of it. Nothing is spawned.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_model::{AgentId, HostPath};
use serde::{Deserialize, Serialize};

use super::error::PoolError;
use crate::world::World;

/// How long others may choose.
const LOCK_WAIT: Duration = Duration::from_secs(60);
/// How long others may look at the hosts.
const LOOK_LIMIT: Duration = Duration::from_secs(600);
/// How long another command may take to make a host.
const MAKING_LIMIT: Duration = Duration::from_secs(3600);
/// Nobody looks at a host for longer than this before he chooses.
const KEPT: SignedDuration = SignedDuration::from_mins(10);

/// What is in the file of a host that is being made.
const SIGN: &[u8] = b"making\n";

/// The bookings of one pool.
pub(super) struct Ledger<'w> {
    world: &'w World,
    pool: String,
    folder: HostPath,
}

/// One agent that is, or was just now, on the way to a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Booking {
    /// The agent.
    pub(super) agent: AgentId,
    /// `name.provider` of the host.
    pub(super) host: String,
    /// When the agent was there.
    pub(super) settled: Option<Timestamp>,
}

/// The ledger while nobody else can book.
pub(super) struct Page<'l, 'w> {
    ledger: &'l Ledger<'w>,
    /// What is booked.
    pub(super) bookings: Vec<Booking>,
    _lock: HostLock,
}

/// A booking of ours.
pub(crate) struct Ticket {
    path: HostPath,
    booking: Booking,
    _lock: HostLock,
}

/// Says that a host is being made. Dropped without [`Sign::take_down`], it stays and says that its maker did not get to
/// the end.
pub(super) struct Sign<'l, 'w> {
    ledger: &'l Ledger<'w>,
    host: String,
    _lock: HostLock,
}

/// How the making of a host ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The host is whole, or gone.
    Done,
    /// Whoever made it died on the way. What is there of it cannot be used.
    Abandoned,
}

impl<'w> Ledger<'w> {
    /// The ledger of a pool, made where it is missing.
    pub(super) fn open(world: &'w World, pool: &str) -> Result<Self, PoolError> {
        let ledger = Self { world, pool: pool.to_owned(), folder: folder_of(world, pool) };
        for folder in [ledger.seats(), ledger.makings()] {
            world.client.files().make_folder(&folder).map_err(|error| ledger.failed(error))?;
        }
        Ok(ledger)
    }

    /// Removes the ledger of a pool whose hosts are gone.
    pub(super) fn forget(world: &World, pool: &str) {
        // Nothing depends on it.
        let _ = world.client.files().remove_tree(&folder_of(world, pool));
    }

    fn client(&self) -> &'w dyn Host {
        self.world.client.as_ref()
    }

    fn seats(&self) -> HostPath {
        self.folder.join("seats")
    }

    fn makings(&self) -> HostPath {
        self.folder.join("making")
    }

    fn failed(&self, source: FilesError) -> PoolError {
        PoolError::Ledger { pool: self.pool.clone(), source }
    }

    /// Keeps all others from booking, and reads what is booked.
    pub(super) fn enter(&self) -> Result<Page<'_, 'w>, PoolError> {
        let lock = self.client().lock(&self.folder.join("lock"), LockWait::For(LOCK_WAIT))?;
        let bookings = self.read().map_err(|error| self.failed(error))?;
        Ok(Page { ledger: self, bookings, _lock: lock })
    }

    fn read(&self) -> Result<Vec<Booking>, FilesError> {
        let files = self.client().files();
        let now = self.world.clock.now();
        let mut bookings = Vec::new();
        for entry in files.list(&self.seats())? {
            let path = self.seats().join(&entry.name);
            let text = files.read_text(&path)?;
            // The last line is what it came to; one cut short by a crash is none.
            let booking = text.lines().rev().find_map(|line| serde_json::from_str::<Booking>(line).ok());
            let counts = booking.as_ref().is_some_and(|booking| match booking.settled {
                Some(settled) => now.duration_since(settled) < KEPT,
                None => self.is_held(&path),
            });
            match booking {
                Some(booking) if counts => bookings.push(booking),
                _ => files.remove_file(&path)?,
            }
        }
        Ok(bookings)
    }

    fn is_held(&self, path: &HostPath) -> bool {
        matches!(self.client().lock(path, LockWait::Try), Err(LockError::Held { .. }))
    }

    /// Waits until it is our turn to look at the hosts.
    pub(super) fn look_turn(&self) -> Result<HostLock, PoolError> {
        Ok(self.client().lock(&self.folder.join("look.lock"), LockWait::For(LOOK_LIMIT))?)
    }

    /// What the last one who looked has left.
    pub(super) fn kept_look(&self) -> Option<Vec<u8>> {
        self.client().files().read_if_there(&self.folder.join("look.json")).ok().flatten()
    }

    /// Leaves what was seen for those who wait.
    pub(super) fn keep_look(&self, text: &str) {
        let path = self.folder.join("look.json");
        // Without it they look for themselves.
        let _ = self.client().files().write(&path, text.as_bytes(), Access::Private, Durability::Cached);
    }

    /// Whether somebody is making this host.
    pub(super) fn is_being_made(&self, host: &str) -> bool {
        let path = self.makings().join(host);
        self.client().files().exists(&path).unwrap_or(false) && self.is_held(&path)
    }

    /// Waits until nobody is making this host.
    pub(super) fn wait_until_made(&self, host: &str) -> Result<Ending, PoolError> {
        let (path, files) = (self.makings().join(host), self.client().files());
        let failed = |error| self.failed(error);
        if !files.exists(&path).map_err(failed)? {
            return Ok(Ending::Done);
        }
        let _lock = self.client().lock(&path, LockWait::For(MAKING_LIMIT))?;
        // One that was taken down while it was looked at is made anew by the look, and empty.
        let is_up = files.stat(&path).map_err(failed)?.is_some_and(|sign| sign.size > 0);
        Ok(if is_up { Ending::Abandoned } else { Ending::Done })
    }

    /// Forgets that a host was being made.
    pub(super) fn forget_making(&self, host: &str) {
        // Nobody else gets a host of this name.
        let _ = self.client().files().remove_file(&self.makings().join(host));
    }

    /// Takes a booking back.
    pub(super) fn cancel(&self, ticket: Ticket) {
        // One that stays is of nobody, and is removed by whoever comes next.
        let _ = self.client().files().remove_file(&ticket.path);
    }

    /// The agent is there.
    pub(super) fn settle(&self, ticket: Ticket) {
        let settled = Booking { settled: Some(self.world.clock.now()), ..ticket.booking };
        // Without it those who are looking right now count one agent less.
        let _ = self.note(&ticket.path, &settled);
    }

    /// Appended, because a file in its place would not be the one that is locked.
    fn note(&self, path: &HostPath, booking: &Booking) -> Result<(), FilesError> {
        let line = format!("{}\n", serde_json::json!(booking));
        self.client().files().append(path, line.as_bytes(), Durability::Cached)
    }
}

fn folder_of(world: &World, pool: &str) -> HostPath {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let file_name: String = pool.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    world.client.layout().pools().join(&file_name)
}

impl Ticket {
    /// Whom it is for.
    pub(super) fn agent(&self) -> &AgentId {
        &self.booking.agent
    }
}

impl<'l, 'w> Page<'l, 'w> {
    /// Books a place for an agent.
    pub(super) fn book(&self, agent: &AgentId, host: &str) -> Result<Ticket, PoolError> {
        let ledger = self.ledger;
        let path = ledger.seats().join(agent.as_str());
        let lock = ledger.client().lock(&path, LockWait::Try)?;
        let booking = Booking { agent: agent.clone(), host: host.to_owned(), settled: None };
        ledger.note(&path, &booking).map_err(|error| ledger.failed(error))?;
        Ok(Ticket { path, booking, _lock: lock })
    }

    /// Says that this host is being made.
    pub(super) fn begin_making(&self, host: &str) -> Result<Sign<'l, 'w>, PoolError> {
        let (ledger, path) = (self.ledger, self.ledger.makings().join(host));
        let lock = ledger.client().lock(&path, LockWait::Try)?;
        let put_up = ledger.client().files().append(&path, SIGN, Durability::Cached);
        put_up.map_err(|error| ledger.failed(error))?;
        Ok(Sign { ledger, host: host.to_owned(), _lock: lock })
    }
}

impl Sign<'_, '_> {
    /// The host is whole, or gone.
    pub(super) fn take_down(self) {
        self.ledger.forget_making(&self.host);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestWorld;
    use mngr_host::random;

    #[test]
    fn a_booking_counts_while_it_is_held_and_after_it_was_settled() {
        let test = TestWorld::new();
        let ledger = Ledger::open(&test.world, "p").unwrap();
        let [held, settled, dead] = [(); 3].map(|()| random::agent_id());
        let book = |agent| ledger.enter().unwrap().book(agent, "a.x").unwrap();
        let ticket = book(&held);
        ledger.settle(book(&settled));
        drop(book(&dead));
        ledger.cancel(book(&random::agent_id()));
        let seen = ledger.enter().unwrap().bookings.clone();
        let of = |agent: &AgentId| seen.iter().find(|booking| booking.agent == *agent);
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert!(of(&held).unwrap().settled.is_none() && of(&settled).unwrap().settled.is_some());
        drop(ticket);
        assert_eq!(ledger.enter().unwrap().bookings.len(), 1, "nobody holds it any more");
    }

    #[test]
    fn a_host_is_being_made_until_its_maker_is_done_or_dead() {
        let test = TestWorld::new();
        let ledger = Ledger::open(&test.world, "p").unwrap();
        assert!(!ledger.is_being_made("a.x"));
        for ending in [Ending::Done, Ending::Abandoned] {
            let sign = ledger.enter().unwrap().begin_making("a.x").unwrap();
            assert!(ledger.is_being_made("a.x") && !ledger.is_being_made("b.x"));
            match ending {
                Ending::Done => sign.take_down(),
                Ending::Abandoned => drop(sign),
            }
            assert!(!ledger.is_being_made("a.x"));
            assert_eq!(ledger.wait_until_made("a.x").unwrap(), ending);
        }
        ledger.forget_making("a.x");
        assert_eq!(ledger.wait_until_made("a.x").unwrap(), Ending::Done);
    }
}
