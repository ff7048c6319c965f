//! `clone`: files and command of another agent. Conversations are shown by the real programs.

use std::fs;

use crate::support::*;

#[test]
fn the_files_come_as_they_are_and_ignored_ones_on_request() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let source = work_dir(&env, "a");
    fs::write(source.join(".gitignore"), "*.log\n").unwrap();
    let _ = env.mngr(["exec", "a", "--", "git", "add", ".gitignore"]).success();
    let _ = env.mngr(["exec", "a", "--", "git", "commit", "-qm", "ignore logs"]).success();
    let (changed, deleted) = ("dir-0/file-0000.txt", "dir-1/file-0001.txt");
    fs::write(source.join(changed), "changed\n").unwrap();
    fs::remove_file(source.join(deleted)).unwrap();
    fs::write(source.join("new ümlaut.txt"), "untracked\n").unwrap();
    fs::write(source.join("build.log"), "ignored\n").unwrap();

    let _ = env.mngr(["clone", "a", "b", "--no-connect"]).success();
    let copy = work_dir(&env, "b");
    assert_ne!(copy, source);
    assert_eq!(fs::read_to_string(copy.join(changed)).unwrap(), "changed\n");
    assert!(!copy.join(deleted).exists(), "a deleted file stays deleted");
    assert_eq!(fs::read_to_string(copy.join("new ümlaut.txt")).unwrap(), "untracked\n");
    assert!(copy.join(".gitignore").exists(), "its commits are there");
    assert!(!copy.join("build.log").exists());
    assert!(source.join("build.log").exists() && !source.join(deleted).exists(), "the source is as it was");

    let _ = env.mngr(["clone", "a", "c", "--no-connect", "--include-gitignored"]).success();
    assert_eq!(fs::read_to_string(work_dir(&env, "c").join("build.log")).unwrap(), "ignored\n");
    let _ = env.mngr(["clone", "a", "d", "--no-connect", "--exclude-unclean"]).success();
    assert!(work_dir(&env, "d").join(deleted).exists());
    let refused = env.mngr(["clone", "a", "e", "--no-connect", "--ensure-clean"]).code(1);
    assert!(refused.stderr.contains("uncommitted changes"), "{refused}");
}

#[test]
fn it_runs_what_the_source_runs_and_gets_a_name_if_none_is_given() {
    let env = env_with_repo();
    create(&env, "a", &["sleep 1234 && true"]);
    let _ = env.mngr(["stop", "a"]).success();
    let created = env.mngr(["clone", "a", "--no-connect", "--format", "json"]).success().json();
    let name = text(&created["agent_name"]);
    assert_ne!(name, "a");
    assert_eq!(agent(&env, &name)["command"], agent(&env, "a")["command"]);
    assert_eq!(state(&env, &name), "RUNNING");
    let _ = env.mngr(["clone", "a", "other", "--no-connect", "--", "sleep", "4321"]).success();
    assert_eq!(agent(&env, "other")["command"], "sleep 4321");
    // The same in `create`'s own words.
    let _ = env.mngr(["create", "third", "--from", "a", "--no-connect"]).success();
    assert_eq!(agent(&env, "third")["command"], agent(&env, "a")["command"]);
}

#[test]
fn it_gets_the_arguments_of_the_source_and_plays_its_script() {
    let env = env_with_repo();
    let _ = env.mngr(["config", "set", "--scope", "user", "agent_types.rest.command", "sleep"]).success();
    let _ = env.mngr(["create", "a", "--type", "rest", "--no-connect", "--", "1234"]).success();
    let _ = env.mngr(["clone", "a", "b", "--no-connect"]).success();
    assert_eq!(agent(&env, "b")["command"], "sleep 1234");
    let script = env.home().join("script");
    let named = format!("@{}", script.display());
    fs::write(&script, "say I am {name}\nhang\n").unwrap();
    let _ = env.mngr(["create", "c", "--type", "scripted", "--no-connect", "--", &named]).success();
    // What it said when the agent was made counts.
    fs::remove_file(&script).unwrap();
    let _ = env.mngr(["clone", "c", "d", "--no-connect"]).success();
    wait_until(PATIENCE, || env.mngr(["capture", "d"]).success().stdout.contains("I am d"));
    // A copy of the copy too; but what a record says has no file of this machine read.
    let state = env.host_dir().join("agents").join(text(&agent(&env, "d")["id"]));
    let record = fs::read_to_string(state.join("data.json")).unwrap();
    assert!(record.contains("I am {name}"), "{record}");
    fs::write(&script, "say read\nhang\n").unwrap();
    fs::write(state.join("data.json"), record.replace("say I am {name}\\nhang\\n", &named)).unwrap();
    let refused = env.mngr(["clone", "d", "e", "--no-connect"]).code(2);
    assert!(refused.stderr.contains(&named), "{refused}");
}

#[test]
fn a_repository_can_be_the_source() {
    let env = env_with_repo();
    let url = format!("file://{}", env.work_dir().display());
    let _ = env.mngr(["clone", &url, "a", "--no-connect", "--", "sleep", "1000"]).success();
    assert!(work_dir(&env, "a").join(".git").exists());
}

#[test]
fn a_wrong_source_is_said_and_a_failed_clone_leaves_nothing() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["clone", "nobody", "--no-connect"]).code(9);
    let refused = env.mngr(["clone", "a", "b", "--from", "a", "--no-connect"]).code(2);
    assert!(refused.stderr.contains("first word"), "{refused}");
    let _ = env.mngr(["clone", "--no-connect"]).code(2);
    let failed = env.mngr(["clone", "a", "b", "--no-connect", "--extra-provision-command", "exit 3"]).code(1);
    assert!(failed.stderr.contains("exit code 3"), "{failed}");
    assert_eq!(names(&env), ["a"]);
    let branches = env.mngr(["exec", "a", "--", "git", "branch", "--list", "mngr/b"]).success();
    assert_eq!(branches.stdout, "");
    assert_eq!(fs::read_dir(env.host_dir().join("worktrees")).unwrap().count(), 1);
}

#[test]
fn options_of_templates_hold_for_it_too() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ =
        env.mngr(["config", "set", "--scope", "user", "create_templates.t.label", r#"["x=1"]"#]).success();
    let _ = env.mngr(["clone", "a", "b", "--no-connect", "-t", "t"]).success();
    assert_eq!(agent(&env, "b")["labels"]["x"], "1");
}
