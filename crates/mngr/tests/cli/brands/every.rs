//! What holds for every brand.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mngr_testkit::model::{Brand, FirstStart};

use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

/// A module of the brand's name with these tests of it.
macro_rules! holds_for {
    ($module:ident, $brand:expr, $($test:ident),+ $(,)?) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $test() {
                super::$test($brand);
            })+
        }
    };
}
pub(super) use holds_for;

holds_for!(
    claude,
    Brand::Claude,
    it_answers_and_waits,
    it_waits_before_its_first_turn_too,
    nothing_of_the_users_own_configuration_is_changed,
    a_permission_dialog_is_seen_and_no_message_is_typed_into_it,
    a_question_is_told_from_a_permission,
    permissions_are_granted_where_the_type_says_so,
    an_interrupt_is_seen_at_once,
    a_message_that_was_accepted_has_begun_a_turn,
    a_used_up_limit_is_told_from_the_end_of_a_turn,
    a_failed_turn_wakes_whoever_waits,
    a_message_to_a_busy_agent_is_proved_and_reaches_the_model,
    half_typed_text_is_put_aside_and_brought_back,
    an_unknown_command_is_no_success_and_in_nobodys_way,
    the_conversation_goes_on_after_stop_and_after_kill_9,
    nothing_outlives_stop_and_destroy,
    first_start_questions_are_answered_only_when_allowed,
    without_a_type_the_first_agent_on_path_is_taken_and_named,
);

holds_for!(
    codex,
    Brand::Codex,
    it_answers_and_waits,
    it_waits_before_its_first_turn_too,
    nothing_of_the_users_own_configuration_is_changed,
    a_permission_dialog_is_seen_and_no_message_is_typed_into_it,
    a_question_is_told_from_a_permission,
    permissions_are_granted_where_the_type_says_so,
    an_interrupt_is_seen_at_once,
    a_message_that_was_accepted_has_begun_a_turn,
    a_used_up_limit_is_told_from_the_end_of_a_turn,
    a_failed_turn_wakes_whoever_waits,
    a_message_to_a_busy_agent_is_proved_and_reaches_the_model,
    half_typed_text_is_put_aside_and_brought_back,
    an_unknown_command_is_no_success_and_in_nobodys_way,
    the_conversation_goes_on_after_stop_and_after_kill_9,
    nothing_outlives_stop_and_destroy,
    first_start_questions_are_answered_only_when_allowed,
    without_a_type_the_first_agent_on_path_is_taken_and_named,
);

holds_for!(
    opencode,
    Brand::Opencode,
    it_answers_and_waits,
    it_waits_before_its_first_turn_too,
    nothing_of_the_users_own_configuration_is_changed,
    a_permission_dialog_is_seen_and_no_message_is_typed_into_it,
    a_question_is_told_from_a_permission,
    permissions_are_granted_where_the_type_says_so,
    a_message_to_a_busy_agent_is_proved_and_reaches_the_model,
    the_conversation_goes_on_after_stop_and_after_kill_9,
    nothing_outlives_stop_and_destroy,
    without_a_type_the_first_agent_on_path_is_taken_and_named,
);

fn it_answers_and_waits(brand: Brand) {
    let scene = Scene::of(brand);
    let created = scene.create(&["--message", "hello there"]).success();
    assert!(created.stdout.contains("first message accepted"), "{created}");
    scene.wait_for(IDLE);
    scene.say("second\nmessage \\");
    scene.wait_for(IDLE);
    let screen = scene.screen();
    assert!(screen.contains("hello there") && screen.contains("second"), "{screen}");
}

fn it_waits_before_its_first_turn_too(brand: Brand) {
    let scene = Scene::with_agent(brand);
    assert_eq!(scene.standing(), IDLE);
}

/// Every file of the user's own configuration with what it holds.
fn configuration(home: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut folders: Vec<PathBuf> = [".claude", ".codex", ".config"].map(|name| home.join(name)).to_vec();
    let mut found = vec![(home.join(".claude.json"), fs::read(home.join(".claude.json")).ok())];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push((path.clone(), fs::read(&path).ok())),
            }
        }
    }
    found.sort();
    found
}

fn nothing_of_the_users_own_configuration_is_changed(brand: Brand) {
    let scene = Scene::of(brand);
    let before = configuration(&scene.env.home());
    let _ = scene.create(&[]).success();
    scene.say("hello");
    scene.wait_for(IDLE);
    assert_eq!(before, configuration(&scene.env.home()));
}

fn a_permission_dialog_is_seen_and_no_message_is_typed_into_it(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.provoke("[[tool]]");
    scene.wait_for("WAITING PERMISSIONS");
    let refused = scene.send("yes").code(1);
    assert!(refused.stderr.contains("dialog"), "{refused}");
    scene.escape_the_dialog();
    assert!(!work_dir(&scene.env, NAME).join("made-by-the-model").exists());
}

fn a_question_is_told_from_a_permission(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.provoke("[[ask]]");
    scene.wait_for("WAITING QUESTION");
    wait_until(PATIENCE, || {
        scene.press("Enter");
        scene.standing() == IDLE
    });
}

fn permissions_are_granted_where_the_type_says_so(brand: Brand) {
    let scene = Scene::of(brand);
    let setting = format!("agent_types.{}.auto_allow_permissions=true", brand.program());
    let _ = scene.create(&["-S", &setting]).success();
    scene.say("[[tool]]");
    scene.wait_for(IDLE);
    let made = work_dir(&scene.env, NAME).join("made-by-the-model");
    assert!(made.exists(), "{}", made.display());
}

fn an_interrupt_is_seen_at_once(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("[[think 60000]]");
    scene.wait_for("RUNNING");
    scene.press("Escape");
    let pressed = Instant::now();
    scene.wait_for(IDLE);
    assert!(pressed.elapsed() < Duration::from_secs(3), "{:?}", pressed.elapsed());
}

fn a_message_that_was_accepted_has_begun_a_turn(brand: Brand) {
    let scene = Scene::with_agent(brand);
    for words in ["[[think 1500]] first", "[[think 1500]] second", "[[think 1500]] third"] {
        scene.say(words);
        assert_eq!(scene.standing(), "RUNNING", "{words}");
        scene.wait_for(IDLE);
    }
}

fn a_used_up_limit_is_told_from_the_end_of_a_turn(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("[[limit]]");
    scene.wait_for("WAITING RATE_LIMITED");
    scene.say("all well again");
    scene.wait_for(IDLE);
}

fn a_failed_turn_wakes_whoever_waits(brand: Brand) {
    let scene = Scene::with_agent(brand);
    for words in ["[[limit]]", "[[safe-tool sleep 1]] all well, so far", "[[limit]] once more"] {
        scene.say(words);
        // Looking now and then would take longer than the test has patience.
        let waited =
            scene.env.mngr(["wait", NAME, "WAITING", "--interval", "1h", "--timeout", "20s"]).success();
        assert!(waited.stdout.contains("is WAITING"), "{waited}");
    }
}

fn a_message_to_a_busy_agent_is_proved_and_reaches_the_model(brand: Brand) {
    let scene = Scene::with_agent(brand);
    for (busy, words) in
        [("[[slow 40]] count", "while it streams"), ("[[safe-tool sleep 4]]", "while a tool runs")]
    {
        scene.say(busy);
        scene.wait_for("RUNNING");
        scene.say(words);
        scene.wait_until_asked(words);
        scene.wait_for(IDLE);
    }
}

fn half_typed_text_is_put_aside_and_brought_back(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.type_text("half a sentence");
    for (words, is_busy) in [("first", false), ("[[slow 20]] second", false), ("third", true)] {
        if !is_busy {
            scene.wait_for(IDLE);
        }
        scene.say(words);
        assert!(scene.screen().contains("half a sentence"), "{words}:\n{}", scene.screen());
        scene.wait_until_asked(words);
    }
    scene.wait_for(IDLE);
    assert!(!scene.was_asked("half a sentence"));
    scene.press("Enter");
    scene.wait_until_asked("half a sentence");
    let heard = scene.model.user_texts();
    assert!(heard.iter().any(|said| said == "half a sentence"), "{heard:?}");
}

fn an_unknown_command_is_no_success_and_in_nobodys_way(brand: Brand) {
    let scene = Scene::with_agent(brand);
    let refused = scene.send("/nosuch thing").code(1);
    assert!(refused.stderr.contains("does not know this command"), "{refused}");
    let words = ["Unknown command: /nosuch", "Unrecognized command '/nosuch'"];
    assert!(words.iter().any(|words| refused.stderr.contains(words)), "in its own words: {refused}");
    scene.say("but this is heard");
    scene.wait_until_asked("but this is heard");
    assert!(!scene.was_asked("/nosuch"));
}

fn the_conversation_goes_on_after_stop_and_after_kill_9(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    for way in ["stop", "kill"] {
        match way {
            "stop" => drop(scene.env.mngr(["stop", NAME]).success()),
            _ => {
                // In the middle of a turn: what it left open must not look like work.
                scene.say("[[think 60000]]");
                kill("-9", recorded_pid(&scene.env, NAME, "pid"));
            }
        }
        wait_until(PATIENCE, || ["STOPPED", "DONE"].contains(&state(&scene.env, NAME).as_str()));
        let _ = scene.env.mngr(["start", NAME]).success();
        scene.wait_for(IDLE);
        wait_until(PATIENCE, || scene.screen().contains("remember the heron"));
    }
}

fn nothing_outlives_stop_and_destroy(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("hello");
    let _ = scene.env.mngr(["stop", NAME]).success();
    assert_eq!(state(&scene.env, NAME), "STOPPED");
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.say("[[safe-tool sleep 60]]");
    let _ = scene.env.mngr(["destroy", NAME, "--force"]).success();
    wait_until(PATIENCE, || scene.env.processes().is_empty());
}

fn first_start_questions_are_answered_only_when_allowed(brand: Brand) {
    let scene = Scene::at(brand, FirstStart::Ahead);
    let refused = scene.create(&[]).code(1);
    assert!(refused.stderr.contains("--yes") && refused.stderr.contains("would ask"), "{refused}");
    assert_eq!(names(&scene.env), Vec::<String>::new());
}

fn without_a_type_the_first_agent_on_path_is_taken_and_named(brand: Brand) {
    let scene = Scene::of(brand);
    let created = scene.env.mngr(["create", NAME, "--no-connect"]).success();
    let using = format!("using `{}`", brand.program());
    assert!(created.stderr.contains(&using) && created.stderr.contains("commands.create.type"), "{created}");
    assert_eq!(agent(&scene.env, NAME)["type"], brand.program());
}
