//! One pass over all hosts. A host or a thing that fails is reported; the rest goes on.

use jiff::Timestamp;
use mngr_host::host::Host;
use mngr_host::interrupt::{self, Interrupted};
use mngr_model::{HostPath, ProviderName};

use super::report::{Collected, GcOptions, GcProblem, Kept, Resource, ResourceKind};
use super::{abandoned, empty_trash, leftovers, machines, orphans, repositories, warm_copies};
use crate::fanout::fan_out;
use crate::fleet::Failure;
use crate::world::World;
use crate::{hosts, pool, recover};

/// One host being collected: where findings go, and whether anything may be deleted.
pub(super) struct Pass<'a> {
    pub(super) world: &'a World,
    pub(super) host: &'a dyn Host,
    pub(super) now: Timestamp,
    pub(super) out: &'a mut Collected,
}

impl Pass<'_> {
    /// Reports a finding and, unless this is only a rehearsal, deletes it. An interrupt is met before each.
    pub(super) fn remove<E: std::error::Error>(
        &mut self,
        found: Found,
        delete: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), Interrupted> {
        interrupt::check()?;
        if !self.out.dry_run {
            let _shield = interrupt::shield();
            if let Err(error) = delete() {
                self.problem(found.path, crate::error_chain(&error));
                return Ok(());
            }
        }
        let Found { kind, path, agent, bytes, reason } = found;
        self.out.removed.push(Resource {
            kind,
            host: self.host.info().address(),
            path,
            agent,
            bytes,
            reason,
        });
        Ok(())
    }

    pub(super) fn keep(&mut self, path: HostPath, reason: String) {
        self.out.kept.push(Kept { host: self.host.info().address(), path, reason });
    }

    pub(super) fn problem(&mut self, path: HostPath, message: String) {
        self.out.problems.push(GcProblem { host: self.host.info().address(), path, message });
    }
}

/// Something to be deleted.
pub(super) struct Found {
    pub(super) kind: ResourceKind,
    pub(super) path: HostPath,
    pub(super) agent: Option<String>,
    pub(super) bytes: Option<u64>,
    pub(super) reason: String,
}

/// Collects on one host what nobody uses and nobody would miss. Leaves the trash, and what a killed command left, alone.
pub(crate) fn sweep(world: &World, host: &dyn Host, options: &GcOptions) -> Result<Collected, Interrupted> {
    let mut out = Collected { dry_run: options.dry_run, ..Collected::default() };
    sweep_host(&mut Pass { world, host, now: world.clock.now(), out: &mut out })?;
    Ok(out)
}

fn sweep_host(pass: &mut Pass<'_>) -> Result<(), Interrupted> {
    orphans::collect(pass)?;
    repositories::collect(pass)?;
    leftovers::collect(pass)
}

/// Collects on every host. What a killed command left behind is put right first.
pub fn collect(world: &World, options: &GcOptions) -> Result<Collected, Interrupted> {
    let mut out = Collected { dry_run: options.dry_run, ..Collected::default() };
    let now = world.clock.now();
    let is_wanted = |name: &ProviderName| options.providers.is_empty() || options.providers.contains(name);
    recover::recover_client(world);
    let (hosts, failures) = hosts::open_all(world, is_wanted);
    out.failures.extend(failures);
    // Side by side: one that is slow holds up nobody.
    for collected in fan_out(hosts, |host| collect_on(world, host.as_ref(), now, options.dry_run)) {
        out.add(collected?);
    }
    if !options.dry_run {
        // Made by commands for their own use: no agent was ever there.
        world
            .providers
            .iter()
            .filter(|it| is_wanted(it.name()))
            .for_each(|it| pool::sweep(world, it.as_ref()));
    }
    for provider in world.providers.iter().filter(|provider| is_wanted(provider.name())) {
        abandoned::collect(world, provider.as_ref(), &mut out)?;
    }
    machines::collect(world, now, &mut out, is_wanted)?;
    for provider in world.providers.iter().filter(|provider| is_wanted(provider.name())) {
        warm_copies::collect(provider.as_ref(), now, &mut out)?;
    }
    Ok(out)
}

/// Collects on one host. Of one that falls silent only that is told.
fn collect_on(
    world: &World,
    host: &dyn Host,
    now: Timestamp,
    dry_run: bool,
) -> Result<Collected, Interrupted> {
    let mut out = Collected { dry_run, ..Collected::default() };
    if !world.is_client(host) {
        put_right(world, host);
    }
    let mut pass = Pass { world, host, now, out: &mut out };
    empty_trash::collect(&mut pass)?;
    sweep_host(&mut pass)?;
    if let Some(failure) = Failure::of_silent(host) {
        out.problems.clear();
        out.failures.push(failure);
    }
    Ok(out)
}

/// Finishes what killed commands left on a host.
fn put_right(world: &World, host: &dyn Host) {
    if host.files().list(&host.layout().journals()).is_ok_and(|journals| !journals.is_empty()) {
        recover::recover(world, host);
    }
}
