//! A clone of a repository that is somewhere else. One process.

use std::time::Duration;

use mngr_model::HostPath;

use crate::host::Host;

use super::client::Git;
use super::error::GitError;
use super::url::strip_credentials;

/// Clones `url` with its submodules into `into`, which must not exist, and gives up after `deadline`.
///
/// A credential in the URL is used but not kept: the clone's origin has none.
pub fn clone_repository(
    host: &dyn Host,
    url: &str,
    into: &HostPath,
    deadline: Duration,
) -> Result<(), GitError> {
    if host.files().exists(into)? {
        return Err(GitError::PathTaken { path: into.clone() });
    }
    let parent = into.parent().unwrap_or_else(|| HostPath::new("/"));
    host.files().make_folder(&parent)?;
    let clean = strip_credentials(url);
    let git = Git::new(host, parent);
    let mut command = git.act(["clone", "--quiet", "--recurse-submodules", "--", &clean, into.as_str()]);
    if clean != url {
        // Git replaces the clean URL by the real one when it connects, and writes down the clean one.
        command = command
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", format!("url.{url}.insteadOf"))
            .env("GIT_CONFIG_VALUE_0", clean.clone());
    }
    command.deadline(deadline).run()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    const SHORT: Duration = Duration::from_secs(20);

    #[test]
    fn a_clone_has_files_and_origin() {
        let repo = TestRepo::with_commit();
        let url = format!("file://{}", repo.path());
        let into = repo.outside("clones/x");
        clone_repository(repo.host(), &url, &into, SHORT).unwrap();
        assert_eq!(repo.read_at(&into.join("a.txt")).as_deref(), Some("one\n"));
        assert_eq!(repo.git().at(into.clone()).origin_url().unwrap(), Some(url.clone()));
        assert!(matches!(clone_repository(repo.host(), &url, &into, SHORT), Err(GitError::PathTaken { .. })));
    }

    #[test]
    fn a_credential_in_the_url_is_used_but_not_written_down() {
        let repo = TestRepo::with_commit();
        // Git ignores user and host of a file URL as long as the path is right: the secret is part of the real URL
        // only if the replacement works, and of the settings only if it leaks.
        let url = format!("file://{}?token=s3cret", repo.path());
        std::os::unix::fs::symlink(repo.path(), format!("{}?token=s3cret", repo.path())).unwrap();
        let into = repo.outside("clone");
        clone_repository(repo.host(), &url, &into, SHORT).unwrap();
        let settings = repo.read_at(&into.join(".git/config")).unwrap();
        assert!(settings.contains(repo.path()) && !settings.contains("s3cret"), "{settings}");
    }

    #[test]
    fn a_url_that_looks_like_an_option_is_no_option() {
        let repo = TestRepo::with_commit();
        let error =
            clone_repository(repo.host(), "--upload-pack=touch x", &repo.outside("c"), SHORT).unwrap_err();
        assert!(error.to_string().contains("does not exist"), "{error}");
    }

    #[test]
    fn a_repository_that_is_not_there_fails_without_leaving_a_folder() {
        let repo = TestRepo::with_commit();
        let into = repo.outside("c");
        let url = format!("file://{}", repo.outside("nowhere"));
        assert!(clone_repository(repo.host(), &url, &into, SHORT).is_err());
        assert!(!repo.host().files().exists(&into).unwrap());
    }
}
