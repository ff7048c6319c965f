//! What a new agent on another machine finds: the repository, the user's uncommitted work, uploads and variables.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::ground::{Ground, Kind};
use crate::support;

#[test]
fn a_repository_comes_with_all_branches_and_tags_and_its_origin_without_credentials() {
    let ground = Ground::new(Kind::Ssh);
    let repo = ground.env.repo(3);
    for args in [
        &["branch", "other"][..],
        &["tag", "v1"],
        &["remote", "add", "origin", "https://me:s3cret@example.com/x.git"],
    ] {
        let _ = repo.git(args).success();
    }
    let _ = ground.create("a", &["--", "sleep", "1000"]);
    let line =
        "git branch --format='%(refname:short)'; git tag; git remote get-url origin; git status --short";
    let seen = ground.env.mngr(["exec", "a", "--", "sh", "-c", line]).success().stdout;
    assert_eq!(seen, "main\nmngr/a\nother\nv1\nhttps://example.com/x.git\n");
    let all = ground.env.command("grep").args(["-r", "s3cret"]).arg(ground.sshd().home()).output().unwrap();
    assert!(all.stdout.is_empty(), "{}", String::from_utf8_lossy(&all.stdout));
}

#[test]
fn a_second_agent_shares_the_objects_and_only_new_commits_travel() {
    let ground = Ground::new(Kind::Ssh);
    let repo = ground.env.repo(3);
    let _ = ground.create("a", &["--", "sleep", "1000"]);
    repo.write("later", "later");
    let tip = repo.commit("later");
    let _ = ground.create("b", &["--", "sleep", "1000"]);
    let repositories: Vec<_> =
        fs::read_dir(ground.sshd().home().join(".mngr/repositories")).unwrap().flatten().collect();
    assert_eq!(repositories.iter().filter(|entry| entry.path().is_dir()).count(), 1);
    let head = ground.env.mngr(["exec", "b", "--", "git", "rev-parse", "HEAD", "main"]).success().stdout;
    assert_eq!(head, format!("{tip}\n{tip}\n"));
    let first = ground.env.mngr(["exec", "a", "--", "git", "log", "--format=%s", "main"]).success().stdout;
    assert!(first.starts_with("later\n"), "{first}");
}

#[test]
fn commits_of_an_agent_are_never_overwritten_by_what_the_user_has() {
    let ground = Ground::new(Kind::Ssh);
    let repo = ground.env.repo(3);
    let _ = ground.create("a", &["--", "sleep", "1000"]);
    let commit = |text: &str| {
        let line = format!("echo {text} >{text}; git add {text}; git commit -qm {text}");
        let _ = ground.env.mngr(["exec", "a", "--", "sh", "-c", &line]).success();
    };
    commit("first");
    let _ = ground.env.mngr(["pull", "a"]).success();
    commit("second");
    let tip = ground.env.mngr(["exec", "a", "--", "git", "rev-parse", "HEAD"]).success().stdout;
    // The branch stays when its agent goes. Here it is behind, and elsewhere.
    let _ = ground.env.mngr(["destroy", "a", "--force"]).success();
    let _ = repo.git(["branch", "--force", "mngr/a", "main"]).success();
    let _ = ground.create("b", &["--", "sleep", "1000"]);
    let there = ground.env.mngr(["exec", "b", "--", "git", "rev-parse", "mngr/a"]).success().stdout;
    assert_eq!(there, tip);
}

#[test]
fn uncommitted_work_uploads_and_variables_come_along() {
    let ground = Ground::new(Kind::Ssh);
    let repo = ground.env.repo(3);
    repo.write("new\nline", "odd");
    repo.write("it's", "quoted");
    fs::remove_file(repo.path().join("dir-2/file-0002.txt")).unwrap();
    repo.write("secrets.env", "TOKEN=s3cret\n");
    repo.write("tool", "#!/bin/sh\necho ran\n");
    fs::set_permissions(repo.path().join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    let options = [
        "--include-unclean",
        "--env-file",
        "secrets.env",
        "--upload-file",
        "tool:~/bin/tool",
        "--extra-provision-command",
        "echo $TOKEN >provisioned",
        "--",
        "sleep",
        "1000",
    ];
    let _ = ground.create("a", &options);
    let dir = ground.work_dir("a");
    assert_eq!(fs::read_to_string(dir.join("new\nline")).unwrap(), "odd");
    assert_eq!(fs::read_to_string(dir.join("it's")).unwrap(), "quoted");
    assert!(!dir.join("dir-2/file-0002.txt").exists());
    assert_eq!(fs::read_to_string(dir.join("provisioned")).unwrap(), "s3cret\n");
    let home = ground.sshd().home();
    let tool = fs::metadata(home.join("bin/tool")).unwrap();
    assert_eq!(tool.permissions().mode() & 0o100, 0o100);
    let id = support::text(&support::agent(&ground.env, "a")["id"]);
    let env_file = fs::metadata(home.join(".mngr/agents").join(id).join("env")).unwrap();
    assert_eq!(env_file.permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_folder_that_is_no_repository_is_copied() {
    let ground = Ground::new(Kind::Ssh);
    let folder = ground.env.root().join("plain");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("x"), "x").unwrap();
    let _ = ground.create("a", &["--from", folder.to_str().unwrap(), "--", "sleep", "1000"]);
    assert_eq!(fs::read_to_string(ground.work_dir("a").join("x")).unwrap(), "x");
}

#[test]
fn an_agent_of_another_machine_is_the_source_of_one_here() {
    let ground = Ground::new(Kind::Ssh);
    let work = "echo one >one; git add one; git commit -qm one; echo two >two; exec sleep 1000";
    let _ = ground.create("a", &["--", "sh", "-c", work]);
    support::wait_until(support::PATIENCE, || ground.work_dir("a").join("two").exists());
    let _ = ground.env.mngr(["create", "b", "--from", "a", "--no-connect", "--", "sleep", "1000"]).success();
    let dir = support::work_dir(&ground.env, "b");
    assert!(dir.join("one").exists() && dir.join("two").exists());
    assert!(dir.starts_with(ground.env.host_dir()));
}
