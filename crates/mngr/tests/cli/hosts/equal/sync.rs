//! Commits and files in both directions, in every mode.

use super::Teller;
use crate::support::{PATIENCE, wait_until};

/// What the user's repository looks like.
const HERE: &str = "git status --short; git branch --format='%(refname:short)'; git log --format=%s; ls; cat one two new 2>/dev/null";
/// What the agent's looks like.
const THERE: &str = "git status --short; git log --format=%s; ls; cat one two new mine yours 2>/dev/null";

pub(super) fn play(teller: &mut Teller<'_>) {
    let env = &teller.ground.env;
    let work = "echo one >one; git add one; git commit -qm one; echo new >new; echo ready; exec sleep 1000";
    teller.create("worker", &["--type", "command", "--transfer", "git-mirror", "--", "sh", "-c", work]);
    wait_until(PATIENCE, || env.mngr(["capture", "worker"]).success().stdout.contains("ready"));
    for (code, verb) in [
        (0, &["pull", "worker", "--dry-run"][..]),
        (0, &["pull", "worker"]),
        (0, &["pull", "worker"]),
        (0, &["pull", "worker:new", "--dry-run"]),
        (0, &["pull", "worker:new"]),
        (1, &["pull", "worker:nothing"]),
        (0, &["pull", "worker:dir-1/", "copy/"]),
        (0, &["pull", "worker", "--sync-mode", "files", "--dry-run"]),
        (0, &["pull", "worker", "--sync-mode", "files"]),
    ] {
        teller.say(code, verb);
        teller.here(HERE);
    }
    teller.here("rm -rf copy one new; git checkout -q .");
    teller.say(0, &["pull", "worker", "--sync-mode", "full"]);
    teller.here(HERE);
    teller.there("worker", "echo two >two; git add two; git commit -qm two; echo changed >new");
    teller.here("echo mine >two");
    teller.say(1, &["pull", "worker", "--merge"]);
    teller.say(1, &["pull", "worker", "--sync-mode", "full"]);
    teller.say(0, &["pull", "worker", "--sync-mode", "full", "--uncommitted-changes", "stash"]);
    teller.here(HERE);
    teller.here("git stash drop -q; rm -f new; git status --short");
    teller.say(0, &["pull", "worker", "--target-branch", "main"]);
    teller.here(HERE);

    // The other way.
    teller.here("echo yours >yours; git add yours; git commit -qm yours; echo mine >mine");
    for (code, verb) in [
        (0, &["push", "worker", "--dry-run"][..]),
        (0, &["push", "worker"]),
        (0, &["push", "worker", "mine"]),
        (0, &["push", "worker:sub/", "dir-1/"]),
        (1, &["push", "worker", "nothing"]),
        (0, &["push", "worker", "--sync-mode", "files"]),
    ] {
        teller.say(code, verb);
        teller.there("worker", THERE);
    }
    teller.here("echo more >>mine; echo last >last; git add last; git commit -qm last");
    teller.say(0, &["push", "worker", "--sync-mode", "full", "--uncommitted-changes", "clobber", "--stop"]);
    teller.there("worker", THERE);
    teller.say(0, &["list", "--include", "name == \"worker\""]);
    teller.say(0, &["destroy", "worker", "--force"]);
    teller.here("rm -f mine new; git reset -q --hard HEAD; git clean -qfd; git status --short");
}
