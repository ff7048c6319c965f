//! A mutant is in place when the orchestrator is killed, or when the disk is full: whoever goes on ends with the same
//! verdicts, and nothing of a mutant is left.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mngr_testkit::{Running, Signal, wait_until};
use serde_json::Value;

use super::finished::Finished;
use super::project::{Project, RUN};
use crate::support::text;

/// Longer than it takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(50);

/// What runs each test.
const GATE: &str = include_str!("mutant_in_place/gate.sh");

/// Says to the test in its own mounts that it is there.
const INSIDE: &str = "MNGR_TEST_OWN_MOUNTS";

/// Two small programs with a test each: that of `one` is made stronger, that of `two` is made blind. `three` is put right
/// in the program. There are so few possible mutants that all of them are made.
fn project() -> Project {
    let project = Project::new();
    for name in ["one", "two"] {
        let program = format!("answer() {{\n    echo {name}\n    echo end\n}}\nanswer\n");
        let kept = project.stage().join("src");
        fs::create_dir_all(&kept).unwrap();
        fs::write(kept.join(format!("{name}.sh")), &program).unwrap();
        project.write(&format!("src/{name}.sh"), &program);
    }
    for (name, change) in [
        ("one", r#"echo '[ "$(sh src/one.sh | tail -n 1)" = end ]' >>"#),
        ("two", r#"printf 'set -e\n[ -n "$(sh src/two.sh)" ]\n' >"#),
    ] {
        project.test(name, &format!("set -e\n[ \"$(sh src/{name}.sh | head -n 1)\" = {name} ]"));
        project.part(name, &format!("{change}$MNGR_TMR_TASK; commit '[IMPROVE_TEST] {name}'; publish"));
    }
    project.broken("three", "fix");
    for folder in ["held", "mutants"] {
        fs::create_dir(project.stage().join(folder)).unwrap();
    }
    fs::write(project.stage().join("gate.sh"), GATE).unwrap();
    project.set("tmr.collectors.parts.one", r#"sh "$STAGE/gate.sh" {id}"#);
    project
}

/// What a run comes to. Times, hashes of commits and names of checkouts are left out.
#[derive(Debug, PartialEq)]
struct Verdict {
    ends: BTreeMap<String, String>,
    /// Of each change of a test: killed and made, before and after, then each mutant with its two fates.
    strengths: BTreeMap<String, Vec<String>>,
    /// The subjects on the branch of the result and the files that are not as they were, then those of the other branch.
    branches: [Vec<String>; 2],
}

#[track_caller]
fn verdict(project: &Project) -> Verdict {
    let run = project.seen();
    let branch = |from: &str, to: &str| -> Vec<String> {
        if project.git(&["for-each-ref", &format!("refs/heads/{to}")]).is_empty() {
            return Vec::new();
        }
        let subjects = project.git(&["log", "--reverse", "--format=%s", &format!("{from}..{to}")]);
        let files = project.git(&["diff", "--name-only", from, to]);
        let said = |file: &str| format!("{file}: {}", project.git(&["show", &format!("{to}:{file}")]).trim());
        subjects.lines().map(str::to_owned).chain(files.lines().map(said)).collect()
    };
    Verdict {
        ends: run.ends(),
        strengths: run.events("strength").filter(|it| it["state"] == "measured").map(strength).collect(),
        branches: [branch("main", "tmr/1/integrated"), branch("tmr/1/integrated", "tmr/1/review")],
    }
}

fn strength(event: &Value) -> (String, Vec<String>) {
    let figures = |key: &str| format!("{key} {}/{}", event[key]["killed"], event[key]["made"]);
    let mutant = |it: &Value| {
        let diff = text(&it["diff"]);
        let now = diff.lines().rfind(|line| line.starts_with('+')).unwrap_or_default();
        let fates = format!("{} -> {}", text(&it["before"]), text(&it["after"]));
        format!("{}, line {}, `{now}`: {fates}", text(&it["rule"]), it["line"])
    };
    let mut mutants: Vec<String> = event["mutants"].as_array().unwrap().iter().map(mutant).collect();
    mutants.sort();
    (text(&event["task"]), [vec![figures("before"), figures("after")], mutants].concat())
}

/// The verdict of a run that nobody disturbs.
fn expected() -> Verdict {
    let of = |name: &str| format!("tests/{name}.sh");
    let ends = [("one", "integrated"), ("three", "integrated"), ("two", "needs_review")];
    let one = [
        "before 4/5",
        "after 5/5",
        "drop_command, line 2, `+    :`: killed -> killed",
        "drop_command, line 3, `+    :`: survived -> killed",
        "drop_command, line 5, `+:`: killed -> killed",
        "return_early, line 1, `+answer() { return 0; `: killed -> killed",
        "return_early, line 5, `+ exit 0; answer`: killed -> killed",
    ];
    let two = [
        "before 4/5",
        "after 3/5",
        "drop_command, line 2, `+    :`: killed -> survived",
        "drop_command, line 3, `+    :`: survived -> survived",
        "drop_command, line 5, `+:`: killed -> killed",
        "return_early, line 1, `+answer() { return 0; `: killed -> killed",
        "return_early, line 5, `+ exit 0; answer`: killed -> killed",
    ];
    let result = [
        "Tests and docs: the changes of 1 agent",
        "[FIX_IMPL] three is good",
        "parts/three: good",
        "tests/one.sh: set -e\n[ \"$(sh src/one.sh | head -n 1)\" = one ]\n[ \"$(sh src/one.sh | tail -n 1)\" = end ]",
    ];
    let review = ["[IMPROVE_TEST] two", "tests/two.sh: set -e\n[ -n \"$(sh src/two.sh)\" ]"];
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    Verdict {
        ends: ends.map(|(name, end)| (of(name), end.to_owned())).into(),
        strengths: [(of("one"), lines(&one)), (of("two"), lines(&two))].into(),
        branches: [lines(&result), lines(&review)],
    }
}

/// Starts the run and waits until a test has met a mutant.
#[track_caller]
fn started_and_held(project: &Project) -> Running {
    fs::write(project.stage().join("hold"), "").unwrap();
    let mut running = project.start(&["--all"]);
    let is_held = wait_until(PATIENCE, || !held(project).is_empty() || !running.is_running());
    assert!(is_held && running.is_running(), "no test met a mutant");
    let place = &held(project)[0];
    assert!(place.checkout.starts_with(checkouts(project)), "{}", place.checkout.display());
    running
}

/// Waits until all that agents published is here, so that none is at work any more.
#[track_caller]
fn all_taken_in(project: &Project) {
    let is_here = |end: &String| ["pulled", "verified"].contains(&end.as_str());
    project.wait_until(|run| run.ends().values().filter(|end| is_here(end)).count() == 3);
}

/// A test that met a mutant.
struct Held {
    process: String,
    checkout: PathBuf,
}

fn held(project: &Project) -> Vec<Held> {
    let folder = fs::read_dir(project.stage().join("held")).unwrap();
    let of = |entry: fs::DirEntry| Held {
        process: entry.file_name().into_string().unwrap(),
        checkout: PathBuf::from(fs::read_to_string(entry.path().join("place")).unwrap().trim()),
    };
    folder.map(|entry| of(entry.unwrap())).collect()
}

fn checkouts(project: &Project) -> PathBuf {
    project.env.host_dir().join("tmr/tmr-1/checkouts")
}

/// Goes on with the run, in which no test waits any more.
#[track_caller]
fn resume(project: &Project) {
    fs::remove_file(project.stage().join("hold")).unwrap();
    let _ = project.env.mngr(["tmr", "resume", RUN]).success();
}

/// Fails if anything of a mutant is in the repository, a worktree, the work dir of an agent or behind a ref, or if a test
/// that met one still runs.
#[track_caller]
fn assert_nothing_of_a_mutant_is_left(project: &Project) {
    for Held { process, .. } in held(project) {
        let stage = project.stage().into_os_string().into_string().unwrap();
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&environment).contains(&stage), "test {process} still runs");
    }
    let left = fs::read_dir(project.env.host_dir().join("tmr")).into_iter().flatten().count();
    assert_eq!(left, 0, "folders of the run");
    assert_eq!(project.git(&["status", "--porcelain", "--untracked-files=all"]), "");
    let refs = project.git(&["for-each-ref", "--format=%(refname)"]);
    let foreign = |name: &&str| *name != "refs/heads/main" && !name.starts_with("refs/heads/tmr/");
    assert_eq!(refs.lines().filter(foreign).collect::<Vec<_>>(), Vec::<&str>::new());
    let subjects = project.git(&["log", "--all", "--format=%s"]);
    assert!(!subjects.lines().any(|it| it == "mutant" || it == "with the old tests"), "{subjects}");
    let worktrees = project.git(&["worktree", "list", "--porcelain"]);
    for worktree in worktrees.lines().filter_map(|line| line.strip_prefix("worktree ")) {
        let path = Path::new(worktree);
        let is_of_an_agent = path.starts_with(project.env.host_dir().join("worktrees"));
        assert!(is_of_an_agent || path == project.env.work_dir(), "{worktree}");
        assert_eq!(project.git(&["-C", worktree, "status", "--porcelain", "--ignored=no"]), "", "{worktree}");
        for name in ["src/one.sh", "src/two.sh"] {
            let (there, kept) = (fs::read(path.join(name)), fs::read(project.stage().join(name)));
            assert_eq!(there.unwrap(), kept.unwrap(), "{name} in {worktree}");
        }
    }
}

/// Fails if an agent had to do its work twice.
#[track_caller]
fn assert_agents_worked_once(run: &Finished<'_>) {
    let launched: Vec<String> = run
        .events("stage")
        .filter(|line| line["stage"] == "launching")
        .map(|line| format!("{} {}", text(&line["task"]), line["attempt"]))
        .collect();
    let mut once = launched.clone();
    once.sort();
    once.dedup();
    assert_eq!((once.len(), launched.len()), (3, 3), "{launched:?}");
}

#[test]
fn a_run_that_nobody_disturbs_ends_like_this() {
    let project = project();
    let (_, output) = project.run(&["--all"], 0);
    assert_eq!(verdict(&project), expected(), "{output}");
    assert_nothing_of_a_mutant_is_left(&project);
}

#[test]
fn a_run_killed_while_a_mutant_is_in_place_ends_with_the_same_verdicts() {
    let project = project();
    let running = started_and_held(&project);
    running.signal(Signal::KILL);
    let _ = running.finish();
    assert!(held(&project).iter().any(|held| held.checkout.join("src").exists()), "its checkout is left");
    resume(&project);
    assert_eq!(verdict(&project), expected());
    assert_nothing_of_a_mutant_is_left(&project);
    assert_agents_worked_once(&project.seen());
}

#[test]
fn what_somebody_did_to_a_checkout_after_the_kill_changes_no_verdict() {
    let project = project();
    let running = started_and_held(&project);
    running.signal(Signal::KILL);
    let _ = running.finish();
    // It looks like a good one: no difference to its last commit, which is not the one it was made for.
    let left = held(&project).swap_remove(0).checkout;
    let there = left.to_str().unwrap();
    fs::write(left.join("tests/one.sh"), "exit 0\n").unwrap();
    fs::write(left.join("tests/two.sh"), "exit 1\n").unwrap();
    project.git(&["-C", there, "commit", "--quiet", "--all", "--message", "elsewhere"]);
    fs::write(left.join("src/one.sh"), "echo nothing\n").unwrap();
    project.git(&["-C", there, "update-index", "--assume-unchanged", "src/one.sh"]);
    fs::write(left.join("tests/more.sh"), "exit 1\n").unwrap();
    project.git(&["worktree", "lock", there]);
    // A link in the place of a checkout leads to the user's own.
    let mode = |file: &str| fs::metadata(project.env.work_dir().join(file)).unwrap().permissions();
    let before = mode("tests/one.sh");
    symlink(project.env.work_dir(), checkouts(&project).join("40")).unwrap();
    fs::write(checkouts(&project).join("41"), "no folder\n").unwrap();
    resume(&project);
    assert_eq!(verdict(&project), expected());
    assert_eq!(mode("tests/one.sh"), before);
    assert_nothing_of_a_mutant_is_left(&project);
}

#[test]
fn a_disk_that_is_full_while_a_mutant_is_in_place_changes_no_verdict() {
    if std::env::var_os(INSIDE).is_none() {
        return in_own_mounts("a_disk_that_is_full_while_a_mutant_is_in_place_changes_no_verdict");
    }
    let project = project();
    let disk = Disk::below(&project);
    let running = started_and_held(&project);
    all_taken_in(&project);
    disk.fill();
    fs::write(project.stage().join("go"), "").unwrap();
    let output = running.finish().code(1);
    assert_eq!(output.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{output}");
    for expected in ["No space left on device", "free some space on the disk; `mngr tmr resume` then goes on"]
    {
        assert!(output.stderr.contains(expected), "{expected:?} in {output}");
    }
    disk.empty();
    resume(&project);
    assert_eq!(verdict(&project), expected());
    assert_nothing_of_a_mutant_is_left(&project);
    assert_agents_worked_once(&project.seen());
}

/// Runs a test of this file where what it mounts is seen by nobody else and goes with it.
#[track_caller]
fn in_own_mounts(test: &str) {
    let (_, module) = module_path!().split_once("::").unwrap();
    let status = Command::new("unshare")
        .args(["--mount", "--propagation", "private"])
        .arg(std::env::current_exe().unwrap())
        .args([&format!("{module}::{test}"), "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{test}: {status}");
}

/// A small disk that has the repository, the folder of the run and everything of mngr.
struct Disk {
    root: PathBuf,
    folders: [PathBuf; 2],
}

impl Disk {
    #[track_caller]
    fn below(project: &Project) -> Self {
        let root = project.env.root().join("disk");
        fs::create_dir(&root).unwrap();
        sh(&["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", root.to_str().unwrap()]);
        let folders = [project.env.work_dir(), project.env.host_dir()];
        for folder in &folders {
            let there = root.join(folder.file_name().unwrap());
            sh(&["cp", "-a", folder.to_str().unwrap(), there.to_str().unwrap()]);
            sh(&["mount", "--bind", there.to_str().unwrap(), folder.to_str().unwrap()]);
        }
        Self { root, folders }
    }

    /// Until it takes no more.
    #[track_caller]
    fn fill(&self) {
        let mut file = fs::File::create(self.root.join("fill")).unwrap();
        let full = loop {
            if let Err(error) = file.write_all(&[0; 4096]) {
                break error;
            }
        };
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    }

    #[track_caller]
    fn empty(&self) {
        fs::remove_file(self.root.join("fill")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Its folders are removed with the environment; what runs there still holds them.
        for folder in self.folders.iter().chain([&self.root]) {
            let _ = Command::new("umount").arg("--lazy").arg(folder).status();
        }
    }
}

#[track_caller]
fn sh(words: &[&str]) {
    let status = Command::new(words[0]).args(&words[1..]).status().unwrap();
    assert!(status.success(), "{words:?}: {status}");
}
