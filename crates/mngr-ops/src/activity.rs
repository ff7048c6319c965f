//! What a host that mngr made knows of its own limits: when it stops by itself. The host's own script reads it; nothing
//! here watches anything.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mngr_config::{DurationSetting, ProviderSettings};
use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::lock::LockError;
use mngr_model::activity::{ActivityConfig, ActivitySource, DEFAULT_IDLE_TIMEOUT, IdleMode, whole_seconds};
use mngr_model::host::HostRecord;
use mngr_model::words::UnknownWord;
use serde_json::Map;

use crate::host_lock;
use crate::world::World;

/// A watcher that has not looked for so much longer than it should does not look any more. A host may be busy.
const LATE: SignedDuration = SignedDuration::from_secs(120);

/// The limits of a host could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum ActivityError {
    /// Nobody could start it again.
    #[error(
        "host `{host}` was not made by mngr, which could not start it again: it is never stopped for want of use"
    )]
    NotOurs {
        /// Its address.
        host: String,
    },
    /// A setting of its provider cannot be used.
    #[error("the setting `providers.{provider}.{key}` cannot be used: {problem}")]
    Setting {
        /// The provider.
        provider: String,
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Its record could not be read or written.
    #[error("the limits of the host cannot be written")]
    Files(#[from] FilesError),
    /// Its record is not one.
    #[error("the record of the host is damaged")]
    Damaged(#[from] serde_json::Error),
    /// Another command holds the host.
    #[error("the limits of the host cannot be changed now")]
    Lock(#[from] LockError),
}

/// What is asked of the limits of a host; what is not named stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ActivityChanges {
    /// How long nothing may happen.
    pub idle_timeout: Option<Duration>,
    /// What counts, all of it.
    pub sources: Option<BTreeSet<ActivitySource>>,
    /// What counts in addition.
    pub add: BTreeSet<ActivitySource>,
    /// What does not count any more.
    pub remove: BTreeSet<ActivitySource>,
    /// How long it may run at all.
    pub max_host_age: Option<Duration>,
}

impl ActivityChanges {
    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The limits after the change.
    pub fn apply(&self, config: &ActivityConfig) -> ActivityConfig {
        let mut sources = self.sources.clone().unwrap_or_else(|| config.sources.clone());
        sources.extend(&self.add);
        sources.retain(|source| !self.remove.contains(source));
        ActivityConfig {
            idle_timeout: self.idle_timeout.map_or(config.idle_timeout, whole_seconds),
            sources,
            max_host_age: self.max_host_age.map(whole_seconds).or(config.max_host_age),
        }
    }
}

/// Writes the record of a host that was made just now: the provider's defaults, changed as asked.
pub(crate) fn begin(world: &World, host: &dyn Host, changes: &ActivityChanges) -> Result<(), ActivityError> {
    let info = host.info();
    let settings = world.settings.providers.get(info.provider.as_ref());
    let (config, period) = defaults(info.provider.as_ref(), settings)?;
    let now = world.clock.now();
    let record = HostRecord {
        host_id: info.id.clone(),
        host_name: info.name.clone(),
        created_at: now,
        updated_at: now,
        activity: changes.apply(&config),
        activity_check_seconds: period,
        tmux_session_prefix: Some(world.settings.prefix.as_str().to_owned()),
        other: Map::new(),
    };
    write(host, &record)
}

/// Makes the limits of the host that this one is a copy of its own.
pub(crate) fn take_over(world: &World, host: &dyn Host) -> Result<(), ActivityError> {
    match read(host) {
        Ok(Some(mut record)) => {
            record.host_id = host.info().id.clone();
            record.host_name = host.info().name.clone();
            record.updated_at = world.clock.now();
            write(host, &record)
        }
        // What the copy holds was written by whoever was on that host.
        Ok(None) | Err(ActivityError::Damaged(_)) => begin(world, host, &ActivityChanges::default()),
        Err(error) => Err(error),
    }
}

/// Changes the limits of a host and returns what they are then.
pub(crate) fn change(
    world: &World,
    host: &dyn Host,
    changes: &ActivityChanges,
) -> Result<ActivityConfig, ActivityError> {
    if world.maker_of(host).is_none() {
        return Err(ActivityError::NotOurs { host: host.info().address() });
    }
    let _lock = host_lock::take_telling(world, host)?;
    let Some(mut record) = read(host)? else {
        begin(world, host, changes)?;
        return Ok(read(host)?.map_or_else(ActivityConfig::never, |record| record.activity));
    };
    record.activity = changes.apply(&record.activity);
    record.updated_at = world.clock.now();
    write(host, &record)?;
    Ok(record.activity)
}

/// What is known of the script that stops a host at its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watcher {
    /// The host has no limits.
    NotNeeded,
    /// It looked a moment ago, or the host has only just booted.
    AtWork,
    /// It has not looked for so long, or never did.
    Silent {
        /// How long.
        since: Option<SignedDuration>,
    },
}

/// Whether the watcher of a host does its work. `now` is by the clock of the host. Two round trips.
pub(crate) fn watcher(host: &dyn Host, now: Timestamp) -> Result<Watcher, ActivityError> {
    let layout = host.layout();
    // The limits of another host are those of the one that this is a copy of.
    let Some(record) = read(host)?.filter(|record| record.host_id == host.info().id) else {
        return Ok(Watcher::NotNeeded);
    };
    if record.activity.sources.is_empty() && record.activity.max_host_age.is_none() {
        return Ok(Watcher::NotNeeded);
    }
    let seen = host.files().stat_all(&[layout.activity_look(), layout.activity_boot()])?;
    let mut ages = seen.into_iter().map(|stat| Some(now.duration_since(stat?.modified?)));
    let (looked, booted) = (ages.next().flatten(), ages.next().flatten());
    let period = i64::try_from(record.activity_check_seconds.unwrap_or_default()).unwrap_or(i64::MAX);
    let allowed = SignedDuration::from_secs(period.saturating_mul(4).saturating_add(LATE.as_secs()));
    let is_recent = |age: Option<SignedDuration>| age.is_some_and(|age| age <= allowed);
    Ok(if is_recent(looked) || is_recent(booted) {
        Watcher::AtWork
    } else {
        Watcher::Silent { since: looked }
    })
}

fn read(host: &dyn Host) -> Result<Option<HostRecord>, ActivityError> {
    let bytes = host.files().read_if_there(&host.layout().host_data())?;
    Ok(bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose()?)
}

fn write(host: &dyn Host, record: &HostRecord) -> Result<(), ActivityError> {
    let text = record.to_text()?;
    let path = host.layout().host_data();
    Ok(host.files().write(&path, text.as_bytes(), Access::Shared, Durability::Synced)?)
}

/// What the settings of a provider say of its hosts, and how many seconds lie between two looks.
fn defaults(
    provider: &str,
    settings: Option<&ProviderSettings>,
) -> Result<(ActivityConfig, Option<u64>), ActivityError> {
    let value = |key: &str| settings.and_then(|settings| settings.extra.get(key));
    let bad = |key: &'static str, problem: String| ActivityError::Setting {
        provider: provider.to_owned(),
        key,
        problem,
    };
    let duration = |key: &'static str| -> Result<Option<Duration>, ActivityError> {
        let read = |value: &toml::Value| value.clone().try_into::<DurationSetting>();
        let read = value(key).map(read).transpose();
        Ok(read
            .map_err(|error| bad(key, error.message().to_owned()))?
            .map(|setting| whole_seconds(setting.get())))
    };
    let mode = match value(MODE).and_then(toml::Value::as_str) {
        Some(word) => word.parse::<IdleMode>().map_err(|error| bad(MODE, error.to_string()))?,
        None => IdleMode::Io,
    };
    let named =
        value(SOURCES).map(sources_in).transpose().map_err(|error| bad(SOURCES, error.to_string()))?;
    let config = ActivityConfig {
        idle_timeout: duration("default_idle_timeout")?.unwrap_or(DEFAULT_IDLE_TIMEOUT),
        sources: named.or_else(|| mode.sources()).unwrap_or_default(),
        max_host_age: duration("default_max_host_age")?,
    };
    let period = duration("activity_check_seconds")?.map(|period| period.as_secs().max(1));
    Ok((config, period))
}

const MODE: &str = "default_idle_mode";
const SOURCES: &str = "default_activity_sources";

/// A list of words, or one text with commas.
fn sources_in(value: &toml::Value) -> Result<BTreeSet<ActivitySource>, UnknownWord> {
    match value {
        toml::Value::Array(words) => {
            words.iter().map(|word| word.as_str().unwrap_or_default().parse()).collect()
        }
        other => parse_sources(other.as_str().unwrap_or_default()),
    }
}

/// Reads `a,b`.
///
/// # Errors
/// For a word that is no source.
pub fn parse_sources(text: &str) -> Result<BTreeSet<ActivitySource>, UnknownWord> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> ProviderSettings {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_is_not_named_stays_and_removing_comes_after_adding() {
        let before = ActivityConfig {
            idle_timeout: Duration::from_secs(60),
            sources: IdleMode::Start.sources().unwrap(),
            max_host_age: Some(Duration::from_secs(9)),
        };
        assert_eq!(ActivityChanges::default().apply(&before), before);
        let changes = ActivityChanges {
            add: parse_sources("ssh, create").unwrap(),
            remove: parse_sources("boot,create").unwrap(),
            idle_timeout: Some(Duration::from_millis(1)),
            ..ActivityChanges::default()
        };
        let after = changes.apply(&before);
        assert_eq!(after.sources, parse_sources("start,ssh").unwrap());
        assert_eq!((after.idle_timeout, after.max_host_age), (Duration::from_secs(1), before.max_host_age));
        let all = ActivityChanges { sources: Some(BTreeSet::new()), ..ActivityChanges::default() };
        assert_eq!(all.apply(&before).mode(), IdleMode::Disabled);
    }

    #[test]
    fn a_provider_without_settings_has_hosts_that_stop_after_some_minutes_without_use() {
        let (config, period) = defaults("docker", None).unwrap();
        assert_eq!((config.idle_timeout.as_secs(), config.mode(), period), (800, IdleMode::Io, None));
    }

    #[test]
    fn the_settings_of_a_provider_are_the_limits_of_its_hosts() {
        let text = "default_idle_timeout = '5m'\ndefault_idle_mode = 'run'\nactivity_check_seconds = 1";
        let (config, period) = defaults("lab", Some(&settings(text))).unwrap();
        assert_eq!((config.idle_timeout.as_secs(), config.mode(), period), (300, IdleMode::Run, Some(1)));
        let text =
            "default_activity_sources = ['boot']\ndefault_idle_mode = 'run'\ndefault_max_host_age = 3600";
        let (config, _) = defaults("lab", Some(&settings(text))).unwrap();
        assert_eq!((config.mode(), config.max_host_age), (IdleMode::Boot, Some(Duration::from_secs(3600))));
        let error = defaults("lab", Some(&settings("default_idle_mode = 'never'"))).unwrap_err();
        assert!(
            error.to_string().starts_with(
                "the setting `providers.lab.default_idle_mode` cannot be used: `never` is not one of"
            ),
            "{error}"
        );
    }
}
