//! Where an episode takes place: an environment of its own, the machines agents run on, and the book.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use mngr_testkit::{Dockerd, Signal, Sshd, TestEnv};

use super::book::{Book, Violation};
use super::fault::Fault;
use super::inspect::{Facts, SCRIPT};
use super::settings::{Part, Place};
use super::step::NAMES;
use crate::support;

/// A machine agents run on.
#[derive(Debug)]
pub(super) enum Machine {
    Local,
    Ssh(Sshd),
    Docker(Dockerd),
}

/// The name of the container.
const CONTAINER: &str = "mngr-cell";

/// The world. The environment comes first: what holds connections ends before the machines do.
pub(super) struct World {
    pub(super) env: TestEnv,
    pub(super) machines: Vec<Machine>,
    pub(super) part: Part,
    book: Mutex<Book>,
    /// Rules that were seen broken while others went on.
    reported: Mutex<Vec<Violation>>,
    /// One for each name: who checks what a command did has it alone.
    pub(super) names: [RwLock<()>; NAMES.len()],
    /// When something last happened to a machine, or began to.
    pub(super) last_trouble: AtomicU64,
    /// A link is cut, or an engine is paused.
    pub(super) outage: Mutex<()>,
    began: Instant,
    /// No step begins after this.
    until: Option<Instant>,
}

impl World {
    pub(super) fn new(part: &Part, until: Option<Instant>) -> Self {
        let env = support::env();
        let repo = env.repo(6);
        repo.write(".gitignore", "*.ign\n");
        repo.commit("ignore");
        let machines = part.places.iter().map(|place| match place {
            Place::Local => Machine::Local,
            Place::Ssh => Machine::Ssh(Sshd::start_behind_link()),
            Place::Docker => Machine::Docker(Dockerd::start()),
        });
        let machines = machines.collect();
        let world = Self {
            env,
            machines,
            part: part.clone(),
            book: Mutex::default(),
            reported: Mutex::default(),
            names: Default::default(),
            last_trouble: AtomicU64::new(0),
            outage: Mutex::default(),
            began: Instant::now(),
            until,
        };
        fs::create_dir(world.plain_folder()).unwrap();
        fs::write(world.plain_folder().join("file"), "plain\n").unwrap();
        fs::create_dir(world.log_folder()).unwrap();
        world.configure();
        world
    }

    /// A folder that is no repository.
    pub(super) fn plain_folder(&self) -> PathBuf {
        self.env.root().join("plain")
    }

    /// What every command said.
    pub(super) fn log_folder(&self) -> PathBuf {
        self.env.root().join("log")
    }

    fn configure(&self) {
        let set = |key: &str, value: &str| {
            let _ = self.env.mngr(["config", "set", "--scope", "user", key, value]).success();
        };
        for machine in &self.machines {
            match machine {
                Machine::Local => {}
                Machine::Ssh(sshd) => {
                    set("providers.lab.backend", "ssh");
                    set("providers.lab.hosts.box.address", &sshd.address().to_string());
                    set("providers.lab.hosts.box.port", &sshd.port().to_string());
                    set("providers.lab.hosts.box.user", "root");
                    set("providers.lab.hosts.box.key_file", sshd.key_file().to_str().unwrap());
                    set("providers.lab.hosts.box.host_keys", &format!("[{:?}]", sshd.host_key()));
                }
                Machine::Docker(engine) => {
                    set("providers.eng.backend", "docker");
                    set("providers.eng.host", &engine.endpoint());
                    set("providers.eng.default_image", engine.image());
                    // A host without agents stops, and goes in the end.
                    let seed = ["create", "seed@cell.eng", "--new-host", "--no-connect", "--type", "command"];
                    let _ = self.env.mngr(seed.into_iter().chain(["--", "sleep", "100000"])).success();
                }
            }
        }
    }

    /// Whether no further step is to begin.
    pub(super) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Milliseconds since the beginning.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Notes rules that are broken.
    pub(super) fn report(&self, violations: Vec<Violation>) {
        for violation in &violations {
            self.log(&format!("{:>6} VIOLATION {}: {}\n", self.now(), violation.rule, violation.what));
        }
        self.reported.lock().unwrap_or_else(|broken| broken.into_inner()).extend(violations);
    }

    /// The rules that were noted as broken.
    pub(super) fn reported(&self) -> Vec<Violation> {
        self.reported.lock().unwrap_or_else(|broken| broken.into_inner()).clone()
    }

    /// Adds to the log of the episode.
    pub(super) fn log(&self, text: &str) {
        let file = fs::File::options().create(true).append(true).open(self.log_folder().join("all"));
        let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
    }

    fn machine_of(&self, name: usize) -> &Machine {
        &self.machines[name % self.machines.len()]
    }

    /// Where the agent of a name is made.
    pub(super) fn place_of(&self, name: usize) -> Place {
        self.machine_of(name).place()
    }

    /// The whole address of a new agent.
    pub(super) fn address(&self, name: usize) -> String {
        match self.machine_of(name) {
            Machine::Local => NAMES[name].to_owned(),
            Machine::Ssh(_) => format!("{}@box.lab", NAMES[name]),
            Machine::Docker(_) => format!("{}@cell.eng", NAMES[name]),
        }
    }

    /// One of the snapshots that were made, or one that never was.
    pub(super) fn some_snapshot(&self, dice: u64) -> String {
        let book = self.book();
        let count = book.snapshots.len() as u64;
        let chosen = usize::try_from(dice % (count + 1)).unwrap_or_default();
        book.snapshots.get(chosen).cloned().unwrap_or_else(|| format!("snap-{}", "0".repeat(32)))
    }

    fn engine(&self) -> Option<&Dockerd> {
        self.machines.iter().find_map(|machine| match machine {
            Machine::Docker(engine) => Some(engine),
            _ => None,
        })
    }

    /// The machine behind an sshd.
    pub(super) fn sshd(&self) -> Option<&Sshd> {
        self.machines.iter().find_map(|machine| match machine {
            Machine::Ssh(sshd) => Some(sshd),
            _ => None,
        })
    }

    /// Starts a container that does not run, so that it can be looked into.
    pub(super) fn wake(&self) {
        if let Some(engine) = self.engine() {
            let _ = docker(engine, &["start", CONTAINER]);
        }
    }

    /// Containers but the one agents run in.
    pub(super) fn containers(&self) -> Vec<String> {
        let Some(engine) = self.engine() else { return Vec::new() };
        let all = docker(engine, &["ps", "--all", "--format", "{{.Names}}"]);
        all.lines().filter(|name| *name != CONTAINER).map(str::to_owned).collect()
    }

    /// Lets something happen to the container or its engine. Whether there was one.
    pub(super) fn trouble_containers(&self, fault: Fault, time: Duration) -> bool {
        let Some(engine) = self.engine() else { return false };
        match fault {
            Fault::StoppedContainer => !docker(engine, &["stop", "--time", "1", CONTAINER]).is_empty(),
            Fault::KilledContainer => !docker(engine, &["kill", CONTAINER]).is_empty(),
            _ => {
                let _one_at_a_time = self.outage.lock().unwrap_or_else(|broken| broken.into_inner());
                engine.signal(Signal::STOP);
                thread::sleep(time);
                engine.signal(Signal::CONT);
                true
            }
        }
    }

    /// Looks at all machines with plain tools.
    pub(super) fn inspect(&self) -> Facts {
        let mut facts = Facts::default();
        for machine in &self.machines {
            facts.add(&self.inspect_one(machine));
        }
        if !self.machines.iter().any(|machine| matches!(machine, Machine::Local)) {
            // The user's repository is here in any case.
            facts.add(&self.inspect_one(&Machine::Local));
        }
        facts
    }

    fn inspect_one(&self, machine: &Machine) -> String {
        let [host, home, tmux] = match machine {
            Machine::Local => [self.env.host_dir(), self.env.home(), self.env.root().join("t")],
            Machine::Ssh(_) => ["/root/.mngr", "/root", "/tmp"].map(PathBuf::from),
            Machine::Docker(_) => ["/mngr", "/root", "/tmp"].map(PathBuf::from),
        };
        let repository = match machine {
            Machine::Local => self.env.work_dir().display().to_string(),
            Machine::Ssh(_) | Machine::Docker(_) => String::new(),
        };
        let paths = [host, home, tmux].map(|path| path.display().to_string());
        self.shell(machine, SCRIPT, &[&paths[0], &paths[1], &paths[2], &repository])
    }

    /// What a script prints on a machine.
    pub(super) fn shell(&self, machine: &Machine, script: &str, args: &[&str]) -> String {
        let mut command = self.shell_command(machine, script, args);
        let output = command.stdin(Stdio::null()).output().expect("a shell");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn shell_command(&self, machine: &Machine, script: &str, args: &[&str]) -> Command {
        let mut command = match machine {
            Machine::Local => self.env.command("sh"),
            Machine::Ssh(sshd) => sshd.console("sh"),
            Machine::Docker(engine) => {
                let mut command = Command::new("docker");
                command.args(["--host", &engine.endpoint(), "exec", CONTAINER, "sh"]);
                command
            }
        };
        command.args(["-c", script, "sh"]).args(args);
        command
    }

    /// A path of an agent's machine as this machine sees it, where it can.
    pub(super) fn seen_from_here(&self, host: &str, path: &Path) -> Option<PathBuf> {
        match host {
            "localhost" => Some(path.to_owned()),
            "box" => Some(self.sshd()?.home().join(path.strip_prefix("/root").ok()?)),
            _ => None,
        }
    }
}

/// What the `docker` program prints, nothing if it fails.
fn docker(engine: &Dockerd, args: &[&str]) -> String {
    let output = Command::new("docker").args(["--host", &engine.endpoint()]).args(args).output();
    let output = output.expect("docker runs");
    if output.status.success() { String::from_utf8_lossy(&output.stdout).into_owned() } else { String::new() }
}

impl Machine {
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Local => Place::Local,
            Self::Ssh(_) => Place::Ssh,
            Self::Docker(_) => Place::Docker,
        }
    }
}
