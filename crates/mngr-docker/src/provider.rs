//! The containers of one engine as a provider of hosts.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mngr_host::host::Host;
use mngr_host::provider::{HostEntry, HostError, HostMaker, HostReport, Provider, ProviderError, Snapshots};
use mngr_host::remote::{Install, RemoteHost, Shells, bootstrap};
use mngr_model::host::HostInfo;
use mngr_model::state::HostState;
use mngr_model::{HostId, HostName, HostPath, ProviderName};

use crate::container::{self, Container, DEFAULT_HOST_DIR};
use crate::endpoint::Endpoint;
use crate::engine::{EngineClient, EngineError};
use crate::line::DockerLine;
use crate::pipe::{Pipe, PipeError, PipeTerminal};

/// How long a build may take where nothing is configured.
const BUILD_LIMIT: Duration = Duration::from_secs(600);

/// Whether somebody said that there is an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The settings say so: one that does not answer is an error.
    Configured,
    /// Nobody said so: where none answers, there are no hosts.
    Assumed,
}

/// What a provider is configured with.
#[derive(Debug, Clone)]
pub struct DockerSettings {
    /// Where the engine listens.
    pub endpoint: Endpoint,
    /// Where hosts keep mngr's state: the place of their volume.
    pub host_dir: HostPath,
    /// The image of a host when none is given; without it mngr builds its own.
    pub default_image: Option<String>,
    /// Words for every `docker create`.
    pub default_start_args: Vec<String>,
    /// How long an image build may take.
    pub build_limit: Duration,
    /// What the names of containers begin with.
    pub prefix: String,
    /// The mngr program of this machine, which lines to containers run.
    pub mngr: String,
    /// The folder of this machine for connections over ssh.
    pub links: HostPath,
    /// Whether there must be an engine.
    pub presence: Presence,
}

impl DockerSettings {
    /// The engine of this machine, where nothing is configured.
    pub fn new(mngr: impl Into<String>, links: HostPath) -> Self {
        Self {
            endpoint: Endpoint::default(),
            host_dir: HostPath::new(DEFAULT_HOST_DIR),
            default_image: None,
            default_start_args: Vec::new(),
            build_limit: BUILD_LIMIT,
            prefix: "mngr-".to_owned(),
            mngr: mngr.into(),
            links,
            presence: Presence::Configured,
        }
    }
}

/// The provider of one engine's containers.
pub struct DockerProvider(Arc<Inner>);

struct Inner {
    name: ProviderName,
    settings: DockerSettings,
    client: Arc<dyn Host>,
    engine: Mutex<Option<Arc<EngineClient>>>,
}

/// The host of a container does not run.
#[derive(Debug, thiserror::Error)]
#[error("its container is {}", state.as_str())]
struct NotRunning {
    state: HostState,
}

impl DockerProvider {
    /// A provider; `client` is the machine mngr runs on. The engine is not asked yet.
    pub fn new(name: ProviderName, settings: DockerSettings, client: Arc<dyn Host>) -> Self {
        Self(Arc::new(Inner { name, settings, client, engine: Mutex::default() }))
    }

    /// The engine, connected when it is first needed.
    pub(crate) fn engine(&self) -> Result<Arc<EngineClient>, EngineError> {
        let mut engine = self.0.engine.lock().unwrap_or_else(PoisonError::into_inner);
        match &*engine {
            Some(engine) => Ok(engine.clone()),
            None => {
                let opened = Arc::new(EngineClient::open(&self.0.settings.endpoint, &self.0.settings.links)?);
                Ok(engine.insert(opened).clone())
            }
        }
    }

    /// Its containers, running or not.
    pub(crate) fn containers(&self) -> Result<Vec<Container>, EngineError> {
        self.if_present(self.engine().and_then(|engine| container::list(&engine, &self.0.name)))
    }

    /// What an engine answered; nothing where nobody said that there is one, and none is.
    pub(crate) fn if_present<T: Default>(&self, answer: Result<T, EngineError>) -> Result<T, EngineError> {
        match answer {
            Err(EngineError::Unreachable { .. } | EngineError::Ssh { .. })
                if self.0.settings.presence == Presence::Assumed =>
            {
                Ok(T::default())
            }
            other => other,
        }
    }

    pub(crate) fn provider_name(&self) -> &ProviderName {
        &self.0.name
    }

    pub(crate) fn settings(&self) -> &DockerSettings {
        &self.0.settings
    }

    pub(crate) fn client(&self) -> &dyn Host {
        &*self.0.client
    }

    pub(crate) fn unavailable(&self, source: impl Error + Send + Sync + 'static) -> ProviderError {
        ProviderError { provider: self.0.name.clone(), source: Box::new(source) }
    }

    /// The host of a container that runs. Nothing is asked where the home of its user is known.
    pub(crate) fn remote_host(&self, mut info: HostInfo, container: &str) -> Result<RemoteHost, PipeError> {
        let settings = self.settings();
        if info.home.is_none() {
            let ask = Pipe::start(self.engine()?, container, "printf %s \"$HOME\"", PipeTerminal::None)?;
            let mut said = Vec::new();
            ask.run(std::io::empty(), &mut said, &mut std::io::sink())?;
            let home = String::from_utf8(said).ok().filter(|home| home.starts_with('/'));
            info.home = home.map(HostPath::new);
        }
        let name = info.name.as_str();
        let line = DockerLine::new(name, &settings.mngr, &settings.endpoint, &settings.links, container);
        Ok(RemoteHost::new(info, Arc::new(Shells::new(Arc::new(line)))))
    }
}

impl Provider for DockerProvider {
    fn name(&self) -> &ProviderName {
        &self.0.name
    }

    fn hosts(&self) -> Result<Vec<Arc<dyn HostEntry>>, ProviderError> {
        let found = self.containers().map_err(|error| self.unavailable(error))?;
        let entry = |container| -> Arc<dyn HostEntry> {
            Arc::new(DockerEntry { provider: Self(self.0.clone()), container })
        };
        Ok(found.into_iter().map(entry).collect())
    }

    fn maker(&self) -> Option<&dyn HostMaker> {
        Some(self)
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        Some(self)
    }
}

/// A container as the listing showed it.
struct DockerEntry {
    provider: DockerProvider,
    container: Container,
}

impl DockerEntry {
    fn error(&self, source: impl Error + Send + Sync + 'static) -> HostError {
        HostError { host: self.container.info.name.clone(), source: Box::new(source) }
    }

    fn host(&self) -> Result<RemoteHost, HostError> {
        let host = self.provider.remote_host(self.container.info.clone(), &self.container.id);
        host.map_err(|error| self.error(error))
    }
}

impl HostEntry for DockerEntry {
    fn name(&self) -> &HostName {
        &self.container.info.name
    }

    fn provider(&self) -> &ProviderName {
        &self.container.info.provider
    }

    fn id(&self) -> Option<HostId> {
        Some(self.container.info.id.clone())
    }

    fn report(&self) -> HostReport {
        let Container { state, tags, .. } = &self.container;
        HostReport { state: *state, tags: tags.clone(), ..HostReport::default() }
    }

    fn open(&self) -> Result<Option<Arc<dyn Host>>, HostError> {
        if self.container.state != HostState::Running {
            return Err(self.error(NotRunning { state: self.container.state }));
        }
        Ok(Some(Arc::new(self.host()?)))
    }

    fn prepare(&self) -> Result<Arc<dyn Host>, HostError> {
        self.provider.start(&self.container.info.id).map_err(|error| self.error(error))?;
        let host = self.host()?;
        bootstrap(host.shells(), host.info().host_dir.as_str(), Install::Missing)
            .map_err(|error| self.error(error))?;
        Ok(Arc::new(host))
    }
}
