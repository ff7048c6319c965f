//! Claude Code and Codex without a terminal: the answer, the exit code, and what is left afterwards.

use std::path::PathBuf;

use mngr_testkit::model::{Brand, FirstStart};
use mngr_testkit::{CmdOutput, Signal};
use serde_json::Value;

use super::adopt::talk;
use super::scene::{NAME, Scene};
use crate::support::*;

const BRANDS: [Brand; 2] = [Brand::Claude, Brand::Codex];

fn words<'a>(agent_type: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    ["create", NAME, "--type", agent_type, "--foreground"]
        .into_iter()
        .chain(options.iter().copied())
        .collect()
}

fn run(scene: &Scene, options: &[&str]) -> CmdOutput {
    scene.env.mngr(words(&type_of(scene), options))
}

fn type_of(scene: &Scene) -> String {
    format!("headless_{}", scene.brand.program())
}

/// The texts of one role in a list of common records.
fn said(records: &[Value], role: &str) -> Vec<String> {
    let of_role = records.iter().filter(|record| record["role"] == role);
    of_role.map(|record| text(&record["text"]) + &text(&record["content"])).collect()
}

#[test]
fn the_answer_is_all_there_is_on_standard_output() {
    for brand in BRANDS {
        let scene = Scene::of(brand);
        let output = scene.env.mngr_stdin(words(&type_of(&scene), &[]), "hello from stdin").success();
        assert_eq!(output.stdout, "You said: hello from stdin\n");
        assert_eq!(names(&scene.env), Vec::<String>::new());
        wait_until(PATIENCE, || scene.env.processes().is_empty());
        let transcript = scene.env.mngr(["transcript", NAME, "--format", "json"]).success().json();
        let records = transcript.as_array().unwrap();
        assert_eq!(said(records, "user"), ["hello from stdin"]);
        assert_eq!(said(records, "assistant"), ["You said: hello from stdin"]);
        let usage = scene.env.mngr(["usage", "--format", "json"]).success();
        assert!(usage.stdout.contains("\"a\""), "{usage}");
        let _ = scene.env.mngr(["undo", NAME]).success();
        assert_eq!(state(&scene.env, NAME), "STOPPED");
    }
}

#[test]
fn json_lines_are_the_transcript_and_then_the_result() {
    for brand in BRANDS {
        let scene = Scene::of(brand);
        let output = run(&scene, &["-m", "[[safe-tool]] please", "--format", "jsonl"]).success();
        let lines = output.json_lines();
        let (first, last) = (lines.first().unwrap(), lines.last().unwrap());
        assert_eq!((&first["event"], &last["event"]), (&"created".into(), &"result".into()), "{output}");
        let transcript = scene.env.mngr(["transcript", NAME, "--format", "jsonl"]).success().json_lines();
        assert_eq!(lines[1..lines.len() - 1], transcript);
        assert!(transcript.iter().any(|record| record["type"] == "tool_result"), "{output}");
        assert_eq!(last["exit_code"], 0);
        assert!(text(&last["result"]).contains("harmless"), "{output}");
        let output = run(&scene, &["-m", "[[safe-tool]] please"]).success();
        assert!(output.stderr.contains("-> ") && !output.stdout.contains("-> "), "{output}");
    }
}

#[test]
fn a_refusal_of_the_model_gives_code_and_reason() {
    for brand in BRANDS {
        let scene = Scene::of(brand);
        let output = run(&scene, &["-m", "[[limit]]"]).code(1);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.contains("error: ") && output.stderr.contains("limit"), "{output}");
        let object = run(&scene, &["-m", "[[limit]]", "--format", "json"]).code(1).json();
        assert_eq!((&object["exit_code"], &object["result"]), (&1.into(), &Value::Null));
        assert!(text(&object["error"]).contains("limit"), "{object}");
    }
}

#[test]
fn a_tool_is_used_only_where_all_is_allowed() {
    for brand in BRANDS {
        let scene = Scene::of(brand);
        let is_made = || {
            let object = run(&scene, &["-m", "[[tool]]", "--format", "json"]).success().json();
            assert!(text(&object["result"]).contains("The tool said"), "{object}");
            PathBuf::from(text(&object["work_dir"]["trash"])).join("made-by-the-model").exists()
        };
        assert!(!is_made(), "{brand:?}");
        // Set for the type with a terminal, it holds for its headless form.
        let key = format!("agent_types.{}.auto_allow_permissions", brand.program());
        let _ = scene.env.mngr(["config", "set", &key, "true", "--scope", "user"]).success();
        let asked = scene.model.requests().len();
        assert!(is_made(), "{brand:?}");
        let more = scene.model.requests().len() - asked;
        assert_eq!(more, 2, "the model was asked for the call and told its result, and nobody reviewed it");
    }
}

#[test]
fn it_is_seen_at_work_and_ctrl_c_ends_it() {
    for brand in BRANDS {
        let scene = Scene::of(brand);
        let running = scene.env.spawn(words(&type_of(&scene), &["-m", "[[think 60000]]"]));
        scene.wait_until_asked("[[think 60000]]");
        assert_eq!(scene.standing(), "RUNNING");
        running.signal(Signal::INT);
        let _ = running.finish().code(130);
        assert_eq!(names(&scene.env), Vec::<String>::new());
        wait_until(PATIENCE, || scene.env.processes().is_empty());
    }
}

#[test]
fn first_start_questions_are_answered_only_when_allowed() {
    for brand in BRANDS {
        let scene = Scene::at(brand, FirstStart::Ahead);
        let refused = run(&scene, &["-m", "hello"]).code(1);
        assert!(refused.stderr.contains("--yes") && refused.stderr.contains("would ask"), "{refused}");
        assert_eq!(run(&scene, &["-m", "hello", "--yes"]).success().stdout, "You said: hello\n");
    }
}

#[test]
fn words_after_the_dashes_and_settings_of_the_type_reach_the_program() {
    let scene = Scene::of(Brand::Claude);
    let set =
        ["config", "set", "agent_types.claude.append_system_prompt", "[\"be a heron\"]", "--scope", "user"];
    let _ = scene.env.mngr(set).success();
    // Without a record of the conversation the answer is what the program itself prints.
    let output = run(&scene, &["-m", "hello", "--", "--no-session-persistence"]).success();
    assert_eq!(output.stdout, "You said: hello\n");
    let _ = scene.env.mngr(["undo", NAME]).success();
    let command = text(&agent(&scene.env, NAME)["command"]);
    assert!(command.contains("--no-session-persistence"), "{command}");
    let launch = std::fs::read_to_string(state_dir(&scene.env, NAME).join("launch_agent.sh")).unwrap();
    assert!(launch.contains("be a heron"), "{launch}");
}

#[test]
fn it_goes_on_with_a_conversation_and_tells_only_what_is_new() {
    for brand in BRANDS {
        let scene = Scene::of(brand);
        let (_, id) = talk(&scene, "remember the heron");
        let output = run(&scene, &["-m", "what was it", "--adopt", &id]).success();
        assert_eq!(output.stdout, "You said: what was it\n");
        assert_eq!(scene.history_with("what was it"), ["remember the heron", "what was it"]);
    }
}
