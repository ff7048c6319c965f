//! What `mngr tmr` is told: the plan it makes of it, and what it refuses.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mngr_testkit::Surroundings;
use serde_json::json;

use super::scene::Scene;
use crate::support::*;

#[test]
fn a_dry_run_shows_the_plan_and_its_forecast_and_launches_nothing() {
    let scene = Scene::usual();
    let shown = scene.tmr(&["--dry-run"]).success();
    insta::assert_snapshot!(without_times(&shown.stdout), @r"
    TEST            WHY      WHAT SHOWS IT
    tests/bye.sh    failing  ended with status 2
    tests/hello.sh  failing  ended with status 2

    3 tests, 2 of them for an agent
         2 failing
         1 passing: no agent
    Strength: not measured, there is no source file that mutants can be made of: changed tests need review
    Forecast: 2 agents, 2 at once; about 5m, 800k tokens, $1.00
    ");
    assert!(shown.stderr.contains("collector `scripts`, told by tests/here.sh"), "{shown}");
    let plan = scene.tmr(&["--dry-run", "--all", "--max-agents", "2", "--format", "json"]).success().json();
    crate::output_schemas::assert_output(&scene.env, "tmr", &plan);
    assert_eq!((&plan["agents"], &plan["run"]), (&3.into(), &"1".into()));
    assert_eq!(plan["forecast"]["reached"], json!(["agents"]));
    assert_eq!((&plan["strength"]["mutants"], &plan["strength"]["languages"]), (&12.into(), &json!({})));
    let events = scene.tmr(&["--dry-run", "--format", "jsonl"]).success().json_lines();
    crate::output_schemas::assert_lines(&scene.env, "tmr", &events);
    assert_eq!(
        events.iter().map(|line| text(&line["event"])).collect::<Vec<_>>(),
        ["planned", "planned", "planned", "plan"]
    );
    assert!(names(&scene.env).is_empty() && !scene.folder().exists());
}

#[test]
fn the_plan_says_what_will_be_measured_and_what_cannot_be() {
    let scene = Scene::usual();
    for (file, text) in [
        ("src/tool.py", "def answer():\n    return 42\n"),
        ("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n"),
        ("native/fast.c", "int answer(void) { return 42; }\n"),
    ] {
        let path = scene.env.work_dir().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let _ = scene.git(&["add", "--all"]);
    let _ = scene.git(&["commit", "--quiet", "--message", "a program"]);
    scene.set("tmr.mutants", "7");
    scene.set("tmr.program", "bin/tool");
    let plan = scene.tmr(&["--dry-run"]).success().stdout;
    let said: Vec<&str> = plan
        .lines()
        .skip_while(|line| !line.starts_with("Strength"))
        .take_while(|line| !line.starts_with("Forecast"))
        .collect();
    assert_eq!(
        said,
        [
            "Strength: 7 mutants for each test that an agent changes, made of Python, Rust",
            "  Rust: built for each mutant, at most 40 in the run; the rest needs review",
            "  no mutants of 1 file .c: what only they do is not measured",
            "  calls of `bin/tool` are replaced one at a time",
        ]
    );
    scene.set("tmr.mutants", "0");
    let off = scene.tmr(&["--dry-run"]).success();
    let expected = "Strength: not measured, `[tmr] mutants` is 0: changed tests need review\n";
    assert!(off.stdout.contains(expected), "{off}");
    let json = scene.tmr(&["--dry-run", "--format", "json"]).success().json();
    crate::output_schemas::assert_output(&scene.env, "tmr", &json);
    let strength = &json["strength"];
    assert_eq!((&strength["most_builds"], &strength["compiled"]), (&40.into(), &json!(["Rust"])), "{json}");
    assert_eq!(strength["without_mutants"], json!({ "c": 1 }));
}

/// How long a test took is different every time.
fn without_times(text: &str) -> String {
    let line = |line: &str| line.split(" after ").next().unwrap_or_default().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_test_named_by_its_id_gets_an_agent_although_it_passes() {
    let scene = Scene::usual();
    scene.set("tmr.collectors.scripts.collect", "ls {paths}");
    let plan = scene.tmr(&["tests/here.sh", "--dry-run", "--format", "json"]).success().json();
    assert_eq!(plan["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&plan["tasks"][0]["task"], &plan["tasks"][0]["reason"]),
        (&"tests/here.sh".into(), &"named".into())
    );
}

#[test]
fn what_cannot_be_followed_is_refused_with_what_to_do_instead() {
    let scene = Scene::usual();
    for (words, expected) in [
        (&["--snapshot", "x"][..], "needs a provider that makes hosts\nhint: leave it out"),
        (&["--agents-per-host", "4"], "needs a provider that makes hosts"),
        (&["--additional-authorized-host", "ssh-ed25519 A"], "an ssh server of their own"),
        (&["--since", "HEAD~3"], "`--since` is not there yet\nhint: name the tests"),
        (&["--reintegrate"], "hint: `mngr tmr reintegrate RUN`"),
        (
            &["--verbose", "status"],
            "hint: `mngr tmr status ...`; tests in a folder of that name are `./status`",
        ),
        (&["--max-cost", "cheap"], "Invalid value for `--max-cost`: `cheap`: expected US dollars, as in `5`"),
        (&["-k", "login"], "No such option: -k\nhint: words for the test framework come after `--`"),
        (&["--max-cots", "5"], "No such option: --max-cots\nhint: did you mean `--max-cost`?"),
        (&["--timeout", "5x"], "`5x` is not a duration"),
        (&["--verify-runs", "0"], "Invalid value for `--verify-runs`: `0`"),
        (&["--run-name", "a b"], "hint: try `--run-name a-b`"),
        (&["--label", "team"], "Invalid value for `--label`: `team` is not KEY=VALUE"),
        (&["--env", "s3cret"], "Invalid value for `--env`: expected KEY=VALUE"),
        (&["--agent-template", "web"], "template `web` not found"),
        (&["--agent-type", "fixer", "--collector", "pytets"], "there is no collector `pytets`"),
    ] {
        let refused = scene.env.mngr(["tmr"].iter().chain(words));
        assert!(refused.stderr.contains(expected), "{words:?}: {refused}");
        assert!(!refused.stderr.contains("s3cret"), "{refused}");
        let _ = refused.code(2);
    }
    let planned = scene.env.mngr(["tmr", "--provider", "modal"]).code(1);
    assert!(planned.stderr.contains("`modal` is not there yet"), "{planned}");
    assert!(!scene.folder().exists() && names(&scene.env).is_empty());
}

#[test]
fn agents_that_cannot_be_created_are_an_error_before_any_test_is_run() {
    let scene = Scene::usual();
    for (agent_type, code, expected) in [
        (None, 2, "no agent type was given\nhint: name a type with `--agent-type`"),
        (Some("fixxer"), 2, "unknown agent type `fixxer`; did you mean `fixer`?"),
        (Some("claude"), 1, "there is no `claude` on PATH"),
    ] {
        let named = agent_type.map(|name| format!("--agent-type={name}"));
        for words in [&["tmr"][..], &["tmr", "--dry-run"]] {
            let refused = scene.env.mngr(words.iter().copied().chain(named.as_deref())).code(code);
            assert!(refused.stderr.contains(expected), "{refused}");
            assert!(!refused.stderr.contains("finding the tests"), "{refused}");
        }
    }
    assert!(!scene.folder().exists());
}

#[test]
fn work_that_is_not_committed_is_left_out_and_that_is_said() {
    let scene = Scene::usual();
    let clean = scene.tmr(&["--dry-run"]).success();
    assert!(!clean.stderr.contains("uncommitted"), "{clean}");
    fs::write(scene.env.work_dir().join("tests/new.sh"), "exit 1\n").unwrap();
    let plan = scene.tmr(&["--dry-run"]).success();
    assert!(plan.stderr.contains("1 uncommitted change will not be seen"), "{plan}");
    assert!(!plan.stdout.contains("tests/new.sh"), "{plan}");
}

#[test]
fn tests_that_pass_anyway_are_no_result_of_a_run_whose_agents_all_failed() {
    let scene = Scene::new("exit 1");
    scene.set("agent_types.fixer.extra_provision_command", r#"["exit 1"]"#);
    let failed = scene.tmr(&["--retries", "0"]).code(1);
    assert!(failed.stdout.contains("1 clean  (1 needed no agent)"), "{failed}");
    assert!(failed.stdout.contains("2 failed"), "{failed}");
}

#[test]
fn outside_a_repository_and_without_a_known_framework_it_says_what_to_name() {
    let scene = Scene::usual();
    let outside = scene.env.mngr_in(scene.env.root(), ["tmr"]).code(1);
    assert!(outside.stderr.contains("name one with `--source PATH`"), "{outside}");
    scene.set("tmr.collectors.scripts.detect", r#"{"nothing.here": ""}"#);
    let unknown = scene.tmr(&[]).code(2);
    assert!(unknown.stderr.contains("name one with `--collector`"), "{unknown}");
}

#[test]
fn options_can_be_settings() {
    let scene = Scene::usual();
    scene.set("commands.tmr.name", "night");
    scene.set("commands.tmr.max_agents", "1");
    scene.set("commands.tmr.label", r#"["team=web"]"#);
    let _ = scene.tmr(&["--max-agents", "9"]).success();
    assert!(scene.env.work_dir().join("night_1/run.jsonl").exists());
    let agent = agent(&scene.env, "night-1-tests-hello-sh");
    assert_eq!(agent["labels"]["team"], "web");
    assert_eq!(agent["labels"]["mapreduce_role"], "MAPPER");
    let shown = scene.env.mngr(["tmr", "status", "1", "--format", "json"]).success().json();
    assert_eq!(shown["totals"]["agents"], 2, "typed words win over settings");
}

#[test]
fn values_of_variables_are_in_a_private_file_and_nowhere_else() {
    let scene = Scene::new(r#"test "$TOKEN" = s3cr3t && fix hello || publish blocked "without a token""#);
    let run = scene.tmr(&["--env", "TOKEN=s3cr3t", "--reducer-env=PUSH=s3cr3t-too", "-v"]).success();
    assert!(!run.stdout.contains("s3cr3t") && !run.stderr.contains("s3cr3t"), "{run}");
    let found = files_with(&scene.folder(), "s3cr3t");
    assert_eq!(found, [scene.folder().join("env.json")]);
    let mode = fs::metadata(&found[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let journal = fs::read_to_string(scene.folder().join("run.jsonl")).unwrap();
    assert!(journal.contains(r#""--env","TOKEN=...""#), "how it was called is there without the value");
    let status = scene.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    let stages: Vec<String> =
        status["tasks"].as_array().unwrap().iter().map(|task| text(&task["stage"])).collect();
    assert!(stages.contains(&"integrated".to_owned()), "the agents had it: {status}");
}

/// The files below a folder that hold a text.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text) {
            found.push(path);
        }
    }
    found
}

#[test]
fn templates_of_create_hold_for_the_agents() {
    let scene = Scene::new("test \"$COLOUR\" = blue && fix hello || publish blocked colour");
    scene.set("create_templates.painter", r#"{"env": ["COLOUR=blue"], "label": ["team=paint"]}"#);
    let run = scene.tmr(&["-t", "painter", "--format", "json"]).success().json();
    assert_eq!(run["totals"]["stages"]["integrated"], 1, "{run}");
    assert_eq!(agent(&scene.env, "tmr-1-tests-hello-sh")["labels"]["team"], "paint");
}

#[test]
fn at_a_terminal_a_forecast_above_a_limit_is_asked_about_once() {
    let scene = Scene::usual();
    let words = scene.words(&["--max-tokens", "1000"]);
    let terminal = scene.env.terminal(Surroundings::Plain, &words);
    let screen = terminal.wait_for("Launch 2 agents? [y/N]");
    assert!(screen.contains("above --max-tokens"), "{screen}");
    terminal.send_keys(["n", "Enter"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(!scene.folder().exists() && names(&scene.env).is_empty());
    let terminal = scene.env.terminal(Surroundings::Plain, words.iter().chain(&["--yes"]));
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(!terminal.screen().contains("[y/N]"));
}
