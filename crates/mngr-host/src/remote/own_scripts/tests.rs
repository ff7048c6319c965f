//! The scripts in every shell that a host may have, with a stand-in for what stops the host.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use mngr_model::HostId;
use mngr_model::activity::{ActivityConfig, ActivitySource, IdleMode};
use mngr_model::host::HostRecord;
use rustix::process::{Pid, Signal, kill_process_group};

use super::super::line::Line as _;
use super::super::testing::{ShellLine, all_kinds};
use super::*;
use crate::local::procfs::Stat;
use crate::proc::Cmd;
use crate::pty::{Pty, TerminalSize};
use crate::random;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);
/// What ends the host in a test: it notes the state that it was told.
const SHUTDOWN: &str = "echo \"$1\" >stopped\n";

/// A host dir, watched in one kind of shell.
struct Watched {
    line: Arc<ShellLine>,
    dir: tempfile::TempDir,
    config: ActivityConfig,
    prefix: Option<String>,
    id: HostId,
    watcher: Option<Child>,
}

impl Watched {
    /// Not watched yet. Nothing may happen for 50 s.
    fn new(line: &Arc<ShellLine>, mode: IdleMode) -> Self {
        let dir = tempfile::Builder::new().prefix("mw").tempdir_in("/tmp").unwrap();
        for folder in ["activity", "agents", "commands", "journal"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("commands/shutdown.sh"), SHUTDOWN).unwrap();
        fs::write(dir.path().join("commands/activity_watcher.sh"), ACTIVITY_WATCHER).unwrap();
        let idle_timeout = Duration::from_secs(50);
        let config = ActivityConfig { idle_timeout, sources: mode.sources().unwrap(), max_host_age: None };
        Self { line: line.clone(), dir, config, prefix: None, id: random::host_id(), watcher: None }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write_limits(&self) {
        let record = HostRecord {
            host_id: self.id.clone(),
            host_name: "box".parse().unwrap(),
            created_at: jiff::Timestamp::UNIX_EPOCH,
            updated_at: jiff::Timestamp::UNIX_EPOCH,
            activity: self.config.clone(),
            activity_check_seconds: Some(1),
            tmux_session_prefix: self.prefix.clone(),
            other: serde_json::Map::new(),
        };
        fs::write(self.path("data.json"), record.to_text().unwrap()).unwrap();
    }

    /// A file that was last touched so long ago; in the future for a negative number.
    fn touched(&self, path: &str, seconds_ago: i64) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = File::options().create(true).append(true).open(&path).unwrap();
        let ago = Duration::from_secs(seconds_ago.unsigned_abs());
        let now = SystemTime::now();
        file.set_modified(if seconds_ago < 0 { now + ago } else { now - ago }).unwrap();
    }

    /// An agent that was created and started so long ago.
    fn agent(&self, seconds_ago: i64) -> String {
        let agent = format!("agents/{}", random::agent_id());
        for source in ["create", "start", "agent"] {
            self.touched(&format!("{agent}/activity/{source}"), seconds_ago);
        }
        agent
    }

    /// Begins to watch a host that was booted 1000 s ago.
    fn watch(&mut self) {
        self.write_limits();
        let uptime = fs::read_to_string("/proc/uptime").unwrap();
        let uptime: u64 = uptime.split('.').next().unwrap().parse().unwrap();
        let watcher = Command::new(self.line.shell())
            .arg(self.path("commands/activity_watcher.sh"))
            .arg(self.dir.path())
            .args([self.id.to_string(), uptime.saturating_sub(1000).to_string(), "2".to_owned()])
            .env("PATH", self.line.path())
            .env("TMUX_TMPDIR", self.dir.path())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        self.watcher = Some(watcher);
    }

    fn until<T>(&self, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            assert!(began.elapsed() < LIMIT, "{what} in {}", self.line.shell());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The state it is stopped in.
    fn stopped(&self) -> String {
        let stopped = self.path("stopped");
        self.until("it is never stopped", || {
            fs::read_to_string(&stopped).ok().filter(|text| text.ends_with('\n'))
        })
        .trim()
        .to_owned()
    }

    /// Lets it look twice: what it decides is then decided.
    #[track_caller]
    fn stays(&self) {
        for _ in 0..2 {
            let looked = || fs::metadata(self.path("activity/.now")).ok()?.modified().ok();
            let before = looked();
            self.until("it never looks", || looked().filter(|now| Some(*now) != before));
        }
        assert!(!self.path("stopped").exists(), "it was stopped in {}", self.line.shell());
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(mut watcher) = self.watcher.take() {
            // With what it waits for.
            let group = Pid::from_raw(watcher.id() as i32).unwrap();
            let _ = kill_process_group(group, Signal::KILL);
            let _ = watcher.wait();
        }
    }
}

/// All at once: each waits for its own watcher.
fn in_every_shell(mode: IdleMode, test: impl Fn(Watched) + Sync) {
    let hosts: Vec<Watched> = all_kinds().iter().map(|(line, _)| Watched::new(line, mode)).collect();
    std::thread::scope(|scope| {
        for host in hosts {
            scope.spawn(|| test(host));
        }
    });
}

/// A process and what a supervisor's record says of it.
fn living(folder: &Path) -> Child {
    let child = Command::new("sleep").arg("300").spawn().unwrap();
    let pid = child.id() as i32;
    let start = Stat::read(pid).unwrap().unwrap().start;
    let text = format!("start boot=b supervisor={pid}:{start} pane=%0\nagent pid={pid}:{start}\n");
    fs::write(folder.join("process"), text).unwrap();
    child
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_host_on_which_nothing_happens_is_paused_and_the_lock_tells_of_it() {
    in_every_shell(IdleMode::Io, |mut host| {
        host.agent(60);
        host.touched("activity/ssh", 70);
        host.watch();
        assert_eq!(host.stopped(), "PAUSED");
        assert_eq!(fs::read_to_string(host.path("host_lock.generation")).unwrap(), "1\n");
    });
}

#[test]
fn what_counts_keeps_a_host_and_what_does_not_count_does_not() {
    in_every_shell(IdleMode::Agent, |mut host| {
        let agent = host.agent(60);
        host.touched(&format!("{agent}/activity/agent"), 0);
        host.watch();
        host.stays();
        // What people do is not among the sources of this mode.
        host.touched("activity/user", 0);
        host.touched(&format!("{agent}/activity/agent"), 60);
        assert_eq!(host.stopped(), "PAUSED");
    });
}

#[test]
fn nothing_is_stopped_without_a_record_nor_with_idleness_disabled() {
    in_every_shell(IdleMode::Disabled, |mut host| {
        host.prefix = Some("mngr-".to_owned());
        host.agent(60);
        host.watch();
        host.stays();
        fs::remove_file(host.path("data.json")).unwrap();
        host.stays();
    });
}

#[test]
fn the_limits_of_a_host_that_this_one_is_a_copy_of_are_not_its_own() {
    in_every_shell(IdleMode::Io, |mut host| {
        host.config.max_host_age = Some(Duration::from_secs(1));
        host.agent(60);
        let id = std::mem::replace(&mut host.id, random::host_id());
        host.watch();
        host.id = id;
        host.write_limits();
        host.stays();
    });
}

#[test]
fn a_host_that_has_run_for_too_long_is_stopped_whatever_happens() {
    in_every_shell(IdleMode::Disabled, |mut host| {
        host.config.max_host_age = Some(Duration::from_secs(500));
        host.watch();
        assert_eq!(host.stopped(), "STOPPED");
    });
}

#[test]
fn changed_limits_count_from_the_next_look_on() {
    in_every_shell(IdleMode::Io, |mut host| {
        host.agent(30);
        host.watch();
        host.stays();
        host.config.idle_timeout = Duration::from_secs(20);
        host.write_limits();
        assert_eq!(host.stopped(), "PAUSED");
    });
}

#[test]
fn nothing_is_stopped_while_a_command_holds_the_host_or_a_journal() {
    in_every_shell(IdleMode::Io, |mut host| {
        let held = |path: &str| {
            let file = File::create(host.path(path)).unwrap();
            file.lock().unwrap();
            file
        };
        let (lock, journal) = (held("host_lock"), held("journal/agent-1.jsonl"));
        // One that nobody holds is a left-over and no obstacle.
        File::create(host.path("journal/agent-2.jsonl")).unwrap();
        host.agent(60);
        host.watch();
        host.stays();
        drop(lock);
        host.stays();
        drop(journal);
        assert_eq!(host.stopped(), "PAUSED");
    });
}

#[test]
fn whoever_waits_for_the_lock_does_not_get_it_from_a_host_that_is_stopped() {
    let (line, _) = all_kinds().remove(0);
    let mut host = Watched::new(&line, IdleMode::Io);
    fs::write(host.path("commands/shutdown.sh"), "echo \"$1\" >stopped\nsleep 30\n").unwrap();
    host.agent(60);
    host.watch();
    host.stopped();
    let file = File::options().append(true).open(host.path("host_lock")).unwrap();
    assert!(file.try_lock().is_err(), "the lock was let go before the host was gone");
}

#[test]
fn a_time_to_come_keeps_a_host_no_longer_than_a_time_that_is_now() {
    in_every_shell(IdleMode::Create, |mut host| {
        host.config.idle_timeout = Duration::from_secs(3);
        let agent = host.agent(-86400);
        host.watch();
        host.stays();
        // Its creation was counted; it cannot be created again.
        host.touched(&format!("{agent}/activity/create"), -86400);
        assert_eq!(host.stopped(), "PAUSED");
    });
}

#[test]
fn touching_the_file_of_the_boot_does_not_make_a_host_younger() {
    in_every_shell(IdleMode::Boot, |mut host| {
        host.touched("activity/boot", -86400);
        host.watch();
        assert_eq!(host.stopped(), "PAUSED");
    });
}

#[test]
fn a_host_without_sessions_is_stopped_and_one_with_a_living_supervisor_is_not() {
    in_every_shell(IdleMode::Io, |mut host| {
        host.prefix = Some("mngr-".to_owned());
        let agent = host.agent(0);
        let child = living(&host.path(&agent));
        host.watch();
        host.stays();
        end(child);
        assert_eq!(host.stopped(), "STOPPED");
    });
}

#[test]
fn the_life_of_a_program_counts_where_it_is_to_count() {
    in_every_shell(IdleMode::Run, |mut host| {
        let agent = host.agent(60);
        let child = living(&host.path(&agent));
        host.watch();
        host.stays();
        assert!(host.path(&agent).join("activity/process").exists());
        end(child);
        assert_eq!(host.stopped(), "PAUSED");
    });
}

/// A tmux server with the session of an agent, which ends with the value.
struct Session(PathBuf);

impl Session {
    fn of(host: &Watched) -> Self {
        let session = Self(host.dir.path().to_owned());
        let new = ["-f", "/dev/null", "new-session", "-d", "-s", "mngr-a", "sleep 300"];
        assert!(session.tmux().args(new).status().unwrap().success());
        session
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", "w"]).env("TMUX_TMPDIR", &self.0).env_remove("TMUX");
        tmux
    }

    /// Somebody who looks at it.
    fn viewer(&self) -> Pty {
        let attach = Cmd::new("tmux")
            .args(["-L", "w", "attach-session", "-t", "=mngr-a"])
            .env("TMUX_TMPDIR", self.0.to_str().unwrap())
            .env("TERM", "xterm")
            .env_remove("TMUX");
        Pty::open(&attach, TerminalSize { cols: 80, rows: 24 }).unwrap()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").status();
    }
}

#[test]
fn keys_that_somebody_types_count_and_a_session_that_nobody_looks_at_does_not() {
    in_every_shell(IdleMode::User, |mut host| {
        host.config.sources = [ActivitySource::User].into();
        host.config.idle_timeout = Duration::from_secs(4);
        host.prefix = Some("mngr-".to_owned());
        host.touched("activity/user", 0);
        let session = Session::of(&host);
        let viewer = session.viewer();
        let is_typing = AtomicBool::new(true);
        host.watch();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut shown = [0; 4096];
                while is_typing.load(Ordering::Relaxed) {
                    let _ = (viewer.write(b"x"), viewer.read(&mut shown));
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
            // Longer than nothing may happen.
            for _ in 0..3 {
                host.stays();
            }
            is_typing.store(false, Ordering::Relaxed);
        });
        assert_eq!(host.stopped(), "PAUSED");
    });
}

/// A host dir with an agent that is wanted at boot; its script notes each start.
fn bootable(line: &Arc<ShellLine>) -> (Watched, String) {
    let host = Watched::new(line, IdleMode::Disabled);
    fs::write(host.path("commands/start_on_boot.sh"), START_ON_BOOT).unwrap();
    let agent = host.agent(60);
    let script = format!("echo started >>'{}'\n", host.path("starts").display());
    fs::write(host.path(&agent).join("boot.sh"), script).unwrap();
    (host, agent)
}

fn boot(host: &Watched, args: &[&str]) -> usize {
    let script = host.path("commands/start_on_boot.sh");
    let mut command = Command::new(host.line.shell());
    let ran = command.arg(script).args(args).env("PATH", host.line.path()).current_dir("/").status();
    assert!(ran.unwrap().success());
    fs::read_to_string(host.path("starts")).unwrap_or_default().lines().count()
}

#[test]
fn agents_are_started_once_for_each_boot_and_every_time_in_a_container() {
    for (line, _) in all_kinds() {
        let (host, _) = bootable(&line);
        assert_eq!(boot(&host, &[]), 1);
        assert_eq!(boot(&host, &[]), 1, "the same boot started an agent twice in {}", line.shell());
        fs::write(host.path("activity/booted"), "another boot\n").unwrap();
        assert_eq!(boot(&host, &[]), 2);
        assert_eq!(boot(&host, &["always"]), 3);
    }
}

#[test]
fn an_agent_that_runs_or_is_worked_on_is_not_started_at_boot() {
    for (line, _) in all_kinds() {
        let (host, agent) = bootable(&line);
        let child = living(&host.path(&agent));
        assert_eq!(boot(&host, &["always"]), 0, "it runs");
        end(child);
        let journal = host.path(&agent.replace("agents/", "journal/")).with_extension("jsonl");
        fs::write(&journal, "").unwrap();
        assert_eq!(boot(&host, &["always"]), 0, "it is worked on");
        fs::remove_file(journal).unwrap();
        assert_eq!(boot(&host, &["always"]), 1);
    }
}
