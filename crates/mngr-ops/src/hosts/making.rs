//! A host that is being made. The journal on the machine mngr runs on says so until it has what it is made for: whoever
//! finds that without an owner removes the host.

use std::error::Error;

use mngr_host::interrupt;
use mngr_host::provider::HostMaker;
use mngr_model::journal::{Header, Operation, Step};
use mngr_model::{AgentId, AgentName, HostId, ProviderName};

use super::take_back::{Tenant, take_back};
use crate::host_lock;
use crate::journal::{Journal, JournalError};
use crate::world::World;

/// A host that is being made.
pub(crate) struct Making<'w> {
    maker: &'w dyn HostMaker,
    id: HostId,
    journal: Journal<'w>,
}

/// What became of a host that was to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakenBack {
    /// It is gone, or others use it.
    Settled,
    /// It may still be there: the next command tries again.
    Left,
}

impl<'w> Making<'w> {
    /// Writes down that a host is about to be made for an agent. `step` says which, and so how it is taken back.
    pub(crate) fn begin(
        world: &'w World,
        (maker, id): (&'w dyn HostMaker, &HostId),
        (agent, name): (&AgentId, AgentName),
        step: Step,
    ) -> Result<Self, JournalError> {
        let client = world.client.as_ref();
        let (operation, started) = (Operation::MakeHost, world.clock.now());
        let header = Header { operation, agent_id: agent.clone(), name, started, command: None };
        let lock = host_lock::take_telling(world, client)?;
        let mut journal = Journal::begin(client, &header)?;
        drop(lock);
        journal.step(step)?;
        Ok(Self { maker, id: id.clone(), journal })
    }

    /// What it was made for is there.
    pub(crate) fn finish(self) -> Result<(), JournalError> {
        self.journal.finish()
    }

    /// Nothing came of it.
    pub(crate) fn take_back(self, world: &World) -> TakenBack {
        let _shield = interrupt::shield();
        let removed = self.maker.destroy(&self.id);
        self.settle(world, removed)
    }

    /// The same, but the host stays where others have agents on it by now.
    pub(crate) fn take_back_unless_used(self, world: &World, provider: &ProviderName) -> TakenBack {
        let _shield = interrupt::shield();
        let removed = take_back(world, provider, &self.id, Tenant::Anybody);
        self.settle(world, removed)
    }

    fn settle(self, world: &World, removed: Result<(), impl Error>) -> TakenBack {
        match removed {
            Ok(()) => {
                // A journal that stays finds no host, or others on it.
                drop(self.journal.finish());
                TakenBack::Settled
            }
            Err(error) => {
                world.reporter.warn(&crate::error_chain(&error));
                TakenBack::Left
            }
        }
    }
}
