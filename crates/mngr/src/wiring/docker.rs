//! From settings to providers of containers.

use std::sync::Arc;
use std::time::Duration;

use mngr_config::ProviderSettings;
use mngr_docker::{DockerProvider, DockerSettings, Endpoint, Presence};
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_model::{HostPath, ProviderName};
use mngr_ops::known;

use super::BackendError;
use crate::ctx::Surroundings;

/// The backend of containers, and the provider of those in the user's own engine.
pub(super) const DOCKER_BACKEND: &str = "docker";

/// The variable that names the engine for every Docker program.
const DOCKER_HOST: &str = "DOCKER_HOST";
/// The variable that asks every Docker program for TLS.
const DOCKER_TLS_VERIFY: &str = "DOCKER_TLS_VERIFY";

/// The provider of a section with the backend `docker`.
pub(super) fn provider(
    name: ProviderName,
    section: &ProviderSettings,
    presence: Presence,
    prefix: &str,
    client: &Arc<LocalHost>,
    surroundings: &Surroundings,
) -> Result<DockerProvider, BackendError> {
    let bad = |problem: String| BackendError::Hosts { name: name.to_string(), problem };
    let text = |key: &str| section.extra.get(key).and_then(toml::Value::as_str);
    if let Some(builder) = text("builder").filter(|builder| *builder != "docker") {
        return Err(bad(format!("images are built by `docker`, not by `{builder}`")));
    }
    let mut settings = DockerSettings::new(&surroundings.binary, client.layout().connections());
    if let Some(host) = text("host").or_else(|| surroundings.var(DOCKER_HOST).filter(|host| !host.is_empty()))
    {
        settings.endpoint = host.parse().map_err(|error| bad(format!("{error}")))?;
    }
    if matches!(settings.endpoint, Endpoint::Tcp { .. }) && surroundings.is_set(DOCKER_TLS_VERIFY) {
        return Err(bad("an engine with TLS cannot be reached; `ssh://HOST` is as safe".to_owned()));
    }
    if let Some(dir) = &section.host_dir {
        if !dir.starts_with('/') {
            return Err(bad(format!("the host dir `{dir}` of a container must begin with `/`")));
        }
        settings.host_dir = HostPath::new(dir);
    }
    settings.default_image = text("default_image").map(str::to_owned);
    settings.default_start_args.extend(text("docker_runtime").map(|runtime| format!("--runtime={runtime}")));
    let args = section.extra.get("default_start_args").and_then(toml::Value::as_array);
    settings
        .default_start_args
        .extend(args.into_iter().flatten().filter_map(|arg| arg.as_str().map(str::to_owned)));
    let limit = section.extra.get("build_timeout_seconds");
    let limit =
        limit.and_then(|limit| limit.as_float().or_else(|| limit.as_integer().map(|limit| limit as f64)));
    if let Some(limit) = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        settings.build_limit = limit;
    }
    let patience = section.host_discovery_timeout_seconds;
    if let Some(patience) = patience.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        settings.patience = patience;
    }
    prefix.clone_into(&mut settings.prefix);
    settings.presence = presence;
    Ok(DockerProvider::new(name, settings, client.clone()))
}

/// The provider of the engine that the user's other programs use. Where there is none, it has no hosts; but one that had
/// agents was there, and does not answer.
pub(super) fn of_the_user(
    prefix: &str,
    client: &Arc<LocalHost>,
    surroundings: &Surroundings,
) -> Result<DockerProvider, BackendError> {
    let name = DOCKER_BACKEND.parse();
    let name = name.map_err(|source| BackendError::Name { name: DOCKER_BACKEND.to_owned(), source })?;
    let was_there = known::has_agents(client.files(), &client.layout(), DOCKER_BACKEND);
    let presence = if was_there { Presence::Configured } else { Presence::Assumed };
    provider(name, &ProviderSettings::default(), presence, prefix, client, surroundings)
}
