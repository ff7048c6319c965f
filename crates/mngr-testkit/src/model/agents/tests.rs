//! The real agents against the real server, each with one question on its command line.

use std::time::Duration;

use super::*;
use crate::model::Scenario;
use crate::{Surroundings, wait_until};

/// Runs the agent's program with one message and returns what it printed.
fn answer(brand: Brand, args: &[&str]) -> (String, Vec<String>) {
    let agents = Agents::installed();
    let model = ModelServer::start();
    let mut env = TestEnv::new(agents.bin.join(brand.program()));
    env.repo(1);
    agents.set_up(brand, FirstStart::Over, &mut env, &model);
    let output = env.mngr(args).success();
    (output.stdout, model.user_texts())
}

#[test]
fn real_claude_gets_an_answer_from_the_server() {
    let (answer, asked) = answer(Brand::Claude, &["-p", "hello claude"]);
    assert_eq!(answer.trim(), "You said: hello claude");
    assert_eq!(asked, ["hello claude"]);
}

#[test]
fn real_codex_gets_an_answer_from_the_server() {
    let (answer, asked) = answer(Brand::Codex, &["exec", "hello codex"]);
    assert_eq!(answer.trim(), "You said: hello codex");
    assert_eq!(asked, ["hello codex"]);
}

#[test]
fn real_opencode_gets_an_answer_from_the_server() {
    let (answer, asked) = answer(Brand::Opencode, &["run", "hello opencode"]);
    assert!(answer.contains("You said: hello opencode") || answer.contains("You said: \"hello opencode\""));
    assert_eq!(asked.len(), 1, "{asked:?}");
}

#[test]
fn real_claude_starts_without_a_dialog_and_asks_before_it_runs_a_command() {
    let agents = Agents::installed();
    let model = ModelServer::start();
    model.set_scenario(Scenario::Tool { command: "touch made".into() });
    let mut env = TestEnv::new(agents.bin.join("claude"));
    env.repo(1);
    agents.set_up(Brand::Claude, FirstStart::Over, &mut env, &model);
    let terminal = env.terminal(Surroundings::Plain, [""; 0]);
    terminal.wait_for("auto mode on");
    terminal.send_text("go");
    terminal.send_keys(["Enter"]);
    terminal.wait_for("Do you want to proceed?");
    let made = env.work_dir().join("made");
    assert!(!made.exists());
    // The dialog does not listen in its first moments, so that nobody answers it by accident.
    let answered = wait_until(Duration::from_secs(20), || {
        terminal.send_keys(["Enter"]);
        wait_until(Duration::from_millis(300), || made.exists())
    });
    assert!(answered, "{}", terminal.screen());
    terminal.wait_for("The tool said:");
}

#[test]
fn real_claude_asks_at_its_first_start() {
    let agents = Agents::installed();
    let model = ModelServer::start();
    let mut env = TestEnv::new(agents.bin.join("claude"));
    agents.set_up(Brand::Claude, FirstStart::Ahead, &mut env, &model);
    env.terminal(Surroundings::Plain, [""; 0]).wait_for("Yes, I trust this folder");
}

#[test]
fn real_codex_leaves_no_daemon_when_its_terminal_goes_away() {
    let agents = Agents::installed();
    let model = ModelServer::start();
    let mut env = TestEnv::new(agents.bin.join("codex"));
    env.repo(1);
    agents.set_up(Brand::Codex, FirstStart::Over, &mut env, &model);
    let terminal = env.terminal(Surroundings::Plain, [""; 0]);
    terminal.wait_for("gpt-5.1-codex default");
    terminal.send_keys(["C-d"]);
    terminal.wait_for_exit();
    let daemon = env.home().join(".codex/app-server-daemon");
    assert!(!wait_until(Duration::from_secs(1), || daemon.exists()), "`{}` exists", daemon.display());
}

#[test]
fn real_only_the_chosen_agent_is_put_on_the_path() {
    let agents = Agents::installed();
    let model = ModelServer::start();
    let mut env = TestEnv::new("/bin/sh");
    agents.set_up(Brand::Codex, FirstStart::Over, &mut env, &model);
    let found = env.mngr(["-c", "command -v codex"]).success().stdout;
    assert_eq!(found.trim(), env.root().join("bin/codex").to_string_lossy());
    assert!(!env.root().join("bin/claude").exists());
}
