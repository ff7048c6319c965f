//! The snapshots of agents that are kept on a host.

use std::sync::Arc;

use mngr_host::files::{Access, Durability, FileKind};
use mngr_host::git::{Git, GitError};
use mngr_host::host::Host;
use mngr_model::{HostId, HostPath};

use super::error::SnapshotError;
use super::manifest::{Manifest, VERSION};
use crate::hosts;
use crate::remains::{Place, Remains, Source};
use crate::scratch::{FILES, MANIFEST};
use crate::world::World;

/// How ids of agents' snapshots begin.
pub(super) const ID_PREFIX: &str = "snap-";

/// A snapshot of an agent and where it is.
pub(crate) struct AgentSnapshot {
    /// On which host.
    pub(crate) host: Arc<dyn Host>,
    /// What it is.
    pub(crate) manifest: Manifest,
}

impl AgentSnapshot {
    /// Its folder.
    pub(crate) fn folder(&self) -> HostPath {
        folder(self.host.as_ref(), &self.manifest.id)
    }

    /// The agent's files.
    pub(crate) fn files(&self) -> HostPath {
        self.folder().join(FILES)
    }

    /// The agent's state folder.
    pub(crate) fn remains(&self) -> Remains {
        let record = &self.manifest.agent;
        Remains {
            host: self.host.clone(),
            id: record.id.clone(),
            name: record.name.clone(),
            agent_type: Some(record.agent_type.to_string()),
            labels: record.labels.clone(),
            state: state(&self.folder()),
            work_dir: Some(self.files()),
            place: Place::Snapshot,
            source: Source::Host(self.host.clone()),
        }
    }
}

/// The folder of a snapshot.
pub(super) fn folder(host: &dyn Host, id: &str) -> HostPath {
    host.layout().snapshots().join(id)
}

/// The state folder in the folder of a snapshot.
pub(super) fn state(folder: &HostPath) -> HostPath {
    folder.join("state")
}

/// All snapshots of agents on a host. What cannot be read is said and passed over.
pub(super) fn all_on(world: &World, host: &Arc<dyn Host>) -> Result<Vec<AgentSnapshot>, SnapshotError> {
    let mut found = Vec::new();
    for entry in host.files().list(&host.layout().snapshots())? {
        if entry.kind != FileKind::Folder || !is_id(&entry.name) {
            continue;
        }
        match read(host, &entry.name) {
            Ok(snapshot) => found.push(snapshot),
            // It is being made, or was never finished.
            Err(SnapshotError::NotFound { .. }) => {}
            Err(error) => world.reporter.warn(&crate::error_chain(&error)),
        }
    }
    Ok(found)
}

/// The repositories that snapshots on a host are checkouts of, those that are being made included. Spawns nothing.
pub(crate) fn repositories(host: &dyn Host) -> Result<Vec<HostPath>, GitError> {
    let folder = host.layout().snapshots();
    let mut found = Vec::new();
    for entry in host.files().list(&folder)?.into_iter().filter(|entry| entry.kind == FileKind::Folder) {
        let files = folder.join(&entry.name).join(FILES);
        if host.files().exists(&files.join(".git"))? {
            found.extend(Git::new(host, files).locate()?.map(|location| location.common_dir));
        }
    }
    Ok(found)
}

/// The snapshot of that id on that host.
pub(crate) fn open(world: &World, host: &HostId, id: &str) -> Result<AgentSnapshot, SnapshotError> {
    let missing = || SnapshotError::NotFound { id: id.to_owned() };
    let host =
        hosts::with_id(world, host).ok_or_else(|| SnapshotError::NoHost { address: host.to_string() })?;
    if !is_id(id) {
        return Err(missing());
    }
    read(&host, id)
}

fn read(host: &Arc<dyn Host>, id: &str) -> Result<AgentSnapshot, SnapshotError> {
    let path = folder(host.as_ref(), id).join(MANIFEST);
    let Some(bytes) = host.files().read_if_there(&path)? else {
        return Err(SnapshotError::NotFound { id: id.to_owned() });
    };
    let manifest: Manifest = serde_json::from_slice(&bytes)
        .map_err(|source| SnapshotError::Damaged { path: path.clone(), source })?;
    if manifest.version > VERSION || manifest.id != id {
        return Err(SnapshotError::Misleading { path });
    }
    Ok(AgentSnapshot { host: host.clone(), manifest })
}

/// Writes the note that makes a snapshot whole.
pub(super) fn write(host: &dyn Host, folder: &HostPath, manifest: &Manifest) -> Result<(), SnapshotError> {
    let path = folder.join(MANIFEST);
    let text = serde_json::to_vec_pretty(manifest)
        .map_err(|source| SnapshotError::Damaged { path: path.clone(), source })?;
    Ok(host.files().write(&path, &text, Access::Private, Durability::Synced)?)
}

/// A folder of that name is ours; nothing else becomes a path.
fn is_id(text: &str) -> bool {
    let hex = text.strip_prefix(ID_PREFIX);
    hex.is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
