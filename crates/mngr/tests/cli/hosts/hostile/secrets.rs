//! What others must not see: secrets in the words of a process, in logs, labels and state; ports that are opened.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::ground::{Ground, Kind};
use crate::support;

const SECRET: &str = "s3cret-0f-the-user";

/// The words of every process that hold the secret, looked for until told to stop.
fn watch_words(stop: &AtomicBool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            if words.contains(SECRET) {
                found.insert(words);
            }
        }
    }
    found
}

/// The whole life of an agent that was given a secret, and everything that was printed.
fn live(ground: &Ground) -> String {
    let env = &ground.env;
    fs::write(env.root().join("secret.env"), format!("TOKEN={SECRET}\n")).unwrap();
    let file = env.root().join("secret.env");
    let (address, file) = (ground.address("far"), file.to_str().unwrap());
    let mut said = String::new();
    let mut say = |args: &[&str]| {
        let output = env.mngr(args);
        said += &format!("{output}\n");
        output
    };
    let provision = "test \"$TOKEN\"";
    let options = ["--env-file", file, "--extra-provision-command", provision, "-vv"];
    let create =
        [&["create", &address, "--no-connect"], &options[..], &["--type", "command", "--", "sleep", "1000"]];
    let _ = say(&create.concat()).success();
    let _ = say(&["exec", "far", "-vv", "--", "sh", "-c", "test \"$TOKEN\""]).success();
    let _ = say(&["list", "-vv", "--format", "json"]).success();
    let _ = say(&["explain", "far", "--format", "json"]).success();
    let _ = say(&["stop", "far", "-vv"]).success();
    let _ = say(&["start", "far", "-vv"]).success();
    let failing = ["--env-file", file, "--extra-provision-command", "exit 3", "-vv"];
    let address = ground.address("other");
    let create =
        [&["create", &address, "--no-connect"], &failing[..], &["--type", "command", "--", "sleep", "1000"]];
    let _ = say(&create.concat()).code(1);
    said
}

/// Files below a folder that hold the secret.
fn holders(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            let holds = || String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).contains(SECRET);
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() && holds() {
                found.push(path);
            }
        }
    }
    found
}

#[track_caller]
fn check_words_and_prints(ground: &Ground) {
    let stop = AtomicBool::new(false);
    let (said, words) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch_words(&stop));
        let said = live(ground);
        stop.store(true, Ordering::Relaxed);
        (said, watcher.join().unwrap())
    });
    assert_eq!(words, BTreeSet::new());
    assert!(!said.contains(SECRET), "{said}");
    let held = holders(&ground.env.host_dir());
    assert!(held.is_empty(), "{held:?}");
}

#[test]
fn a_secret_for_an_agent_of_another_machine_is_in_its_private_file_alone() {
    let ground = Ground::new(Kind::Ssh);
    check_words_and_prints(&ground);
    let id = support::text(&support::agent(&ground.env, "far")["id"]);
    let agent = ground.sshd().home().join(".mngr/agents").join(id);
    let held = holders(ground.sshd().root());
    assert!(!held.is_empty());
    for path in held {
        assert!(path.starts_with(&agent), "{}", path.display());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn docker_a_secret_for_an_agent_of_a_container_is_in_no_label_and_no_log() {
    let ground = Ground::new(Kind::Docker);
    check_words_and_prints(&ground);
    let engine = ground.engine.as_ref().unwrap();
    for seen in
        [&["inspect", "mngr-box"][..], &["logs", "mngr-box"], &["volume", "ls"], &["ps", "--no-trunc"]]
    {
        assert!(!engine.docker(seen).contains(SECRET), "{seen:?}");
    }
    let find = "grep -rlsF s3cret-0f-the-user /mngr /tmp /root /var /etc | xargs -r stat -c '%a %n'";
    let held = engine.docker(&["exec", "mngr-box", "sh", "-c", find]);
    assert!(!held.is_empty());
    for line in held.lines() {
        assert!(line.starts_with("600 /mngr/agents/") || line.starts_with("700 /mngr/agents/"), "{held}");
    }
    // Nothing of ours listens inside either.
    let listening = engine.docker(&[
        "exec",
        "mngr-box",
        "sh",
        "-c",
        "cat /proc/net/tcp /proc/net/tcp6 | grep -c ' 0A ' || true",
    ]);
    assert_eq!(listening, "0");
}

#[test]
fn no_port_is_opened_here_or_there() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sh", "-c", "echo here I am; exec sleep 1000"]);
    let terminal = ground.env.terminal(mngr_testkit::Surroundings::Plain, ["connect", "far"]);
    terminal.wait_for("here I am");
    let ours = ground.env.processes();
    assert!(ours.iter().any(|pid| name_of(*pid) == "ssh"), "the connection is open");
    let theirs = mngr_testkit::processes_with_variable("MNGR_HOST_DIR", "/root/.mngr");
    assert!(!theirs.is_empty());
    for pid in ours.into_iter().chain(theirs) {
        assert_eq!(listening_sockets(pid), 0, "{}", name_of(pid));
    }
}

fn name_of(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// How many TCP sockets a process listens on.
fn listening_sockets(pid: u32) -> usize {
    let tables = ["tcp", "tcp6"]
        .map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default());
    let words =
        tables.iter().flat_map(|table| table.lines()).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let inodes: BTreeSet<String> = words
        .filter(|words| words.get(3) == Some(&"0A"))
        .map(|words| format!("socket:[{}]", words[9]))
        .collect();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|fd| fs::read_link(fd.path()).ok())
        .filter(|to| inodes.contains(to.to_str().unwrap_or_default()))
        .count()
}
