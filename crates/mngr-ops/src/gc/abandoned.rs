//! What commands of this machine left in an engine when they were killed while they made or copied a host.

use mngr_host::interrupt::{self, Interrupted};
use mngr_host::provider::{AbandonedKind, Provider};
use mngr_model::HostPath;

use super::report::{Collected, GcProblem, Resource, ResourceKind};
use crate::fleet::Failure;
use crate::world::World;

/// Removes that of one provider. A host that such a command left standing still is woken.
pub(super) fn collect(
    world: &World,
    provider: &dyn Provider,
    out: &mut Collected,
) -> Result<(), Interrupted> {
    let Some(maker) = provider.maker() else { return Ok(()) };
    let left = match maker.abandoned() {
        Ok(left) => left,
        Err(error) => {
            out.failures.push(Failure::of_provider(&error));
            return Ok(());
        }
    };
    for thing in left {
        interrupt::check()?;
        let (host, path) = (format!("{}.{}", thing.host, provider.name()), HostPath::new(thing.id.clone()));
        if !out.dry_run {
            let _shield = interrupt::shield();
            if let Err(error) = maker.remove_abandoned(&thing) {
                out.problems.push(GcProblem { host, path, message: crate::error_chain(&error) });
                continue;
            }
        }
        let (kind, reason) = match thing.kind {
            AbandonedKind::Host => (ResourceKind::Machine, "it was never started: whoever made it died"),
            AbandonedKind::Helper => (ResourceKind::Machine, "whoever copied a host with it died"),
            AbandonedKind::Standing => {
                let done = if out.dry_run { "would be woken" } else { "was woken" };
                world.reporter.note(&format!("host `{host}` {done}: whoever copied it died"));
                continue;
            }
            AbandonedKind::Copy => (ResourceKind::Snapshot, "it is not whole: whoever made it died"),
        };
        out.removed.push(Resource { kind, host, path, agent: None, bytes: None, reason: reason.to_owned() });
    }
    Ok(())
}
