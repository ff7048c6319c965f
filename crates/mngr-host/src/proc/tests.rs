//! Running programs: what they print, how they end, and how they are ended.

use super::*;

#[test]
fn output_exit_code_and_signal_are_reported() {
    let output = run(&Cmd::shell("printf out; printf err >&2; exit 3")).unwrap();
    assert_eq!(
        (output.exit, output.stdout_text(), output.stderr_text()),
        (Exit::Code(3), "out".into(), "err".into())
    );
    assert_eq!(run(&Cmd::shell("kill -9 $$")).unwrap().exit, Exit::Signal(9));
}

#[test]
fn a_megabyte_goes_in_and_comes_back() {
    let bytes = vec![b'x'; 1 << 20];
    assert_eq!(run(&Cmd::new("cat").stdin(bytes.clone())).unwrap().stdout, bytes);
}

#[test]
fn a_program_that_does_not_read_its_input_is_no_error() {
    assert!(run(&Cmd::new("true").stdin(vec![b'x'; 1 << 20])).unwrap().success());
}

#[test]
fn the_deadline_ends_the_whole_group_and_keeps_what_was_printed() {
    let started = Instant::now();
    let cmd = Cmd::shell("echo before; sleep 30 & wait").deadline(Duration::from_millis(200));
    let Err(ExecError::TimedOut { partial, .. }) = run(&cmd) else { panic!("must time out") };
    assert_eq!(partial.stdout_text(), "before");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_command_that_is_cut_short_tidies_up_and_one_that_does_not_end_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = HostPath::new(dir.path().to_str().unwrap());
    let tidy = "trap 'rm lock; exit' TERM; touch lock; while :; do sleep 0.01; done";
    let deaf = "trap '' TERM; touch begun; sleep 30";
    // The one that is waited for is gone long before.
    let below =
        "sh -c 'trap \"sleep 0.2; rm below; exit\" TERM; touch below; while :; do sleep 0.01; done' & wait";
    for script in [tidy, deaf, below] {
        let started = Instant::now();
        let cmd = Cmd::shell(script).cwd(&folder).deadline(Duration::from_millis(500));
        assert!(matches!(run(&cmd), Err(ExecError::TimedOut { .. })));
        assert!(started.elapsed() < Duration::from_secs(10), "{script}");
    }
    assert!(dir.path().join("begun").exists());
    assert!(!dir.path().join("lock").exists() && !dir.path().join("below").exists());
}

#[test]
fn a_grandchild_that_keeps_the_pipe_open_does_not_hold_us() {
    let started = Instant::now();
    let output = run(&Cmd::shell("sleep 5 & echo done")).unwrap();
    assert_eq!(output.stdout_text(), "done");
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn the_deadline_ends_a_flood_that_never_leaves_its_pipe_empty() {
    let started = Instant::now();
    let cmd = Cmd::new("yes").deadline(Duration::from_millis(300));
    let slow = &mut |_, _: &[u8]| std::thread::sleep(Duration::from_millis(1));
    assert!(matches!(run_streaming(&cmd, slow), Err(ExecError::TimedOut { .. })));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn output_is_handed_on_before_the_command_ends() {
    let started = Instant::now();
    let mut first = None;
    let cmd = Cmd::shell("echo early; sleep 1; echo late >&2");
    let mut seen = Vec::new();
    let exit = run_streaming(&cmd, &mut |stream, bytes| {
        first.get_or_insert_with(|| started.elapsed());
        seen.push((stream, bytes.to_vec()));
    });
    assert!(exit.unwrap().success());
    assert_eq!(seen, [(Stream::Stdout, b"early\n".to_vec()), (Stream::Stderr, b"late\n".to_vec())]);
    assert!(first.unwrap() < Duration::from_millis(900));
}

#[test]
fn of_an_endless_output_only_the_end_is_kept() {
    let text = "i=0; while [ $i -lt 60000 ]; do echo line $i; i=$((i+1)); done; echo last >&2";
    let output = run(&Cmd::shell(text).keep_last(11)).unwrap();
    assert_eq!((output.stdout_text().as_str(), output.stderr_text().as_str()), ("line 59999", "last"));
}

#[test]
fn what_a_command_leaves_running_ends_with_it_if_asked() {
    let lives = |pid: &str| run(&Cmd::new("kill").args(["-0", pid])).unwrap().success();
    let text = "sleep 100 >/dev/null 2>&1 & echo $!";
    let spared = run(&Cmd::shell(text)).unwrap().stdout_text();
    let ended = run(&Cmd::shell(text).end_leftovers()).unwrap().stdout_text();
    let (is_spared, started) = (lives(&spared), Instant::now());
    run(&Cmd::new("kill").arg(&spared)).unwrap();
    assert!(is_spared);
    while lives(&ended) {
        assert!(started.elapsed() < Duration::from_secs(5), "it still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_cleared_environment_holds_only_what_was_set() {
    let output = run(&Cmd::new("/usr/bin/env").env_clear().env("ONLY", "this")).unwrap();
    assert_eq!(output.stdout_text(), "ONLY=this");
}

#[test]
fn a_missing_program_and_a_missing_folder_are_told_apart() {
    assert!(matches!(run(&Cmd::new("mngr-no-such-program")), Err(ExecError::NotFound { .. })));
    let nowhere = HostPath::new("/nonexistent-mngr");
    assert!(matches!(run(&Cmd::new("true").cwd(&nowhere)), Err(ExecError::NoFolder { .. })));
}
