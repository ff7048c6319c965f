//! An agent made from another one: it goes on with a copy of the conversation.

use mngr_testkit::model::Brand;

use super::every::holds_for;
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

const COPY: &str = "b";

#[track_caller]
fn say_to_copy(scene: &Scene, words: &str) {
    let _ = scene.env.mngr(["message", COPY, "-m", words]).success();
    scene.wait_for_all(&[COPY], IDLE);
}

fn both_go_on_from_the_same_words_without_hearing_each_other(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    std::fs::write(work_dir(&scene.env, NAME).join("half-done.txt"), "x").unwrap();
    let _ = scene.env.mngr(["clone", NAME, COPY, "--no-connect"]).success();
    assert_eq!(agent(&scene.env, COPY)["type"], brand.program());
    assert!(work_dir(&scene.env, COPY).join("half-done.txt").exists());
    say_to_copy(&scene, "only to the copy");
    assert_eq!(scene.history_with("only to the copy"), ["remember the heron", "only to the copy"]);
    scene.say("only to the source");
    scene.wait_for(IDLE);
    assert_eq!(scene.history_with("only to the source"), ["remember the heron", "only to the source"]);
    let said = |name: &str| scene.env.mngr(["transcript", name, "--role", "user"]).success().stdout;
    assert!(said(COPY).contains("remember the heron") && !said(COPY).contains("to the source"));
    assert!(!said(NAME).contains("to the copy"));
    // Nobody pays twice for what was said before.
    let usage = scene.env.mngr(["usage", "--format", "json"]).success().json();
    assert_eq!(usage["total"]["answers"], 3, "{usage}");
}

fn a_stopped_agent_and_one_in_the_middle_of_a_turn_can_be_cloned(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    scene.say("[[think 300000]] for long");
    scene.wait_for("RUNNING");
    let _ = scene.env.mngr(["create", COPY, "--from", NAME, "--no-connect"]).success();
    say_to_copy(&scene, "from one at work");
    assert_eq!(scene.history_with("from one at work")[0], "remember the heron");
    assert_eq!(scene.standing(), "RUNNING", "the source goes on");
    let _ = scene.env.mngr(["destroy", COPY, "--force"]).success();
    let _ = scene.env.mngr(["stop", NAME]).success();
    let _ = scene.env.mngr(["clone", NAME, COPY, "--no-connect", "-m", "from one at rest"]).success();
    scene.wait_for_all(&[COPY], IDLE);
    assert_eq!(scene.history_with("from one at rest")[0], "remember the heron");
    assert_eq!(state(&scene.env, NAME), "STOPPED");
}

fn the_conversation_goes_along_with_a_move(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    let _ = scene.env.mngr(["migrate", NAME, COPY, "--force", "--no-connect"]).success();
    assert_eq!(names(&scene.env), [COPY]);
    say_to_copy(&scene, "after the move");
    assert_eq!(scene.history_with("after the move"), ["remember the heron", "after the move"]);
}

fn the_conversation_comes_back_from_a_snapshot(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    let _ = scene.env.mngr(["snapshot", "create", NAME]).success();
    let _ = scene.env.mngr(["destroy", NAME, "--force"]).success();
    let kept = scene.env.mngr(["snapshot", "list", "--format", "{id}"]).success().stdout;
    let _ = scene.env.mngr(["snapshot", "restore", kept.trim(), COPY]).success();
    assert_eq!(state(&scene.env, COPY), "STOPPED");
    let _ = scene.env.mngr(["start", COPY]).success();
    say_to_copy(&scene, "back again");
    assert_eq!(scene.history_with("back again"), ["remember the heron", "back again"]);
}

fn another_type_gets_the_files_and_is_told_so(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    let cloned =
        scene.env.mngr(["clone", NAME, COPY, "command", "--no-connect", "--", "sleep", "1000"]).success();
    assert!(cloned.stderr.contains("the conversation of `a` is not carried over"), "{cloned}");
}

/// opencode's database says where its agent works: the copy must not work in the folder of the source.
#[test]
fn a_copy_of_opencode_works_in_its_own_folder() {
    let scene = Scene::with_agent(Brand::Opencode);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    let _ = scene.env.mngr(["clone", NAME, COPY, "--no-connect"]).success();
    say_to_copy(&scene, "to the copy");
    let requests = scene.model.requests();
    let asked = requests.iter().rfind(|request| request.user_text.contains("to the copy")).unwrap();
    let (own, others) = (work_dir(&scene.env, COPY), work_dir(&scene.env, NAME));
    let body = asked.body.to_string();
    assert!(body.contains("remember the heron"), "{body}");
    assert!(body.contains(own.to_str().unwrap()) && !body.contains(others.to_str().unwrap()), "{body}");
}

holds_for!(
    claude,
    Brand::Claude,
    both_go_on_from_the_same_words_without_hearing_each_other,
    a_stopped_agent_and_one_in_the_middle_of_a_turn_can_be_cloned,
    the_conversation_goes_along_with_a_move,
    the_conversation_comes_back_from_a_snapshot,
    another_type_gets_the_files_and_is_told_so,
);

holds_for!(
    codex,
    Brand::Codex,
    both_go_on_from_the_same_words_without_hearing_each_other,
    a_stopped_agent_and_one_in_the_middle_of_a_turn_can_be_cloned,
    the_conversation_goes_along_with_a_move,
    the_conversation_comes_back_from_a_snapshot,
);

holds_for!(
    opencode,
    Brand::Opencode,
    both_go_on_from_the_same_words_without_hearing_each_other,
    a_stopped_agent_and_one_in_the_middle_of_a_turn_can_be_cloned,
    the_conversation_goes_along_with_a_move,
    the_conversation_comes_back_from_a_snapshot,
);
