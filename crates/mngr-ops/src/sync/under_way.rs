//! A copy that is under way, noted on the machine that it runs on: what a killed command leaves running is ended by the next.
//!
//! Without that, an rsync whose mngr is gone would go on writing into the folder, or into the agent, for as long as it likes.

use std::time::Duration;

use mngr_host::host::Host;
use mngr_host::lock::LockWait;
use mngr_host::random;
use mngr_model::journal::{Header, Operation};

use super::Effect;
use crate::fleet::Agent;
use crate::journal::Note;
use crate::world::World;

/// How long another command may hold this machine. A copy that cannot be noted is made all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// The note, which goes when this is dropped.
#[must_use = "the note goes when this is dropped"]
pub(crate) struct UnderWay<'w> {
    client: &'w dyn Host,
    note: Option<Note>,
}

impl<'w> UnderWay<'w> {
    /// Notes that files of this agent, or for it, are about to be copied.
    pub(crate) fn begin(world: &'w World, agent: &Agent, effect: Effect) -> Self {
        let client = world.client.as_ref();
        let begin = || {
            let header = Header {
                operation: Operation::Transfer,
                agent_id: random::agent_id(),
                name: agent.name().clone(),
                started: world.clock.now(),
                command: None,
            };
            // Nobody takes the note for a left-over before it is locked.
            let _lock = client.lock(&client.layout().host_lock(), LockWait::For(PATIENCE)).ok()?;
            Note::begin(client, &header, &[]).ok()
        };
        let note = if effect == Effect::DryRun { None } else { begin() };
        Self { client, note }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        // One that stays is put right by the next command.
        let _ = self.note.take().map(|note| note.finish(self.client));
    }
}
