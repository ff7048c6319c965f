//! A command that is under way while its agent is destroyed, or brought back: it never makes anything of the agent again,
//! claims nothing, and hinders no `undo`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mngr_testkit::TestEnv;

use crate::support::*;

/// Programs that wait, where their words hold a pattern, until somebody lets them go on. Only the first that comes waits.
struct Gate {
    folder: PathBuf,
}

impl Gate {
    fn new(env: &mut TestEnv) -> Self {
        let folder = env.root().join("gate");
        fs::create_dir(&folder).unwrap();
        env.set_var("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()));
        Self { folder }
    }

    /// From now on one call of the program whose words match waits.
    fn close(&self, program: &str, pattern: &str) {
        for sign in ["waits", "open"] {
            let _ = fs::remove_file(self.folder.join(sign));
        }
        let (gate, path) = (self.folder.display(), self.folder.join(program));
        let script = format!(
            "#!/bin/sh\nPATH=${{PATH#*:}}\ncase \" $* \" in {pattern})\n    if [ ! -e {gate}/waits ]; then\n        \
             : >{gate}/waits\n        while [ ! -e {gate}/open ]; do sleep 0.02; done\n    fi ;;\nesac\n\
             exec {program} \"$@\"\n"
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn wait_for_one(&self) {
        wait_until(PATIENCE, || self.folder.join("waits").exists());
    }

    fn open(&self) {
        fs::write(self.folder.join("open"), "").unwrap();
    }
}

fn git_in(env: &TestEnv, dir: &Path, args: &[&str]) -> String {
    let mut git = env.command("git");
    git.current_dir(dir).args(args);
    env.run(git).success().stdout
}

/// Commit, branch, index and files of a work dir.
fn picture(env: &TestEnv, dir: &Path) -> String {
    git_in(env, dir, &["status", "--porcelain=v2", "--branch", "--untracked-files=all"])
        + &git_in(env, dir, &["diff", "HEAD"])
}

#[test]
fn a_message_that_waits_for_its_proof_hinders_no_undo_and_says_that_the_agent_is_gone() {
    let env = env_with_repo();
    create_scripted(&env, "m", &["sleep 60"]);
    let (dir, state) = (work_dir(&env, "m"), state_dir(&env, "m"));
    let before = picture(&env, &dir);
    let message = env.spawn(["message", "m", "x", "--timeout", "5m"]);
    // It is typed, and waits.
    wait_until(PATIENCE, || state.join("events/messages/events.jsonl").exists());
    let _ = env.mngr(["destroy", "--force", "m"]).success();
    let told = message.finish().code(1);
    assert!(told.stderr.contains("agent `m` was destroyed while the message was on its way"), "{told}");
    assert!(told.stderr.contains("mngr undo m"), "{told}");
    assert!(!state.exists(), "its state folder was made again");
    let undone = env.mngr(["undo", "m"]).success();
    assert_eq!(undone.stdout, format!("Restored agent: m on branch mngr/m ({})\n", dir.display()));
    assert_eq!((picture(&env, &dir), state.join("data.json").exists()), (before, true));
}

#[test]
fn a_copy_that_was_held_up_makes_no_destroyed_agent_again_and_claims_nothing() {
    let mut env = env();
    let gate = Gate::new(&mut env);
    let repo = env.repo(2);
    create(&env, "a", &["sleep", "1000"]);
    let dir = work_dir(&env, "a");
    let before = picture(&env, &dir);
    repo.write("notes", "mine\n");
    let verbs: [&[&str]; 4] = [
        &["push", "a", "--sync-mode", "files"],
        &["push", "a:deep/er/", "notes"],
        &["push", "a", "notes"],
        &["rsync", "./notes", "a:deep/er/"],
    ];
    for verb in verbs {
        gate.close("rsync", "*\" --dry-run \"*) ;;\n*");
        let held = env.spawn(verb);
        gate.wait_for_one();
        let destroyed = env.mngr(["destroy", "--force", "a"]).success();
        assert!(
            destroyed.to_string().contains("files that were being copied to it did not all arrive"),
            "{destroyed}"
        );
        gate.open();
        let told = held.finish().code(1);
        assert!(told.stderr.contains("agent `a` was destroyed meanwhile"), "{verb:?}: {told}");
        assert!(!dir.exists(), "{verb:?} made the work dir again");
        let undone = env.mngr(["undo", "a", "--format", "json"]).success().json();
        assert_eq!(undone["restored_agents"][0]["notes"], serde_json::json!([]), "{verb:?}");
        assert_eq!(picture(&env, &dir), before, "{verb:?} wrote into the trash");
    }
}

#[test]
fn commits_that_were_held_up_on_their_way_to_a_destroyed_agent_are_not_called_pushed() {
    let mut env = env();
    let gate = Gate::new(&mut env);
    let repo = env.repo(2);
    create(&env, "a", &["sleep", "1000"]);
    let dir = work_dir(&env, "a");
    let before = picture(&env, &dir);
    repo.write("spec", "do this\n");
    let _ = repo.commit("spec");
    gate.close("git", "*\" merge \"*");
    let held = env.spawn(["push", "a"]);
    gate.wait_for_one();
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    gate.open();
    let told = held.finish().code(1);
    assert!(told.stderr.contains("agent `a` was destroyed meanwhile"), "{told}");
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(picture(&env, &dir), before);
}

#[test]
fn what_a_late_program_left_is_found_by_doctor_and_set_aside() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let (dir, state) = (work_dir(&env, "a"), state_dir(&env, "a"));
    let before = picture(&env, &dir);
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    for folder in [&dir, &state] {
        fs::create_dir_all(folder.join("late")).unwrap();
        fs::write(folder.join("late/file"), "late").unwrap();
    }
    let strays = |args: &[&str]| -> Vec<serde_json::Value> {
        let report = env.mngr(["doctor", "--format", "json"].iter().chain(args)).json();
        let findings = report["findings"].as_array().unwrap().clone();
        findings
            .into_iter()
            .filter(|one| text(&one["what"]).contains("was written after agent `a`"))
            .collect()
    };
    assert_eq!(strays(&[]).len(), 2);
    assert!(state.exists(), "a look changes nothing");
    let mended = strays(&["--fix"]);
    assert!(mended.len() == 2 && mended.iter().all(|one| one["fixed"] == true), "{mended:#?}");
    assert!(!dir.exists() && !state.exists());
    let aside = env.host_dir().join("set-aside").join(state.file_name().unwrap());
    for place in ["state-1", "work-1"] {
        assert_eq!(fs::read_to_string(aside.join(place).join("late/file")).unwrap(), "late");
    }
    assert_eq!(strays(&[]).len(), 0);
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(picture(&env, &dir), before);
}

#[test]
fn a_killed_undo_is_completed_after_its_git_has_ended_with_its_branch() {
    let mut env = env();
    let gate = Gate::new(&mut env);
    let repo = env.repo(2);
    create(&env, "a", &["sleep", "1000"]);
    let dir = work_dir(&env, "a");
    fs::write(dir.join("untracked"), "u").unwrap();
    let before = picture(&env, &dir);
    let _ = env.mngr(["destroy", "--force", "-b", "a"]).success();
    gate.close("git", "*\" worktree move \"*");
    let undo = env.spawn(["undo", "a"]);
    gate.wait_for_one();
    kill("-KILL", undo.id());
    drop(undo.finish());
    // Its git is still at it: nobody does the same beside it.
    assert_eq!(names(&env), [""; 0]);
    assert!(!dir.exists());
    gate.open();
    wait_until(PATIENCE, || names(&env) == ["a"]);
    assert_eq!(picture(&env, &dir), before);
    assert_eq!(git_in(&env, &dir, &["branch", "--show-current"]).trim(), "mngr/a");
    assert!(repo.branches().contains(&"mngr/a".to_owned()));
    assert_eq!(fs::read_dir(env.host_dir().join("trash")).unwrap().count(), 0);
}

#[test]
fn a_clone_whose_source_is_in_the_trash_names_the_source() {
    let env = env_with_repo();
    let create = ["create", "src", "--type", "command", "--no-connect", "--transfer", "git-mirror", "--"];
    let _ = env.mngr(create.iter().chain(&["sleep", "1000"])).success();
    let _ = env.mngr(["clone", "src", "copy", "--no-connect"]).success();
    let dir = work_dir(&env, "copy");
    let before = picture(&env, &dir);
    let _ = env.mngr(["destroy", "--force", "-b", "src", "copy"]).success();
    let refused = env.mngr(["undo", "copy"]).code(1);
    assert!(refused.stderr.contains("is in the trash with agent `src`"), "{refused}");
    assert!(refused.stderr.contains("`mngr undo src` first, then `mngr undo copy`"), "{refused}");
    assert_eq!(fs::read_dir(env.host_dir().join("journal")).unwrap().count(), 0);
    assert_eq!(env.mngr(["list"]).success().stderr, "");
    let _ = env.mngr(["undo", "src", "copy"]).success();
    assert_eq!(picture(&env, &dir), before);
}

#[test]
fn a_clone_whose_source_goes_meanwhile_fails_and_leaves_nothing_or_holds_its_source() {
    let mut env = env();
    let gate = Gate::new(&mut env);
    let _ = env.repo(2);
    let create = ["create", "src", "--type", "command", "--no-connect", "--transfer", "git-mirror", "--"];
    let _ = env.mngr(create.iter().chain(&["sleep", "1000"])).success();
    let dir = work_dir(&env, "src");
    let before = picture(&env, &dir);
    // Held up before it has written down what it makes: nobody can know of it.
    gate.close("git", "*\" for-each-ref \"*|*\" rev-parse \"*|*\" status \"*");
    let held = env.spawn(["clone", "src", "copy", "--no-connect"]);
    gate.wait_for_one();
    let _ = env.mngr(["destroy", "--force", "src"]).success();
    gate.open();
    let _ = held.finish().code(1);
    assert_eq!(names(&env), [""; 0]);
    let _ = env.mngr(["undo", "src"]).success();
    assert_eq!(picture(&env, &dir), before);
    // Held up while it makes its files: its source keeps the repository.
    gate.close("git", "*\" checkout \"*");
    let held = env.spawn(["clone", "src", "copy", "--no-connect"]);
    gate.wait_for_one();
    let destroyed = env.mngr(["destroy", "--force", "src"]).success();
    assert!(dir.exists(), "{destroyed}");
    gate.open();
    let _ = held.finish().success();
    assert_eq!(git_in(&env, &work_dir(&env, "copy"), &["branch", "--show-current"]).trim(), "mngr/copy");
    let journals = fs::read_dir(env.host_dir().join("journal")).unwrap().count();
    assert_eq!(journals, 0);
}
