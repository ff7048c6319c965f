//! Claude Code, the real program, against a scripted model on loopback.

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::TestEnv;
use mngr_testkit::model::{Agents, Brand, FirstStart, ModelServer};

use crate::support::*;

/// An environment in which Claude Code is installed and set up; `None` where it cannot be had.
fn claude_at(first_start: FirstStart) -> Option<(TestEnv, ModelServer)> {
    let agents = Agents::or_skip()?;
    let model = ModelServer::start();
    let mut env = env_with_repo();
    agents.set_up(Brand::Claude, first_start, &mut env, &model);
    Some((env, model))
}

fn claude() -> Option<(TestEnv, ModelServer)> {
    claude_at(FirstStart::Over)
}

#[track_caller]
fn create_claude(env: &TestEnv, name: &str) {
    let _ = env.mngr(["create", name, "claude", "--no-connect"]).success();
}

/// State and reason in one look, so that they belong together.
#[track_caller]
fn standing(env: &TestEnv, name: &str) -> String {
    let agent = agent(env, name);
    format!("{} {}", text(&agent["state"]), text(&agent["waiting_reason"])).trim().to_owned()
}

#[track_caller]
fn wait_for(env: &TestEnv, name: &str, wanted: &str) {
    wait_until(PATIENCE, || standing(env, name) == wanted);
}

#[track_caller]
fn say(env: &TestEnv, name: &str, words: &str) {
    let _ = env.mngr(["message", name, "-m", words]).success();
}

/// Whether the model was ever asked something that holds this text.
fn was_asked(model: &ModelServer, words: &str) -> bool {
    model.requests().iter().any(|request| request.user_text.contains(words))
}

#[test]
fn it_answers_waits_and_says_so() {
    let Some((env, _model)) = claude() else { return };
    let created = env.mngr(["create", "a", "claude", "--no-connect", "--message", "hello there"]).success();
    assert!(created.stdout.contains("first message accepted"), "{created}");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    say(&env, "a", "second\nmessage \\");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    let screen = env.mngr(["capture", "a"]).success().stdout;
    assert!(screen.contains("hello there") && screen.contains("second"), "{screen}");
    let explained = env.mngr(["explain", "a"]).success();
    assert!(explained.stdout.contains("Claude Code says it is idle"), "{explained}");
}

#[test]
fn nothing_of_the_users_own_configuration_is_changed() {
    let Some((env, _model)) = claude() else { return };
    let files = [env.home().join(".claude.json"), env.home().join(".claude/settings.json")];
    let before: Vec<_> = files.iter().map(|file| fs::read(file).ok()).collect();
    create_claude(&env, "a");
    say(&env, "a", "hello");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    let after: Vec<_> = files.iter().map(|file| fs::read(file).ok()).collect();
    assert_eq!(before, after);
}

#[test]
fn a_permission_dialog_is_seen_and_no_message_is_typed_into_it() {
    let Some((env, _model)) = claude() else { return };
    create_claude(&env, "a");
    say(&env, "a", "[[tool]]");
    wait_for(&env, "a", "WAITING PERMISSIONS");
    let refused = env.mngr(["message", "a", "-m", "yes"]).code(1);
    assert!(refused.stderr.contains("dialog"), "{refused}");
    // A dialog that has only just appeared does not listen yet.
    wait_until(PATIENCE, || {
        let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "Escape"]).success();
        standing(&env, "a") == "WAITING END_OF_TURN"
    });
}

#[test]
fn an_interrupt_is_seen_at_once() {
    let Some((env, _model)) = claude() else { return };
    create_claude(&env, "a");
    say(&env, "a", "[[think 60000]]");
    wait_for(&env, "a", "RUNNING");
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "Escape"]).success();
    let pressed = Instant::now();
    wait_for(&env, "a", "WAITING END_OF_TURN");
    assert!(pressed.elapsed() < Duration::from_secs(3), "{:?}", pressed.elapsed());
}

#[test]
fn limits_and_refused_credentials_are_told_from_the_end_of_a_turn() {
    let Some((env, _model)) = claude() else { return };
    create_claude(&env, "a");
    say(&env, "a", "[[limit]]");
    wait_for(&env, "a", "WAITING RATE_LIMITED");
    say(&env, "a", "all well again");
    wait_for(&env, "a", "WAITING END_OF_TURN");
}

#[test]
fn a_message_to_a_busy_agent_is_queued_and_proved() {
    let Some((env, model)) = claude() else { return };
    create_claude(&env, "a");
    say(&env, "a", "[[slow 40]] count");
    wait_for(&env, "a", "RUNNING");
    say(&env, "a", "queued behind it");
    wait_until(PATIENCE, || was_asked(&model, "queued behind it"));
    wait_for(&env, "a", "WAITING END_OF_TURN");
}

#[test]
fn half_typed_text_of_somebody_else_is_never_sent() {
    let Some((env, model)) = claude() else { return };
    create_claude(&env, "a");
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "-l", "half a sentence"]).success();
    wait_until(PATIENCE, || env.mngr(["capture", "a"]).success().stdout.contains("half a sentence"));
    let refused = env.mngr(["message", "a", "-m", "mine"]).code(1);
    assert!(refused.stderr.contains("typed something"), "{refused}");
    assert!(!was_asked(&model, "half a sentence"));
}

#[test]
fn copy_mode_large_texts_and_two_senders_lose_nothing() {
    let Some((env, model)) = claude() else { return };
    create_claude(&env, "a");
    let _ = env.tmux(["copy-mode", "-t", "=mngr-a:"]).success();
    say(&env, "a", "from copy mode");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    let large = (0..1000)
        .map(|n| format!("line {n} of a long text with some words in it"))
        .collect::<Vec<_>>()
        .join("\n");
    let _ = env.mngr_stdin(["message", "a"], large.as_bytes()).success();
    wait_for(&env, "a", "WAITING END_OF_TURN");
    let senders: Vec<_> = (0..2).map(|n| env.spawn(["message", "a", "-m", &format!("sender {n}")])).collect();
    for sender in senders {
        let _ = sender.finish().success();
    }
    wait_for(&env, "a", "WAITING END_OF_TURN");
    for wanted in ["from copy mode", "line 999 of", "sender 0", "sender 1"] {
        wait_until(PATIENCE, || was_asked(&model, wanted));
    }
}

#[test]
fn the_conversation_goes_on_after_stop_and_after_kill_9() {
    let Some((env, _model)) = claude() else { return };
    create_claude(&env, "a");
    say(&env, "a", "remember the heron");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    for way in ["stop", "kill"] {
        match way {
            "stop" => drop(env.mngr(["stop", "a"]).success()),
            _ => kill("-9", recorded_pid(&env, "a", "pid")),
        }
        wait_until(PATIENCE, || ["STOPPED", "DONE"].contains(&state(&env, "a").as_str()));
        let _ = env.mngr(["start", "a"]).success();
        wait_for(&env, "a", "WAITING END_OF_TURN");
        wait_until(PATIENCE, || env.mngr(["capture", "a"]).success().stdout.contains("remember the heron"));
    }
}

#[test]
fn first_start_questions_are_answered_only_when_allowed() {
    let Some((env, _model)) = claude_at(FirstStart::Ahead) else { return };
    let refused = env.mngr(["create", "a", "claude", "--no-connect"]).code(1);
    assert!(refused.stderr.contains("--yes") && refused.stderr.contains("would ask"), "{refused}");
    assert_eq!(names(&env), Vec::<String>::new());
}

#[test]
fn without_a_type_the_first_agent_on_path_is_taken_and_named() {
    let Some((env, _model)) = claude() else { return };
    let created = env.mngr(["create", "a", "--no-connect"]).success();
    assert!(
        created.stderr.contains("using `claude`") && created.stderr.contains("commands.create.type"),
        "{created}"
    );
    assert_eq!(agent(&env, "a")["type"], "claude");
}

/// Sends messages of every shape, to an idle, a busy and a scrolled-back agent, and counts what the model was asked.
#[track_caller]
#[expect(clippy::print_stdout, reason = "the figures are what the test is run for")]
fn send_mixed(count: usize) {
    let Some((env, model)) = claude() else { return };
    create_claude(&env, "a");
    let mut idle_times = Vec::new();
    for n in 0..count {
        let token = format!("token-{n:04}");
        let body = match n % 8 {
            0 => format!("plain {token}"),
            1 => format!("first {token}\nsecond\n\nfourth"),
            2 => format!("-n {token} --help"),
            3 => format!("{token} ends in a backslash \\"),
            4 => format!("{token} ünïcödé 漢字 🎉 $(id) `id`; #{{x}}"),
            5 => format!("{token} {}", "many words ".repeat(500)),
            6 => format!("[[slow 5]] {token}"),
            _ => format!("{token} behind the slow one"),
        };
        // The last of eight goes to an agent that is busy with the one before.
        let is_idle = n % 8 != 7;
        if is_idle {
            wait_for(&env, "a", "WAITING END_OF_TURN");
        }
        if n % 8 == 2 {
            let _ = env.tmux(["copy-mode", "-t", "=mngr-a:"]).success();
        }
        let begun = Instant::now();
        say(&env, "a", &body);
        if is_idle {
            idle_times.push(begun.elapsed());
        }
    }
    wait_for(&env, "a", "WAITING END_OF_TURN");
    // Taken once: every request repeats the whole conversation.
    let asked: String = model.requests().into_iter().map(|request| request.user_text + "\n").collect();
    for n in 0..count {
        let token = format!("token-{n:04}");
        let times = asked.matches(&token).count();
        assert_eq!(times, 1, "{token} reached the model {times} times");
    }
    idle_times.sort();
    println!(
        "claude: {count} sends, 0 lost, 0 doubled; p50 to an idle agent {:?}",
        idle_times[idle_times.len() / 2]
    );
}

#[test]
fn fifty_messages_of_every_shape_are_neither_lost_nor_doubled() {
    send_mixed(50);
}

#[test]
fn soak_five_hundred_messages_of_every_shape_are_neither_lost_nor_doubled() {
    send_mixed(500);
}

#[test]
fn soak_twenty_at_once_answer_and_are_destroyed() {
    let Some((env, _model)) = claude() else { return };
    let names: Vec<String> = (0..20).map(|n| format!("c{n:02}")).collect();
    let running: Vec<_> = names
        .iter()
        .map(|name| env.spawn(["create", name, "claude", "--no-connect", "-S", "agent_ready_timeout=60"]))
        .collect();
    for one in running {
        let _ = one.finish().success();
    }
    let running: Vec<_> =
        names.iter().map(|name| env.spawn(["message", name, "-m", &format!("hello {name}")])).collect();
    for one in running {
        let _ = one.finish().success();
    }
    for name in &names {
        wait_for(&env, name, "WAITING END_OF_TURN");
    }
    let ids = env.mngr(["list", "--ids"]).success().stdout;
    let _ = env.mngr_stdin(["destroy", "--force", "-"], ids.as_bytes()).success();
    wait_until(PATIENCE, || env.processes().is_empty());
}
