//! What is peculiar to Claude Code.

use std::time::{Duration, Instant};

use mngr_testkit::model::Brand;

use super::mixed::Mix;
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

#[test]
fn it_says_itself_that_it_is_idle() {
    let scene = Scene::with_agent(Brand::Claude);
    let explained = scene.env.mngr(["explain", NAME]).success();
    assert!(explained.stdout.contains("Claude Code says it is idle"), "{explained}");
}

#[test]
fn a_screen_rule_of_the_user_wins_over_what_it_says_of_itself() {
    let scene = Scene::with_agent(Brand::Claude);
    let rule =
        r#"agent_types.claude.screen.mine={"look":"input_box","state":"WAITING","reason":"RATE_LIMITED"}"#;
    let explained = scene.env.mngr(["explain", NAME, "-S", rule]).success().stdout;
    assert!(explained.contains("(rule `mine` of `agent_types.claude` in the settings)"), "{explained}");
    assert!(explained.contains("; against it: Claude Code says it is idle"), "{explained}");
    let listed = scene.env.mngr(["list", "-S", rule, "--format", "json"]).success().json();
    assert_eq!(listed["agents"][0]["waiting_reason"], "RATE_LIMITED", "{listed}");
    scene.wait_for(IDLE);
}

#[test]
fn refused_credentials_are_told_from_the_end_of_a_turn() {
    let mut scene = Scene::of(Brand::Claude);
    // It would try again for minutes.
    scene.env.set_var("CLAUDE_CODE_MAX_RETRIES", "1");
    let _ = scene.create(&[]).success();
    scene.say("[[401]]");
    scene.wait_for("WAITING AUTH");
}

#[test]
fn half_typed_text_of_several_lines_and_of_the_shell_comes_back() {
    let scene = Scene::with_agent(Brand::Claude);
    for typed in ["first half\nsecond half", "!echo half a command"] {
        let _ = scene.env.tmux(["set-buffer", "-b", "typed", typed]).success();
        let _ = scene.env.tmux(["paste-buffer", "-p", "-d", "-b", "typed", "-t", "=mngr-a:"]).success();
        wait_until(PATIENCE, || scene.screen().contains("half"));
        let before = scene.input_box();
        scene.say(&format!("beside {}", typed.len()));
        scene.wait_for(IDLE);
        assert_eq!(scene.input_box(), before);
        scene.clear_box();
        scene.press("C-u");
        scene.press("BSpace");
        wait_until(PATIENCE, || !scene.input_box().contains("half"));
    }
}

#[test]
fn a_text_that_is_put_aside_already_is_not_replaced_by_another() {
    let scene = Scene::with_agent(Brand::Claude);
    scene.type_text("put aside");
    scene.press("C-s");
    wait_until(PATIENCE, || scene.screen().contains("stashed"));
    scene.type_text("half a sentence");
    let refused = scene.send("mine").code(1);
    assert!(refused.stderr.contains("typed something"), "{refused}");
    assert!(scene.input_box().contains("half a sentence"));
}

#[test]
fn a_command_that_opens_a_dialog_is_delivered_and_blocks() {
    let scene = Scene::with_agent(Brand::Claude);
    let blocked = scene.env.mngr(["message", NAME, "-m", "/model", "--format", "json"]).code(7).json();
    assert_eq!(blocked["blocked_agents"][0]["agent"], NAME, "{blocked}");
    assert_eq!(blocked["total_sent"], 0, "{blocked}");
    scene.wait_for("WAITING QUESTION");
    scene.escape_the_dialog();
    scene.say("/context");
}

#[test]
fn a_command_is_what_it_says_it_is() {
    let scene = Scene::with_agent(Brand::Claude);
    let mistyped = scene.send("/contxt").code(1);
    assert!(mistyped.stderr.contains("Unknown command: /contxt. Did you mean /context?"), "{mistyped}");
    let completed = scene.send("/contex").success();
    assert!(completed.stderr.contains("took this for its command `/context`"), "{completed}");
    for said in ["/ is the root", "/1st of all", "/", "/\nline"] {
        scene.say(said);
        scene.wait_for(IDLE);
    }
    let heard = scene.history_with("line");
    // What `/context` printed is told to the model as well.
    assert_eq!(heard[heard.len() - 4..], ["/ is the root", "/1st of all", "/", "/\nline"]);
}

#[test]
fn two_hundred_messages_in_every_situation_are_neither_lost_nor_doubled() {
    let _ = Mix::of(Brand::Claude).send(200);
}

#[test]
fn soak_five_hundred_messages_in_every_situation_are_neither_lost_nor_doubled() {
    let times = Mix::of(Brand::Claude).send(500);
    assert!(times.percentile(50) <= Duration::from_millis(150), "{:?}", times.percentile(50));
}

#[test]
fn soak_twenty_at_once_answer_and_are_destroyed() {
    let Scene { env, model: _model, .. } = &Scene::of(Brand::Claude);
    let started = Instant::now();
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
        wait_until(PATIENCE, || {
            let agent = agent(env, name);
            format!("{} {}", text(&agent["state"]), text(&agent["waiting_reason"])) == IDLE
        });
    }
    let answered = started.elapsed();
    let memory: u64 = names.iter().map(|name| resident_kilobytes(&agent(env, name)["pid"])).sum();
    let ids = env.mngr(["list", "--ids"]).success().stdout;
    let _ = env.mngr_stdin(["destroy", "--force", "-"], ids.as_bytes()).success();
    wait_until(PATIENCE, || env.processes().is_empty());
    let gone = started.elapsed();
    println!(
        "twenty agents: answered after {:.1} s, gone after {:.1} s, {} MB of memory in all",
        answered.as_secs_f32(),
        gone.as_secs_f32(),
        memory / 1024
    );
}

fn resident_kilobytes(pid: &serde_json::Value) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
