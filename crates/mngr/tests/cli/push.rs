//! `push`: the user's work reaches an agent, and nothing of the agent's is lost.

use std::fs;

use crate::support::*;

#[test]
fn commits_and_files_reach_the_work_dir_and_uncommitted_work_there_stays() {
    let env = env();
    let repo = env.repo(1);
    create(&env, "foo", &["sleep", "1000"]);
    let dir = work_dir(&env, "foo");
    repo.write("spec.md", "do this\n");
    let _ = repo.commit("spec");
    fs::write(dir.join("notes"), "the agent's\n").unwrap();
    let told = env.mngr(["push", "foo"]).success();
    assert_eq!(told.stdout, "Fast-forwarded mngr/foo to main (1 commit)\n");
    assert_eq!(fs::read_to_string(dir.join("spec.md")).unwrap(), "do this\n");
    assert_eq!(fs::read_to_string(dir.join("notes")).unwrap(), "the agent's\n");
    repo.write("notes", "mine\n");
    let failed = env.mngr(["push", "foo", "notes"]).code(1);
    assert!(failed.stderr.contains("uncommitted changes") && failed.stderr.contains("`notes`"), "{failed}");
    assert_eq!(fs::read_to_string(dir.join("notes")).unwrap(), "the agent's\n");
    let _ = env.mngr(["push", "foo:data/", "notes"]).success();
    assert_eq!(fs::read_to_string(dir.join("data/notes")).unwrap(), "mine\n");
}

#[test]
fn a_conflict_leaves_the_agents_work_dir_alone() {
    let env = env();
    let repo = env.repo(1);
    create(&env, "foo", &["sleep", "1000"]);
    let dir = work_dir(&env, "foo");
    for (path, content) in [(repo.path(), "ours\n"), (dir.as_path(), "theirs\n")] {
        fs::write(path.join("same"), content).unwrap();
        for args in [&["add", "same"] as &[&str], &["commit", "--quiet", "-m", "same"]] {
            let mut git = env.command("git");
            git.current_dir(path).args(args);
            let _ = env.run(git).success();
        }
    }
    let failed = env.mngr(["push", "foo"]).code(1);
    assert!(
        failed.stderr.contains("`main` and `mngr/foo` conflict in `same`; nothing was changed"),
        "{failed}"
    );
    assert_eq!(fs::read_to_string(dir.join("same")).unwrap(), "theirs\n");
    let event = &env.mngr(["push", "foo", "--format", "jsonl"]).code(1).json_lines()[0];
    assert_eq!((&event["event"], &event["files"]), (&"error".into(), &serde_json::json!(["same"])));
}
