//! Commits that were made in a checkout whose HEAD had been taken off its branch: they are kept by a ref of their own before
//! the checkout goes back onto the branch.
//!
//! Processes: those of [`Git::attach_head`], and two more only where there are such commits. On another machine one round
//! trip.

use crate::proc::{Cmd, Exit};

use super::client::Git;
use super::error::{GitError, classify};

/// What runs on another machine. The checkout, the commit it was left at, the beginning of the new ref's name, the branch.
/// Prints how many commits are kept and by which ref.
const AFAR: &str = r#"
if ! git -C "$1" symbolic-ref -q HEAD >/dev/null; then
    head=$(git -C "$1" rev-parse -q --verify 'HEAD^{commit}')
    if [ -n "$head" ] && [ "$head" != "$2" ]; then
        count=$(git -C "$1" rev-list --count "$head" --not --exclude='refs/mngr/*' --exclude='refs/bisect/*' \
            --exclude='refs/worktree/*' --exclude='refs/rewritten/*' --glob='refs/*') || exit
        name=$3-$(printf %.12s "$head")
        if [ "$count" != 0 ]; then
            git -C "$1" update-ref "$name" "$head" || exit
            echo "$count $name"
        fi
    fi
fi
git -C "$1" symbolic-ref -m 'mngr: attach' HEAD "$4""#;

/// Commits that only a ref of ours holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateCommits {
    /// The ref.
    pub name: String,
    /// How many they are.
    pub count: u64,
}

impl Git<'_> {
    /// [`Git::attach_head`] for a checkout that was left at `known`. Commits that were made since and that no ref holds are
    /// kept by a ref whose name begins with `prefix`.
    ///
    /// # Errors
    /// When the ref or HEAD could not be written. HEAD is only changed after the ref.
    pub fn attach_head_keeping(
        &self,
        branch: &str,
        known: &str,
        prefix: &str,
    ) -> Result<Option<LateCommits>, GitError> {
        if self.host().reach().is_none() {
            let late = self.keep_late_commits(known, prefix)?;
            self.attach_head(branch)?;
            return Ok(late);
        }
        let own = self.act(["symbolic-ref"]).cmd();
        let words = ["attach", self.dir().as_str(), known, prefix, &format!("refs/heads/{branch}")];
        let shell = Cmd::shell(AFAR).args(words);
        let cmd = Cmd { env: own.env.clone(), deadline: own.deadline, ..shell };
        let output = self.run_after(&[], &cmd)?;
        if output.exit != Exit::Code(0) {
            return Err(classify("symbolic-ref", self.dir(), &output));
        }
        let text = output.stdout_text();
        let told = text.trim().split_once(' ');
        Ok(told.and_then(|(count, name)| {
            Some(LateCommits { name: name.to_owned(), count: count.parse().ok()? })
        }))
    }

    /// Makes the ref, if HEAD is detached at something else than `known` that no ref holds.
    ///
    /// # Errors
    /// When the ref could not be written, or HEAD not be read.
    pub fn keep_late_commits(&self, known: &str, prefix: &str) -> Result<Option<LateCommits>, GitError> {
        let location = self.require_location()?;
        let head = self.host().files().read_if_there(&location.git_dir.join("HEAD"))?.unwrap_or_default();
        let head = String::from_utf8_lossy(&head).trim().to_owned();
        let is_commit = !head.is_empty() && head.bytes().all(|digit| digit.is_ascii_hexdigit());
        // A HEAD that is a branch is held by it.
        if !is_commit || head == known {
            return Ok(None);
        }
        let count = self.commits_not_held_elsewhere(&head, &[])?;
        if count == 0 {
            return Ok(None);
        }
        let name = format!("{prefix}-{}", head.get(..12).unwrap_or(&head));
        self.create_ref(&name, &head)?;
        Ok(Some(LateCommits { name, count }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mngr_model::host::HostInfo;

    use super::*;
    use crate::git::testing::TestRepo;
    use crate::remote::RemoteHost;
    use crate::remote::testing::{ShellLine, with_shells};

    /// A checkout that was taken off its branch `topic`, and the commit it was left at.
    fn left(repo: &TestRepo) -> String {
        repo.run(&["checkout", "--quiet", "-b", "topic"]);
        let known = repo.commit("known");
        repo.git().detach_head_in_place(&known).unwrap();
        known
    }

    fn check(repo: &TestRepo, git: &Git<'_>) {
        let known = left(repo);
        assert_eq!(git.attach_head_keeping("topic", &known, "refs/mngr/rescue/a-late").unwrap(), None);
        assert_eq!(repo.run(&["branch", "--show-current"]), "topic");
        assert_eq!(git.attach_head_keeping("topic", &known, "refs/mngr/rescue/a-late").unwrap(), None);
        git.detach_head_in_place(&known).unwrap();
        repo.commit("late 1");
        let late = repo.commit("late 2");
        let kept = git.attach_head_keeping("topic", &known, "refs/mngr/rescue/a-late").unwrap().unwrap();
        assert_eq!(kept.name, format!("refs/mngr/rescue/a-late-{}", &late[..12]));
        assert_eq!((kept.count, repo.run(&["rev-parse", &kept.name])), (2, late));
        assert_eq!(repo.run(&["rev-parse", "HEAD"]), known);
        assert_eq!(repo.run(&["branch", "--show-current"]), "topic");
        assert_eq!(repo.run(&["for-each-ref", "--format=%(refname)", "refs/mngr"]).lines().count(), 1);
    }

    #[test]
    fn commits_made_meanwhile_are_kept_before_the_checkout_goes_back_onto_its_branch() {
        let repo = TestRepo::with_commit();
        check(&repo, &repo.git());
    }

    #[test]
    fn commits_made_meanwhile_on_another_machine_are_kept_in_one_round_trip() {
        let repo = TestRepo::with_commit();
        let (_line, shells) = with_shells(ShellLine::to("/bin/dash"));
        let info = HostInfo {
            id: crate::random::host_id(),
            name: "box".parse().unwrap(),
            provider: "ssh".parse().unwrap(),
            host_dir: repo.outside("host"),
            home: None,
        };
        let host = RemoteHost::new(info, Arc::new(shells));
        check(&repo, &Git::new(&host, repo.host_path("")));
    }
}
