//! A private Docker engine with one image, for tests of containers. Needs root.
//!
//! It has no network and no registry. The image comes from `scripts/ensure-docker`, which the test runner has called.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::{Builder, TempDir};

use crate::or_fail::OrFail;
use crate::reaper::{Folder, Reaper};
use crate::wait_until;

/// Not `TMPDIR`: sockets in it must have short names.
const PARENT: &str = "/tmp";
/// How long it may take to answer, and to end.
const LIMIT: Duration = Duration::from_secs(60);
/// The image that every engine begins with.
const IMAGE: &str = "mngr-test:base";

/// A running engine. Dropping it ends it with every container and removes what they wrote.
#[derive(Debug)]
pub struct Dockerd {
    folder: TempDir,
    reaper: Reaper,
    /// The process that leads the namespaces; the engine is its only child.
    leader: u32,
}

impl Dockerd {
    /// Starts one that has the image.
    #[track_caller]
    pub fn start() -> Self {
        assert!(rustix::process::getuid().is_root(), "a private dockerd needs root");
        let model = model_data();
        let folder =
            Builder::new().prefix("md").tempdir_in(PARENT).or_fail("making the folder of the dockerd");
        copy_data(&model, &folder.path().join("data"));
        let reaper = Reaper::start(folder.path(), &folder.path().join("host"));
        let leader = spawn(folder.path());
        let engine = Self { folder, reaper, leader };
        engine.wait_until_ready();
        engine
    }

    /// Ends the engine and starts it again; containers live through it as on a machine that boots.
    #[track_caller]
    pub fn restart(&mut self) {
        self.end();
        self.leader = spawn(self.folder.path());
        self.wait_until_ready();
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

    /// Asks the engine to end, and waits for it.
    #[track_caller]
    fn end(&self) {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.leader));
        let engine = children.ok().and_then(|text| text.split_whitespace().next()?.parse().ok());
        if let Some(pid) = engine.and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let is_gone = || !Path::new(&format!("/proc/{}", self.leader)).exists();
        assert!(wait_until(LIMIT, is_gone), "the dockerd does not end: {}", self.log());
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
fn spawn(root: &Path) -> u32 {
    let log = fs::File::options().create(true).append(true).open(root.join("log"));
    let log = log.or_fail("opening the log of the dockerd");
    let path = |name: &str| root.join(name).display().to_string();
    let child = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "dockerd"])
        .args(["--host", &format!("unix://{}", path("sock"))])
        .args(["--data-root", &path("data"), "--exec-root", &path("exec"), "--pidfile", &path("pid")])
        .args(["--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"])
        .args(["--bip", "172.30.99.1/24"])
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
