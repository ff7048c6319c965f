//! A private sshd on loopback: another machine as far as a program can tell, with processes and a home of its own.
//!
//! It runs in namespaces of its own, so that everything that was started through it ends with it. Needs root.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::{Builder, TempDir};

use crate::or_fail::OrFail;
use crate::reaper::{Folder, Reaper};
use crate::{processes_with_variable, wait_until};

/// Not `/tmp`, which is the other machine's own behind the sshd.
const PARENT: &str = "/var/tmp";
/// How long it may take to listen.
const START_LIMIT: Duration = Duration::from_secs(20);
/// The program; sshd wants to be called by its whole path.
const SSHD: &str = "/usr/sbin/sshd";

/// Where the system has the home of the login, which is root.
const LOGIN_HOME: &str = "/root";

/// Runs it in a mount namespace where the login's home and `/tmp` are ours.
const START: &str = r#"
mkdir -p /run/sshd && mount --bind "$1/home" "$2" && mount --bind "$1/tmp" /tmp && exec "$3" -D -e -f "$1/sshd_config"
"#;

/// A running sshd. Dropping it ends it with everything that runs behind it.
#[derive(Debug)]
pub struct Sshd {
    folder: TempDir,
    reaper: Reaper,
    port: u16,
    leader: u32,
}

impl Sshd {
    /// Starts one with fresh keys.
    #[track_caller]
    pub fn start() -> Self {
        assert!(rustix::process::getuid().is_root(), "a private sshd needs root");
        let folder = Builder::new().prefix("ms").tempdir_in(PARENT).or_fail("making the folder of the sshd");
        let root = folder.path();
        let reaper = Reaper::start(root, &root.join("host"));
        for name in ["home", "tmp"] {
            fs::create_dir(root.join(name)).or_fail(format_args!("making `{name}` of the other machine"));
        }
        for name in ["host_key", "client_key"] {
            make_key(&root.join(name));
        }
        fs::copy(root.join("client_key.pub"), root.join("authorized_keys")).or_fail("authorizing the key");
        let port = free_port();
        let mut sshd = Self { folder, reaper, port, leader: 0 };
        sshd.write_configs();
        sshd.run();
        sshd
    }

    fn write_configs(&self) {
        let (root, port) = (self.root().display(), self.port);
        let server = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {root}/host_key\nPidFile none\n\
             AuthorizedKeysFile {root}/authorized_keys\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin yes\nMaxSessions 100\nMaxStartups 200\n\
             PrintMotd no\nSubsystem sftp internal-sftp\n"
        );
        fs::write(self.root().join("sshd_config"), server).or_fail("writing the config of the sshd");
        let known = format!("[127.0.0.1]:{port} {}\n", self.host_key());
        fs::write(self.root().join("known_hosts"), known).or_fail("writing the known hosts");
        let client = format!(
            "Host box\n  HostName 127.0.0.1\n  Port {port}\n  User root\n  IdentityFile {root}/client_key\n  \
             IdentitiesOnly yes\n  UserKnownHostsFile {root}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
        );
        fs::write(self.root().join("ssh_config"), client).or_fail("writing the config of the client");
    }

    /// Starts the sshd itself, also again after [`stop`](Self::stop).
    #[track_caller]
    pub fn run(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.root().join("sshd.log"));
        let log = log.or_fail("opening the log of the sshd");
        let child = Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", START, "sshd"])
            .arg(self.root())
            .args([LOGIN_HOME, SSHD])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("MNGR_HOST_DIR", self.root().join("host"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .or_fail("starting the sshd");
        self.leader = child.id();
        // Whoever ends it need not be us: it must not stay a zombie that seems to live.
        thread::spawn(move || {
            let mut child = child;
            child.wait()
        });
        let listens = wait_until(START_LIMIT, || TcpStream::connect(("127.0.0.1", self.port)).is_ok());
        assert!(listens, "the sshd does not listen: {}", self.log());
    }

    /// Ends it with everything behind it, as a machine that loses its power.
    #[track_caller]
    pub fn stop(&self) {
        let host = self.root().join("host");
        signal(self.leader, Signal::KILL);
        let gone = wait_until(START_LIMIT, || processes_with_variable("MNGR_HOST_DIR", &host).is_empty());
        assert!(gone, "the sshd could not be ended");
    }

    /// Signals the processes that serve connections: SIGKILL cuts them, SIGSTOP makes them silent, SIGCONT wakes them.
    #[track_caller]
    pub fn signal_connections(&self, signal_to_send: Signal) {
        // What lost its parent there, such as a tmux server, is a child of the sshd too.
        let serving = children(self.leader).into_iter().flat_map(children).filter(|pid| is_sshd(*pid));
        let serving: Vec<u32> = serving.collect();
        assert!(!serving.is_empty(), "there is no connection");
        // Each may have given the work to a child without rights.
        let helping = serving.iter().flat_map(|pid| children(*pid)).filter(|pid| is_sshd(*pid));
        for pid in helping.collect::<Vec<_>>().into_iter().chain(serving) {
            signal(pid, signal_to_send);
        }
    }

    /// The folder that holds everything.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The home of the login, as this machine sees it.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// Its `/tmp`, as this machine sees it.
    pub fn tmp(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The private key that may log in.
    pub fn key_file(&self) -> PathBuf {
        self.root().join("client_key")
    }

    /// Its own public key, `ssh-ed25519 AAAA...`.
    #[track_caller]
    pub fn host_key(&self) -> String {
        let text = fs::read_to_string(self.root().join("host_key.pub")).or_fail("reading the host key");
        text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    }

    /// A client's config in which it is called `box`.
    pub fn config_file(&self) -> PathBuf {
        self.root().join("ssh_config")
    }

    /// What it has said.
    pub fn log(&self) -> String {
        fs::read_to_string(self.root().join("sshd.log")).unwrap_or_default()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        if thread::panicking() {
            self.folder.disable_cleanup(true);
        }
        let folder = if thread::panicking() { Folder::Keep } else { Folder::Remove };
        let cleaned = self.reaper.finish(folder);
        if !thread::panicking() {
            cleaned.or_fail("cleaning up after the sshd");
        }
    }
}

fn make_key(path: &Path) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.or_fail("making a key").success(), "ssh-keygen failed");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).or_fail("making the key private");
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).or_fail("finding a free port");
    listener.local_addr().or_fail("finding a free port").port()
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

fn is_sshd(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("sshd"))
}

fn children(of: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| parent_of(*pid) == Some(of)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()
}
