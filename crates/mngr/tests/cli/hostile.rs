//! Hostile words in every place a user or a script can put one: refused with one clear line, or carried as they are.
//! Never executed, never a panic, never a control character on a terminal.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use mngr_testkit::{CmdOutput, TestEnv};

use crate::support::*;

/// Exists once something hostile was executed.
fn canary(env: &TestEnv) -> PathBuf {
    env.root().join("canary")
}

/// Words that mean something to a shell, tmux, git, TOML, JSON, a terminal or a path.
fn hostile_words(env: &TestEnv) -> Vec<String> {
    let touch = format!("touch {}", canary(env).display());
    vec![
        format!("$({touch})"),
        format!("`{touch}`"),
        format!("';{touch};'"),
        format!("\";{touch};\""),
        format!("x\n{touch}\n"),
        format!("#({touch})"),
        format!("a|{touch}"),
        format!("--upload-pack={touch};"),
        "-oProxyCommand=x".to_owned(),
        "../../../../etc/passwd".to_owned(),
        "\u{1b}]0;title\u{7}\u{1b}[2J".to_owned(),
        "\u{202e}gnp.exe".to_owned(),
        "{0.__class__}{{".to_owned(),
        "a\\".to_owned(),
        String::new(),
        " ".to_owned(),
        "x".repeat(10_000),
        "ü漢🎉".to_owned(),
    ]
}

/// Places for a hostile word, which stands where `@` is.
const PLACES: &[&[&str]] = &[
    &["create", "@", "--no-connect", "--", "true"],
    &["create", "-n", "@", "--no-connect", "--", "true"],
    &["create", "n", "--no-connect", "--label", "@", "--", "true"],
    &["create", "n", "--no-connect", "--label", "k=@", "--", "true"],
    &["create", "n", "--no-connect", "--label", "@=v", "--", "true"],
    &["create", "n", "--no-connect", "--env", "@", "--", "true"],
    &["create", "n", "--no-connect", "--env", "@=v", "--", "true"],
    &["create", "n", "--no-connect", "--env", "K=@", "--", "true"],
    &["create", "n", "--no-connect", "--env-file", "@", "--", "true"],
    &["create", "n", "--no-connect", "--pass-env", "@", "--", "true"],
    &["create", "n", "--no-connect", "--branch", "@", "--", "true"],
    &["create", "n", "--no-connect", "--branch", ":@", "--", "true"],
    &["create", "n", "--no-connect", "--branch", "main:@", "--", "true"],
    &["create", "n", "--no-connect", "--template", "@", "--", "true"],
    &["create", "n", "--no-connect", "--type", "@", "--", "true"],
    &["create", "n", "--no-connect", "--project", "@", "--", "true"],
    &["create", "n", "--no-connect", "--from", "@", "--", "true"],
    &["create", "n", "--no-connect", "--target-path", "@", "--", "true"],
    &["create", "n", "--no-connect", "--transfer", "@", "--", "true"],
    &["create", "n", "--no-connect", "--upload-file", "@:y", "--", "true"],
    &["create", "n", "--no-connect", "--upload-file", "file-1.txt:@", "--", "true"],
    &["create", "n", "--no-connect", "--name-style", "@", "--", "true"],
    &["create", "n", "--no-connect", "--id", "@", "--", "true"],
    &["create", "n", "--no-connect", "--provider", "@", "--", "true"],
    &["create", "n", "--no-connect", "--format", "@", "--", "true"],
    &["create", "n", "--no-connect", "-S", "prefix=@", "--", "true"],
    &["create", "n", "--no-connect", "-S", "@=1", "--", "true"],
    &["create", "n", "--no-connect", "--", "printf", "%s", "@"],
    &["list", "--filter", "@"],
    &["list", "--filter", "name == '@'"],
    &["list", "--sort", "@"],
    &["list", "--fields", "@"],
    &["list", "--format", "@"],
    &["list", "--project", "@"],
    &["list", "-S", "commands.list.fields=@"],
    &["stop", "@"],
    &["start", "@"],
    &["destroy", "--force", "@"],
    &["undo", "@"],
    &["exec", "@", "true"],
    &["message", "@", "-m", "hi"],
    &["connect", "@"],
    &["wait", "@", "--timeout", "1"],
    &["wait", "keeper", "@", "--timeout", "0.01"],
    &["pull", "@"],
    &["pull", "keeper:@"],
    &["push", "@"],
    &["push", "keeper", "@"],
    &["capture", "@"],
    &["explain", "@"],
    &["label", "@", "-l", "k=v"],
    &["label", "keeper", "-l", "@"],
    &["label", "keeper", "-l", "@=v"],
    &["label", "keeper", "-l", "k=@"],
    &["rename", "@", "other"],
    &["rename", "keeper", "@"],
    &["config", "get", "@"],
    &["config", "set", "@", "1"],
    &["config", "set", "commands.list.sort", "@"],
    &["config", "set", "prefix", "@"],
    &["config", "unset", "@"],
    &["gc", "--dry-run", "--provider", "@"],
    &["help", "@"],
    &["@"],
];

/// Places of the plain tools and of those that look after many agents.
const MORE_PLACES: &[&[&str]] = &[
    &["archive", "@"],
    &["unarchive", "@"],
    &["git", "pull", "@"],
    &["rsync", "@", "./copy/"],
    &["rsync", "keeper:@", "./copy/"],
    &["rsync", "./@", "keeper:copy/"],
    &["rsync", "@:x", "./copy/"],
    &["file", "get", "@", "x"],
    &["file", "get", "keeper", "@"],
    &["file", "list", "keeper", "@"],
    &["file", "list", "keeper", "--fields", "@"],
    &["file", "put", "keeper", "new/@", "--input", "/dev/null"],
    &["plugin", "disable", "@", "--scope", "user"],
    &["list", "--disable-plugin", "@"],
    &["cleanup", "--dry-run", "--type", "@"],
    &["cleanup", "--dry-run", "--include", "@"],
    &["cleanup", "--dry-run", "--provider", "@"],
    &["cleanup", "--dry-run", "--older-than", "@"],
    &["observe", "--events-dir", "@", "--format", "json"],
];

fn is_raw_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
}

/// One clear line or success, and nothing else happened.
#[track_caller]
fn assert_tame(env: &TestEnv, output: &CmdOutput) {
    let code = output.status.code().unwrap_or_else(|| panic!("died by a signal: {output}"));
    assert!([0, 1, 2, 8, 9, 125].contains(&code), "{output}");
    let errors = output.stderr.lines().filter(|line| line.starts_with("error: ")).count();
    assert!(errors == usize::from(code != 0 && code != 8), "{errors} error lines: {output}");
    for word in ["panicked", "RUST_BACKTRACE", "unwrap()"] {
        assert!(!output.stderr.contains(word), "{output}");
    }
    assert!(!output.stderr.chars().any(is_raw_control), "{:?}", output.stderr);
    assert!(!output.stdout.chars().any(is_raw_control), "{:?}", output.stdout);
    assert!(!canary(env).exists(), "executed by {output}");
}

/// Puts the word into every place.
fn try_everywhere(env: &TestEnv, places: &[&[&str]], word: &OsStr) {
    for place in places {
        let put_in = |arg: &&str| -> OsString {
            let Some((before, after)) = arg.split_once('@') else { return arg.into() };
            let mut whole = OsString::from(before);
            whole.push(word);
            whole.push(after);
            whole
        };
        let output = env.mngr(place.iter().map(put_in));
        assert_tame(env, &output);
        if output.status.success() {
            undo_success(env, place);
        }
    }
}

/// What was allowed is taken away again, so that the next word meets the same world.
fn undo_success(env: &TestEnv, place: &[&str]) {
    match place {
        ["create", ..] => {
            for name in names(env).iter().filter(|name| *name != "keeper") {
                let _ = env.mngr(["destroy", "--force", name]).success();
            }
            assert!(!canary(env).exists(), "executed by {place:?}");
        }
        ["rename", "keeper", _] => {
            let name = names(env).remove(0);
            let _ = env.mngr(["rename", &name, "keeper"]).success();
        }
        ["config", "set", key, _] if *key != "@" => {
            let _ = env.mngr(["config", "unset", key]).success();
        }
        _ => {}
    }
}

#[test]
fn every_place_for_a_word_takes_hostile_ones() {
    let env = env_with_repo();
    create(&env, "keeper", &["sleep", "1000"]);
    for word in hostile_words(&env) {
        try_everywhere(&env, PLACES, OsStr::new(&word));
    }
    assert_eq!(names(&env), ["keeper"]);
    assert_eq!(state(&env, "keeper"), "RUNNING");
}

#[test]
fn every_place_of_the_plain_tools_takes_hostile_words() {
    let env = env_with_repo();
    create(&env, "keeper", &["sleep", "1000"]);
    for word in hostile_words(&env) {
        try_everywhere(&env, MORE_PLACES, OsStr::new(&word));
    }
    assert_eq!(names(&env), ["keeper"]);
    assert_eq!(state(&env, "keeper"), "RUNNING");
}

#[test]
fn every_place_for_a_word_takes_bytes_that_are_no_text() {
    let env = env_with_repo();
    create(&env, "keeper", &["sleep", "1000"]);
    for places in [PLACES, MORE_PLACES] {
        try_everywhere(&env, places, OsStr::from_bytes(b"a\xff\xfeb"));
    }
    assert_eq!(names(&env), ["keeper"]);
}

#[test]
fn values_are_carried_as_they_are() {
    let env = env_with_repo();
    for (number, word) in hostile_words(&env).iter().enumerate() {
        let name = format!("a{number}");
        let (variable, label) = (format!("CARRIED={word}"), format!("carried={word}"));
        let words =
            ["--", "sh", "-c", "printf %s \"$CARRIED\" >seen; printf %s \"$1\" >given; sleep 1000", "sh"];
        let args = ["create", &name, "--no-connect", "--env", &variable, "--label", &label];
        let created = env.mngr(args.into_iter().chain(words).chain([word.as_str()]));
        if !created.status.success() {
            // A label is one line of text; everything else has to be carried.
            assert!(created.stderr.contains("label"), "{created}");
            assert!(word.is_empty() || word.chars().any(char::is_control) || word.len() > 1000, "{created}");
            continue;
        }
        let dir = work_dir(&env, &name);
        let read = |file: &str| fs::read_to_string(dir.join(file)).unwrap_or_default();
        wait_until(PATIENCE, || dir.join("given").exists() && read("given") == *word);
        assert_eq!(read("seen"), *word);
        assert_eq!(text(&agent(&env, &name)["labels"]["carried"]), *word);
        let env_of = env.mngr(["exec", &name, "printf %s \"$CARRIED\""]).success();
        assert_eq!(env_of.stdout, *word);
        assert!(!canary(&env).exists(), "executed: {word:?}");
    }
    // A restart reads everything back from the disk.
    let _ = env.mngr(["start", "--restart", "a0"]).success();
    let first = &hostile_words(&env)[0];
    assert_eq!(env.mngr(["exec", "a0", "printf %s \"$CARRIED\""]).success().stdout, *first);
    assert!(!canary(&env).exists());
}

#[test]
fn a_folder_named_like_a_program_is_only_a_folder() {
    let env = env();
    for (number, name) in ["#(touch canary)", "a;", "$(touch canary)", "-n", "it's \"here\"", "#{pane_id}"]
        .into_iter()
        .enumerate()
    {
        let repo = env.repo_at(name, 1);
        for (mode, transfer) in [("in", "none"), ("wt", "git-worktree")] {
            let agent_name = format!("{mode}{number}");
            let words =
                ["--no-connect", "-w", "second=sleep 1000", "--", "sh", "-c", "pwd >here; sleep 1000"];
            let args = ["create", &agent_name, "--transfer", transfer];
            let _ = env.mngr_in(repo.path(), args.into_iter().chain(words)).success();
            let dir = work_dir(&env, &agent_name);
            wait_until(PATIENCE, || {
                fs::read_to_string(dir.join("here")).is_ok_and(|text| text.ends_with('\n'))
            });
            assert_eq!(fs::read_to_string(dir.join("here")).unwrap().trim_end(), dir.to_str().unwrap());
            fs::remove_file(dir.join("here")).unwrap();
            assert!(
                !repo.path().join("canary").exists() && !env.work_dir().join("canary").exists(),
                "{name}"
            );
        }
    }
}

#[test]
fn settings_with_hostile_keys_and_values_are_one_error_that_names_the_file() {
    let env = env_with_repo();
    let path = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
    let file = PathBuf::from(path.trim());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let cases = [
        "prefix = \"a b\"\n",
        "\"\\u001b[2J\" = 1\n",
        "[agent_types.\"$(x)\"]\ncommand = 'true'\n",
        "prefix = \"unclosed\n",
        "prefix = [1, 2]\n",
        "[[[\n",
        "\u{0}\u{1}",
        "prefix = 1e999\n",
    ];
    for text in cases {
        fs::write(&file, text).unwrap();
        for verb in ["list", "gc"] {
            let output = env.mngr([verb]);
            assert_tame(&env, &output);
            let told = output.status.success() || output.stderr.contains("settings.toml");
            assert!(told, "{text:?}: {output}");
        }
    }
    fs::write(&file, b"prefix = \"\xff\"\n").unwrap();
    let output = env.mngr(["list"]).code(1);
    assert_tame(&env, &output);
    assert!(output.stderr.contains("settings.toml"), "{output}");
}
