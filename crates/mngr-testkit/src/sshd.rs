//! A private sshd on loopback: another machine as far as a program can tell, with processes and a home of its own.
//!
//! It runs in namespaces of its own, so that everything that was started through it ends with it. Needs root. With a
//! link of its own it is also out of reach when that link is cut.

mod trouble;

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::{Builder, TempDir};

use crate::link::Link;
use crate::or_fail::OrFail;
use crate::processes::signal;
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

/// Runs it in a mount namespace where the login's home, `/tmp` and the id of the boot are ours, and again whenever it
/// ends while it should not.
const START: &str = r#"
mkdir -p /run/sshd && mount --bind "$1/home" "$2" && mount --bind "$1/tmp" /tmp &&
mount --bind "$1/boot_id" /proc/sys/kernel/random/boot_id && eval "$4" || exit 1
while :; do
    "$3" -D -e -f "$1/sshd_config"
    while sleep 0.02; do [ -e "$1/no-sshd" ] || break; done
done
"#;
/// Exists while no sshd is to run.
const NO_SSHD: &str = "no-sshd";

/// A running sshd. Dropping it ends it with everything that runs behind it.
#[derive(Debug)]
pub struct Sshd {
    folder: TempDir,
    reaper: Reaper,
    port: u16,
    leader: u32,
    link: Option<Link>,
    /// How often the machine was booted.
    boots: u32,
}

impl Sshd {
    /// Starts one with fresh keys.
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// Starts one behind a link of its own.
    #[track_caller]
    pub fn start_behind_link() -> Self {
        Self::start_with(Some(Link::new()))
    }

    #[track_caller]
    fn start_with(link: Option<Link>) -> Self {
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
        let mut sshd = Self { folder, reaper, port, leader: 0, link, boots: 0 };
        sshd.write_configs();
        sshd.note_boot();
        sshd.run();
        sshd
    }

    fn write_configs(&self) {
        let (root, port, address) = (self.root().display(), self.port, self.address());
        let server = format!(
            "ListenAddress {address}\nPort {port}\nHostKey {root}/host_key\nPidFile none\n\
             AuthorizedKeysFile {root}/authorized_keys\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin yes\nMaxSessions 100\nMaxStartups 200\n\
             PrintMotd no\nSubsystem sftp internal-sftp\n"
        );
        fs::write(self.root().join("sshd_config"), server).or_fail("writing the config of the sshd");
        let known = format!("[{address}]:{port} {}\n", self.host_key());
        fs::write(self.root().join("known_hosts"), known).or_fail("writing the known hosts");
        let client = format!(
            "Host box\n  HostName {address}\n  Port {port}\n  User root\n  IdentityFile {root}/client_key\n  \
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
            .args(self.link.iter().map(|_| "--net"))
            .args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", START, "sshd"])
            .arg(self.root())
            .args([LOGIN_HOME, SSHD, &self.link.as_ref().map(Link::far_script).unwrap_or_default()])
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
        if let Some(link) = &self.link {
            link.lay(self.leader);
        }
        self.wait_until_it_listens();
    }

    #[track_caller]
    fn wait_until_it_listens(&self) {
        let listens = wait_until(START_LIMIT, || TcpStream::connect((self.address(), self.port)).is_ok());
        assert!(listens, "the sshd does not listen: {}", self.log());
    }

    /// Ends it with everything behind it, as a machine that loses its power.
    #[track_caller]
    pub fn stop(&self) {
        let host = self.root().join("host");
        signal(Some(self.leader), Signal::KILL);
        let gone = wait_until(START_LIMIT, || processes_with_variable("MNGR_HOST_DIR", &host).is_empty());
        assert!(gone, "the sshd could not be ended");
    }

    /// Gives the machine the id of a new boot.
    fn note_boot(&mut self) {
        self.boots += 1;
        let id = format!("00000000-0000-4000-8000-{:012x}\n", self.boots);
        fs::write(self.root().join("boot_id"), id).or_fail("writing the id of the boot");
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

    /// Where it listens.
    pub fn address(&self) -> Ipv4Addr {
        self.link.as_ref().map_or(Ipv4Addr::LOCALHOST, Link::address)
    }

    /// The port there.
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
