//! Warm copies: snapshots of a host that was provisioned and has no agents yet. Further hosts begin as one.
//!
//! A copy is found by its name, which says what it was made from; whatever is asked differently gets one of its own. It
//! may be deleted at any moment: the next host is provisioned anew.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use mngr_host::lock::{HostLock, LockWait};
use mngr_host::provider::{ProviderError, Snapshot, SnapshotId, Snapshots};
use mngr_model::env::EnvPair;

use super::error::PoolError;
use super::spec::{Pool, Recipe};
use crate::world::World;

/// What the names of all copies begin with.
const PREFIX: &str = "warm-";
/// How long another command may provision.
const LOCK_WAIT: Duration = Duration::from_secs(3600);
/// How much of a pool's name is in that of a copy.
const SUBJECT_CHARS: usize = 40;

/// The copies for one pool and one repository.
pub(super) struct Shelf {
    /// Which pool; nothing for one that nobody has named.
    pool: Option<String>,
    repository: u32,
    /// What else a host is made from.
    words: u64,
}

/// The copy that fits a request.
pub(super) struct Warm {
    name: String,
}

impl Shelf {
    /// Those of a pool for a repository.
    pub(super) fn of(
        world: &World,
        pool: &Pool,
        recipe: &Recipe,
        repository: Option<&str>,
        variables: &[EnvPair],
    ) -> Self {
        let spec = &recipe.spec;
        let settings = world.settings.providers.get(recipe.provider.as_str());
        let settings = settings.map(|settings| settings.extra.to_string());
        // Another version may provision in another way.
        let version = env!("CARGO_PKG_VERSION");
        let mut words =
            checksum(&(recipe.provider.as_str(), settings, &spec.build_args, &spec.start_args, version));
        if !spec.post_create_commands.is_empty() {
            // What they come to may depend on the variables.
            let variables: Vec<_> =
                variables.iter().map(|pair| (pair.name().as_str(), pair.value())).collect();
            words = checksum(&(words, &spec.post_create_commands, variables));
        }
        let named = recipe.prefix.as_ref().map(|_| pool.name.chars().take(SUBJECT_CHARS).collect());
        Self { pool: named, repository: checksum(&repository) as u32, words }
    }

    /// The copy of a host that begins as `origin`: `warm-SUBJECT-REPOSITORY-KEY`. Without a pool's name the subject says
    /// what was asked, so that copies for other requests stay beside it.
    pub(super) fn warm(&self, origin: &str) -> Warm {
        let key = checksum(&(self.words, origin));
        let subject = self.pool.clone().unwrap_or_else(|| format!("{:08x}", key as u32));
        Warm { name: format!("{PREFIX}{subject}-{:08x}-{key:016x}", self.repository) }
    }

    /// Keeps others from provisioning the same.
    pub(super) fn lock(&self, world: &World) -> Result<HostLock, PoolError> {
        let folder = world.client.layout().pools();
        let name = format!("{PREFIX}{:016x}-{:08x}.lock", self.words, self.repository);
        let failed = |source| PoolError::Ledger { pool: self.pool.clone().unwrap_or_default(), source };
        world.client.files().make_folder(&folder).map_err(failed)?;
        Ok(world.client.lock(&folder.join(&name), LockWait::For(LOCK_WAIT))?)
    }
}

impl Warm {
    /// What it is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The newest copy of that name.
    pub(super) fn find(&self, copies: &dyn Snapshots) -> Result<Option<SnapshotId>, ProviderError> {
        Ok(copies.list()?.into_iter().find(|copy| copy.name == self.name).map(|copy| copy.id))
    }
}

fn checksum(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Removes the copies that a new one takes the place of. Those that hosts still stand on are left for `gc`.
pub(super) fn retire(world: &World, copies: &dyn Snapshots, newest: &str) {
    let Ok(all) = copies.list() else { return };
    let names: Vec<&str> = all.iter().map(|copy| copy.name.as_str()).collect();
    for copy in &all {
        if copy.name != newest && is_superseded(&copy.name, &names) && copies.destroy(&copy.id).is_err() {
            world.reporter.progress(&format!("{} is still in use", copy.name));
        }
    }
}

/// Whether a snapshot is a warm copy.
pub(crate) fn is_warm(snapshot: &Snapshot) -> bool {
    parts(&snapshot.name).is_some()
}

/// Whether another copy was made for the same pool and repository since. `names` has the newest first.
pub(crate) fn is_superseded(name: &str, names: &[&str]) -> bool {
    let Some((subject, _)) = parts(name) else { return false };
    let first = names.iter().find(|other| parts(other).is_some_and(|(it, _)| it == subject));
    first.is_some_and(|first| *first != name)
}

/// What it is a copy for, and what it was made from.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (subject, key) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    let is_key = key.len() == 16 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_key.then_some((subject, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_made_later_for_the_same_pool_and_repository_takes_the_place_of_another() {
        let (old, new) = ("warm-lab-00000001-0123456789abcdef", "warm-lab-00000001-fedcba9876543210");
        let elsewhere = "warm-lab-00000002-0123456789abcdef";
        let names = ["mine", new, elsewhere, old];
        assert!(is_superseded(old, &names));
        for name in [new, elsewhere, "mine", "warm-up"] {
            assert!(!is_superseded(name, &names), "{name}");
        }
    }
}
