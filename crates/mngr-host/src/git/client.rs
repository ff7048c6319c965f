//! One way to run git: the environment it gets, its deadline, and how its failure is read.
//!
//! No other file of this folder builds a git command line from scratch.

use std::time::Duration;

use mngr_model::HostPath;

use crate::host::Host;
use crate::proc::{Cmd, Exit, Output};

use super::error::{GitError, classify, met_half_a_worktree};
use super::locate::Location;

/// For commands that only look or change a few small files.
const QUICK: Duration = Duration::from_secs(60);

/// For commands that write a whole checkout or move objects; a large repository with LFS takes its time.
pub(super) const LONG: Duration = Duration::from_secs(30 * 60);

/// How often a command is tried that meets a worktree in the making, and how long that one gets to be whole.
const TRIES: usize = 6;
const PAUSE: Duration = Duration::from_millis(50);

/// Variables a surrounding git command or hook sets and that would point us at its repository instead of ours.
const FOREIGN_REPOSITORY: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
];

/// Git in one folder of one host.
#[derive(Clone)]
pub struct Git<'h> {
    host: &'h dyn Host,
    dir: HostPath,
    /// Where the repository is, where that need not be looked for.
    location: Option<Location>,
}

impl std::fmt::Debug for Git<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Git").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl<'h> Git<'h> {
    /// Git in `dir`, which need not exist or be a repository yet.
    pub fn new(host: &'h dyn Host, dir: HostPath) -> Self {
        Self { host, dir, location: None }
    }

    /// Git in a checkout of which everything is known: nothing is looked for.
    pub fn in_checkout(host: &'h dyn Host, location: Location) -> Self {
        Self { host, dir: location.root.clone(), location: Some(location) }
    }

    /// Git in another folder of the same host.
    pub fn at(&self, dir: HostPath) -> Self {
        Self::new(self.host, dir)
    }

    /// The folder.
    pub fn dir(&self) -> &HostPath {
        &self.dir
    }

    /// Where the repository is, if that is known.
    pub(super) fn known_location(&self) -> Option<&Location> {
        self.location.as_ref()
    }

    /// The host.
    pub fn host(&self) -> &'h dyn Host {
        self.host
    }

    /// `git` in this folder, out of reach of the git command or hook that may surround us.
    pub(super) fn program(&self) -> Cmd {
        let cmd = Cmd::new("git").args(["-C", self.dir.as_str()]).env("GIT_TERMINAL_PROMPT", "0");
        FOREIGN_REPOSITORY.iter().fold(cmd, |cmd, name| cmd.env_remove(*name))
    }

    /// A command that looks only: it takes no lock, not even to refresh the index.
    pub(super) fn look<const N: usize>(&self, args: [&str; N]) -> Invocation<'_> {
        Invocation { locks: Locks::None, ..Invocation::new(self, args) }.env("GIT_OPTIONAL_LOCKS", "0")
    }

    /// A command that may change something.
    pub(super) fn act<const N: usize>(&self, args: [&str; N]) -> Invocation<'_> {
        Invocation::new(self, args)
    }
}

/// A git command being put together.
pub(super) struct Invocation<'g> {
    git: &'g Git<'g>,
    /// The subcommand, for messages.
    what: String,
    settings: Vec<String>,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
    input: Option<Vec<u8>>,
    deadline: Duration,
    locks: Locks,
    copies_with: Option<String>,
}

/// Whether a command takes locks of its repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Locks {
    None,
    Some,
}

impl<'g> Invocation<'g> {
    fn new<const N: usize>(git: &'g Git<'_>, args: [&str; N]) -> Self {
        let is_word = |arg: &&&str| !arg.starts_with('-');
        let words = if args.first().is_some_and(|first| matches!(*first, "worktree" | "stash" | "submodule"))
        {
            2
        } else {
            1
        };
        Self {
            git,
            what: args.iter().filter(is_word).take(words).copied().collect::<Vec<_>>().join(" "),
            settings: Vec::new(),
            args: args.map(str::to_owned).to_vec(),
            env: Vec::new(),
            input: None,
            deadline: QUICK,
            locks: Locks::Some,
            copies_with: None,
        }
    }

    /// One more argument. User text belongs behind `--` or `--end-of-options`.
    pub(super) fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// More arguments.
    pub(super) fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// A setting for this command only (`git -c`).
    pub(super) fn setting(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// A variable for this command only.
    pub(super) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// What it reads.
    pub(super) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// It copies from or to another machine, which it reaches by this name.
    pub(super) fn copying_with(mut self, machine: &str) -> Self {
        self.copies_with = Some(machine.to_owned());
        self
    }

    /// How long it may take.
    pub(super) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Runs it; any exit status is an answer. Again, where it met a worktree that another git was just adding.
    pub(super) fn output(self) -> Result<Output, GitError> {
        let host = self.git.host;
        let cmd = self.cmd();
        for _ in 1..TRIES {
            let output = host.exec(&cmd)?;
            if output.success() || !met_half_a_worktree(&output) {
                return Ok(output);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(host.exec(&cmd)?)
    }

    /// The whole command.
    pub(super) fn cmd(self) -> Cmd {
        let Self { git, settings, args, env, input, deadline, locks, copies_with, .. } = self;
        // The C locale because failures are told apart by their text.
        let mut cmd = git.program().env("LC_ALL", "C").env("GIT_EDITOR", ":").deadline(deadline);
        cmd = cmd.args(["-c", "core.quotepath=off"]);
        for setting in settings {
            cmd = cmd.arg("-c").arg(setting);
        }
        cmd = cmd.args(args);
        for (name, value) in env {
            cmd = cmd.env(name, value);
        }
        if let Some(bytes) = input {
            cmd = cmd.stdin(bytes);
        }
        cmd = Cmd { copies_with, ..cmd };
        match locks {
            Locks::None => cmd,
            // Of a short one nothing has to be taken back if it ends by itself.
            Locks::Some if deadline <= QUICK => cmd.locks_in(&git.dir).let_finish(),
            Locks::Some => cmd.locks_in(&git.dir),
        }
    }

    /// Runs it; a status other than 0 is an error.
    pub(super) fn run(self) -> Result<Output, GitError> {
        let (git, what) = (self.git, self.what.clone());
        let output = self.output()?;
        if output.success() { Ok(output) } else { Err(classify(&what, &git.dir, &output)) }
    }

    /// Runs it for the one line it prints.
    pub(super) fn line(self) -> Result<String, GitError> {
        Ok(self.run()?.stdout_text())
    }

    /// Runs a command that answers by exit status: 0 is yes, 1 is no, anything else an error.
    pub(super) fn answer(self) -> Result<bool, GitError> {
        let (git, what) = (self.git, self.what.clone());
        let output = self.output()?;
        match output.exit {
            Exit::Code(0) => Ok(true),
            Exit::Code(1) => Ok(false),
            _ => Err(classify(&what, &git.dir, &output)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::TestRepo;
    use super::*;

    #[test]
    fn a_worktree_in_the_making_is_waited_for_and_one_that_stays_half_is_an_error() {
        let repo = TestRepo::with_commit();
        repo.run(&["worktree", "add", "--quiet", "../half"]);
        let commondir = format!("{}/.git/worktrees/half/commondir", repo.path());
        let whole = fs::read(&commondir).unwrap();
        fs::write(&commondir, "").unwrap();
        let list = || repo.git().look(["worktree", "list"]).run();
        assert!(matches!(list(), Err(GitError::Failed { .. })));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(PAUSE);
                fs::write(&commondir, &whole).unwrap();
            });
            assert!(list().unwrap().stdout_text().contains("half"));
        });
    }
}
