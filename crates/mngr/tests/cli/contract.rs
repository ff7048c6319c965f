//! What scripts written for the Python mngr rely on, as a table: each case holds here, or names the rows of
//! `docs/reference/differences.md` that say why it does not.
//!
//! The cases are data: one file below `contract/` per world. `inventory.toml` is the list of what has to be shown by
//! some case, so that nothing is left out by mistake.

mod inventory;
mod mistakes;
mod rows;
mod table;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use mngr_testkit::{CmdOutput, TestEnv};
use serde_json::Value;

use self::table::{Case, WORLDS, World};
use crate::support::*;

/// A command for the cases: tmux on the server of the agents.
const AGENTS_TMUX: &str = "#!/bin/sh\nexec tmux -S \"$(echo \"$TMUX_TMPDIR\"/tmux-*/mngr*)\" \"$@\"\n";

/// A shell in the world, with the binary under test as `mngr`.
fn shell(env: &TestEnv, script: &str) -> Command {
    let folder = Path::new(env!("CARGO_BIN_EXE_mngr")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", env.root().join("bin").display(), folder.display());
    let mut sh = env.command("sh");
    sh.env("PATH", path).env("WORLD", env.root()).args(["-c", script]);
    sh
}

/// A repository of the files `f1`, `f2` and `f3`, and what the cases call.
fn world(name: &str) -> (World, TestEnv) {
    let world = World::read(name);
    let env = env();
    let repo = env.repo(0);
    for file in ["f1", "f2", "f3"] {
        repo.write(file, &format!("{file}\n"));
    }
    let _ = repo.commit("three files");
    let script = env.root().join("bin/agents_tmux");
    fs::create_dir(script.parent().unwrap()).unwrap();
    fs::write(&script, AGENTS_TMUX).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for name in &world.pretends {
        let _ = crate::transcript::pretend(&env, name, "claude");
    }
    let _ = env.run(shell(&env, &world.setup)).success();
    (world, env)
}

/// Standard output as JSON: one value, the values of all lines, or the value of the last line.
fn printed(output: &CmdOutput) -> Option<Value> {
    let value = |text: &str| serde_json::from_str(text).ok();
    let lines = || output.stdout.lines().map(value).collect::<Option<Vec<Value>>>().map(Value::from);
    value(&output.stdout).or_else(lines).or_else(|| value(output.stdout.lines().last()?))
}

/// What of a case does not hold.
fn problems(env: &TestEnv, case: &Case, output: &CmdOutput) -> Vec<String> {
    let mut found = Vec::new();
    if output.status.code() != Some(case.exit) {
        found.push(format!("ends with {}, not with {}", output.status, case.exit));
    }
    let said = format!("{}{}", output.stdout, output.stderr);
    found.extend(
        case.says.iter().filter(|text| !said.contains(*text)).map(|text| format!("does not say `{text}`")),
    );
    if let Some(stdout) = &case.stdout
        && *stdout != output.stdout
    {
        found.push(format!("prints something else than `{stdout}`"));
    }
    let value = printed(output).unwrap_or_default();
    for (pointer, wanted) in &case.json {
        match value.pointer(pointer) {
            Some(seen) if seen == wanted => {}
            seen => found.push(format!("`{pointer}` is {seen:?}, not {wanted}")),
        }
    }
    let missing = case.has.iter().filter(|pointer| value.pointer(pointer).is_none());
    found.extend(missing.map(|pointer| format!("has no `{pointer}`")));
    if let Some(then) = &case.then
        && !mngr_testkit::wait_until(PATIENCE, || env.run(shell(env, then)).status.success())
    {
        found.push(format!("afterwards this fails: {}", env.run(shell(env, then))));
    }
    found
}

/// Runs the cases of one world, in order, and fails with all that do not hold.
#[track_caller]
fn holds(name: &str) {
    let (world, env) = world(name);
    let mut failed = Vec::new();
    for case in &world.case {
        let Some(run) = &case.run else { continue };
        let output = env.run(shell(&env, run));
        let found = problems(&env, case, &output);
        if !found.is_empty() {
            failed.push(format!("{}\n  {}\n{output}", case.shows, found.join("\n  ")));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n\n{}", failed.len(), world.case.len(), failed.join("\n"));
}

#[test]
fn create_does_what_scripts_expect() {
    holds("create");
}

#[test]
fn list_does_what_scripts_expect() {
    holds("list");
}

#[test]
fn the_life_of_agents_is_what_scripts_expect() {
    holds("life");
}

#[test]
fn talking_to_agents_is_what_scripts_expect() {
    holds("talk");
}

#[test]
fn settings_and_files_are_what_scripts_expect() {
    holds("settings");
}

#[test]
fn texts_headers_and_files_are_what_scripts_expect() {
    holds("scripts");
}

#[test]
fn bringing_work_over_is_what_scripts_expect() {
    holds("sync");
}

#[test]
fn every_world_is_walked() {
    let me = include_str!("contract.rs");
    for world in WORLDS {
        assert!(me.contains(&format!("holds(\"{world}\")")), "{world}");
    }
    let folder = table::folder();
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tables = files.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    assert_eq!(tables.count(), WORLDS.len() + 1, "and the inventory");
}
