//! From settings to providers and hosts: the only file that knows which backends exist.

use std::sync::Arc;

use mngr_config::{LOCAL_BACKEND, Settings};
use mngr_host::clock::SystemClock;
use mngr_host::local::{LocalHost, LocalProvider};
use mngr_host::provider::{HostEntry, Provider, ProviderError};
use mngr_model::{HostPath, ProviderName};
use mngr_ops::world::World;

use crate::ctx::Surroundings;
use crate::error::{CliError, ErrorKind};
use crate::ui::Console;
use crate::ui::progress::ConsoleReporter;

mod docker;
mod ssh;

use docker::DOCKER_BACKEND;
use ssh::SSH_BACKEND;

/// Backends that settings written for other versions name. They are not there yet.
const PLANNED_BACKENDS: &[&str] =
    &["aws", "azure", "gcp", "imbue_cloud", "kubernetes", "lima", "modal", "ovh", "slurm", "vultr"];

/// How much a name must be like that of a provider to be taken for it.
const ALIKE: f64 = 0.85;

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackendError {
    /// No version has it.
    #[error("Unknown provider backend: `{backend}`")]
    Unknown {
        /// As it was given.
        backend: String,
    },
    /// A later version will have it.
    #[error(
        "provider backend `{backend}` is not there yet: this version runs agents on this machine, on ssh hosts and in Docker containers"
    )]
    Planned {
        /// As it was given.
        backend: String,
    },
    /// This machine is one host, so it has one provider.
    #[error("provider `{name}` cannot use backend `local`: this machine is the provider `local`")]
    SecondLocal {
        /// The section's name.
        name: String,
    },
    /// What a section says of its hosts cannot be used.
    #[error("the hosts of provider `{name}` cannot be used: {problem}")]
    Hosts {
        /// The section's name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The section's name is no name.
    #[error("`{name}` cannot be the name of a provider")]
    Name {
        /// The section's name.
        name: String,
        /// Why.
        #[source]
        source: mngr_model::name::NameError,
    },
}

impl From<BackendError> for CliError {
    fn from(error: BackendError) -> Self {
        Self::new(ErrorKind::Failed, error)
    }
}

/// A provider that is configured and cannot be asked: what it holds is unknown, not absent.
struct Absent {
    name: ProviderName,
    backend: String,
}

impl Provider for Absent {
    fn name(&self) -> &ProviderName {
        &self.name
    }

    fn hosts(&self) -> Result<Vec<Arc<dyn HostEntry>>, ProviderError> {
        let source = Box::new(BackendError::Planned { backend: self.backend.clone() });
        Err(ProviderError { provider: self.name.clone(), source })
    }
}

/// The host dir of this machine.
pub(crate) fn host_dir(settings: &Settings, surroundings: &Surroundings) -> HostPath {
    let local = settings.providers.get(LOCAL_BACKEND);
    let host_dir = local.and_then(|local| local.host_dir.as_deref()).unwrap_or(&settings.default_host_dir);
    surroundings.path(host_dir)
}

/// Builds what the verbs act on.
pub(crate) fn world(
    settings: Settings,
    surroundings: &Surroundings,
    console: &Console,
) -> Result<World, CliError> {
    let root_name = surroundings.root_name().to_owned();
    let client = Arc::new(LocalHost::open(host_dir(&settings, surroundings))?);
    Ok(World {
        providers: providers(&settings, &client, surroundings)?,
        client,
        clock: Box::new(SystemClock),
        reporter: Box::new(ConsoleReporter::new(console.clone())),
        default_host_dir: surroundings.path(&format!("~/.{root_name}")),
        root_name,
        binary: surroundings.binary.clone(),
        cwd: surroundings.cwd.clone(),
        home: surroundings.home(),
        vars: surroundings.vars().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        refused: Vec::new(),
        settings,
    })
}

fn providers(
    settings: &Settings,
    client: &Arc<LocalHost>,
    surroundings: &Surroundings,
) -> Result<Vec<Box<dyn Provider>>, CliError> {
    let is_on = |backend: &str| {
        let is_listed = settings.enabled_backends.iter().any(|on| on == backend);
        (settings.enabled_backends.is_empty() || is_listed) && settings.is_plugin_on(backend)
    };
    let mut providers: Vec<Box<dyn Provider>> = Vec::new();
    if is_on(LOCAL_BACKEND) && settings.providers.get(LOCAL_BACKEND).is_none_or(|local| local.is_enabled()) {
        providers.push(Box::new(LocalProvider::new(client.clone())));
    }
    for (name, provider) in &settings.providers {
        let backend = provider.backend(name);
        if name == LOCAL_BACKEND || !provider.is_enabled() || !is_on(backend) {
            continue;
        }
        if backend == LOCAL_BACKEND {
            return Err(BackendError::SecondLocal { name: name.clone() }.into());
        }
        let parsed = name.parse().map_err(|source| BackendError::Name { name: name.clone(), source })?;
        if backend == SSH_BACKEND {
            providers.push(Box::new(ssh::provider(parsed, provider, client.as_ref(), surroundings)?));
            continue;
        }
        if backend == DOCKER_BACKEND {
            let presence = mngr_docker::Presence::Configured;
            let prefix = settings.prefix.as_str();
            providers.push(Box::new(docker::provider(
                parsed,
                provider,
                presence,
                prefix,
                client,
                surroundings,
            )?));
            continue;
        }
        check_backend(backend)?;
        providers.push(Box::new(Absent { name: parsed, backend: backend.to_owned() }));
    }
    if is_on(SSH_BACKEND) && !settings.providers.contains_key(SSH_BACKEND) {
        providers.push(Box::new(ssh::of_the_users_config(client.as_ref(), surroundings)?));
    }
    if is_on(DOCKER_BACKEND) && !settings.providers.contains_key(DOCKER_BACKEND) {
        providers.push(Box::new(docker::of_the_user(settings.prefix.as_str(), client, surroundings)?));
    }
    Ok(providers)
}

/// The backends that are built in, each with what it is.
pub(crate) const BACKENDS: [(&str, &str); 3] = [
    (LOCAL_BACKEND, "agents on this machine"),
    (SSH_BACKEND, "agents on other machines, over ssh"),
    (DOCKER_BACKEND, "agents in containers of a Docker engine"),
];

/// Refuses a backend that no version has. A planned one passes.
fn check_backend(backend: &str) -> Result<(), BackendError> {
    if PLANNED_BACKENDS.contains(&backend) {
        return Ok(());
    }
    Err(BackendError::Unknown { backend: backend.to_owned() })
}

/// Whether there is a provider of that name, configured or always there, and it is not switched off.
pub(crate) fn is_provider(settings: &Settings, name: &str) -> bool {
    let section = settings.providers.get(name);
    let backend = section.map_or(name, |section| section.backend(name));
    let is_there = section.is_some() || [SSH_BACKEND, DOCKER_BACKEND].contains(&name);
    is_there && settings.is_plugin_on(backend)
}

/// The names of all providers, configured or always there.
pub(crate) fn provider_names(settings: &Settings) -> Vec<String> {
    let always = [LOCAL_BACKEND, SSH_BACKEND, DOCKER_BACKEND].map(str::to_owned);
    let configured = settings.providers.keys().filter(|name| !always.contains(name)).cloned();
    always.iter().cloned().chain(configured).collect()
}

/// Why a provider that a user named on the command line is not among the configured ones.
pub(crate) fn no_such_provider(settings: &Settings, name: &str) -> CliError {
    let backend = name.to_owned();
    if PLANNED_BACKENDS.contains(&name) {
        return BackendError::Planned { backend }.into();
    }
    let failure = CliError::from(BackendError::Unknown { backend });
    if !settings.is_plugin_on(name) {
        return failure.hinted(format!("it is disabled; `mngr plugin enable {name}` enables it"));
    }
    let likeness = |known: &str| strsim::jaro_winkler(known, name);
    let names = provider_names(settings);
    let near = names.iter().filter(|known| likeness(known) > ALIKE);
    let near = near.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let failure = near.into_iter().fold(failure, |it, near| it.hinted(format!("did you mean `{near}`?")));
    failure.hinted("`mngr config get providers` shows the configured ones")
}
