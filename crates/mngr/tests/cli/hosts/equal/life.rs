//! From creation to return: list, label, rename, wait, stop, start, explain, destroy, undo, gc, clone.

use super::Teller;
use crate::support::{PATIENCE, wait_until};

pub(super) fn play(teller: &mut Teller<'_>) {
    let env = &teller.ground.env;
    let work = "echo new >new.txt; git add new.txt; git commit -qm work; echo ready; exec sleep 1000";
    // A worktree shares its repository with the user's only where both are on one host.
    let of_its_own =
        ["--label", "a=b", "--env", "COLOUR=red", "--type", "command", "--transfer", "git-mirror"];
    teller.create("worker", &[&of_its_own[..], &["--", "sh", "-c", work]].concat());
    wait_until(PATIENCE, || env.mngr(["capture", "worker"]).success().stdout.contains("ready"));
    for (code, verb) in [
        (0, &["list"][..]),
        (0, &["list", "--include", "name == \"worker\""]),
        (0, &["list", "--running", "--label", "a=b"]),
        (0, &["label", "worker", "--label", "c=d"]),
        (0, &["rename", "worker", "toiler"]),
        (9, &["stop", "worker"]),
        (0, &["rename", "toiler", "worker"]),
        (0, &["wait", "worker", "--state", "RUNNING", "--timeout", "10"]),
        (8, &["wait", "worker", "--state", "DONE", "--timeout", "0.1"]),
        (0, &["explain", "worker"]),
        (0, &["stop", "worker"]),
        (0, &["stop", "worker"]),
        (0, &["list", "--stopped"]),
        (0, &["explain", "worker"]),
        (0, &["start", "worker"]),
        (0, &["start", "worker"]),
        (0, &["clone", "worker", "copy", "--no-connect"]),
        (0, &["destroy", "copy", "--force"]),
        (0, &["destroy", "worker", "--force", "--dry-run"]),
        (1, &["destroy", "worker"]),
        (0, &["destroy", "worker", "--force"]),
        (0, &["list"]),
        (0, &["undo"]),
        (0, &["undo", "worker"]),
        (0, &["list"]),
        (0, &["start", "worker"]),
        (0, &["gc", "--dry-run"]),
        (0, &["gc"]),
        (9, &["stop", "nobody"]),
    ] {
        teller.say(code, verb);
    }
    teller.there(
        "worker",
        "git log --format=%s; git rev-parse --abbrev-ref HEAD; git status --short; cat new.txt",
    );
    teller.there("worker", "echo $COLOUR; exit 7");
    teller.there("worker", "kill -9 $$");
    teller.say(0, &["destroy", "worker", "--force"]);
}
