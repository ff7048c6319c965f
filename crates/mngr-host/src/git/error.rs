//! How git fails, told apart by what it prints in the C locale. No I/O here.

use mngr_model::HostPath;

use crate::beneath::LinkInTheWay;
use crate::files::FilesError;
use crate::lock::LockError;
use crate::proc::{ExecError, Exit, Output};
use crate::rsync::RsyncError;

use super::url::scrub_credentials;

/// How many file names an error repeats.
const SAMPLE: usize = 5;

/// Why a submodule could not be carried along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmoduleProblem {
    /// It holds uncommitted files or another commit than the one recorded.
    UncommittedWork,
    /// The commit recorded for it is not in the source's copy.
    CommitMissing,
    /// The source is on another host, where its objects cannot be read.
    OtherHost,
    /// Its name cannot be written on git's command line.
    UnusableName,
}

impl std::fmt::Display for SubmoduleProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::UncommittedWork => "it has uncommitted changes of its own",
            Self::CommitMissing => "the source does not hold the commit recorded for it",
            Self::OtherHost => "submodules are only carried within one host",
            Self::UnusableName => "its name in `.gitmodules` holds `=` or a line break",
        })
    }
}

/// A git operation failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// Nothing at or above the path is a git checkout.
    #[error("`{path}` is not in a git repository")]
    NotARepository {
        /// Where git was asked.
        path: HostPath,
    },
    /// Git refuses a repository that belongs to another user.
    #[error("git does not trust `{path}`: it belongs to another user")]
    ForeignOwner {
        /// The repository.
        path: HostPath,
    },
    /// The repository has no commit to start from.
    #[error("the repository `{path}` has no commits yet")]
    NoCommits {
        /// The repository.
        path: HostPath,
    },
    /// The branch to be created is there already.
    #[error("branch `{branch}` already exists")]
    BranchExists {
        /// Its name.
        branch: String,
    },
    /// Another checkout has the branch.
    #[error("branch `{branch}` is already checked out at `{at}`")]
    BranchCheckedOut {
        /// Its name.
        branch: String,
        /// The checkout that has it.
        at: HostPath,
    },
    /// `a` and `a/b` cannot both be branches.
    #[error("branch `{branch}` cannot exist beside branch `{other}`")]
    BranchNameConflict {
        /// The branch to be created.
        branch: String,
        /// The one in its way.
        other: String,
    },
    /// Git does not accept the name.
    #[error("`{branch}` is not a valid branch name")]
    InvalidBranchName {
        /// The name.
        branch: String,
    },
    /// A branch no longer is where it was when it was looked at.
    #[error("`{name}` was changed by someone else at the same time")]
    RefMoved {
        /// The full name of the ref.
        name: String,
    },
    /// Neither a branch nor a tag nor a commit has that name.
    #[error("unknown revision `{rev}`")]
    UnknownRevision {
        /// What was asked for.
        rev: String,
    },
    /// There is uncommitted work.
    #[error("{count} uncommitted change(s): {}", sample(.files))]
    Dirty {
        /// How many files.
        count: usize,
        /// The first of them.
        files: Vec<String>,
    },
    /// Both sides changed the same lines; nothing was changed.
    #[error("merge conflict in {}", sample(.files))]
    Conflict {
        /// The files in conflict.
        files: Vec<String>,
    },
    /// A merge was begun here and is not finished.
    #[error("a merge is in progress in `{path}`")]
    MergeInProgress {
        /// The checkout.
        path: HostPath,
    },
    /// The histories share no commit.
    #[error("the histories of the two branches have no commit in common")]
    UnrelatedHistories,
    /// Updating the branch would drop commits it holds.
    #[error("branch `{branch}` has {ahead} commit(s) that the incoming one lacks")]
    NotFastForward {
        /// The branch here.
        branch: String,
        /// Commits only the branch here has.
        ahead: u64,
        /// Commits only the incoming branch has.
        behind: u64,
    },
    /// A submodule cannot be carried along.
    #[error("cannot carry submodule `{path}`: {problem}")]
    Submodules {
        /// Its path in the checkout.
        path: String,
        /// Why.
        problem: SubmoduleProblem,
    },
    /// A large file could not be fetched from git LFS.
    #[error("git LFS could not provide `{file}`")]
    LfsObjectMissing {
        /// The file.
        file: String,
    },
    /// The other host cannot write the real contents of large files.
    #[error(
        "the repository `{path}` keeps files in git LFS, and `git-lfs` is not installed on the other host"
    )]
    LfsAcrossHosts {
        /// The repository.
        path: HostPath,
    },
    /// A clone with a cut-off history that also borrows objects cannot be carried to another host.
    #[error(
        "the repository `{path}` is a shallow clone that borrows objects of another one, which a transfer to another \
         host does not carry"
    )]
    ShallowAcrossHosts {
        /// The repository.
        path: HostPath,
    },
    /// The place where something should be put is taken.
    #[error("`{path}` already exists")]
    PathTaken {
        /// The path.
        path: HostPath,
    },
    /// Another git process holds a lock file, or left it behind.
    #[error("git is locked by another process (`{lock}`)")]
    Locked {
        /// The lock file.
        lock: String,
    },
    /// A program is not installed on that host.
    #[error("`{tool}` is not installed")]
    MissingTool {
        /// The program.
        tool: String,
    },
    /// The installed git does not know what was asked of it.
    #[error("git {needed} or newer is needed for {what}")]
    TooOld {
        /// What was asked of it.
        what: &'static str,
        /// The oldest version that knows it.
        needed: &'static str,
    },
    /// Git printed something that its documentation does not describe.
    #[error("git {what} printed something unexpected: `{text}`")]
    Unreadable {
        /// The subcommand.
        what: &'static str,
        /// The beginning of what it printed.
        text: String,
    },
    /// Anything else; what git said is kept, without credentials.
    #[error("git {what} failed: {stderr}")]
    Failed {
        /// The subcommand.
        what: String,
        /// What git printed.
        stderr: String,
        /// How it ended.
        exit: Exit,
    },
    /// Git could not be run.
    #[error("cannot run git")]
    Exec(#[source] ExecError),
    /// A file of the repository could not be read or written.
    #[error("cannot reach the files of the repository")]
    Files(#[source] FilesError),
    /// A file was to be written or deleted in a folder that is a link, which leads anywhere.
    #[error("{0}")]
    Link(#[source] LinkInTheWay),
    /// The lock that orders work in one repository was not free in time.
    #[error("cannot lock the repository")]
    Lock(#[from] LockError),
    /// Files could not be copied.
    #[error("cannot copy files")]
    Copy(#[from] RsyncError),
}

impl From<FilesError> for GitError {
    fn from(error: FilesError) -> Self {
        match error.link() {
            Some(link) => Self::Link(link.clone()),
            None => Self::Files(error),
        }
    }
}

impl GitError {
    /// Whether a fetch met the refs of another one half-way: what they point to was not there yet, or not any more.
    pub(super) fn is_disturbance(&self) -> bool {
        const SIGNS: [&str; 3] =
            ["not connected to the repository", "bad object refs/", "did not send all necessary objects"];
        matches!(self, Self::Failed { stderr, .. } if SIGNS.iter().any(|sign| stderr.contains(sign)))
    }

    /// Whether it failed only because the user interrupted.
    pub fn is_interrupted(&self) -> bool {
        matches!(
            self,
            Self::Exec(ExecError::Interrupted)
                | Self::Lock(LockError::Interrupted)
                | Self::Copy(RsyncError::Exec(ExecError::Interrupted))
        )
    }
}

impl From<ExecError> for GitError {
    fn from(error: ExecError) -> Self {
        match error {
            ExecError::NotFound { program } => Self::MissingTool { tool: program },
            other => Self::Exec(other),
        }
    }
}

/// The first names of a list, and how many more there are.
fn sample(files: &[String]) -> String {
    let mut text = files.iter().take(SAMPLE).map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
    if files.len() > SAMPLE {
        text.push_str(&format!(" and {} more", files.len() - SAMPLE));
    }
    text
}

/// Whether git gave up at a worktree that another git was just adding. It reads all of them before it does anything, so
/// nothing was done.
pub(super) fn met_half_a_worktree(output: &Output) -> bool {
    let stderr = output.stderr_text();
    stderr.lines().any(|line| line.starts_with("fatal: failed to read ") && line.contains("/commondir: "))
}

/// What a failed git command means. `dir` is where it was run, `what` its subcommand.
pub(super) fn classify(what: &str, dir: &HostPath, output: &Output) -> GitError {
    let stderr = output.stderr_text();
    known_failure(&stderr, dir).unwrap_or_else(|| GitError::Failed {
        what: what.to_owned(),
        stderr: shorten(&scrub_credentials(&stderr)),
        exit: output.exit,
    })
}

/// The failures callers act on. The texts are git's own in the C locale; where versions differ both are listed.
fn known_failure(stderr: &str, dir: &HostPath) -> Option<GitError> {
    let path = dir.clone();
    if stderr.contains("detected dubious ownership") {
        return Some(GitError::ForeignOwner { path });
    }
    if stderr.contains("not a git repository") || stderr.contains("cannot change to '") {
        return Some(GitError::NotARepository { path });
    }
    if stderr.contains("does not have any commits yet") {
        return Some(GitError::NoCommits { path });
    }
    if stderr.contains("refusing to merge unrelated histories") {
        return Some(GitError::UnrelatedHistories);
    }
    if stderr.contains("would be overwritten by") {
        let files = indented_names(stderr);
        return Some(GitError::Dirty { count: files.len(), files });
    }
    stderr.lines().find_map(known_line)
}

fn known_line(line: &str) -> Option<GitError> {
    let lower = line.to_ascii_lowercase();
    let quoted = quoted_words(line);
    let word = |index: usize| quoted.get(index).map(|text| (*text).to_owned());
    if lower.contains("a branch named ") && lower.contains("already exists") {
        return Some(GitError::BranchExists { branch: word(0)? });
    }
    let is_taken = [
        "is already used by worktree at",
        "is already checked out at",
        "used by worktree at",
        "checked out at",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase));
    if is_taken && quoted.len() >= 2 {
        let branch = word(0)?.trim_start_matches("refs/heads/").to_owned();
        return Some(GitError::BranchCheckedOut { branch, at: HostPath::new(word(quoted.len() - 1)?) });
    }
    if lower.contains("is not a valid branch name") {
        return Some(GitError::InvalidBranchName { branch: word(0)? });
    }
    if lower.contains("cannot lock ref") && lower.contains("; cannot create") {
        let short = |name: String| name.trim_start_matches("refs/heads/").to_owned();
        return Some(GitError::BranchNameConflict { branch: short(word(0)?), other: short(word(1)?) });
    }
    if lower.contains("cannot lock ref")
        && (lower.contains("but expected") || lower.contains("already exists"))
    {
        return Some(GitError::RefMoved { name: word(0)? });
    }
    if lower.contains("unable to create '") && lower.contains(".lock': file exists") {
        return Some(GitError::Locked { lock: word(0)? });
    }
    if lower.contains("smudge filter lfs failed") {
        return Some(GitError::LfsObjectMissing { file: line.split(": ").nth(1)?.to_owned() });
    }
    unknown_revision(line).map(|rev| GitError::UnknownRevision { rev })
}

/// The revision git could not find, if that is what the line says.
fn unknown_revision(line: &str) -> Option<String> {
    const BARE: [&str; 4] = [
        "invalid reference: ",
        "couldn't find remote ref ",
        "not a valid object name: ",
        "Not a valid object name ",
    ];
    if let Some(rest) = BARE.iter().find_map(|marker| line.split_once(marker)).map(|(_, rest)| rest) {
        return Some(rest.trim_matches('\'').trim_start_matches("refs/heads/").to_owned());
    }
    let quoted =
        ["bad revision '", "ambiguous argument '", "not something we can merge", "failed to resolve '"];
    if quoted.iter().any(|marker| line.contains(marker)) {
        return quoted_words(line).first().map(|text| (*text).to_owned());
    }
    None
}

/// The texts between single quotes, in order.
fn quoted_words(line: &str) -> Vec<&str> {
    line.split('\'').skip(1).step_by(2).collect()
}

/// Git lists the files in its way one per line, indented by a tab.
fn indented_names(stderr: &str) -> Vec<String> {
    stderr.lines().filter_map(|line| line.strip_prefix('\t')).map(str::to_owned).collect()
}

/// Enough of a long message to act on: hints and progress go first.
fn shorten(stderr: &str) -> String {
    const LINES: usize = 6;
    let told: Vec<&str> =
        stderr.lines().filter(|line| !line.is_empty() && !line.starts_with("hint:")).collect();
    told[told.len().saturating_sub(LINES)..].join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(stderr: &str) -> GitError {
        let output = Output { exit: Exit::Code(128), stdout: Vec::new(), stderr: stderr.as_bytes().to_vec() };
        classify("test", &HostPath::new("/repo"), &output)
    }

    #[test]
    fn a_branch_in_use_names_the_checkout_in_every_wording_of_git() {
        for text in [
            "fatal: 'mngr/x' is already used by worktree at '/w/x'",
            "fatal: 'mngr/x' is already checked out at '/w/x'",
            "error: cannot delete branch 'mngr/x' used by worktree at '/w/x'",
            "error: Cannot delete branch 'mngr/x' checked out at '/w/x'",
            "fatal: refusing to fetch into branch 'refs/heads/mngr/x' checked out at '/w/x'",
        ] {
            let error = failure(text);
            assert!(
                matches!(&error, GitError::BranchCheckedOut { branch, at } if branch == "mngr/x" && at.as_str() == "/w/x"),
                "{text}: {error:?}"
            );
        }
    }

    #[test]
    fn unknown_revisions_are_named() {
        for text in [
            "fatal: invalid reference: nope",
            "fatal: couldn't find remote ref refs/heads/nope",
            "fatal: bad revision 'nope'",
            "fatal: ambiguous argument 'nope': unknown revision or path not in the working tree.",
            "merge: nope - not something we can merge\nfatal: bad revision 'nope'",
            "fatal: Not a valid object name nope",
        ] {
            assert!(matches!(failure(text), GitError::UnknownRevision { rev } if rev == "nope"), "{text}");
        }
    }

    #[test]
    fn branch_name_troubles_are_told_apart() {
        assert!(matches!(
            failure("fatal: a branch named 'mngr/x' already exists"),
            GitError::BranchExists { branch } if branch == "mngr/x"
        ));
        assert!(matches!(
            failure("fatal: '..' is not a valid branch name"),
            GitError::InvalidBranchName { branch } if branch == ".."
        ));
        let error = failure(
            "fatal: cannot lock ref 'refs/heads/mngr/x': 'refs/heads/mngr' exists; cannot create 'refs/heads/mngr/x'",
        );
        assert!(
            matches!(&error, GitError::BranchNameConflict { branch, other } if branch == "mngr/x" && other == "mngr"),
            "{error:?}"
        );
    }

    #[test]
    fn files_in_the_way_are_listed() {
        let error = failure(
            "error: Your local changes to the following files would be overwritten by merge:\n\ta.txt\n\tb c.txt\nAborting",
        );
        assert!(
            matches!(&error, GitError::Dirty { count: 2, files } if files == &["a.txt", "b c.txt"]),
            "{error:?}"
        );
    }

    #[test]
    fn an_unknown_failure_keeps_the_text_but_no_credentials() {
        let error =
            failure("hint: something\nfatal: unable to access 'https://bob:s3cret@example.com/x.git/': gone");
        let text = error.to_string();
        assert!(text.contains("https://example.com/x.git"), "{text}");
        assert!(!text.contains("s3cret") && !text.contains("hint"), "{text}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = GitError::from(ExecError::NotFound { program: "git".to_owned() });
        assert_eq!(error.to_string(), "`git` is not installed");
    }

    #[test]
    fn long_lists_are_shortened() {
        let files: Vec<String> = (0..8).map(|n| format!("f{n}")).collect();
        let text = GitError::Dirty { count: 8, files }.to_string();
        assert!(text.ends_with("`f4` and 3 more"), "{text}");
    }
}
