//! Where people who are new to mngr once had to stop: what they are told there leads on.

use std::fs;
use std::os::unix::fs::symlink;

use mngr_testkit::{Surroundings, TestEnv};

use crate::support::*;

/// The programs that mngr itself needs, but for tmux.
fn without_tmux(env: &mut TestEnv) {
    let bin = env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["git", "sh"] {
        let mut which = env.command("sh");
        which.args(["-c", &format!("command -v {program}")]);
        symlink(env.run(which).success().stdout.trim(), bin.join(program)).unwrap();
    }
    env.set_var("PATH", bin);
}

#[test]
fn without_tmux_nothing_is_made_and_its_package_is_named() {
    let mut env = env_with_repo();
    without_tmux(&mut env);
    let refused = env.mngr(["create", "a", "--no-connect", "--", "sh"]).code(1);
    assert!(refused.stderr.contains("error: `tmux` is not installed\n"), "{refused}");
    assert!(refused.stderr.contains("the package is called `tmux`"), "{refused}");
    let mut branches = env.command("git");
    branches.args(["branch", "--list", "mngr/*"]);
    assert_eq!(env.run(branches).success().stdout, "");
    let listed = env.mngr(["list"]).success();
    assert_eq!((listed.stdout.as_str(), listed.stderr.as_str()), ("No agents found\n", ""));
}

#[test]
fn wrong_words_lead_to_the_right_ones() {
    let env = env();
    for (word, verb) in [("status", "list"), ("new", "create"), ("attach", "connect"), ("kill", "stop")] {
        let refused = env.mngr([word]).code(2);
        assert!(refused.stderr.contains(&format!("hint: `mngr {verb}")), "{refused}");
        assert!(!refused.stderr.contains("did you mean"), "{refused}");
    }
    for args in [&["list", "--fields", "name,bogus"][..], &["list", "--sort", "bogus"]] {
        let refused = env.mngr(args).code(2);
        assert!(refused.stderr.contains("`mngr list --schema` shows all fields"), "{refused}");
    }
    let value = env.mngr(["config", "set", "headless", "maybe", "--scope", "user"]).code(1);
    assert!(value.stderr.contains("`mngr config list --schema` shows every key"), "{value}");
    let group = env.mngr(["file"]).code(2);
    assert!(group.stderr.contains("Missing command: one of get, list, put\n"), "{group}");
}

#[test]
fn mngr_alone_shows_first_steps_that_fit_a_small_terminal() {
    let env = env();
    let terminal = env.terminal(Surroundings::Plain, [""; 0]);
    assert_eq!(terminal.wait_for_exit(), 0);
    let screen = terminal.screen();
    assert!(screen.contains("mngr create fix-login"), "{screen}");
    assert!(screen.contains("`mngr --help` shows all commands"), "{screen}");
    assert!(screen.trim_end().lines().count() < 24, "{screen}");
}

#[test]
fn a_destroyed_agent_is_found_again_and_started() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    let gone = env.mngr(["message", "a", "hello"]).code(9);
    assert!(gone.stderr.contains("`mngr undo` the destroyed ones"), "{gone}");
    let listed = env.mngr(["undo"]).success();
    assert!(listed.stderr.contains("To bring one back: mngr undo NAME"), "{listed}");
    let back = env.mngr(["undo", "a"]).success();
    assert!(back.stderr.contains("To start it: mngr start a\n"), "{back}");
    let _ = env.mngr(["start", "a"]).success();
}

#[test]
fn whoever_waits_for_the_end_of_an_agent_that_waits_is_told() {
    let env = env_with_repo();
    create_scripted(&env, "a", &["ask is that all?"]);
    let _ = env.mngr(["wait", "a", "WAITING", "--timeout", "20s"]).success();
    let late = env.mngr(["wait", "a", "--timeout", "10ms"]).code(8);
    assert!(late.stderr.contains("`mngr wait a WAITING` ends when it waits"), "{late}");
    let chosen = env.mngr(["wait", "a", "DONE", "--timeout", "10ms"]).code(8);
    assert!(!chosen.stderr.contains("waits for you"), "{chosen}");
}

#[test]
fn the_menu_says_what_an_agent_waits_for() {
    let env = env_with_repo();
    create_scripted(&env, "asks", &["ask is that all?"]);
    create(&env, "works", &["sleep", "1000"]);
    let _ = env.mngr(["wait", "asks", "WAITING", "--timeout", "20s"]).success();
    let terminal = env.terminal(Surroundings::Plain, ["connect"]);
    let screen = terminal.wait_for("WAITING (QUESTION)");
    assert!(screen.contains("RUNNING"), "{screen}");
    terminal.send_keys(["C-c"]);
    let _ = terminal.wait_for_exit();
}

#[test]
fn nobody_writes_a_message_to_an_agent_that_is_not_there() {
    let mut env = env_with_repo();
    env.set_var("EDITOR", "touch opened");
    let terminal = env.terminal(Surroundings::Plain, ["message", "nobody"]);
    assert_eq!(terminal.wait_for_exit(), 9);
    assert!(!env.work_dir().join("opened").exists());
}

#[test]
fn a_message_written_in_an_editor_is_not_lost_when_it_cannot_be_sent() {
    let mut env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "a"]).success();
    env.set_var("EDITOR", "sh -c 'echo \"$1\" >opened; echo my thoughts >\"$1\"' sh");
    let terminal = env.terminal(Surroundings::Plain, ["message", "a"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(terminal.screen().contains("your message is kept in"), "{}", terminal.screen());
    let kept = fs::read_to_string(env.host_dir().join("recovered-message.txt")).unwrap();
    assert_eq!(kept, "my thoughts\n");
    let file = fs::read_to_string(env.work_dir().join("opened")).unwrap();
    assert!(file.contains("message-to-a"), "the editor shows what it is for: {file}");

    env.set_var("EDITOR", "true");
    let terminal = env.terminal(Surroundings::Plain, ["message", "a"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(terminal.screen().contains("nothing was sent"), "{}", terminal.screen());
}

#[test]
fn what_create_cannot_work_with_is_said_with_a_way_out() {
    let env = env();
    let mut init = env.command("git");
    init.args(["init", "--quiet"]);
    let _ = env.run(init).success();
    let create = |address: &str| env.mngr(["create", address, "--no-connect", "--", "sh"]);
    let variable = env.mngr(["create", "a", "--env", "COLOUR", "--no-connect", "--", "sh"]).code(2);
    assert!(variable.stderr.contains("Invalid value for `--env`: `COLOUR` has no value"), "{variable}");
    let empty = create("a").code(1);
    assert!(empty.stderr.contains("git commit --allow-empty"), "{empty}");
    let host = create("a@nowhere").code(9);
    assert!(host.stderr.contains("`mngr list --hosts` shows all hosts"), "{host}");
    let provider = create("a@.dokcer").code(1);
    assert!(provider.stderr.contains("did you mean `docker`?"), "{provider}");
}

#[test]
fn leaving_a_watched_listing_is_no_error() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    for args in [&["list", "--watch"][..], &["observe"]] {
        let terminal = env.terminal(Surroundings::Plain, args);
        let _ = terminal.wait_for(if args[0] == "list" { "RUNNING" } else { "in all" });
        terminal.send_keys(["C-c"]);
        assert_eq!(terminal.wait_for_exit(), 130);
        assert!(!terminal.screen().contains("error"), "{}", terminal.screen());
    }
}

#[test]
fn a_machine_spelled_as_ssh_spells_it_leads_to_the_ssh_config() {
    let env = env_with_repo();
    for (address, code) in [("a@192.0.2.7", 2), ("a@me@machine", 2), ("a@unheard-of", 9)] {
        let refused = env.mngr(["create", address, "--no-connect", "--", "sh"]).code(code);
        assert!(refused.stderr.contains("`Host` in your ssh config"), "{refused}");
    }
    let host = env.mngr(["stop", "localhost"]).code(9);
    assert!(host.stderr.contains("not found; `@localhost.local` is a host\n"), "{host}");
}

#[test]
fn without_an_engine_nothing_is_begun_and_nobody_is_warned_afterwards() {
    let mut env = env_with_repo();
    let socket = env.root().join("no-engine.sock");
    env.set_var("DOCKER_HOST", format!("unix://{}", socket.display()));
    for _ in 0..2 {
        let refused = env.mngr(["create", "a@.docker", "--no-connect", "--", "sh"]).code(1);
        assert!(refused.stderr.contains("hint: is Docker running?"), "{refused}");
        assert!(!refused.stderr.contains("warning:"), "{refused}");
    }
    let listed = env.mngr(["list"]).success();
    assert_eq!((listed.stdout.as_str(), listed.stderr.as_str()), ("No agents found\n", ""));

    // What an earlier version left there goes by itself.
    let id = "agent-0123456789abcdef0123456789abcdef";
    let head = format!(
        "{{\"operation\":\"make_host\",\"agent_id\":\"{id}\",\"name\":\"a\",\"started\":\"2026-01-01T00:00:00Z\"}}"
    );
    let step = "{\"step\":\"host\",\"provider\":\"docker\",\"id\":\"host-0123456789abcdef0123456789abcdef\",\"is_copy\":false}";
    let journal = env.host_dir().join("journal").join(format!("{id}.jsonl"));
    fs::create_dir_all(journal.parent().unwrap()).unwrap();
    fs::write(&journal, format!("{head}\n{step}\n")).unwrap();
    let _ = env.mngr(["list"]).success();
    assert!(!journal.exists(), "an entry for which nothing was made is dropped");
    assert_eq!(env.mngr(["list"]).success().stderr, "");
}

#[test]
fn a_pull_names_what_the_agent_has_not_committed() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    fs::write(work_dir(&env, "a").join("draft.txt"), "x").unwrap();
    let pulled = env.mngr(["pull", "a", "--merge"]).success();
    assert!(
        pulled.stdout.contains("Not pulled: agent a has not committed 1 file\n  draft.txt\n"),
        "{pulled}"
    );
    assert!(pulled.stdout.contains("To get them too: mngr pull a --sync-mode full\n"), "{pulled}");
    let json = env.mngr(["pull", "a", "--format", "json"]).success().json();
    assert_eq!(json["not_committed"], serde_json::json!(["draft.txt"]));
    let _ = env.mngr(["pull", "a", "--sync-mode", "full"]).success();
    assert!(env.work_dir().join("draft.txt").exists());
}

#[test]
fn settings_that_mngr_writes_keep_nobody_from_creating() {
    let env = env_with_repo();
    let set = env.mngr(["config", "set", "commands.list.sort", "name"]).success();
    assert!(set.stdout.contains("in project ("), "{set}");
    let made = env.mngr(["create", "a", "--no-connect", "--", "sleep", "1000"]).success();
    assert!(!made.stderr.contains("untracked"), "{made}");
    let _ = env.mngr(["config", "unset", "commands.list.sort"]).success();
    assert!(!env.work_dir().join(".mngr/settings.toml").exists(), "an empty file goes");
}

#[test]
fn untracked_files_are_named_and_stop_nobody() {
    let env = env();
    let repo = env.repo(1);
    repo.write("stray.log", "x");
    let made = env.mngr(["create", "a", "--no-connect", "--", "sleep", "1000"]).success();
    assert!(made.stderr.contains("untracked file is not in the agent's folder: stray.log"), "{made}");
    let asked = env.mngr(["create", "b", "--ensure-clean", "--no-connect", "--", "sh"]).code(1);
    assert!(asked.stderr.contains("uncommitted changes (1): stray.log"), "{asked}");
    let tracked = repo.git(["ls-files"]).success().stdout.lines().next().expect("a tracked file").to_owned();
    repo.write(&tracked, "changed");
    let changed = env.mngr(["create", "c", "--no-connect", "--", "sh"]).code(1);
    assert!(changed.stderr.contains("uncommitted changes (2)"), "{changed}");
}

#[test]
fn archived_agents_are_hidden_from_people_and_from_no_script() {
    let env = env_with_repo();
    create(&env, "old", &["true"]);
    create(&env, "new", &["sleep", "1000"]);
    wait_for_state(&env, "old", "DONE");
    let _ = env.mngr(["archive", "old"]).success();
    let shown = env.mngr(["list"]).success();
    assert!(shown.stdout.contains("new") && !shown.stdout.contains("old"), "{shown}");
    assert!(shown.stderr.contains("1 archived agent is hidden; `mngr list --all` shows all"), "{shown}");
    for all in
        [&["list", "--all"][..], &["list", "--archived"], &["list", "--addrs"], &["list", "--format", "json"]]
    {
        let shown = env.mngr(all).success();
        assert!(shown.stdout.contains("old") && !shown.stderr.contains("hidden"), "{shown}");
    }
}

#[test]
fn a_listing_of_this_machine_says_nothing_of_hosts_and_times_are_relative() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let shown = env.mngr(["list"]).success();
    assert!(shown.stdout.starts_with("NAME") && !shown.stdout.contains("PROVIDER"), "{shown}");
    let typed = env.mngr(["list", "--fields", "name,host.provider,state_since,idle"]).success();
    let row = typed.stdout.lines().nth(1).unwrap();
    assert!(row.contains("local") && row.contains("s ago"), "{typed}");
    assert!(!row.contains('T') && !row.contains('.'), "no exact times: {typed}");
    let exact = env.mngr(["list", "--fields", "state_since", "--format", "json"]).success().json();
    assert!(exact["agents"][0]["state_since"].as_str().unwrap().contains('T'), "{exact}");
}

#[test]
fn waiting_agents_are_listed_and_all_are_stopped_and_destroyed() {
    let env = env_with_repo();
    create_scripted(&env, "asks", &["ask is that all?"]);
    create(&env, "works", &["sleep", "1000"]);
    let _ = env.mngr(["wait", "asks", "waiting", "--timeout", "20s"]).success();
    assert_eq!(env.mngr(["list", "--waiting", "--addrs"]).success().stdout, "asks@localhost.local\n");
    let hint = env.mngr(["list", "--json"]).code(2);
    assert!(hint.stderr.contains("`--format json`"), "{hint}");
    let stopped = env.mngr(["stop", "--all"]).success();
    assert!(stopped.stdout.contains("asks") && stopped.stdout.contains("works"), "{stopped}");
    let _ = env.mngr(["label", "works", "team=web"]).success();
    assert_eq!(
        env.mngr(["list", "--label", "team=web", "--addrs"]).success().stdout,
        "works@localhost.local\n"
    );
    let _ = env.mngr(["destroy", "--all", "--force"]).success();
    assert_eq!(env.mngr(["list"]).success().stdout, "No agents found\n");
}

#[test]
fn leaving_a_menu_prints_nothing() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    create(&env, "b", &["sleep", "1000"]);
    let terminal = env.terminal(Surroundings::Plain, ["connect"]);
    let _ = terminal.wait_for("Connect to which agent?");
    terminal.send_keys(["Escape"]);
    assert_eq!(terminal.wait_for_exit(), 130);
    assert!(!terminal.screen().contains("error"), "{}", terminal.screen());
}

#[test]
fn types_of_an_untrusted_clone_keep_nobody_from_looking_and_are_shown_before_they_are_trusted() {
    let env = env_with_repo();
    fs::create_dir_all(env.work_dir().join(".mngr")).unwrap();
    let text = "[agent_types.mine]\nparent_type = 'command'\n";
    fs::write(env.work_dir().join(".mngr/settings.toml"), text).unwrap();
    let listed = env.mngr(["list"]).success();
    assert!(listed.stderr.contains("`agent_types.mine.parent_type` is ignored"), "{listed}");
    let stopped = env.mngr(["create", "a", "mine", "--no-connect", "--", "sh"]).code(1);
    assert!(stopped.stderr.contains("mngr config trust"), "{stopped}");
    let terminal = env.terminal(Surroundings::Plain, ["config", "trust"]);
    let screen = terminal.wait_for("Trust these settings?");
    assert!(screen.contains("agent_types.mine.parent_type = \"command\""), "{screen}");
    terminal.send_keys(["n", "Enter"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(env.mngr(["list"]).success().stderr.contains("is ignored"), "nothing was trusted");
    let trusted = env.mngr(["config", "trust"]).success();
    assert!(trusted.stdout.contains("agent_types.mine.parent_type = \"command\""), "{trusted}");
    assert_eq!(env.mngr(["list"]).success().stderr, "");
}

#[test]
fn an_editor_needs_a_terminal() {
    let mut env = env_with_repo();
    env.set_var("EDITOR", "");
    env.set_var("VISUAL", "");
    let refused = env.mngr(["config", "edit", "--scope", "user"]).code(1);
    assert!(refused.stderr.contains("there is no terminal to edit"), "{refused}");
}

#[test]
fn the_folder_of_a_run_leads_to_its_report() {
    let env = env_with_repo();
    let run = env.root().join("my-run");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("run.jsonl"), "").unwrap();
    let refused = env.mngr(["view", &run.display().to_string()]).code(1);
    assert!(refused.stderr.contains("`mngr tmr report my-run` shows it"), "{refused}");
}

#[test]
fn doctor_notices_that_git_does_not_know_who_commits() {
    let mut env = env_with_repo();
    env.set_var("GIT_AUTHOR_NAME", "");
    env.set_var("GIT_CONFIG_GLOBAL", "/dev/null");
    env.set_var("GIT_CONFIG_COUNT", "1");
    env.set_var("GIT_CONFIG_KEY_0", "user.useConfigOnly");
    env.set_var("GIT_CONFIG_VALUE_0", "true");
    let told = env.mngr(["doctor"]);
    assert!(told.stdout.contains("git does not know your name"), "{told}");
}
