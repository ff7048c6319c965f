//! Making, starting, stopping and removing the containers of a provider.
//!
//! Budget: `docker create` for each new host, `docker build` for one that is built; everything else are requests.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use mngr_host::fault;
use mngr_host::files::{Access, Change, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::lock::LockError;
use mngr_host::proc::{Cmd, ExecError};
use mngr_host::provider::{
    Abandoned, AbandonedKind, HostAction, HostActionError, HostMaker, NewHost, ProviderError, StopReason,
};
use mngr_host::remote::{ACTIVITY_WATCHER, BootstrapError, Install, bootstrap};
use mngr_model::host::HostInfo;
use mngr_model::quote::sh_quote;
use mngr_model::state::HostState;
use mngr_model::{HostId, HostPath};
use serde::Deserialize;
use serde_json::json;

use crate::abandoned::{remove_copy, remove_helper};
use crate::at_work::{self, AtWork};
use crate::container::{self, Container, HOST_ID, PROVIDER};
use crate::engine::{EngineError, encoded};
use crate::keeper::{IDLE_SIGNAL, SHUTDOWN};
use crate::pipe::{Pipe, PipeError, PipeTerminal};
use crate::provider::DockerProvider;
use crate::recipe::{DEFAULT_DOCKERFILE, Recipe, RecipeError, Source, create_words};

/// How long `docker create` may take: an image may have to be fetched.
const CREATE_LIMIT: Duration = Duration::from_secs(600);
/// How long a container may take to start or stop.
pub(crate) const LIFE_LIMIT: Duration = Duration::from_secs(60);
/// How long a container gets to stop by itself.
const STOP_GRACE_SECONDS: u32 = 10;
/// How much of what `docker` said is repeated.
const DETAIL_CHARS: usize = 500;

/// A host could not be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// What was asked cannot be had.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The engine could not do it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A command in the container could not be run.
    #[error("the container cannot be set up")]
    Pipe(#[from] PipeError),
    /// A file in the container could not be written.
    #[error("the container cannot be set up")]
    Files(#[from] FilesError),
    /// The container lacks what agents need.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// The `docker` program could not be run.
    #[error("the `docker` program is needed for new hosts and cannot be run")]
    Program(#[from] ExecError),
    /// The `docker` program failed.
    #[error("`docker {verb}` failed: {detail}")]
    Docker {
        /// What it was to do.
        verb: &'static str,
        /// What it said last.
        detail: String,
    },
    /// A command in the container failed.
    #[error("the container cannot be set up: {detail}")]
    Setup {
        /// What it said.
        detail: String,
    },
    /// Others could not be told that somebody is at work.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The engine has no such host.
    #[error("there is no such container")]
    NoContainer,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Image {
    id: String,
    config: Option<ImageConfig>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ImageConfig {
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    env: Option<Vec<String>>,
}

impl ImageConfig {
    /// The user that runs things in it; empty for root.
    fn user(&self) -> &str {
        match self.user.as_deref() {
            None | Some("root" | "0") => "",
            Some(user) => user,
        }
    }

    /// The home of that user, where the image says or everybody knows.
    fn home(&self) -> Option<HostPath> {
        let set = self.env.iter().flatten().find_map(|pair| pair.strip_prefix("HOME="));
        let usual = Some("/root").filter(|_| self.user().is_empty());
        set.or(usual).filter(|home| home.starts_with('/')).map(HostPath::new)
    }
}

impl DockerProvider {
    /// The container of a host.
    pub(crate) fn container(&self, host: &HostId) -> Result<Container, MakeError> {
        self.containers()?.into_iter().find(|found| found.info.id == *host).ok_or(MakeError::NoContainer)
    }

    fn make_host(&self, new: &NewHost) -> Result<Arc<dyn Host>, MakeError> {
        let settings = self.settings();
        let recipe = Recipe::of(new, &settings.default_start_args)?;
        let work = AtWork::begin(self.client())?;
        let mut info = HostInfo {
            id: new.id.clone(),
            name: new.name.clone(),
            provider: self.provider_name().clone(),
            host_dir: settings.host_dir.clone(),
            home: None,
        };
        let image = self.image(&recipe.source, &new.id)?;
        let engine = self.engine()?;
        // One that must be fetched says only afterwards.
        info.home = self.image_config(&image).ok().and_then(|config| config.home());
        let labels = json!({ HOST_ID: new.id.as_str(), PROVIDER: self.provider_name().as_str() });
        let volume = json!({ "Name": container::volume_of(&new.id), "Labels": labels });
        engine.order_with("/volumes/create", &volume, LIFE_LIMIT)?;
        fault::point();
        let name = self.container_name(&new.name);
        let more = &settings.default_start_args;
        let words = create_words(new, &info, recipe.network, &name, &image, more, work.label());
        let id = self.docker("create", words, Vec::new(), CREATE_LIMIT)?;
        let id = id.lines().last().unwrap_or_default().trim().to_owned();
        fault::point();
        engine.order(&format!("/containers/{}/start", encoded(&id)), LIFE_LIMIT)?;
        self.own_state(&id, &image, &info)?;
        let host = self.remote_host(info, &id, HostState::Running);
        let text = format!("{}\n", new.id);
        host.files().write(&host.layout().host_id(), text.as_bytes(), Access::Shared, Durability::Synced)?;
        bootstrap(host.shells(), host.info().host_dir.as_str(), Install::Missing)?;
        write_own_scripts(&host)?;
        Ok(Arc::new(host))
    }

    fn find_image(&self, image: &str) -> Result<Image, EngineError> {
        self.engine()?.get(&format!("/images/{}/json", encoded(image)))
    }

    fn image_config(&self, image: &str) -> Result<ImageConfig, EngineError> {
        Ok(self.find_image(image)?.config.unwrap_or_default())
    }

    /// A new volume belongs to root; it is for the user that the image names.
    fn own_state(&self, container: &str, image: &str, info: &HostInfo) -> Result<(), MakeError> {
        let config = self.image_config(image)?;
        let user = config.user();
        if user.is_empty() {
            return Ok(());
        }
        let line = format!("chown -- {} {}", sh_quote(user), sh_quote(info.host_dir.as_str()));
        let pipe = Pipe::start_as(self.engine()?, container, Some("0"), &line, PipeTerminal::None)?;
        let mut said = Vec::new();
        match pipe.run(std::io::empty(), &mut std::io::sink(), &mut said)? {
            0 => Ok(()),
            _ => Err(MakeError::Setup { detail: detail_of(&String::from_utf8_lossy(&said)) }),
        }
    }

    /// The image for a source, built where it must be.
    fn image(&self, source: &Source, host: &HostId) -> Result<String, MakeError> {
        match source {
            Source::Image(name) => Ok(name.clone()),
            Source::Snapshot(id) => Ok(id.to_string()),
            Source::Build(words) => {
                let tag = container::build_tag(host);
                let words =
                    ["build", "--tag", &tag].into_iter().map(str::to_owned).chain(words.iter().cloned());
                self.docker("build", words.collect(), Vec::new(), self.settings().build_limit)?;
                Ok(tag)
            }
            Source::Default => match &self.settings().default_image {
                Some(name) => Ok(name.clone()),
                None => self.default_image(),
            },
        }
    }

    /// The image of our own recipe, built once for each engine.
    fn default_image(&self) -> Result<String, MakeError> {
        let tag = default_tag();
        match self.find_image(&tag) {
            Ok(_) => return Ok(tag),
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error.into()),
        }
        let words = ["build", "--tag", &tag, "-"].map(str::to_owned).to_vec();
        self.docker("build", words, DEFAULT_DOCKERFILE.as_bytes().to_vec(), self.settings().build_limit)?;
        Ok(tag)
    }

    fn docker(
        &self,
        verb: &'static str,
        words: Vec<String>,
        input: Vec<u8>,
        limit: Duration,
    ) -> Result<String, MakeError> {
        let host = self.engine()?.docker_host();
        let cmd = Cmd::new("docker").args(["--host", &host]).args(words).stdin(input).deadline(limit);
        let output = self.client().exec(&cmd)?;
        if output.success() {
            return Ok(output.stdout_text());
        }
        Err(MakeError::Docker { verb, detail: detail_of(&output.stderr_text()) })
    }

    fn start_host(&self, host: &HostId) -> Result<(), MakeError> {
        let found = self.container(host)?;
        at_work::forget_standing(self.client(), host);
        let verb = if found.report.is_frozen { "unpause" } else { "start" };
        if found.state() == HostState::Running {
            return Ok(());
        }
        Ok(self.engine()?.order(&format!("/containers/{}/{verb}", encoded(&found.id)), LIFE_LIMIT)?)
    }

    fn stop_host(&self, host: &HostId, reason: StopReason) -> Result<(), MakeError> {
        let found = self.container(host)?;
        let (engine, path) = (self.engine()?, format!("/containers/{}", encoded(&found.id)));
        if found.report.is_frozen {
            engine.order(&format!("{path}/unpause"), LIFE_LIMIT)?;
        } else if found.state() != HostState::Running {
            return Ok(());
        }
        match reason {
            StopReason::Asked => engine.order(&format!("{path}/stop?t={STOP_GRACE_SECONDS}"), LIFE_LIMIT)?,
            StopReason::Idle => {
                engine.order(&format!("{path}/kill?signal={IDLE_SIGNAL}"), LIFE_LIMIT)?;
                engine.order(&format!("{path}/wait?condition=not-running"), LIFE_LIMIT)?;
            }
        }
        Ok(())
    }

    /// Removes a host and all that belongs to it. Where there is no engine, and nobody said that there is one, none was made.
    fn destroy_host(&self, host: &HostId) -> Result<(), MakeError> {
        match self.destroy_in_engine(host) {
            Err(MakeError::Engine(error)) if self.has_no_engine(&error) => Ok(()),
            other => other,
        }
    }

    fn destroy_in_engine(&self, host: &HostId) -> Result<(), MakeError> {
        let engine = self.engine()?;
        match self.container(host) {
            Ok(found) => engine.delete(&format!("/containers/{}?force=1&v=1", encoded(&found.id)))?,
            Err(MakeError::NoContainer) => {}
            Err(error) => return Err(error),
        }
        at_work::forget_standing(self.client(), host);
        // A helper would hold the volume.
        self.end_copying(host)?;
        engine.delete(&format!("/volumes/{}", encoded(&container::volume_of(host))))?;
        match engine.delete(&format!("/images/{}", encoded(&container::build_tag(host)))) {
            // A snapshot stands on it.
            Err(EngineError::Refused { status: 409, .. }) => Ok(()),
            other => Ok(other?),
        }
    }
}

impl HostMaker for DockerProvider {
    fn ready(&self) -> Result<(), ProviderError> {
        self.engine().and_then(|engine| engine.ping()).map_err(|error| self.unavailable(error))
    }

    fn make(&self, new: &NewHost) -> Result<Arc<dyn Host>, HostActionError> {
        self.make_host(new).map_err(|error| {
            // What could not be made is known by its id alone: a container of the same name is somebody else's.
            let _ = self.destroy_host(&new.id);
            action_error(new.name.as_str(), HostAction::Make, error)
        })
    }

    fn origin(&self, new: &NewHost) -> Option<String> {
        let recipe = Recipe::of(new, &self.settings().default_start_args).ok()?;
        let image = match recipe.source {
            // What a build comes to depends on files.
            Source::Build(_) => return None,
            Source::Image(name) => name,
            Source::Snapshot(id) => id.to_string(),
            Source::Default => self.settings().default_image.clone().unwrap_or_else(default_tag),
        };
        // A name may mean another image tomorrow.
        let id = self.find_image(&image).map(|found| found.id).unwrap_or_default();
        Some(format!("{image} {id} {:?}", recipe.network))
    }

    fn abandoned_storage(&self) -> Result<Vec<String>, ProviderError> {
        let listed = self.engine().and_then(|engine| container::volumes(&engine, self.provider_name()));
        let volumes = self.or_nothing(listed).map_err(|error| self.unavailable(error))?;
        // Listed after the volumes: a host that is being made has its volume first.
        let containers = self.containers().map_err(|error| self.unavailable(error))?;
        let is_used = |host: &HostId| containers.iter().any(|container| container.info.id == *host);
        Ok(volumes
            .into_iter()
            .filter(|host| !is_used(host))
            .map(|host| container::volume_of(&host))
            .collect())
    }

    fn abandoned(&self) -> Result<Vec<Abandoned>, ProviderError> {
        self.or_nothing(self.find_abandoned()).map_err(|error| self.unavailable(error))
    }

    fn remove_abandoned(&self, left: &Abandoned) -> Result<(), HostActionError> {
        let removed = match left.kind {
            AbandonedKind::Host => return HostMaker::destroy(self, &left.host),
            AbandonedKind::Helper => self.engine().and_then(|engine| remove_helper(&engine, &left.id)),
            AbandonedKind::Standing => self.wake_standing(left),
            AbandonedKind::Copy => self.engine().and_then(|engine| remove_copy(&engine, &left.id)),
        };
        let action =
            if left.kind == AbandonedKind::Standing { HostAction::Start } else { HostAction::Destroy };
        removed.map_err(|error| action_error(left.host.as_str(), action, error))
    }

    fn start(&self, host: &HostId) -> Result<(), HostActionError> {
        self.start_host(host).map_err(|error| action_error(host.as_str(), HostAction::Start, error))
    }

    fn stop(&self, host: &HostId, reason: StopReason) -> Result<(), HostActionError> {
        self.stop_host(host, reason).map_err(|error| action_error(host.as_str(), HostAction::Stop, error))
    }

    fn destroy(&self, host: &HostId) -> Result<(), HostActionError> {
        self.destroy_host(host).map_err(|error| action_error(host.as_str(), HostAction::Destroy, error))
    }

    fn states(&self) -> Result<BTreeMap<HostId, HostState>, ProviderError> {
        let found = self.containers().map_err(|error| self.unavailable(error))?;
        Ok(found
            .into_iter()
            .map(|container| {
                let state = container.state();
                (container.info.id, state)
            })
            .collect())
    }
}

/// What the keeper of the container runs; it looks for it from time to time. One round trip.
pub(crate) fn write_own_scripts(host: &dyn Host) -> Result<(), FilesError> {
    let layout = host.layout();
    let script = |path, text: &str| Change::write(path, text, Access::PrivateExecutable);
    host.files().apply(&[
        Change::MakeFolder(layout.commands()),
        script(layout.shutdown(), SHUTDOWN),
        script(layout.activity_watcher(), ACTIVITY_WATCHER),
    ])
}

pub(crate) fn action_error(
    host: &str,
    action: HostAction,
    source: impl Error + Send + Sync + 'static,
) -> HostActionError {
    HostActionError { host: host.to_owned(), action, source: Box::new(source) }
}

/// The last line that says something: what comes before is progress.
fn detail_of(said: &str) -> String {
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it gave no reason");
    last.chars().filter(|c| !c.is_control()).take(DETAIL_CHARS).collect()
}

/// The name of the image of our own recipe.
fn default_tag() -> String {
    format!("mngr-default:{:08x}", checksum(DEFAULT_DOCKERFILE))
}

/// Tells one text from another (FNV-1a), the same in every build of mngr.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
