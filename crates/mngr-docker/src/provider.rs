//! The containers of one engine as a provider of hosts.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mngr_host::allowance::silence_for;
use mngr_host::frozen::FrozenFiles;
use mngr_host::host::Host;
use mngr_host::proc::Cmd;
use mngr_host::provider::{
    ColdFiles, ColdRead, HostEntry, HostError, HostMaker, HostReport, Provider, ProviderError, Snapshots,
};
use mngr_host::remote::{Install, RemoteHost, Shells, bootstrap};
use mngr_model::host::HostInfo;
use mngr_model::state::HostState;
use mngr_model::{HostId, HostName, HostPath, ProviderName};

use crate::cold;
use crate::container::{self, Container, DEFAULT_HOST_DIR};
use crate::endpoint::Endpoint;
use crate::engine::{EngineClient, EngineError};
use crate::line::DockerLine;
use crate::maker::write_own_scripts;

/// How long a host may take to answer a listing where nothing is configured.
const PATIENCE: Duration = Duration::from_secs(5);
/// A path is shorter.
const LONGEST_HOME: usize = 4096;
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
    /// How long a host may take to answer a listing.
    pub patience: Duration,
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
            patience: PATIENCE,
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
    engine: Mutex<Engine>,
    /// One set for each container for as long as we live: it knows whether the container answers.
    shells: Mutex<BTreeMap<String, Arc<Shells>>>,
}

/// The way to the engine.
#[derive(Default)]
struct Engine {
    client: Option<Arc<EngineClient>>,
    /// When it was last waited for in vain.
    given_up: Option<Instant>,
}

impl DockerProvider {
    /// A provider; `client` is the machine mngr runs on. The engine is not asked yet.
    pub fn new(name: ProviderName, settings: DockerSettings, client: Arc<dyn Host>) -> Self {
        Self(Arc::new(Inner { name, settings, client, engine: Mutex::default(), shells: Mutex::default() }))
    }

    /// The engine, connected when it is first needed.
    pub(crate) fn engine(&self) -> Result<Arc<EngineClient>, EngineError> {
        let limit = silence_for(self.0.settings.patience);
        let mut engine = self.0.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &engine.client {
            return Ok(client.clone());
        }
        engine.given_up.take_if(|since| since.elapsed() >= limit);
        if engine.given_up.is_some() {
            return Err(EngineError::Late { after: limit });
        }
        let began = Instant::now();
        let opened = EngineClient::open(&self.0.settings.endpoint, &self.0.settings.links);
        if opened.is_err() && began.elapsed() >= limit / 2 {
            engine.given_up = Some(Instant::now());
        }
        Ok(engine.client.insert(Arc::new(opened?.with_silence_limit(limit))).clone())
    }

    /// Its containers, running or not.
    pub(crate) fn containers(&self) -> Result<Vec<Container>, EngineError> {
        self.or_nothing(self.engine().and_then(|engine| container::list(&engine, &self.0.name)))
    }

    /// What an engine has; nothing where none answers and nobody said that there is one.
    pub(crate) fn or_nothing<T>(&self, found: Result<Vec<T>, EngineError>) -> Result<Vec<T>, EngineError> {
        match found {
            Err(EngineError::Unreachable { .. } | EngineError::Ssh { .. })
                if self.0.settings.presence == Presence::Assumed =>
            {
                Ok(Vec::new())
            }
            other => other,
        }
    }

    /// Whether an error says that this machine has no engine, where the settings name none either.
    pub(crate) fn has_no_engine(&self, error: &EngineError) -> bool {
        let is_missing =
            matches!(error, EngineError::Unreachable { source, .. } if source.kind() == ErrorKind::NotFound);
        is_missing && self.0.settings.presence == Presence::Assumed
    }

    pub(crate) fn provider_name(&self) -> &ProviderName {
        &self.0.name
    }

    /// What the engine calls the container of a host.
    pub(crate) fn container_name(&self, host: &HostName) -> String {
        format!("{}{host}", self.0.settings.prefix)
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

    fn shells(&self, name: &str, container: &str) -> Arc<Shells> {
        let settings = self.settings();
        let mut known = self.0.shells.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let line = DockerLine::new(name, &settings.mngr, &settings.endpoint, &settings.links, container);
            Arc::new(Shells::new(Arc::new(line)).with_silence_limit(silence_for(settings.patience)))
        };
        known.entry(container.to_owned()).or_insert_with(new).clone()
    }

    /// The host of a container. Nothing is asked where the home of its user is known, or cannot be asked for.
    pub(crate) fn remote_host(&self, info: HostInfo, container: &str, state: HostState) -> RemoteHost {
        let settings = self.settings();
        let name = info.name.as_str();
        let shells = self.shells(name, container);
        let host = |info| RemoteHost::new(info, shells.clone()).with_patience(settings.patience);
        if info.home.is_some() || state != HostState::Running {
            return host(info);
        }
        let asked = host(info.clone());
        let ask = Cmd::shell("printf %s \"$HOME\"").keep_last(LONGEST_HOME).deadline(settings.patience);
        let said = asked.exec(&ask).ok().and_then(|said| String::from_utf8(said.stdout).ok());
        match said.filter(|home| home.starts_with('/')) {
            Some(home) => host(HostInfo { home: Some(HostPath::new(home)), ..info }),
            None => asked,
        }
    }
}

/// A container calls itself by the id of the machine mngr runs on.
#[derive(Debug, thiserror::Error)]
#[error("its container has a label with the id of this machine")]
struct OurId;

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

    fn remembered(&self, name: &HostName, id: &HostId) -> Option<Arc<dyn Host>> {
        let info = HostInfo {
            id: id.clone(),
            name: name.clone(),
            provider: self.0.name.clone(),
            host_dir: self.settings().host_dir.clone(),
            home: None,
        };
        // The engine takes the name of a container for its id.
        let container = self.container_name(name);
        Some(Arc::new(self.remote_host(info, &container, HostState::Unknown)))
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

    fn host(&self, state: HostState) -> Result<RemoteHost, HostError> {
        // Its paths would be taken for ours. The labels of a container may come from its image.
        if self.container.info.id == self.provider.client().info().id {
            return Err(self.error(OurId));
        }
        Ok(self.provider.remote_host(self.container.info.clone(), &self.container.id, state))
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
        self.container.report.clone()
    }

    fn cold_files(&self) -> Option<&dyn ColdFiles> {
        Some(self)
    }

    fn open(&self) -> Result<Option<Arc<dyn Host>>, HostError> {
        Ok(Some(Arc::new(self.host(self.container.state())?)))
    }

    fn prepare(&self) -> Result<Arc<dyn Host>, HostError> {
        let was_off = self.container.state() != HostState::Running;
        if was_off {
            self.provider.start(&self.container.info.id).map_err(|error| self.error(error))?;
        }
        let host = self.host(HostState::Running)?;
        host.shells().foresee_locks();
        bootstrap(host.shells(), host.info().host_dir.as_str(), Install::Missing)
            .map_err(|error| self.error(error))?;
        if was_off {
            // An agent could have removed them, and another version of mngr may have written them.
            write_own_scripts(&host).map_err(|error| self.error(error))?;
        }
        Ok(Arc::new(host))
    }
}

impl ColdFiles for DockerEntry {
    fn read_below(&self, folder: &HostPath, name: &str) -> Result<ColdRead, HostError> {
        let engine = self.provider.engine().map_err(|error| self.error(error))?;
        cold::read_below(&engine, &self.container.id, folder, name).map_err(|error| self.error(error))
    }

    fn read_tree(&self, folder: &HostPath) -> Result<FrozenFiles, HostError> {
        let engine = self.provider.engine().map_err(|error| self.error(error))?;
        cold::read_tree(&engine, &self.container.id, folder).map_err(|error| self.error(error))
    }
}
