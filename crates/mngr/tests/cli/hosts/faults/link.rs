//! A link that is cut in the middle of a verb: shortly, so that the verb goes on, or until it is given up.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mngr_testkit::{Running, Signal};

use super::super::ground::{Ground, Kind};
use super::{LIMIT, entries, remains};
use crate::support::{PATIENCE, names, state, wait_until};

/// How long a verb may take to notice that the link is gone for good. A connection is given up after three seconds here.
const NOTICED: Duration = Duration::from_secs(25);

/// A machine behind a link whose end is noticed soon.
fn ground() -> Ground {
    let ground = Ground::new(Kind::Linked);
    ground.set(
        "hosts.box.options",
        r#"["ServerAliveInterval=1", "ServerAliveCountMax=2", "ConnectTimeout=3"]"#,
    );
    ground
}

/// A file of the host that has a line for each time something ran.
struct Count(PathBuf);

impl Count {
    fn new(ground: &Ground) -> Self {
        Self(ground.sshd().home().join("runs"))
    }

    fn lines(&self) -> usize {
        fs::read_to_string(&self.0).unwrap_or_default().lines().count()
    }

    #[track_caller]
    fn wait(&self) {
        wait_until(PATIENCE, || self.lines() > 0);
    }
}

/// Waits for the end of what the cut has made hopeless.
#[track_caller]
fn noticed(running: Running, code: i32) -> String {
    let began = Instant::now();
    let output = running.finish().code(code);
    assert!(began.elapsed() < NOTICED, "{:?}: {output}", began.elapsed());
    output.stderr
}

#[test]
fn a_short_cut_is_only_a_pause() {
    let ground = Ground::new(Kind::Linked);
    let count = Count::new(&ground);
    let address = ground.address("far");
    let provision = "echo run >>~/runs; until [ -e ~/go ]; do sleep 0.05; done";
    let create =
        ["create", &address, "--no-connect", "--extra-provision-command", provision, "--", "sleep", "1000"];
    let creating = ground.env.spawn(create);
    count.wait();
    ground.sshd().cut();
    // What it waits for comes while nobody can be told.
    fs::write(ground.sshd().home().join("go"), "").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    ground.sshd().mend();
    let _ = creating.finish().success();
    assert_eq!((count.lines(), state(&ground.env, "far")), (1, "RUNNING".to_owned()));
    let executing =
        ground.env.spawn(["exec", "far", "--", "sh", "-c", "echo run >>~/runs; sleep 0.5; echo done"]);
    wait_until(PATIENCE, || count.lines() == 2);
    ground.sshd().cut();
    std::thread::sleep(Duration::from_millis(800));
    ground.sshd().mend();
    assert_eq!(executing.finish().success().stdout, "done\n");
    assert_eq!(count.lines(), 2);
}

#[test]
fn a_creation_that_is_cut_off_leaves_nothing_and_ran_nothing_twice() {
    let ground = ground();
    let count = Count::new(&ground);
    let address = ground.address("far");
    let provision = "echo run >>~/runs; sleep 60";
    let create =
        ["create", &address, "--no-connect", "--extra-provision-command", provision, "--", "sleep", "1000"];
    let creating = ground.env.spawn(create);
    count.wait();
    ground.sshd().cut();
    // State remains there for now.
    let said = noticed(creating, 4);
    assert!(said.contains("box"), "{said}");
    ground.sshd().mend();
    wait_until(PATIENCE, || names(&ground.env).is_empty() && remains(&ground).is_empty());
    assert_eq!(count.lines(), 1);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    assert_eq!(state(&ground.env, "far"), "RUNNING");
}

#[test]
fn a_command_that_is_cut_off_ran_once_and_its_end_is_said_to_be_unknown() {
    let ground = ground();
    let count = Count::new(&ground);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    let executing = ground.env.spawn(["exec", "far", "--", "sh", "-c", "echo run >>~/runs; sleep 60"]);
    count.wait();
    ground.sshd().cut();
    let said = noticed(executing, 125);
    assert!(said.contains("unknown") && said.contains("box"), "{said}");
    ground.set("host_discovery_timeout_seconds", LIMIT);
    let began = Instant::now();
    let listing = ground.env.mngr(["list", "--format", "json"]).success().json();
    assert!(began.elapsed() < super::ANSWER, "{:?}", began.elapsed());
    assert_eq!(
        (&listing["agents"][0]["state"], &listing["agents"][0]["host"]["state"]),
        (&"UNKNOWN".into(), &"UNKNOWN".into())
    );
    assert_eq!(listing["errors"][0]["host_name"], "box", "{listing}");
    ground.sshd().mend();
    wait_until(PATIENCE, || state(&ground.env, "far") == "RUNNING");
    let _ = ground.env.mngr(["exec", "far", "--", "true"]).success();
    assert_eq!(count.lines(), 1);
}

#[test]
fn a_message_that_is_cut_off_is_delivered_once_however_often_it_is_sent() {
    let ground = ground();
    let steps =
        ["--type", "scripted", "--", "read", "say got {message}", "read", "say then {message}", "hang"];
    let _ = ground.create("far", &steps);
    ground.sshd().cut();
    let send = ["message", "far", "--key", "one", "-m", "first"];
    let said = noticed(ground.env.spawn(send), 1);
    assert!(said.contains("far") || said.contains("box"), "{said}");
    ground.sshd().mend();
    wait_until(PATIENCE, || state(&ground.env, "far") != "UNKNOWN");
    // What was sent into the dead link may arrive late; it is the same message.
    wait_until(PATIENCE, || ground.env.mngr(send).status.success());
    let _ = ground.env.mngr(send).success();
    let _ = ground.env.mngr(["message", "far", "-m", "second"]).success();
    let mut screen = String::new();
    wait_until(PATIENCE, || {
        screen = ground.env.mngr(["capture", "far"]).success().stdout;
        screen.contains("then second")
    });
    assert_eq!(screen.matches("got first").count(), 1, "{screen}");
    assert_eq!(screen.matches("then ").count(), 1, "{screen}");
}

/// Holds every tmux of the machine for as long as a file exists.
const HELD_TMUX: &str = r#"[ -e ~/hold ] && { echo run >>~/runs; while [ -e ~/hold ]; do sleep 0.02; done; }
exec "$real" "$@""#;

#[test]
fn a_message_whose_link_is_cut_while_it_is_typed_is_typed_once() {
    let ground = ground();
    let count = Count::new(&ground);
    let hold = ground.sshd().home().join("hold");
    let _ =
        ground.create("framed", &["--type", "scripted", "--", "read", "say got {message}", "read", "hang"]);
    let _ = ground.create("plain", &["--type", "command", "--", "cat"]);
    wait_until(PATIENCE, || state(&ground.env, "framed") == "WAITING");
    ground.sshd().replace_program("tmux", HELD_TMUX);
    for name in ["framed", "plain"] {
        let _ = fs::remove_file(&count.0);
        fs::write(&hold, "").unwrap();
        let send = ["message", name, "--key", "one", "-m", "hello there"];
        let sending = ground.env.spawn(send);
        count.wait();
        ground.sshd().cut();
        // It is typed while nobody can be told.
        fs::remove_file(&hold).unwrap();
        let said = noticed(sending, 1);
        assert!(said.contains("unknown") || said.contains("cannot be reached"), "{said}");
        ground.sshd().mend();
        wait_until(PATIENCE, || state(&ground.env, name) != "UNKNOWN");
        let again = ground.env.mngr(send);
        match name {
            // It tells messages apart by itself.
            "framed" => drop(again.success()),
            _ => assert!(again.code(1).stderr.contains("may have been typed already")),
        }
        let screen = ground.env.mngr(["capture", name]).success().stdout;
        let times = if name == "framed" {
            screen.matches("got hello there").count()
        } else {
            screen.matches("hello there").count() / 2
        };
        assert_eq!(times, 1, "{name}: {screen}");
    }
}

#[test]
fn a_transfer_that_is_cut_off_changes_nothing_here_and_can_be_done_again() {
    let ground = ground();
    let work =
        "head -c 3000000 /dev/urandom >big; git add big; git commit -qm big; cp big loose; exec sleep 1000";
    let _ = ground.create("far", &["--", "sh", "-c", work]);
    wait_until(PATIENCE, || {
        ground.work_dir("far").join("loose").metadata().is_ok_and(|it| it.len() == 3_000_000)
    });
    let before = fs::read_dir(ground.env.work_dir()).unwrap().count();
    for pull in [&["pull", "far"][..], &["pull", "far:loose"]] {
        ground.sshd().slow();
        let pulling = ground.env.spawn(pull);
        // Half a megabyte a second: it takes six seconds, and is cut in the middle.
        wait_until(PATIENCE, || ground.sshd().bytes_sent() > 1_000_000);
        ground.sshd().cut();
        let _ = noticed(pulling, 1);
        assert_eq!(fs::read_dir(ground.env.work_dir()).unwrap().count(), before, "{pull:?}");
        ground.sshd().fast();
        ground.sshd().mend();
        wait_until(PATIENCE, || state(&ground.env, "far") == "RUNNING");
    }
    let branches = |ground: &Ground| {
        let listed = ground.env.run({
            let mut git = ground.env.command("git");
            git.args(["for-each-ref", "--format=%(refname)"]);
            git
        });
        listed.success().stdout
    };
    assert_eq!(branches(&ground), "refs/heads/main\n");
    let _ = ground.env.mngr(["pull", "far"]).success();
    let _ = ground.env.mngr(["pull", "far:loose"]).success();
    assert!(branches(&ground).contains("refs/heads/mngr/far"));
    let there = fs::read(ground.work_dir("far").join("loose")).unwrap();
    assert!(fs::read(ground.env.work_dir().join("loose")).unwrap() == there);
}

#[test]
fn what_is_not_reached_is_not_said_to_be_done() {
    let ground = ground();
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    fs::write(ground.env.work_dir().join("note"), "note").unwrap();
    ground.sshd().cut();
    let began = Instant::now();
    // With `--force` an agent out of reach is forgotten, and that is said.
    let verbs: [&[&str]; 4] = [
        &["push", "far", "note"],
        &["stop", "far"],
        &["label", "far", "--label", "a=b"],
        &["destroy", "far"],
    ];
    let running: Vec<_> = verbs.iter().map(|verb| ground.env.spawn(*verb)).collect();
    for (running, verb) in running.into_iter().zip(verbs) {
        let output = running.finish();
        assert_ne!(output.status.code(), Some(0), "{verb:?}: {output}");
    }
    assert!(began.elapsed() < NOTICED, "{:?}", began.elapsed());
    ground.sshd().mend();
    wait_until(PATIENCE, || state(&ground.env, "far") != "UNKNOWN");
    let _ = ground.env.mngr(["start", "far"]).success();
    let _ = ground.env.mngr(["push", "far", "note"]).success();
    let _ = ground.env.mngr(["destroy", "far", "--force"]).success();
    assert_eq!(entries(&ground.sshd().home().join(".mngr/trash")).len(), 1);
    let _ = ground.env.mngr(["undo", "far"]).success();
    assert_eq!(fs::read_to_string(ground.work_dir("far").join("note")).unwrap(), "note");
}

#[test]
fn a_destroy_whose_link_breaks_is_not_completed_by_others_while_it_lives() {
    let ground = Ground::new(Kind::Ssh);
    let env = &ground.env;
    let script = "trap '' HUP TERM; touch stubborn; while :; do sleep 0.1; done";
    let _ = ground.create("far", &["--type", "command", "--", "sh", "-c", script]);
    wait_until(PATIENCE, || ground.work_dir("far").join("stubborn").exists());
    let journal = || {
        let files = fs::read_dir(ground.sshd().home().join(".mngr/journal")).into_iter().flatten().flatten();
        files.map(|file| file.path()).find(|path| path.metadata().is_ok_and(|file| file.len() > 0))
    };
    let destroying = env.spawn(["destroy", "far", "--force"]);
    wait_until(PATIENCE, || journal().is_some());
    destroying.signal(Signal::STOP);
    let locked = fs::File::open(journal().unwrap()).unwrap();
    assert!(locked.try_lock().is_err(), "it works on the agent");
    assert!(ground.sshd().kill_connections());
    // Its lock goes with its link.
    wait_until(PATIENCE, || locked.try_lock().is_ok());
    drop(locked);
    let listed = env.mngr(["list"]).success();
    assert!(!listed.stderr.contains("put right"), "{listed}");
    destroying.signal(Signal::CONT);
    let destroyed = destroying.finish();
    // One that cannot take back what it began leaves its journal, and the next command completes the removal.
    if names(env).is_empty() {
        let _ = env.mngr(["undo", "far"]).success();
    }
    assert_eq!(names(env), ["far"], "{destroyed}");
    assert!(ground.work_dir("far").join("stubborn").exists());
}
