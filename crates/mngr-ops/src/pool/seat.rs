//! A place for a new agent: chosen, booked, and given up again when nothing came of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::provider::HostMaker;
use mngr_model::AgentId;
use mngr_model::facts::Detail;
use mngr_model::journal::Step;

use super::choice::{Choice, Standing, choose};
use super::error::PoolError;
use super::ledger::{Ending, Ledger, Sign, Ticket};
use super::look::{self, Look, address};
use super::make::{self, Plan};
use super::spec::{Pool, Recipe, Supply, provider_of};
use crate::create::CreateRequest;
use crate::hosts::{Making, TakenBack};
use crate::recover;
use crate::world::World;

/// A host for one agent.
pub(crate) struct Seat<'w> {
    /// The host.
    pub(crate) host: Arc<dyn Host>,
    ledger: Ledger<'w>,
    ticket: Ticket,
    /// Where it was made for this agent: who takes it back.
    made: Option<Making<'w>>,
    world: &'w World,
}

/// Finds a place for an agent, on a host that is made if need be. Hosts that cannot be used are passed over with a line.
pub(crate) fn take<'w>(
    world: &'w World,
    pool: &Pool,
    request: &CreateRequest,
    agent: &AgentId,
) -> Result<Seat<'w>, PoolError> {
    let ledger = Ledger::open(world, &pool.name)?;
    let mut passed_over = BTreeSet::new();
    loop {
        interrupt::check()?;
        let look = look_past(world, pool, &ledger, &mut passed_over)?;
        let page = ledger.enter()?;
        let members = look.members(&page.bookings, &passed_over);
        match choose(&members, pool.rules) {
            Choice::Full => return Err(no_room(pool, &members, passed_over)),
            Choice::Make => {
                let Supply::Made(recipe) = &pool.supply else {
                    return Err(PoolError::Empty { pool: pool.name.clone() });
                };
                let plan = make::plan(recipe)?;
                let address = plan.address(recipe);
                let ticket = page.book(agent, &address)?;
                let sign = page.begin_making(&address)?;
                drop(page);
                return match made_host(world, pool, recipe, plan, (agent, request), sign) {
                    Ok((host, made)) => Ok(Seat { host, ledger, ticket, made: Some(made), world }),
                    Err(error) => {
                        ledger.cancel(ticket);
                        Err(error)
                    }
                };
            }
            Choice::Use(member) | Choice::Wake(member) => {
                let ticket = page.book(agent, &member.address)?;
                if member.standing == Standing::Asleep {
                    world.reporter.progress(&format!("starting host {}", member.address));
                }
                drop(page);
                match ledger.wait_until_made(&member.address)? {
                    Ending::Done => match enter(world, pool, &look, &member.address) {
                        Ok(Some(host)) => return Ok(Seat { host, ledger, ticket, made: None, world }),
                        // Whoever was making it failed, and has said why.
                        Ok(None) => {}
                        Err(why) => tell_of(world, pool, &member.address, &why),
                    },
                    Ending::Abandoned => {
                        recover::recover(world, world.client.as_ref());
                    }
                }
                ledger.cancel(ticket);
                passed_over.insert(member.address.clone());
            }
        }
    }
}

/// Makes a host. The sign stays up where something may be left of one that could not be made: it must not be used.
fn made_host<'w>(
    world: &'w World,
    pool: &Pool,
    recipe: &Recipe,
    plan: Plan,
    (agent, request): (&AgentId, &CreateRequest),
    sign: Sign<'_, '_>,
) -> Result<(Arc<dyn Host>, Making<'w>), PoolError> {
    let maker = maker_of(world, &pool.name, recipe.provider.as_str())?;
    let step = Step::PoolHost {
        pool: pool.name.clone(),
        provider: recipe.provider.clone(),
        id: plan.id.clone(),
        address: plan.address(recipe),
    };
    // A name that is made up later is not known yet.
    let name = request.name.clone().map_or_else(|| plan.agent_name(), Ok)?;
    maker.ready()?;
    let making = Making::begin(world, (maker, &plan.id), (agent, name), step)?;
    match make::make(world, pool, recipe, request, &plan) {
        Ok(host) => {
            sign.take_down();
            Ok((host, making))
        }
        Err(error) => {
            if making.take_back(world) == TakenBack::Settled {
                sign.take_down();
            }
            Err(error)
        }
    }
}

/// A look at the hosts of the pool. Those that cannot be used are told of once, and passed over from then on.
fn look_past(
    world: &World,
    pool: &Pool,
    ledger: &Ledger<'_>,
    passed_over: &mut BTreeSet<String>,
) -> Result<Look, PoolError> {
    let look = look::look(world, pool, ledger, passed_over)?;
    for (host, why) in look.unusable() {
        tell_of(world, pool, host, why);
        passed_over.insert(host.clone());
    }
    Ok(look)
}

/// A host of the pool that can be used now, nothing being booked: that with the fewest agents.
pub(crate) fn reachable(world: &World, pool: &Pool) -> Result<Arc<dyn Host>, PoolError> {
    let ledger = Ledger::open(world, &pool.name)?;
    let mut passed_over = BTreeSet::new();
    loop {
        interrupt::check()?;
        let look = look_past(world, pool, &ledger, &mut passed_over)?;
        let members = look.members(&[], &passed_over);
        let Some(member) = members.iter().min_by_key(|member| member.load) else {
            return Err(no_room(pool, &members, passed_over));
        };
        match enter(world, pool, &look, &member.address) {
            Ok(Some(host)) => return Ok(host),
            Ok(None) => {}
            Err(why) => tell_of(world, pool, &member.address, &why),
        }
        passed_over.insert(member.address.clone());
    }
}

/// The host of that address, made ready for agents; nothing when it is not there.
fn enter(world: &World, pool: &Pool, look: &Look, host: &str) -> Result<Option<Arc<dyn Host>>, String> {
    let known = look.seen.get(host).map(|seen| seen.entry.clone());
    let entry = match known {
        Some(entry) => Some(entry),
        // It was made since.
        None => {
            let listed = look::entries(world, pool).map_err(|error| crate::error_chain(&error))?;
            listed.into_iter().find(|entry| address(entry.as_ref()) == host)
        }
    };
    entry.map(|entry| entry.prepare()).transpose().map_err(|error| crate::error_chain(&error))
}

fn tell_of(world: &World, pool: &Pool, host: &str, why: &str) {
    world.reporter.warn(&format!("host `{host}` of pool `{}` is passed over: {why}", pool.name));
}

fn no_room(pool: &Pool, members: &[super::choice::Member], passed_over: BTreeSet<String>) -> PoolError {
    let (pool, unreachable) = (pool.name.clone(), passed_over.into_iter().collect::<Vec<_>>());
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    match (members.len(), unreachable.is_empty()) {
        (0, true) => PoolError::Empty { pool },
        (0, false) => PoolError::NoneUsable { pool, unreachable },
        (hosts, _) => {
            let at_work = members.iter().map(|member| member.load.at_work).sum();
            let (agents, hosts) = (format!("{} at work", count(at_work, "agent")), count(hosts, "host"));
            PoolError::Full { pool, agents, hosts, unreachable }
        }
    }
}

impl Seat<'_> {
    /// The agent is there.
    pub(crate) fn settle(self) {
        self.ledger.settle(self.ticket);
        // A journal that stays finds the agent there.
        let _ = self.made.map(Making::finish);
    }

    /// Nothing came of it. A host that was made for it goes too, unless others are on the way to it.
    pub(crate) fn give_up(self) {
        let _shield = interrupt::shield();
        let Self { host, ledger, ticket, made, world } = self;
        let Some(made) = made else { return ledger.cancel(ticket) };
        // Nobody can book it while it is looked at.
        let Ok(page) = ledger.enter() else { return ledger.cancel(ticket) };
        let here = host.info().address();
        let is_wanted =
            page.bookings.iter().any(|booking| booking.host == here && booking.agent != *ticket.agent());
        match host.survey(Detail::Basic).map(|survey| survey.agents.is_empty()) {
            Ok(true) if !is_wanted => {
                let _ = made.take_back(world);
            }
            // Others have it now.
            Ok(_) => drop(made.finish()),
            // The journal stays, so that the next command looks again.
            Err(_) => {}
        }
        ledger.cancel(ticket);
    }
}

/// What makes the hosts of a provider.
pub(super) fn maker_of<'w>(
    world: &'w World,
    pool: &str,
    provider: &str,
) -> Result<&'w dyn HostMaker, PoolError> {
    let wrong =
        |problem| PoolError::Provider { pool: pool.to_owned(), provider: provider.to_owned(), problem };
    let found = provider_of(world, provider).ok_or_else(|| wrong("is not configured"))?;
    found.maker().ok_or_else(|| wrong("cannot make hosts"))
}
