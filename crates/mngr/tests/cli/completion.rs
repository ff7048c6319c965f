//! Completion, in the shells themselves: a TAB is pressed, or the shell's own way to ask is used.

use std::fs;
use std::os::unix::fs::symlink;

use mngr_testkit::{Terminal, TestEnv};

use crate::support::*;

/// An environment where a shell finds the binary as `mngr`, with an agent called `fix-login`.
fn with_an_agent() -> TestEnv {
    let mut env = env_with_repo();
    let bin = env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_mngr"), bin.join("mngr")).unwrap();
    env.set_var("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    create(&env, "fix-login", &["sleep", "1000"]);
    fs::write(env.work_dir().join("notes-of-mine.md"), "").unwrap();
    env
}

/// What one TAB makes of a line.
#[track_caller]
fn completes(terminal: &Terminal<'_>, typed: &str, expected: &str) {
    terminal.send_text(typed);
    terminal.send_keys(["Tab"]);
    // A word that is complete has a space behind it: the cursor shows where.
    terminal.send_text("<here");
    terminal.wait_for(&format!("$ {expected}<here"));
    // An empty line on an empty screen, in either shell.
    terminal.send_keys(["C-u", "C-l"]);
}

/// The lines that every shell completes alike.
const LINES: &[(&str, &str)] = &[
    ("mngr capt", "mngr capture "),
    ("mngr config tr", "mngr config trust "),
    ("mngr list --runn", "mngr list --running "),
    ("mngr list --format=jsonl", "mngr list --format=jsonl "),
    ("mngr stop fix", "mngr stop fix-login "),
    ("mngr stop fix-login@", "mngr stop fix-login@localhost.local "),
    ("mngr create new@localh", "mngr create new@localhost "),
    ("mngr list -S tmux.user_c", "mngr list -S tmux.user_config="),
    ("mngr list -S tmux.user_config=t", "mngr list -S tmux.user_config=true "),
    ("mngr create --branch mngr/f", "mngr create --branch mngr/fix-login "),
    ("mngr create x --message-file notes", "mngr create x --message-file notes-of-mine.md "),
    ("mngr list --ids | mngr stop fix", "mngr list --ids | mngr stop fix-login "),
];

#[test]
fn bash_completes_what_is_typed() {
    let env = with_an_agent();
    let terminal = env.terminal_of("bash", ["--norc", "-i"]);
    terminal.send_text("PS1='$ '; source <(mngr completion bash); clear");
    terminal.send_keys(["Enter"]);
    for (typed, expected) in LINES {
        completes(&terminal, typed, expected);
    }
}

#[test]
fn zsh_completes_what_is_typed() {
    let env = with_an_agent();
    let terminal = env.terminal_of("zsh", ["-f", "-i"]);
    terminal.send_text("PS1='$ '; autoload -Uz compinit; compinit -u; source <(mngr completion zsh); clear");
    terminal.send_keys(["Enter"]);
    for (typed, expected) in LINES {
        completes(&terminal, typed, expected);
    }
}

#[test]
fn fish_completes_what_is_typed() {
    let env = with_an_agent();
    for (typed, expected) in LINES {
        let mut command = env.command("fish");
        command
            .args(["--no-config", "-c", "mngr completion fish | source; complete -C \"$argv\""])
            .arg(typed);
        let offered = env.run(command).success().stdout;
        let words: Vec<&str> = offered.lines().filter_map(|line| line.split('\t').next()).collect();
        let expected = expected.trim_end().rsplit(' ').next().unwrap();
        assert_eq!(words, [expected], "{typed}");
    }
}

#[test]
fn zsh_loads_what_was_installed() {
    let env = with_an_agent();
    let rc = env.home().join(".zshrc");
    fs::write(&rc, "autoload -Uz compinit; compinit -u\nPS1='$ '").unwrap();
    let said = env.mngr(["completion", "install", "zsh"]).success().stdout;
    assert!(said.contains("add this line to"), "{said}");
    assert!(!fs::read_to_string(&rc).unwrap().contains("mngr"), "the user's file is left alone");
    let _ = env.mngr(["completion", "install", "zsh", "--rc"]).success();
    let once = fs::read_to_string(&rc).unwrap();
    let again = env.mngr(["completion", "install", "zsh", "--rc", "--format", "json"]).success().json();
    assert_eq!(
        (&again["changed"], &again["rc_changed"], &again["loaded"]),
        (&false.into(), &false.into(), &true.into())
    );
    assert_eq!(fs::read_to_string(&rc).unwrap(), once, "twice changes nothing");
    let terminal = env.terminal_of("zsh", ["-i"]);
    terminal.wait_for("$");
    completes(&terminal, "mngr stop fix", "mngr stop fix-login ");
}

#[test]
fn agents_of_other_hosts_are_offered_as_they_were_last_seen() {
    let env = with_an_agent();
    let record = fs::read_dir(env.host_dir().join("agents")).unwrap().next().unwrap().unwrap().path();
    let record = fs::read_to_string(record.join("data.json")).unwrap();
    let seen = env.host_dir().join("cache/hosts/lab/box");
    fs::create_dir_all(&seen).unwrap();
    let elsewhere = record.replace("fix-login", "far-away");
    fs::write(seen.join("host-1.agents.json"), format!("[{elsewhere}]")).unwrap();
    let words = |typed: &[&str]| {
        let args = ["__complete", "words"].iter().chain(typed).copied().collect::<Vec<_>>();
        let answer = env.mngr(args).success().stdout;
        answer.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words(&["stop", "far"]), ["far-away\tcommand on box.lab"]);
    assert_eq!(words(&["stop", "far-away@"]), ["far-away@box.lab\tcommand on box.lab"]);
    assert_eq!(words(&["create", "new@bo"]), ["new@box\thost of lab"]);
    // The same name in two places: the name alone would not do.
    fs::write(seen.join("host-1.agents.json"), format!("[{record}]")).unwrap();
    let both = words(&["stop", "fix"]);
    assert_eq!(both, ["fix-login@box.lab\tcommand on box.lab", "fix-login@localhost.local\tcommand"]);
}

#[test]
fn paths_in_the_work_dir_of_an_agent_are_offered() {
    let env = with_an_agent();
    let answer = env.mngr(["__complete", "words", "pull", "fix-login:"]).success().stdout;
    assert!(answer.starts_with("open\n") && answer.contains("\nfix-login:dir-0/\n"), "{answer}");
}

#[test]
fn nothing_is_written_and_nothing_is_said_when_there_is_no_state() {
    let env = env();
    fs::remove_dir_all(env.host_dir()).unwrap();
    let answer = env.mngr(["__complete", "words", "stop", ""]).success();
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("words\n", ""));
    assert!(!env.host_dir().exists());
    fs::create_dir_all(env.host_dir()).unwrap();
}

#[test]
fn without_a_word_the_script_is_that_of_the_users_shell() {
    let mut env = env();
    let unknown = env.mngr(["completion"]).code(2);
    assert!(unknown.stderr.contains("it is one of bash, zsh, fish"), "{unknown}");
    env.set_var("SHELL", "/usr/bin/fish");
    assert!(env.mngr(["completion"]).success().stdout.contains("function __mngr_complete"));
    let json = env.mngr(["completion", "zsh", "--format", "json"]).success().json();
    assert_eq!(json["shell"], "zsh");
}
