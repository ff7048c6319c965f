//! The facts about a checkout that a verb decides on. Two file reads and one process for [`Git::inspect`].

use mngr_model::HostPath;

use super::client::Git;
use super::error::GitError;
use super::locate::Location;
use super::status::{Head, Status, UncleanEntry};
use super::unclean::IgnoredFiles;
use super::url::strip_credentials;

/// What is known of a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoFacts {
    /// The top folder of the checkout.
    pub root: HostPath,
    /// What is particular to this checkout.
    pub git_dir: HostPath,
    /// What all checkouts of the repository share.
    pub common_dir: HostPath,
    /// What HEAD stands for.
    pub head: Head,
    /// Files that are not as HEAD has them; a folder without a tracked file is one entry.
    pub unclean: Vec<UncleanEntry>,
    /// Whether there is a `.gitmodules`.
    pub has_submodules: bool,
    /// Whether files are kept in git LFS.
    pub uses_lfs: bool,
}

impl RepoFacts {
    /// Where it is.
    pub fn location(&self) -> Location {
        let Self { root, git_dir, common_dir, .. } = self.clone();
        Location { root, git_dir, common_dir }
    }

    /// Fails if there is uncommitted work.
    pub fn require_clean(&self) -> Result<(), GitError> {
        require_clean(&self.unclean)
    }

    /// The commit HEAD stands for; fails in a repository without one.
    pub fn head_oid(&self) -> Result<&str, GitError> {
        self.head.oid.as_deref().ok_or_else(|| GitError::NoCommits { path: self.root.clone() })
    }
}

/// Fails if the list is not empty.
pub(super) fn require_clean(unclean: &[UncleanEntry]) -> Result<(), GitError> {
    if unclean.is_empty() {
        return Ok(());
    }
    let files = unclean.iter().map(|entry| entry.path.to_string()).collect();
    Err(GitError::Dirty { count: unclean.len(), files })
}

/// How untracked files are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untracked {
    /// A folder with nothing tracked in it is one entry.
    Folders,
    /// Every file.
    Files,
}

impl Git<'_> {
    /// Everything a verb asks about a checkout. One process.
    pub fn inspect(&self) -> Result<RepoFacts, GitError> {
        let Location { root, git_dir, common_dir } = self.require_location()?;
        // From the root: git names files relative to where it is run.
        let status = self.at(root.clone()).status(Untracked::Folders, IgnoredFiles::Leave)?;
        let has_submodules = self.has_gitmodules(&root)?;
        let uses_lfs = self.uses_lfs(&root, &common_dir)?;
        let Status { head, unclean } = status;
        Ok(RepoFacts { root, git_dir, common_dir, head, unclean, has_submodules, uses_lfs })
    }

    /// What HEAD stands for, and the files that are not as it has them. One process.
    pub(super) fn status(&self, untracked: Untracked, ignored: IgnoredFiles) -> Result<Status, GitError> {
        let mut command = self.look(["status", "--porcelain=v2", "-z", "--branch", "--renames"]);
        command = command.arg(match untracked {
            Untracked::Folders => "--untracked-files=normal",
            Untracked::Files => "--untracked-files=all",
        });
        if ignored == IgnoredFiles::Include {
            command = command.arg("--ignored=matching");
        }
        let output = command.run()?;
        Status::parse(&output.stdout).ok_or_else(|| GitError::Unreadable {
            what: "status",
            text: String::from_utf8_lossy(&output.stdout).chars().take(200).collect(),
        })
    }

    /// The URL of `origin` without credentials, or `None` without such a remote. No process where the repository's own
    /// settings file is plain enough to be read directly.
    pub fn origin_url(&self) -> Result<Option<String>, GitError> {
        let settings = self.require_location()?.common_dir.join("config");
        let text = self.host().files().read_if_there(&settings)?.unwrap_or_default();
        let url = match plain_origin(&String::from_utf8_lossy(&text)) {
            PlainOrigin::Url(url) => Some(url),
            PlainOrigin::None => None,
            PlainOrigin::AskGit => {
                let output = self.look(["config", "--get", "remote.origin.url"]).output()?;
                Some(output.stdout_text()).filter(|url| output.success() && !url.is_empty())
            }
        };
        Ok(url.map(|url| strip_credentials(&url)))
    }
}

/// What a settings file says of `origin`, as far as it can be told without git's own reader.
#[derive(Debug, PartialEq, Eq)]
enum PlainOrigin {
    Url(String),
    None,
    /// It includes other files, or the value is quoted.
    AskGit,
}

fn plain_origin(settings: &str) -> PlainOrigin {
    let mut is_origin = false;
    let mut found = PlainOrigin::None;
    for line in settings.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            if section.to_ascii_lowercase().starts_with("include") {
                return PlainOrigin::AskGit;
            }
            is_origin = section == "remote \"origin\"";
        } else if let Some((_, value)) =
            line.split_once('=').filter(|(key, _)| is_origin && key.trim() == "url")
        {
            let value = value.trim();
            if value.is_empty() || value.contains(['"', '\\', ';', '#']) {
                return PlainOrigin::AskGit;
            }
            found = PlainOrigin::Url(value.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_settings_file_tells_its_origin_and_others_are_left_to_git() {
        let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@h:a/b.git\n[branch \"main\"]\n\turl = no\n";
        assert_eq!(plain_origin(plain), PlainOrigin::Url("git@h:a/b.git".into()));
        assert_eq!(plain_origin("[remote \"other\"]\nurl = x\n"), PlainOrigin::None);
        for odd in ["[include]\npath = x\n", "[includeIf \"x\"]\n", "[remote \"origin\"]\nurl = \"a b\"\n"] {
            assert_eq!(plain_origin(odd), PlainOrigin::AskGit, "{odd}");
        }
    }
    use crate::git::UncleanKind;
    use crate::git::testing::TestRepo;

    #[test]
    fn a_checkout_is_described_by_one_process() {
        let repo = TestRepo::with_commit();
        repo.write("a.txt", "changed");
        repo.write("new dir/b", "x");
        let git = repo.git();
        let before = repo.processes();
        let facts = git.inspect().unwrap();
        assert_eq!(repo.processes() - before, 1);
        assert_eq!(facts.root.as_str(), repo.path());
        assert_eq!(facts.head.branch.as_deref(), Some("main"));
        assert_eq!(facts.head_oid().unwrap(), repo.run(&["rev-parse", "HEAD"]));
        let kinds: Vec<_> = facts.unclean.iter().map(|e| (e.path.to_string(), e.kind.clone())).collect();
        assert_eq!(
            kinds,
            [("a.txt".to_owned(), UncleanKind::Modified), ("new dir/".to_owned(), UncleanKind::Untracked)]
        );
        assert!(matches!(facts.require_clean(), Err(GitError::Dirty { count: 2, .. })));
        assert!(!facts.has_submodules && !facts.uses_lfs);
    }

    #[test]
    fn a_folder_inside_a_checkout_finds_its_root_without_a_process() {
        let repo = TestRepo::with_commit();
        repo.write("deep/er/x", "x");
        std::os::unix::fs::symlink(repo.host_path("deep/er").as_str(), repo.outside("link").as_str())
            .unwrap();
        let before = repo.processes();
        let through_link = repo.git_at("link").require_location().unwrap();
        assert_eq!(through_link.root.as_str(), repo.path());
        let location = repo.git().at(repo.host_path("deep/er")).require_location().unwrap();
        assert_eq!(repo.processes(), before);
        assert_eq!(location.root.as_str(), repo.path());
        assert!(!location.is_linked_worktree());
    }

    #[test]
    fn files_are_named_from_the_root_wherever_git_is_asked() {
        let repo = TestRepo::with_commit();
        repo.write("dir/b.txt", "changed");
        let facts = repo.git().at(repo.host_path("dir")).inspect().unwrap();
        assert_eq!(facts.unclean[0].path.to_string(), "dir/b.txt");
    }

    #[test]
    fn a_folder_outside_any_repository_is_refused() {
        let repo = TestRepo::with_commit();
        let outside = repo.git().at(repo.outside("nothing here"));
        assert!(matches!(outside.inspect(), Err(GitError::NotARepository { .. })));
    }

    #[test]
    fn a_repository_without_commits_is_told_apart() {
        let repo = TestRepo::empty();
        let facts = repo.git().inspect().unwrap();
        assert_eq!(facts.head.branch.as_deref(), Some("main"));
        assert!(matches!(facts.head_oid(), Err(GitError::NoCommits { .. })));
    }

    #[test]
    fn the_origin_url_carries_no_credentials() {
        let repo = TestRepo::with_commit();
        assert_eq!(repo.git().origin_url().unwrap(), None);
        repo.run(&["remote", "add", "origin", "https://bob:s3cret@example.com/x.git"]);
        assert_eq!(repo.git().origin_url().unwrap().as_deref(), Some("https://example.com/x.git"));
    }

    #[test]
    fn git_variables_of_a_surrounding_hook_are_ignored() {
        let (repo, other) = (TestRepo::with_commit(), TestRepo::empty());
        repo.surround_with("GIT_DIR", &format!("{}/.git", other.path()));
        repo.surround_with("GIT_INDEX_FILE", &format!("{}/nonsense", other.path()));
        assert!(repo.git().inspect().unwrap().head.oid.is_some());
    }
}
