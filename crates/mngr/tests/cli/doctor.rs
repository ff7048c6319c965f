//! `doctor`: each check by breaking what it looks at. A look changes nothing; `--fix` mends what loses nothing.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use mngr_testkit::TestEnv;
use serde_json::Value;

use crate::support::{agent, create, env, env_with_repo, text, work_dir};

/// What doctor says, whatever its exit code.
#[track_caller]
fn look(env: &TestEnv, fix: &[&str]) -> Value {
    let output = env.mngr(["doctor", "--format", "json"].iter().chain(fix));
    let report = output.json();
    let code = if report["is_healthy"] == true { 0 } else { 1 };
    output.code(code);
    report
}

/// The findings of a check that are not ok.
fn troubles(report: &Value, check: &str) -> Vec<Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|found| found["check"] == check && found["status"] != "ok").cloned().collect()
}

/// The only trouble of a check, as `(status, fixable, what)`.
#[track_caller]
fn trouble(report: &Value, check: &str) -> (String, bool, String) {
    let found = troubles(report, check);
    let [found] = found.as_slice() else { panic!("not one trouble with {check}: {report:#}") };
    for field in ["why", "advice"] {
        assert_ne!(found[field], "", "{found}");
    }
    (text(&found["status"]), found["fixable"] == true, text(&found["what"]))
}

#[track_caller]
fn assert_fine(report: &Value, check: &str) {
    assert_eq!(troubles(report, check), Vec::<Value>::new());
    assert!(report["findings"].as_array().unwrap().iter().any(|found| found["check"] == check), "{check}");
}

/// Breaks nothing more: looks twice, mends, and looks again.
#[track_caller]
fn is_mended(env: &TestEnv, check: &str, status: &str) -> String {
    let seen = trouble(&look(env, &[]), check);
    assert_eq!((seen.0.as_str(), seen.1), (status, true), "{seen:?}");
    assert_eq!(trouble(&look(env, &[]), check), seen, "a look changed something");
    let fixed = look(env, &["--fix"]);
    let mended: Vec<Value> =
        troubles(&fixed, check).into_iter().filter(|found| found["fixed"] == true).collect();
    assert_eq!(mended.len(), 1, "{fixed:#}");
    assert_fine(&look(env, &[]), check);
    seen.2
}

fn run(env: &TestEnv, program: &str, args: &[&str]) {
    let mut command = env.command(program);
    command.args(args);
    let _ = env.run(command).success();
}

/// The lock that a git at work in an agent's checkout holds.
fn git_lock(env: &TestEnv, name: &str) -> PathBuf {
    let mut git = env.command("git");
    git.current_dir(work_dir(env, name)).args(["rev-parse", "--absolute-git-dir"]);
    PathBuf::from(env.run(git).success().stdout.trim()).join("index.lock")
}

fn host_file(env: &TestEnv, path: &str) -> PathBuf {
    env.host_dir().join(path)
}

fn write_program(folder: &Path, name: &str, script: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn put_first_on_path(env: &mut TestEnv, folder: &Path) {
    env.set_var("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()));
}

#[test]
fn where_all_is_well_it_says_what_it_looked_at_and_returns_0() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let report = look(&env, &["--fix"]);
    assert_eq!((&report["failures"], &report["fixed"]), (&Value::from(0), &Value::from(0)), "{report:#}");
    for check in [
        "settings",
        "hosts",
        "tools",
        "disk",
        "permissions",
        "leftovers",
        "locks",
        "git_locks",
        "tmux_servers",
        "sessions",
        "work_dirs",
        "branches",
        "trash",
        "connections",
    ] {
        assert_fine(&report, check);
    }
    let shown = env.mngr(["doctor"]).success().stdout;
    assert!(shown.contains("ok     tools          tmux "), "{shown}");
    let lines = env.mngr(["doctor", "--format", "jsonl"]).success().stdout;
    assert!(lines.lines().last().unwrap().starts_with(r#"{"event":"summary""#), "{lines}");
}

#[test]
fn a_tool_that_is_too_old_is_named_with_the_version_that_is_needed() {
    let mut env = env();
    let bin = env.root().join("bin");
    write_program(&bin, "tmux", "echo tmux 2.9a");
    put_first_on_path(&mut env, &bin);
    let seen = trouble(&look(&env, &["--fix"]), "tools");
    assert_eq!(seen, ("fail".into(), false, "tmux is 2.9; 3.0 or later is needed".into()));
}

#[test]
fn what_a_killed_command_left_is_told_and_put_right_only_on_demand() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let mut cmd = env.mngr_cmd();
    cmd.args(["create", "b", "--type", "command", "--no-connect", "--", "sleep", "1000"]);
    cmd.env("MNGR_FAULT_KILL_AT", "6");
    assert!(!env.run(cmd).status.success());
    is_mended(&env, "leftovers", "fail");
    assert_eq!(fs::read_dir(host_file(&env, "journal")).unwrap().count(), 0);
}

/// Everything `--fix` mends, and beside it what must not be lost.
fn break_much(env: &TestEnv) {
    for name in ["a", "b"] {
        create(env, name, &["sleep", "1000"]);
    }
    fs::write(work_dir(env, "a").join("work"), "precious").unwrap();
    let lock = git_lock(env, "a");
    fs::write(&lock, "").unwrap();
    run(env, "touch", &["-d", "1 hour ago", lock.to_str().unwrap()]);
    let id = text(&agent(env, "b")["id"]);
    for name in ["clean", "dirty", "ghost-1", "ghost-2"] {
        let path = host_file(env, "worktrees").join(name);
        run(env, "git", &["worktree", "add", "--quiet", "--detach", path.to_str().unwrap()]);
        if name.starts_with("ghost") {
            fs::remove_dir_all(path).unwrap();
        }
    }
    fs::write(host_file(env, "worktrees/dirty/work"), "only here").unwrap();
    for branch in ["mngr/old-1", "mngr/old-2", "mngr/own"] {
        run(env, "git", &["branch", branch]);
    }
    let own = "git update-ref refs/heads/mngr/own $(git commit-tree -p HEAD -m own HEAD^{tree})";
    run(env, "sh", &["-c", own]);
    let sockets = host_file(env, "ssh/0123456789abcdef");
    fs::create_dir_all(&sockets).unwrap();
    for name in ["c", "d"] {
        drop(UnixListener::bind(sockets.join(name)).unwrap());
    }
    fs::set_permissions(env.host_dir(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::remove_dir_all(host_file(env, "agents").join(&id)).unwrap();
}

/// Looks without mngr, which would go on with what a dead command began.
#[track_caller]
fn assert_nothing_lost(env: &TestEnv) {
    let read = |path: &str| fs::read_to_string(host_file(env, "worktrees").join(path)).unwrap_or_default();
    assert_eq!(read("dirty/work"), "only here");
    let works =
        fs::read_dir(host_file(env, "worktrees")).unwrap().map(|entry| entry.unwrap().path().join("work"));
    assert!(works.into_iter().any(|path| fs::read_to_string(path).is_ok_and(|text| text == "precious")));
    run(env, "git", &["rev-parse", "--verify", "--quiet", "mngr/own"]);
    assert!(env.tmux(["list-sessions", "-F", "#{session_name}"]).success().stdout.contains("mngr-a\n"));
}

#[track_caller]
fn assert_all_is_put_right(env: &TestEnv) {
    let report = look(env, &[]);
    assert_eq!((&report["fixable"], &report["failures"]), (&0.into(), &0.into()), "{report:#}");
}

#[test]
fn killed_after_every_step_a_repair_loses_nothing_and_the_next_one_goes_on() {
    let env = env_with_repo();
    break_much(&env);
    let mut killed = 0;
    loop {
        let mut cmd = env.mngr_cmd();
        // The first place is before the first repair, the second one after the next step of it.
        cmd.args(["doctor", "--fix"]).env("MNGR_FAULT_KILL_AT", "2");
        let output = env.run(cmd);
        assert_nothing_lost(&env);
        if output.status.code().is_some() {
            let _ = output.success();
            break;
        }
        killed += 1;
        assert!(killed < 30, "it does not get on: {output}");
    }
    assert!(killed >= 8, "it was killed only {killed} times");
    assert_all_is_put_right(&env);
}

#[test]
fn killed_while_it_finishes_what_a_killed_command_began_the_next_one_goes_on() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let mut cmd = env.mngr_cmd();
    cmd.args(["create", "b", "--type", "command", "--no-connect", "--", "sleep", "1000"]);
    cmd.env("MNGR_FAULT_KILL_AT", "6");
    assert!(!env.run(cmd).status.success());
    for point in 1.. {
        let mut cmd = env.mngr_cmd();
        cmd.args(["doctor", "--fix"]).env("MNGR_FAULT_KILL_AT", point.to_string());
        if env.run(cmd).status.success() {
            assert!(point > 2, "only {point} points were passed");
            break;
        }
    }
    assert_all_is_put_right(&env);
    assert_eq!(crate::support::names(&env), ["a"]);
    assert_eq!(agent(&env, "a")["state"], "RUNNING");
}

#[test]
fn on_a_full_disk_a_repair_loses_nothing_and_is_made_up_for_later() {
    let env = env_with_repo();
    break_much(&env);
    let output = crate::full_disk::mngr_without_space(&env, 0, &["doctor", "--fix", "--format", "json"]);
    let report = output.json();
    assert!(!report["findings"].as_array().unwrap().is_empty(), "{output}");
    assert_nothing_lost(&env);
    let _ = look(&env, &["--fix"]);
    assert_nothing_lost(&env);
    assert_all_is_put_right(&env);
}

#[test]
fn a_lock_that_somebody_does_not_let_go_of_is_told() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let lock = File::options().append(true).open(host_file(&env, "host_lock")).unwrap();
    lock.lock().unwrap();
    let (status, fixable, what) = trouble(&look(&env, &[]), "locks");
    assert_eq!((status.as_str(), fixable), ("warn", false));
    assert!(what.contains("host_lock"), "{what}");
    drop(lock);
    assert_fine(&look(&env, &[]), "locks");
}

#[test]
fn a_session_whose_agent_is_gone_is_ended_and_one_made_by_hand_is_not() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    create(&env, "b", &["sleep", "1000"]);
    let id = text(&agent(&env, "b")["id"]);
    fs::remove_dir_all(host_file(&env, "agents").join(&id)).unwrap();
    assert!(is_mended(&env, "sessions", "fail").contains("mngr-b"));
    assert_eq!(env.tmux(["list-sessions", "-F", "#{session_name}"]).success().stdout, "mngr-a\n");

    let _ = env.tmux(["new-session", "-d", "-s", "mine", "sleep 1000"]).success();
    let (status, fixable, what) = trouble(&look(&env, &["--fix"]), "sessions");
    assert_eq!((status.as_str(), fixable), ("warn", false));
    assert!(what.contains("`mine`"), "{what}");
    assert!(env.tmux(["list-sessions", "-F", "#{session_name}"]).success().stdout.contains("mine"));
}

#[test]
fn a_work_dir_of_nobody_goes_unless_it_holds_work() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let (clean, dirty) = (host_file(&env, "worktrees/clean"), host_file(&env, "worktrees/dirty"));
    for path in [&clean, &dirty] {
        run(&env, "git", &["worktree", "add", "--quiet", "--detach", path.to_str().unwrap()]);
    }
    fs::write(dirty.join("work"), "only here").unwrap();
    let report = look(&env, &[]);
    assert_eq!(troubles(&report, "work_dirs").len(), 2, "{report:#}");
    assert!(clean.exists(), "a look deleted something");
    let report = look(&env, &["--fix"]);
    assert_eq!(report["fixed"], 1, "{report:#}");
    assert!(!clean.exists() && dirty.join("work").exists());
    let (status, fixable, what) = trouble(&look(&env, &["--fix"]), "work_dirs");
    assert_eq!((status.as_str(), fixable), ("warn", false));
    assert!(what.contains("dirty"), "{what}");
    assert_eq!(agent(&env, "a")["state"], "RUNNING");
}

#[test]
fn an_agent_without_its_work_dir_is_told() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    fs::remove_dir_all(text(&agent(&env, "a")["work_dir"])).unwrap();
    let (status, fixable, what) = trouble(&look(&env, &["--fix"]), "work_dirs");
    assert_eq!((status.as_str(), fixable), ("fail", false));
    assert!(what.contains("agent `a` is gone"), "{what}");
    assert_eq!(agent(&env, "a")["name"], "a");
}

#[test]
fn git_forgets_worktrees_that_are_gone_and_nobody_has() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let ghost = host_file(&env, "worktrees/ghost");
    let users = env.root().join("users");
    for path in [&ghost, &users] {
        run(&env, "git", &["worktree", "add", "--quiet", "--detach", path.to_str().unwrap()]);
        fs::remove_dir_all(path).unwrap();
    }
    assert!(trouble(&look(&env, &[]), "worktrees").2.contains("ghost"));
    assert_eq!(look(&env, &["--fix"])["fixed"], 1);
    assert_eq!(troubles(&look(&env, &[]), "worktrees"), Vec::<Value>::new());
    let mut list = env.command("git");
    list.args(["worktree", "list"]);
    let list = env.run(list).success().stdout;
    assert!(!list.contains("ghost") && list.contains("users"), "{list}");
}

#[test]
fn a_branch_of_a_gone_agent_goes_unless_it_has_commits_of_its_own() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    create(&env, "b", &["sleep", "1000"]);
    let _ = env.mngr(["destroy", "--force", "b"]).success();
    run(&env, "git", &["branch", "mngr/old"]);
    assert!(is_mended(&env, "branches", "warn").contains("mngr/old"));
    run(&env, "git", &["branch", "other/old"]);
    run(&env, "git", &["branch", "mngr/own"]);
    run(
        &env,
        "sh",
        &["-c", "git update-ref refs/heads/mngr/own $(git commit-tree -p HEAD -m own HEAD^{tree})"],
    );
    let (status, fixable, what) = trouble(&look(&env, &["--fix"]), "branches");
    assert_eq!((status.as_str(), fixable), ("warn", false));
    assert!(what.contains("mngr/own") && what.contains("1 commit"), "{what}");
    let mut list = env.command("git");
    list.args(["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    let left = env.run(list).success().stdout;
    assert_eq!(left.lines().collect::<Vec<_>>(), ["main", "mngr/a", "mngr/b", "mngr/own", "other/old"]);
}

#[test]
fn a_lock_that_a_dead_git_left_is_removed_when_it_is_old() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let lock = git_lock(&env, "a");
    fs::write(&lock, "").unwrap();
    assert_fine(&look(&env, &["--fix"]), "git_locks");
    assert!(lock.exists(), "a git may be at work");
    run(&env, "touch", &["-d", "1 hour ago", lock.to_str().unwrap()]);
    assert!(is_mended(&env, "git_locks", "fail").contains("index.lock"));
    assert!(!lock.exists());
}

#[test]
fn rights_of_others_are_taken_away() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(env.host_dir(), fs::Permissions::from_mode(0o777)).unwrap();
    is_mended(&env, "permissions", "fail");
    assert_eq!(mode(&env.host_dir()), 0o755);
    let variables = host_file(&env, "agents").join(text(&agent(&env, "a")["id"])).join("env");
    fs::set_permissions(&variables, fs::Permissions::from_mode(0o644)).unwrap();
    is_mended(&env, "permissions", "fail");
    assert_eq!(mode(&variables), 0o600);
}

#[test]
fn sockets_of_dead_connections_are_removed() {
    let env = env();
    let folder = host_file(&env, "ssh/0123456789abcdef");
    fs::create_dir_all(&folder).unwrap();
    let alive = UnixListener::bind(folder.join("alive")).unwrap();
    drop(UnixListener::bind(folder.join("c")).unwrap());
    assert!(is_mended(&env, "connections", "warn").contains("0123456789abcdef/c"));
    assert!(folder.join("alive").exists() && !folder.join("c").exists());
    drop(alive);
}

#[test]
fn a_full_trash_is_told_and_never_emptied() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    assert_fine(&look(&env, &[]), "trash");
    let report =
        env.mngr(["doctor", "--fix", "--format", "json", "-S", "trash.max_size_gb=0"]).success().json();
    let (status, fixable, what) = trouble(&report, "trash");
    assert_eq!((status.as_str(), fixable), ("warn", false));
    assert!(what.starts_with("1 destroyed agent(s)"), "{what}");
    let _ = env.mngr(["undo", "a"]).success();
}

#[test]
fn a_line_in_the_crontab_that_starts_nobody_is_removed() {
    let mut env = env();
    let bin = env.root().join("bin");
    let table = bin.join("table");
    write_program(
        &bin,
        "crontab",
        &format!("case $1 in\n-l) cat '{0}' ;;\n-) cat >'{0}' ;;\nesac", table.display()),
    );
    put_first_on_path(&mut env, &bin);
    let users = "0 5 * * * backup\n";
    fs::write(&table, users).unwrap();
    assert_fine(&look(&env, &[]), "boot");
    let script = host_file(&env, "commands/start_on_boot.sh");
    fs::write(&table, format!("{users}@reboot sh {} # mngr start-on-boot\n", script.display())).unwrap();
    is_mended(&env, "boot", "warn");
    assert_eq!(fs::read_to_string(&table).unwrap(), users);
}

#[test]
fn broken_settings_are_told_and_the_rest_is_examined_all_the_same() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["config", "set", "headless", "false", "--scope", "user"]).success();
    let paths = env.mngr(["config", "path", "--format", "json"]).success().json()["paths"].clone();
    let user = paths.as_array().unwrap().iter().find(|file| file["scope"] == "user").unwrap().clone();
    let path = text(&user["path"]);
    fs::write(&path, "prefx = 'x'\n").unwrap();
    let report = look(&env, &[]);
    let (status, _, what) = trouble(&report, "settings");
    assert_eq!(status, "fail");
    assert!(what.contains("prefx"), "{what}");
    assert_fine(&report, "sessions");
    assert!(env.mngr(["doctor"]).code(1).stdout.contains("fail   settings"));

    let mut lenient = env.mngr_cmd();
    lenient.args(["doctor", "--format", "json"]).env("MNGR_ALLOW_UNKNOWN_CONFIG", "1");
    assert_eq!(trouble(&env.run(lenient).success().json(), "settings").0, "warn");
    fs::remove_file(&path).unwrap();

    fs::create_dir_all(env.work_dir().join(".mngr")).unwrap();
    fs::write(env.work_dir().join(".mngr/settings.toml"), "[tmux]\nsocket = 'other'\n").unwrap();
    let (status, _, what) = trouble(&look(&env, &[]), "settings");
    assert_eq!(status, "warn");
    assert!(what.contains("are not trusted") && what.contains("tmux.socket"), "{what}");
}

#[test]
fn a_provider_that_cannot_be_asked_is_told() {
    let env = env();
    let socket = env.root().join("no-engine").display().to_string();
    let report = env.mngr([
        "doctor",
        "--format",
        "json",
        "-S",
        "providers.box.backend=docker",
        "-S",
        &format!("providers.box.host=unix://{socket}"),
    ]);
    let (status, fixable, what) = trouble(&report.code(1).json(), "providers");
    assert_eq!((status.as_str(), fixable), ("fail", false));
    assert!(what.contains("`box`"), "{what}");
}

#[test]
fn an_agent_folder_that_cannot_be_read_is_told() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let record = host_file(&env, "agents").join(text(&agent(&env, "a")["id"])).join("data.json");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, "{").unwrap();
    let seen = trouble(&look(&env, &["--fix"]), "agents");
    assert_eq!((seen.0.as_str(), seen.1), ("fail", false));
    fs::write(&record, text).unwrap();
    assert_eq!(troubles(&look(&env, &[]), "agents"), Vec::<Value>::new());
}
