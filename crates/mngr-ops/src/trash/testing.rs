//! A repository with agents on a host that can be made to die in the middle of things. No tmux server is started.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use mngr_config::{BuildOptions, Merged};
use mngr_host::clock::Clock;
use mngr_host::errand::ErrandError;
use mngr_host::files::{Access, Durability, FileStat, Files, FilesError, FolderEntry};
use mngr_host::git::{Git, StartPoint};
use mngr_host::host::{AwaitedLine, EndReport, EndRequest, Host, SurveyError, TerminalMode, WatchRequest};
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_host::proc::{Attachment, Cmd, CommandId, ExecError, Exit, Output};
use mngr_host::provider::{HostEntry, Provider, ProviderError, ReadyHost};
use mngr_host::pty::{Pty, TerminalSize};
use mngr_host::random;
use mngr_host::watch::{Watch, WatchError};
use mngr_model::address::AgentRef;
use mngr_model::facts::{AgentFacts, Detail, Survey};
use mngr_model::host::HostInfo;
use mngr_model::layout::AgentLayout;
use mngr_model::{AgentId, AgentState, HostPath, ProviderName};
use serde_json::json;

use crate::fleet::{Agent, Fleet};
use crate::own_dirs;
use crate::world::{Silent, World};

/// What somebody else does once a path is met.
type Meanwhile = (HostPath, Box<dyn FnOnce() + Send>);

/// Files that fail once the fuse has burnt, and a folder that is as if on another file system.
struct FragileFiles {
    fuse: AtomicI64,
    island: HostPath,
    /// After a path was looked at, or before it is changed.
    meanwhile: Mutex<Option<Meanwhile>>,
}

impl FragileFiles {
    fn meet(&self, path: &HostPath) {
        let met = self.meanwhile.lock().unwrap().take_if(|(wanted, _)| wanted == path);
        if let Some((_, act)) = met {
            act();
        }
    }

    fn spend(&self, path: &HostPath) -> Result<(), FilesError> {
        self.meet(path);
        if self.fuse.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Ok(());
        }
        Err(FilesError { action: "reach", path: path.clone(), source: io::Error::other("the host has died") })
    }
}

impl Files for FragileFiles {
    fn read(&self, path: &HostPath) -> Result<Vec<u8>, FilesError> {
        LocalFiles.read(path)
    }

    fn read_file(&self, path: &HostPath) -> Result<Vec<u8>, FilesError> {
        LocalFiles.read_file(path)
    }

    fn write(
        &self,
        path: &HostPath,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> Result<(), FilesError> {
        self.spend(path)?;
        LocalFiles.write(path, bytes, access, durability)
    }

    fn append(&self, path: &HostPath, bytes: &[u8], durability: Durability) -> Result<(), FilesError> {
        self.spend(path)?;
        LocalFiles.append(path, bytes, durability)
    }

    fn make_folder(&self, path: &HostPath) -> Result<(), FilesError> {
        self.spend(path)?;
        LocalFiles.make_folder(path)
    }

    fn make_new_folder(&self, path: &HostPath, access: Access) -> Result<(), FilesError> {
        self.spend(path)?;
        LocalFiles.make_new_folder(path, access)
    }

    fn touch(&self, path: &HostPath) -> Result<(), FilesError> {
        self.spend(path)?;
        LocalFiles.touch(path)
    }

    fn rename(&self, from: &HostPath, to: &HostPath) -> Result<(), FilesError> {
        self.spend(from)?;
        if from.is_within(&self.island) != to.is_within(&self.island) {
            let source = io::ErrorKind::CrossesDevices.into();
            return Err(FilesError { action: "move", path: from.clone(), source });
        }
        LocalFiles.rename(from, to)
    }

    fn link(&self, target: &str, at: &HostPath) -> Result<(), FilesError> {
        self.spend(at)?;
        LocalFiles.link(target, at)
    }

    fn remove_file(&self, path: &HostPath) -> Result<(), FilesError> {
        self.spend(path)?;
        LocalFiles.remove_file(path)
    }

    fn remove_tree(&self, path: &HostPath) -> Result<(), FilesError> {
        self.spend(path)?;
        LocalFiles.remove_tree(path)
    }

    fn stat(&self, path: &HostPath) -> Result<Option<FileStat>, FilesError> {
        let seen = LocalFiles.stat(path);
        self.meet(path);
        seen
    }

    fn list(&self, path: &HostPath) -> Result<Vec<FolderEntry>, FilesError> {
        LocalFiles.list(path)
    }

    fn canonical(&self, path: &HostPath) -> Result<HostPath, FilesError> {
        LocalFiles.canonical(path)
    }

    fn tree_size(&self, path: &HostPath) -> Result<u64, FilesError> {
        LocalFiles.tree_size(path)
    }
}

/// This machine, mortal, with a git configuration of its own.
pub(crate) struct FragileHost {
    local: LocalHost,
    files: FragileFiles,
    home: HostPath,
    /// Whether the command at which it dies is run all the same, and only its answer is lost.
    runs_the_last: AtomicBool,
    /// Whether it was a command at which it died last.
    died_in_command: AtomicBool,
}

impl FragileHost {
    /// From now on this many changes and commands succeed, and none after that.
    pub(crate) fn die_after(&self, actions: i64) {
        self.died_in_command.store(false, Ordering::SeqCst);
        self.files.fuse.store(actions, Ordering::SeqCst);
    }

    /// Whether it died at a command and not at a file.
    pub(crate) fn has_died_in_command(&self) -> bool {
        self.died_in_command.load(Ordering::SeqCst)
    }

    /// The same, but a command at which it dies is run, and nobody hears of it.
    pub(crate) fn die_during(&self, actions: i64) {
        self.die_after(actions);
        self.runs_the_last.store(true, Ordering::SeqCst);
    }

    /// It is well again.
    pub(crate) fn revive(&self) {
        self.die_after(i64::MAX);
        self.runs_the_last.store(false, Ordering::SeqCst);
    }

    fn hermetic(&self, cmd: &Cmd) -> Cmd {
        let mut cmd = cmd.clone().env("HOME", self.home.as_str()).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            cmd = cmd
                .env(format!("GIT_{who}_NAME"), "Test")
                .env(format!("GIT_{who}_EMAIL"), "test@example.com");
        }
        cmd.env("GIT_CONFIG_SYSTEM", "/dev/null")
    }
}

impl Host for FragileHost {
    fn info(&self) -> &HostInfo {
        self.local.info()
    }

    fn exec(&self, cmd: &Cmd) -> Result<Output, ExecError> {
        let dead =
            |error: FilesError| ExecError::Io { program: cmd.program().to_owned(), source: error.source };
        let alive = self.files.spend(&self.home);
        if self.files.fuse.load(Ordering::SeqCst) == -1 {
            self.died_in_command.store(true, Ordering::SeqCst);
        }
        if alive.is_err() && self.runs_the_last.swap(false, Ordering::SeqCst) {
            let _ = self.local.exec(&self.hermetic(cmd));
        }
        alive.map_err(dead)?;
        self.local.exec(&self.hermetic(cmd))
    }

    fn exec_attached(&self, cmd: &Cmd, how: Attachment, limit: Option<Duration>) -> Result<Exit, ExecError> {
        self.local.exec_attached(&self.hermetic(cmd), how, limit)
    }

    fn exec_replace(&self, cmd: &Cmd) -> ExecError {
        self.local.exec_replace(cmd)
    }

    fn files(&self) -> &dyn Files {
        &self.files
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

struct OneHost(ProviderName, Arc<FragileHost>);

impl Provider for OneHost {
    fn name(&self) -> &ProviderName {
        &self.0
    }

    fn hosts(&self) -> Result<Vec<Arc<dyn HostEntry>>, ProviderError> {
        Ok(vec![ReadyHost::entry(self.1.clone())])
    }
}

#[derive(Clone)]
struct SetClock(Arc<Mutex<Timestamp>>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A repository `repo` with one commit, and a world without agents.
pub(crate) struct Bench {
    pub(crate) world: World,
    pub(crate) host: Arc<FragileHost>,
    clock: SetClock,
    root: HostPath,
    _dir: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = LocalFiles.canonical(&HostPath::new(dir.path().to_str().unwrap())).unwrap();
        let local = LocalHost::open(root.join("host")).unwrap();
        let files = FragileFiles {
            fuse: AtomicI64::new(i64::MAX),
            island: root.join("island"),
            meanwhile: Mutex::default(),
        };
        let runs_the_last = AtomicBool::new(false);
        let died_in_command = AtomicBool::new(false);
        let host = Arc::new(FragileHost { local, files, home: root.clone(), runs_the_last, died_in_command });
        let clock = SetClock(Arc::new(Mutex::new(Timestamp::now())));
        let world = World {
            settings: Merged::build(&[], &BuildOptions::default()).unwrap().settings().clone(),
            providers: vec![Box::new(OneHost(host.info().provider.clone(), host.clone()))],
            client: host.clone(),
            refused: Vec::new(),
            clock: Box::new(clock.clone()),
            reporter: Box::new(Silent),
            root_name: "mngr-test".to_owned(),
            default_host_dir: root.join("another"),
            binary: "mngr".to_owned(),
            cwd: root.clone(),
            home: Some(root.clone()),
            vars: Default::default(),
        };
        let bench = Self { world, host, clock, root, _dir: dir };
        bench.make_repository("repo");
        bench
    }

    /// A path below everything.
    pub(crate) fn path(&self, path: &str) -> HostPath {
        self.root.join(path)
    }

    /// Makes a repository with one commit on `main`.
    pub(crate) fn make_repository(&self, name: &str) {
        let files =
            [("a.txt", "one\n"), ("b.txt", "two\n"), ("gone.txt", "x\n"), (".gitignore", "*.log\nbuild/\n")];
        for (file, text) in files {
            self.write(&format!("{name}/{file}"), text);
        }
        self.git(name, &["init", "--quiet", "--initial-branch=main"]);
        self.commit(name, "first");
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
        LocalFiles.write(&path, text.as_bytes(), Access::Shared, Durability::Cached).unwrap();
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        LocalFiles.exists(&self.path(path)).unwrap()
    }

    /// Runs a line of shell and returns what it prints.
    pub(crate) fn sh(&self, dir: &str, line: &str) -> String {
        let output = self.host.exec(&Cmd::shell(line).cwd(&self.path(dir))).unwrap();
        assert!(output.success(), "{line}: {}", output.stderr_text());
        output.stdout_text()
    }

    /// Somebody else runs a line of shell, once a path was looked at, or before it is changed.
    pub(crate) fn meanwhile(&self, path: &HostPath, line: &str) {
        let (host, cmd) = (self.host.clone(), Cmd::shell(line).cwd(&self.root));
        let act = move || {
            let output = host.local.exec(&host.hermetic(&cmd)).unwrap();
            assert!(output.success(), "{}", output.stderr_text());
        };
        *self.host.files.meanwhile.lock().unwrap() = Some((path.clone(), Box::new(act)));
    }

    /// Whether somebody else has come to do what [`Bench::meanwhile`] says.
    pub(crate) fn was_met(&self) -> bool {
        self.host.files.meanwhile.lock().unwrap().is_none()
    }

    /// Runs the plain git and returns what it prints.
    pub(crate) fn git(&self, dir: &str, args: &[&str]) -> String {
        let cmd = Cmd::new("git").arg("-C").arg(self.path(dir).as_str()).args(args.iter().copied());
        let output = self.host.exec(&cmd).unwrap();
        assert!(output.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text()
    }

    /// Commits everything and returns the commit.
    pub(crate) fn commit(&self, dir: &str, subject: &str) -> String {
        self.git(dir, &["add", "--all"]);
        self.git(dir, &["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.git(dir, &["rev-parse", "HEAD"])
    }

    /// Every ref below a prefix.
    pub(crate) fn refs(&self, prefix: &str) -> Vec<String> {
        let text = self.git("repo", &["for-each-ref", "--format=%(refname)", prefix]);
        text.lines().map(str::to_owned).collect()
    }

    /// Everything about a checkout: branch, index, and every file with its contents, ignored and nested ones too.
    pub(crate) fn picture(&self, dir: &str) -> String {
        let status = ["status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored=matching"];
        let files = "find . -name .git -prune -o -type l -printf '%p -> %l\\n' -o -type f -printf '%m ' -exec cksum {} \\; | sort";
        format!("{}\n{}", self.git(dir, &status), self.sh(dir, files))
    }

    /// Where the work dir of an agent is, below everything.
    pub(crate) fn work(&self, name: &str) -> String {
        format!("host/worktrees/{name}")
    }

    /// A worktree agent that has been stopped, on branch `mngr/<name>`.
    pub(crate) fn agent(&self, name: &str) -> Agent {
        self.agent_at(name, &self.work(name))
    }

    /// A worktree agent that works somewhere else.
    pub(crate) fn agent_at(&self, name: &str, work_dir: &str) -> Agent {
        let path = self.path(work_dir);
        LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
        let branch = format!("mngr/{name}");
        let start = StartPoint::NewBranch { name: &branch, base: "HEAD" };
        Git::new(self.host.as_ref(), self.path("repo")).add_worktree(&path, &start).unwrap();
        let workspace = json!({"transfer": "git-worktree", "is_generated": true,
            "repository": self.path("repo/.git"), "base_commit": null, "base_branch": "main"});
        self.record(name, &path, Some(&branch), workspace)
    }

    /// An agent in a folder that is the user's own.
    pub(crate) fn agent_in_place(&self, name: &str, work_dir: &str) -> Agent {
        let workspace = json!({"transfer": "none", "is_generated": false, "repository": null, "base_commit": null,
            "base_branch": null});
        self.record(name, &self.path(work_dir), None, workspace)
    }

    /// An agent in a plain copy.
    pub(crate) fn agent_in_copy(&self, name: &str) -> Agent {
        let path = format!("host/copies/{name}");
        self.write(&format!("{path}/file"), "text");
        let workspace = json!({"transfer": "rsync", "is_generated": true, "repository": null, "base_commit": null,
            "base_branch": null});
        self.record(name, &self.path(&path), None, workspace)
    }

    /// A worktree agent of the repository that another agent has in its work dir.
    pub(crate) fn agent_of(&self, name: &str, repository: &HostPath) -> Agent {
        let (path, branch) = (self.path(&self.work(name)), format!("mngr/{name}"));
        LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
        let start = StartPoint::NewBranch { name: &branch, base: "HEAD" };
        Git::new(self.host.as_ref(), repository.clone()).add_worktree(&path, &start).unwrap();
        let workspace = json!({"transfer": "git-worktree", "is_generated": true,
            "repository": repository.join(".git"), "base_commit": null, "base_branch": "main"});
        self.record(name, &path, Some(&branch), workspace)
    }

    fn record(
        &self,
        name: &str,
        work_dir: &HostPath,
        branch: Option<&str>,
        workspace: serde_json::Value,
    ) -> Agent {
        let id = random::agent_id();
        let state = self.host.layout().agent(&id);
        if workspace["is_generated"] == true
            && own_dirs::note_needed(self.host.as_ref(), &id, work_dir).is_some()
        {
            self.host.files().apply(&own_dirs::note(self.host.as_ref(), &id, work_dir)).unwrap();
        }
        let write = |path: HostPath, text: String| {
            LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
            LocalFiles.write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
        };
        let data = json!({"id": id, "name": name, "type": "command", "work_dir": work_dir, "argv": ["true"],
            "create_time": "2026-01-01T00:00:00Z", "command": "true", "labels": {"project": "p"},
            "created_branch_name": branch, "checked_out_branch_name": branch, "workspace": workspace,
            "kept_by_a_newer_mngr": 1});
        write(state.env_file(), format!("MNGR_AGENT_NAME='{name}'\nSECRET='x'\n"));
        write(state.message_events(), format!("{{\"text\":\"to {name}\"}}\n"));
        write(
            state.process(),
            "start boot=b supervisor=9:1\nagent pid=10:1\nexit status=3 at=1\n".to_owned(),
        );
        write(state.data(), data.to_string());
        self.look(name).unwrap()
    }

    /// The agent's state folder.
    pub(crate) fn state(&self, agent: &Agent) -> AgentLayout {
        self.host.layout().agent(agent.id())
    }

    /// The agent of that name. What a dead command left is put right first.
    pub(crate) fn look(&self, name: &str) -> Option<Agent> {
        let agents = Fleet::look(&self.world, Detail::Full).agents;
        agents.into_iter().find(|agent| agent.name().as_str() == name)
    }

    /// Lets time pass.
    pub(crate) fn wait_days(&self, days: i64) {
        let mut now = self.clock.0.lock().unwrap();
        *now = now.checked_add(jiff::SignedDuration::from_hours(24 * days)).unwrap();
    }

    /// Fails unless the agent is back as it was, stopped, and the trash is empty.
    pub(crate) fn assert_back(&self, before: &Agent, picture: &str) {
        let name = before.name().as_str();
        let after = self.look(name).unwrap_or_else(|| panic!("{name} is not back"));
        assert_eq!(after.facts.record, before.facts.record);
        assert_eq!(after.state.state, AgentState::Stopped, "{:?}", after.state);
        let events = LocalFiles.read_text(&self.state(&after).message_events()).unwrap();
        assert!(events.contains(&format!("to {name}")));
        self.assert_intact(name, picture);
        for folder in ["host/trash", "host/preserved"] {
            assert_eq!(LocalFiles.list(&self.path(folder)).unwrap(), [], "{folder}");
        }
    }

    /// Fails unless the work of an agent is as it was and no command has anything left to do.
    pub(crate) fn assert_intact(&self, name: &str, picture: &str) {
        assert_eq!(self.picture(&self.work(name)), picture);
        assert_eq!(self.refs("refs/mngr"), [""; 0]);
        assert_eq!(LocalFiles.list(&self.path("host/journal")).unwrap(), []);
    }
}
