//! A copy that is under way, noted on the machine that it runs on: what a killed command leaves running is ended by the next.
//!
//! Without that, an rsync whose mngr is gone would go on writing into the folder, or into the agent, for as long as it likes.

use std::time::Duration;

use mngr_host::host::Host;
use mngr_host::lock::LockWait;
use mngr_host::proc::CommandId;
use mngr_host::random;
use mngr_model::AgentId;
use mngr_model::journal::{Header, Operation, Step};

use super::Effect;
use crate::fleet::Agent;
use crate::journal::{self, Note};
use crate::world::World;

/// How long another command may hold this machine. A copy that cannot be noted is made all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// Which way files go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From an agent.
    From,
    /// To an agent.
    To,
}

/// The note, which goes when this is dropped.
#[must_use = "the note goes when this is dropped"]
pub(crate) struct UnderWay<'w> {
    client: &'w dyn Host,
    note: Option<Note>,
}

impl<'w> UnderWay<'w> {
    /// Notes that files of this agent, or for it, are about to be copied.
    pub(crate) fn begin(world: &'w World, agent: &Agent, way: Way, effect: Effect) -> Self {
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
            let steps = (way == Way::To).then(|| Step::FilesFor { agent: agent.id().clone() });
            Note::begin(client, &header, steps.as_slice()).ok()
        };
        let note = if effect == Effect::DryRun { None } else { begin() };
        Self { client, note }
    }
}

/// Ends what other commands of this machine copy to an agent, before its work dir goes: it would be written to where it went.
/// Says what the user should know. Costs a look into one folder where nothing is copied.
pub(crate) fn end_copies_to(world: &World, agent: &AgentId) -> Option<String> {
    let client = world.client.as_ref();
    let folder = client.layout().journals();
    let is_meant = |step: &Step| matches!(step, Step::FilesFor { agent: to } if to == agent);
    let mut ended = 0;
    for entry in client.files().list(&folder).unwrap_or_default() {
        let text = client.files().read_text(&folder.join(&entry.name)).unwrap_or_default();
        let Some((header, steps)) = journal::read(&text) else { continue };
        let command = header.command.as_deref().and_then(CommandId::parse);
        let command = command.filter(|command| {
            steps.iter().any(is_meant) && CommandId::own().is_none_or(|own| own != command)
        });
        if let Some(Ok(report)) = command.map(|command| client.end_command(&command)) {
            ended += report.signalled;
        }
    }
    (ended > 0).then(|| "files that were being copied to it did not all arrive".to_owned())
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        // One that stays is put right by the next command.
        let _ = self.note.take().map(|note| note.finish(self.client));
    }
}
