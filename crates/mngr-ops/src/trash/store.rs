//! Reading and writing manifests, and finding the destroyed agents of a host.

use mngr_host::files::{Access, Change, Durability};
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_host::provider::HostEntry;
use mngr_model::layout::TrashLayout;
use mngr_model::{AgentId, HostPath};

use super::error::TrashError;
use super::manifest::{Manifest, VERSION};

/// The manifest of an agent that `gc` is deleting for good: under this name `undo` does not find it any more.
const EXPIRED: &str = "expired.json";
/// The manifest of a destroyed agent.
const MANIFEST: &str = "manifest.json";
/// The folder for work dirs on another file system than the host dir, beside them.
const TRASH_BESIDE: &str = ".mngr-trash";

/// A folder in the trash whose manifest cannot be used.
#[derive(Debug)]
pub(crate) struct DamagedEntry {
    /// The folder.
    pub(crate) path: HostPath,
    /// Why.
    pub(crate) error: TrashError,
}

/// The destroyed agents of a host.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// Those that can be brought back, the oldest first.
    pub(crate) whole: Vec<Manifest>,
    /// Folders without a state folder: not destroyed yet, or already brought back.
    pub(crate) unfinished: Vec<AgentId>,
    /// Folders that `gc` has begun to delete.
    pub(crate) expired: Vec<AgentId>,
    /// Folders that cannot be read.
    pub(crate) damaged: Vec<DamagedEntry>,
}

/// Looks through the trash of a host.
pub(crate) fn entries(host: &dyn Host) -> Result<Entries, TrashError> {
    let layout = host.layout();
    let mut found = Entries::default();
    let folders = host.files().list(&layout.trash())?;
    let ids: Vec<AgentId> = folders.iter().filter_map(|folder| AgentId::parse(&folder.name)).collect();
    let signs = |id: &AgentId| {
        let trash = layout.trash_of(id);
        [expired_manifest(&trash), trash.state(), trash.manifest()]
    };
    let glance = Glance::at(host.files(), &ids.iter().flat_map(signs).collect::<Vec<_>>())?;
    for id in ids {
        let trash = layout.trash_of(&id);
        if glance.exists(&expired_manifest(&trash))? {
            found.expired.push(id);
            continue;
        }
        // The state folder comes last when an agent is destroyed and goes last when it comes back.
        if !glance.exists(&trash.state())? {
            found.unfinished.push(id);
            continue;
        }
        match read_in(host, &glance, &trash, trash.manifest()) {
            Ok(manifest) => found.whole.push(manifest),
            Err(error) => found.damaged.push(DamagedEntry { path: trash.root().clone(), error }),
        }
    }
    found.whole.sort_by(|a, b| (a.destroyed_at, &a.id).cmp(&(b.destroyed_at, &b.id)));
    Ok(found)
}

/// What the trash of a host that does not run holds, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct ColdEntries {
    /// The destroyed agents, the oldest first.
    pub(crate) manifests: Vec<Manifest>,
    /// Whether these are all.
    pub(crate) is_whole: bool,
}

/// Looks through the trash of a host that does not run.
pub(crate) fn cold_entries(entry: &dyn HostEntry, host: &dyn Host) -> ColdEntries {
    let trash = host.layout().trash();
    let read = entry.cold_files().and_then(|cold| cold.read_below(&trash, MANIFEST).ok()).unwrap_or_default();
    let manifest = |(folder, bytes): &(String, Vec<u8>)| {
        let manifest: Manifest = serde_json::from_slice(bytes).ok()?;
        // Without a look at its work dir it was not destroyed yet.
        let is_whole = manifest.version <= VERSION && manifest.work.is_some();
        (is_whole && manifest.id.as_str() == folder).then_some(manifest)
    };
    let mut manifests: Vec<Manifest> = read.files.iter().filter_map(manifest).collect();
    let is_whole = read.is_whole && manifests.len() == read.files.len();
    manifests.sort_by(|a, b| (a.destroyed_at, &a.id).cmp(&(b.destroyed_at, &b.id)));
    ColdEntries { manifests, is_whole }
}

/// Where the manifest of an agent that is deleted for good is.
pub(crate) fn expired_manifest(trash: &TrashLayout) -> HostPath {
    trash.root().join(EXPIRED)
}

/// The manifest of one destroyed agent.
pub(crate) fn read_manifest(host: &dyn Host, trash: &TrashLayout) -> Result<Manifest, TrashError> {
    read_at(host, trash, trash.manifest())
}

/// The same, as far as it can be by a glance at it.
pub(crate) fn manifest_in(
    host: &dyn Host,
    glance: &Glance<'_>,
    trash: &TrashLayout,
) -> Result<Manifest, TrashError> {
    read_in(host, glance, trash, trash.manifest())
}

/// The manifest of an agent that is being deleted for good.
pub(crate) fn read_expired(host: &dyn Host, trash: &TrashLayout) -> Result<Manifest, TrashError> {
    read_at(host, trash, expired_manifest(trash))
}

fn read_at(host: &dyn Host, trash: &TrashLayout, path: HostPath) -> Result<Manifest, TrashError> {
    read_in(host, &Glance::at(host.files(), &[])?, trash, path)
}

fn read_in(
    host: &dyn Host,
    glance: &Glance<'_>,
    trash: &TrashLayout,
    path: HostPath,
) -> Result<Manifest, TrashError> {
    let bytes = match glance.read_if_there(&path)? {
        Some(bytes) => bytes,
        // Which says why.
        None => host.files().read_file(&path)?,
    };
    let manifest: Manifest = serde_json::from_slice(&bytes)
        .map_err(|source| TrashError::Damaged { path: path.clone(), source })?;
    if manifest.version > VERSION {
        return Err(TrashError::TooNew { path, version: manifest.version });
    }
    let is_own = trash.root().file_name() == Some(manifest.id.as_str());
    let is_here = manifest.moved_to().is_none_or(|to| {
        let beside = manifest.work_dir.parent().map(|above| trash_beside(&above, &manifest.id));
        *to == trash.work() || Some(to) == beside.as_ref()
    });
    // What it names is moved and, one day, deleted: it must not name anything else.
    if is_own && is_here { Ok(manifest) } else { Err(TrashError::Misleading { path }) }
}

/// Removes the folder of an agent that exists: a command died before it moved anything, or after it had brought everything
/// back. Whether there was one. The caller keeps others from the agent.
pub(crate) fn drop_unused(host: &dyn Host, id: &AgentId) -> Result<bool, TrashError> {
    if !is_unused(host, id)? {
        return Ok(false);
    }
    host.files().remove_tree(host.layout().trash_of(id).root())?;
    Ok(true)
}

/// Whether the folder of that id is there, its agent exists, and nothing of the agent is in it.
pub(crate) fn is_unused(host: &dyn Host, id: &AgentId) -> Result<bool, TrashError> {
    let (files, trash) = (host.files(), host.layout().trash_of(id));
    let looked = [
        trash.root().clone(),
        host.layout().agent(id).data(),
        trash.state(),
        trash.work(),
        expired_manifest(&trash),
    ];
    let glance = Glance::at(files, &looked)?;
    let is_there = |path: &HostPath| glance.exists(path);
    if !is_there(&looked[0])? || !is_there(&looked[1])? {
        return Ok(false);
    }
    for path in &looked[2..] {
        if is_there(path)? {
            return Ok(false);
        }
    }
    match read_manifest(host, &trash) {
        Ok(manifest) => Ok(match manifest.moved_to() {
            Some(to) => !files.exists(to)?,
            None => true,
        }),
        Err(TrashError::Files(error)) if error.is_missing() => Ok(true),
        Err(error) => Err(error),
    }
}

/// Writes the manifest. It must be synced before anything it tells of moves.
pub(crate) fn write_manifest(
    host: &dyn Host,
    trash: &TrashLayout,
    manifest: &Manifest,
    durability: Durability,
) -> Result<(), TrashError> {
    Ok(host.files().apply(&[manifest_change(trash, manifest, durability)?])?)
}

/// The change that writes down what becomes of an agent.
pub(crate) fn manifest_change(
    trash: &TrashLayout,
    manifest: &Manifest,
    durability: Durability,
) -> Result<Change, TrashError> {
    let path = trash.manifest();
    let bytes = serde_json::to_vec_pretty(manifest)
        .map_err(|source| TrashError::Damaged { path: path.clone(), source })?;
    Ok(Change::Write { path, bytes, access: Access::Private, durability })
}

/// Where a work dir on another file system than the host dir goes: beside where it was.
pub(crate) fn trash_beside(above: &HostPath, id: &AgentId) -> HostPath {
    above.join(TRASH_BESIDE).join(id.as_str())
}

/// How many bytes a destroyed agent takes up.
pub(crate) fn size_of(host: &dyn Host, manifest: &Manifest) -> Result<u64, TrashError> {
    if let Some(bytes) = manifest.bytes {
        return Ok(bytes);
    }
    let root = host.layout().trash_of(&manifest.id).root().clone();
    let mut bytes = host.files().tree_size(&root)?;
    if let Some(beside) = manifest.moved_to().filter(|to| !to.is_within(&root)) {
        bytes += host.files().tree_size(beside)?;
    }
    Ok(bytes)
}
