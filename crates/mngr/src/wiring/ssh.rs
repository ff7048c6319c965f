//! From settings to providers of ssh hosts.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_config::{ProviderSettings, SshHostSettings};
use mngr_host::files::Files as _;
use mngr_host::host::Host;
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_host::remote::{SshConfigNames, SshHosts, SshProvider, SshTarget};
use mngr_model::{HostName, ProviderName};

use super::BackendError;
use crate::ctx::Surroundings;

/// The backend of machines that are reached by ssh, and the provider of those that only the user's ssh config names.
pub(super) const SSH_BACKEND: &str = "ssh";

/// How long one host may take to answer a listing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The provider of a section with the backend `ssh`.
pub(super) fn provider(
    name: ProviderName,
    settings: &ProviderSettings,
    client: &LocalHost,
    surroundings: &Surroundings,
) -> Result<SshProvider, BackendError> {
    let bad = |problem: String| BackendError::Hosts { name: name.to_string(), problem };
    let text = |key: &str| settings.extra.get(key).and_then(toml::Value::as_str);
    let mut hosts = match settings.extra.get("hosts") {
        Some(hosts) => parse(hosts.clone()).map_err(bad)?,
        None => BTreeMap::new(),
    };
    if let Some(file) = text("dynamic_hosts_file") {
        hosts.extend(dynamic_hosts(file, surroundings).map_err(bad)?);
    }
    let path = |text: &str| surroundings.path(text);
    let config_file = text("config_file").map(path);
    let mut targets = Vec::new();
    for (host, settings) in hosts {
        let host: HostName = host.parse().map_err(|error| bad(format!("{error}")))?;
        let target = SshTarget {
            name: host.to_string(),
            address: settings.address.unwrap_or_else(|| host.to_string()),
            user: settings.user,
            port: settings.port,
            key_file: settings.key_file.as_deref().map(path),
            host_keys: settings.host_keys.unwrap_or_default(),
            known_hosts_file: settings.known_hosts_file.as_deref().map(path),
            config_file: config_file.clone(),
            options: settings.options.unwrap_or_default(),
        };
        targets.push((host, target));
    }
    let names = if name.as_ref() == SSH_BACKEND { SshConfigNames::Known } else { SshConfigNames::Unknown };
    let seconds = settings.host_discovery_timeout_seconds;
    let patience = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let common = SshHosts {
        host_dir: settings.host_dir.clone().unwrap_or_else(|| host_dir(surroundings)),
        patience: patience.unwrap_or(PATIENCE),
        client: client.info().id.clone(),
        seen: client.layout().hosts_seen().join(name.as_ref()),
        connections: client.layout().connections(),
        config_file,
        provider: name,
    };
    Ok(SshProvider::new(common, targets, names))
}

/// The provider of hosts that no setting names.
pub(super) fn of_the_users_config(
    client: &LocalHost,
    surroundings: &Surroundings,
) -> Result<SshProvider, BackendError> {
    let name = SSH_BACKEND.parse();
    let name = name.map_err(|source| BackendError::Name { name: SSH_BACKEND.to_owned(), source })?;
    provider(name, &ProviderSettings::default(), client, surroundings)
}

/// Below the home of the user there.
fn host_dir(surroundings: &Surroundings) -> String {
    format!("~/.{}", surroundings.root_name())
}

/// Further hosts, from a file that other tools append to. One that is not there yet has none.
fn dynamic_hosts(
    file: &str,
    surroundings: &Surroundings,
) -> Result<BTreeMap<String, SshHostSettings>, String> {
    let path = surroundings.path(file);
    let bytes = LocalFiles.read_if_there(&path).map_err(|error| mngr_ops::error_chain(&error))?;
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    let table: toml::Table = text.parse().map_err(|error| format!("`{path}`: {error}"))?;
    parse(toml::Value::Table(table))
}

fn parse(hosts: toml::Value) -> Result<BTreeMap<String, SshHostSettings>, String> {
    hosts.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}
