//! A world of its own for one test: home, host dir, git identity, tmux servers, clock zone and locale.
//!
//! Nothing of the user's machine is visible in it but the programs on `PATH`, and nothing that was started in
//! it outlives it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use tempfile::{Builder, TempDir};

use crate::or_fail::OrFail;
use crate::reaper::{Folder, Reaper};
use crate::running::Input;
use crate::{CmdOutput, Running, Surroundings, Terminal, TestRepo, processes_with_variable};

/// Where environments are made. Not `TMPDIR`: a tmux socket path has to fit into 108 bytes.
const PARENT: &str = "/tmp";

const GIT_CONFIG: &str = "\
[user]
\tname = Test User
\temail = test@example.com
[init]
\tdefaultBranch = main
[commit]
\tgpgSign = false
[advice]
\tdetachedHead = false
";

/// A hermetic environment that runs the real binary.
///
/// ```no_run
/// let env = mngr_testkit::TestEnv::new("target/debug/mngr");
/// env.repo(3);
/// env.mngr(["create", "fix", "--type", "command", "--no-connect", "--", "sleep", "100"]).success();
/// assert!(env.mngr(["list"]).success().stdout.contains("fix"));
/// ```
///
/// When it is dropped, every process and tmux server of the environment is ended and its folder removed; the
/// test fails if something is left. The folder of a failed test stays, and its path is printed.
#[derive(Debug)]
pub struct TestEnv {
    binary: PathBuf,
    extra: Vec<(OsString, OsString)>,
    folder: TempDir,
    reaper: Reaper,
}

impl TestEnv {
    /// Makes an environment for the binary at this path, which a test knows as `env!("CARGO_BIN_EXE_mngr")`.
    #[track_caller]
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let folder =
            Builder::new().prefix("mt").tempdir_in(PARENT).or_fail("making the folder of the environment");
        let root = folder.path();
        let reaper = Reaper::start(root, &root.join("host"));
        for name in ["home", "host", "t", "tmp", "work"] {
            fs::create_dir(root.join(name)).or_fail(format_args!("making `{name}` in the environment"));
        }
        fs::write(root.join("home/.gitconfig"), GIT_CONFIG).or_fail("writing the git identity");
        Self { binary: binary.into(), extra: Vec::new(), folder, reaper }
    }

    /// The folder that holds everything; snapshots call it `$TEST_ENV`.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// `HOME` in this environment.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// `MNGR_HOST_DIR` in this environment.
    pub fn host_dir(&self) -> PathBuf {
        self.root().join("host")
    }

    /// Where commands run; an ordinary empty folder until [`repo`](Self::repo) makes it a repository.
    pub fn work_dir(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Sets a variable for every later command.
    pub fn set_var(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.extra.push((name.into(), value.into()));
    }

    /// A command in this environment and its work dir. It inherits nothing but `PATH`.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.work_dir());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
            .env("HOME", self.home())
            .env("TMPDIR", self.root().join("tmp"))
            .env("TMUX_TMPDIR", self.root().join("t"))
            .env("MNGR_HOST_DIR", self.host_dir())
            .env("GIT_CONFIG_GLOBAL", self.home().join(".gitconfig"))
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("DOCKER_HOST", format!("unix://{}", self.root().join("no-engine").display()))
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm-256color")
            .env("COLUMNS", "100")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .envs(self.extra.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The binary under test as a plain command, for what the methods below do not cover.
    pub fn mngr_cmd(&self) -> Command {
        self.command(&self.binary)
    }

    /// Runs the binary in the work dir with nothing to read.
    #[track_caller]
    #[must_use = "assert how it ended (`success`, `code`) or snapshot the output"]
    pub fn mngr<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> CmdOutput {
        self.spawn(args).finish()
    }

    /// Runs the binary in `dir`.
    #[track_caller]
    #[must_use = "assert how it ended (`success`, `code`) or snapshot the output"]
    pub fn mngr_in<A: AsRef<OsStr>>(
        &self,
        dir: impl AsRef<Path>,
        args: impl IntoIterator<Item = A>,
    ) -> CmdOutput {
        let mut command = self.mngr_cmd();
        command.current_dir(dir).args(args);
        self.run(command)
    }

    /// Runs the binary with `input` on its standard input.
    #[track_caller]
    #[must_use = "assert how it ended (`success`, `code`) or snapshot the output"]
    pub fn mngr_stdin<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        input: impl Into<Vec<u8>>,
    ) -> CmdOutput {
        let mut command = self.mngr_cmd();
        command.args(args);
        Running::start(command, Input::Bytes(input.into()), self.root()).finish()
    }

    /// Starts the binary without waiting for its end.
    #[track_caller]
    pub fn spawn<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Running {
        let mut command = self.mngr_cmd();
        command.args(args);
        Running::start(command, Input::Nothing, self.root())
    }

    /// Runs a command made by [`command`](Self::command) or [`mngr_cmd`](Self::mngr_cmd).
    #[track_caller]
    #[must_use = "assert how it ended (`success`, `code`) or snapshot the output"]
    pub fn run(&self, command: Command) -> CmdOutput {
        Running::start(command, Input::Nothing, self.root()).finish()
    }

    /// Makes the work dir a git repository with one commit of `files` small files.
    #[track_caller]
    pub fn repo(&self, files: usize) -> TestRepo<'_> {
        self.repo_at("work", files)
    }

    /// Makes a git repository with one commit of `files` small files in a folder of the environment.
    #[track_caller]
    pub fn repo_at(&self, folder: &str, files: usize) -> TestRepo<'_> {
        TestRepo::init(self, self.root().join(folder), files)
    }

    /// The sockets of the tmux servers that agents run on.
    pub fn tmux_sockets(&self) -> Vec<PathBuf> {
        let per_user = fs::read_dir(self.root().join("t")).into_iter().flatten().flatten();
        let sockets = per_user.flat_map(|user| fs::read_dir(user.path()).into_iter().flatten().flatten());
        let mut paths: Vec<PathBuf> = sockets.map(|socket| socket.path()).collect();
        paths.sort();
        paths
    }

    /// Runs tmux on the one server that agents run on.
    #[track_caller]
    #[must_use = "assert how it ended (`success`, `code`) or snapshot the output"]
    pub fn tmux<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> CmdOutput {
        let sockets = self.tmux_sockets();
        let [socket] = sockets.as_slice() else {
            panic!("expected one tmux server of agents, found {sockets:?}");
        };
        let mut command = self.command("tmux");
        command.arg("-S").arg(socket).args(args);
        self.run(command)
    }

    /// Runs the binary in a real terminal.
    #[track_caller]
    pub fn terminal<A: AsRef<OsStr>>(
        &self,
        surroundings: Surroundings,
        args: impl IntoIterator<Item = A>,
    ) -> Terminal<'_> {
        Terminal::open(self, surroundings, &self.binary, args)
    }

    /// Runs any program in a real terminal.
    #[track_caller]
    pub fn terminal_of<A: AsRef<OsStr>>(
        &self,
        program: impl AsRef<Path>,
        args: impl IntoIterator<Item = A>,
    ) -> Terminal<'_> {
        Terminal::open(self, Surroundings::Plain, program.as_ref(), args)
    }

    /// The ids of all living processes that were started in this environment.
    pub fn processes(&self) -> Vec<u32> {
        processes_with_variable("MNGR_HOST_DIR", self.host_dir())
    }
}

impl Drop for TestEnv {
    #[expect(clippy::print_stderr, reason = "the test runner shows this with the failure")]
    fn drop(&mut self) {
        let failed = thread::panicking();
        if failed {
            eprintln!("the environment of the failed test is kept in {}", self.root().display());
            self.folder.disable_cleanup(true);
        }
        let cleaned = self.reaper.finish(if failed { Folder::Keep } else { Folder::Remove });
        let left = self.processes();
        // A second panic would abort the test process and hide the first one.
        if !failed {
            cleaned.or_fail("cleaning up the environment");
            assert!(left.is_empty(), "processes {left:?} outlived their test environment");
            assert!(!self.root().exists(), "`{}` could not be removed", self.root().display());
        }
    }
}

#[cfg(test)]
mod tests;
