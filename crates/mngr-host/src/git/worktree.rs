//! Linked worktrees: made, moved, removed, listed.
//!
//! Processes: `add_worktree` 2 (more with submodules), `move_checkout` 1 (2 and more in the
//! fallback), `remove_worktree` 1, `list_worktrees` 1.
//!
//! Git's own bookkeeping of worktrees is not safe against itself: of many `git worktree add` at once some fail, and a
//! `remove` may delete the folder an `add` has just made. So every change of that bookkeeping is made under a lock in
//! the repository. Writing the files, which takes most of the time, is done outside it.

use std::time::Duration;

use mngr_model::HostPath;
use mngr_model::quote::sh_join;

use crate::errand::{Errand, ErrandError};
use crate::fault;
use crate::files::Change;
use crate::host::Host;
use crate::lock::{HostLock, LockError, LockWait};
use crate::proc::{Cmd, Exit, Output};

use super::client::{Git, Invocation, LONG};
use super::error::{GitError, classify};
use super::locate::Location;
use super::start::StartPoint;

/// The lock file, in the folder all checkouts share.
const LOCK_FILE: &str = "mngr-worktree.lock";

/// Long enough for a thousand others to go first.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(120);

/// What runs on another machine: `register` under the lock, then `check_out`; prints something where the new worktree has
/// submodules. The lock file, the seconds to wait for it, the file that tells of submodules.
const AFAR: &str = r#"exec 9>>"$1" || exit
flock -w "$2" 9 || exit 75
register 9>&- || exit
exec 9>&-
check_out || exit
[ ! -e "$3" ] || echo submodules"#;

/// What [`AFAR`] returns when it waited in vain.
pub(super) const LOCK_IS_HELD: i32 = 75;

/// Whether a worktree has submodules.
#[derive(PartialEq, Eq)]
enum Submodules {
    None,
    Some,
}

/// How far a move got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveOutcome {
    /// The files are at the new place, and git knows it if it has to.
    Complete,
    /// The files are at the new place, but the repository they belong to could not be told.
    FilesOnly {
        /// What git said.
        reason: String,
    },
}

/// What removing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveOutcome {
    /// Files and bookkeeping are gone.
    Removed,
    /// Git knew no worktree at that path; nothing was touched.
    NotRegistered,
}

/// A checkout git knows of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorktreeEntry {
    /// Its folder.
    pub path: String,
    /// The commit it has checked out; `None` when bare.
    pub head: Option<String>,
    /// The branch it has checked out; `None` when detached.
    pub branch: Option<String>,
    /// Whether its folder is missing.
    pub is_prunable: bool,
}

impl Git<'_> {
    /// Makes a worktree with all its files, and the submodules that this checkout has.
    ///
    /// On failure the worktree and a new branch may be left; [`Git::remove_worktree`] and
    /// [`Git::delete_branch`] undo them.
    pub fn add_worktree(&self, path: &HostPath, start: &StartPoint<'_>) -> Result<(), GitError> {
        self.add_worktree_after(&[], path, start)
    }

    /// The same, after changes of files. One round trip, and some more for submodules.
    pub fn add_worktree_after(
        &self,
        changes: &[Change],
        path: &HostPath,
        start: &StartPoint<'_>,
    ) -> Result<(), GitError> {
        start.refuse_options()?;
        let worktree = self.at(path.clone());
        if self.host().reach().is_some() {
            if self.add_worktree_afar(&worktree, start, changes)? == Submodules::None {
                return Ok(());
            }
        } else {
            self.host().files().apply(changes)?;
            self.register_worktree(path, start)?;
            fault::point();
            worktree.check_out(start).run()?;
            fault::point();
        }
        worktree.fill_submodules(&self.at(self.require_location()?.root))
    }

    /// Writes the files of a worktree that git knows already.
    pub fn fill_worktree(&self, path: &HostPath, start: &StartPoint<'_>) -> Result<(), GitError> {
        let worktree = self.at(path.clone());
        worktree.check_out(start).run()?;
        worktree.fill_submodules(&self.at(self.require_location()?.root))
    }

    /// The bookkeeping, under a lock that is taken there, and the files, in one script.
    fn add_worktree_afar(
        &self,
        worktree: &Git<'_>,
        start: &StartPoint<'_>,
        changes: &[Change],
    ) -> Result<Submodules, GitError> {
        let lock = self.lock_file()?;
        let (register, check_out) =
            (self.registration(worktree.dir(), start).cmd(), worktree.check_out(start).cmd());
        let words = |cmd: &Cmd| sh_join(std::iter::once(&cmd.program).chain(&cmd.args));
        let script = format!(
            "register() {{ {}; }}\ncheck_out() {{ {}; }}\n{AFAR}",
            words(&register),
            words(&check_out)
        );
        let shell = Cmd::shell(script).args(["worktree", lock.as_str(), &LOCK_WAIT.as_secs().to_string()]);
        let cmd = Cmd { env: register.env.clone(), deadline: LOCK_WAIT + check_out.deadline, ..shell }
            .locks_in(self.dir())
            .arg(worktree.dir().join(".gitmodules").as_str());
        let output = self.run_after(changes, &cmd)?;
        match output.exit {
            Exit::Code(0) if output.stdout.is_empty() => Ok(Submodules::None),
            Exit::Code(0) => Ok(Submodules::Some),
            Exit::Code(LOCK_IS_HELD) => Err(LockError::Held { path: lock }.into()),
            _ => Err(not_added(classify("worktree add", self.dir(), &output), self, worktree.dir())),
        }
    }

    fn registration(&self, path: &HostPath, start: &StartPoint<'_>) -> Invocation<'_> {
        let command = self.act(["worktree", "add", "--quiet", "--no-checkout", "--no-guess-remote"]);
        match start {
            StartPoint::Branch(name) => command.args(["--", path.as_str(), name]),
            // A new branch is made by the checkout that follows: `add -b` would run one more git under the lock.
            StartPoint::NewBranch { base: rev, .. } | StartPoint::Commit(rev) => {
                command.args(["--detach", "--", path.as_str(), rev])
            }
        }
    }

    /// The bookkeeping, under the lock, without files and without a new branch.
    pub(super) fn register_worktree(&self, path: &HostPath, start: &StartPoint<'_>) -> Result<(), GitError> {
        start.refuse_options()?;
        let _lock = self.lock_worktrees()?;
        match self.registration(path, start).run() {
            Ok(_) => Ok(()),
            Err(error) => Err(not_added(error, self, path)),
        }
    }

    /// What makes a new branch, and files and index what HEAD has. As `git worktree add` does, this runs the
    /// `post-checkout` hook.
    fn check_out(&self, start: &StartPoint<'_>) -> Invocation<'_> {
        let command = self.act(["checkout", "--quiet", "--force"]).deadline(LONG);
        match start {
            StartPoint::NewBranch { name, .. } => command.args(["--no-track", "-b", name]),
            StartPoint::Branch(_) | StartPoint::Commit(_) => command,
        }
    }

    /// Moves a checkout with everything in it: staged, untracked and ignored files, nested repositories.
    ///
    /// Any folder will do: a worktree, a repository of its own, or no repository at all. Where git refuses to move a
    /// worktree (submodules, another file system) the folder is moved as it is and git is told afterwards.
    pub fn move_checkout(&self, to: &HostPath) -> Result<MoveOutcome, GitError> {
        let (files, from) = (self.host().files(), self.dir().normalized());
        if files.exists(to)? {
            return Err(GitError::PathTaken { path: to.clone() });
        }
        if let Some(parent) = to.parent() {
            files.make_folder(&parent)?;
        }
        match self.locate()?.filter(|location| location.root == from) {
            Some(location) if location.is_linked_worktree() => self.move_worktree(&location, to),
            // A repository of its own, which may be the home of worktrees that then have to find it; or a worktree
            // whose repository is gone.
            Some(_) => {
                move_folder(self.host(), &from, to)?;
                self.at(to.clone()).repair_worktrees()
            }
            None => {
                move_folder(self.host(), &from, to)?;
                Ok(MoveOutcome::Complete)
            }
        }
    }

    /// Twice forced: a worktree the user has locked may move, too; its lock goes with it.
    pub(super) fn moving_worktree(&self, from: &HostPath, to: &HostPath) -> Invocation<'_> {
        self.act(["worktree", "move", "--force", "--force", "--", from.as_str(), to.as_str()])
    }

    fn move_worktree(&self, location: &Location, to: &HostPath) -> Result<MoveOutcome, GitError> {
        let (files, from) = (self.host().files(), &location.root);
        let _lock = Git::in_checkout(self.host(), location.clone()).lock_worktrees()?;
        let repository = self.at(location.common_dir.clone());
        match repository.moving_worktree(from, to).run() {
            Ok(_) => return Ok(MoveOutcome::Complete),
            Err(GitError::Exec(error)) => return Err(GitError::Exec(error)),
            // Git may also have failed after the rename.
            Err(_) if files.exists(to)? => {}
            Err(_) => move_folder(self.host(), from, to)?,
        }
        let moved = self.at(to.clone());
        let outcome = moved.repair_worktrees()?;
        if outcome == MoveOutcome::Complete {
            moved.relink_submodules(from)?;
        }
        Ok(outcome)
    }

    /// Joins a checkout that was moved by hand, and the worktrees it is home to, with their repository again.
    pub fn repair_worktrees(&self) -> Result<MoveOutcome, GitError> {
        match self.act(["worktree", "repair"]).run() {
            Ok(_) => Ok(MoveOutcome::Complete),
            Err(error) if error.is_interrupted() => Err(error),
            Err(error) => Ok(MoveOutcome::FilesOnly { reason: error.to_string() }),
        }
    }

    /// Deletes a worktree with everything in it, saved or not. Callers make sure that nothing is lost.
    pub fn remove_worktree(&self, path: &HostPath) -> Result<RemoveOutcome, GitError> {
        let remove = || {
            self.act(["worktree", "remove", "--force", "--force", "--", path.as_str()]).deadline(LONG).run()
        };
        let _lock = self.lock_worktrees()?;
        let removed = match remove() {
            // Its making was cut short: git knows it but does not find itself in the folder.
            Err(GitError::Failed { stderr, .. }) if stderr.contains("/.git' does not exist") => {
                self.host().files().remove_tree(path)?;
                remove()
            }
            other => other,
        };
        match removed {
            Ok(_) => Ok(RemoveOutcome::Removed),
            Err(GitError::Failed { stderr, .. }) if stderr.contains("is not a working tree") => {
                Ok(RemoveOutcome::NotRegistered)
            }
            Err(other) => Err(other),
        }
    }

    /// Every checkout of the repository, the main one first.
    pub fn list_worktrees(&self) -> Result<Vec<WorktreeEntry>, GitError> {
        self.list_worktrees_after(&[])
    }

    /// The same, after changes of files. One round trip.
    pub fn list_worktrees_after(&self, changes: &[Change]) -> Result<Vec<WorktreeEntry>, GitError> {
        let cmd = self.look(["worktree", "list", "--porcelain", "-z"]).cmd();
        let output = self.run_after(changes, &cmd)?;
        if !output.success() {
            return Err(classify("worktree list", self.dir(), &output));
        }
        Ok(parse_list(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Makes changes of files and runs a command. Any exit status is an answer.
    pub(super) fn run_after(&self, changes: &[Change], cmd: &Cmd) -> Result<Output, GitError> {
        match self.host().run_errand(&Errand { changes, cmd, then: &[], awaited: None }) {
            Ok(done) => Ok(done.output),
            Err(ErrandError::Files(error)) => Err(error.into()),
            Err(ErrandError::Exec(error)) => Err(error.into()),
        }
    }

    fn lock_worktrees(&self) -> Result<HostLock, GitError> {
        Ok(self.host().lock(&self.lock_file()?, LockWait::For(LOCK_WAIT))?)
    }

    fn lock_file(&self) -> Result<HostPath, GitError> {
        let shared = match self.known_location() {
            Some(location) => location.common_dir.clone(),
            // The folder may be the repository itself; a bare one has no checkout of its own to be found by.
            None if self.is_repository()? => self.dir().clone(),
            None => self.require_location()?.common_dir,
        };
        Ok(lock_file_in(&shared))
    }

    fn is_repository(&self) -> Result<bool, GitError> {
        let files = self.host().files();
        Ok(files.exists(&self.dir().join("HEAD"))? && files.exists(&self.dir().join("objects"))?)
    }
}

/// The lock file of the repository with this shared folder.
pub(super) fn lock_file_in(shared: &HostPath) -> HostPath {
    shared.join(LOCK_FILE)
}

/// What the failure of `git worktree add` means.
fn not_added(error: GitError, git: &Git<'_>, path: &HostPath) -> GitError {
    match error {
        GitError::UnknownRevision { rev } if rev == "HEAD" => GitError::NoCommits { path: git.dir().clone() },
        GitError::Failed { stderr, .. } if stderr.contains("already exists") => {
            GitError::PathTaken { path: path.clone() }
        }
        other => other,
    }
}

/// `mv` also moves between file systems, which a rename cannot.
fn move_folder(host: &dyn Host, from: &HostPath, to: &HostPath) -> Result<(), GitError> {
    match host.files().rename(from, to) {
        Ok(()) => return Ok(()),
        Err(error) if !error.is_cross_device() => return Err(error.into()),
        Err(_) => {}
    }
    let cmd = Cmd::new("mv").args(["--", from.as_str(), to.as_str()]).deadline(LONG);
    let output = host.exec(&cmd.known_by_its_command())?;
    if output.success() {
        return Ok(());
    }
    Err(GitError::Failed {
        what: "worktree move".to_owned(),
        stderr: output.stderr_text(),
        exit: output.exit,
    })
}

fn parse_list(text: &str) -> Vec<WorktreeEntry> {
    let mut entries: Vec<WorktreeEntry> = Vec::new();
    for line in text.split('\0') {
        let (label, value) = line.split_once(' ').unwrap_or((line, ""));
        if label == "worktree" {
            entries.push(WorktreeEntry { path: value.to_owned(), ..WorktreeEntry::default() });
        }
        let Some(entry) = entries.last_mut() else { continue };
        match label {
            "HEAD" => entry.head = Some(value.to_owned()),
            "branch" => entry.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned()),
            "prunable" => entry.is_prunable = true,
            _ => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests;
