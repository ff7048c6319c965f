//! A state folder that takes no more: one clear error that names the path, every file whole, and nothing left over.
//!
//! No disk is filled: a limit on the size of files (`ulimit -f`) makes every write fail, for root too.

use std::fs;
use std::path::{Path, PathBuf};

use mngr_testkit::{CmdOutput, TestEnv};

use crate::support::*;

/// Runs the binary where no file can grow beyond `blocks` of 512 bytes.
#[track_caller]
pub(crate) fn mngr_without_space(env: &TestEnv, blocks: u32, args: &[&str]) -> CmdOutput {
    let binary = env.mngr_cmd().get_program().to_owned();
    let mut command = env.command("sh");
    // Ignored, the signal becomes the error `File too large`, which is what a full disk looks like to a program.
    command
        .args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "sh"])
        .arg(binary)
        .args(args);
    env.run(command)
}

/// Every file below a folder with its contents.
fn picture(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(picture(&path)),
            kind if kind.is_file() => found.push((path.clone(), fs::read(&path).unwrap())),
            _ => {}
        }
    }
    found.sort();
    found
}

#[track_caller]
fn assert_one_error_that_names(output: &CmdOutput, path: &Path) {
    assert_eq!(output.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{output}");
    assert!(output.stderr.contains(path.to_str().unwrap()), "{output}");
    assert!(!output.stderr.contains("panicked"), "{output}");
}

#[test]
fn an_agent_whose_creation_cannot_be_told_is_said_to_exist() {
    let env = env_with_repo();
    for format in ["human", "json"] {
        let name = format!("a-{format}");
        let mut command = env.mngr_cmd();
        command.args([
            "create",
            &name,
            "--type",
            "command",
            "--no-connect",
            "--format",
            format,
            "--",
            "sleep",
            "1000",
        ]);
        let output = command.stdout(fs::File::create("/dev/full").unwrap()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("agent `{name}` exists all the same")), "{said}");
        assert!(names(&env).contains(&name));
    }
}

#[test]
fn nothing_is_torn_and_nothing_is_left() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["config", "set", "commands.list.sort", "name", "--scope", "user"]).success();
    let host = env.host_dir();
    let state = state_dir(&env, "a");
    let before = picture(&host);
    let verbs: [(&[&str], PathBuf); 7] = [
        (&["label", "a", "-l", "k=v"], state.join("data.json")),
        (&["rename", "a", "b"], state.clone()),
        (&["config", "set", "commands.list.sort", "state", "--scope", "user"], host.clone()),
        (&["stop", "a"], state.join("process")),
        (&["destroy", "--force", "a"], host.clone()),
        (&["create", "new", "--no-connect", "--", "sleep", "1000"], host.clone()),
        (&["create", "new", "--no-connect", "--transfer", "none", "--", "sleep", "1000"], host.clone()),
    ];
    for (args, path) in verbs {
        let output = mngr_without_space(&env, 0, args);
        assert!(matches!(output.status.code(), Some(1 | 4)), "{output}");
        assert_one_error_that_names(&output, &path);
        assert_eq!(names(&env), ["a"], "{args:?}");
        assert_eq!(state_of_files(&before), state_of_files(&picture(&host)), "{args:?}");
    }
    assert_eq!(crate::support::state(&env, "a"), "RUNNING");
    // Space is back: everything works, as if nothing had been.
    let _ = env.mngr(["label", "a", "-l", "k=v"]).success();
    create(&env, "new", &["sleep", "1000"]);
    let _ = env.mngr(["destroy", "--force", "a", "new"]).success();
    let _ = env.mngr(["undo", "a"]).success();
}

/// Locks are empty files that stay, and the log tells of every command; everything else has to be as it was.
fn state_of_files(files: &[(PathBuf, Vec<u8>)]) -> Vec<(PathBuf, String)> {
    let is_passed_over = |path: &Path| {
        path.to_str().unwrap().ends_with("lock") || path.ends_with("events/logs/mngr/events.jsonl")
    };
    let shown =
        |(path, bytes): &(PathBuf, Vec<u8>)| (path.clone(), String::from_utf8_lossy(bytes).into_owned());
    files.iter().filter(|(path, _)| !is_passed_over(path)).map(shown).collect()
}

#[test]
fn space_that_runs_out_in_the_middle_of_a_create_leaves_nothing() {
    let env = env();
    let repo = env.repo(1);
    repo.write("large", &"x".repeat(200_000));
    let _ = repo.commit("large");
    for blocks in [1, 2, 8, 64, 256] {
        let output =
            mngr_without_space(&env, blocks, &["create", "a", "--no-connect", "--", "sleep", "1000"]);
        assert!(!output.status.success(), "{blocks}: {output}");
        assert_eq!(output.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{output}");
        assert_eq!(names(&env), Vec::<String>::new(), "{blocks}");
        for folder in ["agents", "worktrees", "journal"] {
            let left = fs::read_dir(env.host_dir().join(folder)).map_or(0, Iterator::count);
            assert_eq!(left, 0, "{blocks}: `{folder}` is not empty");
        }
        assert_eq!(repo.branches(), ["main"], "{blocks}");
    }
    create(&env, "a", &["sleep", "1000"]);
}

#[test]
fn a_log_that_takes_no_more_holds_whole_lines_and_harms_no_command() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let folder = env.host_dir().join("events/logs/mngr");
    let log = folder.join("events.jsonl");
    // Almost as long as a file may be: the next line is cut off in the middle.
    let mut text = fs::read_to_string(&log).unwrap();
    let limit = text.len().next_multiple_of(512) + 1024;
    text += &format!("{{\"type\":\"{}\"}}\n", "x".repeat(limit - 60 - text.len()));
    fs::write(&log, &text).unwrap();
    let blocks = u32::try_from(limit / 512).unwrap();
    let listed = mngr_without_space(&env, blocks, &["list", "--format", "{name}"]).success();
    assert_eq!((listed.stdout.as_str(), listed.stderr.as_str()), ("a\n", ""));
    assert_eq!(fs::read_to_string(&log).unwrap(), text, "half a line is no line");

    let aside = ["list", "-S", "logging.max_log_size_mb=0", "--format", "{name}"];
    assert_eq!(mngr_without_space(&env, 0, &aside).success().stderr, "");
    assert_eq!(fs::read_to_string(folder.join("events.jsonl.1")).unwrap(), text, "the old lines are aside");
    let _ = env.mngr(["list"]).success();
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 2, "and new ones come with the space");
}

#[test]
fn a_host_dir_that_cannot_be_made_is_one_error() {
    let mut env = env_with_repo();
    fs::write(env.root().join("file"), "").unwrap();
    let impossible = env.root().join("file/host");
    env.set_var("MNGR_HOST_DIR", &impossible);
    for args in [&["list"][..], &["create", "a", "--no-connect", "--", "true"], &["gc"]] {
        let output = env.mngr(args).code(1);
        assert_one_error_that_names(&output, &impossible);
    }
}
