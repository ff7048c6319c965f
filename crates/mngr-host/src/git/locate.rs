//! Finding a repository by looking at its files: no process is spawned here.

use mngr_model::HostPath;

use crate::files::FileKind;
use crate::glance::Glance;

use super::client::Git;
use super::error::GitError;

/// The file in a checkout's own git folder that names the shared one.
const COMMON_DIR: &str = "commondir";

/// Where a checkout and its repository are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The top folder of the checkout.
    pub root: HostPath,
    /// What is particular to this checkout: HEAD, index.
    pub git_dir: HostPath,
    /// What all checkouts of the repository share: objects, branches, settings.
    pub common_dir: HostPath,
}

impl Location {
    /// Whether the checkout was made by `git worktree add`.
    pub fn is_linked_worktree(&self) -> bool {
        self.git_dir != self.common_dir
    }
}

impl Git<'_> {
    /// The checkout that holds this folder, or `None` outside a repository. Spawns nothing.
    pub fn locate(&self) -> Result<Option<Location>, GitError> {
        if let Some(known) = self.known_location() {
            return Ok(Some(known.clone()));
        }
        let spelled = self.dir().normalized();
        if let Some(found) = self.locate_above(spelled.clone())? {
            return Ok(Some(found));
        }
        // A link into a checkout: what is above it depends on where it leads.
        match self.host().files().canonical(&spelled) {
            Ok(real) if real != spelled => self.locate_above(real),
            _ => Ok(None),
        }
    }

    fn locate_above(&self, start: HostPath) -> Result<Option<Location>, GitError> {
        let mut glance = Glance::at(self.host().files(), &signs_of_a_root(&start))?;
        let mut folder = Some(start.clone());
        while let Some(root) = folder {
            if let Some(git_dir) = git_dir_of(&glance, &root)? {
                let common_dir = common_dir_of(&glance, &git_dir)?;
                return Ok(Some(Location { root, git_dir, common_dir }));
            }
            folder = root.parent();
            if root == start {
                // Where the folder itself is no checkout, all those above it are looked at together.
                let above = std::iter::successors(folder.clone(), HostPath::parent);
                glance.add(&above.flat_map(|root| signs_of_a_root(&root)).collect::<Vec<_>>())?;
            }
        }
        Ok(None)
    }

    /// Like [`Git::locate`], for callers that need a repository.
    pub fn require_location(&self) -> Result<Location, GitError> {
        self.locate()?.ok_or_else(|| GitError::NotARepository { path: self.dir().clone() })
    }

    /// Where everything is, if this folder is the top of a linked worktree. Spawns nothing.
    pub fn worktree(&self) -> Result<Option<Location>, GitError> {
        self.worktree_in(&Glance::at(self.host().files(), &self.signs_of_a_worktree(None))?)
    }

    /// The same, as far as it can be by a glance at [`Git::signs_of_a_worktree`].
    pub fn worktree_in(&self, glance: &Glance<'_>) -> Result<Option<Location>, GitError> {
        let root = self.dir().normalized();
        let Some(git_dir) = git_dir_of(glance, &root)? else { return Ok(None) };
        let common_dir = common_dir_of(glance, &git_dir)?;
        Ok(Some(Location { root, git_dir, common_dir }).filter(Location::is_linked_worktree))
    }

    /// What tells whether this folder is the top of a linked worktree, most likely one of that repository.
    pub fn signs_of_a_worktree(&self, repository: Option<&HostPath>) -> Vec<HostPath> {
        let root = self.dir().normalized();
        let likely = repository
            .zip(root.file_name())
            .map(|(repository, name)| repository.join("worktrees").join(name).join(COMMON_DIR));
        signs_of_a_root(&root).into_iter().chain(likely).collect()
    }

    /// Whether both are checkouts of one repository. Spawns nothing.
    pub fn shares_repository_with(&self, other: &Git<'_>) -> Result<bool, GitError> {
        if self.host().info().id != other.host().info().id {
            return Ok(false);
        }
        let real = |git: &Git<'_>| -> Result<HostPath, GitError> {
            Ok(git.host().files().canonical(&git.require_location()?.common_dir)?)
        };
        Ok(real(self)? == real(other)?)
    }

    /// Whether the checkout rooted here has submodules, by its `.gitmodules`. Spawns nothing.
    pub(super) fn has_gitmodules(&self, root: &HostPath) -> Result<bool, GitError> {
        Ok(self.host().files().exists(&root.join(".gitmodules"))?)
    }
}

/// What tells whether a folder is the top of a checkout.
fn signs_of_a_root(root: &HostPath) -> [HostPath; 2] {
    let dot_git = root.join(".git");
    [dot_git.join("HEAD"), dot_git]
}

fn git_dir_of(glance: &Glance<'_>, root: &HostPath) -> Result<Option<HostPath>, GitError> {
    let dot_git = root.join(".git");
    match glance.stat(&dot_git)?.map(|stat| stat.kind) {
        None | Some(FileKind::Other) => Ok(None),
        // An empty folder called `.git` is no repository; git walks on, and so do we.
        Some(FileKind::Folder | FileKind::Link) if glance.exists(&dot_git.join("HEAD"))? => Ok(Some(dot_git)),
        Some(FileKind::Folder) => Ok(None),
        Some(FileKind::File | FileKind::Link) => {
            let text = glance.read_if_there(&dot_git)?.unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let target = text.strip_prefix("gitdir: ").map(|rest| rest.trim_end_matches(['\n', '\r']));
            Ok(target.map(|target| root.join(target).normalized()))
        }
    }
}

fn common_dir_of(glance: &Glance<'_>, git_dir: &HostPath) -> Result<HostPath, GitError> {
    Ok(match glance.read_if_there(&git_dir.join(COMMON_DIR))? {
        None => git_dir.clone(),
        Some(bytes) => git_dir.join(String::from_utf8_lossy(&bytes).trim_end()).normalized(),
    })
}
