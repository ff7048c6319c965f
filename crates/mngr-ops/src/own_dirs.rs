//! Which work dirs are mngr's own, so that `destroy` may move them away.
//!
//! An agent's record says it too, but the agent can write its record. What counts is what the agent has no business
//! with: a work dir stands in one of the host dir's own folders, or its creation was noted outside the state folder.
//! Everything is compared with links resolved, so that no spelling leads elsewhere.

use mngr_host::files::{Access, Change, FileKind, FilesError};
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_model::layout::HostLayout;
use mngr_model::{AgentId, HostPath};

/// The note a work dir at that place needs, to be known later; `None` for one in our own folders. The folder above it
/// exists.
pub(crate) fn note_needed(host: &dyn Host, agent: &AgentId, dir: &HostPath) -> Option<HostPath> {
    let layout = host.layout();
    let is_ours = Glance::at(host.files(), &signs_of_our_folders(&layout, dir))
        .is_ok_and(|glance| is_in_our_folders(&glance, &layout, dir));
    (!is_ours).then(|| layout.made_work_dir(agent))
}

/// What notes that mngr makes this work dir for the agent.
pub(crate) fn note(host: &dyn Host, agent: &AgentId, dir: &HostPath) -> [Change; 2] {
    let (folder, note) = (host.layout().made_work_dirs(), host.layout().made_work_dir(agent));
    [Change::MakeFolder(folder), Change::write(note, dir.as_str(), Access::Private)]
}

/// What tells whether mngr made a work dir, see [`is_ours`].
pub(crate) fn signs(layout: &HostLayout, agent: &AgentId, dir: &HostPath) -> Vec<HostPath> {
    let mut signs = signs_of_our_folders(layout, dir);
    if !signs.is_empty() {
        signs.push(layout.made_work_dir(agent));
    }
    signs.push(dir.clone());
    signs
}

/// Whether mngr made this existing work dir for the agent, as far as it can be proved.
pub(crate) fn is_ours(
    glance: &Glance<'_>,
    layout: &HostLayout,
    agent: &AgentId,
    dir: &HostPath,
) -> Result<bool, FilesError> {
    // A link is not what we made; whatever it leads to is somebody's.
    if !glance.stat(dir)?.is_some_and(|stat| stat.kind == FileKind::Folder) {
        return Ok(false);
    }
    if is_in_our_folders(glance, layout, dir) {
        return Ok(true);
    }
    let noted = glance.read_if_there(&layout.made_work_dir(agent))?;
    let noted = noted.map(|bytes| HostPath::new(String::from_utf8_lossy(&bytes).into_owned()));
    Ok(noted.is_some_and(|noted| real(glance, &noted) == real(glance, dir)))
}

/// What has to be looked at to know whether a folder is in ours. The same spelling leads to the same place.
fn signs_of_our_folders(layout: &HostLayout, dir: &HostPath) -> Vec<HostPath> {
    let ours = our_folders(layout);
    match dir.parent() {
        Some(above) if !ours.contains(&above) => ours.into_iter().chain([above]).collect(),
        _ => Vec::new(),
    }
}

fn our_folders(layout: &HostLayout) -> [HostPath; 3] {
    [layout.worktrees(), layout.copies(), layout.projects()]
}

/// Directly in one of them: what lies deeper is a part of another agent's work dir.
fn is_in_our_folders(glance: &Glance<'_>, layout: &HostLayout, dir: &HostPath) -> bool {
    if dir.file_name().is_none() {
        return false;
    }
    let ours = our_folders(layout);
    if dir.parent().is_some_and(|above| ours.contains(&above)) {
        return true;
    }
    let Some(above) = dir.parent().and_then(|above| glance.real(&above)) else {
        return false;
    };
    ours.iter().filter_map(|ours| glance.real(ours)).any(|ours| ours == above)
}

fn real(glance: &Glance<'_>, path: &HostPath) -> HostPath {
    glance.real(path).unwrap_or_else(|| path.clone())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use mngr_host::local::LocalHost;

    use super::*;

    #[test]
    fn only_folders_we_made_are_ours_however_they_are_spelled() {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().canonicalize().unwrap().to_str().unwrap());
        let host = LocalHost::open(root.join("host")).unwrap();
        for folder in ["host/worktrees/a/src", "host/copies/b", "home", "elsewhere/c", "elsewhere/d"] {
            host.files().make_folder(&root.join(folder)).unwrap();
        }
        symlink(root.join("home").as_str(), root.join("host/worktrees/link").as_str()).unwrap();
        let agent = mngr_host::random::agent_id();
        host.files().apply(&note(&host, &agent, &root.join("elsewhere/c"))).unwrap();
        let verdict_for = |agent: &AgentId, path: &str| {
            let (layout, dir) = (host.layout(), root.join(path));
            let glance = Glance::at(host.files(), &signs(&layout, agent, &dir)).unwrap();
            is_ours(&glance, &layout, agent, &dir).unwrap()
        };
        let verdict = |path: &str| verdict_for(&agent, path);
        for ours in ["host/worktrees/a", "host/worktrees/../copies/b", "elsewhere/c", "elsewhere/./c"] {
            assert!(verdict(ours), "{ours}");
        }
        let others = [
            "home",
            "/",
            "host",
            "host/worktrees",
            "host/worktrees/",
            "host/worktrees/a/..",
            "host/worktrees/a/../..",
            "host/worktrees/a/src",
            "host/worktrees/link",
            "host/worktrees/gone",
            "elsewhere",
            "elsewhere/d",
        ];
        for other in others {
            assert!(!verdict(other), "{other}");
        }
        let stranger = mngr_host::random::agent_id();
        assert!(!verdict_for(&stranger, "elsewhere/c"), "the note is for one agent");
    }
}
