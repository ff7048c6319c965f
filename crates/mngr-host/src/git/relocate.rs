//! Taking a worktree off its branch and moving it, on another machine: one round trip.
//!
//! Here the same steps one by one cost no more, see [`Git::detach_head_in_place`] and [`Git::move_checkout`].

use mngr_model::HostPath;
use mngr_model::quote::sh_join;

use crate::files::Change;
use crate::lock::LockError;
use crate::proc::{Cmd, Exit};

use super::client::Git;
use super::error::GitError;
use super::worktree::{LOCK_IS_HELD, LOCK_WAIT, lock_file_in};

/// What runs there: `leave` and `move` under the lock. The lock file, the seconds to wait for it, the new place, the folder
/// above it. Into a folder that is there git would move the worktree instead of making it that.
const AFAR: &str = r#"exec 9>>"$1" || exit
flock -w "$2" 9 || exit 75
{ [ ! -e "$3" ] && [ ! -L "$3" ]; } || exit
mkdir -p "$4" || exit
leave 9>&- && move 9>&-"#;

/// How far a worktree was relocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relocated {
    /// It is at the new place, and git knows it.
    Moved,
    /// Not in this way, and perhaps not at all or in part. The steps one by one tell why, or do it.
    NotMoved,
}

impl Git<'_> {
    /// Makes changes of files, then takes a worktree of this repository off its branch, where its commit is told, and
    /// moves it with everything in it.
    ///
    /// # Errors
    /// When a change could not be made, somebody else holds the worktrees, or nobody knows what became of it.
    pub fn relocate_worktree(
        &self,
        changes: &[Change],
        from: &HostPath,
        at: Option<&str>,
        to: &HostPath,
    ) -> Result<Relocated, GitError> {
        let lock = lock_file_in(self.dir());
        let words = |cmd: &Cmd| sh_join(std::iter::once(&cmd.program).chain(&cmd.args));
        let moving = self.moving_worktree(from, to).cmd();
        let checkout = self.at(from.clone());
        let leave = at.map_or_else(|| ":".to_owned(), |oid| words(&checkout.detaching(oid).cmd()));
        let script = format!("leave() {{ {leave}; }}\nmove() {{ {}; }}\n{AFAR}", words(&moving));
        let above = to.parent().unwrap_or_else(|| to.clone());
        let wait = LOCK_WAIT.as_secs().to_string();
        let shell = Cmd::shell(script).args(["relocate", lock.as_str(), &wait, to.as_str(), above.as_str()]);
        let cmd = Cmd { env: moving.env.clone(), deadline: LOCK_WAIT + moving.deadline, ..shell };
        match self.run_after(changes, &cmd)?.exit {
            Exit::Code(0) => Ok(Relocated::Moved),
            Exit::Code(LOCK_IS_HELD) => Err(LockError::Held { path: lock }.into()),
            _ => Ok(Relocated::NotMoved),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mngr_model::host::HostInfo;

    use super::*;
    use crate::files::Access;
    use crate::git::testing::TestRepo;
    use crate::remote::testing::{ShellLine, with_shells};
    use crate::remote::{RemoteHost, Shells};

    fn machine(shells: Shells, repo: &TestRepo) -> RemoteHost {
        let info = HostInfo {
            id: crate::random::host_id(),
            name: "box".parse().unwrap(),
            provider: "ssh".parse().unwrap(),
            host_dir: repo.outside("host"),
            home: None,
        };
        RemoteHost::new(info, Arc::new(shells))
    }

    #[test]
    fn a_worktree_leaves_its_branch_and_moves_and_one_that_cannot_stays_where_it_is() {
        let repo = TestRepo::with_commit();
        let (_line, shells) = with_shells(ShellLine::to("/bin/dash"));
        let host = machine(shells, &repo);
        let git = Git::new(&host, repo.host_path(".git"));
        let (from, to) = (repo.outside("wt"), repo.outside("new folder/moved"));
        repo.run(&["worktree", "add", "--quiet", "-b", "topic", from.as_str()]);
        repo.write_at(&from.join("untracked"), "u");
        let oid = repo.run(&["rev-parse", "HEAD"]);
        let note = Change::write(repo.outside("note"), "first", Access::Shared);

        // Into a folder that is there it would be moved, not to it.
        let taken = git.relocate_worktree(&[note], &from, Some(&oid), &repo.outside("")).unwrap();
        assert_eq!(taken, Relocated::NotMoved);
        assert_eq!(repo.read_at(&repo.outside("note")).as_deref(), Some("first"));
        assert_eq!(repo.run_in(from.as_str(), &["branch", "--show-current"]), "topic");

        assert_eq!(git.relocate_worktree(&[], &from, Some(&oid), &to).unwrap(), Relocated::Moved);
        assert_eq!(repo.read_at(&to.join("untracked")).as_deref(), Some("u"));
        assert_eq!(repo.run_in(to.as_str(), &["rev-parse", "HEAD"]), oid);
        assert_eq!(repo.run_in(to.as_str(), &["branch", "--show-current"]), "");
        repo.run(&["checkout", "--quiet", "topic"]);
        assert_eq!(git.relocate_worktree(&[], &from, Some(&oid), &to).unwrap(), Relocated::NotMoved);
    }
}
