//! The program's own record as proof: only what is added to it after the message was typed counts.

use std::time::{Duration, Instant};

use mngr_host::host::WatchRequest;
use mngr_host::watch::Watch;
use mngr_model::HostPath;

use super::{DeliverError, Message, Recipient};
use crate::brand::{Brand, CommandFate};

/// A poll beside the events: a record may lie where no event comes from.
const PACE: Duration = Duration::from_millis(250);

/// The record's files, and how long they were before the text was typed.
pub(super) struct Proof {
    files: Vec<(HostPath, u64)>,
    watch: Box<dyn Watch>,
}

impl Proof {
    /// Remembers what is there now; `None` for a program that keeps no record.
    pub(super) fn begin(to: &Recipient<'_>, message: Message<'_>) -> Result<Option<Self>, DeliverError> {
        let files = to.host.files();
        let named = to.kind.proof_files(to.record, to.program, to.agent, message.text);
        if named.is_empty() {
            return Ok(None);
        }
        // Behind a link, its target is what grows.
        let paths: Vec<HostPath> =
            named.into_iter().map(|path| files.canonical(&path).unwrap_or(path)).collect();
        let folders = paths.iter().filter_map(HostPath::parent).collect();
        let watch =
            to.host.watch(&WatchRequest { folders, processes: Vec::new() }).map_err(DeliverError::Watch)?;
        let sized = |path: HostPath| {
            let size = files.stat(&path).map_err(DeliverError::Proof)?.map_or(0, |stat| stat.size);
            Ok((path, size))
        };
        Ok(Some(Self { files: paths.into_iter().map(sized).collect::<Result<_, DeliverError>>()?, watch }))
    }

    /// Whether the proof came within this time.
    pub(super) fn wait(
        &mut self,
        to: &Recipient<'_>,
        message: Message<'_>,
        limit: Duration,
    ) -> Result<bool, DeliverError> {
        let begun = Instant::now();
        while !self.is_there(to, message)? {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            self.pause(left.min(PACE))?;
        }
        Ok(true)
    }

    /// Whether the record holds the text.
    pub(super) fn is_there(&self, to: &Recipient<'_>, message: Message<'_>) -> Result<bool, DeliverError> {
        let found = self.find(to, |added| to.kind.proves(added, message.text).then_some(()))?;
        Ok(found.is_some())
    }

    /// Whether the record shows that the text is being taken.
    pub(super) fn is_under_way(
        &self,
        to: &Recipient<'_>,
        message: Message<'_>,
    ) -> Result<bool, DeliverError> {
        let found = self.find(to, |added| to.kind.is_taking(added, message.text).then_some(()))?;
        Ok(found.is_some())
    }

    /// What the record says became of a command.
    pub(super) fn fate(
        &self,
        to: &Recipient<'_>,
        message: Message<'_>,
    ) -> Result<Option<CommandFate>, DeliverError> {
        self.find(to, |added| to.kind.command_fate(added, message.text))
    }

    /// Waits until the record has grown, at most this long.
    pub(super) fn pause(&mut self, limit: Duration) -> Result<(), DeliverError> {
        self.watch.wait(limit)?;
        Ok(())
    }

    fn find<T>(
        &self,
        to: &Recipient<'_>,
        look: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, DeliverError> {
        for (path, seen) in &self.files {
            let added = match to.host.files().read_from(path, *seen) {
                Ok(added) => added,
                Err(error) if error.is_missing() => continue,
                Err(error) => return Err(DeliverError::Proof(error)),
            };
            if let Some(found) = look(&String::from_utf8_lossy(&added)) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
