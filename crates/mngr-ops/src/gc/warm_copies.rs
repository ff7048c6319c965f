//! Warm copies of hosts that a newer one has taken the place of, or that nobody has renewed for long.
//!
//! They hold nothing but what can be made again. One that hosts still stand on is kept until those are gone.

use jiff::{SignedDuration, Timestamp};
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::provider::{Provider, Snapshot};
use mngr_model::HostPath;

use super::report::{Collected, Kept, Resource, ResourceKind};
use crate::fleet::Failure;
use crate::pool::{is_superseded, is_warm};

/// How long a copy is kept after it was made.
const KEPT: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Removes those of one provider.
pub(super) fn collect(
    provider: &dyn Provider,
    now: Timestamp,
    out: &mut Collected,
) -> Result<(), Interrupted> {
    let Some(copies) = provider.snapshots() else { return Ok(()) };
    let all = match copies.list() {
        Ok(all) => all,
        Err(error) => {
            out.failures.push(Failure::of_provider(&error));
            return Ok(());
        }
    };
    for (copy, reason) in over(&all, now) {
        interrupt::check()?;
        let (host, path) = (provider.name().to_string(), HostPath::new(copy.name.clone()));
        if !out.dry_run && copies.destroy(&copy.id).is_err() {
            out.kept.push(Kept { host, path, reason: "hosts still stand on it".to_owned() });
            continue;
        }
        let (kind, bytes) = (ResourceKind::Snapshot, Some(copy.size));
        out.removed.push(Resource { kind, host, path, agent: None, bytes, reason: reason.to_owned() });
    }
    Ok(())
}

/// Those whose time is over, and why. `all` has the newest first.
fn over(all: &[Snapshot], now: Timestamp) -> Vec<(&Snapshot, &'static str)> {
    let names: Vec<&str> = all.iter().map(|copy| copy.name.as_str()).collect();
    let reason = |copy: &Snapshot| {
        if is_superseded(&copy.name, &names) {
            return Some("a newer copy has taken its place");
        }
        let made = copy.created_at?;
        (now.duration_since(made) > KEPT).then_some("it is made anew when it is needed")
    };
    all.iter().filter(|copy| is_warm(copy)).filter_map(|copy| Some((copy, reason(copy)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mngr_host::provider::SnapshotId;
    use mngr_host::random;

    #[test]
    fn copies_of_the_user_and_the_newest_ones_stay() {
        let now = Timestamp::from_second(100 * 86_400).unwrap();
        let copy = |name: &str, days: i64| Snapshot {
            id: SnapshotId::new(name),
            name: name.to_owned(),
            host: random::host_id(),
            host_name: None,
            created_at: Some(now - SignedDuration::from_hours(24 * days)),
            size: 1,
        };
        let all = [
            copy("warm-lab-00000001-fedcba9876543210", 1),
            copy("warm-lab-00000001-0123456789abcdef", 2),
            copy("warm-old-00000001-0123456789abcdef", 20),
            copy("mine", 90),
        ];
        let gone: Vec<&str> = over(&all, now).into_iter().map(|(copy, _)| copy.name.as_str()).collect();
        assert_eq!(gone, ["warm-lab-00000001-0123456789abcdef", "warm-old-00000001-0123456789abcdef"]);
    }
}
