//! Copies of hosts as images of the engine, with the state that is in the volume.
//!
//! An image of a container has nothing of its volumes. So the state is laid into the image at its own place, by a helper
//! container inside the engine; a new volume that is mounted there begins with what the image has (the engine does that).

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use mngr_host::fault;
use mngr_host::provider::{
    HostAction, HostActionError, ProviderError, Snapshot, SnapshotDestroyError, SnapshotId, Snapshots,
};
use mngr_model::HostId;
use mngr_model::state::HostState;
use serde::Deserialize;
use serde_json::json;

use crate::abandoned::{remove_copy, remove_helper};
use crate::at_work::AtWork;
use crate::container::{self, Container, HELPER_OF, HOST_ID, HOST_NAME, MADE_BY, PROVIDER, SNAPSHOT};
use crate::engine::{EngineClient, EngineError, encoded};
use crate::maker::{LIFE_LIMIT, MakeError, action_error};
use crate::provider::DockerProvider;

/// How long writing an image, or the state into it, may take.
const COPY_LIMIT: Duration = Duration::from_secs(1800);
/// The repository of the images.
const REPOSITORY: &str = "mngr-snapshot";
/// Where the helper sees the state.
const STATE_AT: &str = "/mnt";
/// What the helper runs; `$1` is the place of the state. A snapshot that the host itself began as left its state there.
const COPY_STATE: &str = r#"mkdir -p "$1" && find "$1" -mindepth 1 -delete && cp -a /mnt/. "$1/""#;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Created {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Waited {
    status_code: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inspected {
    config: Config,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Config {
    #[serde(default)]
    user: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row {
    id: String,
    created: i64,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

/// A container that stands still until this is dropped.
struct Frozen<'a> {
    engine: &'a EngineClient,
    container: Option<&'a str>,
}

impl<'a> Frozen<'a> {
    fn freeze(engine: &'a EngineClient, container: &'a Container) -> Result<Self, EngineError> {
        if container.state() != HostState::Running {
            return Ok(Self { engine, container: None });
        }
        engine.order(&format!("/containers/{}/pause", encoded(&container.id)), LIFE_LIMIT)?;
        Ok(Self { engine, container: Some(&container.id) })
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        if let Some(container) = self.container {
            // A host that is left standing still shows as paused, and `start` wakes it.
            let _ = self.engine.order(&format!("/containers/{}/unpause", encoded(container)), LIFE_LIMIT);
        }
    }
}

impl DockerProvider {
    fn copy_host(&self, host: &HostId, name: &str) -> Result<Snapshot, MakeError> {
        let engine = self.engine()?;
        let source = self.container(host)?;
        let path = encoded(&source.id);
        let inspected: Inspected = engine.get(&format!("/containers/{path}/json"))?;
        let work = AtWork::begin_copy(self.client(), host)?;
        let frozen = Frozen::freeze(&engine, &source)?;
        fault::point();
        let commit = format!("/commit?container={path}&pause=0");
        // An image of a snapshot says so; this is not one yet.
        let labels = json!({ HELPER_OF: host.as_str(), MADE_BY: work.label(), SNAPSHOT: "" });
        let Created { id: bare } = engine.post(&commit, &json!({ "Labels": labels }), COPY_LIMIT)?;
        fault::point();
        let whole = self.add_state(&engine, &source, &bare, name, (&inspected.config.user, &work));
        drop(frozen);
        // Where the engine does not count it as a part of the whole one, nobody needs it any more.
        let _ = remove_copy(&engine, &bare);
        let id = whole?;
        let found = self.snapshots_of_engine(&engine)?;
        found.into_iter().find(|snapshot| snapshot.id.as_str() == id).ok_or(MakeError::NoContainer)
    }

    /// Makes an image that is `bare` with the state in it.
    fn add_state(
        &self,
        engine: &EngineClient,
        source: &Container,
        bare: &str,
        name: &str,
        (user, work): (&str, &AtWork<'_>),
    ) -> Result<String, MakeError> {
        let host = &source.info.id;
        let helper = json!({
            "Image": bare, "User": "0", "Entrypoint": ["/bin/sh", "-c"],
            "Cmd": [COPY_STATE, "sh", source.info.host_dir.as_str()],
            // It is no host, though the image says so.
            "Labels": { HOST_ID: "", HELPER_OF: host.as_str(), MADE_BY: work.label() },
            "HostConfig": {
                "Binds": [format!("{}:{STATE_AT}:ro", container::volume_of(host))],
                "NetworkMode": "none",
            },
        });
        let Created { id: helper } = engine.post("/containers/create", &helper, LIFE_LIMIT)?;
        fault::point();
        let copied = || -> Result<String, MakeError> {
            let path = format!("/containers/{}", encoded(&helper));
            engine.order(&format!("{path}/start"), LIFE_LIMIT)?;
            fault::point();
            let waited: Waited = engine.post(&format!("{path}/wait"), &json!({}), COPY_LIMIT)?;
            if waited.status_code != 0 {
                return Err(MakeError::Setup { detail: "its state could not be copied".to_owned() });
            }
            let tag = encoded(&format!("{host}-{name}"));
            let commit =
                format!("/commit?container={}&repo={REPOSITORY}&tag={tag}&pause=0", encoded(&helper));
            let user = if user.is_empty() { "0" } else { user };
            let labels = json!({
                SNAPSHOT: name, HOST_ID: host.as_str(), PROVIDER: self.provider_name().as_str(),
                HELPER_OF: "", MADE_BY: "",
            });
            let body = json!({ "User": user, "Labels": labels });
            let Created { id } = engine.post(&commit, &body, COPY_LIMIT)?;
            Ok(id)
        };
        let copied = copied();
        fault::point();
        let _ = remove_helper(engine, &helper);
        copied
    }

    fn snapshots_of_engine(&self, engine: &EngineClient) -> Result<Vec<Snapshot>, EngineError> {
        let label = format!("{PROVIDER}={}", self.provider_name());
        let filters = json!({ "label": [SNAPSHOT, label] }).to_string();
        let rows: Vec<Row> = engine.get(&format!("/images/json?filters={}", encoded(&filters)))?;
        let mut found: Vec<_> = rows.into_iter().filter_map(read).collect();
        found.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
        Ok(found)
    }
}

fn read(row: Row) -> Option<Snapshot> {
    let labels = row.labels?;
    let name = labels.get(SNAPSHOT).filter(|name| !name.is_empty())?.clone();
    let host = HostId::parse(labels.get(HOST_ID)?)?;
    let created_at = Timestamp::from_second(row.created).ok();
    // The image has the labels of the container it was made from.
    let host_name = labels.get(HOST_NAME).and_then(|name| name.parse().ok());
    Some(Snapshot { id: SnapshotId::new(row.id), name, host, host_name, created_at, size: row.size })
}

impl Snapshots for DockerProvider {
    fn create(&self, host: &HostId, name: &str) -> Result<Snapshot, HostActionError> {
        self.copy_host(host, name).map_err(|error| action_error(host.as_str(), HostAction::Snapshot, error))
    }

    fn list(&self) -> Result<Vec<Snapshot>, ProviderError> {
        let found = self.engine().and_then(|engine| self.snapshots_of_engine(&engine));
        self.or_nothing(found).map_err(|error| self.unavailable(error))
    }

    fn destroy(&self, snapshot: &SnapshotId) -> Result<(), SnapshotDestroyError> {
        let path = format!("/images/{}", encoded(snapshot.as_str()));
        match self.engine().and_then(|engine| engine.delete(&path)) {
            Ok(()) => Ok(()),
            Err(EngineError::Refused { status: 409, .. }) => {
                Err(SnapshotDestroyError::InUse { id: snapshot.clone() })
            }
            Err(error) => Err(self.unavailable(error).into()),
        }
    }
}
