//! A host that is not honest: it can lie about itself, and that is all. Nothing here is written outside of where it
//! belongs, nothing is run, no memory is filled, and the rest of a listing is as ever.

mod keys;
mod programs;
mod records;
mod secrets;
mod transfers;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mngr_testkit::CmdOutput;

use super::ground::{Ground, Kind};

/// How long any command may take that meets such a host. Limits for answers are two seconds here.
const ENOUGH: Duration = Duration::from_secs(40);
/// How much memory a command may have, in kilobytes.
const MEMORY: &str = "900000";

/// A machine with one agent, and one agent here.
#[track_caller]
fn ground() -> Ground {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--transfer", "git-mirror", "--", "sleep", "1000"]);
    crate::support::create(&ground.env, "near", &["sleep", "1000"]);
    ground.set("host_discovery_timeout_seconds", "2");
    ground
}

/// Exists once something hostile was executed here.
fn canary(ground: &Ground) -> PathBuf {
    ground.env.root().join("canary")
}

/// Runs the binary with little memory, and checks that it did nothing but answer.
#[track_caller]
pub(super) fn run(ground: &Ground, args: &[&str]) -> CmdOutput {
    let env = &ground.env;
    let binary = env.mngr_cmd().get_program().to_owned();
    let mut command = env.command("sh");
    command.args(["-c", &format!("ulimit -d {MEMORY}; exec \"$@\""), "sh"]).arg(binary).args(args);
    let began = Instant::now();
    let output = env.run(command);
    assert!(began.elapsed() < ENOUGH, "{:?}: {}", began.elapsed(), output.command);
    assert!(output.status.code().is_some(), "died by a signal: {}", output.command);
    for text in [&output.stdout, &output.stderr] {
        let control = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(control, None, "{:?}", text.chars().take(2000).collect::<String>());
        assert!(!text.contains("panicked"), "{text}");
    }
    assert!(!canary(ground).exists(), "executed by {}", output.command);
    output
}

/// The listing answers, with the agent of this machine as it is.
#[track_caller]
fn assert_list_answers(ground: &Ground) -> serde_json::Value {
    let listing = run(ground, &["list", "--format", "json"]).success().json();
    let near = listing["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "near").cloned();
    assert_eq!(near.unwrap()["state"], "RUNNING", "{listing}");
    let _ = run(ground, &["list"]).success();
    listing
}

/// Every file of this machine that a host could want to change: those of the user, and those of the state folder.
pub(super) fn picture(ground: &Ground) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![ground.env.home(), ground.env.work_dir(), ground.env.root().join("outside")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => open.push(path),
                kind if kind.is_file() => found.push((path.clone(), fs::read(&path).unwrap())),
                _ => found.push((path, Vec::new())),
            }
        }
    }
    // Our own lock, which is empty and stays.
    found.retain(|(path, _)| !path.ends_with("mngr-sync.lock"));
    found.sort();
    found
}

/// Nothing of the user has changed, appeared or gone.
#[track_caller]
pub(super) fn assert_unchanged(ground: &Ground, before: &[(PathBuf, Vec<u8>)]) {
    let after = picture(ground);
    let differing = after
        .iter()
        .filter(|file| !before.contains(file))
        .chain(before.iter().filter(|file| !after.contains(file)));
    let differing: Vec<_> = differing.map(|(path, bytes)| (path, String::from_utf8_lossy(bytes))).collect();
    assert!(differing.is_empty(), "{differing:?}");
}
