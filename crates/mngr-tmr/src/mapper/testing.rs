//! A repository, an agent's checkout of it and its state folder, in a temporary place.

use std::time::Duration;

use mngr_config::{BuildOptions, Merged};
use mngr_host::files::{Access, Durability, Files};
use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_host::proc::{Cmd, Output};
use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;
use serde_json::{Value, json};

use super::intake::{Admitted, Expected, IntakeError, take_in};
use super::publish::{self, Publishing, Role};
use super::{Limits, publish::archive};
use crate::verify::Rules;

/// The agent's branch.
pub(super) const BRANCH: &str = "tmr/run/a-test";

/// How long anything in a test may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The place.
pub(super) struct Desk {
    dir: tempfile::TempDir,
    pub(super) host: LocalHost,
    pub(super) base: String,
    pub(super) limits: Limits,
    pub(super) rules: Option<Rules>,
}

impl Desk {
    /// With one commit, and the agent's branch checked out apart from the repository.
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let host = LocalHost::open(HostPath::new(dir.path().join("host").to_str().unwrap())).unwrap();
        let mut desk = Self { dir, host, base: String::new(), limits: Limits::default(), rules: None };
        desk.files().make_folder(&desk.path("repo")).unwrap();
        desk.git(&["init", "--quiet", "--initial-branch=main"]);
        desk.write("repo/program", "one\n");
        desk.git(&["add", "--all"]);
        desk.git(&["commit", "--quiet", "-m", "first"]);
        desk.base = desk.git(&["rev-parse", "HEAD"]);
        let work = desk.path("work");
        desk.git(&["worktree", "add", "--quiet", "-b", BRANCH, work.as_str(), "main"]);
        publish::install(&desk.host, &desk.agent(), &desk.publishing()).unwrap();
        desk
    }

    /// The same with other limits, for the tool too.
    pub(super) fn with_limits(limits: Limits) -> Self {
        let mut desk = Self::new();
        desk.limits = limits;
        publish::install(&desk.host, &desk.agent(), &desk.publishing()).unwrap();
        desk
    }

    /// The same, where commits are held against the rules that hold without any settings.
    pub(super) fn with_rules() -> Self {
        let settings = Merged::build(&[], &BuildOptions::default()).unwrap().settings().tmr.clone();
        Self { rules: Some(Rules::new(&settings).unwrap()), ..Self::new() }
    }

    fn publishing(&self) -> Publishing<'_> {
        Publishing { base_commit: &self.base, branch: BRANCH, limits: &self.limits, role: Role::Mapper }
    }

    /// A path below the place.
    pub(super) fn path(&self, name: &str) -> HostPath {
        HostPath::new(self.dir.path().to_str().unwrap()).join(name)
    }

    pub(super) fn files(&self) -> &dyn Files {
        self.host.files()
    }

    /// The agent's state folder.
    pub(super) fn agent(&self) -> AgentLayout {
        AgentLayout::new(self.path("state"))
    }

    /// Writes a file below the place.
    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        self.files().make_folder(&path.parent().unwrap()).unwrap();
        self.files().write(&path, bytes.as_ref(), Access::Shared, Durability::Cached).unwrap();
    }

    /// The text of a file below the place.
    pub(super) fn read(&self, name: &str) -> String {
        self.files().read_text(&self.path(name)).unwrap()
    }

    /// The names in a folder below the place.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        self.files().list(&self.path(name)).unwrap().into_iter().map(|entry| entry.name).collect()
    }

    /// Plain git in the repository.
    pub(super) fn git(&self, args: &[&str]) -> String {
        self.git_in("repo", args)
    }

    /// Plain git in another folder.
    pub(super) fn git_in(&self, folder: &str, args: &[&str]) -> String {
        let output = self.run(Cmd::new("git").args(args.iter().copied()).cwd(&self.path(folder)));
        assert!(output.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text()
    }

    /// A command apart from the user's git settings.
    pub(super) fn run(&self, cmd: Cmd) -> Output {
        let mut cmd = cmd.deadline(PATIENCE).env("HOME", self.path("").as_str());
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "Test"),
            ("GIT_AUTHOR_EMAIL", "test@example.com"),
            ("GIT_COMMITTER_NAME", "Test"),
            ("GIT_COMMITTER_EMAIL", "test@example.com"),
            ("MNGR_AGENT_STATE_DIR", self.agent().root().as_str()),
        ] {
            cmd = cmd.env(name, value);
        }
        self.host.exec(&cmd).unwrap()
    }

    /// A commit of the agent.
    pub(super) fn commit(&self, subject: &str) -> String {
        self.write("work/program", format!("{subject}\n"));
        self.git_in("work", &["commit", "--quiet", "--all", "--allow-empty", "-m", subject]);
        self.git_in("work", &["rev-parse", "HEAD"])
    }

    /// The tool, as the agent calls it.
    pub(super) fn publish(&self, args: &[&str]) -> Output {
        self.publish_with(&["dash"], args)
    }

    /// The tool under some shell.
    pub(super) fn publish_with(&self, shell: &[&str], args: &[&str]) -> Output {
        let tool = publish::tool(&self.agent());
        let cmd = Cmd::from_words(shell.iter().copied()).arg(tool.as_str()).args(args.iter().copied());
        self.run(cmd.cwd(&self.path("work")))
    }

    /// Why the tool published nothing.
    pub(super) fn refused(&self) -> Option<String> {
        publish::refused(&self.host, &self.agent())
    }

    /// Takes in what the tool made.
    pub(super) fn take(&self) -> Result<Admitted, IntakeError> {
        let repository = Git::new(&self.host, self.path("repo"));
        let expected = Expected {
            repository: &repository,
            base_commit: &self.base,
            branch: BRANCH,
            limits: &self.limits,
            rules: self.rules.as_ref(),
        };
        take_in(&self.host, &archive(&self.agent()), &self.path("run/tasks/a-test/attempt-1"), &expected)
    }

    /// Takes in these bytes.
    pub(super) fn take_bytes(&self, bytes: &[u8]) -> Result<Admitted, IntakeError> {
        self.write("state/plugin/tmr/outputs.tar.gz", bytes);
        self.take()
    }
}

/// An outcome that needs no commit.
pub(super) fn clean_outcome() -> Value {
    json!({"result": "clean", "summary_markdown": "Fine.", "tests_passing_after": true})
}

/// An outcome with one change of this kind.
pub(super) fn fixed_outcome(kind: &str) -> Value {
    json!({
        "result": "fixed", "summary_markdown": "Repaired.", "tests_passing_before": false,
        "tests_passing_after": true, "changes": [{"kind": kind, "summary_markdown": "The cause."}],
    })
}
