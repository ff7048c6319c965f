//! Making a host of a pool: the first one is provisioned, all others are copies of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_host::host::Host;
use mngr_host::lock::HostLock;
use mngr_host::provider::{NewHost, SnapshotId};
use mngr_host::{fault, random};
use mngr_model::env::EnvPair;
use mngr_model::name_style::NameStyle;
use mngr_model::{AgentName, HostId, HostName, HostPath};

use super::error::PoolError;
use super::marked::{self, CLIENT_TAG};
use super::seat::{maker_of, reachable};
use super::spec::{POOL_TAG, Pool, Recipe, Supply, provider_of};
use super::warm::{self, Shelf};
use crate::create::stock::Stock;
use crate::create::{CreateError, CreateRequest, settle};
use crate::world::World;

/// How many digits tell the hosts of one pool apart.
const DIGITS: usize = 6;

/// Who a new host will be.
pub(super) struct Plan {
    pub(super) id: HostId,
    pub(super) name: HostName,
}

/// A host to work on that no agent uses.
pub struct Fresh {
    /// The host.
    pub host: Arc<dyn Host>,
    /// Its repository, where it was made for this and nobody else was there; such a host is labelled.
    pub repository: Option<HostPath>,
    /// Held for as long as it is used; nothing where it was not made.
    _lock: Option<HostLock>,
}

/// Chooses id and name of a new host.
pub(super) fn plan(recipe: &Recipe) -> Result<Plan, PoolError> {
    let id = random::host_id();
    let name = match &recipe.prefix {
        Some(prefix) => format!("{prefix}-{}", &id.hex()[..DIGITS]),
        None => {
            let seed = u64::from_str_radix(&id.hex()[..16], 16).unwrap_or_default();
            NameStyle::default().generate(seed)
        }
    };
    let parsed = name.parse().map_err(|source| PoolError::Name { name, source });
    Ok(Plan { id, name: parsed? })
}

impl Plan {
    /// `name.provider`.
    pub(super) fn address(&self, recipe: &Recipe) -> String {
        format!("{}.{}", self.name, recipe.provider)
    }

    /// What an agent of it is called until it has a name.
    pub(super) fn agent_name(&self) -> Result<AgentName, PoolError> {
        let name = self.name.to_string();
        name.parse().map_err(|source| PoolError::Name { name, source })
    }

    fn failed(&self, source: CreateError) -> PoolError {
        PoolError::Provision { host: self.name.to_string(), source: Box::new(source) }
    }
}

/// Makes a member of the pool. What is left of one that could not be made is the caller's to remove.
pub(super) fn make(
    world: &World,
    pool: &Pool,
    recipe: &Recipe,
    request: &CreateRequest,
    plan: &Plan,
) -> Result<Arc<dyn Host>, PoolError> {
    let mark = BTreeMap::from([(POOL_TAG.to_owned(), recipe.mark.clone())]);
    let failed = |source| plan.failed(source);
    let variables = settle::variables(world, &recipe.spec).map_err(failed)?;
    let host = make_with(world, pool, recipe, Stock::Agents(request), plan, (mark, &variables))?;
    settle::settle_copy(world, host.as_ref(), &recipe.spec, &variables).map_err(failed)?;
    fault::point();
    Ok(host)
}

/// A host to work on a repository of this machine that no agent of the pool will use: a new one where hosts can be made,
/// labelled as `label` says and not a member; else the one with the fewest agents.
///
/// # Errors
/// When none can be had.
pub fn fresh_host(
    world: &World,
    pool: &Pool,
    repository: &HostPath,
    label: (&str, &str),
) -> Result<Fresh, PoolError> {
    let Supply::Made(recipe) = &pool.supply else {
        return Ok(Fresh { host: reachable(world, pool)?, repository: None, _lock: None });
    };
    if let Some(provider) = provider_of(world, recipe.provider.as_str()) {
        marked::sweep(world, provider);
    }
    let client = world.client.info().id.to_string();
    let labels = [(label.0, label.1), (CLIENT_TAG, client.as_str())];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let stock = Stock::Repository(repository);
    let plan = plan(recipe)?;
    let lock = Some(marked::hold(world, &plan.id)?);
    let failed = |source| plan.failed(source);
    let variables = settle::variables(world, &recipe.spec).map_err(failed)?;
    let made = || -> Result<_, PoolError> {
        let host = make_with(world, pool, recipe, stock, &plan, (labels, &variables))?;
        settle::write_variables(host.as_ref(), &variables).map_err(failed)?;
        // A host without copies was not stocked; one that was gets what is new since.
        stock.lay_in(world, &host).map_err(failed)?;
        let repository = stock.place(world, host.as_ref()).map_err(failed)?;
        Ok((host, repository))
    };
    match made() {
        Ok((host, repository)) => Ok(Fresh { host, repository, _lock: lock }),
        Err(error) => {
            // What went wrong first matters more.
            let _ = maker_of(world, &pool.name, recipe.provider.as_str())?.destroy(&plan.id);
            Err(error)
        }
    }
}

/// A host with what all hosts of the pool have: the user's commands have run there. What is its own is still missing.
fn make_with(
    world: &World,
    pool: &Pool,
    recipe: &Recipe,
    stock: Stock<'_>,
    plan: &Plan,
    (mut tags, variables): (BTreeMap<String, String>, &[EnvPair]),
) -> Result<Arc<dyn Host>, PoolError> {
    let maker = maker_of(world, &pool.name, recipe.provider.as_str())?;
    let spec = &recipe.spec;
    for (key, value) in &spec.tags {
        tags.entry(key.clone()).or_insert_with(|| value.clone());
    }
    let blueprint = NewHost {
        id: plan.id.clone(),
        name: plan.name.clone(),
        snapshot: spec.snapshot.clone(),
        stand_in: None,
        build_args: spec.build_args.clone(),
        start_args: spec.start_args.clone(),
        cpus: spec.cpus.clone(),
        memory: spec.memory.clone(),
        tags,
    };
    let failed = |source| plan.failed(source);
    let made = |blueprint: &NewHost| {
        let host = maker.make(blueprint)?;
        fault::point();
        Ok::<_, PoolError>(host)
    };
    let made_alone = || {
        let host = made(&blueprint)?;
        settle::run_commands(world, host.as_ref(), spec, variables).map_err(failed)?;
        Ok(host)
    };
    let copies = provider_of(world, recipe.provider.as_str()).and_then(|provider| provider.snapshots());
    let Some(copies) = copies else { return made_alone() };
    let repository = stock.identity(world).map_err(failed)?;
    let shelf = Shelf::of(world, pool, recipe, repository.as_deref(), variables);
    // An image that has to be fetched is known only afterwards, so this is asked again each time.
    let warm = || maker.origin(&blueprint).map(|origin| shelf.warm(&origin));
    let copy_of = |snapshot: SnapshotId| {
        world.reporter.progress(&format!("making host {} as a copy", plan.name));
        made(&NewHost { stand_in: Some(snapshot), ..blueprint.clone() })
    };
    let Some(wanted) = warm() else { return made_alone() };
    if let Some(snapshot) = wanted.find(copies)? {
        return copy_of(snapshot);
    }
    // Whoever comes second waits here for what the first one provisions.
    let lock = shelf.lock(world)?;
    if let Some(wanted) = warm()
        && let Some(snapshot) = wanted.find(copies)?
    {
        drop(lock);
        return copy_of(snapshot);
    }
    world.reporter.progress(&format!("making and provisioning host {}", plan.name));
    let host = made(&blueprint)?;
    stock.lay_in(world, &host).map_err(failed)?;
    settle::run_commands(world, host.as_ref(), spec, variables).map_err(failed)?;
    let wanted = warm().unwrap_or(wanted);
    match copies.create(&plan.id, wanted.name()) {
        Ok(_) => warm::retire(world, copies, wanted.name()),
        Err(error) => world.reporter.warn(&format!(
            "further hosts of pool `{}` are provisioned one by one: {}",
            pool.name,
            crate::error_chain(&error)
        )),
    }
    Ok(host)
}
