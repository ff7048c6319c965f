//! An agent that writes into its own state folder what mngr reads there: it may lie about itself, and harm nobody else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command};

use mngr_testkit::{Surroundings, TestEnv};
use serde_json::{Value, json};

use crate::support::*;

/// Changes the agent's record behind mngr's back.
#[track_caller]
fn forge(env: &TestEnv, state_dir: &Path, change: impl FnOnce(&mut Value)) {
    let file = state_dir.join("data.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    change(&mut record);
    fs::write(&file, record.to_string()).unwrap();
    assert!(file.starts_with(env.root()));
}

/// A process that has nothing to do with any agent.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        Self(Command::new("sleep").arg("1000").spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// `pid:start`, as the record spells a process.
    fn recorded(&self) -> String {
        recorded(self.pid())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn recorded(pid: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().to_owned();
    format!("{pid}:{start}")
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned()
}

#[test]
fn destroy_moves_nothing_that_mngr_did_not_make() {
    let env = env_with_repo();
    let home = env.home();
    fs::write(home.join("precious"), "x").unwrap();
    let host = env.host_dir();
    create(&env, "other", &["sleep", "1000"]);
    let other = work_dir(&env, "other");
    fs::create_dir(other.join("deep")).unwrap();
    symlink(&home, host.join("worktrees/link")).unwrap();
    let user_tree = env.root().join("user-tree");
    let mut git = env.command("git");
    git.args(["worktree", "add", "-q", user_tree.to_str().unwrap()]);
    let _ = env.run(git).success();
    let targets = [
        Path::new("/").to_owned(),
        home.clone(),
        host.clone(),
        host.join("worktrees"),
        other.join("../.."),
        host.join("worktrees/link"),
        host.join("agents"),
        other.clone(),
        other.join("deep"),
        host.join("worktrees/./").join(other.file_name().unwrap()),
        env.work_dir(),
        user_tree.clone(),
    ];
    for (number, target) in targets.iter().enumerate() {
        let name = format!("evil{number}");
        create(&env, &name, &["true"]);
        let state = state_dir(&env, &name);
        forge(&env, &state, |record| {
            record["work_dir"] = json!(target.to_str().unwrap());
            record["workspace"]["is_generated"] = json!(true);
        });
        let output = env.mngr(["destroy", "--force", &name, "--format", "json"]).success().json();
        let fate = &output["details"][0]["work_dir"];
        assert!(fate.to_string().contains("kept"), "{}: {fate}", target.display());
        assert!(target.exists(), "{}", target.display());
        let _ = env.mngr(["undo", &name]).success();
        let _ = env.mngr(["destroy", "--force", &name]).success();
    }
    let _ = env.mngr(["gc", "-S", "trash.max_age_days=0"]).success();
    for path in [home.join("precious"), other.join("deep"), user_tree.join(".git")] {
        assert!(path.exists(), "{}", path.display());
    }
    assert_eq!(state(&env, "other"), "RUNNING");
    assert!(env.work_dir().join(".git/HEAD").exists());
}

#[test]
fn what_mngr_made_outside_its_own_folders_still_goes_and_comes_back() {
    let env = env_with_repo();
    let plain = env.root().join("plain");
    fs::create_dir(&plain).unwrap();
    let cases = [
        ("tree", "git-worktree", env.work_dir()),
        ("mirror", "git-mirror", env.work_dir()),
        ("copy", "rsync", plain),
    ];
    for (name, transfer, source) in cases {
        let target = env.root().join(format!("made-{name}"));
        let args = ["create", name, "--no-connect", "--transfer", transfer, "--target-path"];
        let words = [target.to_str().unwrap(), "--from", source.to_str().unwrap(), "--", "true"];
        let _ = env.mngr(args.into_iter().chain(words)).success();
        fs::write(target.join("work"), name).unwrap();
        wait_for_state(&env, name, "DONE");
        let _ = env.mngr(["destroy", "--force", name]).success();
        assert!(!target.exists(), "{name}");
        let _ = env.mngr(["undo", name]).success();
        assert_eq!(fs::read_to_string(target.join("work")).unwrap(), name);
        let _ = env.mngr(["destroy", "--force", name]).success();
        assert!(!target.exists(), "{name}");
        let _ = env.mngr(["gc", "-S", "trash.max_age_days=0"]).success();
        assert_eq!(fs::read_dir(env.host_dir().join("made")).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn a_forged_note_in_the_trash_deletes_nothing_else() {
    let env = env_with_repo();
    let precious = env.home().join("precious");
    fs::write(&precious, "x").unwrap();
    create(&env, "a", &["true"]);
    let id = text(&agent(&env, "a")["id"]);
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    let note = env.host_dir().join("trash").join(&id).join("manifest.json");
    let mut manifest: Value = serde_json::from_str(&fs::read_to_string(&note).unwrap()).unwrap();
    manifest["work"] = json!({"fate": "moved", "to": env.home().to_str().unwrap(), "checkout": null});
    fs::write(&note, manifest.to_string()).unwrap();
    let gc = env.mngr(["gc", "-S", "trash.max_age_days=0"]);
    assert!(
        gc.stderr.contains("does not describe the agent") || gc.stdout.contains("does not describe"),
        "{gc}"
    );
    let _ = env.mngr(["undo", "a"]);
    assert!(precious.exists());
}

#[test]
fn stop_and_destroy_end_no_process_of_somebody_else() {
    let env = env_with_repo();
    let mut bystander = Bystander::start();
    create(&env, "other", &["sleep", "1000"]);
    create(&env, "evil", &["sleep", "1000"]);
    let (own, theirs) = (state_dir(&env, "evil"), state_dir(&env, "other"));
    let stranger = bystander.recorded();
    let forged = [
        format!("start boot={} supervisor={stranger} pane=%0\nagent pid={stranger}\n", boot_id()),
        fs::read_to_string(theirs.join("process")).unwrap(),
    ];
    for text in forged {
        fs::write(own.join("process"), text).unwrap();
        let stopped = env.mngr(["stop", "evil"]).code(1);
        assert!(stopped.stderr.contains("was not started by it"), "{stopped}");
        let message = env.mngr(["message", "evil", "-m", "hello"]);
        assert!(!message.status.success(), "it has no terminal of its own: {message}");
        assert!(bystander.is_alive());
        assert_eq!(state(&env, "other"), "RUNNING");
    }
    let destroyed = env.mngr(["destroy", "--force", "evil"]).success();
    assert!(destroyed.stderr.contains("was not started by it"), "{destroyed}");
    assert!(bystander.is_alive());
    assert_eq!(state(&env, "other"), "RUNNING");
    assert_eq!(env.tmux(["list-sessions", "-F", "#{session_name}"]).success().stdout, "mngr-other\n");
}

#[test]
fn an_agent_that_takes_the_name_of_another_does_not_get_its_session() {
    let env = env_with_repo();
    create(&env, "other", &["sleep", "1000"]);
    create(&env, "evil", &["sleep", "1000"]);
    let state_dir = state_dir(&env, "evil");
    let id = text(&agent(&env, "evil")["id"]);
    let _ = env.mngr(["stop", "evil"]).success();
    forge(&env, &state_dir, |record| record["name"] = json!("other"));
    let verbs: [&[&str]; 4] =
        [&["stop", &id], &["start", &id], &["rename", &id, "third"], &["destroy", "--force", &id]];
    for args in verbs {
        forge(&env, &state_dir, |record| record["name"] = json!("other"));
        let _ = env.mngr(args);
        let sessions = env.tmux(["list-sessions", "-F", "#{session_name}"]).success().stdout;
        assert!(sessions.lines().any(|name| name == "mngr-other"), "{args:?}: {sessions}");
    }
    assert_eq!(names(&env), ["other"]);
    assert_eq!(state(&env, "other"), "RUNNING");
}

#[test]
fn a_record_that_cannot_be_right_is_shown_as_broken_and_hides_nobody() {
    let env = env_with_repo();
    create(&env, "good", &["sleep", "1000"]);
    create(&env, "evil", &["sleep", "1000"]);
    let (state_dir, other) = (state_dir(&env, "evil"), text(&agent(&env, "good")["id"]));
    let original = fs::read_to_string(state_dir.join("data.json")).unwrap();
    let changes: [fn(&mut Value, &str); 5] = [
        |record, _| record["name"] = json!("\u{1b}[2J\u{7}evil"),
        |record, other| record["id"] = json!(other),
        |record, _| record["name"] = json!("x".repeat(10_000)),
        |record, _| record["create_time"] = json!("\u{1b}[31m"),
        |record, _| record["work_dir"] = json!(["\u{1b}[2J"]),
    ];
    for change in changes {
        fs::write(state_dir.join("data.json"), &original).unwrap();
        forge(&env, &state_dir, |record| change(record, &other));
        for args in [&["list"][..], &["gc"], &["stop", "nobody"], &["explain", "good"]] {
            let output = env.mngr(args);
            let shown = format!("{}{}", output.stdout, output.stderr);
            assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        }
        assert!(env.mngr(["list"]).stdout.contains("good"));
        assert_eq!(state(&env, "good"), "RUNNING");
    }
    fs::write(state_dir.join("data.json"), &original).unwrap();
    assert_eq!(names(&env), ["evil", "good"]);
}

#[test]
fn what_an_agent_says_of_itself_never_reaches_a_terminal_raw() {
    let env = env_with_repo();
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    create(&env, "a", &["sh", "-c", "printf '\\033]0;owned\\007\\033[5mtext\\033[0m\\n'; sleep 1000"]);
    let state = state_dir(&env, "a");
    fs::create_dir_all(state.join("status")).unwrap();
    fs::write(state.join("status/url"), format!("http://x/{hostile}")).unwrap();
    fs::write(state.join("waiting"), hostile).unwrap();
    forge(&env, &state, |record| {
        record["labels"] = json!({"evil": hostile, hostile: "v", "huge": "x".repeat(100_000)});
        record["command"] = json!(hostile);
        record["created_branch_name"] = json!(hostile);
        record["initial_message"] = json!(hostile);
    });
    let is_raw = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
    let verbs: [&[&str]; 8] = [
        &["list"],
        &["list", "--fields", "name,url,labels,command,initial_branch"],
        &["list", "--format", "{name} {url} {labels} {command}"],
        &["explain", "a"],
        &["capture", "a"],
        &["destroy", "a", "--dry-run", "--force", "--remove-created-branch"],
        &["stop", "a", "--dry-run"],
        &["undo"],
    ];
    for args in verbs {
        let output = env.mngr(args).success();
        let shown = format!("{}{}", output.stdout, output.stderr);
        assert!(!shown.chars().any(is_raw), "{args:?}: {shown:?}");
    }
    let json = env.mngr(["list", "--format", "json"]).success();
    assert!(!json.stdout.contains('\u{1b}'), "JSON spells control characters");
    assert_eq!(json.json()["agents"][0]["labels"]["evil"], hostile);
    let terminal = env.terminal(Surroundings::Plain, ["list", "--fields", "name,url"]);
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(terminal.screen().contains("http://x/"), "the screen was not cleared");
}

#[test]
fn pipes_links_and_huge_files_in_a_state_folder_do_not_hang_or_lead_elsewhere() {
    let env = env_with_repo();
    create(&env, "good", &["sleep", "1000"]);
    create(&env, "evil", &["sleep", "1000"]);
    let state_dir = state_dir(&env, "evil");
    let victim = env.home().join("victim");
    fs::write(&victim, "as it was\n").unwrap();
    fs::create_dir_all(state_dir.join("status")).unwrap();
    let _ = env.mngr(["stop", "evil"]).success();
    for name in ["status/url", "waiting", "process", "data.json"] {
        let path = state_dir.join(name);
        let saved = fs::read(&path).ok();
        let _ = fs::remove_file(&path);
        let mut mkfifo = env.command("mkfifo");
        mkfifo.arg(&path);
        let _ = env.run(mkfifo).success();
        let listing = env.mngr(["list", "--fields", "name,url,state"]);
        assert!(listing.stdout.contains("good"), "{name}: {listing}");
        fs::remove_file(&path).unwrap();
        let huge = fs::File::create(&path).unwrap();
        huge.set_len(1 << 40).unwrap();
        let listing = env.mngr(["list", "--fields", "name,url,state"]);
        assert!(listing.stdout.contains("good"), "{name}: {listing}");
        fs::remove_file(&path).unwrap();
        if let Some(saved) = saved {
            fs::write(&path, saved).unwrap();
        }
    }
    let _ = env.mngr(["start", "evil"]).success();
    let log = state_dir.join("events/messages/events.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let mut mkfifo = env.command("mkfifo");
    mkfifo.arg(&log);
    let _ = env.run(mkfifo).success();
    let _ = env.mngr(["message", "evil", "-m", "hello"]).code(1);
    fs::remove_file(&log).unwrap();
    let _ = env.mngr(["stop", "evil"]).success();
    // Scripts and logs are written where they belong, not where a link leads.
    for name in ["launch_agent.sh", "window.sh", "process", "events/messages/events.jsonl", "env"] {
        let path = state_dir.join(name);
        let saved = fs::read(&path).ok();
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(&victim, &path).unwrap();
        let _ = env.mngr(["start", "evil"]);
        let _ = env.mngr(["message", "evil", "-m", "hello"]);
        let _ = env.mngr(["stop", "evil"]);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "as it was\n", "{name}");
        let _ = fs::remove_file(&path);
        if let Some(saved) = saved {
            fs::write(&path, saved).unwrap();
        }
    }
}
