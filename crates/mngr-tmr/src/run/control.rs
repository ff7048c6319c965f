//! Asking a run to end, from another terminal.

use std::collections::BTreeSet;

use mngr_host::files::{Access, Durability};
use mngr_model::facts::Detail;
use mngr_model::{HostId, HostPath, ProviderName};
use mngr_ops::error_chain;
use mngr_ops::fanout::fan_out;
use mngr_ops::fleet::{Agent, Failure, Fleet};
use mngr_ops::pool;
use mngr_ops::stop::{StopOptions, stop};
use mngr_ops::world::World;

use super::error::RunError;
use super::folder::RunFolder;
use super::settings::RunSettings;
use super::workshop::mark;
use crate::dispatch::agent::label;
use crate::journal::{self, Owner};

/// How a run is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// Nothing more is launched; what runs is finished.
    Finish,
    /// All agents are stopped.
    Now,
}

impl StopKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Finish => "finish",
            Self::Now => "now",
        }
    }

    /// The kind that a request asks for.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        [Self::Finish, Self::Now].into_iter().find(|kind| kind.word() == text.trim())
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReport {
    /// An orchestrator is at work and was told.
    Told,
    /// None is at work; these agents of the run were still there.
    NobodyThere {
        /// The names of those that were stopped.
        stopped: Vec<String>,
        /// The names of those that were not, and why.
        failed: Vec<(String, String)>,
    },
}

/// Asks the run in a folder to end. Where no orchestrator is at work, agents it has left running are stopped.
///
/// # Errors
/// When there is no run, or it cannot be asked.
pub fn request_stop(world: &World, folder: &HostPath, kind: StopKind) -> Result<StopReport, RunError> {
    let recorded = journal::read(world.client.as_ref(), folder)?;
    if journal::owner(world.client.as_ref(), folder)? == Owner::Working {
        let request = RunFolder::new(folder.clone()).stop_request();
        world.client.files().write(&request, kind.word().as_bytes(), Access::Private, Durability::Cached)?;
        return Ok(StopReport::Told);
    }
    let Some(started) = recorded.run.started else {
        return Ok(StopReport::NobodyThere { stopped: Vec::new(), failed: Vec::new() });
    };
    let agents = agents_of(world, started.run.as_str());
    let alive = agents.into_iter().filter(|agent| !agent.state.state.is_final()).collect();
    let options = StopOptions::from_settings(&world.settings);
    let ends = fan_out(alive, |agent: Agent| (agent.name().to_string(), stop(world, &agent, &options)));
    let (mut stopped, mut failed) = (Vec::new(), Vec::new());
    for (name, end) in ends {
        match end {
            Ok(_) => stopped.push(name),
            Err(error) => failed.push((name, error_chain(&error))),
        }
    }
    if let Ok(settings) = RunSettings::from_map(&started.settings)
        && (settings.agents.provider.is_some() || settings.checks.place.is_some())
    {
        let after = world.settings.tmr.hosts_after;
        let problems = pool::end_hosts(world, &mark(world, &settings, &started.run), after);
        failed.extend(problems.into_iter().map(|problem| (started.run.to_string(), problem)));
    }
    Ok(StopReport::NobodyThere { stopped, failed })
}

/// The agents of a run that is gone on with. One that only cannot be seen must not be taken for gone: another would be
/// launched beside it.
pub(super) fn agents_to_take_over(
    world: &World,
    run: &str,
    providers: &[ProviderName],
) -> Result<Vec<Agent>, RunError> {
    let fleet = Fleet::look(world, Detail::Full);
    let asleep = if fleet.failures.is_empty() { BTreeSet::new() } else { pool::asleep(world) };
    match unseen(fleet.failures, providers, &asleep) {
        Some(error) => Err(error),
        None => Ok(of_run(fleet.agents, run)),
    }
}

/// What of these providers could not be asked; of all where none is named. What others have cannot be of the run, and on
/// a host that is stopped nobody is at work.
fn unseen(failures: Vec<Failure>, providers: &[ProviderName], asleep: &BTreeSet<HostId>) -> Option<RunError> {
    let matters = |failure: &Failure| {
        let is_there = providers.is_empty() || providers.iter().any(|it| it.as_str() == failure.provider);
        is_there && !failure.host_id.as_ref().is_some_and(|host| asleep.contains(host))
    };
    let failure = failures.into_iter().find(matters)?;
    let place = failure.host.unwrap_or(failure.provider);
    Some(RunError::Unseen { place, message: failure.message })
}

/// The agents of a run that are there.
pub(super) fn agents_of(world: &World, run: &str) -> Vec<Agent> {
    of_run(Fleet::look(world, Detail::Full).agents, run)
}

fn of_run(agents: Vec<Agent>, run: &str) -> Vec<Agent> {
    let is_of_run = |agent: &Agent| agent.facts.record.labels.get(label::RUN).is_some_and(|it| it == run);
    agents.into_iter().filter(is_of_run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_not_taken_for_gone_and_other_providers_do_not_matter() {
        let failure = |provider: &str, host: Option<&str>| Failure {
            provider: provider.to_owned(),
            host: host.map(str::to_owned),
            host_id: None,
            message: "no route".to_owned(),
        };
        let here: Vec<ProviderName> = vec!["local".parse().unwrap()];
        let said = |failures| unseen(failures, &here, &BTreeSet::new()).map(|error| error.to_string());
        assert_eq!(said(vec![failure("elsewhere", None)]), None);
        let both = vec![failure("elsewhere", None), failure("local", Some("box"))];
        assert_eq!(said(both).unwrap(), "the agents of the run on `box` cannot be seen: no route");
        let anywhere = unseen(vec![failure("elsewhere", None)], &[], &BTreeSet::new());
        assert!(anywhere.is_some(), "a pool may have hosts of any provider");
        let stopped = HostId::from_bytes([1; 16]);
        let failed = Failure { host_id: Some(stopped.clone()), ..failure("local", Some("box")) };
        assert!(unseen(vec![failed], &here, &BTreeSet::from([stopped])).is_none(), "nobody works there");
    }
}
