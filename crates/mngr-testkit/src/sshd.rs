//! A private sshd on loopback: another machine as far as a program can tell, with processes and a home of its own.
//!
//! It runs in namespaces of its own, so that everything that was started through it ends with it. Needs root. With a
//! link of its own it is also out of reach when that link is cut.

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
use crate::processes::{children, signal};
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

    /// Ends it with everything behind it and starts it anew, as a machine does that loses its power for a moment.
    #[track_caller]
    pub fn reboot(&mut self) {
        self.stop();
        self.note_boot();
        self.run();
    }

    /// Gives the machine the id of a new boot.
    fn note_boot(&mut self) {
        self.boots += 1;
        let id = format!("00000000-0000-4000-8000-{:012x}\n", self.boots);
        fs::write(self.root().join("boot_id"), id).or_fail("writing the id of the boot");
    }

    /// Cuts its link: what is sent gets lost without a word.
    #[track_caller]
    pub fn cut(&self) {
        self.link().cut(self.leader);
    }

    /// Mends its link.
    #[track_caller]
    pub fn mend(&self) {
        self.link().mend(self.leader);
    }

    /// Makes its link slow in the direction to us: half a megabyte a second.
    #[track_caller]
    pub fn slow(&self) {
        self.link().slow(self.leader);
    }

    /// Makes its link fast again.
    #[track_caller]
    pub fn fast(&self) {
        self.link().fast(self.leader);
    }

    /// How much it has sent over its link.
    #[track_caller]
    pub fn bytes_sent(&self) -> u64 {
        self.link().bytes_received()
    }

    #[track_caller]
    fn link(&self) -> &Link {
        self.link.as_ref().unwrap_or_else(|| panic!("it has no link of its own"))
    }

    /// Kills the sshd with its connections. What runs behind it goes on.
    #[track_caller]
    pub fn kill_sshd(&self) {
        fs::write(self.root().join(NO_SSHD), "").or_fail("forbidding the sshd");
        let (listening, serving) = self.processes();
        listening.into_iter().chain(serving).for_each(|pid| signal(Some(pid), Signal::KILL));
        let is_gone = || TcpStream::connect((self.address(), self.port)).is_err();
        assert!(wait_until(START_LIMIT, is_gone), "the sshd could not be killed");
    }

    /// Lets the sshd run again after [`kill_sshd`](Self::kill_sshd).
    #[track_caller]
    pub fn revive_sshd(&self) {
        fs::remove_file(self.root().join(NO_SSHD)).or_fail("allowing the sshd");
        self.wait_until_it_listens();
    }

    /// Runs a command as somebody who sits at the machine.
    #[track_caller]
    pub fn at_its_console(&self, words: &[&str]) {
        let init = children(self.leader).first().map(u32::to_string).unwrap_or_default();
        let mut command = Command::new("nsenter");
        command.args(["--target", &init, "--mount", "--pid", "--net", "--"]).args(words);
        let output = command.output().or_fail("entering the machine");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs a shell script in the place of whatever a connection asks for.
    #[track_caller]
    pub fn answer_with(&self, script: &str) {
        let path = self.root().join("answer");
        fs::write(&path, script).or_fail("writing the script");
        self.configure("ForceCommand", &format!("/bin/sh {}", path.display()));
    }

    /// Sets an option of the sshd, whose connections end.
    #[track_caller]
    fn configure(&self, option: &str, value: &str) {
        self.kill_sshd();
        let path = self.root().join("sshd_config");
        let config = fs::read_to_string(&path).or_fail("reading the config of the sshd");
        let is_other = |line: &&str| line.split_whitespace().next() != Some(option);
        let kept = config.lines().filter(is_other).map(|line| format!("{line}\n"));
        let text: String = kept.chain([format!("{option} {value}\n")]).collect();
        fs::write(&path, text).or_fail("writing the config of the sshd");
        self.revive_sshd();
    }

    /// Puts a folder first on the `PATH` of new connections.
    #[track_caller]
    pub fn put_on_path(&self, folder: &Path) {
        self.configure("SetEnv", &format!("PATH={}:/usr/local/bin:/usr/bin:/bin", folder.display()));
    }

    /// Sets the clock of everything that is started by new connections forward by so many seconds, or back.
    #[track_caller]
    pub fn shift_clock(&self, seconds: i64) {
        let library = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
            .map(|machine| format!("/usr/lib/{machine}/faketime/libfaketime.so.1"))
            .into_iter()
            .find(|path| Path::new(path).exists());
        let library = library.unwrap_or_else(|| panic!("`libfaketime` is not installed"));
        self.configure("SetEnv", &format!("LD_PRELOAD={library} FAKETIME={seconds:+}"));
    }

    /// Puts a shell script in the place of a program of the machine, until it is rebooted. The program itself is then
    /// what the script calls `$real`.
    #[track_caller]
    pub fn replace_program(&self, name: &str, script: &str) {
        let program = program_called(name);
        let (real, fake) =
            (self.root().join(format!("real-{name}")), self.root().join(format!("fake-{name}")));
        // A program may be the very shell that reads the script.
        let shell = self.root().join("real-sh");
        for (from, to) in [(program.as_path(), &real), (Path::new("/bin/sh"), &shell)] {
            // One that is there may be running.
            if !to.exists() {
                fs::copy(from, to).or_fail("copying the program");
            }
        }
        let text = format!("#!{}\nreal={}\n{script}\n", shell.display(), real.display());
        fs::write(&fake, text).or_fail("writing the script");
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).or_fail("making the script a program");
        let [fake, program] = [fake, program].map(|path| path.to_string_lossy().into_owned());
        self.at_its_console(&["mount", "--bind", &fake, &program]);
    }

    /// Puts the program itself back in its place.
    #[track_caller]
    pub fn restore_program(&self, name: &str) {
        self.at_its_console(&["umount", "--lazy", &program_called(name).to_string_lossy()]);
    }

    /// Signals the processes that serve connections: SIGKILL cuts them, SIGSTOP makes them silent, SIGCONT wakes them.
    #[track_caller]
    pub fn signal_connections(&self, signal_to_send: Signal) {
        let (_, serving) = self.processes();
        assert!(!serving.is_empty(), "there is no connection");
        serving.into_iter().for_each(|pid| signal(Some(pid), signal_to_send));
    }

    /// Those that listen, and those that serve connections.
    fn processes(&self) -> (Vec<u32>, Vec<u32>) {
        let (mut listening, mut serving) = (Vec::new(), Vec::new());
        let mut open = children(self.leader);
        while let Some(pid) = open.pop() {
            let below = children(pid);
            if is_sshd(pid) && is_listening(pid) {
                listening.push(pid);
            } else if is_sshd(pid) {
                serving.push(pid);
            }
            open.extend(below);
        }
        (listening, serving)
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

/// Where a login finds a program.
#[track_caller]
fn program_called(name: &str) -> PathBuf {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.exists());
    fs::canonicalize(found.unwrap_or_default()).or_fail(format_args!("finding `{name}`"))
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

fn is_sshd(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("sshd"))
}

/// It says so in its title.
fn is_listening(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|title| title.contains("[listener]"))
}
