//! A private Docker engine with one image, for tests of containers. Needs root.
//!
//! It has no network and no registry. The image comes from `scripts/ensure-docker`, which the test runner has called.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::{Builder, TempDir};

use crate::link::Link;
use crate::or_fail::OrFail;
use crate::processes::{children, signal};
use crate::reaper::{Folder, Reaper};
use crate::wait_until;

/// Not `TMPDIR`: sockets in it must have short names.
const PARENT: &str = "/tmp";
/// How long it may take to answer, and to end.
const LIMIT: Duration = Duration::from_secs(60);
/// The image that every engine begins with.
const IMAGE: &str = "mngr-test:base";

/// Runs the engine, and again whenever it ends while it should not. What it leaves behind lives on.
const START: &str = r#"root=$1; shift
while :; do
    dockerd "$@"
    while sleep 0.05; do [ -e "$root/no-dockerd" ] || break; done
done"#;
/// Exists while no engine is to run.
const NO_DOCKERD: &str = "no-dockerd";

/// What becomes of containers while the engine does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containers {
    /// They end with it, as they do unless somebody configures it otherwise.
    End,
    /// They live on (`live-restore`).
    LiveOn,
}

/// A running engine. Dropping it ends it with every container and removes what they wrote.
#[derive(Debug)]
pub struct Dockerd {
    folder: TempDir,
    reaper: Reaper,
    /// The process that leads the namespaces; the engine is a child of its only child.
    leader: u32,
    containers: Containers,
}

impl Dockerd {
    /// Starts one that has the image.
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(Containers::End)
    }

    /// Starts one that has the image.
    #[track_caller]
    pub fn start_with(containers: Containers) -> Self {
        assert!(rustix::process::getuid().is_root(), "a private dockerd needs root");
        let model = model_data();
        let folder =
            Builder::new().prefix("md").tempdir_in(PARENT).or_fail("making the folder of the dockerd");
        copy_data(&model, &folder.path().join("data"));
        let reaper = Reaper::start(folder.path(), &folder.path().join("host"));
        let leader = spawn(folder.path(), containers);
        let engine = Self { folder, reaper, leader, containers };
        engine.wait_until_ready();
        engine
    }

    /// Ends the engine with everything and starts it again, as a machine that boots.
    #[track_caller]
    pub fn restart(&mut self) {
        self.end();
        self.leader = spawn(self.folder.path(), self.containers);
        self.wait_until_ready();
    }

    /// Lets containers with the engine's own network (`--network=host`) reach a port of this machine's loopback, and says
    /// at which address.
    #[track_caller]
    pub fn pass_on(&self, port: u16) -> SocketAddr {
        let link = Link::new();
        link.lay(self.leader);
        link.set_up_far_end(self.leader);
        link.pass_on(port)
    }

    /// Ends the engine alone, until [`resume`](Self::resume).
    #[track_caller]
    pub fn pause(&self) {
        fs::write(self.folder.path().join(NO_DOCKERD), "").or_fail("forbidding the dockerd");
        self.end_daemon();
    }

    /// Lets the engine run again.
    #[track_caller]
    pub fn resume(&self) {
        fs::remove_file(self.folder.path().join(NO_DOCKERD)).or_fail("allowing the dockerd");
        self.wait_until_ready();
    }

    /// Signals the engine alone: SIGSTOP makes it silent, SIGCONT wakes it.
    pub fn signal(&self, signal_to_send: Signal) {
        signal(self.daemon(), signal_to_send);
    }

    /// The image that is there.
    pub fn image(&self) -> &'static str {
        IMAGE
    }

    /// Where it listens, as `DOCKER_HOST` spells it.
    pub fn endpoint(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("sock")
    }

    /// Runs the `docker` program, which must succeed, and gives what it printed.
    #[track_caller]
    pub fn docker(&self, args: &[&str]) -> String {
        let output = Command::new("docker").args(["--host", &self.endpoint()]).args(args).output();
        let output = output.or_fail("running docker");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "docker {args:?} failed: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    #[track_caller]
    fn wait_until_ready(&self) {
        let is_ready = || {
            let asked = Command::new("docker").args(["--host", &self.endpoint(), "version"]).output();
            asked.is_ok_and(|output| output.status.success())
        };
        assert!(wait_until(LIMIT, is_ready), "the dockerd does not answer: {}", self.log());
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Asks the engine to end and waits for it, then ends what it leaves.
    #[track_caller]
    fn end(&self) {
        fs::write(self.folder.path().join(NO_DOCKERD), "").or_fail("forbidding the dockerd");
        self.end_daemon();
        signal(Some(self.leader), Signal::KILL);
        let is_gone = || !Path::new(&format!("/proc/{}", self.leader)).exists();
        assert!(wait_until(LIMIT, is_gone), "the dockerd leaves something: {}", self.log());
        let _ = fs::remove_file(self.folder.path().join(NO_DOCKERD));
    }

    #[track_caller]
    fn end_daemon(&self) {
        signal(self.daemon(), Signal::TERM);
        assert!(wait_until(LIMIT, || self.daemon().is_none()), "the dockerd does not end: {}", self.log());
    }

    fn daemon(&self) -> Option<u32> {
        let is_daemon = |pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "dockerd")
        };
        children(self.leader).into_iter().flat_map(children).find(is_daemon)
    }
}

impl Drop for Dockerd {
    fn drop(&mut self) {
        if thread::panicking() {
            self.folder.disable_cleanup(true);
        } else {
            // One by one: the engine takes away what the kernel keeps for each.
            for id in self.docker(&["ps", "--all", "--quiet"]).split_whitespace() {
                self.docker(&["rm", "--force", id]);
            }
            self.end();
        }
        let folder = if thread::panicking() { Folder::Keep } else { Folder::Remove };
        let cleaned = self.reaper.finish(folder);
        if !thread::panicking() {
            cleaned.or_fail("cleaning up after the dockerd");
        }
    }
}

/// In namespaces of its own: its bridge, its mounts and all its processes are nobody else's, and go away with it.
fn spawn(root: &Path, containers: Containers) -> u32 {
    let log = fs::File::options().create(true).append(true).open(root.join("log"));
    let log = log.or_fail("opening the log of the dockerd");
    let path = |name: &str| root.join(name).display().to_string();
    let child = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"])
        .args(["sh", "-c", START, "dockerd"])
        .arg(root)
        .args(["--host", &format!("unix://{}", path("sock"))])
        .args(["--data-root", &path("data"), "--exec-root", &path("exec"), "--pidfile", &path("pid")])
        .args(["--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"])
        .args(["--bip", "172.30.99.1/24"])
        .args((containers == Containers::LiveOn).then_some("--live-restore"))
        .env("MNGR_HOST_DIR", root.join("host"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .or_fail("starting the dockerd");
    let leader = child.id();
    // Whoever ends it need not be us: it must not stay a zombie that seems to live.
    thread::spawn(move || {
        let mut child = child;
        child.wait()
    });
    leader
}

/// Gives an engine the data of another one. An engine never changes a file of an image, so those are shared.
fn copy_data(from: &Path, to: &Path) {
    const COPY: &str = r#"mkdir -p "$2" && cp -a --link "$1/overlay2" "$2/overlay2" &&
        find "$1" -mindepth 1 -maxdepth 1 ! -name overlay2 -exec cp -a {} "$2" \;"#;
    let copied = Command::new("sh").args(["-c", COPY, "sh"]).arg(from).arg(to).status();
    assert!(
        copied.or_fail("copying the data of an engine").success(),
        "the data of an engine cannot be copied"
    );
}

/// The data of an engine that has the image.
#[track_caller]
fn model_data() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/ensure-docker");
    let output = Command::new(script).output().or_fail("running scripts/ensure-docker");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "there is no image for the tests: {said}");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}
