//! Options that say where, how large, how long or how gently: each changes on every host what it changes here.

use std::fs;

use serde_json::json;

use super::Teller;
use crate::support::{PATIENCE, text, wait_until};

/// Tells its size, answers lines, and leaves a note when it is asked to end.
const PROGRAM: &str =
    "stty size; trap 'echo gently >ended; exit 0' TERM; while :; do read line && echo got $line; done";

pub(super) fn play(teller: &mut Teller<'_>) {
    the_terminal_and_the_end_of_a_program(teller);
    files_in_other_folders(teller);
    where_the_work_is(teller);
    what_becomes_of_the_work(teller);
}

fn shown(teller: &Teller<'_>, words: &[&str], wanted: &str) {
    let capture = [&["capture"], words].concat();
    wait_until(PATIENCE, || teller.ground.env.mngr(&capture).success().stdout.contains(wanted));
}

fn the_terminal_and_the_end_of_a_program(teller: &mut Teller<'_>) {
    // Two agents of one id would end each other's processes: all hosts of the tests are one machine.
    let place = teller.ground.address("").len();
    let id = format!("agent-0123456789abcdef{:016x}", place + std::process::id() as usize);
    let terminal = ["--tmux-width", "133", "--tmux-height", "41", "--tmux-window-size", "manual"];
    let more = ["--extra-window", "aside=echo beside; sleep 1000", "--resume-message", "again", "--id", &id];
    let command = ["--type", "command", "--", "sh", "-c", PROGRAM];
    teller.create("term", &[&terminal[..], &more, &command].concat());
    let agents = teller.ground.env.mngr(["list", "--format", "json"]).success().json();
    assert_eq!(agents["agents"][0]["id"], id.as_str());
    shown(teller, &["term"], "133");
    shown(teller, &["term", "--window", "aside"], "beside");
    let lines = teller.ground.env.mngr(["capture", "term"]).success().stdout;
    teller.keep("its size", json!(lines.lines().next()));

    teller.say(0, &["start", "term", "--restart"]);
    shown(teller, &["term"], "got again");
    teller.there("term", "cat ended; rm ended");
    teller.say(0, &["start", "term", "--restart", "--resume-message", "otherwise"]);
    shown(teller, &["term"], "got otherwise");
    teller.there("term", "rm ended");
    teller.say(0, &["stop", "term", "--no-graceful"]);
    teller.there("term", "cat ended");
    teller.say(0, &["start", "term", "--no-resume"]);
    shown(teller, &["term"], "133");
    teller.say(0, &["stop", "term", "--graceful-timeout", "30s", "--archive"]);
    teller.there("term", "cat ended");
    teller.say(0, &["list", "--archived", "--fields", "name,state"]);
    teller.say(0, &["event", "term", "--head", "1"]);
    teller.say(0, &["destroy", "--session", "mngr-term"]);
}

fn files_in_other_folders(teller: &mut Teller<'_>) {
    let env = &teller.ground.env;
    let file = env.root().join("contents");
    fs::write(&file, "contents\n").unwrap();
    let input = file.to_str().unwrap().to_owned();
    teller.create("files", &["--type", "command", "--", "sleep", "1000"]);
    teller.there("files", "mkdir sub");
    teller.say(0, &["exec", "files", "--cwd", "sub", "--", "sh", "-c", "basename $PWD"]);
    teller.say(0, &["file", "put", "files", "sub/tool", "--mode", "0750", "--input", &input]);
    teller.say(0, &["file", "list", "files", "sub", "--fields", "name,permissions"]);
    teller.say(0, &["file", "put", "files", "note", "--relative-to", "state", "--input", &input]);
    teller.say(0, &["file", "get", "files", "note", "--relative-to", "state"]);
    teller.say(1, &["file", "get", "files", "note"]);
    let mut run = env.mngr_cmd();
    run.args(["connect", "files", "--connect-command", "echo to $MNGR_AGENT_NAME in $MNGR_SESSION_NAME"]);
    let output = env.run(run).success();
    teller.keep("connect-command", json!(output.stdout));
    let foreground = ["--foreground", "--type", "headless_command", "--", "echo", "hello"];
    let address = teller.ground.address("once");
    teller.say(0, &[&["create", &address], &foreground[..]].concat());
}

fn where_the_work_is(teller: &mut Teller<'_>) {
    let place = "case $PWD in $HOME/places/*) echo at home ;; *) pwd ;; esac; git log --format=%s | wc -l";
    let sleeping = ["--type", "command", "--", "sleep", "1000"];
    teller.create("based", &[&["--worktree-base-folder", "~/places/base"], &sleeping[..]].concat());
    teller.there("based", place);
    teller.create("aimed", &[&["--target-path", "~/places/aim"], &sleeping[..]].concat());
    teller.there("aimed", place);
    let plain = teller.ground.env.root().join("plain");
    fs::create_dir(&plain).unwrap();
    for name in ["kept", "left-out"] {
        fs::write(plain.join(name), name).unwrap();
    }
    let source = plain.display().to_string();
    let copied = ["--from", &source, "--transfer", "rsync", "--rsync-args", "--exclude=left-out"];
    teller.create("copied", &[&copied[..], &sleeping].concat());
    teller.there("copied", "ls");
}

fn what_becomes_of_the_work(teller: &mut Teller<'_>) {
    let sleeping = ["--type", "command", "--", "sleep", "1000"];
    for (name, option) in
        [("branched", "--remove-created-branch"), ("staying", "--no-allow-worktree-removal")]
    {
        teller.create(name, &sleeping);
        let record = teller.ground.env.mngr(["list", "--format", "json"]).success().json();
        let agents = record["agents"].as_array().unwrap().iter();
        let work_dir =
            agents.filter(|agent| agent["name"] == name).map(|agent| text(&agent["work_dir"])).next();
        teller.say(0, &["destroy", name, "--force", option]);
        let (work_dir, branch) = (work_dir.unwrap(), format!("mngr/{name}"));
        // From the work dir of another agent of the same repository.
        teller.there("based", &format!("git branch --list {branch}"));
        let is_there = teller.ground.env.mngr(["exec", "based", "--", "test", "-e", &work_dir]);
        teller.keep(&format!("the work dir of {name}"), json!(is_there.status.code()));
    }
}
