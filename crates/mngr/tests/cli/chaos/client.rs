//! One client: does its steps one after the other, with what happens to its commands.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use mngr_testkit::Signal;
use rustix::process::{Pid, kill_process, kill_process_group};

use super::book::{Done, Ending, Intent};
use super::check;
use super::fault::Fault;
use super::oracle::LIMIT;
use super::step::{Action, NAMES, Step};
use super::trouble;
use super::words::{Words, token, words};
use super::world::World;

/// Between two looks at whether a command has ended.
const PAUSE: Duration = Duration::from_millis(3);
/// A command that takes longer than this is killed.
const PATIENCE: Duration = Duration::from_millis(LIMIT * 2);

/// Does the steps.
pub(super) fn run(world: &World, client: usize, steps: &[Step]) {
    for step in steps {
        if world.is_over() {
            return;
        }
        match step.action {
            Action::Trouble(fault) => trouble::happen(world, fault, step.dice),
            Action::AgentFile { name } => write_for_agent(world, name, client, step),
            Action::AgentCommit { name } => commit_for_agent(world, name, client, step),
            Action::UserFile => {
                let folder = world.env.work_dir().join("notes");
                let _ = fs::create_dir_all(&folder);
                write(world, &folder, client, step);
            }
            Action::UserCommit => commit(world, &world.env.work_dir(), client, step),
            _ => command(world, client, step),
        }
    }
}

fn command(world: &World, client: usize, step: &Step) {
    let can_end = step.fault.is_some_and(|fault| world.part.faults.contains(&fault));
    if step.action == Action::Watch && !can_end {
        return;
    }
    let words = words(world, client, step);
    // Who has all names to itself can look at what it did; else others may work on the same agents.
    let mut alone = Vec::new();
    let mut beside = Vec::new();
    let mut names = words.names.clone();
    names.sort_unstable();
    names.dedup();
    for name in &names {
        match world.names[*name].try_write() {
            Ok(guard) if step.dice.is_multiple_of(3) => alone.push(guard),
            other => {
                drop(other);
                beside.push(world.names[*name].read().unwrap_or_else(|broken| broken.into_inner()));
            }
        }
    }
    let is_retried = matches!(step.action, Action::Message { keyed: true, .. });
    let done = run_words(world, client, step, &words);
    if is_retried && !done.succeeded() {
        // Somebody who is not sure sends it again, with the same key.
        let again = Step { fault: None, ..step.clone() };
        let _ = run_words(world, client, &again, &words);
    }
    if beside.is_empty() && done.succeeded() && done.fault.is_none_or(|fault| fault == Fault::FrozenClient) {
        let found = check::result(world, step, &done, || trouble::is_calm_since(world, done.began));
        world.report(found);
    }
}

/// Runs the binary as the step says, and notes what came of it.
pub(super) fn run_words(world: &World, client: usize, step: &Step, words: &Words) -> Done {
    let fault = step.fault.filter(|fault| world.part.faults.contains(fault));
    let log = |kind: &str| world.log_folder().join(format!("{client}-{:03}.{kind}", step.number));
    let binary = world.env.mngr_cmd().get_program().to_owned();
    let mut process = if fault == Some(Fault::FullDisk) {
        let blocks = [0, 1, 2, 8, 64][usize::try_from(step.dice % 5).unwrap_or_default()];
        let mut shell = world.env.command("sh");
        shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "sh"]).arg(binary);
        shell
    } else {
        world.env.mngr_cmd()
    };
    let (out, err) = (log("out"), log("err"));
    process.args(&words.args).process_group(0);
    process.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    process.stdin(if words.stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
    let began = world.now();
    let (ending, happened) = finish(process, &words.stdin, fault, step.after, step.dice);
    let done = Done {
        client,
        number: step.number,
        args: words.args.clone(),
        intent: words.intent.clone(),
        began,
        ended: world.now(),
        ending,
        fault: happened,
        stdout: read(&out),
        stderr: read(&err),
    };
    note(world, &done, &words.also);
    done
}

fn read(path: &PathBuf) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Starts it, lets the fault happen in its time, and waits for its end.
fn finish(
    mut command: Command,
    stdin: &[u8],
    fault: Option<Fault>,
    after: u64,
    dice: u64,
) -> (Ending, Option<Fault>) {
    heed_interrupts();
    let mut child = command.spawn().expect("the binary starts");
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(stdin);
    }
    let began = Instant::now();
    let mut happened = fault.filter(|fault| *fault == Fault::FullDisk);
    let mut pending = fault.filter(|fault| *fault != Fault::FullDisk);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return (ending(status), happened);
        }
        if began.elapsed() > PATIENCE {
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = child.wait();
            return (Ending::TooLong, happened);
        }
        if began.elapsed() >= Duration::from_millis(after)
            && let Some(fault) = pending.take()
        {
            happened = Some(fault);
            happen(&child, fault, dice);
        }
        thread::sleep(PAUSE);
    }
}

/// A shell without job control has what it runs in the background ignore interrupts, and every program that starts from there
/// does too, until it says otherwise: one that comes before would be lost, and who watches would watch for ever. What is
/// handled is not ignored by programs that start from here.
fn heed_interrupts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
        if ignored & 1 << (Signal::INT.as_raw() - 1) != 0 {
            let _ = signal_hook::flag::register(Signal::INT.as_raw(), Arc::default());
        }
    });
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Code(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    }
}

/// The child is not waited for yet, so its number is still its own.
fn happen(child: &Child, fault: Fault, dice: u64) {
    let pid = Pid::from_child(child);
    match fault {
        Fault::KilledClient => drop(kill_process(pid, Signal::KILL)),
        // As a terminal does for Ctrl-C.
        Fault::Interrupt => drop(kill_process_group(pid, Signal::INT)),
        Fault::Terminate => drop(kill_process(pid, Signal::TERM)),
        Fault::FrozenClient => {
            let _ = kill_process(pid, Signal::STOP);
            thread::sleep(Duration::from_millis(50 + dice % 1200));
            let _ = kill_process(pid, Signal::CONT);
        }
        _ => {}
    }
}

fn note(world: &World, done: &Done, also: &[Intent]) {
    let line = format!(
        "{:>6} {:>6} {}.{:02} {:?}{} mngr {}\n",
        done.began,
        done.ended - done.began,
        done.client,
        done.number,
        done.ending,
        done.fault.map(|fault| format!(" [{}]", fault.word())).unwrap_or_default(),
        done.args.join(" ").replace('\n', " "),
    );
    let said: String = done.stderr.lines().map(|line| format!("       | {line}\n")).collect();
    world.log(&(line + &said));
    let mut book = world.book();
    book.operations += 1;
    if done.ended - done.began > book.slowest.0 {
        book.slowest = (done.ended - done.began, done.verb());
    }
    if let Some(fault) = done.fault {
        book.count(fault);
    }
    if done.fault == Some(Fault::FullDisk) {
        // A tmux server that it started has the same limit.
        book.troubles.push((Fault::FullDisk, done.began, done.ended));
    }
    if done.succeeded() {
        let value: serde_json::Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        if let (Intent::Create { name, .. }, Some(dir)) = (&done.intent, value["work_dir"].as_str()) {
            let host = value["host_name"].as_str().unwrap_or_default();
            if let Some(path) = world.seen_from_here(host, dir.as_ref()) {
                book.work_dirs.insert(name.clone(), path);
            }
        }
        for agent in value["restored_agents"].as_array().into_iter().flatten() {
            let text = |key: &str| agent[key].as_str().unwrap_or_default().to_owned();
            let host = text("host").split('.').next().unwrap_or_default().to_owned();
            if let Some(path) = world.seen_from_here(&host, text("work_dir").as_ref()) {
                book.work_dirs.insert(text("name"), path);
            }
        }
        for snapshot in value["snapshots_created"].as_array().into_iter().flatten() {
            book.snapshots.extend(snapshot["id"].as_str().map(str::to_owned));
        }
    }
    book.done.push(done.clone());
    book.done.extend(also.iter().map(|intent| Done { intent: intent.clone(), ..done.clone() }));
}

fn write_for_agent(world: &World, name: usize, client: usize, step: &Step) {
    let folder = world.book().work_dirs.get(NAMES[name]).cloned();
    if let Some(folder) = folder {
        write(world, &folder, client, step);
    }
}

/// Writes a file whose content is the token; every third one is ignored by git.
fn write(world: &World, folder: &std::path::Path, client: usize, step: &Step) {
    let token = token(client, step);
    let name = if step.dice.is_multiple_of(3) { format!("w-{token}.ign") } else { format!("w-{token}") };
    // Never makes the folder: it may have been moved away.
    if fs::write(folder.join(&name), format!("{token}\n")).is_ok() {
        world.log(&format!("{:>6} wrote {}\n", world.now(), folder.join(name).display()));
        world.book().writes.insert(token);
    }
}

fn commit_for_agent(world: &World, name: usize, client: usize, step: &Step) {
    let folder = world.book().work_dirs.get(NAMES[name]).cloned();
    // The git of a work dir on another machine is not here.
    if let Some(folder) = folder.filter(|folder| folder.starts_with(world.env.root())) {
        commit(world, &folder, client, step);
    }
}

/// Commits a file whose content is the token. It may fail, as somebody else may commit at the same time.
fn commit(world: &World, folder: &std::path::Path, client: usize, step: &Step) {
    let token = token(client, step);
    let script = r#"printf '%s\n' "$1" >"w-$1" && git add "w-$1" && git commit -qm "$1" -- "w-$1" && git rev-parse HEAD"#;
    if !folder.is_dir() {
        return;
    }
    let mut shell = world.env.command("sh");
    shell.current_dir(folder).args(["-c", script, "sh", &token]).stdin(Stdio::null());
    let Ok(output) = shell.output() else { return };
    let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !commit.is_empty() {
        world.log(&format!("{:>6} committed {commit} in {}\n", world.now(), folder.display()));
        let mut book = world.book();
        book.commits.insert(commit);
        book.writes.insert(token);
    }
}

#[test]
fn a_command_can_be_interrupted_at_once_although_we_ignore_interrupts() {
    /// Set for the process that ignores them: the test runs itself.
    const IGNORING: &str = "MNGR_TEST_IGNORES_INTERRUPTS";
    let mut command = Command::new("sh");
    if std::env::var_os(IGNORING).is_some() {
        command.args(["-c", "kill -INT $$; echo survived"]).stdout(Stdio::null());
        assert_eq!(finish(command, b"", None, 0, 0).0, Ending::Signal(Signal::INT.as_raw()));
        return;
    }
    let test = thread::current().name().unwrap().to_owned();
    command.args(["-c", "trap '' INT; exec \"$@\"", "sh"]).arg(std::env::current_exe().unwrap());
    let output = command.args([test.as_str(), "--exact"]).env(IGNORING, "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
