//! A repository of its own with all branches and tags of another one on the same host: the `git-mirror` transfer.
//!
//! Processes: resolve, init, fetch, read settings and check out, so five; one more for LFS objects, and those of the
//! submodules.

use mngr_model::HostPath;

use crate::files::Durability;

use super::client::{Git, LONG};
use super::error::GitError;
use super::start::StartPoint;
use super::url::strip_credentials;

/// Keeps the commit the mirror started from, which need not be on any branch.
const BASE_REF: &str = "refs/mngr/base";

/// HEAD of the mirror until its branch is checked out: no pushed branch may be the checked-out one.
const UNBORN: &str = "mngr/unborn";

const ALL_BRANCHES: &str = "+refs/heads/*:refs/heads/*";
const ALL_TAGS: &str = "+refs/tags/*:refs/tags/*";

/// The settings a mirror shares with its source, as git matches them.
const SHARED_SETTINGS: &str = r"^(user\.(name|email)|remote\.origin\.url|filter\.lfs\..*)$";

impl Git<'_> {
    /// Makes `mirror`, a folder that holds no repository yet, a repository with all branches and tags from here,
    /// checked out at `start`. On failure the folder is left for the caller to remove.
    pub fn mirror_into(&self, mirror: &Git<'_>, start: &StartPoint<'_>) -> Result<(), GitError> {
        let location = self.require_location()?;
        let source = self.at(location.root.clone());
        start.refuse_options()?;
        let base = self.resolve(start.revision())?;
        mirror.init_mirror(&base)?;
        mirror.fetch_everything(&location.root, &base)?;
        let git_dir = mirror.dir().join(".git");
        mirror.append_settings(&git_dir, &self.shared_settings()?)?;
        if let Some(rules) = self.host().files().read_if_there(&location.common_dir.join("info/exclude"))? {
            mirror.append_excludes(&git_dir, &rules)?;
        }
        self.carry_lfs_objects(&location.common_dir, &git_dir)?;
        mirror.check_out_start(start, &base)?;
        mirror.fill_submodules(&source)
    }

    pub(super) fn init_mirror(&self, base: &str) -> Result<(), GitError> {
        let files = self.host().files();
        if files.exists(&self.dir().join(".git"))? {
            return Err(GitError::PathTaken { path: self.dir().join(".git") });
        }
        files.make_folder(self.dir())?;
        // Repositories of different hash functions cannot exchange objects.
        let format = if base.len() == 64 { "--object-format=sha256" } else { "--object-format=sha1" };
        self.act(["init", "--quiet", format]).arg(format!("--initial-branch={UNBORN}")).run()?;
        Ok(())
    }

    /// The mirror fetches: that also works from a shallow clone, and runs no hook of the source.
    fn fetch_everything(&self, source: &HostPath, base: &str) -> Result<(), GitError> {
        self.act([
            "fetch",
            "--quiet",
            "--force",
            "--prune",
            "--no-tags",
            "--update-shallow",
            "--no-write-fetch-head",
        ])
        // Version 2 serves any commit by its hash, whether or not a ref is there.
        .setting("protocol.version=2")
        .args([
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--",
            source.as_str(),
            ALL_BRANCHES,
            ALL_TAGS,
        ])
        .arg(format!("{base}:{BASE_REF}"))
        .deadline(LONG)
        .run()?;
        Ok(())
    }

    /// The settings to be carried over, as text of a git configuration file; without credentials.
    pub(super) fn shared_settings(&self) -> Result<String, GitError> {
        let output = self.look(["config", "-z", "--get-regexp", SHARED_SETTINGS]).output()?;
        let listing = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut text = String::new();
        for (key, value) in listing.split('\0').filter_map(|record| record.split_once('\n')) {
            let value = if key == "remote.origin.url" { strip_credentials(value) } else { value.to_owned() };
            text.push_str(&setting_text(key, &value));
        }
        if text.contains("[remote \"origin\"]") {
            text.push_str("[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n");
        }
        Ok(text)
    }

    pub(super) fn append_settings(&self, git_dir: &HostPath, text: &str) -> Result<(), GitError> {
        Ok(self.host().files().append(&git_dir.join("config"), text.as_bytes(), Durability::Cached)?)
    }

    pub(super) fn append_excludes(&self, git_dir: &HostPath, rules: &[u8]) -> Result<(), GitError> {
        let files = self.host().files();
        files.make_folder(&git_dir.join("info"))?;
        Ok(files.append(&git_dir.join("info/exclude"), rules, Durability::Cached)?)
    }

    fn check_out_start(&self, start: &StartPoint<'_>, base: &str) -> Result<(), GitError> {
        let command = self.act(["checkout", "--quiet", "--force"]).deadline(LONG);
        let command = match start {
            StartPoint::NewBranch { name, .. } => command.args(["--no-track", "-B", name, base, "--"]),
            StartPoint::Branch(name) => command.args([name, "--"]),
            StartPoint::Commit(_) => command.args(["--detach", base, "--"]),
        };
        command.run()?;
        Ok(())
    }
}

/// `section.key` or `section.subsection.key` with its value, as a git configuration file spells it.
fn setting_text(key: &str, value: &str) -> String {
    let escaped = |text: &str| {
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t")
    };
    let Some((section, rest)) = key.split_once('.') else { return String::new() };
    let (header, name) = match rest.rsplit_once('.') {
        Some((subsection, name)) => (format!("[{section} \"{}\"]", escaped(subsection)), name),
        None => (format!("[{section}]"), rest),
    };
    format!("{header}\n\t{name} = \"{}\"\n", escaped(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn a_mirror_has_all_branches_tags_settings_and_the_new_branch() {
        let repo = TestRepo::with_commit();
        repo.run(&["branch", "other"]);
        repo.run(&["tag", "v1"]);
        repo.run(&["config", "user.name", "O\"dd \\ Name"]);
        repo.run(&["config", "user.email", "me@example.com"]);
        repo.run(&["remote", "add", "origin", "https://bob:s3cret@example.com/x.git"]);
        repo.write_at(&repo.host_path(".git/info/exclude"), "private\n");
        let mirror = repo.git_at("copies/one two");
        let before = repo.processes();
        let start = StartPoint::NewBranch { name: "mngr/x", base: "main" };
        repo.git().mirror_into(&mirror, &start).unwrap();
        assert_eq!(repo.processes() - before, 5);

        let facts = mirror.inspect().unwrap();
        assert_eq!(facts.head.branch.as_deref(), Some("mngr/x"));
        facts.require_clean().unwrap();
        assert!(!mirror.shares_repository_with(&repo.git()).unwrap());
        let dir = mirror.dir().as_str();
        let refs = repo.run_in(dir, &["for-each-ref", "--format=%(refname)"]);
        for name in ["refs/heads/main", "refs/heads/other", "refs/tags/v1"] {
            assert!(refs.lines().any(|line| line == name), "{name} in {refs}");
        }
        assert_eq!(repo.run_in(dir, &["config", "user.name"]), "O\"dd \\ Name");
        assert_eq!(
            repo.run_in(dir, &["config", "--get-all", "remote.origin.url"]),
            "https://example.com/x.git"
        );
        assert!(!repo.read_at(&mirror.dir().join(".git/config")).unwrap().contains("s3cret"));
        repo.write_at(&mirror.dir().join("private"), "x");
        mirror.inspect().unwrap().require_clean().unwrap();
    }

    #[test]
    fn a_commit_on_no_branch_can_be_the_base() {
        let repo = TestRepo::with_commit();
        repo.run(&["checkout", "--quiet", "--detach"]);
        let commit = repo.commit("detached");
        let mirror = repo.git_at("copy");
        repo.commit("later");
        repo.git().mirror_into(&mirror, &StartPoint::Commit(&commit)).unwrap();
        assert_eq!(mirror.inspect().unwrap().head.oid, Some(commit));
    }

    #[test]
    fn the_branch_that_is_checked_out_in_the_source_can_be_checked_out_in_the_mirror() {
        let repo = TestRepo::with_commit();
        let mirror = repo.git_at("copy");
        repo.git().mirror_into(&mirror, &StartPoint::Branch("main")).unwrap();
        assert_eq!(mirror.inspect().unwrap().head.branch.as_deref(), Some("main"));
    }

    #[test]
    fn a_shallow_clone_can_be_mirrored() {
        let repo = TestRepo::with_commit();
        repo.commit("second");
        let shallow = repo.outside("shallow");
        repo.run(&["clone", "--quiet", "--depth=1", &format!("file://{}", repo.path()), shallow.as_str()]);
        let mirror = repo.git_at("copy");
        let start = StartPoint::NewBranch { name: "x", base: "HEAD" };
        let shallow = repo.git().at(shallow);
        shallow.mirror_into(&mirror, &start).unwrap();
        assert_eq!(repo.run_in(mirror.dir().as_str(), &["rev-list", "--count", "HEAD"]), "1");
    }

    #[test]
    fn an_existing_repository_and_an_unknown_base_are_refused_before_anything_is_written() {
        let repo = TestRepo::with_commit();
        let start = StartPoint::NewBranch { name: "x", base: "nope" };
        let mirror = repo.git_at("copy");
        let error = repo.git().mirror_into(&mirror, &start).unwrap_err();
        assert!(matches!(error, GitError::UnknownRevision { .. }), "{error:?}");
        assert_eq!(repo.read_at(&mirror.dir().join(".git/HEAD")), None);
        let onto_itself = repo.git().mirror_into(&repo.git(), &StartPoint::Branch("main"));
        assert!(matches!(onto_itself, Err(GitError::PathTaken { .. })));
    }

    #[test]
    fn values_are_spelled_so_that_git_reads_them_back() {
        let repo = TestRepo::with_commit();
        let odd = "a\\b \"c\" # not a comment ; nor this\n\ttabbed ";
        repo.git().append_settings(&repo.host_path(".git"), &setting_text("x.sub.se\"c.key", odd)).unwrap();
        let read = repo.git().look(["config", "-z", "--get", "x.sub.se\"c.key"]).run().unwrap();
        assert_eq!(String::from_utf8(read.stdout).unwrap(), format!("{odd}\0"));
    }
}
