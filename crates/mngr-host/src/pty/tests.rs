//! Real programs under real terminals.

use super::*;

const SIZE: TerminalSize = TerminalSize { cols: 81, rows: 25 };
const PATIENCE: Duration = Duration::from_secs(10);

fn open(script: &str) -> Pty {
    Pty::open(&Cmd::shell(script), SIZE).unwrap()
}

/// Everything it prints until `text` is there or nobody prints any more.
fn read_until(pty: &Pty, text: &str) -> String {
    let started = Instant::now();
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while started.elapsed() < PATIENCE && !String::from_utf8_lossy(&seen).contains(text) {
        match pty.read(&mut buffer).unwrap() {
            PtyRead::Bytes(count) => seen.extend_from_slice(&buffer[..count]),
            PtyRead::Closed => break,
            PtyRead::Nothing => drop(pty.wait(Interest::default(), Duration::from_millis(100)).unwrap()),
        }
    }
    String::from_utf8_lossy(&seen).into_owned()
}

#[test]
fn a_program_finds_a_terminal_of_the_size_asked_for_and_its_exit_code_is_known() {
    let mut pty = open("test -t 0 && test -t 1 && stty size; exit 7");
    assert!(read_until(&pty, "25 81").contains("25 81"));
    assert_eq!(pty.wait_exit(PATIENCE).unwrap(), Some(Exit::Code(7)));
}

#[test]
fn what_is_typed_arrives_and_a_resize_is_told() {
    let pty = open("trap 'stty size' WINCH; read line; echo \"got <$line>\"; while :; do sleep 0.05; done");
    assert_eq!(pty.write(b"hello\r").unwrap(), 6);
    read_until(&pty, "got <hello>");
    pty.resize(TerminalSize { cols: 40, rows: 10 }).unwrap();
    assert!(read_until(&pty, "10 40").contains("10 40"));
}

#[test]
fn ctrl_c_reaches_the_program_in_the_foreground() {
    let mut pty = open("echo ready; exec sleep 100");
    read_until(&pty, "ready");
    pty.write(&[3]).unwrap();
    assert_eq!(pty.wait_exit(PATIENCE).unwrap(), Some(Exit::Signal(2)));
}

#[test]
fn a_program_that_does_not_read_takes_no_more_and_nobody_is_held() {
    let pty = open("stty raw -echo; echo ready; exec sleep 100");
    read_until(&pty, "ready");
    let chunk = [b'x'; 4096];
    let started = Instant::now();
    let taken: Vec<usize> = (0..1000).map(|_| pty.write(&chunk).unwrap()).collect();
    assert!(taken.contains(&0), "a terminal holds less than 4 MB");
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn ending_it_ends_what_it_left_in_the_background() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let mut pty = open(&format!("sleep 100 & echo $! >'{}'; echo ready; wait", file.display()));
    read_until(&pty, "ready");
    let pid: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    pty.end(Duration::from_secs(1)).unwrap();
    let started = Instant::now();
    let is_gone =
        || std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(" Z "));
    while !is_gone() && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(is_gone());
}

#[test]
fn a_program_that_ignores_the_hang_up_is_killed() {
    let mut pty = open("trap '' HUP; echo ready; while :; do sleep 0.1; done");
    read_until(&pty, "ready");
    assert_eq!(pty.end(Duration::from_millis(100)).unwrap(), Exit::Signal(9));
}

#[test]
fn a_missing_program_is_told_from_other_failures() {
    let error = Pty::open(&Cmd::new("mngr-no-such-program"), SIZE).unwrap_err();
    assert!(matches!(error, ExecError::NotFound { .. }), "{error:?}");
}
