//! What a pool is: where its hosts come from, how many agents each may have, when it gets one more.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use mngr_config::PoolSettings;
use mngr_host::provider::{Provider, SnapshotId};
use mngr_model::address::HostAddress;
use mngr_model::{HostPath, ProviderName};

use super::choice::{Growth, Rules};
use super::error::PoolError;
use crate::create::HostSpec;
use crate::world::World;

/// A host that belongs to a pool is labelled with it.
pub(super) const POOL_TAG: &str = "mngr.pool";

/// A pool.
#[derive(Debug, Clone)]
pub struct Pool {
    /// As people call it. Its bookings are kept under this name.
    pub(super) name: String,
    pub(super) supply: Supply,
    pub(super) rules: Rules,
}

/// Where hosts come from.
#[derive(Debug, Clone)]
pub(super) enum Supply {
    /// They are there.
    Named(Vec<HostAddress>),
    /// They are all those of a provider.
    AllOf(ProviderName),
    /// They are made.
    Made(Box<Recipe>),
}

/// How hosts are made.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    /// By whom.
    pub(super) provider: ProviderName,
    /// From what.
    pub(super) spec: HostSpec,
    /// What their names begin with; they are made up otherwise.
    pub(super) prefix: Option<String>,
    /// The value of their label.
    pub(super) mark: String,
}

impl Pool {
    /// The pool of that name: one of the settings, or the hosts of a provider that has some and makes none.
    ///
    /// # Errors
    /// When there is none, or its settings make no sense.
    pub fn named(world: &World, name: &str) -> Result<Self, PoolError> {
        if let Some(settings) = world.settings.pools.get(name) {
            return Self::of_settings(world, name, settings);
        }
        match provider_of(world, name) {
            Some(provider) if provider.maker().is_none() => {
                let supply = Supply::AllOf(provider.name().clone());
                let rules = Rules { per_host: None, growth: Growth::Never };
                Ok(Self { name: name.to_owned(), supply, rules })
            }
            _ => Err(PoolError::Unknown { pool: name.to_owned() }),
        }
    }

    /// The hosts that `--agents-per-host` makes: those of one provider that were asked for in the same words.
    pub fn shared(provider: &ProviderName, spec: &HostSpec, per_host: usize) -> Self {
        let mut hasher = DefaultHasher::new();
        let HostSpec { snapshot, build_args, start_args, cpus, memory, tags, .. } = spec;
        let HostSpec { env_files, env, post_create_commands, activity, .. } = spec;
        snapshot.as_ref().map(SnapshotId::as_str).hash(&mut hasher);
        (build_args, start_args, cpus, memory, tags, per_host).hash(&mut hasher);
        let variables: Vec<_> = env.iter().map(|pair| (pair.name().as_str(), pair.value())).collect();
        let files: Vec<_> = env_files.iter().map(HostPath::as_str).collect();
        (post_create_commands, variables, files, activity).hash(&mut hasher);
        let mark = format!("{provider}-{:016x}", hasher.finish());
        let recipe =
            Recipe { provider: provider.clone(), spec: spec.clone(), prefix: None, mark: mark.clone() };
        let rules = Rules { per_host: Some(per_host), growth: Growth::WhenFull };
        Self { name: mark, supply: Supply::Made(Box::new(recipe)), rules }
    }

    /// What the name of a place means: a pool, or a provider whose hosts are made as `spec` says.
    ///
    /// # Errors
    /// When there is neither.
    pub fn at(world: &World, name: &str, spec: &HostSpec, per_host: usize) -> Result<Self, PoolError> {
        match Self::named(world, name) {
            Err(PoolError::Unknown { pool }) => match provider_of(world, name) {
                Some(provider) => Ok(Self::shared(provider.name(), spec, per_host)),
                None => Err(PoolError::Unknown { pool }),
            },
            other => other,
        }
    }

    fn of_settings(world: &World, name: &str, settings: &PoolSettings) -> Result<Self, PoolError> {
        let wrong = |problem| PoolError::Settings { pool: name.to_owned(), problem };
        let per_host = settings.agents_per_host.map(|limit| limit as usize);
        if per_host == Some(0) || settings.size == Some(0) {
            return Err(wrong("`size` and `agents_per_host` are at least 1"));
        }
        let (supply, growth) = match (&settings.provider, settings.hosts.is_empty()) {
            (Some(_), false) => return Err(wrong("it has either `hosts` or a `provider` that makes them")),
            (None, true) => return Err(wrong("it has neither `hosts` nor a `provider` that makes them")),
            (None, false) => {
                let parse = |host: &String| host.parse();
                let hosts: Result<Vec<HostAddress>, _> = settings.hosts.iter().map(parse).collect();
                let hosts = hosts.map_err(|source| PoolError::Address { pool: name.to_owned(), source })?;
                (Supply::Named(hosts), Growth::Never)
            }
            (Some(provider), true) => {
                let growth = match (settings.size, per_host) {
                    (Some(size), _) => Growth::Evenly { size: size as usize },
                    (None, Some(_)) => Growth::WhenFull,
                    (None, None) => return Err(wrong("it has neither a `size` nor `agents_per_host`")),
                };
                (Supply::Made(Box::new(Recipe::of_settings(world, name, provider, settings)?)), growth)
            }
        };
        Ok(Self { name: name.to_owned(), supply, rules: Rules { per_host, growth } })
    }

    /// The providers its hosts can be of; nothing where any can have them.
    pub fn providers(&self) -> Vec<ProviderName> {
        match &self.supply {
            Supply::AllOf(provider) => vec![provider.clone()],
            Supply::Made(recipe) => vec![recipe.provider.clone()],
            Supply::Named(hosts) => {
                let named: Option<Vec<_>> = hosts.iter().map(|host| host.provider.clone()).collect();
                named.unwrap_or_default()
            }
        }
    }

    /// How many agents it can have at work, where that is limited.
    pub fn capacity(&self) -> Option<usize> {
        let hosts = match (&self.supply, self.rules.growth) {
            (Supply::Named(hosts), _) => hosts.len(),
            (Supply::Made(_), Growth::Evenly { size }) => size,
            _ => return None,
        };
        Some(hosts * self.rules.per_host?)
    }

    /// Whether its hosts are made when they are needed.
    pub fn makes_hosts(&self) -> bool {
        matches!(self.supply, Supply::Made(_))
    }
}

impl Recipe {
    fn of_settings(
        world: &World,
        pool: &str,
        provider: &str,
        settings: &PoolSettings,
    ) -> Result<Self, PoolError> {
        let problem = match provider_of(world, provider) {
            Some(found) if found.maker().is_some() => {
                let spec = HostSpec {
                    snapshot: settings.snapshot.clone().map(SnapshotId::new),
                    build_args: settings.build_args.clone(),
                    start_args: settings.start_args.clone(),
                    cpus: settings.cpu.clone(),
                    memory: settings.memory.clone(),
                    ..HostSpec::default()
                };
                let (prefix, mark) = (Some(pool.to_owned()), pool.to_owned());
                return Ok(Self { provider: found.name().clone(), spec, prefix, mark });
            }
            Some(_) => "cannot make hosts",
            None => "is not configured",
        };
        Err(PoolError::Provider { pool: pool.to_owned(), provider: provider.to_owned(), problem })
    }
}

/// The provider of that name.
pub(super) fn provider_of<'w>(world: &'w World, name: &str) -> Option<&'w dyn Provider> {
    world.providers.iter().map(|provider| &**provider).find(|provider| provider.name().as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestWorld;

    fn said(settings: PoolSettings) -> Result<Pool, String> {
        let mut test = TestWorld::new();
        test.world.settings.pools.insert("p".to_owned(), settings);
        Pool::named(&test.world, "p").map_err(|error| error.to_string())
    }

    #[test]
    fn a_pool_has_hosts_or_a_provider_that_makes_them() {
        let hosts = vec!["a".to_owned(), "b.lab".to_owned()];
        let named =
            PoolSettings { hosts: hosts.clone(), agents_per_host: Some(3), ..PoolSettings::default() };
        assert_eq!(said(named).unwrap().capacity(), Some(6));
        let provider = Some("local".to_owned());
        for (settings, problem) in [
            (PoolSettings::default(), "neither `hosts`"),
            (PoolSettings { hosts, provider: provider.clone(), ..PoolSettings::default() }, "either `hosts`"),
            (PoolSettings { hosts: vec!["a.b.c".to_owned()], ..PoolSettings::default() }, "cannot be"),
            (
                PoolSettings { provider: provider.clone(), size: Some(0), ..PoolSettings::default() },
                "at least 1",
            ),
            (PoolSettings { provider: provider.clone(), ..PoolSettings::default() }, "neither a `size`"),
            (PoolSettings { provider, size: Some(2), ..PoolSettings::default() }, "cannot make hosts"),
        ] {
            let error = said(settings).unwrap_err();
            assert!(error.contains(problem), "{problem:?} in {error:?}");
        }
    }

    #[test]
    fn hosts_are_shared_by_those_who_asked_in_the_same_words() {
        let provider: ProviderName = "docker".parse().unwrap();
        let of = |image: &str, per_host| {
            let spec = HostSpec { build_args: vec![format!("image={image}")], ..HostSpec::default() };
            Pool::shared(&provider, &spec, per_host).name
        };
        assert_eq!(of("a", 2), of("a", 2));
        assert!(of("a", 2) != of("b", 2) && of("a", 2) != of("a", 3));
    }
}
