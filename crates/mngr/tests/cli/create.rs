//! `create`: whole or not at all, from every source, with every option that concerns this machine.

use std::fs;
use std::path::Path;

use mngr_testkit::TestEnv;

use crate::support::*;

/// Fails unless nothing of any agent is left: no folder, worktree, branch, session, journal or process.
#[track_caller]
fn assert_nothing_left(env: &TestEnv, when: &str) {
    let entries = |folder: &str| {
        let entries = fs::read_dir(env.host_dir().join(folder));
        entries
            .map(|entries| entries.flatten().map(|e| e.file_name()).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    for folder in ["agents", "worktrees", "copies", "clones", "journal", "trash"] {
        assert_eq!(entries(folder), Vec::<std::ffi::OsString>::new(), "{when}: `{folder}` is not empty");
    }
    let mut git = env.command("git");
    git.args(["worktree", "list"]);
    assert_eq!(env.run(git).success().stdout.lines().count(), 1, "{when}: a worktree is left");
    let mut git = env.command("git");
    git.args(["for-each-ref", "--format=%(refname)"]);
    assert_eq!(env.run(git).success().stdout.trim(), "refs/heads/main", "{when}: a ref is left");
    wait_until(PATIENCE, || env.processes().is_empty());
}

fn create_args(extra: &[&str]) -> Vec<String> {
    let mut args = vec!["create", "x", "--type", "command", "--no-connect"];
    args.extend(extra);
    args.extend(["--", "sleep", "1000"]);
    args.into_iter().map(str::to_owned).collect()
}

#[test]
fn killed_at_any_step_nothing_is_left_after_the_next_command() {
    for mode in [&[] as &[&str], &["--transfer", "git-mirror"], &["--from", "../plain"]] {
        let env = env_with_repo();
        fs::create_dir(env.work_dir().join("../plain")).unwrap();
        fs::write(env.work_dir().join("../plain/file"), "x").unwrap();
        let mut points = 0;
        loop {
            points += 1;
            let mut cmd = env.mngr_cmd();
            cmd.args(create_args(mode)).env("MNGR_FAULT_KILL_AT", points.to_string());
            let output = env.run(cmd);
            if output.status.success() {
                break;
            }
            assert!(output.status.code().is_none(), "must die by SIGKILL at point {points}: {output}");
            // The last point lies after the commit: then the agent exists whole.
            if names(&env) == ["x"] {
                let _ = env.mngr(["destroy", "--force", "x"]).success();
                fs::remove_dir_all(env.host_dir().join("trash")).unwrap();
                let mut git = env.command("git");
                git.args(["worktree", "prune"]);
                let _ = env.run(git).success();
                let mut git = env.command("git");
                git.args(["branch", "-D", "mngr/x"]);
                let _ = env.run(git);
                let _ = fs::remove_dir_all(env.host_dir().join("preserved"));
                continue;
            }
            assert_nothing_left(&env, &format!("{mode:?} killed at point {points}"));
        }
        assert!(points > 4, "only {points} points were passed");
        assert_eq!(state(&env, "x"), "RUNNING");
    }
}

#[test]
fn interrupted_at_any_step_it_exits_130_and_nothing_is_left() {
    let env = env_with_repo();
    let mut interrupted = 0;
    for point in 1.. {
        let mut cmd = env.mngr_cmd();
        cmd.args(create_args(&[])).env("MNGR_FAULT_INTERRUPT_AT", point.to_string());
        let output = env.run(cmd);
        // Past the commit the agent exists whole, and the interrupt is still told.
        if output.status.success() {
            assert!(output.stderr.contains("the interrupt came too late"), "point {point}: {output}");
            assert_eq!(state(&env, "x"), "RUNNING");
            break;
        }
        assert_eq!(output.status.code(), Some(130), "point {point}: {output}");
        assert_nothing_left(&env, &format!("interrupted at point {point}"));
        interrupted += 1;
    }
    assert!(interrupted > 3, "only {interrupted} points were interrupted");
}

#[test]
fn ctrl_c_during_a_provisioning_command_leaves_nothing() {
    let env = env_with_repo();
    let started = env.root().join("started");
    let command = format!("touch '{}'; sleep 1000", started.display());
    let running = env.spawn(create_args(&["--extra-provision-command", &command]));
    wait_until(PATIENCE, || started.exists());
    running.signal_group(mngr_testkit::Signal::INT);
    let _ = running.finish().code(130);
    assert_nothing_left(&env, "after Ctrl-C");
}

#[test]
fn a_failing_step_leaves_nothing_and_says_why() {
    let env = env_with_repo();
    let cases: [(&[&str], &str, i32); 4] = [
        (&["--extra-provision-command", "echo broken >&2; exit 9"], "broken", 1),
        (&["--upload-file", "nowhere:x"], "does not exist", 1),
        (&["--branch", "nosuch:new"], "nosuch", 1),
        (&["--env-file", "nowhere"], "Invalid value for `--env-file`", 2),
    ];
    for (args, text, code) in cases {
        let output = env.mngr(create_args(args)).code(code);
        assert!(output.stderr.contains(text), "{output}");
        assert_nothing_left(&env, text);
    }
    let output = env.mngr(["create", "x", "--no-connect", "--", "no-such-program-anywhere"]).code(1);
    assert!(
        output.stderr.contains("no-such-program-anywhere") && output.stderr.contains("not found"),
        "{output}"
    );
    assert_nothing_left(&env, "a program that does not exist");
}

#[test]
fn fifty_parallel_creates_in_one_repository_all_succeed() {
    let env = env();
    let repo = env.repo(300);
    let running: Vec<_> = (0..50)
        .map(|n| env.spawn(["create", &format!("p{n:02}"), "--no-connect", "--", "sleep", "1000"]))
        .collect();
    for one in running {
        let _ = one.finish().success();
    }
    let expected: Vec<String> = (0..50).map(|n| format!("p{n:02}")).collect();
    assert_eq!(names(&env), expected);
    let branches: Vec<String> = repo.branches().into_iter().filter(|b| b.starts_with("mngr/")).collect();
    assert_eq!(branches, expected.iter().map(|name| format!("mngr/{name}")).collect::<Vec<_>>());
    for name in &expected {
        let dir = work_dir(&env, name);
        let mut git = env.command("git");
        git.current_dir(&dir).args(["status", "--porcelain", "--branch"]);
        assert_eq!(env.run(git).success().stdout.trim(), format!("## mngr/{name}"), "{name} is not whole");
    }
}

#[test]
fn one_name_for_twenty_creators_goes_to_exactly_one() {
    let env = env_with_repo();
    let running: Vec<_> = (0..20).map(|_| env.spawn(create_args(&[]))).collect();
    let outputs: Vec<_> = running.into_iter().map(mngr_testkit::Running::finish).collect();
    assert_eq!(outputs.iter().filter(|output| output.status.success()).count(), 1);
    for output in outputs.iter().filter(|output| !output.status.success()) {
        assert!(output.stderr.contains("already exists"), "{output}");
    }
    assert_eq!(names(&env), ["x"]);
    assert_eq!(state(&env, "x"), "RUNNING");
}

#[test]
fn the_agent_gets_its_branch_session_and_variables() {
    let env = env_with_repo();
    let args = ["create", "a", "--no-connect", "--env", "GREETING=a 'b' $(id) `id` \\", "--", "sh", "-c"];
    let script = "env > seen; sleep 1000";
    let output = env.mngr(args.into_iter().chain([script])).success();
    assert!(output.stdout.contains("Created agent"), "{output}");
    let dir = work_dir(&env, "a");
    wait_until(PATIENCE, || {
        fs::read_to_string(dir.join("seen")).is_ok_and(|seen| seen.contains("MNGR_AGENT_NAME=a\n"))
    });
    wait_until(PATIENCE, || {
        fs::read_to_string(dir.join("seen")).is_ok_and(|seen| seen.contains("GREETING="))
    });
    let seen = fs::read_to_string(dir.join("seen")).unwrap();
    assert!(seen.contains("GREETING=a 'b' $(id) `id` \\\n"), "{seen}");
    let id = text(&agent(&env, "a")["id"]);
    for (name, value) in [
        ("MNGR_AGENT_ID", id.as_str()),
        ("MNGR_AGENT_WORK_DIR", dir.to_str().unwrap()),
        ("MNGR_AGENT_STATE_DIR", state_dir(&env, "a").to_str().unwrap()),
        ("MNGR_GIT_BASE_BRANCH", "main"),
    ] {
        assert!(seen.lines().any(|line| line == format!("{name}={value}")), "{name}={value} in {seen}");
    }
    assert!(env.tmux(["list-sessions", "-F", "#{session_name}"]).success().stdout.contains("mngr-a\n"));
    assert_eq!(agent(&env, "a")["initial_branch"], "mngr/a");
    assert!(agent(&env, "a")["labels"]["project"].is_string());
}

#[test]
fn variables_come_from_files_the_shell_and_the_command_line_in_that_order() {
    let mut env = env_with_repo();
    env.set_var("PASSED", "from shell");
    env.set_var("BOTH", "from shell");
    fs::write(env.root().join("vars"), "# comment\nFROM_FILE='x y'\nBOTH=file\nexport PASSED=file\n")
        .unwrap();
    let file = env.root().join("vars");
    let args = ["--env-file", file.to_str().unwrap(), "--pass-env", "PASSED", "--pass-env", "UNSET_ONE"];
    let _ = env
        .mngr(
            ["create", "a", "--no-connect"]
                .into_iter()
                .chain(args)
                .chain(["--env", "BOTH=cli", "--", "sleep", "1000"]),
        )
        .success();
    let out = env.mngr(["exec", "a", "echo \"$FROM_FILE|$BOTH|$PASSED|${UNSET_ONE-none}\""]).success();
    assert_eq!(out.stdout, "x y|cli|from shell|none\n");
    let mode = fs::metadata(state_dir(&env, "a").join("env")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
}

#[test]
fn several_words_are_verbatim_and_one_word_with_syntax_is_shell() {
    let env = env_with_repo();
    create(&env, "words", &["sh", "-c", "printf '%s' \"$1\" > out; sleep 1000", "sh", "a && b $(id)"]);
    create(&env, "line", &["echo one > out && echo two >> out; sleep 1000"]);
    let read = |name: &str| fs::read_to_string(work_dir(&env, name).join("out")).unwrap_or_default();
    wait_until(PATIENCE, || read("words") == "a && b $(id)");
    wait_until(PATIENCE, || read("line") == "one\ntwo\n");
}

#[test]
fn a_dirty_tree_is_refused_carried_or_left_behind() {
    let env = env();
    let repo = env.repo(3);
    for file in ["with space", "quo\"te", "new\nline", "-dash", "ünï", "tab\there", "d/ee/p"] {
        repo.write(file, file);
    }
    repo.write(".gitignore", "ignored\n");
    repo.write("ignored", "secret");
    let gone = repo.git(["ls-files"]).success().stdout.lines().next().expect("a tracked file").to_owned();
    fs::remove_file(repo.path().join(&gone)).unwrap();

    let refused = env.mngr(create_args(&[])).code(1);
    assert!(
        refused.stderr.contains("uncommitted changes") && refused.stderr.contains("--no-ensure-clean"),
        "{refused}"
    );

    let _ = env.mngr(create_args(&["--no-ensure-clean"])).success();
    let dir = work_dir(&env, "x");
    for file in ["with space", "quo\"te", "new\nline", "-dash", "ünï", "tab\there", "d/ee/p"] {
        assert_eq!(fs::read_to_string(dir.join(file)).unwrap(), file);
    }
    assert!(!dir.join(&gone).exists() && !dir.join("ignored").exists());

    let _ =
        env.mngr(["create", "y", "--no-connect", "--include-gitignored", "--", "sleep", "1000"]).success();
    assert_eq!(fs::read_to_string(work_dir(&env, "y").join("ignored")).unwrap(), "secret");

    let _ = env.mngr(["create", "z", "--no-connect", "--exclude-unclean", "--", "sleep", "1000"]).success();
    assert!(work_dir(&env, "z").join(&gone).exists() && !work_dir(&env, "z").join("with space").exists());
}

#[test]
fn branch_forms() {
    let env = env();
    let repo = env.repo(2);
    let _ = repo.git(["branch", "dev"]).success();
    let first = repo.git(["rev-parse", "HEAD"]).success().stdout;
    repo.write("later", "x");
    let _ = repo.commit("later");
    let create = |name: &str, branch: &str| {
        let _ =
            env.mngr(["create", name, "--no-connect", "--branch", branch, "--", "sleep", "1000"]).success();
        let mut git = env.command("git");
        git.current_dir(work_dir(&env, name)).args(["rev-parse", "--abbrev-ref", "HEAD"]);
        env.run(git).success().stdout.trim().to_owned()
    };
    assert_eq!(create("a", ":topic/*"), "topic/a");
    assert_eq!(create("b", "dev:"), "mngr/b");
    assert_eq!(create("c", "dev:other"), "other");
    assert_eq!(create("d", "dev"), "dev");
    let mut git = env.command("git");
    git.current_dir(work_dir(&env, "c")).args(["rev-parse", "HEAD"]);
    assert_eq!(env.run(git).success().stdout, first);
    let taken = env.mngr(["create", "e", "--no-connect", "--branch", "dev", "--", "true"]).code(1);
    assert!(taken.stderr.contains("already checked out"), "{taken}");
    for bad in ["a..b:", ":-x", ":a b", "x:y:z", ":a*b*", "\u{1b}"] {
        let _ = env.mngr(["create", "f", "--no-connect", "--branch", bad, "--", "true"]).code(2);
    }
}

#[test]
fn a_left_over_branch_is_reused_when_empty_and_numbered_when_not() {
    let env = env();
    let repo = env.repo(2);
    let _ = repo.git(["branch", "mngr/x"]).success();
    let reused = env.mngr(create_args(&[])).success();
    assert!(reused.stdout.contains("held nothing of its own"), "{reused}");
    let _ = env.mngr(["exec", "x", "echo work > w && git add -A && git commit -qm work"]).success();
    let _ = env.mngr(["destroy", "--force", "x"]).success();
    let again = env.mngr(create_args(&[])).success();
    assert!(again.stdout.contains("mngr/x-2"), "{again}");
    assert!(repo.branches().contains(&"mngr/x".to_owned()), "the other work is still there");
}

#[test]
fn sources_a_path_an_agent_a_url_and_no_repository() {
    let env = env();
    let repo = env.repo(2);
    create(&env, "first", &["sleep", "1000"]);
    let _ = env.mngr(["exec", "first", "echo mine > mine && git add -A && git commit -qm mine"]).success();
    let _ =
        env.mngr(["create", "second", "--from", "first", "--no-connect", "--", "sleep", "1000"]).success();
    assert_eq!(fs::read_to_string(work_dir(&env, "second").join("mine")).unwrap(), "mine\n");

    let url = format!("file://{}", repo.path().display());
    let _ = env.mngr(["create", "third", "--from", &url, "--no-connect", "--", "sleep", "1000"]).success();
    assert!(work_dir(&env, "third").join(".git").exists());

    let plain = env.root().join("plain");
    fs::create_dir_all(plain.join("sub")).unwrap();
    fs::write(plain.join("sub/a file"), "x").unwrap();
    let _ = env
        .mngr(["create", "fourth", "--from", plain.to_str().unwrap(), "--no-connect", "--", "sleep", "1000"])
        .success();
    assert_eq!(fs::read_to_string(work_dir(&env, "fourth").join("sub/a file")).unwrap(), "x");

    let refused = env.mngr_in(&plain, ["create", "fifth", "--no-connect", "--", "true"]).code(1);
    assert!(refused.stderr.contains("--from"), "{refused}");
    let _ = env
        .mngr_in(&plain, ["create", "fifth", "--transfer", "none", "--no-connect", "--", "sleep", "1000"])
        .success();
    assert_eq!(work_dir(&env, "fifth"), plain);
}

#[test]
fn all_four_transfer_modes_and_their_refusals() {
    let env = env();
    let repo = env.repo(2);
    let _ = repo.git(["tag", "v1"]).success();
    let _ = env.mngr(create_args(&["--transfer", "git-mirror"])).success();
    let mirror = work_dir(&env, "x");
    assert!(mirror.join(".git").is_dir());
    let mut git = env.command("git");
    git.current_dir(&mirror).args(["tag"]);
    assert_eq!(env.run(git).success().stdout, "v1\n");
    let _ = env
        .mngr(["create", "in-place", "--transfer", "none", "--no-connect", "--", "sleep", "1000"])
        .success();
    assert_eq!(work_dir(&env, "in-place"), repo.path());
    for (mode, text) in [("rsync", "not git repositories"), ("none-such", "is not one of")] {
        let output = env.mngr(["create", "y", "--transfer", mode, "--no-connect", "--", "true"]).code(2);
        assert!(output.stderr.contains(text), "{output}");
    }
    let target = env.root().join("elsewhere/deep");
    let address = format!("at:{}", target.display());
    let _ = env.mngr(["create", &address, "--no-connect", "--", "sleep", "1000"]).success();
    assert_eq!(work_dir(&env, "at"), target);
}

#[test]
fn submodules_and_lfs_are_carried() {
    let env = env();
    let inner = env.repo_at("inner", 2);
    let repo = env.repo(2);
    let inner_path = inner.path().to_str().unwrap().to_owned();
    let _ = repo
        .git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", &inner_path, "sub"])
        .success();
    let _ = repo.git(["commit", "-qm", "submodule"]).success();
    let _ = env.mngr(create_args(&[])).success();
    let files = fs::read_dir(work_dir(&env, "x").join("sub")).unwrap().count();
    assert!(files >= 2, "the submodule's files are there");

    let with_lfs = env.repo_at("lfs", 1);
    let _ = with_lfs.git(["lfs", "install", "--local"]).success();
    let _ = with_lfs.git(["lfs", "track", "*.bin"]).success();
    with_lfs.write("big.bin", "large contents");
    let _ = with_lfs.commit("lfs");
    for (name, mode) in [("worktree", "git-worktree"), ("mirror", "git-mirror")] {
        let args = ["create", name, "--transfer", mode, "--no-connect", "--", "sleep", "1000"];
        let _ = env.mngr_in(with_lfs.path(), args).success();
        assert_eq!(fs::read_to_string(work_dir(&env, name).join("big.bin")).unwrap(), "large contents");
    }
}

#[test]
fn windows_uploads_directories_and_commands() {
    let env = env_with_repo();
    fs::write(env.root().join("local file"), "uploaded").unwrap();
    let upload = format!("{}:deep/er/target", env.root().join("local file").display());
    let _ = env
        .mngr([
            "create",
            "a",
            "--no-connect",
            "-w",
            "log=tail -f /dev/null",
            "-w",
            "sleep 500",
            "--upload-file",
            &upload,
            "--extra-provision-command",
            "echo $MNGR_AGENT_NAME > named",
            "--label",
            "team=red",
            "--project",
            "proj",
            "--",
            "sleep",
            "1000",
        ])
        .success();
    let dir = work_dir(&env, "a");
    assert_eq!(fs::read_to_string(dir.join("deep/er/target")).unwrap(), "uploaded");
    assert_eq!(fs::read_to_string(dir.join("named")).unwrap(), "a\n");
    let windows = env.tmux(["list-windows", "-t", "=mngr-a", "-F", "#{window_name}"]).success().stdout;
    let windows: Vec<&str> = windows.lines().collect();
    assert_eq!(windows[0], "agent");
    assert_eq!(windows.len(), 3);
    assert!(windows.contains(&"log"));
    let agent = agent(&env, "a");
    assert_eq!((&agent["labels"]["team"], &agent["labels"]["project"]), (&"red".into(), &"proj".into()));
}

#[test]
fn templates_and_custom_types_with_parents() {
    let env = env_with_repo();
    let settings = r#"
[agent_types.base]
command = "sh -c 'env > seen; sleep 1000'"
env = { FROM_TYPE = "type" }
extra_provision_command = ["echo base >> provisioned"]

[agent_types.child]
parent_type = "base"
env = { FROM_CHILD = "child" }
create_directory = ["made/here"]

[create_templates.quick]
type = "child"
label = ["kind=quick"]
env = ["FROM_TEMPLATE=template"]
"#;
    let settings_file = env.root().join("settings.toml");
    fs::write(&settings_file, settings).unwrap();
    let profile = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
    let profile = Path::new(profile.trim());
    fs::create_dir_all(profile.parent().unwrap()).unwrap();
    fs::copy(&settings_file, profile).unwrap();
    let _ = env.mngr(["create", "a", "-t", "quick", "--no-connect", "--label", "more=1"]).success();
    let dir = work_dir(&env, "a");
    wait_until(PATIENCE, || {
        fs::read_to_string(dir.join("seen")).is_ok_and(|seen| seen.contains("FROM_TEMPLATE="))
    });
    let seen = fs::read_to_string(dir.join("seen")).unwrap();
    for line in ["FROM_TYPE=type", "FROM_CHILD=child", "FROM_TEMPLATE=template"] {
        assert!(seen.lines().any(|seen| seen == line), "{line} in {seen}");
    }
    assert!(dir.join("made/here").is_dir());
    assert_eq!(fs::read_to_string(dir.join("provisioned")).unwrap(), "base\n");
    let agent = agent(&env, "a");
    assert_eq!(agent["type"], "child");
    assert_eq!((&agent["labels"]["kind"], &agent["labels"]["more"]), (&"quick".into(), &"1".into()));
    let unknown = env.mngr(["create", "b", "-t", "quik", "--no-connect"]).code(2);
    assert!(unknown.stderr.contains("quick"), "{unknown}");
}

#[test]
fn reuse_and_update() {
    let env = env_with_repo();
    create_scripted(&env, "a", &["read", "edit got {message}", "repeat"]);
    let id = text(&agent(&env, "a")["id"]);
    let _ = env.mngr(["stop", "a"]).success();
    let reused = env.mngr(["create", "a", "--reuse", "--no-connect", "--message", "hello"]).success();
    assert!(reused.stdout.contains("Reused agent"), "{reused}");
    let dir = work_dir(&env, "a");
    wait_until(PATIENCE, || fs::read_to_string(dir.join("got")).is_ok_and(|got| got == "hello\n"));
    let _ = env
        .mngr([
            "create",
            "a",
            "--reuse",
            "--update",
            "--no-connect",
            "--env",
            "NEW=1",
            "--extra-provision-command",
            "echo again > again",
        ])
        .success();
    assert_eq!(text(&agent(&env, "a")["id"]), id);
    assert!(dir.join("again").exists());
    assert_eq!(env.mngr(["exec", "a", "echo $NEW"]).success().stdout, "1\n");
    let usage = env.mngr(["create", "a", "--update", "--no-connect"]).code(2);
    assert!(usage.stderr.contains("--reuse"), "{usage}");
}

#[test]
fn a_first_message_is_proved_or_the_agent_is_taken_back() {
    let env = env_with_repo();
    let steps = ["read", "edit got {message}", "hang"];
    let args = ["create", "a", "scripted", "--no-connect", "--message", "do this\nand that", "--"];
    let output = env.mngr(args.into_iter().chain(steps)).success();
    assert!(output.stdout.contains("first message accepted"), "{output}");
    let dir = work_dir(&env, "a");
    wait_until(PATIENCE, || {
        fs::read_to_string(dir.join("got")).is_ok_and(|got| got == "do this\nand that\n")
    });
    let refused = env.mngr(["create", "b", "scripted", "--no-connect", "--message", "a\u{3}b"]).code(2);
    assert!(refused.stderr.contains("control character"), "{refused}");
    assert_eq!(names(&env), ["a"]);
}

#[test]
fn types_that_are_not_there_are_named_as_such() {
    let env = env_with_repo();
    let unknown = env.mngr(["create", "a", "comand", "--no-connect", "--", "true"]).code(1);
    assert!(unknown.stderr.contains("did you mean `command`"), "{unknown}");
    let none = env.mngr(["create", "a", "--no-connect"]).code(2);
    assert!(none.stderr.contains("commands.create.type"), "{none}");
    let elsewhere = env.mngr(["create", "a@.modal", "--no-connect", "--", "true"]).code(1);
    assert!(elsewhere.stderr.contains("not there yet"), "{elsewhere}");
}

#[test]
fn names_are_made_up_in_every_style() {
    let env = env_with_repo();
    for style in ["coolname", "animals", "scientists", "demons"] {
        let args =
            ["create", "--name-style", style, "--no-connect", "--format", "json", "--", "sleep", "1000"];
        let created = env.mngr(args).success().json();
        assert!(!text(&created["agent_name"]).is_empty());
        assert!(text(&created["agent_id"]).starts_with("agent-"));
    }
    assert_eq!(names(&env).len(), 4);
    let _ = env.mngr(["create", "--name-style", "rocks", "--no-connect", "--", "true"]).code(2);
}

#[test]
fn a_creation_that_fails_after_a_commit_keeps_the_branch_and_leaves_nothing_to_warn_of() {
    let env = env_with_repo();
    let commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m A && false";
    let words =
        ["create", "x", "scripted", "--no-connect", "--extra-provision-command", commit, "--", "hang"];
    let failed = env.mngr(words).code(1);
    assert!(failed.stderr.contains("the branch `mngr/x` is kept: it has commits of the agent"), "{failed}");
    assert!(!failed.stderr.contains("not everything could be taken back"), "{failed}");
    let list = env.mngr(["list"]).success();
    assert_eq!((list.stdout.as_str(), list.stderr.as_str()), ("No agents found\n", ""));
    let doctor = env.mngr(["doctor", "--format", "json"]);
    assert!(!doctor.stdout.contains("died before they were done"), "{doctor}");
}
