//! The first agent goes ahead alone, until it has finished a call of a tool or published: whether agents of its kind may do
//! what their task needs is seen there, and costs one agent and not all.
//!
//! Only where an agent's conversation can be read: of others it could not be told.

use mngr_model::run::{AttemptKey, Run, Stage};
use mngr_ops::create::agent_type;

use super::{Owner, Stopping};
use crate::dispatch::liveness::NOT_ALLOWED;
use crate::dispatch::news::Failure;
use crate::run::{RunError, Site};

/// The agent that goes ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum First {
    /// It is yet to be launched.
    Awaited,
    /// It is under way.
    Ahead(AttemptKey),
    /// One was able to work, or none is needed.
    Done,
}

impl First {
    /// Whether one is needed, as the journal leaves the run.
    pub(super) fn of(site: &Site, run: &Run) -> Self {
        let settings = &site.shop.world.settings;
        let named = site.crew.mapper.agent_type.as_ref();
        let resolved = named.and_then(|name| agent_type::resolve(settings, name).ok());
        let is_told = resolved.is_none_or(|resolved| resolved.base.brand().is_some());
        let has_worked = run
            .tasks
            .iter()
            .flat_map(|task| &task.attempts)
            .any(|attempt| attempt.passages.iter().any(|passage| passage.stage == Stage::Published));
        if is_told && !has_worked { Self::Awaited } else { Self::Done }
    }

    /// Whether the others wait.
    pub(super) fn is_waited_for(&self) -> bool {
        matches!(self, Self::Ahead(_))
    }

    /// An agent is launched.
    pub(super) fn launched(&mut self, key: &AttemptKey) {
        if *self == Self::Awaited {
            *self = Self::Ahead(key.clone());
        }
    }

    /// An agent was able to work.
    pub(super) fn worked(&mut self, key: &AttemptKey) {
        if self.is(key) {
            *self = Self::Done;
        }
    }

    /// An agent came to nothing. Whether that was the first, before it was able to work.
    pub(super) fn failed(&mut self, key: &AttemptKey) -> bool {
        let is_first = self.is(key);
        if is_first {
            *self = Self::Awaited;
        }
        is_first
    }

    fn is(&self, key: &AttemptKey) -> bool {
        matches!(self, Self::Ahead(first) if first == key)
    }
}

impl Owner<'_, '_> {
    /// An agent was let go without a result. If it was the first, and not allowed to work, no other is launched.
    pub(super) fn left(&mut self, key: AttemptKey, failure: Failure) -> Result<(), RunError> {
        let is_first = self.first.failed(&key);
        if !is_first || !failure.message.starts_with(NOT_ALLOWED) {
            return self.attempt_failed(key, failure);
        }
        self.stopping = Some(Stopping::NotAllowed);
        let (task, message) = (key.0.clone(), failure.message.clone());
        self.attempt_failed(key, failure)?;
        Err(RunError::NotAllowed { task, message })
    }
}
