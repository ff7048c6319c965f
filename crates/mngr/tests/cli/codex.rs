//! Codex, the real program, against a scripted model on loopback.

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::TestEnv;
use mngr_testkit::model::{Agents, Brand, FirstStart, ModelServer};

use crate::support::*;

/// An environment in which Codex is installed and set up; `None` where it cannot be had.
fn codex_at(first_start: FirstStart) -> Option<(TestEnv, ModelServer)> {
    let agents = Agents::or_skip()?;
    let model = ModelServer::start();
    let mut env = env_with_repo();
    agents.set_up(Brand::Codex, first_start, &mut env, &model);
    Some((env, model))
}

fn codex() -> Option<(TestEnv, ModelServer)> {
    codex_at(FirstStart::Over)
}

#[track_caller]
fn create_codex(env: &TestEnv, name: &str) {
    let _ = env.mngr(["create", name, "codex", "--no-connect"]).success();
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
    let Some((env, _model)) = codex() else { return };
    let created = env.mngr(["create", "a", "codex", "--no-connect", "--message", "hello there"]).success();
    assert!(created.stdout.contains("first message accepted"), "{created}");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    say(&env, "a", "second\nmessage \\");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    let screen = env.mngr(["capture", "a"]).success().stdout;
    assert!(screen.contains("hello there") && screen.contains("second"), "{screen}");
    let explained = env.mngr(["explain", "a"]).success();
    assert!(explained.stdout.contains("Codex recorded the end of its turn"), "{explained}");
}

#[test]
fn it_waits_before_its_first_turn_too() {
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    assert_eq!(standing(&env, "a"), "WAITING END_OF_TURN");
}

#[test]
fn a_message_that_was_accepted_has_begun_a_turn() {
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    for words in ["[[think 3000]] first", "[[think 3000]] second"] {
        say(&env, "a", words);
        assert_eq!(standing(&env, "a"), "RUNNING", "{words}");
        wait_for(&env, "a", "WAITING END_OF_TURN");
    }
}

#[test]
fn nothing_of_the_users_own_configuration_is_changed() {
    let Some((env, _model)) = codex() else { return };
    let folder = env.home().join(".codex");
    fs::create_dir_all(folder.join("rules")).unwrap();
    fs::write(folder.join("rules/default.rules"), "# mine\n").unwrap();
    let listing = || {
        let mut names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let files = ["config.toml", "rules/default.rules"];
    let before: Vec<_> = files.map(|file| fs::read(folder.join(file)).ok()).to_vec();
    let names = listing();
    create_codex(&env, "a");
    say(&env, "a", "hello");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    let after: Vec<_> = files.map(|file| fs::read(folder.join(file)).ok()).to_vec();
    assert_eq!(before, after);
    assert_eq!(names, listing());
}

#[test]
fn a_permission_dialog_is_seen_and_no_message_is_typed_into_it() {
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    say(&env, "a", "[[tool]]");
    wait_for(&env, "a", "WAITING PERMISSIONS");
    let refused = env.mngr(["message", "a", "-m", "yes"]).code(1);
    assert!(refused.stderr.contains("dialog"), "{refused}");
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "Escape"]).success();
    wait_for(&env, "a", "WAITING END_OF_TURN");
}

#[test]
fn a_granted_permission_is_no_dialog_any_more() {
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    say(&env, "a", "[[tool sleep 8]]");
    wait_for(&env, "a", "WAITING PERMISSIONS");
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "y"]).success();
    let granted = Instant::now();
    wait_for(&env, "a", "RUNNING");
    assert!(granted.elapsed() < Duration::from_secs(3), "{:?}", granted.elapsed());
    wait_for(&env, "a", "WAITING END_OF_TURN");
}

#[test]
fn a_question_is_told_from_a_permission() {
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    say(&env, "a", "[[ask]]");
    wait_for(&env, "a", "WAITING QUESTION");
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "Enter"]).success();
    wait_for(&env, "a", "WAITING END_OF_TURN");
}

#[test]
fn permissions_are_granted_where_the_type_says_so() {
    let Some((env, _model)) = codex() else { return };
    let _ = env
        .mngr(["create", "a", "codex", "--no-connect", "-S", "agent_types.codex.auto_allow_permissions=true"])
        .success();
    say(&env, "a", "[[tool]]");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    let made = std::path::PathBuf::from(text(&agent(&env, "a")["work_dir"])).join("made-by-the-model");
    assert!(made.exists(), "{}", made.display());
}

#[test]
fn an_interrupt_is_seen_at_once() {
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    say(&env, "a", "[[think 60000]]");
    wait_for(&env, "a", "RUNNING");
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "Escape"]).success();
    let pressed = Instant::now();
    wait_for(&env, "a", "WAITING END_OF_TURN");
    assert!(pressed.elapsed() < Duration::from_secs(3), "{:?}", pressed.elapsed());
}

#[test]
fn limits_and_refused_credentials_are_told_from_the_end_of_a_turn() {
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    say(&env, "a", "[[limit]]");
    wait_for(&env, "a", "WAITING RATE_LIMITED");
    say(&env, "a", "[[401]]");
    wait_for(&env, "a", "WAITING AUTH");
    say(&env, "a", "all well again");
    wait_for(&env, "a", "WAITING END_OF_TURN");
}

#[test]
fn a_message_to_a_busy_agent_is_proved_and_reaches_the_model() {
    let Some((env, model)) = codex() else { return };
    create_codex(&env, "a");
    for (busy, words) in
        [("[[slow 40]] count", "while it streams"), ("[[safe-tool sleep 4]]", "while a tool runs")]
    {
        say(&env, "a", busy);
        wait_for(&env, "a", "RUNNING");
        say(&env, "a", words);
        wait_until(PATIENCE, || was_asked(&model, words));
        wait_for(&env, "a", "WAITING END_OF_TURN");
    }
}

#[test]
fn half_typed_text_of_somebody_else_is_never_sent() {
    let Some((env, model)) = codex() else { return };
    create_codex(&env, "a");
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "-l", "half a sentence"]).success();
    wait_until(PATIENCE, || env.mngr(["capture", "a"]).success().stdout.contains("half a sentence"));
    let refused = env.mngr(["message", "a", "-m", "mine"]).code(1);
    assert!(refused.stderr.contains("typed something"), "{refused}");
    assert!(!was_asked(&model, "half a sentence"));
}

#[test]
fn copy_mode_large_texts_shell_commands_and_two_senders_lose_nothing() {
    let Some((env, model)) = codex() else { return };
    create_codex(&env, "a");
    let _ = env.tmux(["copy-mode", "-t", "=mngr-a:"]).success();
    say(&env, "a", "from copy mode");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    let large = (0..1000)
        .map(|n| format!("line {n} of a long text with some words in it"))
        .collect::<Vec<_>>()
        .join("\n");
    let _ = env.mngr_stdin(["message", "a"], large.as_bytes()).success();
    wait_for(&env, "a", "WAITING END_OF_TURN");
    say(&env, "a", "!echo from-the-shell");
    wait_until(PATIENCE, || {
        env.mngr(["capture", "a"]).success().stdout.contains("You ran echo from-the-shell")
    });
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
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    say(&env, "a", "remember the heron");
    wait_for(&env, "a", "WAITING END_OF_TURN");
    for way in ["stop", "kill"] {
        match way {
            "stop" => drop(env.mngr(["stop", "a"]).success()),
            _ => {
                // In the middle of a turn: what it left open must not look like work.
                say(&env, "a", "[[think 60000]]");
                kill("-9", recorded_pid(&env, "a", "pid"));
            }
        }
        wait_until(PATIENCE, || ["STOPPED", "DONE"].contains(&state(&env, "a").as_str()));
        let _ = env.mngr(["start", "a"]).success();
        assert_eq!(standing(&env, "a"), "WAITING END_OF_TURN", "{way}");
        wait_until(PATIENCE, || env.mngr(["capture", "a"]).success().stdout.contains("remember the heron"));
    }
}

#[test]
fn nothing_outlives_stop_and_destroy() {
    let Some((env, _model)) = codex() else { return };
    create_codex(&env, "a");
    say(&env, "a", "hello");
    let _ = env.mngr(["stop", "a"]).success();
    assert_eq!(state(&env, "a"), "STOPPED");
    let _ = env.mngr(["start", "a"]).success();
    say(&env, "a", "[[safe-tool sleep 60]]");
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    wait_until(PATIENCE, || env.processes().is_empty());
}

#[test]
fn first_start_questions_are_answered_only_when_allowed() {
    let Some((env, _model)) = codex_at(FirstStart::Ahead) else { return };
    let refused = env.mngr(["create", "a", "codex", "--no-connect"]).code(1);
    assert!(refused.stderr.contains("--yes") && refused.stderr.contains("would ask"), "{refused}");
    assert_eq!(names(&env), Vec::<String>::new());
    let _ = env.mngr(["create", "a", "codex", "--no-connect", "--yes"]).success();
    assert_eq!(standing(&env, "a"), "WAITING END_OF_TURN");
}

#[test]
fn hooks_of_the_user_that_are_not_trusted_are_not_trusted_for_them() {
    let Some((env, _model)) = codex() else { return };
    let hooks = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch run-by-codex"}]}]}}"#;
    fs::write(env.home().join(".codex/hooks.json"), hooks).unwrap();
    let refused = env.mngr(["create", "a", "codex", "--no-connect", "-S", "agent_ready_timeout=5"]).code(1);
    assert!(refused.stderr.contains("Hooks need review") || refused.stderr.contains("hook"), "{refused}");
    assert_eq!(names(&env), Vec::<String>::new());
}

/// Sends messages of every shape, to an idle, a busy and a scrolled-back agent, and counts what Codex recorded.
#[track_caller]
#[expect(clippy::print_stdout, reason = "the figures are what the test is run for")]
fn send_mixed(count: usize) {
    let Some((env, model)) = codex() else { return };
    create_codex(&env, "a");
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
    // Not counted at the model: Codex asks it for titles too, and repeats what was said to it while it was busy.
    let said = env.mngr(["transcript", "a", "--role", "user"]).success().stdout;
    let asked: Vec<String> = model.requests().into_iter().map(|request| request.user_text).collect();
    for n in 0..count {
        let token = format!("token-{n:04}");
        assert_eq!(said.matches(&token).count(), 1, "{token} in\n{said}");
        assert!(asked.iter().any(|text| text.contains(&token)), "{token} did not reach the model");
    }
    idle_times.sort();
    println!(
        "codex: {count} sends, 0 lost, 0 doubled; p50 to an idle agent {:?}",
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
