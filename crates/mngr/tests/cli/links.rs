//! A link that an agent made, in the user's repository or in its own work dir: no verb writes behind it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use mngr_testkit::{CmdOutput, TestEnv};

use crate::support::*;

/// What is in a folder, and nothing else: names and contents.
fn contents(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => {
                found.push((path.clone(), String::new()));
                found.extend(contents(&path));
            }
            false => found.push((path.clone(), fs::read_to_string(&path).unwrap())),
        }
    }
    found.sort();
    found
}

/// A folder of the user's that links lead to: `extra` is in it, and nothing may come.
struct Secret(PathBuf, Vec<(PathBuf, String)>);

impl Secret {
    fn new(env: &TestEnv) -> Self {
        let folder = env.root().join("secret");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("extra"), "precious").unwrap();
        Self(folder.clone(), contents(&folder))
    }

    #[track_caller]
    fn require_untouched(&self, args: &[&str], told: &CmdOutput) {
        assert_eq!(contents(&self.0), self.1, "mngr {args:?}\n{told}");
    }
}

fn plant(dir: &Path, name: &str) {
    let _ = fs::remove_file(dir.join(name));
    fs::create_dir_all(dir.join(name)).unwrap();
    fs::write(dir.join(name).join("planted"), "from the agent").unwrap();
    fs::write(dir.join(name).join("extra"), "from the agent").unwrap();
}

#[test]
fn no_verb_writes_behind_a_link_that_came_from_an_agent() {
    let env = env();
    let repo = env.repo(2);
    let secret = Secret::new(&env);
    // The agent's commit that the user has merged.
    fs::create_dir(repo.path().join("deep")).unwrap();
    repo.write("deep/plain", "x");
    for link in ["vdir", "deep/vdir"] {
        symlink(&secret.0, repo.path().join(link)).unwrap();
    }
    let _ = repo.commit("links");
    create(&env, "foo", &["sleep", "1000"]);
    create(&env, "bar", &["sleep", "1000"]);
    let (foo, bar) = (work_dir(&env, "foo"), work_dir(&env, "bar"));
    // `foo` makes folders of its links; `bar` waits for files to go behind its own.
    for folder in ["vdir", "deep/vdir", "loose"] {
        plant(&foo, folder);
    }
    symlink(&secret.0, repo.path().join("loose")).unwrap();
    plant(repo.path(), "untracked");
    symlink(&secret.0, bar.join("untracked")).unwrap();
    symlink(secret.0.join("extra"), bar.join("file-link")).unwrap();
    let payload = env.root().join("payload");
    for folder in ["vdir", "deep/vdir"] {
        plant(&payload, folder);
    }
    let payload = payload.to_str().unwrap();
    let at = |tail: &str| format!("{payload}/{tail}");
    let upload = format!("{payload}/vdir/planted:vdir/planted");
    let upload_over = format!("{payload}/vdir/planted:vdir/extra");
    let forms: &[(&[&str], &str)] = &[
        (&["pull", "foo:vdir"], "vdir"),
        (&["pull", "foo:vdir", "--dry-run"], "vdir"),
        (&["pull", "foo:vdir", "--uncommitted-changes", "clobber"], "vdir"),
        (&["pull", "foo:vdir", "--delete"], "vdir"),
        (&["pull", "foo:vdir/"], "vdir"),
        (&["pull", "foo:vdir/planted"], "vdir"),
        (&["pull", "foo:vdir/extra"], "vdir"),
        (&["pull", "foo:vdir", "."], "vdir"),
        (&["pull", "foo:vdir", "./"], "vdir"),
        (&["pull", "foo:vdir", "vdir"], "vdir"),
        (&["pull", "foo:vdir/", "vdir/"], "vdir"),
        (&["pull", "foo:vdir/planted", "vdir"], "vdir"),
        (&["pull", "foo:vdir/planted", "vdir/new"], "vdir"),
        (&["pull", "foo:deep"], "deep/vdir"),
        (&["pull", "foo:deep/vdir"], "deep/vdir"),
        (&["pull", "foo:deep", "."], "deep/vdir"),
        (&["pull", "foo:deep/", "deep", "--uncommitted-changes", "stash"], "deep/vdir"),
        (&["pull", "foo", "--sync-mode", "files"], "deep/vdir"),
        (&["pull", "foo", "--sync-mode", "files", "--delete"], "deep/vdir"),
        (&["pull", "foo", "--sync-mode", "files", "--uncommitted-changes", "clobber"], "deep/vdir"),
        (&["pull", "foo", "--sync-mode", "files", "--uncommitted-changes", "merge"], "deep/vdir"),
        (&["pull", "foo", "vdir", "--sync-mode", "files"], "vdir"),
        (&["pull", "foo", "--sync-mode", "full"], "loose"),
        (&["pull", "foo", "--sync-mode", "full", "--uncommitted-changes", "clobber"], "loose"),
        (&["rsync", "foo:vdir", "./"], "vdir"),
        (&["rsync", "foo:vdir/", "./vdir/"], "vdir"),
        (&["rsync", "foo:vdir/planted", "./vdir/new"], "vdir"),
        (&["rsync", "foo:vdir", "./", "--", "--keep-dirlinks"], "vdir"),
        (&["rsync", "foo", "./"], "deep/vdir"),
        (&["rsync", "foo", "./", "--", "-K", "--delete"], "deep/vdir"),
        (&["push", "bar:vdir", &at("vdir")], "vdir"),
        (&["push", "bar:vdir/", &at("vdir/")], "vdir"),
        (&["push", "bar:vdir/new", &at("vdir/planted")], "vdir"),
        (&["push", "bar:vdir/extra", &at("vdir/planted"), "--uncommitted-changes", "clobber"], "vdir"),
        (&["push", "bar:.", &at("")], "deep/vdir"),
        (&["push", "bar", "--sync-mode", "files"], "untracked"),
        (&["push", "bar", "--sync-mode", "full"], "untracked"),
        (&["push", "bar:untracked"], "untracked"),
        (&["rsync", &at(""), "bar:"], "deep/vdir"),
        (&["rsync", &at("vdir"), "bar:"], "vdir"),
        (&["rsync", &at("vdir/"), "bar:vdir/"], "vdir"),
        (&["file", "put", "bar", "vdir/new"], "vdir"),
        (&["file", "put", "bar", "vdir/extra", "--mode", "0600"], "vdir"),
        (&["file", "put", "bar", "vdir/deeper/new"], "vdir"),
        (&["file", "put", "bar", "file-link"], "file-link"),
        (
            &[
                "create",
                "new",
                "--type",
                "command",
                "--no-connect",
                "--exclude-unclean",
                "--upload-file",
                &upload,
                "--",
                "true",
            ],
            "vdir",
        ),
        (
            &[
                "create",
                "new",
                "--type",
                "command",
                "--no-connect",
                "--exclude-unclean",
                "--upload-file",
                &upload_over,
                "--",
                "true",
            ],
            "vdir",
        ),
    ];
    let head = repo.git(["rev-parse", "HEAD"]).success().stdout;
    let status = repo.git(["status", "--porcelain"]).success().stdout;
    for (args, link) in forms {
        let told = env.mngr_stdin(args.iter(), "from the user");
        secret.require_untouched(args, &told);
        assert!(!told.status.success(), "mngr {args:?} reports success\n{told}");
        let refusal = format!("`{link}` is a link to `{}", secret.0.display());
        let is_named = told.stderr.contains(&refusal) && told.stderr.contains("nothing was written");
        assert!(is_named, "mngr {args:?} does not name the link\n{told}");
        assert!(told.stderr.contains("hint: an agent may have made the link"), "mngr {args:?}\n{told}");
        let is_link = |dir: &Path, name: &str| dir.join(name).is_symlink();
        assert!(is_link(repo.path(), "vdir") && is_link(repo.path(), "deep/vdir"), "{args:?}");
        assert!(
            is_link(&bar, "vdir") && is_link(&bar, "deep/vdir") && is_link(&bar, "file-link"),
            "{args:?}"
        );
    }
    assert_eq!(repo.git(["rev-parse", "HEAD"]).success().stdout, head);
    assert_eq!(repo.git(["status", "--porcelain"]).success().stdout, status, "nothing else was changed");
    assert_eq!(names(&env), ["bar", "foo"], "a create that was refused leaves nothing");

    // What a setting or an option names inside of a repository is treated alike.
    let create_new = ["create", "new", "--type", "command", "--no-connect", "--exclude-unclean"];
    let through = [&create_new[..], &["--target-path", "vdir/new", "--", "true"]].concat();
    let _ = env
        .mngr(["config", "set", "--scope", "user", "work_dir_extra_paths.\"vdir/extra\"", "COPY"])
        .success();
    let with_setting = [&create_new[..], &["--", "true"]].concat();
    for args in [&through, &with_setting] {
        let told = env.mngr(args.iter()).code(1);
        secret.require_untouched(args, &told);
        assert!(told.stderr.contains("`vdir` is a link to"), "{told}");
    }
    let _ = env.mngr(["config", "unset", "--scope", "user", "work_dir_extra_paths.\"vdir/extra\""]).success();
    assert_eq!(names(&env), ["bar", "foo"]);

    // Git replaces a link by a folder and never goes through it: these do what they should, beside the secret.
    fs::remove_file(repo.path().join("loose")).unwrap();
    let fine: &[&[&str]] = &[
        &["clone", "foo", "twin"],
        &["snapshot", "create", "foo", "--name", "kept"],
        &["destroy", "foo", "--force"],
        &["undo", "foo"],
        &["pull", "foo", "--sync-mode", "full"],
    ];
    for args in fine {
        let told = env.mngr(args.iter());
        secret.require_untouched(args, &told);
        let _ = told.success();
    }
    assert!(work_dir(&env, "twin").join("vdir/planted").exists());
    let _ = env.mngr(["start", "foo"]).success();
    assert!(repo.path().join("vdir/planted").exists() && !repo.path().join("vdir").is_symlink());
    let snapshots = env.mngr(["snapshot", "list", "--format", "json"]).success().json();
    let id = text(&snapshots["snapshots"][0]["id"]);
    let told = env.mngr(["snapshot", "restore", &id]);
    secret.require_untouched(&["snapshot", "restore"], &told);
    let _ = told.success();
    assert!(work_dir(&env, "foo-restored").join("vdir/planted").exists());
}

#[test]
fn a_link_that_the_user_typed_outside_of_a_repository_is_his_own() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    plant(&work_dir(&env, "foo"), "out");
    let (real, way) = (env.root().join("real"), env.root().join("way"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &way).unwrap();
    let way = way.to_str().unwrap();
    let _ = env.mngr(["pull", "foo:out/planted", way]).success();
    let _ = env.mngr(["pull", "foo:out", way]).success();
    let _ = env.mngr(["rsync", "foo:out/", &format!("{way}/rsynced/")]).success();
    let _ = env.mngr(["file", "get", "foo", "out/planted", "--output", &format!("{way}/got")]).success();
    for file in ["planted", "out/planted", "rsynced/planted", "got"] {
        assert!(real.join(file).exists(), "{file}");
    }
    // What lies in there is checked as anywhere: its name came from the agent.
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir_all(real.join("out")).unwrap();
    symlink(&elsewhere, real.join("out")).unwrap();
    let refused = env.mngr(["pull", "foo:out", way]).code(1);
    assert!(refused.stderr.contains("`out` is a link to"), "{refused}");
    assert_eq!(contents(&elsewhere), []);
}

#[test]
fn undo_does_not_bring_a_work_dir_back_behind_a_link() {
    let env = env_with_repo();
    let secret = Secret::new(&env);
    let create = ["create", "foo", "--type", "command", "--no-connect", "--target-path", "sub/place"];
    let _ = env.mngr([&create[..], &["--", "sleep", "1000"]].concat()).success();
    let _ = env.mngr(["destroy", "foo", "--force"]).success();
    let sub = env.work_dir().join("sub");
    let _ = fs::remove_dir(&sub);
    symlink(&secret.0, &sub).unwrap();
    let refused = env.mngr(["undo", "foo"]).code(1);
    secret.require_untouched(&["undo", "foo"], &refused);
    assert!(refused.stderr.contains("`sub` is a link to"), "{refused}");
    // Nothing is lost: without the link it comes back.
    fs::remove_file(&sub).unwrap();
    let _ = env.mngr(["undo", "foo"]).success();
    assert!(sub.join("place/.git").exists());
}
