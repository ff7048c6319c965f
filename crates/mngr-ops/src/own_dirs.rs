//! Which work dirs are mngr's own, so that `destroy` may move them away.
//!
//! An agent's record says it too, but the agent can write its record. What counts is what the agent has no business
//! with: a work dir stands in one of the host dir's own folders, or its creation was noted outside the state folder.
//! Everything is compared with links resolved, so that no spelling leads elsewhere.

use mngr_host::files::{Access, Change, FileKind, FilesError};
use mngr_host::host::Host;
use mngr_model::layout::HostLayout;
use mngr_model::{AgentId, HostPath};

/// The note a work dir at that place needs, to be known later; `None` for one in our own folders. The folder above it
/// exists.
pub(crate) fn note_needed(host: &dyn Host, agent: &AgentId, dir: &HostPath) -> Option<HostPath> {
    let layout = host.layout();
    (!is_in_our_folders(host, &layout, dir)).then(|| layout.made_work_dir(agent))
}

/// What notes that mngr makes this work dir for the agent.
pub(crate) fn note(host: &dyn Host, agent: &AgentId, dir: &HostPath) -> [Change; 2] {
    let (folder, note) = (host.layout().made_work_dirs(), host.layout().made_work_dir(agent));
    [Change::MakeFolder(folder), Change::write(note, dir.as_str(), Access::Private)]
}

/// Whether mngr made this existing work dir for the agent, as far as it can be proved.
pub(crate) fn is_ours(host: &dyn Host, agent: &AgentId, dir: &HostPath) -> Result<bool, FilesError> {
    // A link is not what we made; whatever it leads to is somebody's.
    if !host.files().stat(dir)?.is_some_and(|stat| stat.kind == FileKind::Folder) {
        return Ok(false);
    }
    let layout = host.layout();
    if is_in_our_folders(host, &layout, dir) {
        return Ok(true);
    }
    let noted = host.files().read_if_there(&layout.made_work_dir(agent))?;
    let noted = noted.map(|bytes| HostPath::new(String::from_utf8_lossy(&bytes).into_owned()));
    Ok(noted.is_some_and(|noted| real(host, &noted) == real(host, dir)))
}

/// Directly in one of them: what lies deeper is a part of another agent's work dir.
fn is_in_our_folders(host: &dyn Host, layout: &HostLayout, dir: &HostPath) -> bool {
    if dir.file_name().is_none() {
        return false;
    }
    let ours = [layout.worktrees(), layout.copies(), layout.projects()];
    // The same spelling leads to the same place.
    if dir.parent().is_some_and(|above| ours.contains(&above)) {
        return true;
    }
    let Some(above) = dir.parent().and_then(|above| host.files().canonical(&above).ok()) else {
        return false;
    };
    ours.iter().filter_map(|ours| host.files().canonical(ours).ok()).any(|ours| ours == above)
}

fn real(host: &dyn Host, path: &HostPath) -> HostPath {
    host.files().canonical(path).unwrap_or_else(|_| path.clone())
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
        let verdict = |path: &str| is_ours(&host, &agent, &root.join(path)).unwrap();
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
        assert!(!is_ours(&host, &stranger, &root.join("elsewhere/c")).unwrap(), "the note is for one agent");
    }
}
