//! Sessions with real programs, and the comparison with the pytest plugin.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use mngr_host::proc::{Cmd, Output};
use mngr_model::artifacts::{OutputStream, TestRecord, TestStatus, TranscriptEvent};
use serde_json::Value;

use super::*;
use crate::expect::expect;
use crate::transcript::{Transcript, normalise, parse_lines};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python");

fn options(output: &Path) -> Options {
    let output = HostPath::new(output.to_str().unwrap());
    Options { output: Some(output), run: Some("run".to_owned()), ..Options::default() }
}

fn setup(output: &tempfile::TempDir) -> Setup {
    Setup::new(crate::here!()).options(options(output.path()))
}

fn host_path(path: &Path) -> HostPath {
    HostPath::new(path.to_str().unwrap())
}

fn read(file: impl AsRef<Path>) -> Vec<u8> {
    LocalFiles.read(&host_path(file.as_ref())).unwrap()
}

fn read_text(file: impl AsRef<Path>) -> String {
    String::from_utf8(read(file)).unwrap()
}

/// Runs a program as somebody outside a session does.
fn outside(folder: &Path, cmd: &Cmd) -> Output {
    LocalHost::open(host_path(folder).join("host-of-the-test")).unwrap().exec(cmd).unwrap()
}

fn record(folder: &Path) -> TestRecord {
    serde_json::from_slice(&read(folder.join("test.json"))).unwrap()
}

fn transcript(folder: &Path) -> Transcript {
    parse_lines(&read(folder.join("transcript.jsonl")))
}

fn lives(pid: &str) -> bool {
    // A zombie has no environment any more.
    let environ = HostPath::new(format!("/proc/{}/environ", pid.trim()));
    LocalFiles.read(&environ).is_ok_and(|environ| !environ.is_empty())
}

fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a test that is meant to fail, without its message on the screen of the test that runs it.
fn failing(test: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(test)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn the_macro_knows_the_test_it_stands_in() {
    let place = crate::here!();
    assert_eq!(place.name, "the_macro_knows_the_test_it_stands_in");
    assert!(place.file.ends_with("crates/mngr-e2e/src/session/tests.rs"), "{}", place.file);
}

#[test]
fn a_test_leaves_a_record_and_both_transcripts_and_no_environment() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let (folder, project) = (e2e.artifacts(), e2e.project());
    assert_eq!(record(&folder).status, TestStatus::Running);
    e2e.write_tutorial_block("\n    # say it\n    echo hello\n");
    let result = e2e.comment("twice").run(r"echo hello; printf '\377' >&2; exit 3");
    expect(&result).to_fail().to_have_exit_code(3);
    expect(&result.stdout).to_equal("hello\n");
    drop(e2e);
    assert!(!project.exists());
    assert_eq!(
        read(folder.join("transcript.txt")),
        b"# twice\n$ echo hello; printf '\\377' >&2; exit 3\n  hello\n! \xff\n? 3\n"
    );
    let record = record(&folder);
    assert_eq!((record.status, record.attempt, record.message), (TestStatus::Passed, 1, None));
    assert!(record.ended_at.is_some() && record.duration_ms.is_some());
    assert_eq!(record.blocks[0].title.as_deref(), Some("say it"));
    assert_eq!(read_text(folder.join("tutorial_block.txt")), "# say it\necho hello\n");
}

#[test]
fn the_macro_cites_every_text_it_is_given() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    crate::tutorial_block!(e2e, "mngr list", "mngr stop a");
    assert_eq!(read_text(e2e.artifacts().join("tutorial_block.txt")), "mngr list\n\nmngr stop a\n");
}

#[test]
fn a_failed_test_is_recorded_with_its_message() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let folder = e2e.artifacts();
    let text = failing(|| {
        let e2e = e2e;
        expect(&e2e.run("echo out; echo err >&2; exit 3")).to_succeed();
    });
    for part in
        ["to succeed, but it ended with 3", "exit code: 3", "\n  out", "\n  err", folder.to_str().unwrap()]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let record = record(&folder);
    assert_eq!(record.status, TestStatus::Failed);
    let message = record.message.unwrap();
    assert!(message.contains("session/tests.rs") && message.contains("ended with 3"), "{message}");
}

#[test]
fn an_expectation_about_a_stream_shows_the_whole_command() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let result = e2e.run("echo out; echo err >&2");
    let text = failing(|| {
        expect(&result.stdout).to_contain("x");
    });
    assert!(text.starts_with("expected stdout to contain \"x\"\ncommand: echo out"), "{text}");
    assert!(text.contains("\n  err"), "{text}");
}

#[test]
fn a_timeout_ends_the_whole_group() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let result = e2e.timeout(Duration::from_millis(300)).run("sleep 100 & echo $!; wait");
    assert_eq!((result.exit_code, result.timed_out), (124, true));
    assert!(result.duration < Duration::from_secs(5));
    wait_until("the grandchild lives on", || !lives(&result.stdout));
}

#[test]
fn a_process_in_the_background_ends_with_the_session() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let result = e2e.run("setsid sleep 100 >/dev/null & echo $!");
    assert!(result.duration < Duration::from_secs(5));
    let server = e2e.run("tmux new-session -d 'sleep 100' && tmux display -p '#{pid}'");
    expect(&server).to_succeed();
    assert!(lives(&server.stdout));
    drop(e2e);
    assert!(!lives(&result.stdout) && !lives(&server.stdout));
}

#[test]
fn a_flood_is_on_disk_and_not_in_memory() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let folder = e2e.artifacts();
    let result = e2e.run("head -c 30000000 /dev/zero | tr '\\0' x; echo end");
    assert!(result.stdout.len() < 9_000_000 && result.stdout.ends_with("end\n"));
    expect(&result.stdout)
        .to_match(r"\[\.\.\. \d+ bytes left out here, all of them are in .*transcript\.jsonl");
    drop(e2e);
    assert_eq!(transcript(&folder).entries()[0].bytes(OutputStream::Stdout).len(), 30_000_004);
}

#[test]
fn variables_and_folders_last_as_long_as_they_were_set_for() {
    let output = tempfile::tempdir().unwrap();
    let mut e2e = setup(&output).start();
    e2e.set_env("LASTING", "1");
    assert_eq!(e2e.env("ONCE", "2").run("echo $LASTING$ONCE").stdout, "12\n");
    e2e.unset_env("LASTING");
    e2e.cd("..");
    let home = e2e.home();
    assert_eq!(
        e2e.cwd("home").run("echo $LASTING$ONCE; pwd").stdout,
        format!("\n{}\n", home.display()).as_str()
    );
    assert_eq!(e2e.stdin("typed").run("cat").stdout, "typed");
}

#[test]
fn a_kept_environment_can_be_entered_and_destroyed() {
    let output = tempfile::tempdir().unwrap();
    let options = Options { keep_env: Keep::OnFailure, ..options(output.path()) };
    let mut e2e = setup(&output).options(options).start();
    e2e.set_env("COLOUR", "it's red");
    e2e.set_env("SOME_TOKEN", "hunter2");
    let (folder, project) = (e2e.artifacts(), e2e.project());
    let pid = e2e.run("sleep 100 >/dev/null & echo $!").stdout.to_string();
    failing(|| {
        let _e2e = e2e;
        panic!("{}", "failed");
    });
    assert_eq!(record(&folder).environment.as_deref(), project.parent().unwrap().to_str());
    assert!(lives(&pid));
    let script = |name: &str| Cmd::new(folder.join(name).to_str().unwrap());
    let reenter = script("reenter").args(["sh", "-c", "echo \"$COLOUR,$SOME_TOKEN\"; pwd"]);
    let inside = outside(output.path(), &reenter);
    assert_eq!(inside.stdout_text(), format!("it's red,\n{}", project.display()));
    assert!(outside(output.path(), &script("destroy-env")).success());
    assert!(!project.exists() && !lives(&pid));
}

#[test]
fn artifacts_are_kept_when_they_are_wanted() {
    let output = tempfile::tempdir().unwrap();
    let options = Options { artifacts: Keep::OnFailure, ..options(output.path()) };
    let e2e = setup(&output).options(options).project(Project::Empty).start();
    let folder = e2e.artifacts();
    assert_eq!(e2e.run("ls -A").stdout, "");
    drop(e2e);
    assert!(!folder.exists());
}

#[test]
fn a_terminal_is_typed_into_looked_at_and_recorded() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let folder = e2e.artifacts();
    let terminal = e2e.terminal(
        r#"printf 'wrong'; printf '\rname? '; read name; tput bold; echo "hello $name"; stty size; read end; exit 4"#,
    );
    terminal.expect_screen("name? ");
    terminal.expect_screen_without("wrong");
    terminal.resize(120, 40);
    terminal.send("you");
    // While a terminal is open, commands run as usual.
    expect(&e2e.run("echo between")).to_succeed();
    terminal.press("Enter");
    terminal.expect_screen_to_match(r"(?m)^hello \w+$");
    terminal.expect_screen("40 120");
    assert_eq!(terminal.screen(), "name? you\nhello you\n40 120");
    terminal.press("Enter");
    let result = terminal.wait();
    expect(&result).to_have_exit_code(4);
    expect(&result.stdout).to_contain("hello you\n");
    drop(e2e);

    let cast = read_text(folder.join("terminal-1.cast"));
    let mut lines = cast.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!(
        (&header["version"], &header["width"], &header["height"]),
        (&2.into(), &100.into(), &30.into())
    );
    let events: Vec<Value> = lines.collect();
    assert!(events.iter().any(|event| event[1] == "r" && event[2] == "120x40"));
    assert_eq!(record(&folder).recordings, ["terminal-1.cast"]);
    let transcript = transcript(&folder);
    let command = transcript.entries()[0].command.clone();
    assert_eq!(command.recording.as_deref(), Some("terminal-1.cast"));
    assert!((command.time - header["mngr"]["started_ms"].as_i64().unwrap()).abs() < 1000);
    let text = read_text(folder.join("transcript.txt"));
    assert!(text.ends_with("? 4\n$ echo between\n  between\n? 0\n"), "{text}");
}

#[test]
fn a_screen_that_does_not_show_what_is_expected_fails_the_test() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let terminal = e2e.timeout(Duration::from_millis(400)).terminal("echo something; sleep 60");
    let text = failing(|| terminal.expect_screen("else"));
    assert!(
        text.starts_with("expected the screen to contain \"else\", but it did not within 0.4 s"),
        "{text}"
    );
    assert!(text.contains("\n  something"), "{text}");
    assert_eq!(terminal.wait().exit_code, 124);
    let ended = e2e.terminal("exit 5");
    let text = failing(|| ended.expect_screen("x"));
    assert!(text.contains("the program ended with 5"), "{text}");
    assert!(failing(|| ended.press("Entr")).contains("there is no key `Entr`"));
}

#[test]
fn keys_reach_the_program_and_a_dropped_terminal_ends_it() {
    let output = tempfile::tempdir().unwrap();
    let e2e = setup(&output).start();
    let terminal =
        e2e.terminal("trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done");
    terminal.expect_screen("ready");
    terminal.press("C-c");
    assert_eq!(terminal.wait().exit_code, 7);
    let terminal = e2e.terminal("echo $$; sleep 100");
    terminal.expect_screen_to_match(r"\d+");
    let pid = terminal.screen();
    drop(terminal);
    assert!(!lives(&pid));
}

/// Every value whose name says that it differs by nature, as a placeholder.
fn comparable(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                match name.as_str() {
                    "time" | "started_at" | "ended_at" | "duration_ms" => *value = Value::Null,
                    _ => comparable(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(comparable),
        Value::String(text) => *text = normalise(text),
        _ => {}
    }
}

/// The events with the pieces of each command's streams joined: where a read ends is chance.
fn comparable_events(folder: &Path) -> Vec<Value> {
    let transcript = transcript(folder);
    assert_eq!(transcript.damaged, [0_usize; 0]);
    let mut values = Vec::new();
    for entry in transcript.entries() {
        let event = TranscriptEvent::Command(entry.command.clone());
        values.push(serde_json::to_value(event).unwrap());
        for stream in [OutputStream::Stdout, OutputStream::Stderr, OutputStream::Terminal] {
            let printed = entry.bytes(stream);
            let kinds: Vec<bool> =
                entry.output.iter().filter(|o| o.stream == stream).map(|o| o.text.is_some()).collect();
            let is_text = kinds.iter().all(|is_text| *is_text);
            values.push(serde_json::json!([stream, is_text, String::from_utf8_lossy(&printed)]));
        }
        values.push(serde_json::to_value(TranscriptEvent::End(entry.end.unwrap().clone())).unwrap());
    }
    values.iter_mut().for_each(comparable);
    values
}

#[test]
fn both_languages_write_the_same_files() {
    let output = tempfile::tempdir().unwrap();
    let steps = read_text(format!("{PYTHON}/tests/shared_commands.json"));
    let steps: Vec<Value> = serde_json::from_str(&steps).unwrap();

    let ours = output.path().join("rust");
    let mut place = crate::here!();
    (place.file, place.name, place.line) = ("tests/shared.rs".into(), "shared_commands".into(), 7);
    let e2e = Setup::new(place).options(options(&ours)).start();
    e2e.write_tutorial_block("\n    # say hello\n    echo hello\n");
    for step in &steps {
        let text = |name: &str| step.get(name).and_then(Value::as_str);
        let mut run = Run::new(&e2e);
        run = text("comment").into_iter().fold(run, Run::comment);
        run = text("stdin").into_iter().fold(run, Run::stdin);
        run = text("cwd").into_iter().fold(run, Run::cwd);
        let timeout = step.get("timeout").and_then(Value::as_f64).map(Duration::from_secs_f64);
        run = timeout.into_iter().fold(run, Run::timeout);
        for (name, value) in step.get("env").and_then(Value::as_object).into_iter().flatten() {
            run = run.env(name, value.as_str().unwrap());
        }
        let _ = run.run(text("command").unwrap());
    }
    let terminal = e2e.terminal("printf 'name? '; read name; echo \"hello $name\"; exit 4");
    terminal.expect_screen("name? ");
    terminal.send("you");
    terminal.press("Enter");
    let _ = terminal.wait();
    drop(e2e);

    let theirs = output.path().join("python");
    let play =
        Cmd::new("python3").args([&format!("{PYTHON}/tests/play_shared.py"), theirs.to_str().unwrap()]);
    let play = play.env("PYTHONPATH", format!("{PYTHON}/src")).env("PYTHONDONTWRITEBYTECODE", "1");
    let played = outside(output.path(), &play);
    assert!(played.success(), "{}", played.stderr_text());

    let [ours, theirs] = [ours, theirs].map(|root| root.join("run/shared--shared_commands"));
    let names = |folder: &Path| LocalFiles.list(&host_path(folder)).unwrap();
    assert_eq!(names(&ours), names(&theirs));
    assert_eq!(comparable_events(&ours), comparable_events(&theirs));
    let text = |folder: &Path, name: &str| normalise(&String::from_utf8_lossy(&read(folder.join(name))));
    for name in ["transcript.txt", "tutorial_block.txt"] {
        assert_eq!(text(&ours, name), text(&theirs, name), "{name}");
    }
    for name in ["test.json".to_owned(), format!("terminal-{}.cast", steps.len() + 1)] {
        let first_line = |folder: &Path| {
            let text = read_text(folder.join(&name));
            let mut value: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            comparable(&mut value);
            for named in ["timestamp", "mngr"] {
                value.as_object_mut().unwrap().entry(named).and_modify(|value| *value = Value::Null);
            }
            value
        };
        assert_eq!(first_line(&ours), first_line(&theirs), "{name}");
    }
}
