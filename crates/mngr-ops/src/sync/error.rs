//! How `pull` and `push` fail. Unless it says otherwise, nothing was changed.

use mngr_host::beneath::LinkInTheWay;
use mngr_host::files::FilesError;
use mngr_host::git::GitError;
use mngr_host::interrupt::Interrupted;
use mngr_host::lock::LockError;
use mngr_host::rsync::RsyncError;
use mngr_model::{AgentName, HostPath};

use crate::stop::StopError;

/// How many file names a message repeats.
const SAMPLE: usize = 5;

/// Commits or files did not get where they should.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The agent's work dir is gone.
    #[error("the work dir of agent `{name}`, `{dir}`, does not exist")]
    NoWorkDir {
        /// The agent.
        name: AgentName,
        /// The folder.
        dir: HostPath,
    },
    /// The agent's work dir has no commits to bring.
    #[error("the work dir of agent `{name}`, `{dir}`, is not a git checkout, so it has no branch")]
    AgentWithoutGit {
        /// The agent.
        name: AgentName,
        /// The folder.
        dir: HostPath,
    },
    /// The user stands outside a repository.
    #[error("`{path}` is not in a git repository")]
    NotARepository {
        /// Where.
        path: HostPath,
    },
    /// A checkout is on no branch.
    #[error("`{checkout}` is on no branch (its HEAD is detached)")]
    Detached {
        /// The checkout.
        checkout: HostPath,
    },
    /// The branch to be merged into is not there.
    #[error("there is no branch `{branch}` in `{repository}`")]
    NoSuchBranch {
        /// Its name.
        branch: String,
        /// The repository.
        repository: HostPath,
    },
    /// The two sides have nothing to do with each other.
    #[error("branch `{branch}` and the repository `{repository}` have no commit in common")]
    OtherRepository {
        /// The branch.
        branch: String,
        /// The repository it was to be brought to.
        repository: HostPath,
    },
    /// The branch of that name holds commits that the incoming one lacks.
    #[error(
        "branch `{branch}` in `{repository}` has {ahead} commit(s) that the incoming one lacks, which has {behind} of its own"
    )]
    Diverged {
        /// Its name.
        branch: String,
        /// Where it is.
        repository: HostPath,
        /// Commits only the branch there has.
        ahead: u64,
        /// Commits only the incoming one has.
        behind: u64,
    },
    /// Moving the branch would move it under the files of a checkout.
    #[error("branch `{branch}` is checked out at `{at}`, so it cannot be moved from outside")]
    CheckedOut {
        /// Its name.
        branch: String,
        /// The checkout.
        at: HostPath,
    },
    /// Both sides changed the same lines.
    #[error("`{branch}` and `{into}` conflict in {}; nothing was changed", sample(.files))]
    Conflict {
        /// The branch to be merged.
        branch: String,
        /// The branch to be merged into.
        into: String,
        /// The files in conflict.
        files: Vec<String>,
    },
    /// Uncommitted files cannot be put on top of files that differ from those they were made from.
    #[error("uncommitted work in {} was made on other contents than `{into}` has; nothing was changed", sample(.files))]
    OverlayConflict {
        /// The branch they were to be put on.
        into: String,
        /// The files.
        files: Vec<String>,
    },
    /// Uncommitted work at the destination would be lost.
    #[error("uncommitted changes in `{checkout}` are in the way: {}; nothing was changed", sample(.files))]
    InTheWay {
        /// The checkout.
        checkout: HostPath,
        /// The files.
        files: Vec<String>,
    },
    /// What was asked for is done, but uncommitted work could not be brought back on top of it.
    #[error(
        "it is done, but your uncommitted changes in `{checkout}` do not fit on top; they are kept in the stash `{stash}`"
    )]
    NotBroughtBack {
        /// The checkout.
        checkout: HostPath,
        /// The commit that holds the work.
        stash: String,
        /// Why not.
        #[source]
        source: Box<GitError>,
    },
    /// It failed, and uncommitted work could not be brought back afterwards either.
    #[error(
        "it failed ({failure}), and your uncommitted changes in `{checkout}` are still in the stash `{stash}`"
    )]
    LeftAside {
        /// The checkout.
        checkout: HostPath,
        /// The commit that holds the work.
        stash: String,
        /// What failed first, with its causes.
        failure: String,
        /// Why they could not be brought back.
        #[source]
        source: Box<GitError>,
    },
    /// There is nothing at the path to be copied.
    #[error("`{path}` does not exist")]
    Missing {
        /// The path.
        path: HostPath,
    },
    /// Something else than a folder has a slash behind it, or is the destination of many files.
    #[error("`{path}` is not a folder")]
    NotAFolder {
        /// The path.
        path: HostPath,
    },
    /// A folder stands where a file should go.
    #[error("`{path}` is a folder")]
    IsAFolder {
        /// The path.
        path: HostPath,
    },
    /// It was not said what to copy to a place outside the agent's work dir.
    #[error("`{path}` is outside the agent's work dir, so it must be said which file or folder goes there")]
    NoSource {
        /// The place.
        path: HostPath,
    },
    /// The agent's branch is not where it was when it was looked at.
    #[error("the branch `{branch}` is no longer at `{commit}`, where it was looked at")]
    Moved {
        /// The branch.
        branch: String,
        /// The commit.
        commit: String,
    },
    /// Source and destination are the same folder.
    #[error("the agent works in `{path}` itself: there is nothing to copy")]
    SamePlace {
        /// The folder.
        path: HostPath,
    },
    /// The files would have gone behind a link, which leads anywhere.
    #[error("{0}")]
    Link(#[source] LinkInTheWay),
    /// Deleting what only the destination has could delete the source.
    #[error("`{one}` and `{other}` lie within one another, so nothing can be deleted there")]
    Overlap {
        /// The source.
        one: HostPath,
        /// The destination.
        other: HostPath,
    },
    /// It is not known which files of the destination may be deleted.
    #[error("`{path}` is not a git checkout, so it is not known which of its files may be deleted")]
    CannotDelete {
        /// The destination.
        path: HostPath,
    },
    /// A single file leaves nothing to be deleted.
    #[error("`{path}` is not a folder, so there is nothing to delete beside it")]
    NothingToDelete {
        /// The source.
        path: HostPath,
    },
    /// It was destroyed while something was sent to it.
    #[error("agent `{name}` was destroyed meanwhile; what had arrived is in the trash with its work dir")]
    Destroyed {
        /// Its name.
        name: AgentName,
    },
    /// Git said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Files could not be copied; some may have been.
    #[error("cannot copy the files; some may have been copied")]
    Copy(#[from] RsyncError),
    /// Files could not be looked at or made.
    #[error(transparent)]
    Files(FilesError),
    /// Another command works on the checkout.
    #[error("another pull or push is working on this checkout")]
    Busy(#[from] LockError),
    /// It is done, but the agent was not stopped.
    #[error("it is done, but the agent could not be stopped")]
    Stop(#[from] StopError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

/// The first names of a list, and how many more there are.
fn sample(files: &[String]) -> String {
    let mut text = files.iter().take(SAMPLE).map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
    if files.len() > SAMPLE {
        text.push_str(&format!(" and {} more", files.len() - SAMPLE));
    }
    text
}

impl From<FilesError> for SyncError {
    fn from(error: FilesError) -> Self {
        match error.link() {
            Some(link) => Self::Link(link.clone()),
            None => Self::Files(error),
        }
    }
}

impl SyncError {
    /// The files it is about.
    pub fn files(&self) -> &[String] {
        match self {
            Self::Conflict { files, .. }
            | Self::OverlayConflict { files, .. }
            | Self::InTheWay { files, .. } => files,
            Self::NotBroughtBack { source, .. } => match source.as_ref() {
                GitError::Conflict { files } => files,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// Whether it failed only because the user interrupted.
    pub fn is_interrupted(&self) -> bool {
        use mngr_host::proc::ExecError;
        match self {
            Self::Interrupted(_) | Self::Busy(LockError::Interrupted) => true,
            Self::Copy(RsyncError::Exec(ExecError::Interrupted)) => true,
            Self::Stop(StopError::Interrupted(_) | StopError::Exec(ExecError::Interrupted)) => true,
            Self::Git(error) => error.is_interrupted(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_files_is_cut() {
        let files: Vec<String> = (0..7).map(|n| format!("f{n}")).collect();
        let error = SyncError::InTheWay { checkout: HostPath::new("/r"), files };
        assert!(error.to_string().contains("`f4` and 2 more; nothing was changed"), "{error}");
        assert_eq!(error.files().len(), 7);
    }
}
