//! Git LFS: whether a repository uses it, and carrying its objects to another repository.
//!
//! A linked worktree shares the objects of its repository, so only mirrors need this.

use mngr_model::HostPath;

use crate::proc::Cmd;
use crate::rsync::{Endpoint, Rsync};

use super::client::{Git, LONG};
use super::error::GitError;

/// Where LFS keeps its objects, below the shared git folder.
const OBJECTS: &str = "lfs/objects";

impl Git<'_> {
    /// Whether files of the checkout are kept in LFS, by its attributes or by objects that are there. Spawns nothing.
    pub(super) fn uses_lfs(&self, root: &HostPath, common_dir: &HostPath) -> Result<bool, GitError> {
        let files = self.host().files();
        let attributes = files.read_if_there(&root.join(".gitattributes"))?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&attributes).contains("filter=lfs")
            || files.exists(&common_dir.join(OBJECTS))?)
    }

    /// Copies the LFS objects of one repository into another on this host. One process, none without objects.
    pub(super) fn carry_lfs_objects(&self, from: &HostPath, to: &HostPath) -> Result<(), GitError> {
        let files = self.host().files();
        let source = from.join(OBJECTS);
        if !files.exists(&source)? {
            return Ok(());
        }
        files.make_folder(&to.join("lfs"))?;
        let copy = Cmd::new("cp").args(["-a", "--", source.as_str(), to.join("lfs").as_str()]).deadline(LONG);
        let output = self.host().exec(&copy.known_by_its_command())?;
        if output.success() {
            return Ok(());
        }
        Err(GitError::Failed { what: "lfs copy".to_owned(), stderr: output.stderr_text(), exit: output.exit })
    }

    /// Fails if the host of this repository cannot write the real contents of large files. One process.
    pub(super) fn require_lfs(&self, source: &HostPath) -> Result<(), GitError> {
        let output = self.host().exec(&Cmd::new("git").args(["lfs", "version"]))?;
        if output.success() { Ok(()) } else { Err(GitError::LfsAcrossHosts { path: source.clone() }) }
    }

    /// Copies the LFS objects of the shared git folder `from` into a repository that may be on another host; one of the
    /// two is on the machine mngr runs on. One process, none without objects.
    pub(super) fn copy_lfs_objects_to(&self, copy: &Git<'_>, from: &HostPath) -> Result<(), GitError> {
        let source = from.join(OBJECTS);
        if !self.host().files().exists(&source)? {
            return Ok(());
        }
        let target = copy.dir().join(".git").join(OBJECTS);
        copy.host().files().make_folder(&target)?;
        Rsync::new(Endpoint::Contents(source), Endpoint::Contents(target))
            // Their names say what is in them.
            .options(["--ignore-existing"])
            .run_between(self.host(), copy.host())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::git::StartPoint;
    use crate::git::testing::TestRepo;

    /// A repository with one file in LFS.
    fn with_large_file() -> TestRepo {
        let repo = TestRepo::with_commit();
        repo.run(&["lfs", "install", "--local"]);
        repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
        repo.write("large.bin", "the real contents");
        repo.commit("large");
        assert!(repo.run(&["show", "HEAD:large.bin"]).starts_with("version https://git-lfs"));
        repo
    }

    #[test]
    fn worktrees_and_mirrors_have_the_real_contents_of_large_files() {
        let repo = with_large_file();
        assert!(repo.git().inspect().unwrap().uses_lfs);
        let start = StartPoint::NewBranch { name: "x", base: "HEAD" };
        repo.git().add_worktree(&repo.outside("wt"), &start).unwrap();
        let copy = repo.git_at("copy");
        repo.git().mirror_into(&copy, &start).unwrap();
        for name in ["wt/large.bin", "copy/large.bin"] {
            assert_eq!(repo.read_at(&repo.outside(name)).as_deref(), Some("the real contents"), "{name}");
        }
        copy.inspect().unwrap().require_clean().unwrap();
    }
}
