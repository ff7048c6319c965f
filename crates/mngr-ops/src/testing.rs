//! A world of its own for tests: a temporary host dir, a private tmux server, nothing left behind.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mngr_agents::scripted::{compile, script};
use mngr_config::{BuildOptions, Merged};
use mngr_host::clock::SystemClock;
use mngr_host::files::{Access, Durability};
use mngr_host::host::{EndRequest, Host, RunningCommands};
use mngr_host::local::{LocalHost, LocalProvider};
use mngr_host::proc::{Cmd, Output};
use mngr_host::random;
use mngr_host::tmux::{ServerStart, Socket};
use mngr_model::agent::AdditionalCommand;
use mngr_model::env::{EnvPair, MNGR_AGENT_NAME, MNGR_AGENT_STATE_DIR, render_env_file};
use mngr_model::facts::Detail;
use mngr_model::{AgentRecord, AgentState, HostPath};
use serde_json::json;

use crate::fleet::{Agent, Fleet};
use crate::launch::{self, Occasion, Readiness};
use crate::world::{Silent, World};

/// How long anything in a test may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A test's server starts with its first agent.
const SERVER: ServerStart = ServerStart::Allowed;

/// The world and what must be cleaned up after it.
pub(crate) struct TestWorld {
    pub(crate) world: World,
    pub(crate) host: Arc<LocalHost>,
    dir: tempfile::TempDir,
}

impl TestWorld {
    /// Without agents. The server starts with the first launch.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host = Arc::new(LocalHost::open(root.join("host")).unwrap());
        let mut settings = Merged::build(&[], &BuildOptions::default()).unwrap().settings().clone();
        settings.tmux.user_config = false;
        let world = World {
            settings,
            refused: Vec::new(),
            providers: vec![Box::new(LocalProvider::new(host.clone()))],
            client: host.clone(),
            clock: Box::new(SystemClock),
            reporter: Box::new(Silent),
            root_name: "mngr-test".to_owned(),
            default_host_dir: root.join("another"),
            binary: "mngr".to_owned(),
            cwd: root.clone(),
            home: Some(root),
            vars: Default::default(),
        };
        host.files().make_folder(&world.cwd.join("work")).unwrap();
        Self { world, host, dir }
    }

    /// A path below the agents' common work dir.
    pub(crate) fn work(&self, path: &str) -> HostPath {
        HostPath::new(self.dir.path().join("work").to_str().unwrap()).join(path)
    }

    /// The contents of a file in the work dir, or nothing.
    pub(crate) fn read(&self, path: &str) -> String {
        let bytes = self.host.files().read_if_there(&self.work(path)).unwrap();
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }

    /// Writes the record of an agent that was never started.
    pub(crate) fn add(&self, name: &str, agent_type: &str, argv: &[&str]) -> Agent {
        let id = random::agent_id();
        let layout = self.host.layout().agent(&id);
        let files = self.host.files();
        files.make_folder(&layout.commands()).unwrap();
        let record: AgentRecord = serde_json::from_value(json!({
            "id": id, "name": name, "type": agent_type, "work_dir": self.work(""), "argv": argv,
            "create_time": "2026-01-01T00:00:00Z", "command": argv.join(" "),
            "workspace": {"transfer": "none", "is_generated": false, "repository": null, "base_commit": null,
                "base_branch": null},
        }))
        .unwrap();
        let env = [(MNGR_AGENT_NAME, name.to_owned()), (MNGR_AGENT_STATE_DIR, layout.root().to_string())];
        let pairs = env.map(|(name, value)| EnvPair::new(name.parse().unwrap(), value).unwrap());
        let env = render_env_file(&pairs);
        files.write(&layout.env_file(), env.as_bytes(), Access::Private, Durability::Cached).unwrap();
        self.write_record(&record);
        self.look(name)
    }

    fn write_record(&self, record: &AgentRecord) {
        let text = serde_json::to_vec(record).unwrap();
        let path = self.host.layout().agent(&record.id).data();
        self.host.files().write(&path, &text, Access::Shared, Durability::Cached).unwrap();
    }

    /// Starts a command agent.
    pub(crate) fn launch(&self, name: &str, argv: &[&str]) -> Agent {
        let agent = self.add(name, "command", argv);
        launch::launch(
            &self.world,
            self.host.as_ref(),
            &agent.facts.record,
            Readiness::TakesMessages,
            Occasion::Again,
            SERVER,
        )
        .unwrap();
        self.look(name)
    }

    /// Starts a command agent with one further window.
    pub(crate) fn launch_with_window(&self, name: &str, argv: &[&str], window: (&str, &str)) -> Agent {
        let mut record = self.add(name, "command", argv).facts.record;
        let (window_name, command) = (Some(window.0.to_owned()), window.1.to_owned());
        record.additional_commands = vec![AdditionalCommand { command, window_name }];
        self.write_record(&record);
        launch::launch(
            &self.world,
            self.host.as_ref(),
            &record,
            Readiness::TakesMessages,
            Occasion::Again,
            SERVER,
        )
        .unwrap();
        self.look(name)
    }

    /// Starts an agent that plays a script.
    pub(crate) fn launch_scripted(&self, name: &str, steps: &str) -> Agent {
        let mut record = self.add(name, "scripted", &[]).facts.record;
        let script = compile(&script::parse(steps).unwrap(), &record.name);
        let path = self.host.layout().agent(&record.id).commands().join("script.sh");
        self.host
            .files()
            .write(&path, script.as_bytes(), Access::PrivateExecutable, Durability::Cached)
            .unwrap();
        record.argv = vec!["sh".to_owned(), path.to_string()];
        self.write_record(&record);
        launch::launch(
            &self.world,
            self.host.as_ref(),
            &record,
            Readiness::TakesMessages,
            Occasion::Again,
            SERVER,
        )
        .unwrap();
        self.look(name)
    }

    /// Everything there is.
    pub(crate) fn fleet(&self) -> Fleet {
        Fleet::look(&self.world, Detail::Full)
    }

    /// The agent of that name, as it is now.
    pub(crate) fn look(&self, name: &str) -> Agent {
        let agents = self.fleet().agents;
        agents.into_iter().find(|agent| agent.name().as_ref() == name).unwrap()
    }

    /// The agent of that name, once it is in a state.
    pub(crate) fn look_when(&self, name: &str, state: AgentState) -> Agent {
        eventually(|| Some(self.look(name)).filter(|agent| agent.state.state == state))
    }

    /// Runs tmux on this world's server.
    pub(crate) fn tmux(&self, args: &[&str]) -> Output {
        let host = self.host.as_ref();
        self.world.with_tmux(host, |tmux| host.exec(&tmux.command(None).args(args.iter().copied()))).unwrap()
    }

    /// Deletes the socket file of the server, which lives on.
    pub(crate) fn delete_socket(&self) {
        let path = self.tmux(&["display-message", "-p", "#{socket_path}"]).stdout_text();
        assert!(self.host.exec(&Cmd::new("rm").arg(path)).unwrap().success());
    }
}

impl Drop for TestWorld {
    fn drop(&mut self) {
        for agent in Fleet::look(&self.world, Detail::Basic).agents {
            let request = EndRequest {
                first: Vec::new(),
                agent: agent.id().clone(),
                program: agent.facts.process.agent,
                grace: Duration::ZERO,
                commands: RunningCommands::End,
            };
            let _ = self.host.end_processes(&request);
        }
        let _ = self.tmux(&["kill-server"]);
        // tmux leaves the socket file of a server that has ended.
        if let Socket::Private(name) = self.world.socket(self.host.as_ref()) {
            let remove = r#"rm -f "${TMUX_TMPDIR:-/tmp}/tmux-$(id -u)/$1""#;
            let _ = self.host.exec(&Cmd::shell(remove).arg("sh").arg(name));
        }
    }
}

/// The first answer that is one; fails the test when there is none in time.
pub(crate) fn eventually<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "it did not happen within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
