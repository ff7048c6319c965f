//! The hosts of a pool and how full they are.
//!
//! Round trips: one listing of each provider, and one look at each host that runs, side by side. Commands that ask at the
//! same time share a look: one that began after a command asked is as good as its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use mngr_agents::detect;
use mngr_host::provider::{HostEntry, ProviderError};
use mngr_model::facts::Detail;
use mngr_model::state::HostState;
use mngr_model::{AgentId, AgentState};
use serde::{Deserialize, Serialize};

use super::choice::{Load, Member, Standing};
use super::error::PoolError;
use super::ledger::{Booking, Ledger};
use super::spec::{POOL_TAG, Pool, Supply, provider_of};
use crate::world::World;
use crate::{fanout, hosts};

/// What was seen of a pool.
pub(super) struct Look {
    at: Timestamp,
    pub(super) seen: BTreeMap<String, Seen>,
}

/// A host of the pool.
pub(super) struct Seen {
    pub(super) entry: Arc<dyn HostEntry>,
    pub(super) sight: Sight,
}

/// What was seen of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Sight {
    /// Its agents, and whether each is at work.
    Agents(BTreeMap<AgentId, Activity>),
    /// Somebody is making it: only bookings tell how full it will be.
    Coming,
    /// It does not run.
    Asleep,
    /// It cannot be used now.
    Unusable(String),
}

/// Whether an agent uses its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Activity {
    AtWork,
    Stopped,
}

/// `name.provider` of a host.
pub(super) fn address(entry: &dyn HostEntry) -> String {
    format!("{}.{}", entry.name(), entry.provider())
}

/// Looks at all hosts but those that were passed over before.
pub(super) fn look(
    world: &World,
    pool: &Pool,
    ledger: &Ledger<'_>,
    passed_over: &BTreeSet<String>,
) -> Result<Look, PoolError> {
    let asked = world.clock.now();
    let entries = entries(world, pool)?;
    let mut common = common(world, ledger, &entries, asked)?;
    let mut seen = BTreeMap::new();
    for entry in entries {
        let name = address(entry.as_ref());
        if passed_over.contains(&name) {
            continue;
        }
        let sight = match common.hosts.remove(&name) {
            Some(sight) if !ledger.is_being_made(&name) => sight,
            _ => Sight::Coming,
        };
        seen.insert(name, Seen { entry, sight });
    }
    Ok(Look { at: common.at, seen })
}

/// What somebody saw of all hosts.
#[derive(Serialize, Deserialize)]
struct Common {
    at: Timestamp,
    hosts: BTreeMap<String, Sight>,
}

/// A look that began after `asked`: another command's, or one of our own that is left for the others.
fn common(
    world: &World,
    ledger: &Ledger<'_>,
    entries: &[Arc<dyn HostEntry>],
    asked: Timestamp,
) -> Result<Common, PoolError> {
    let _turn = ledger.look_turn()?;
    let kept: Option<Common> = ledger.kept_look().and_then(|text| serde_json::from_slice(&text).ok());
    if let Some(kept) = kept.filter(|kept| kept.at >= asked) {
        return Ok(kept);
    }
    let at = world.clock.now();
    let hosts = fanout::fan_out(entries.iter().collect(), |entry: &Arc<dyn HostEntry>| {
        let name = address(entry.as_ref());
        let sight = if ledger.is_being_made(&name) { Sight::Coming } else { see(entry.as_ref()) };
        (name, sight)
    });
    let common = Common { at, hosts: hosts.into_iter().collect() };
    ledger.keep_look(&serde_json::json!(common).to_string());
    Ok(common)
}

/// The hosts of a pool as their providers list them. One that cannot be found is an error of the settings.
pub(super) fn entries(world: &World, pool: &Pool) -> Result<Vec<Arc<dyn HostEntry>>, PoolError> {
    let hosts_of = |name: &str| -> Result<Vec<Arc<dyn HostEntry>>, PoolError> {
        let provider = provider_of(world, name).ok_or_else(|| PoolError::Provider {
            pool: pool.name.clone(),
            provider: name.to_owned(),
            problem: "is not configured",
        })?;
        Ok(provider.hosts()?)
    };
    match &pool.supply {
        Supply::AllOf(provider) => hosts_of(provider.as_str()),
        Supply::Made(recipe) => {
            let is_ours =
                |entry: &Arc<dyn HostEntry>| entry.report().tags.get(POOL_TAG) == Some(&recipe.mark);
            Ok(hosts_of(recipe.provider.as_str())?.into_iter().filter(is_ours).collect())
        }
        Supply::Named(addresses) => {
            let find = |address| hosts::find(world, address).map(|found| found.ok_or(address));
            let found: Result<Vec<_>, ProviderError> = addresses.iter().map(find).collect();
            let (mut there, mut missing) = (Vec::new(), Vec::new());
            for found in found? {
                match found {
                    Ok(entry) => there.push(entry),
                    Err(address) => missing.push(address.to_string()),
                }
            }
            for address in &missing {
                world
                    .reporter
                    .warn(&format!("pool `{}` names host `{address}`, which was not found", pool.name));
            }
            match there.is_empty() {
                true => Err(PoolError::NoneUsable { pool: pool.name.clone(), unreachable: missing }),
                false => Ok(there),
            }
        }
    }
}

fn see(entry: &dyn HostEntry) -> Sight {
    match entry.report().state {
        // One that is starting and that nobody makes is of a command that died.
        HostState::Stopped | HostState::Paused | HostState::Crashed | HostState::Starting => {
            return Sight::Asleep;
        }
        HostState::Failed | HostState::Destroyed | HostState::Stopping => {
            return Sight::Unusable(format!("it is {}", entry.report().state.as_str()));
        }
        _ => {}
    }
    let host = match entry.open() {
        Ok(Some(host)) => host,
        Ok(None) => return Sight::Agents(BTreeMap::new()),
        Err(error) => return Sight::Unusable(crate::error_chain(&error)),
    };
    match host.survey(Detail::Basic) {
        Ok(survey) => {
            let activity = |state: AgentState| match state {
                state if state.is_final() => Activity::Stopped,
                _ => Activity::AtWork,
            };
            let agents = survey.agents.into_iter();
            let agents =
                agents.map(|facts| (facts.record.id.clone(), activity(detect::process_state(&facts).state)));
            Sight::Agents(agents.collect())
        }
        Err(error) => Sight::Unusable(crate::error_chain(&error)),
    }
}

impl Look {
    /// The hosts an agent could go to, those that are only booked included.
    pub(super) fn members(&self, bookings: &[Booking], passed_over: &BTreeSet<String>) -> Vec<Member> {
        let counts = |booking: &&Booking| booking.settled.is_none_or(|settled| settled >= self.at);
        let mut booked: BTreeMap<&str, Vec<&AgentId>> = BTreeMap::new();
        for booking in bookings.iter().filter(counts) {
            booked.entry(&booking.host).or_default().push(&booking.agent);
        }
        let mut members = Vec::new();
        for (address, seen) in &self.seen {
            let on_the_way = booked.remove(address.as_str()).unwrap_or_default();
            let (load, standing) = match &seen.sight {
                Sight::Agents(agents) => (load(agents, &on_the_way), Standing::Ready),
                Sight::Coming => (load(&BTreeMap::new(), &on_the_way), Standing::Ready),
                // Whoever booked it is starting it.
                Sight::Asleep if !on_the_way.is_empty() => {
                    (load(&BTreeMap::new(), &on_the_way), Standing::Ready)
                }
                Sight::Asleep => (Load::default(), Standing::Asleep),
                Sight::Unusable(_) => continue,
            };
            members.push(Member { address: address.clone(), load, standing });
        }
        for (address, on_the_way) in booked {
            if !passed_over.contains(address) {
                let load = load(&BTreeMap::new(), &on_the_way);
                members.push(Member { address: address.to_owned(), load, standing: Standing::Ready });
            }
        }
        members
    }

    /// The hosts that cannot be used, and why.
    pub(super) fn unusable(&self) -> impl Iterator<Item = (&String, &String)> {
        self.seen.iter().filter_map(|(address, seen)| match &seen.sight {
            Sight::Unusable(why) => Some((address, why)),
            _ => None,
        })
    }
}

fn load(agents: &BTreeMap<AgentId, Activity>, on_the_way: &[&AgentId]) -> Load {
    let coming = on_the_way.iter().filter(|agent| !agents.contains_key(**agent)).count();
    let at_work = agents.values().filter(|activity| **activity == Activity::AtWork).count();
    Load { at_work: at_work + coming, all: agents.len() + coming }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestWorld;
    use mngr_host::provider::ReadyHost;
    use mngr_host::random;

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_look_is_shared_by_those_who_asked_before_it_began() {
        let test = TestWorld::new();
        let ledger = Ledger::open(&test.world, "p").unwrap();
        let entries = [ReadyHost::entry(test.host.clone())];
        let look = |asked| common(&test.world, &ledger, &entries, asked).unwrap();
        let asked = test.world.clock.now();
        let first = look(asked);
        assert_eq!(first.hosts.values().collect::<Vec<_>>(), [&Sight::Agents(BTreeMap::new())]);
        assert_eq!(look(asked).at, first.at, "it began after that");
        assert!(look(test.world.clock.now()).at > first.at, "who asks later looks again");
    }

    #[test]
    fn an_agent_is_counted_once_whether_it_was_seen_booked_or_both() {
        let test = TestWorld::new();
        let [seen, both, booked, before, after] = [(); 5].map(|()| random::agent_id());
        let agents = BTreeMap::from([(seen, Activity::Stopped), (both.clone(), Activity::AtWork)]);
        let entry = ReadyHost::entry(test.host.clone());
        let look = Look {
            at: time(100),
            seen: [("a.x".to_owned(), Seen { entry, sight: Sight::Agents(agents) })].into(),
        };
        let booking = |agent: &AgentId, host: &str, settled: Option<i64>| Booking {
            agent: agent.clone(),
            host: host.to_owned(),
            settled: settled.map(time),
        };
        let bookings = [
            booking(&both, "a.x", None),
            booking(&booked, "a.x", None),
            // Before the look: it was seen, or has gone since.
            booking(&before, "a.x", Some(99)),
            booking(&after, "b.x", Some(101)),
        ];
        let members = look.members(&bookings, &BTreeSet::new());
        let loads: Vec<_> = members
            .iter()
            .map(|member| (member.address.as_str(), member.load.at_work, member.load.all))
            .collect();
        assert_eq!(loads, [("a.x", 2, 3), ("b.x", 1, 1)]);
        let members = look.members(&bookings, &BTreeSet::from(["b.x".to_owned()]));
        assert_eq!(members.len(), 1, "one that was passed over is not offered again");
    }
}
