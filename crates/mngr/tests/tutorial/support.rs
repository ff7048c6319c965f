//! What tests of several sections need. All of it goes through the command line, so that it is in the transcript too.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mngr_e2e::expect;
use mngr_e2e::session::{RunResult, Session, Terminal};
use serde_json::Value;

/// Long enough for a loaded machine; a passing test never waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a command that has to succeed.
#[track_caller]
pub(crate) fn succeed(e2e: &Session, command: &str) -> RunResult {
    let result = e2e.run(command);
    expect(&result).to_succeed();
    result
}

/// An agent that is just a shell.
#[track_caller]
pub(crate) fn shell(e2e: &Session, name: &str) {
    let _ = succeed(e2e, &format!("mngr create {name} --no-connect -- sh"));
}

/// A scripted agent that takes messages and says what it got.
#[track_caller]
pub(crate) fn listener(e2e: &Session, name: &str) {
    let _ = succeed(e2e, &format!("mngr create {name} scripted --no-connect"));
    wait_for(e2e, name, "WAITING");
}

/// A scripted agent that has committed `login.py` and has ended.
#[track_caller]
pub(crate) fn fixed_login(e2e: &Session) {
    let _ = succeed(
        e2e,
        "mngr create fix-login scripted --no-connect -- 'edit login.py fixed' 'commit Fix the login'",
    );
    wait_for(e2e, "fix-login", "DONE");
}

/// Gives the session a crontab of its own, `~/crontab`: nothing may change that of whoever runs the tests.
#[track_caller]
pub(crate) fn with_crontab(e2e: &mut Session) {
    const CRONTAB: &str = r#"mkdir -p ~/bin
printf '%s\n' '#!/bin/sh' 'case $1 in -l) cat ~/crontab ;; -) cat >~/crontab ;; esac' >~/bin/crontab
chmod +x ~/bin/crontab
echo '0 5 * * * backup' >~/crontab
printf %s "$HOME/bin:$PATH""#;
    let path = succeed(e2e, CRONTAB).stdout.to_string();
    e2e.set_env("PATH", &path);
}

/// The files that the tutorial makes for its examples.
pub(crate) const FILES: &str = "mkdir -p ~/tutorial/notes
echo 'an idea' >~/tutorial/notes/one.txt
echo 'read the notes' >~/tutorial/task.md
echo 'COLOUR=blue' >~/tutorial/api.env";

/// Waits until an agent is in a state.
#[track_caller]
pub(crate) fn wait_for(e2e: &Session, name: &str, state: &str) {
    let _ = succeed(e2e, &format!("mngr wait {name} {state} --timeout {}s", PATIENCE.as_secs()));
}

/// Leaves an agent's terminal with Ctrl-b d.
#[track_caller]
pub(crate) fn detach(e2e: &Session, terminal: Terminal) {
    // tmux takes a key for pasted text when it comes within a millisecond of another (`assume-paste-time`).
    let _ = succeed(e2e, "mngr list");
    terminal.press("C-b");
    terminal.press("d");
    expect(&terminal.wait()).to_succeed();
}

/// Runs a command until it prints this, which another program brings about.
#[track_caller]
pub(crate) fn until_printed(e2e: &Session, command: &str, text: &str) {
    let mut last = String::new();
    let came = mngr_testkit::wait_until(PATIENCE, || {
        last = e2e.run(command).stdout.to_string();
        last.contains(text)
    });
    assert!(came, "`{command}` never printed {text:?}, but:\n{last}");
}

/// What `list` knows about an agent.
#[track_caller]
pub(crate) fn agent(e2e: &Session, name: &str) -> Value {
    let listing = succeed(e2e, "mngr list --format json");
    let listing: Value = json(&listing.stdout);
    let agents = listing["agents"].as_array().into_iter().flatten();
    let found = agents.into_iter().find(|agent| agent["name"] == name);
    found.unwrap_or_else(|| panic!("there is no agent `{name}`: {listing}")).clone()
}

/// The names of all agents, in the order of the list.
#[track_caller]
pub(crate) fn names(e2e: &Session) -> Vec<String> {
    let listing = succeed(e2e, "mngr list --format '{name}'");
    listing.stdout.lines().map(str::to_owned).collect()
}

/// A text as JSON.
#[track_caller]
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON, {error}: {text}"))
}

/// Makes a file with its folders.
#[track_caller]
pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
