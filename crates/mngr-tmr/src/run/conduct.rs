//! The phases of a run, one after the other: agents work and are measured, results are put together, the end is noted.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_model::run::{EndReason, Entry, Event, Run, TaskId};

use super::control::{StopKind, agents_to_take_over};
use super::error::RunError;
use super::listener::Listener;
use super::reduce::{self, Reduced};
use super::scribe::Scribe;
use super::workshop::Site;
use crate::dispatch::{Owner, Stopping};
use crate::integrate::Input;
use crate::journal;

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// What its journal adds up to.
    pub run: Run,
    /// Why it ended.
    pub reason: EndReason,
    /// The branch of the result, if there is anything on it.
    pub branch: Option<String>,
    /// The branch of what needs review, if there is anything on it.
    pub review: Option<String>,
}

/// What a run was before it is gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Before {
    /// How its orchestrator ended, if it could say.
    pub(super) ended: Option<EndReason>,
}

/// Conducts a run from where its journal is.
pub(super) fn conduct(
    site: Arc<Site>,
    scribe: &mut Scribe<'_>,
    before: Option<Before>,
) -> Result<RunEnd, RunError> {
    let listener = Listener::begin(&site.shop.world.client, &site.folder)?;
    let conducted = phases(&site, scribe, before, &listener);
    let closed = site.shop.close();
    if conducted.is_ok() {
        site.shop.archive_agents();
    }
    site.shop.end_hosts();
    let nothing = || Reduced { branch: None, review: None };
    let (reason, reduced) = match conducted {
        Ok(end) => end,
        // The journal is whole up to here: the run can be gone on with.
        Err(error) if matches!(error, RunError::Journal(_)) => return Err(error),
        Err(error) => {
            let is_wished = listener.wish() == Some(StopKind::Now);
            let reason = if is_wished { EndReason::Interrupted } else { EndReason::Failed };
            scribe.note(Event::RunEnded { reason })?;
            return if is_wished { Ok(end(scribe, reason, nothing())) } else { Err(error) };
        }
    };
    scribe.note(Event::RunEnded { reason })?;
    closed?;
    Ok(end(scribe, reason, reduced))
}

fn end(scribe: &Scribe<'_>, reason: EndReason, reduced: Reduced) -> RunEnd {
    let Reduced { branch, review } = reduced;
    RunEnd { run: scribe.run().clone(), reason, branch, review }
}

fn phases(
    site: &Arc<Site>,
    scribe: &mut Scribe<'_>,
    before: Option<Before>,
    listener: &Listener,
) -> Result<(EndReason, Reduced), RunError> {
    // One that begins has no agents yet.
    let agents = match before {
        Some(_) => {
            site.shop.wake_hosts();
            agents_to_take_over(&site.shop.world, site.shop.run.as_str(), &site.shop.providers()?)?
        }
        None => Vec::new(),
    };
    let mut owner = Owner::new(site.clone(), scribe)?;
    let wishes = owner.wishes();
    listener.tell(move |wish| {
        // One that has ended wants nothing any more.
        let _ = wishes(wish);
    });
    let worked = owner.work(agents, before.and_then(|before| before.ended));
    let is_aborted = matches!(worked, Ok(Some(Stopping::Aborted)));
    if worked.is_err() || is_aborted {
        // No agent is left to be stopped; tests that are being run need not be waited for.
        listener.pass_on();
    }
    if is_aborted {
        owner.end_launches()?;
    }
    let measured: BTreeMap<TaskId, Input> = owner.finish();
    let reason = match worked? {
        Some(Stopping::Aborted) => {
            return Ok((EndReason::Interrupted, Reduced { branch: None, review: None }));
        }
        Some(Stopping::Finishing | Stopping::NotAllowed) => EndReason::Interrupted,
        Some(Stopping::Budget | Stopping::OutOfAgents) => EndReason::Budget,
        None => EndReason::Finished,
    };
    if before.is_some() {
        remember_checks(site)?;
    }
    let reduced = reduce::reduce(site, scribe, measured, listener, &[])?;
    // Whoever was to be asked for the rest was not, or not to the end.
    let is_cut_short = reason == EndReason::Finished && listener.wish().is_some();
    Ok((if is_cut_short { EndReason::Interrupted } else { reason }, reduced))
}

/// Takes in what checks came to before this orchestrator, since results were last put together to the end.
fn remember_checks(site: &Site) -> Result<(), RunError> {
    let entries = journal::entries(site.shop.host(), site.folder.path())?;
    let is_whole = |entry: &Entry| {
        matches!(entry.event, Event::RunEnded { reason: EndReason::Finished | EndReason::Budget })
    };
    let from = entries.iter().rposition(is_whole).map_or(0, |at| at + 1);
    for entry in &entries[from..] {
        if let Event::Checked(checked) = &entry.event {
            site.shop.ledger.remember(checked);
        }
    }
    Ok(())
}
