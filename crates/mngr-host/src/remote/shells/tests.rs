//! Shells of every kind, and links that fail in every way.

use super::*;
use crate::proc::Cmd;
use crate::remote::testing::{ShellLine, all_kinds, with_shells};
use mngr_model::HostPath;

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[test]
fn output_status_and_signal_come_back_from_every_shell() {
    for (line, shells) in all_kinds() {
        let output = shells.exec(&Cmd::shell("printf 'out\\0'; printf err >&2; exit 3")).unwrap();
        assert_eq!(
            (output.exit, output.stdout.as_slice(), output.stderr.as_slice()),
            (Exit::Code(3), &b"out\0"[..], &b"err"[..]),
            "{}",
            line.shell()
        );
        assert_eq!(shells.exec(&Cmd::shell("kill -9 $$")).unwrap().exit, Exit::Signal(9));
        assert!(shells.exec(&Cmd::new("true")).unwrap().stdout.is_empty());
    }
}

#[test]
fn a_megabyte_goes_in_and_comes_back_from_every_shell() {
    let bytes: Vec<u8> = (0..1_u32 << 20).map(|index| (index % 251) as u8).collect();
    for (line, shells) in all_kinds() {
        let back = shells.exec(&Cmd::new("cat").stdin(bytes.clone())).unwrap();
        assert!(back.stdout == bytes, "{}", line.shell());
        assert!(shells.exec(&Cmd::new("true").stdin(bytes.clone())).unwrap().success());
    }
}

#[test]
fn every_word_arrives_as_it_is() {
    let words = ["", "it's", "$(id) `id` $HOME", "a\nb\r\n", "\\", "-n", "*", "é\u{1b}[31m", ".", "\n.\n"];
    for (line, shells) in all_kinds() {
        let cmd = Cmd::shell(r#"for w do printf '%s\0' "$w"; done; printf '%s\0' "$ODD""#)
            .arg("sh")
            .args(words)
            .env("ODD", "two\nlines'");
        let output = shells.exec(&cmd).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let seen: Vec<&str> = text.split_terminator('\0').collect();
        assert_eq!(seen, [&words[..], &["two\nlines'"]].concat(), "{}", line.shell());
    }
}

#[test]
fn one_shell_serves_many_commands_and_leaves_nothing_behind() {
    for (line, shells) in all_kinds() {
        for _ in 0..5 {
            shells.exec(&Cmd::new("true")).unwrap();
        }
        let folders = || std::fs::read_dir(line.tmp()).unwrap().count();
        assert_eq!(folders(), 1, "{}", line.shell());
        drop(shells);
        wait_until("the folder of the shell stays", || folders() == 0);
    }
}

#[test]
fn commands_at_the_same_time_do_not_wait_for_each_other() {
    let (_line, shells) = with_shells(ShellLine::to("/bin/dash"));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| shells.exec(&Cmd::new("sleep").arg("1")).unwrap());
        }
    });
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[test]
fn a_missing_program_and_a_missing_folder_are_told_from_a_program_that_returns_127() {
    for (_line, shells) in all_kinds() {
        assert!(matches!(shells.exec(&Cmd::new("mngr-no-such")), Err(ExecError::NotFound { .. })));
        let nowhere = HostPath::new("/nonexistent-mngr");
        assert!(matches!(shells.exec(&Cmd::new("true").cwd(&nowhere)), Err(ExecError::NoFolder { .. })));
        assert_eq!(shells.exec(&Cmd::shell("exit 127")).unwrap().exit, Exit::Code(127));
        let error = shells.exec(&Cmd::new("/etc/passwd")).unwrap_err();
        let ExecError::Io { source, .. } = error else { panic!("{error:?}") };
        assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied);
    }
}

#[test]
fn variables_are_set_removed_and_cleared() {
    for (line, shells) in all_kinds() {
        let print = |cmd: Cmd| shells.exec(&cmd).unwrap().stdout_text();
        let show = Cmd::shell("echo \"$A-$B-${TMPDIR:-none}\"");
        assert_eq!(print(show.env("A", "1").env("B", "2").env_remove("B").env_remove("TMPDIR")), "1--none");
        let cleared = print(Cmd::new("/usr/bin/env").env_clear().env("ONLY", "this"));
        let rest: Vec<&str> = cleared.lines().filter(|line| !line.starts_with("_=")).collect();
        assert_eq!(rest, ["ONLY=this"], "{}", line.shell());
        assert_eq!(print(Cmd::new("env").env("odd.name", "x").env_clear()), "odd.name=x", "{}", line.shell());
    }
}

#[test]
fn of_a_long_output_only_the_end_is_sent_if_asked() {
    for (_line, shells) in all_kinds() {
        let text = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo last >&2";
        let output = shells.exec(&Cmd::shell(text).keep_last(10)).unwrap();
        assert_eq!((output.stdout_text().as_str(), output.stderr_text().as_str()), ("line 2999", "last"));
    }
}

#[test]
fn a_request_that_is_cut_short_tidies_up_first() {
    for (line, shells) in all_kinds() {
        let root = HostPath::new(line.root.path().to_str().unwrap());
        let text = "touch begun lock; trap 'rm lock; exit' TERM; while :; do sleep 0.05; done";
        let error = shells.exec(&Cmd::shell(text).cwd(&root).deadline(Duration::from_secs(1))).unwrap_err();
        assert!(matches!(error, ExecError::TimedOut { .. }), "{}: {error:?}", line.shell());
        assert!(line.root.path().join("begun").exists(), "{}", line.shell());
        let lock = line.root.path().join("lock");
        wait_until("its lock file stays", || !lock.exists());
    }
}

#[test]
fn a_request_that_holds_a_lock_file_of_a_repository_is_ended_after_it_let_go() {
    for (line, shells) in all_kinds() {
        let root = HostPath::new(line.root.path().to_str().unwrap());
        let text = "exec 8>some.lock; touch begun; sleep 1.5; rm some.lock; exec 8>&-; sleep 77";
        let cmd = Cmd::shell(text).cwd(&root).locks_in(&root).deadline(Duration::from_secs(1));
        let error = shells.exec(&cmd).unwrap_err();
        assert!(matches!(error, ExecError::TimedOut { .. }), "{}: {error:?}", line.shell());
        assert!(line.root.path().join("begun").exists(), "{}", line.shell());
        assert!(!line.root.path().join("some.lock").exists(), "{}", line.shell());
    }
}

#[test]
fn the_deadline_ends_the_whole_group_and_keeps_what_was_printed() {
    for (line, shells) in all_kinds() {
        let started = Instant::now();
        let cmd = Cmd::shell("sleep 77 & echo $!; wait").deadline(Duration::from_millis(500));
        let error = shells.exec(&cmd).unwrap_err();
        let ExecError::TimedOut { partial, .. } = error else { panic!("{}: {error:?}", line.shell()) };
        assert!(started.elapsed() < Duration::from_secs(5));
        let grandchild = partial.stdout_text();
        wait_until("a grandchild survives the deadline", || !lives(&grandchild));
        assert!(shells.exec(&Cmd::new("true")).unwrap().success());
    }
}

#[test]
fn what_a_command_leaves_running_is_spared_or_ended_as_asked() {
    for (_line, shells) in all_kinds() {
        let leave = Cmd::shell("sleep 100 >/dev/null 2>&1 & echo $!");
        let spared = shells.exec(&leave).unwrap().stdout_text();
        let ended = shells.exec(&leave.end_leftovers()).unwrap().stdout_text();
        wait_until("a leftover survives", || !lives(&ended));
        assert!(lives(&spared));
        shells.exec(&Cmd::new("kill").arg(&spared)).unwrap();
    }
}

#[test]
fn a_process_left_behind_that_holds_the_output_holds_nobody() {
    for (_line, shells) in all_kinds() {
        let started = Instant::now();
        let output = shells.exec(&Cmd::shell("sleep 5 & echo done")).unwrap();
        assert_eq!(output.stdout_text(), "done");
        assert!(started.elapsed() < Duration::from_secs(3));
    }
}

#[test]
fn a_login_shell_that_talks_first_confuses_nobody() {
    let noise = "echo 'Welcome!'; printf 'deadbeef ready'; ";
    let (_line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix(noise));
    assert_eq!(shells.exec(&Cmd::new("echo").arg("hi")).unwrap().stdout_text(), "hi");
}

#[test]
fn a_link_that_never_comes_about_is_unreachable_and_says_why() {
    for (prefix, detail) in [
        ("echo 'Permission denied' >&2; exit 255; ", "Permission denied"),
        (
            "echo 'This account is not available'; exec 3<&0; cat <&3 >/dev/null 2>&1 & sleep 0.3; exit 1; ",
            "This account is not available",
        ),
    ] {
        let (_line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix(prefix));
        let error = shells.exec(&Cmd::new("true").stdin(b"x".to_vec())).unwrap_err();
        let ExecError::Unreachable { detail: said, .. } = error else { panic!("{prefix}: {error:?}") };
        assert_eq!(said, detail);
    }
}

#[test]
fn a_link_that_does_not_come_about_in_time_is_unreachable() {
    let (_line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix("sleep 60; "));
    let started = Instant::now();
    let cmd = Cmd::new("true").deadline(Duration::from_millis(300));
    assert!(matches!(shells.exec(&cmd), Err(ExecError::Unreachable { .. })));
    assert!(started.elapsed() < Duration::from_secs(3));
}

/// A line whose process here can be ended as a dropped link is: `carrier` holds its number.
fn fragile() -> (Arc<ShellLine>, Shells) {
    with_shells(ShellLine::to("/bin/dash").with_prefix("echo $$ >carrier; "))
}

#[test]
fn a_link_lost_while_a_command_runs_is_said_and_the_command_is_not_sent_again() {
    let (line, shells) = fragile();
    let root = line.root.path();
    let cut = "echo once >>runs; kill -KILL $(cat carrier); sleep 0.2";
    let error = shells.exec(&Cmd::shell(cut)).unwrap_err();
    assert!(matches!(error, ExecError::Lost { .. }), "{error:?}");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(std::fs::read_to_string(root.join("runs")).unwrap(), "once\n");
}

#[test]
fn an_idle_shell_whose_link_died_is_replaced_without_a_word() {
    let (line, shells) = fragile();
    shells.exec(&Cmd::new("true")).unwrap();
    let carrier = std::fs::read_to_string(line.root.path().join("carrier")).unwrap();
    crate::proc::run(&Cmd::new("kill").args(["-KILL", carrier.trim()])).unwrap();
    wait_until("the link still lives", || !lives(carrier.trim()));
    assert_eq!(shells.exec(&Cmd::new("echo").arg("again")).unwrap().stdout_text(), "again");
}

#[test]
fn half_a_request_is_never_run() {
    // The link takes some bytes of a long input and breaks.
    let (line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix("head -c 9000 | "));
    let cmd = Cmd::shell("cat >ran; echo ran").stdin(vec![b'x'; 1 << 20]);
    assert!(shells.exec(&cmd).is_err());
    let (line_small, shells_small) = with_shells(ShellLine::to("/bin/dash").with_prefix("head -c 9000 | "));
    let cmd = Cmd::shell("cat >ran; echo ran").stdin(vec![b'x'; 20_000]);
    assert!(shells_small.exec(&cmd).is_err());
    std::thread::sleep(Duration::from_millis(200));
    assert!(!line.root.path().join("ran").exists() && !line_small.root.path().join("ran").exists());
}

#[test]
fn a_link_that_falls_silent_does_not_hold_us_beyond_the_deadline() {
    // Everything but the way to end the command: a second shell is refused.
    let prefix = "[ -e carrier ] && exec sleep 60; echo $$ >carrier; ";
    let (line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix(prefix));
    let started = Instant::now();
    let cmd = Cmd::new("sleep").arg("3").deadline(Duration::from_millis(300));
    let error = shells.exec(&cmd).unwrap_err();
    assert!(matches!(error, ExecError::Lost { .. }), "{error:?}");
    assert!(
        started.elapsed() < Duration::from_millis(300) + ENDING_LIMIT + FAREWELL + Duration::from_secs(1)
    );
    drop(line);
}

/// Set for the process that is interrupted: the test runs itself, because an interrupt is for a whole process.
const INTERRUPTED_IN: &str = "MNGR_TEST_INTERRUPTED_IN";

#[test]
fn an_interrupt_ends_the_command_there() {
    if let Ok(folder) = std::env::var(INTERRUPTED_IN) {
        interrupt::install().unwrap();
        let (_line, shells) = with_shells(ShellLine::to("/bin/dash"));
        let cmd = Cmd::shell("echo $$ >pid; exec sleep 77").cwd(&HostPath::new(folder));
        assert!(matches!(shells.exec(&cmd), Err(ExecError::Interrupted)));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = "remote::shells::tests::an_interrupt_ends_the_command_there";
    let mut itself = std::process::Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact"])
        .env(INTERRUPTED_IN, folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = || std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default().trim().to_owned();
    wait_until("the command does not begin", || !pid().is_empty());
    crate::proc::run(&Cmd::new("kill").args(["-INT".to_owned(), itself.id().to_string()])).unwrap();
    assert!(itself.wait().unwrap().success());
    assert!(!lives(&pid()));
}

#[test]
fn nobody_waits_for_a_machine_beyond_its_allowance() {
    let (line, shells) = with_shells(ShellLine::to("sh"));
    let ran = line.tmp().join("ran");
    let noting = Cmd::shell(format!("echo once >>{}", ran.display()));
    shells.allowance().grant(Duration::from_millis(300));
    let error = shells.exec(&Cmd::shell("sleep 1000")).unwrap_err();
    assert!(
        matches!(&error, ExecError::Lost { detail, .. } if detail.contains("not answer within")),
        "{error:?}"
    );
    let refused = shells.exec(&noting).unwrap_err();
    assert!(matches!(refused, ExecError::Unreachable { .. }), "{refused:?}");
    assert!(!ran.exists(), "nothing is sent when the time is over");
    shells.allowance().lift();
    assert!(shells.exec(&noting).unwrap().success() && ran.exists());
}

#[test]
fn a_silent_machine_is_given_up_for_all_requests_and_may_be_tried_again_later() {
    let (line, shells) =
        with_shells(ShellLine::to("/bin/dash").with_prefix("[ -e back ] || exec sleep 60; "));
    let limit = Duration::from_millis(400);
    let shells = shells.with_silence_limit(limit);
    let began = Instant::now();
    let error = shells.exec(&Cmd::new("true")).unwrap_err();
    assert!(error.to_string().contains("did not answer within 0.4 s"), "{error}");
    let first = began.elapsed();
    assert!(first >= limit && first < Duration::from_secs(3), "{first:?}");
    for _ in 0..10 {
        assert!(matches!(shells.exec(&Cmd::new("true")), Err(ExecError::Unreachable { .. })));
        assert!(shells.converse("exit 0").is_err());
    }
    assert!(began.elapsed() < first + limit, "{:?}", began.elapsed());
    std::fs::write(line.root.path().join("back"), "").unwrap();
    wait_until("it is never tried again", || shells.exec(&Cmd::new("true")).is_ok());
}

#[test]
fn a_command_that_takes_long_on_a_machine_that_lives_is_not_cut_off() {
    let (_line, shells) = with_shells(ShellLine::to("/bin/dash"));
    let shells = shells.with_silence_limit(Duration::from_millis(700));
    let output = shells.exec(&Cmd::shell("sleep 2; echo done")).unwrap();
    assert_eq!(output.stdout_text(), "done");
}

#[test]
fn a_machine_that_falls_silent_while_it_works_is_given_up() {
    let prefix = "[ -e carrier ] && exec sleep 60; echo $$ >carrier; ";
    let (_line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix(prefix));
    let shells = shells.with_silence_limit(Duration::from_millis(400));
    let began = Instant::now();
    let error = shells.exec(&Cmd::new("sleep").arg("60")).unwrap_err();
    assert!(matches!(error, ExecError::Lost { .. }), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn data_that_flows_slowly_is_no_silence() {
    let slow = "{ i=0; while [ $i -lt 25 ]; do head -c 65536; i=$((i+1)); sleep 0.1; done; cat; } | ";
    let (_line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix(slow));
    let shells = shells.with_silence_limit(Duration::from_millis(1800));
    let began = Instant::now();
    let output = shells.exec(&Cmd::shell("wc -c").stdin(vec![b'x'; 1_900_000])).unwrap();
    assert_eq!(output.stdout_text(), "1900000");
    assert!(began.elapsed() > Duration::from_millis(1800), "it was too fast to show anything");
}

#[test]
fn a_request_that_waits_behind_a_transfer_is_waited_for() {
    let (_line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix("sleep 1.5; "));
    let shells = shells.with_silence_limit(Duration::from_millis(400));
    let transfer = crate::transfers::Transfer::begin("test");
    assert!(shells.exec(&Cmd::new("true")).unwrap().success());
    drop(transfer);
    assert!(!crate::transfers::is_under_way("test"));
}
