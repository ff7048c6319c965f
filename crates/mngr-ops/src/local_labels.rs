//! The labels of this machine, which has no provider to keep them: `providers/local/labels.json`, a list of keys and
//! values. Spawns nothing.

use std::collections::BTreeMap;

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use serde::{Deserialize, Serialize};

/// One label in the file.
#[derive(Serialize, Deserialize)]
struct Label {
    key: String,
    value: String,
}

/// What the file may hold: the list, or the object that earlier versions wrote.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    List(Vec<Label>),
    Object(BTreeMap<String, String>),
}

/// The labels of this machine. A file that cannot be read as labels has none to show.
pub(crate) fn read(host: &dyn Host) -> BTreeMap<String, String> {
    let bytes = host.files().read_if_there(&host.layout().local_labels()).ok().flatten();
    match bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        Some(Kept::List(labels)) => labels.into_iter().map(|label| (label.key, label.value)).collect(),
        Some(Kept::Object(labels)) => labels,
        None => BTreeMap::new(),
    }
}

/// Adds labels to those that are there; the same key gets the new value.
pub(crate) fn add(host: &dyn Host, labels: &BTreeMap<String, String>) -> Result<(), FilesError> {
    if labels.is_empty() {
        return Ok(());
    }
    let mut all = read(host);
    all.extend(labels.iter().map(|(key, value)| (key.clone(), value.clone())));
    let list: Vec<Label> = all.into_iter().map(|(key, value)| Label { key, value }).collect();
    let text = serde_json::to_vec_pretty(&list).unwrap_or_default();
    let path = host.layout().local_labels();
    if let Some(folder) = path.parent() {
        host.files().make_folder(&folder)?;
    }
    host.files().write(&path, &text, Access::Private, Durability::Synced)
}
