//! A repository with agents for the tests of `pull` and `push`: real git, nothing running.

use std::sync::Arc;

use mngr_config::{BuildOptions, Merged};
use mngr_host::clock::SystemClock;
use mngr_host::files::{Access, Durability};
use mngr_host::git::{Git, StartPoint};
use mngr_host::host::Host;
use mngr_host::local::{LocalHost, LocalProvider};
use mngr_host::proc::Cmd;
use mngr_host::random;
use mngr_model::facts::Detail;
use mngr_model::{AgentRecord, HostPath};
use serde_json::json;

use super::{SyncOptions, UncommittedChanges};
use crate::fleet::{Agent, Fleet};
use crate::world::{Silent, World};

/// Ten lines, so that changes at both ends merge.
pub(crate) const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

/// Names that some tool between here and the disk could stumble over.
pub(crate) const ODD_NAMES: [&str; 9] = [
    "two words",
    "new\nline",
    "é ü 漢字",
    "-dash",
    "#hash",
    "quo'te\"s",
    "back\\slash",
    "\\#012",
    "star*[x]?",
];

/// The user stands in `repo`, which has `a.txt` and `b.txt` on `main` and ignores `*.log`.
pub(crate) struct Ground {
    pub(crate) world: World,
    host: Arc<LocalHost>,
    dir: tempfile::TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host = Arc::new(LocalHost::open(root.join("host")).unwrap());
        let world = World {
            settings: Merged::build(&[], &BuildOptions::default()).unwrap().settings().clone(),
            providers: vec![Box::new(LocalProvider::new(host.clone()))],
            client: host.clone(),
            refused: Vec::new(),
            clock: Box::new(SystemClock),
            reporter: Box::new(Silent),
            root_name: "mngr-test".to_owned(),
            default_host_dir: root.join("another"),
            binary: "mngr".to_owned(),
            cwd: root.join("repo"),
            home: None,
            vars: Default::default(),
        };
        let ground = Self { world, host, dir };
        ground.new_repository("repo");
        ground
    }

    /// Makes a repository with a first commit, known to nobody's git settings.
    pub(crate) fn new_repository(&self, name: &str) {
        self.host.files().make_folder(&self.path(name)).unwrap();
        self.git(name, &["init", "--quiet", "--initial-branch=main"]);
        for (key, value) in
            [("user.name", "Test"), ("user.email", "test@example.com"), ("commit.gpgsign", "false")]
        {
            self.git(name, &["config", key, value]);
        }
        self.write(&format!("{name}/a.txt"), LINES);
        self.write(&format!("{name}/b.txt"), "b\n");
        self.write(&format!("{name}/.gitignore"), "*.log\n");
        self.commit(name, &format!("first of {name}"));
    }

    /// An agent in a worktree of `repo`, on the branch `mngr/NAME`, in the folder of its name.
    pub(crate) fn worktree_agent(&self, name: &str) -> Agent {
        let (branch, path) = (format!("mngr/{name}"), self.path(name));
        let start = StartPoint::NewBranch { name: &branch, base: "main" };
        self.repo().add_worktree(&path, &start).unwrap();
        self.agent(name)
    }

    /// An agent in a copy of `repo`, on the branch `mngr/NAME`, in the folder of its name.
    pub(crate) fn mirror_agent(&self, name: &str) -> Agent {
        let branch = format!("mngr/{name}");
        let start = StartPoint::NewBranch { name: &branch, base: "main" };
        let copy = Git::new(self.host.as_ref(), self.path(name));
        self.repo().mirror_into(&copy, &start).unwrap();
        self.git(name, &["config", "commit.gpgsign", "false"]);
        self.agent(name)
    }

    /// The record of an agent that works in the folder of its name.
    pub(crate) fn agent(&self, name: &str) -> Agent {
        let id = random::agent_id();
        let record: AgentRecord = serde_json::from_value(json!({
            "id": id, "name": name, "type": "command", "work_dir": self.path(name), "argv": ["true"],
            "create_time": "2026-01-01T00:00:00Z", "command": "true",
        }))
        .unwrap();
        let layout = self.host.layout().agent(&id);
        self.host.files().make_folder(layout.root()).unwrap();
        let text = serde_json::to_vec(&record).unwrap();
        self.host.files().write(&layout.data(), &text, Access::Shared, Durability::Cached).unwrap();
        let agents = Fleet::look(&self.world, Detail::Basic).agents;
        agents.into_iter().find(|agent| agent.id() == &id).unwrap()
    }

    fn repo(&self) -> Git<'_> {
        Git::new(self.host.as_ref(), self.path("repo"))
    }

    /// A path of the ground.
    pub(crate) fn path(&self, name: &str) -> HostPath {
        HostPath::new(self.dir.path().to_str().unwrap()).join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        self.host.files().make_folder(&path.parent().unwrap()).unwrap();
        self.host.files().write(&path, text.as_bytes(), Access::Shared, Durability::Cached).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        let bytes = self.host.files().read_if_there(&self.path(name)).unwrap();
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    pub(crate) fn remove(&self, name: &str) {
        self.host.files().remove_tree(&self.path(name)).unwrap();
        self.host.files().remove_file(&self.path(name)).unwrap();
    }

    /// Commits everything in a checkout and returns the commit.
    pub(crate) fn commit(&self, checkout: &str, subject: &str) -> String {
        self.git(checkout, &["add", "--all"]);
        self.git(checkout, &["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.git(checkout, &["rev-parse", "HEAD"])
    }

    /// Runs the plain git in a folder and returns what it prints.
    pub(crate) fn git(&self, dir: &str, args: &[&str]) -> String {
        let cmd = Cmd::new("git").args(["-C", self.path(dir).as_str()]).args(args.iter().copied());
        let output = self.host.exec(&cmd).unwrap();
        assert!(output.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text()
    }

    /// Everything about a checkout that a verb which changed nothing must leave alone.
    pub(crate) fn state_of(&self, checkout: &str) -> String {
        let status = self.git(checkout, &["status", "--porcelain=v2", "--branch", "--untracked-files=all"]);
        let refs = self.git(checkout, &["for-each-ref"]);
        let contents = self.git(checkout, &["diff", "HEAD"]);
        format!("{status}\n{refs}\n{contents}")
    }
}

/// Options that treat uncommitted work like this.
pub(crate) fn treating(uncommitted: UncommittedChanges) -> SyncOptions {
    SyncOptions { uncommitted, ..SyncOptions::default() }
}
