//! A real sshd behind the line: what it refuses, what a cut does, what others see.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mngr_testkit::{Signal, Sshd, wait_until};

use super::*;
use crate::lock::{LockError, LockWait};
use crate::proc::{Attachment, ExecError};
use crate::remote::{RemoteFiles, Shells, lock};

/// A machine behind a real sshd, and the client's folder for the connection.
struct Box {
    sshd: Sshd,
    folder: tempfile::TempDir,
}

impl Box {
    fn new() -> Self {
        Self { sshd: Sshd::start(), folder: tempfile::tempdir_in("/tmp").unwrap() }
    }

    fn target(&self) -> SshTarget {
        SshTarget {
            name: "box".to_owned(),
            address: "127.0.0.1".to_owned(),
            user: Some("root".to_owned()),
            port: Some(self.sshd.port()),
            key_file: Some(HostPath::new(self.sshd.key_file().to_str().unwrap())),
            host_keys: vec![self.sshd.host_key()],
            known_hosts_file: None,
            config_file: Some(HostPath::new("/dev/null")),
            options: Vec::new(),
        }
    }

    fn line(&self, target: SshTarget) -> SshLine {
        SshLine::open(target, &HostPath::new(self.folder.path().to_str().unwrap())).unwrap()
    }

    fn shells(&self) -> Shells {
        Shells::new(Arc::new(self.line(self.target())))
    }

    fn runs(&self) -> String {
        std::fs::read_to_string(self.sshd.home().join("runs")).unwrap_or_default()
    }
}

impl Drop for Box {
    fn drop(&mut self) {
        // A master whose other side is gone ends by itself, but not at once.
        let line = self.line(self.target());
        let exit = Cmd::from_words(line.words()).args(["-O", "exit", "127.0.0.1"]);
        let _ = crate::proc::run(&exit);
    }
}

#[test]
fn commands_run_in_the_home_of_the_login_over_one_connection_that_outlives_them() {
    let machine = Box::new();
    let shells = machine.shells();
    assert_eq!(shells.exec(&Cmd::shell("pwd; cat")).unwrap().stdout_text(), "/root");
    shells.exec(&Cmd::new("touch").arg("here")).unwrap();
    assert!(machine.sshd.home().join("here").exists());
    drop(shells);
    machine.shells().exec(&Cmd::new("true")).unwrap();
    let logins = machine.sshd.log().matches("Accepted publickey").count();
    assert_eq!(logins, 1, "{}", machine.sshd.log());
}

#[test]
fn what_a_shell_made_there_goes_with_it() {
    let machine = Box::new();
    let shells = machine.shells();
    shells.exec(&Cmd::new("true")).unwrap();
    let is_empty = || std::fs::read_dir(machine.sshd.tmp()).unwrap().next().is_none();
    assert!(!is_empty());
    drop(shells);
    assert!(wait_until(Duration::from_secs(10), is_empty));
}

#[test]
fn a_key_that_is_not_the_pinned_one_is_refused_and_nothing_is_sent() {
    let machine = Box::new();
    let other = Box::new();
    let target = SshTarget { host_keys: vec![other.sshd.host_key()], ..machine.target() };
    let shells = Shells::new(Arc::new(machine.line(target)));
    let error = shells.exec(&Cmd::shell("echo ran >runs")).unwrap_err();
    let ExecError::Unreachable { detail, .. } = &error else { panic!("{error:?}") };
    assert!(detail.contains("verification failed"), "{detail}");
    assert_eq!(machine.runs(), "");
}

#[test]
fn without_a_pinned_key_the_users_own_config_and_known_hosts_decide() {
    let machine = Box::new();
    let config = HostPath::new(machine.sshd.config_file().to_str().unwrap());
    let by_config = SshTarget {
        name: "box".to_owned(),
        address: "box".to_owned(),
        config_file: Some(config),
        ..SshTarget::default()
    };
    let shells = Shells::new(Arc::new(machine.line(by_config.clone())));
    assert!(shells.exec(&Cmd::new("true")).unwrap().success());
    std::fs::write(machine.sshd.root().join("known_hosts"), "").unwrap();
    let unknown = SshTarget { options: vec!["ControlPath=none".to_owned()], ..by_config };
    let shells = Shells::new(Arc::new(machine.line(unknown)));
    assert!(matches!(shells.exec(&Cmd::new("true")), Err(ExecError::Unreachable { .. })));
}

#[test]
fn a_machine_that_is_not_there_and_a_login_that_is_refused_are_unreachable() {
    let machine = Box::new();
    let refused = SshTarget { user: Some("mngr-no-such-user".to_owned()), ..machine.target() };
    let gone = SshTarget { port: Some(1), ..machine.target() };
    for (target, said) in [(refused, "Permission denied"), (gone, "Connection refused")] {
        let shells = Shells::new(Arc::new(machine.line(target)));
        let error = shells.exec(&Cmd::new("true")).unwrap_err();
        let ExecError::Unreachable { detail, .. } = &error else { panic!("{error:?}") };
        assert!(detail.contains(said), "{detail}");
    }
}

#[test]
fn the_socket_and_the_pinned_keys_are_private_and_their_names_short() {
    let machine = Box::new();
    machine.shells().exec(&Cmd::new("true")).unwrap();
    let private = std::fs::read_dir(machine.folder.path()).unwrap().next().unwrap().unwrap();
    assert_eq!(private.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(private.path().join("c").exists());
    let deep = HostPath::new(machine.folder.path().join("d".repeat(80)).to_str().unwrap());
    let line = SshLine::open(machine.target(), &deep).unwrap();
    assert!(Shells::new(Arc::new(line)).exec(&Cmd::new("true")).unwrap().success());
}

#[test]
fn values_of_variables_are_on_no_command_line() {
    let machine = Box::new();
    let shells = machine.shells();
    let look = "cat /proc/[0-9]*/cmdline | tr '\\0' ' '";
    let cmd = Cmd::shell(look).env("TOKEN", "s3cr3t-value");
    assert!(!shells.exec(&cmd).unwrap().stdout_text().contains("s3cr3t-value"));
    assert!(!shells.exec(&cmd.env_clear()).unwrap().stdout_text().contains("s3cr3t-value"));
}

#[test]
fn a_connection_cut_while_a_command_runs_is_said_and_the_command_runs_once() {
    let machine = Box::new();
    let shells = machine.shells();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| shells.exec(&Cmd::shell("echo once >>runs; sleep 2; echo end >>runs")));
        assert!(wait_until(Duration::from_secs(10), || machine.runs() == "once\n"));
        machine.sshd.signal_connections(Signal::KILL);
        let error = running.join().unwrap().unwrap_err();
        assert!(matches!(error, ExecError::Lost { .. }), "{error:?}");
    });
    // The next command makes a new connection by itself.
    assert!(shells.exec(&Cmd::shell("echo twice >>runs")).unwrap().success());
    assert_eq!(machine.runs().matches("once").count(), 1);
}

#[test]
fn a_killed_master_loses_what_runs_and_is_replaced_by_the_next_command() {
    let machine = Box::new();
    let shells = machine.shells();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| shells.exec(&Cmd::shell("echo once >>runs; sleep 2")));
        assert!(wait_until(Duration::from_secs(10), || machine.runs() == "once\n"));
        let line = machine.line(machine.target());
        let check = Cmd::from_words(line.words()).args(["-O", "check", "127.0.0.1"]);
        let said = crate::proc::run(&check).unwrap().stderr_text();
        let pid = said.split(['=', ')']).nth(1).unwrap().to_owned();
        crate::proc::run(&Cmd::new("kill").args(["-KILL", &pid])).unwrap();
        let error = running.join().unwrap().unwrap_err();
        assert!(matches!(error, ExecError::Lost { .. }), "{error:?}");
    });
    assert!(shells.exec(&Cmd::new("true")).unwrap().success());
    assert_eq!(machine.runs(), "once\n");
}

#[test]
fn a_full_disk_is_said_and_leaves_the_old_file() {
    let machine = Box::new();
    let shells = Arc::new(machine.shells());
    let files = RemoteFiles::new(shells.clone());
    let small = "mkdir -p small && mount -t tmpfs -o size=64k none small && echo old >small/file";
    assert!(shells.exec(&Cmd::shell(small)).unwrap().success());
    let path = HostPath::new("/root/small/file");
    let large = vec![b'x'; 1 << 20];
    for written in [
        files.write(&path, &large, Access::Private, Durability::Cached),
        files.append(&HostPath::new("/root/small/log"), &large, Durability::Cached),
    ] {
        assert_eq!(written.unwrap_err().source.kind(), std::io::ErrorKind::StorageFull);
    }
    files.remove_file(&HostPath::new("/root/small/log")).unwrap();
    assert_eq!(files.read(&path).unwrap(), b"old\n");
    assert_eq!(files.list(&HostPath::new("/root/small")).unwrap().len(), 1);
    // Where the shells keep what they need, too.
    assert!(shells.exec(&Cmd::shell("mount -t tmpfs -o size=64k none /tmp")).unwrap().success());
    let shells = machine.shells();
    let error = shells.exec(&Cmd::new("cat").stdin(large)).unwrap_err();
    let ExecError::Io { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
    assert!(shells.exec(&Cmd::new("true")).unwrap().success());
}

#[test]
fn rsync_goes_over_the_same_connection() {
    let machine = Box::new();
    let line = machine.line(machine.target());
    let file = machine.folder.path().join("a file");
    std::fs::write(&file, "text").unwrap();
    let shell = mngr_model::quote::sh_join(line.copy_shell());
    let place = format!("{}:/root/", line.copy_name());
    let cmd = Cmd::new("rsync").args(["-e", &shell, file.to_str().unwrap(), &place]);
    let output = crate::proc::run(&cmd).unwrap();
    assert!(output.success(), "{}", output.stderr_text());
    assert_eq!(std::fs::read_to_string(machine.sshd.home().join("a file")).unwrap(), "text");
}

#[test]
fn a_connection_that_falls_silent_holds_nobody_beyond_the_deadline() {
    let machine = Box::new();
    let shells = machine.shells();
    shells.exec(&Cmd::new("true")).unwrap();
    machine.sshd.signal_connections(Signal::STOP);
    let started = Instant::now();
    let cmd = Cmd::shell("echo once >>runs").deadline(Duration::from_millis(500));
    let error = shells.exec(&cmd).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert!(matches!(error, ExecError::Lost { .. } | ExecError::Unreachable { .. }), "{error:?}");
    machine.sshd.signal_connections(Signal::CONT);
    assert!(wait_until(Duration::from_secs(20), || shells.exec(&Cmd::new("true")).is_ok()));
    assert!(machine.runs().matches("once").count() <= 1);
}

#[test]
fn a_machine_that_was_gone_is_used_again_when_it_is_back() {
    let mut machine = Box::new();
    let shells = machine.shells();
    shells.exec(&Cmd::new("true")).unwrap();
    machine.sshd.stop();
    let error = shells.exec(&Cmd::new("true")).unwrap_err();
    assert!(matches!(error, ExecError::Unreachable { .. } | ExecError::Lost { .. }), "{error:?}");
    machine.sshd.run();
    assert!(shells.exec(&Cmd::new("true")).unwrap().success());
}

#[test]
fn a_lock_excludes_others_and_is_let_go_when_dropped_or_when_the_holder_is_killed() {
    let machine = Box::new();
    let shells = machine.shells();
    let path = HostPath::new("/root/lock file");
    let held = lock::lock(&shells, &path, LockWait::Try).unwrap();
    assert!(matches!(lock::lock(&shells, &path, LockWait::Try), Err(LockError::Held { .. })));
    let short = LockWait::For(Duration::from_millis(100));
    assert!(matches!(lock::lock(&shells, &path, short), Err(LockError::Held { .. })));
    let flock = Cmd::new("flock").args(["-n", path.as_str(), "true"]);
    assert!(!shells.exec(&flock).unwrap().success());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| lock::lock(&shells, &path, LockWait::For(Duration::from_secs(20))));
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
        let taken = waiting.join().unwrap().unwrap();
        drop(taken);
    });
    let free = || lock::lock(&shells, &path, LockWait::Try).is_ok();
    assert!(wait_until(Duration::from_secs(10), free));
    let bad = HostPath::new("/root/none/lock");
    let error = lock::lock(&shells, &bad, LockWait::Try).unwrap_err();
    assert!(error.is_missing(), "{error:?}");
}

#[test]
fn one_shell_holds_all_locks_that_are_free_and_lets_go_of_each_alone() {
    let machine = Box::new();
    let shells = machine.shells();
    let path = |number: usize| HostPath::new(format!("/root/lock '{number}'"));
    // More than one shell has descriptors for.
    let mut held: Vec<_> =
        (0..9).map(|number| lock::lock(&shells, &path(number), LockWait::Try).unwrap()).collect();
    let all: Vec<HostPath> = (0..9).map(path).chain([HostPath::new("/root/never was")]).collect();
    assert_eq!(lock::free(&shells, &all).unwrap(), all[9..]);
    drop(held.remove(3));
    drop(held.remove(0));
    let freed = || lock::free(&shells, &all).unwrap() == [path(0), path(3), all[9].clone()];
    assert!(wait_until(Duration::from_secs(10), freed));
    let again = lock::lock(&shells, &path(3), LockWait::Try).unwrap();
    assert!(matches!(lock::lock(&shells, &path(3), LockWait::Try), Err(LockError::Held { .. })));
    drop((held, again));
    assert!(wait_until(Duration::from_secs(10), || lock::free(&shells, &all).unwrap() == all));
    let noted = HostPath::new("/root/noted");
    let line = r#"{"it's":"a $(line)"}"#;
    let lock = lock::lock_with_line(&shells, &noted, line).unwrap();
    assert!(matches!(lock::lock_with_line(&shells, &noted, "no"), Err(LockError::Held { .. })));
    assert_eq!(std::fs::read_to_string(machine.sshd.home().join("noted")).unwrap(), format!("{line}\n"));
    drop(lock);
    assert!(!machine.sshd.home().join("never was").exists());
}

/// Another client, whose link is its own.
fn another(machine: &Box, folder: &tempfile::TempDir) -> Shells {
    let folder = HostPath::new(folder.path().to_str().unwrap());
    Shells::new(Arc::new(SshLine::open(machine.target(), &folder).unwrap()))
}

#[test]
fn what_is_done_under_a_lock_is_not_done_any_more_once_the_lock_was_lost_with_the_link() {
    let machine = Box::new();
    let shells = Arc::new(machine.shells());
    let files = RemoteFiles::new(shells.clone());
    let (path, made) = (HostPath::new("/root/lock file"), HostPath::new("/root/made"));
    let held = lock::lock(&shells, &path, LockWait::Try).unwrap();
    assert!(shells.exec(&Cmd::shell("echo held >>runs")).unwrap().success());
    machine.sshd.signal_connections(Signal::KILL);
    let is_refused = || match shells.exec(&Cmd::shell("echo late >>runs")) {
        Err(ExecError::Unreachable { detail, .. }) => detail.contains("another command"),
        // The link is about to be noticed as gone.
        Err(ExecError::Lost { .. }) => false,
        other => panic!("{other:?}"),
    };
    assert!(wait_until(Duration::from_secs(20), is_refused));
    let error = files.write(&made, b"x", Access::Private, Durability::Cached).unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::HostUnreachable);
    // What others of this process do has nothing to do with this lock.
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(shells.exec(&Cmd::new("true")).unwrap().success()));
    });
    drop(held);
    assert!(shells.exec(&Cmd::shell("echo without >>runs")).unwrap().success());
    assert_eq!(machine.runs(), "held\nwithout\n");
    assert!(!machine.sshd.home().join("made").exists());
}

#[test]
fn a_lock_is_not_free_while_what_was_begun_under_it_still_runs() {
    let machine = Box::new();
    let shells = machine.shells();
    let own = tempfile::tempdir_in("/tmp").unwrap();
    let other = another(&machine, &own);
    let path = HostPath::new("/root/journals/one");
    std::fs::create_dir(machine.sshd.home().join("journals")).unwrap();
    let held = lock::lock(&shells, &path, LockWait::Try).unwrap();
    held.share_with_children();
    let paths = std::slice::from_ref(&path);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(wait_until(Duration::from_secs(20), || machine.runs().contains("begun")));
            machine.sshd.signal_connections(Signal::KILL);
        });
        let slow = Cmd::shell("echo begun >>runs; until [ -e go ]; do sleep 0.05; done; echo ended >>runs");
        assert!(matches!(shells.exec(&slow), Err(ExecError::Lost { .. })));
    });
    let lock_is_lost =
        || other.exec(&Cmd::new("flock").args(["-n", path.as_str(), "true"])).unwrap().success();
    assert!(wait_until(Duration::from_secs(20), lock_is_lost));
    assert_eq!(lock::free(&other, paths).unwrap(), []);
    assert!(!crate::lock::is_free(&HostPath::new(
        machine.sshd.home().join("journals/one").to_str().unwrap()
    )));
    std::fs::write(machine.sshd.home().join("go"), "").unwrap();
    assert!(wait_until(Duration::from_secs(20), || lock::free(&other, paths).unwrap() == [path.clone()]));
    assert_eq!(machine.runs(), "begun\nended\n");
    assert!(crate::lock::is_free(&HostPath::new(machine.sshd.home().join("journals/one").to_str().unwrap())));
    drop(held);
    let line = SshLine::open(machine.target(), &HostPath::new(own.path().to_str().unwrap())).unwrap();
    let _ = crate::proc::run(&Cmd::from_words(line.words()).args(["-O", "exit", "127.0.0.1"]));
}

#[test]
fn an_attached_command_is_ended_at_its_deadline_there_too() {
    let machine = Box::new();
    let shells = machine.shells();
    let cmd = Cmd::shell("echo begun >runs; sleep 3; echo survived >>runs").env("SECRET", "x");
    let ended = shells.exec_attached(&cmd, Attachment::OwnGroup, Some(Duration::from_millis(1500)));
    assert!(matches!(ended, Err(ExecError::TimedOut { .. })), "{ended:?}");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(machine.runs(), "begun\n");
    let exit = shells.exec_attached(&Cmd::shell("exit 7"), Attachment::OwnGroup, None).unwrap();
    assert_eq!(exit, Exit::Code(7));
}

#[test]
fn a_command_under_a_terminal_has_one_there_of_the_same_size() {
    use crate::pty::{Interest, PtyRead, TerminalSize};
    let machine = Box::new();
    let shells = machine.shells();
    let cmd = Cmd::shell("stty size; exit 5");
    let mut pty = shells.exec_pty(&cmd, TerminalSize { cols: 91, rows: 33 }).unwrap();
    let (mut seen, started) = (Vec::new(), Instant::now());
    let mut buffer = [0; 1024];
    while started.elapsed() < Duration::from_secs(10) {
        pty.wait(Interest::default(), Duration::from_millis(100)).unwrap();
        match pty.read(&mut buffer).unwrap() {
            PtyRead::Bytes(count) => seen.extend_from_slice(&buffer[..count]),
            PtyRead::Nothing => {}
            PtyRead::Closed => break,
        }
    }
    assert!(String::from_utf8_lossy(&seen).contains("33 91"), "{}", String::from_utf8_lossy(&seen));
    assert_eq!(pty.wait_exit(Duration::from_secs(5)).unwrap(), Some(Exit::Code(5)));
}

#[test]
fn files_of_the_machine_are_written_and_read() {
    let machine = Box::new();
    let files = RemoteFiles::new(Arc::new(machine.shells()));
    let path = HostPath::new("/root/a b");
    files.write(&path, b"text", Access::Private, Durability::Synced).unwrap();
    assert_eq!(files.read(&path).unwrap(), b"text");
    assert_eq!(std::fs::read(machine.sshd.home().join("a b")).unwrap(), b"text");
    machine.sshd.stop();
    let kind = files.read(&path).unwrap_err().source.kind();
    // The connection may or may not have noticed yet.
    assert!(
        matches!(kind, std::io::ErrorKind::HostUnreachable | std::io::ErrorKind::ConnectionAborted),
        "{kind}"
    );
}

#[test]
fn an_address_that_could_be_an_option_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["-oProxyCommand=x", "", "a b", "a\nb", "$(id)"] {
        let target = SshTarget { address: address.to_owned(), ..SshTarget::default() };
        let opened = SshLine::open(target, &HostPath::new(folder.path().to_str().unwrap()));
        assert!(matches!(opened, Err(SshError::BadAddress { .. })), "{address}");
    }
}

#[test]
fn a_pinned_key_may_have_names_in_front_and_must_be_a_key() {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE";
    for line in [key.to_owned(), format!("[10.0.0.1]:22 {key} comment")] {
        assert_eq!(known_host(&line).unwrap(), format!("{PINNED_NAME} {key}\n"));
    }
    for line in ["", "ssh-ed25519", "hello world", "ssh-ed25519 x"] {
        assert!(known_host(line).is_err(), "{line}");
    }
}

#[test]
fn a_socket_there_is_forwarded_also_after_its_file_or_the_connection_went_away() {
    use std::io::{Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream};

    let there = Box::new();
    let socket = there.sshd.root().join("service");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut byte = [0];
            if stream.read(&mut byte).unwrap() == 1 {
                stream.write_all(&[byte[0] + 1]).unwrap();
            }
        }
    });
    let line = there.line(there.target());
    let ask = |forwarded: &HostPath| {
        let mut stream = UnixStream::connect(forwarded.as_str()).unwrap();
        stream.write_all(b"a").unwrap();
        let mut answer = [0];
        stream.read_exact(&mut answer).unwrap();
        answer
    };
    let forwarded = line.forward(socket.to_str().unwrap()).unwrap();
    assert_eq!(ask(&forwarded), *b"b");
    assert_eq!(line.forward(socket.to_str().unwrap()).unwrap(), forwarded);
    std::fs::remove_file(forwarded.as_str()).unwrap();
    assert_eq!(ask(&line.forward(socket.to_str().unwrap()).unwrap()), *b"b");
    there.sshd.signal_connections(Signal::KILL);
    let is_noticed = || UnixStream::connect(forwarded.as_str()).is_err();
    assert!(wait_until(Duration::from_secs(20), is_noticed), "the connection lives on");
    assert_eq!(ask(&line.forward(socket.to_str().unwrap()).unwrap()), *b"b");
}

#[test]
fn a_machine_that_refuses_us_forwards_nothing_and_says_why() {
    let there = Box::new();
    let stranger = SshTarget { key_file: Some(HostPath::new("/dev/null")), ..there.target() };
    let error = there.line(stranger).forward("/run/docker.sock").unwrap_err().to_string();
    assert!(error.contains("/run/docker.sock") && error.contains("Permission denied"), "{error}");
}
