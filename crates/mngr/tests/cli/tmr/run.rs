//! Runs from their first line to their last: what is shown, what scripts get, and how they end.

use std::fs;

use mngr_testkit::Surroundings;
use serde_json::Value;

use super::scene::Scene;
use crate::output_schemas::{assert_lines, assert_output};
use crate::support::*;

const BRANCH: &str = "tmr/1/integrated";

/// Agents that mend their test once the user says so.
const WAITING: &str =
    r#"until test -e "$HOME/go"; do sleep 0.05; done; fix "$(basename "$MNGR_TMR_TASK" .sh)""#;

#[test]
fn a_run_ends_with_a_branch_and_says_what_to_do_with_it() {
    let scene = Scene::usual();
    let run = scene.tmr(&[]).success();
    for expected in [
        "Run 1: finished (",
        "     1 integrated\n     1 clean  (1 needed no agent)\n     1 blocked\n",
        "Branch tmr/1/integrated, 1 commit\n",
        "[FIX_IMPL] say hello\n",
        "git merge tmr/1/integrated\n",
        "Blocked\n  tests/bye.sh: nobody says bye here\n",
        "/tmr_1/report/index.html\n",
        "mngr tmr why COMMIT --run tmr_1\n",
        "mngr list --label mapreduce_run_name=1 --ids | mngr destroy --force -\n",
    ] {
        assert!(run.stdout.contains(expected), "{expected:?} in {run}");
    }
    for expected in
        ["run 1 of 3 tests begins", "verified: tests/hello.sh", "3/3  ", "the result has 1 commit"]
    {
        assert!(run.stderr.contains(expected), "{expected:?} in {run}");
    }
    assert!(
        !run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'),
        "no terminal, nothing painted: {run}"
    );
    assert_eq!(scene.git(&["log", "--format=%s", &format!("main..{BRANCH}")]), "[FIX_IMPL] say hello\n");
    assert!(fs::read_to_string(scene.folder().join("report/index.html")).is_ok());
    assert_eq!(scene.git(&["status", "--porcelain"]), "", "the checkout is as it was");
    assert_eq!(state(&scene.env, "tmr-1-tests-hello-sh"), "STOPPED", "agents are kept");
}

#[test]
fn the_commands_of_the_summary_do_what_they_say() {
    let scene = Scene::usual();
    let run = scene.tmr(&["--format", "json"]).success().json();
    let commit = text(&run["integration"]["commits"][0]["commit"]);
    assert_eq!(run["integration"]["branch"], BRANCH);
    assert_output(&scene.env, "tmr", &run);

    let why = scene.env.mngr(["tmr", "why", &commit, "--format", "json"]).success().json();
    assert_output(&scene.env, "tmr why", &why);
    let why = scene.env.mngr(["tmr", "why", &commit[..8]]).success().stdout;
    for expected in ["[FIX_IMPL] say hello", "Task      tests/hello.sh", "  hello.txt\n", "ranked: "] {
        assert!(why.contains(expected), "{expected:?} in {why}");
    }
    let unknown = scene.env.mngr(["tmr", "why", "fffffff"]).code(1);
    assert!(
        unknown.stderr.contains("`fffffff` is neither a commit of `tmr/1/integrated` nor a task of one"),
        "{unknown}"
    );

    let dropped = scene.env.mngr(["tmr", "drop", &commit, "--format", "json"]).success().json();
    assert_eq!(dropped["branch"], BRANCH);
    assert_output(&scene.env, "tmr drop", &dropped);
    assert_eq!(scene.git(&["log", "--format=%s", &format!("main..{BRANCH}")]), "");
    let status = scene.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    assert_eq!(status["integration"]["commits"], serde_json::json!([]));

    let again = scene.env.mngr(["tmr", "reintegrate", "--format", "json"]).success().json();
    assert_eq!(again["integration"]["commits"][0]["commit"], commit.as_str(), "the same commit once more");
    assert_output(&scene.env, "tmr reintegrate", &again);
    let strict = scene.env.mngr(["tmr", "reintegrate", "--gate", "! test -e hello.txt", "--no-integrator"]);
    assert!(strict.stdout.contains("Left out\n  tests/hello.sh: "), "{strict}");

    let list = scene.env.mngr(["list", "--label", "mapreduce_run_name=1", "--ids"]).success().stdout;
    assert_eq!(list.lines().count(), 2);
    let _ = scene.env.mngr_stdin(["destroy", "--force", "-"], list).success();
    assert!(names(&scene.env).is_empty());
}

#[test]
fn scripts_get_every_event_as_it_happens() {
    let scene = Scene::usual();
    let lines = scene.tmr(&["--format", "jsonl"]).success().json_lines();
    assert_lines(&scene.env, "tmr", &lines);
    let (journal, others): (Vec<&Value>, Vec<&Value>) = lines.iter().partition(|line| line["seq"].is_u64());
    let kept = fs::read_to_string(scene.folder().join("run.jsonl")).unwrap();
    let kept: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(journal, kept.iter().collect::<Vec<_>>(), "the lines of the journal, all of them");
    let names: Vec<String> = others.iter().map(|line| text(&line["event"])).collect();
    assert_eq!(
        names,
        ["tasks_discovered", "agents_launched", "integrator_branch", "report_generated", "run"]
    );
    assert_eq!((&others[0]["count"], &others[1]["count"]), (&3.into(), &2.into()));
    assert_eq!(others[2]["branch_name"], BRANCH);

    let commit = text(&lines.last().unwrap()["integration"]["commits"][0]["commit"]);
    let more =
        [vec!["why", &commit], vec!["drop", &commit], vec!["reintegrate"], vec!["report"], vec!["resume"]];
    for words in more.into_iter().chain([vec!["status"], vec!["stop"]]) {
        let printed = scene.env.mngr(["tmr"].iter().chain(&words).chain(&["--format", "jsonl"])).json_lines();
        assert_lines(&scene.env, &format!("tmr {}", words[0]), &printed);
    }
}

#[test]
fn nothing_came_of_it_is_exit_code_1_and_resume_leaves_a_finished_run_as_it_is() {
    let scene = Scene::new("exit 0");
    scene.set("tmr.idle_grace", "100ms");
    scene.set("tmr.nudge_patience", "100ms");
    scene.set("tmr.collectors.scripts.collect", "ls tests/hello.sh tests/bye.sh");
    let run = scene.tmr(&[]).code(1);
    assert!(run.stdout.contains("     2 failed\n") && run.stdout.contains(" x failed(dead): "), "{run}");
    assert!(!run.stdout.contains("Branch"), "{run}");
    let again = scene.env.mngr(["tmr", "resume"]).code(1);
    assert!(again.stdout.contains("     2 failed\n"), "{again}");
}

#[test]
fn a_run_that_goes_on_is_left_alone_and_one_that_was_stopped_says_how_to_go_on() {
    let scene = Scene::new(WAITING);
    let running = scene.env.spawn(scene.words(&[]));
    wait_until(PATIENCE, || {
        scene.env.mngr(["tmr", "status", "--format", "{stage}"]).stdout.contains("working")
    });
    for words in [&["tmr", "resume"][..], &["tmr", "reintegrate"]] {
        let taken = scene.env.mngr(words).code(1);
        assert!(taken.stderr.contains("hint: `mngr tmr status --watch` shows what it does"), "{taken}");
    }
    let stopped = scene.env.mngr(["tmr", "stop", "--now"]).success();
    assert_eq!(stopped.stdout, "The run stops its agents\n");
    let ended = running.finish().code(130);
    for expected in ["Run 1: interrupted", "     2 failed\n", "mngr tmr resume tmr_1\n"] {
        assert!(ended.stdout.contains(expected), "{expected:?} in {ended}");
    }
    let nobody = scene.env.mngr(["tmr", "stop"]).success();
    assert!(nobody.stdout.contains("Nobody works on this run; 0 agents"), "{nobody}");
}

#[test]
fn at_a_terminal_the_board_lives_and_makes_way_for_the_summary() {
    let scene = Scene::new(WAITING);
    let terminal = scene.env.terminal(Surroundings::Plain, scene.words(&[]));
    let screen = terminal.wait_for("2 working");
    assert!(screen.contains("1 of 3 tests done") && screen.contains("tests/hello.sh"), "{screen}");
    fs::write(scene.env.home().join("go"), "").unwrap();
    assert_eq!(terminal.wait_for_exit(), 0);
    let screen = terminal.screen();
    assert!(screen.contains("     2 integrated") && !screen.contains("tests done"), "{screen}");
}

#[test]
fn the_page_is_written_and_everything_is_one_object() {
    let scene = Scene::usual();
    let _ = scene.tmr(&[]).success();
    fs::remove_dir_all(scene.folder().join("report")).unwrap();
    let written = scene.env.mngr(["tmr", "report"]).success().stdout;
    let index = written.lines().next().unwrap();
    assert!(fs::read_to_string(index).unwrap().contains("<script"), "{written}");
    let whole = scene.env.mngr(["tmr", "report", "--format", "json"]).success().json();
    assert_output(&scene.env, "tmr report", &whole);
    for verb in ["resume", "status", "stop"] {
        let printed = scene.env.mngr(["tmr", verb, "--format", "json"]).json();
        assert_output(&scene.env, &format!("tmr {verb}"), &printed);
    }
    assert_eq!((&whole["page"], &whole["state"]), (&index.into(), &"finished".into()));
    assert_eq!(whole["tasks"].as_array().unwrap().len(), 3);
    let opened = scene.env.mngr(["tmr", "report", "--open"]).success();
    assert!(opened.stdout.contains("index.html"), "{opened}");
}
