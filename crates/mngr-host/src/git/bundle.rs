//! Taking in a bundle from someone who is not trusted: into a repository of its own first, every object checked.
//!
//! Processes: two to make a quarantine; fetch, check and resolve for a bundle; two for one that was checked. What the bundle may hold is for the caller to decide.

use std::time::Duration;

use mngr_model::HostPath;

use crate::files::{Access, Durability};

use super::client::Git;
use super::error::GitError;

/// Blobs above this size are checked piece by piece instead of in memory.
const STREAMED_FROM: &str = "core.bigFileThreshold=1m";

/// How often a fetch that was disturbed by another one is begun anew, and how long to let that one finish.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(50);

/// Fetches, which may be done again: many agents of one repository are taken in at the same time, and git may meet a ref
/// of another fetch whose objects it does not see yet.
pub(super) fn undisturbed<T>(fetch: impl Fn() -> Result<T, GitError>) -> Result<T, GitError> {
    for _ in 1..TRIES {
        match fetch() {
            Err(error) if error.is_disturbance() => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
    fetch()
}

impl Git<'_> {
    /// Makes this folder, which must not exist yet, a repository that can read the objects of `lender` on the same host.
    /// Whatever it takes in stays out of the lender's.
    pub fn init_quarantine(&self, lender: &Git<'_>) -> Result<(), GitError> {
        let location = lender.require_location()?;
        let format = lender.look(["rev-parse", "--show-object-format"]).line()?;
        let files = self.host().files();
        files.make_new_folder(self.dir(), Access::Private)?;
        // Without a template: hooks of the user have no business here. Not bare: `safe.bareRepository` may forbid that.
        self.act(["init", "--quiet", "--template=", "--initial-branch=mngr/unborn"])
            .arg(format!("--object-format={format}"))
            .run()?;
        files.make_folder(&self.dir().join(".git/objects/info"))?;
        let lent = format!("{}/objects\n", location.common_dir);
        let alternates = self.dir().join(".git/objects/info/alternates");
        files.write(&alternates, lent.as_bytes(), Access::Private, Durability::Cached)?;
        Ok(())
    }

    /// Takes one branch out of a bundle and returns its tip. Fails if an object of the bundle is malformed or missing,
    /// or if a commit it builds on is not here.
    pub fn fetch_bundle(&self, bundle: &HostPath, branch: &str) -> Result<String, GitError> {
        let name = format!("refs/heads/{branch}");
        undisturbed(|| {
            self.act(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"])
                // One pack, whatever the number of objects: it is checked as a whole below.
                .setting("fetch.unpackLimit=1")
                .setting(STREAMED_FROM)
                // The lender may hold the objects already, unchecked: an agent's worktree shares its repository.
                .arg("--refetch")
                .args(["--no-auto-maintenance", "--", bundle.as_str(), &format!("+{name}:{name}")])
                .run()
        })?;
        self.check_packs()?;
        self.resolve(&name)
    }

    /// Brings the commits of a branch in a bundle that was checked here, and returns its tip. No ref holds them, not even
    /// while this happens: there is nothing that a kill could leave behind.
    pub fn take_bundle(&self, bundle: &HostPath, branch: &str) -> Result<String, GitError> {
        let name = format!("refs/heads/{branch}");
        let heads = self.look(["bundle", "list-heads", bundle.as_str(), &name]).line()?;
        undisturbed(|| {
            self.act(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"])
                .args(["--no-auto-maintenance", "--", bundle.as_str(), &name])
                .run()
        })?;
        match heads.split_once(' ') {
            Some((oid, _)) => Ok(oid.to_owned()),
            None => Err(GitError::Unreadable { what: "bundle list-heads", text: heads }),
        }
    }

    /// `fetch.fsckObjects` would do this on the way in, but for bundles only since git 2.46.
    fn check_packs(&self) -> Result<(), GitError> {
        let packs = self.dir().join(".git/objects/pack");
        for entry in self.host().files().list(&packs)? {
            if entry.name.ends_with(".pack") {
                let index = packs.join("checked.idx");
                self.act(["index-pack", "--fsck-objects", "-o", index.as_str()])
                    .setting(STREAMED_FROM)
                    .arg(packs.join(&entry.name).as_str())
                    .run()?;
                self.host().files().remove_file(&index)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::git::testing::TestRepo;

    #[test]
    fn a_quarantine_takes_in_what_builds_on_the_lender_and_the_lender_gets_nothing() {
        let repo = TestRepo::with_commit();
        repo.run(&["checkout", "--quiet", "-b", "work/x"]);
        repo.write("new", "x");
        let tip = repo.commit("new");
        let bundle = repo.outside("b.bundle");
        repo.run(&["bundle", "create", "--quiet", bundle.as_str(), "main..work/x"]);
        repo.run(&["checkout", "--quiet", "main"]);
        repo.run(&["branch", "-D", "work/x"]);
        repo.run(&["reflog", "expire", "--expire=now", "--all"]);
        repo.run(&["gc", "--quiet", "--prune=now"]);
        let quarantine = repo.git_at("quarantine");
        quarantine.init_quarantine(&repo.git()).unwrap();
        assert_eq!(quarantine.fetch_bundle(&bundle, "work/x").unwrap(), tip);
        assert!(repo.git().resolve(&tip).is_err());
    }

    #[test]
    fn a_checked_bundle_is_taken_without_a_trace_but_its_commits() {
        let repo = TestRepo::with_commit();
        let other = repo.outside("clone");
        repo.run(&["clone", "--quiet", repo.path(), other.as_str()]);
        repo.run(&["checkout", "--quiet", "-b", "work/x"]);
        repo.write("new", "x");
        let tip = repo.commit("new");
        let bundle = repo.outside("b.bundle");
        repo.run(&["bundle", "create", "--quiet", bundle.as_str(), "main..work/x"]);
        let clone = repo.git_at("clone");
        let refs = || clone.look(["for-each-ref"]).line().unwrap();
        let before = refs();
        assert!(clone.resolve(&tip).is_err());
        assert_eq!(clone.take_bundle(&bundle, "work/x").unwrap(), tip);
        assert_eq!(clone.resolve(&tip).unwrap(), tip);
        assert_eq!(refs(), before);
        assert!(clone.take_bundle(&bundle, "work/y").is_err());
    }

    #[test]
    fn a_malformed_object_is_refused() {
        let repo = TestRepo::with_commit();
        let blob = repo.run(&["hash-object", "-w", "a.txt"]);
        let entry = format!("100644 blob {blob}\t.git\n");
        std::fs::write(repo.outside("entries").as_str(), entry).unwrap();
        let script = "git mktree < ../entries";
        let output = std::process::Command::new("sh").args(["-c", script]).current_dir(repo.path()).output();
        let tree = String::from_utf8(output.unwrap().stdout).unwrap();
        let commit = repo.run(&["commit-tree", "-p", "main", "-m", "evil", tree.trim()]);
        repo.run(&["update-ref", "refs/heads/evil", &commit]);
        let bundle = repo.outside("b.bundle");
        repo.run(&["bundle", "create", "--quiet", bundle.as_str(), "main..evil"]);
        let quarantine = repo.git_at("quarantine");
        quarantine.init_quarantine(&repo.git()).unwrap();
        let error = quarantine.fetch_bundle(&bundle, "evil").unwrap_err();
        assert!(error.to_string().contains("hasDotgit"), "{error}");
    }
}
