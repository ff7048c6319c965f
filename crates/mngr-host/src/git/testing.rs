//! A throw-away repository on a host that counts processes and shares nothing with the user's git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mngr_model::address::AgentRef;
use mngr_model::facts::{AgentFacts, Detail, Survey};
use mngr_model::host::HostInfo;
use mngr_model::{AgentId, HostPath};

use crate::errand::ErrandError;
use crate::files::{Files, FilesError};
use crate::git::Git;
use crate::host::{AwaitedLine, EndReport, EndRequest, Host, SurveyError, TerminalMode, WatchRequest};
use crate::local::LocalHost;
use crate::lock::{HostLock, LockError, LockWait};
use crate::proc::{Attachment, Cmd, CommandId, ExecError, Exit, Output};
use crate::pty::{Pty, TerminalSize};
use crate::watch::{Watch, WatchError};

/// This machine with an environment of its own.
pub(crate) struct TestHost {
    local: LocalHost,
    env: Mutex<Vec<(String, String)>>,
    processes: AtomicUsize,
}

impl TestHost {
    /// What the command sets itself comes after what surrounds it.
    fn surrounded(&self, cmd: &Cmd) -> Cmd {
        self.processes.fetch_add(1, Ordering::Relaxed);
        let mut cmd = cmd.clone();
        let surrounding = self.env.lock().unwrap().clone();
        cmd.env.splice(0..0, surrounding.into_iter().map(|(name, value)| (name, Some(value))));
        cmd
    }
}

impl Host for TestHost {
    fn info(&self) -> &HostInfo {
        self.local.info()
    }

    fn exec(&self, cmd: &Cmd) -> Result<Output, ExecError> {
        self.local.exec(&self.surrounded(cmd))
    }

    fn exec_attached(
        &self,
        cmd: &Cmd,
        attachment: Attachment,
        limit: Option<Duration>,
    ) -> Result<Exit, ExecError> {
        self.local.exec_attached(&self.surrounded(cmd), attachment, limit)
    }

    fn exec_replace(&self, cmd: &Cmd) -> ExecError {
        self.local.exec_replace(cmd)
    }

    fn files(&self) -> &dyn Files {
        self.local.files()
    }

    fn lock(&self, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
        self.local.lock(path, wait)
    }

    fn free_locks(&self, paths: &[HostPath]) -> Result<Vec<HostPath>, LockError> {
        self.local.free_locks(paths)
    }

    fn survey(&self, detail: Detail) -> Result<Survey, SurveyError> {
        self.local.survey(detail)
    }

    fn survey_of(&self, wanted: &[AgentRef], detail: Detail) -> Result<Survey, SurveyError> {
        self.local.survey_of(wanted, detail)
    }

    fn look_at(&self, agent: &AgentId, detail: Detail) -> Result<Option<AgentFacts>, SurveyError> {
        self.local.look_at(agent, detail)
    }

    fn end_processes(&self, request: &EndRequest) -> Result<EndReport, ErrandError> {
        self.local.end_processes(request)
    }

    fn end_command(&self, command: &CommandId) -> Result<EndReport, ErrandError> {
        self.local.end_command(command)
    }

    fn watch(&self, request: &WatchRequest) -> Result<Box<dyn Watch>, WatchError> {
        self.local.watch(request)
    }

    fn await_line(&self, awaited: &AwaitedLine<'_>) -> Result<Vec<u8>, FilesError> {
        self.local.await_line(awaited)
    }

    fn terminal_mode(&self, tty: &HostPath) -> Result<TerminalMode, ExecError> {
        self.local.terminal_mode(tty)
    }

    fn terminal_size(&self, tty: &HostPath) -> Result<TerminalSize, ExecError> {
        self.local.terminal_size(tty)
    }

    fn exec_pty(&self, cmd: &Cmd, size: TerminalSize) -> Result<Pty, ExecError> {
        self.local.exec_pty(cmd, size)
    }
}

/// A repository in a temporary folder.
pub(crate) struct TestRepo {
    dir: tempfile::TempDir,
    path: String,
    host: TestHost,
}

impl TestRepo {
    /// Without a commit.
    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap().to_owned();
        let local = LocalHost::open(HostPath::new(format!("{root}/host"))).unwrap();
        let env = [
            ("HOME", root.as_str()),
            ("XDG_CONFIG_HOME", root.as_str()),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "Test"),
            ("GIT_AUTHOR_EMAIL", "test@example.com"),
            ("GIT_COMMITTER_NAME", "Test"),
            ("GIT_COMMITTER_EMAIL", "test@example.com"),
        ];
        let env = Mutex::new(env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec());
        fs::create_dir(dir.path().join("repo")).unwrap();
        let path = format!("{root}/repo");
        let repo = Self { dir, path, host: TestHost { local, env, processes: AtomicUsize::new(0) } };
        repo.run(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    /// With `a.txt`, `dir/b.txt` and an executable `run.sh` committed on `main`, and `*.log` ignored.
    pub(crate) fn with_commit() -> Self {
        let repo = Self::empty();
        repo.write("a.txt", "one\n");
        repo.write("dir/b.txt", "two\n");
        repo.write("run.sh", "#!/bin/sh\n");
        repo.write(".gitignore", "*.log\nbuild/\n");
        fs::set_permissions(repo.host_path("run.sh").as_str(), fs::Permissions::from_mode(0o755)).unwrap();
        repo.commit("first");
        repo
    }

    /// Commits everything and returns the commit.
    pub(crate) fn commit(&self, subject: &str) -> String {
        self.commit_in(self.path(), subject)
    }

    /// Commits everything in another checkout and returns the commit.
    pub(crate) fn commit_in(&self, dir: &str, subject: &str) -> String {
        self.run_in(dir, &["add", "--all"]);
        self.run_in(dir, &["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.run_in(dir, &["rev-parse", "HEAD"])
    }

    /// Our git in the repository.
    pub(crate) fn git(&self) -> Git<'_> {
        Git::new(&self.host, HostPath::new(self.path()))
    }

    /// Our git in a folder beside the repository.
    pub(crate) fn git_at(&self, name: &str) -> Git<'_> {
        self.git().at(self.outside(name))
    }

    /// The host.
    pub(crate) fn host(&self) -> &TestHost {
        &self.host
    }

    /// The repository's folder.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A path in the repository.
    pub(crate) fn host_path(&self, name: &str) -> HostPath {
        HostPath::new(self.path()).join(name)
    }

    /// A path beside the repository.
    pub(crate) fn outside(&self, name: &str) -> HostPath {
        HostPath::new(self.dir.path().to_str().unwrap()).join(name)
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, name: &str, text: &str) {
        self.write_at(&self.host_path(name), text);
    }

    /// Writes a file anywhere.
    pub(crate) fn write_at(&self, path: &HostPath, text: &str) {
        let path = PathBuf::from(path.as_str());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file anywhere; `None` when it is not there.
    pub(crate) fn read_at(&self, path: &HostPath) -> Option<String> {
        fs::read_to_string(path.as_str()).ok()
    }

    /// Runs the plain git in the repository and returns what it prints.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.run_in(self.path(), args)
    }

    /// Runs the plain git in a folder and returns what it prints.
    pub(crate) fn run_in(&self, dir: &str, args: &[&str]) -> String {
        let env = self.host.env.lock().unwrap().clone();
        let output = Command::new("git").arg("-C").arg(dir).args(args).envs(env).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Everything `git status` says, for before and after comparisons.
    pub(crate) fn status_of(&self, dir: &str) -> String {
        self.run_in(
            dir,
            &["status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored=matching"],
        )
    }

    /// Sets a variable around every command our git runs.
    pub(crate) fn surround_with(&self, name: &str, value: &str) {
        self.host.env.lock().unwrap().push((name.to_owned(), value.to_owned()));
    }

    /// How many commands our git has run so far.
    pub(crate) fn processes(&self) -> usize {
        self.host.processes.load(Ordering::Relaxed)
    }
}
