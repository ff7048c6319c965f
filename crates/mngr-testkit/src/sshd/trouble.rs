//! What can happen to a machine: links that are cut, reboots, a killed sshd, clocks that are off, programs that lie.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use super::{NO_SSHD, START_LIMIT, Sshd};
use crate::link::Link;
use crate::or_fail::OrFail;
use crate::processes::{children, signal};
use crate::wait_until;

impl Sshd {
    /// Ends it with everything behind it and starts it anew, as a machine does that loses its power for a moment.
    #[track_caller]
    pub fn reboot(&mut self) {
        self.stop();
        self.note_boot();
        self.run();
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
        let [program, args @ ..] = words else { panic!("there is nothing to run") };
        let output = self.console(program).args(args).output().or_fail("entering the machine");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A program that somebody who sits at the machine runs.
    pub fn console(&self, program: &str) -> Command {
        let init = children(self.leader).first().map(u32::to_string).unwrap_or_default();
        let mut command = Command::new("nsenter");
        command.args(["--target", &init, "--mount", "--pid", "--net", "--", program]);
        command
    }

    /// Kills the processes that serve connections, and says whether there were any.
    pub fn kill_connections(&self) -> bool {
        let (_, serving) = self.processes();
        serving.iter().for_each(|pid| signal(Some(*pid), Signal::KILL));
        !serving.is_empty()
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
        // It keeps a file for each process there, which outlives one that is killed, and ends whoever gets that pid next.
        self.at_its_console(&["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"]);
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
}

/// Where a login finds a program.
#[track_caller]
fn program_called(name: &str) -> PathBuf {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.exists());
    fs::canonicalize(found.unwrap_or_default()).or_fail(format_args!("finding `{name}`"))
}

fn is_sshd(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("sshd"))
}

/// It says so in its title.
fn is_listening(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|title| title.contains("[listener]"))
}
