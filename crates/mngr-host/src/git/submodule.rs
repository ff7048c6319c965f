//! Submodules of a new checkout, filled from the checkout it was made from. Never touches the network.
//!
//! Processes: none without a `.gitmodules`; else 1 to list, 1 to fill, and 2 per submodule for its origin.

use mngr_model::HostPath;

use crate::files::{Access, Durability, FileKind};

use super::client::{Git, LONG};
use super::error::{GitError, SubmoduleProblem};
use super::url::strip_credentials;

/// A submodule as `.gitmodules` declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submodule {
    /// Its name, which need not be its path.
    pub name: String,
    /// Its folder below the root of the checkout.
    pub path: String,
}

impl Git<'_> {
    /// The submodules declared in the checkout rooted here.
    pub fn submodules(&self) -> Result<Vec<Submodule>, GitError> {
        if !self.has_gitmodules(self.dir())? {
            return Ok(Vec::new());
        }
        let file = self.dir().join(".gitmodules");
        let listing = self
            .look(["config", "--file", file.as_str(), "-z", "--get-regexp", r"^submodule\..*\.path$"])
            .output()?;
        Ok(parse_paths(&String::from_utf8_lossy(&listing.stdout)))
    }

    /// Fills the submodules that `source`, a checkout on the same host, has filled. Others stay empty, as they are
    /// there.
    pub(super) fn fill_submodules(&self, source: &Git<'_>) -> Result<(), GitError> {
        let mut filled = Vec::new();
        for submodule in self.submodules()? {
            if source.has_filled(&submodule)? {
                filled.push(submodule);
            }
        }
        let Some(first) = filled.first() else { return Ok(()) };
        // Git forbids the file protocol for submodules by default because their URLs come from the repository. Here
        // every URL is replaced by a path of our own, and only those submodules are named.
        let mut update =
            self.act(["submodule", "--quiet", "update", "--init", "--checkout", "--no-recommend-shallow"]);
        update = update.setting("protocol.file.allow=always").deadline(LONG).arg("--");
        for Submodule { name, path } in &filled {
            if name.contains(['=', '\n']) {
                return Err(GitError::Submodules {
                    path: path.clone(),
                    problem: SubmoduleProblem::UnusableName,
                });
            }
            update =
                update.setting(format!("submodule.{name}.url={}", source.dir().join(path))).arg(path.clone());
        }
        update.run().map_err(|error| missing_commit(error, &first.path))?;
        for Submodule { path, .. } in &filled {
            let (copy, original) = (self.at(self.dir().join(path)), source.at(source.dir().join(path)));
            copy.adopt_origin_of(&original)?;
            copy.fill_submodules(&original)?;
        }
        Ok(())
    }

    /// Fails if the checkout rooted here has a filled submodule: it could not be carried to another host.
    pub(super) fn refuse_filled_submodules(&self) -> Result<(), GitError> {
        for submodule in self.submodules()? {
            if self.has_filled(&submodule)? {
                return Err(GitError::Submodules {
                    path: submodule.path,
                    problem: SubmoduleProblem::OtherHost,
                });
            }
        }
        Ok(())
    }

    /// Points the submodules of a checkout that was moved from `old` at their repositories again: git links the two
    /// by relative paths in both directions.
    pub(super) fn relink_submodules(&self, old: &HostPath) -> Result<(), GitError> {
        for Submodule { path, .. } in self.submodules()? {
            let (was, now) = (old.join(&path), self.dir().join(&path));
            let link = now.join(".git");
            let files = self.host().files();
            if files.stat(&link)?.is_some_and(|stat| stat.kind == FileKind::File) {
                let text = files.read_text(&link)?;
                let Some(target) = text.trim_end().strip_prefix("gitdir: ") else { continue };
                let git_dir = was.join(target).normalized();
                files.write(
                    &link,
                    format!("gitdir: {git_dir}\n").as_bytes(),
                    Access::Shared,
                    Durability::Cached,
                )?;
                let settings = git_dir.join("config");
                self.act(["config", "--file", settings.as_str(), "core.worktree", now.as_str()]).run()?;
            }
            self.at(now).relink_submodules(&was)?;
        }
        Ok(())
    }

    fn has_filled(&self, submodule: &Submodule) -> Result<bool, GitError> {
        Ok(self.host().files().exists(&self.dir().join(&submodule.path).join(".git"))?)
    }

    /// The copy was cloned from a path on this host; what it should follow is what the original follows.
    fn adopt_origin_of(&self, original: &Git<'_>) -> Result<(), GitError> {
        let url = original.look(["config", "--get", "remote.origin.url"]).output()?;
        if url.success() {
            let clean = strip_credentials(&url.stdout_text());
            self.act(["config", "remote.origin.url", &clean]).run()?;
        } else {
            self.act(["remote", "remove", "origin"]).run()?;
        }
        Ok(())
    }
}

/// Reads `submodule.NAME.path\nPATH\0...`. A path that leaves the checkout is none of ours.
fn parse_paths(listing: &str) -> Vec<Submodule> {
    let entry = |record: &str| {
        let (key, path) = record.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        let is_inside =
            !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"));
        is_inside.then(|| Submodule { name: name.to_owned(), path: path.to_owned() })
    };
    listing.split('\0').filter_map(entry).collect()
}

fn missing_commit(error: GitError, path: &str) -> GitError {
    const PHRASES: [&str; 4] =
        ["did not contain", "not our ref", "Unable to find current", "unable to read tree"];
    match error {
        GitError::Failed { stderr, .. } if PHRASES.iter().any(|phrase| stderr.contains(phrase)) => {
            let named = stderr.split('\'').nth(1).unwrap_or(path).to_owned();
            GitError::Submodules { path: named, problem: SubmoduleProblem::CommitMissing }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::git::testing::TestRepo;
    use crate::git::{MoveOutcome, StartPoint};

    /// A repository with a submodule `lib/sub dir` that itself has a submodule `inner`; their own origins are gone.
    fn with_submodules() -> TestRepo {
        let repo = TestRepo::with_commit();
        for (name, inner) in [("inner", None), ("outer", Some("inner"))] {
            let dir = repo.outside(name);
            fs::create_dir(dir.as_str()).unwrap();
            repo.run_in(dir.as_str(), &["init", "--quiet", "--initial-branch=main"]);
            repo.write_at(&dir.join("file"), name);
            if let Some(inner) = inner {
                let url = repo.outside(inner);
                repo.run_in(
                    dir.as_str(),
                    &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url.as_str(), inner],
                );
            }
            repo.commit_in(dir.as_str(), "content");
        }
        let url = repo.outside("outer");
        repo.run(&[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            url.as_str(),
            "lib/sub dir",
        ]);
        repo.run(&[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "update",
            "--init",
            "--recursive",
        ]);
        repo.commit("submodule");
        for name in ["inner", "outer"] {
            fs::rename(repo.outside(name).as_str(), repo.outside(&format!("{name} gone")).as_str()).unwrap();
        }
        repo
    }

    fn assert_carried(repo: &TestRepo, root: &HostPath) {
        assert_eq!(repo.read_at(&root.join("lib/sub dir/file")).as_deref(), Some("outer"));
        assert_eq!(repo.read_at(&root.join("lib/sub dir/inner/file")).as_deref(), Some("inner"));
        repo.git().at(root.clone()).inspect().unwrap().require_clean().unwrap();
        let origin = repo.run_in(root.join("lib/sub dir").as_str(), &["config", "remote.origin.url"]);
        assert_eq!(origin, repo.outside("outer").as_str());
    }

    #[test]
    fn a_worktree_gets_its_submodules_from_the_source_without_their_origins() {
        let repo = with_submodules();
        let settings = repo.read_at(&repo.host_path(".git/config"));
        let wt = repo.outside("wt");
        repo.git().add_worktree(&wt, &StartPoint::NewBranch { name: "x", base: "HEAD" }).unwrap();
        assert_carried(&repo, &wt);
        assert_eq!(
            repo.read_at(&repo.host_path(".git/config")),
            settings,
            "the source's settings stay as they are"
        );
    }

    #[test]
    fn a_moved_worktree_keeps_working_submodules_with_their_uncommitted_work() {
        let repo = with_submodules();
        let (wt, away) = (repo.outside("wt"), repo.outside("trash/x"));
        repo.git().add_worktree(&wt, &StartPoint::NewBranch { name: "x", base: "HEAD" }).unwrap();
        repo.write_at(&wt.join("lib/sub dir/inner/new"), "n");
        let before = repo.status_of(wt.as_str());
        assert_eq!(repo.git().at(wt.clone()).move_checkout(&away).unwrap(), MoveOutcome::Complete);
        assert_eq!(repo.status_of(away.as_str()), before);
        assert!(repo.status_of(away.join("lib/sub dir/inner").as_str()).contains("? new"));
        repo.git().at(away.clone()).move_checkout(&wt).unwrap();
        assert_eq!(repo.status_of(wt.as_str()), before);
    }

    #[test]
    fn a_mirror_gets_its_submodules_from_the_source() {
        let repo = with_submodules();
        let copy = repo.git_at("copy");
        let start = StartPoint::NewBranch { name: "x", base: "HEAD" };
        repo.git().mirror_into(&copy, &start).unwrap();
        assert_carried(&repo, copy.dir());
    }

    #[test]
    fn a_submodule_the_source_has_not_filled_stays_empty() {
        let repo = with_submodules();
        repo.run(&["submodule", "--quiet", "deinit", "--force", "--all"]);
        let wt = repo.outside("wt");
        repo.git().add_worktree(&wt, &StartPoint::NewBranch { name: "x", base: "HEAD" }).unwrap();
        assert_eq!(repo.read_at(&wt.join("lib/sub dir/file")), None);
    }

    #[test]
    fn a_submodule_whose_commit_is_nowhere_here_is_refused() {
        let repo = with_submodules();
        let nowhere = "160000,1234567890123456789012345678901234567890,lib/sub dir";
        repo.run(&["update-index", "--cacheinfo", nowhere]);
        repo.run(&["commit", "--quiet", "-m", "points at nothing"]);
        let error = repo
            .git()
            .add_worktree(&repo.outside("wt"), &StartPoint::NewBranch { name: "x", base: "HEAD" })
            .unwrap_err();
        assert!(
            matches!(&error, GitError::Submodules { path, problem: SubmoduleProblem::CommitMissing } if path == "lib/sub dir"),
            "{error:?}"
        );
    }

    #[test]
    fn paths_that_leave_the_checkout_are_ignored() {
        let listing = "submodule.a.path\nlib/a\0submodule.b.c.path\n../x\0submodule.d.path\n.git/hooks\0";
        assert_eq!(parse_paths(listing), [Submodule { name: "a".to_owned(), path: "lib/a".to_owned() }]);
    }
}
