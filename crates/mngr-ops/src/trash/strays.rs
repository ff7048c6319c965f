//! What was written where a destroyed agent had been, by a late hook or program of its own. It is not the agent, and it is
//! nobody's to delete: it is set aside, in a folder that is told.
//!
//! Costs a look and some round trips only where there is such a thing.

use mngr_host::fault;
use mngr_host::files::{FileKind, FilesError};
use mngr_host::host::Host;
use mngr_model::layout::HostLayout;
use mngr_model::{AgentId, HostPath};

use super::examine::Neighbours;
use super::manifest::{Manifest, Work};

/// Something in the place of a destroyed agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stray {
    /// The agent whose place it is.
    pub(crate) id: AgentId,
    /// Where it is.
    pub(crate) path: HostPath,
    /// What it stands in the place of.
    pub(crate) place: StrayPlace,
}

/// What a stray stands in the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StrayPlace {
    /// The agent's state folder.
    State,
    /// The agent's work dir.
    Work,
}

impl StrayPlace {
    fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Work => "work",
        }
    }
}

/// What is in the place of the state folder of a destroyed agent, if it is not an agent.
pub(crate) fn stray_state(host: &dyn Host, id: &AgentId) -> Result<Option<Stray>, FilesError> {
    let agent = host.layout().agent(id);
    let found = host.files().stat_all(&[agent.root().clone(), agent.data()])?;
    let is_stray = matches!(found.as_slice(), [Some(_), None]);
    let stray = || Stray { id: id.clone(), path: agent.root().clone(), place: StrayPlace::State };
    Ok(is_stray.then(stray))
}

/// What is in the place of the work dir of a destroyed agent: only a folder directly in one of ours, which is no checkout
/// and which no agent uses. Anything else may be somebody's own.
pub(crate) fn stray_work(
    host: &dyn Host,
    manifest: &Manifest,
    neighbours: &Neighbours,
) -> Result<Option<Stray>, FilesError> {
    let dir = &manifest.work_dir;
    let leaves_nothing = matches!(manifest.work, Some(Work::Moved { .. } | Work::Missing { .. }));
    if !leaves_nothing || !is_directly_in_ours(&host.layout(), dir) {
        return Ok(None);
    }
    let found = host.files().stat_all(&[dir.clone(), dir.join(".git")])?;
    let is_plain = match found.as_slice() {
        [Some(stat), None] => stat.kind == FileKind::Folder,
        _ => false,
    };
    let is_stray = is_plain && neighbours.inside(host, dir).is_empty();
    let stray = || Stray { id: manifest.id.clone(), path: dir.clone(), place: StrayPlace::Work };
    Ok(is_stray.then(stray))
}

fn is_directly_in_ours(layout: &HostLayout, dir: &HostPath) -> bool {
    let ours = [layout.worktrees(), layout.copies(), layout.projects()];
    dir.file_name().is_some() && dir.parent().is_some_and(|above| ours.contains(&above))
}

/// Moves it out of the way; says where it is then.
pub(crate) fn set_aside(host: &dyn Host, stray: &Stray) -> Result<HostPath, FilesError> {
    let folder = host.layout().set_aside().join(stray.id.as_str());
    host.files().make_folder(&folder)?;
    let taken = host.files().list(&folder)?;
    let names = (1..).map(|number| format!("{}-{number}", stray.place.as_str()));
    let name = names.into_iter().find(|name| !taken.iter().any(|entry| entry.name == *name));
    let to = folder.join(&name.unwrap_or_default());
    let moved = match host.files().rename(&stray.path, &to) {
        // The folder of all work dirs may be a link to another disk.
        Err(error) if error.is_cross_device() => {
            let beside = HostPath::new(format!("{}.set-aside-{}", stray.path, taken.len() + 1));
            host.files().rename(&stray.path, &beside).map(|()| beside)
        }
        moved => moved.map(|()| to),
    };
    fault::point();
    moved
}

/// How a user is told.
pub(crate) fn told(stray: &Stray, to: &HostPath) -> String {
    let what = match stray.place {
        StrayPlace::State => "its state folder",
        StrayPlace::Work => "its work dir",
    };
    format!("files were written to where {what} had been; they are set aside in `{to}`")
}
