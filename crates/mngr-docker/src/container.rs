//! Containers that are hosts: how they are marked, and how they are found again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mngr_host::provider::HostReport;
use mngr_model::host::HostInfo;
use mngr_model::state::HostState;
use mngr_model::{HostId, HostName, HostPath, ProviderName};
use serde::Deserialize;

use crate::engine::{EngineClient, EngineError, encoded};
use crate::keeper;

/// The host's id.
pub(crate) const HOST_ID: &str = "com.imbue.mngr.host-id";
/// Its name.
pub(crate) const HOST_NAME: &str = "com.imbue.mngr.host-name";
/// The provider that made it, as its user calls it.
pub(crate) const PROVIDER: &str = "com.imbue.mngr.provider";
/// Its host labels, as a JSON object of strings.
pub(crate) const TAGS: &str = "com.imbue.mngr.tags";
/// Where its state is.
pub(crate) const HOST_DIR: &str = "com.imbue.mngr.host-dir";
/// The home of its user, where it is known without asking.
pub(crate) const HOME: &str = "com.imbue.mngr.home";
/// Who makes it, or made it: a machine and a lock there.
pub(crate) const MADE_BY: &str = "com.imbue.mngr.made-by";
/// On what is there only while a host is copied: the host's id.
pub(crate) const HELPER_OF: &str = "com.imbue.mngr.helper-of";
/// On an image: the name of the snapshot that it is.
pub(crate) const SNAPSHOT: &str = "com.imbue.mngr.snapshot";

/// The folder of the state, where nothing else is configured.
pub(crate) const DEFAULT_HOST_DIR: &str = "/mngr";

/// One container of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    /// The engine's id.
    pub(crate) id: String,
    /// Who it is as a host.
    pub(crate) info: HostInfo,
    /// What the engine knows of it.
    pub(crate) report: HostReport,
    /// Who made it.
    pub(crate) made_by: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row {
    id: String,
    #[serde(default)]
    created: i64,
    #[serde(default)]
    image: String,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
    state: String,
    #[serde(default)]
    status: String,
}

/// The containers of a provider, running or not. One request.
pub(crate) fn list(engine: &EngineClient, provider: &ProviderName) -> Result<Vec<Container>, EngineError> {
    let filters = serde_json::json!({ "label": [HOST_ID, format!("{PROVIDER}={provider}")] });
    let rows: Vec<Row> =
        engine.get(&format!("/containers/json?all=1&filters={}", encoded(&filters.to_string())))?;
    Ok(rows.into_iter().filter_map(|row| read(row, provider)).collect())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Volumes {
    #[serde(default)]
    volumes: Option<Vec<Volume>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Volume {
    name: String,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

/// The hosts of a provider that have a volume with their state, whether there is a container or not. One request.
pub(crate) fn volumes(engine: &EngineClient, provider: &ProviderName) -> Result<Vec<HostId>, EngineError> {
    let filters = serde_json::json!({ "label": [HOST_ID, format!("{PROVIDER}={provider}")] });
    let listed: Volumes = engine.get(&format!("/volumes?filters={}", encoded(&filters.to_string())))?;
    let host_of = |volume: Volume| {
        let id = HostId::parse(volume.labels?.get(HOST_ID)?)?;
        // A label may say anything; only a volume that is called so is one of ours.
        (volume.name == volume_of(&id)).then_some(id)
    };
    Ok(listed.volumes.unwrap_or_default().into_iter().filter_map(host_of).collect())
}

impl Container {
    /// What it does.
    pub(crate) fn state(&self) -> HostState {
        self.report.state
    }
}

/// A container with labels that are not ours to read is none of our hosts.
fn read(row: Row, provider: &ProviderName) -> Option<Container> {
    let labels = row.labels?;
    let label = |name: &str| labels.get(name).map(String::as_str);
    let host_dir = label(HOST_DIR).unwrap_or(DEFAULT_HOST_DIR);
    let info = HostInfo {
        id: HostId::parse(label(HOST_ID)?)?,
        name: label(HOST_NAME)?.parse::<HostName>().ok()?,
        provider: provider.clone(),
        host_dir: absolute(host_dir)?,
        home: label(HOME).and_then(absolute),
    };
    let (state, reason) = keeper::state(&row.state, &row.status);
    let tags = label(TAGS).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let image = Some(row.image).filter(|image| !image.is_empty());
    // The engine has this word for nothing else.
    let unstarted = Some(row.created).filter(|_| row.state == "created");
    let unstarted_since = unstarted.and_then(|second| Timestamp::from_second(second).ok());
    let is_frozen = row.state == "paused";
    let report = HostReport { state, reason, tags, image, unstarted_since, is_frozen };
    let made_by = label(MADE_BY).map(str::to_owned);
    Some(Container { id: row.id, info, report, made_by })
}

fn absolute(path: &str) -> Option<HostPath> {
    path.starts_with('/').then(|| HostPath::new(path))
}

/// The name of the volume with a host's state.
pub(crate) fn volume_of(host: &HostId) -> String {
    format!("mngr-{host}")
}

/// The tag of the image that was built for a host.
pub(crate) fn build_tag(host: &HostId) -> String {
    format!("mngr-build-{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(labels: &[(&str, &str)]) -> Row {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (state, status) = ("running".to_owned(), "Up 1 second".to_owned());
        let image = "img:1".to_owned();
        Row { id: "c0ffee".to_owned(), created: 1_700_000_000, image, labels: Some(labels), state, status }
    }

    const ID: &str = "host-0123456789abcdef0123456789abcdef";

    #[test]
    fn a_container_is_read_from_its_labels() {
        let provider: ProviderName = "docker".parse().unwrap();
        let container = read(row(&[(HOST_ID, ID), (HOST_NAME, "box")]), &provider).unwrap();
        assert_eq!(container.info.address(), "box.docker");
        assert_eq!(container.info.host_dir.as_str(), DEFAULT_HOST_DIR);
        assert_eq!(container.state(), HostState::Running);
        assert_eq!(container.report.image.as_deref(), Some("img:1"));
        let tagged = row(&[(HOST_ID, ID), (HOST_NAME, "box"), (TAGS, r#"{"team":"blue"}"#)]);
        assert_eq!(read(tagged, &provider).unwrap().report.tags["team"], "blue");
    }

    #[test]
    fn only_a_container_that_never_ran_is_unstarted() {
        let provider: ProviderName = "docker".parse().unwrap();
        for (state, is_unstarted) in
            [("created", true), ("restarting", false), ("exited", false), ("running", false)]
        {
            let row = Row { state: state.to_owned(), ..row(&[(HOST_ID, ID), (HOST_NAME, "box")]) };
            let since = read(row, &provider).unwrap().report.unstarted_since;
            assert_eq!(since.map(Timestamp::as_second), is_unstarted.then_some(1_700_000_000), "{state}");
        }
    }

    #[test]
    fn labels_that_are_no_names_make_no_host() {
        let provider: ProviderName = "docker".parse().unwrap();
        for labels in [
            [(HOST_ID, ""), (HOST_NAME, "box"), (HOST_DIR, "/mngr")],
            [(HOST_ID, ID), (HOST_NAME, "../box"), (HOST_DIR, "/mngr")],
            [(HOST_ID, ID), (HOST_NAME, "box"), (HOST_DIR, "mngr")],
        ] {
            assert_eq!(read(row(&labels), &provider), None);
        }
    }
}
