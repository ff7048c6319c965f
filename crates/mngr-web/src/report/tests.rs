//! Reports of made-up runs.

use std::sync::Arc;

use mngr_host::files::{Access, Durability, Files as _};
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_model::HostPath;
use mngr_model::run::{FailureKind, Run};
use serde_json::{Value, json};

use super::summary::summary;
use super::testing::Journal;
use super::*;
use crate::testing::Artifacts;

fn shown(run: &Run) -> Value {
    summary(run, &[], &HostPath::new("/runs/it's one"))
}

fn row<'v>(summary: &'v Value, id: &str) -> &'v Value {
    summary["rows"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap()
}

#[test]
fn every_stage_has_its_section() {
    let mut journal = Journal::new();
    for stage in ["queued", "launching", "ready", "working", "published", "pulled", "verified"] {
        let until = ["launching", "ready", "working", "published", "pulled", "verified"];
        let count = until.iter().position(|name| *name == stage).map_or(0, |at| at + 1);
        journal.queue(stage);
        journal.stages(stage, 1, &until[..count]);
    }
    for end in ["unresolved", "blocked", "integrated", "needs_review", "clean"] {
        journal.verified(end, json!({}));
        journal.stages(end, 1, &[end]);
    }
    for kind in FailureKind::ALL {
        journal.queue(kind.as_str());
        journal.stages(kind.as_str(), 1, &["launching", &format!("failed:{kind}")]);
    }
    let summary = shown(&journal.run());
    let sections: Vec<(String, u64)> = summary["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| (section["name"].as_str().unwrap().to_owned(), section["count"].as_u64().unwrap()))
        .collect();
    let failures = FailureKind::ALL.len() as u64;
    let expected = [
        ("non_implementation", 0),
        ("implementation", 1),
        ("needs_review", 1),
        ("unresolved", 1),
        ("blocked", 1),
        ("failed", failures),
        ("passes_on_result", 0),
        ("clean", 1),
        ("running", 7),
    ];
    assert_eq!(sections, expected.map(|(name, count)| (name.to_owned(), count)));
    assert_eq!(row(&summary, "auth")["kind"], "auth");
}

#[test]
fn what_commits_are_decides_over_what_they_say() {
    for (said, is, section) in [
        ("FIX_TEST", "FIX_IMPL", "implementation"),
        ("FIX_IMPL", "IMPROVE_TEST", "non_implementation"),
        ("FIX_IMPL", "FIX_IMPL", "implementation"),
    ] {
        let mut journal = Journal::new();
        journal.verified("t", json!({"changes": [{"kind": said, "summary_markdown": "x"}]}));
        journal.classified("t", is);
        journal.stages("t", 1, &["integrated"]);
        assert_eq!(row(&shown(&journal.run()), "t")["section"], section, "{said} {is}");
    }
}

#[test]
fn a_line_says_what_became_of_the_change() {
    let mut journal = Journal::new();
    for task in ["squashed", "picked", "dropped", "expelled", "clash", "contained", "waits"] {
        journal.verified(task, json!({}));
    }
    journal.step("started", json!({"tasks": ["picked"]}));
    journal.step("conflict", json!({"tasks": ["clash"], "with": ["picked"], "files": ["a"], "reason": "no"}));
    journal.step("expelled", json!({"tasks": ["expelled"], "reason": "`make lint` fails", "output": "x"}));
    journal.step("squashed", json!({"tasks": ["squashed"], "commit": "s1"}));
    journal.step("picked", json!({"tasks": ["picked"], "commit": "p1", "votes": 47, "reason": "23: x"}));
    journal.step("picked", json!({"tasks": ["dropped"], "commit": "p2"}));
    journal.step("finished", json!({"commit": "p2", "commits": 3}));
    for task in ["squashed", "picked", "dropped", "contained"] {
        journal.stages(task, 1, &["integrated"]);
    }
    journal.stages("expelled", 1, &["failed:gate"]);
    journal.stages("clash", 1, &["failed:conflict"]);
    journal.step("dropped", json!({"tasks": ["dropped"], "commit": "p2"}));
    let summary = shown(&journal.run());
    let merged = |task: &str| row(&summary, task)["merged"].clone();
    assert_eq!(merged("squashed")["squashed"], "s1");
    assert_eq!((&merged("picked")["picked"], &merged("picked")["reason"]), (&json!(["p1"]), &Value::Null));
    assert_eq!((&merged("dropped")["dropped"], &merged("dropped")["picked"]), (&json!(["p2"]), &json!([])));
    assert_eq!(merged("expelled")["reason"], "expelled: `make lint` fails");
    assert_eq!(merged("clash")["reason"], "conflicts with `picked`");
    assert_eq!(merged("contained")["reason"], "already part of another change");
    assert_eq!(merged("waits")["reason"], "waits for integration");
    let integration = &summary["integration"];
    assert_eq!(
        (&integration["commits"][1]["votes"], &integration["commits"][2]["is_dropped"]),
        (&json!(47), &json!(true))
    );
    assert_eq!((&integration["conflicts"][0]["with"], &summary["commits"]), (&json!(["picked"]), &json!(2)));
}

#[test]
fn what_needs_review_and_the_final_run_are_told() {
    let mut journal = Journal::new();
    for task in ["in", "weak", "taken", "gone"] {
        journal.verified(task, json!({}));
    }
    journal.step("started", json!({}));
    journal.step("unneeded", json!({"tasks": ["in"], "reason": "no test needs `x`", "files": ["x"]}));
    journal.step("picked", json!({"tasks": ["in"], "commit": "p1"}));
    journal.step("finished", json!({"commit": "p1", "commits": 1}));
    for (task, commit) in [("weak", "r1"), ("taken", "r2")] {
        let reasons = json!([{"kind": "weaker", "text": "it is weaker"}]);
        journal
            .step("reviewed", json!({"tasks": [task], "commit": commit, "reason": "w", "reasons": reasons}));
    }
    journal.stages("in", 1, &["integrated"]);
    journal.stages("weak", 1, &["needs_review"]);
    journal.stages("taken", 1, &["needs_review"]);
    journal.stages("gone", 1, &["failed:dead"]);
    let renamed = json!({"r2": "t1", "r1": "r3"});
    journal.step("taken", json!({"tasks": ["taken"], "commit": "t1", "from": "r2", "rewritten": renamed}));
    journal.add(
        "final_run",
        json!({"branch": "b", "commit": "t1", "passed": 3, "failed": 1, "tests": ["weak"]}),
    );
    let summary = shown(&journal.run());
    assert_eq!(summary["final_line"], "3 of 4 tests pass on b; 1 does not: weak");
    assert_eq!((&summary["final"]["passed"], &summary["commits"]), (&json!(3), &json!(2)));
    let integration = &summary["integration"];
    assert_eq!(integration["review"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&integration["review"][0]["commit"], &integration["commits"][1]["is_taken"]),
        (&json!("r3"), &json!(true))
    );
    assert_eq!(integration["unneeded"][0]["files"], json!(["x"]));
    let weak = row(&summary, "weak");
    assert_eq!((&weak["section"], &weak["merged"]["review"]), (&json!("needs_review"), &json!("r3")));
    assert_eq!(weak["merged"]["reasons"], json!(["it is weaker"]));
    assert_eq!(row(&summary, "taken")["section"], "implementation");
    assert_eq!(row(&summary, "gone")["section"], "passes_on_result");
    let says: Vec<&str> = summary["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["says"].as_str().unwrap())
        .collect();
    assert!(says.contains(&"See what needs review"), "{says:?}");
}

#[test]
fn claims_stand_beside_what_was_measured() {
    let mut journal = Journal::new();
    journal.verified("t", json!({}));
    let measured = |journal: &mut Journal, what: &str, verdict: &str, exits: &[i32]| {
        let runs: Vec<Value> = exits.iter().map(|exit| json!({"exit": exit, "ms": 1})).collect();
        journal.add(
            "measured",
            json!({"task": "t", "attempt": 1, "what": what, "verdict": verdict, "runs": runs}),
        );
    };
    measured(&mut journal, "before", "failed", &[1, 1]);
    measured(&mut journal, "after", "flaky", &[0, 1, 0]);
    measured(&mut journal, "mutation", "not_measurable", &[]);
    let summary = shown(&journal.run());
    let row = row(&summary, "t");
    assert_eq!(row["claimed"], json!({"before": false, "after": true}));
    let share =
        |what: &str| (row["measured"][what]["passed"].as_u64(), row["measured"][what]["runs"].as_u64());
    assert_eq!((share("before"), share("after")), ((Some(0), Some(2)), (Some(2), Some(3))));
    assert_eq!(row["measured"]["mutation"]["verdict"], "not_measurable");
}

#[test]
fn equal_escalations_are_one_with_all_who_made_them_and_blockers_come_first() {
    let escalation = |kind: &str, text: &str, line: u32| json!({"escalations": [{"kind": kind, "description_markdown": text, "locations": [{"path": "a", "line": line}]}]});
    let mut journal = Journal::new();
    journal.verified("a", escalation("UNCAUGHT_BUG", "The writer is wrong.\n\nLook.", 1));
    journal.verified("b", escalation("UNCAUGHT_BUG", "the writer is wrong. ", 2));
    journal.verified("c", escalation("BLOCKER", "No network.", 3));
    let escalations = &shown(&journal.run())["escalations"];
    assert_eq!((&escalations[0]["kind"], &escalations[1]["tasks"]), (&json!("BLOCKER"), &json!(["a", "b"])));
    assert_eq!(escalations[1]["locations"].as_array().unwrap().len(), 2);
    assert_eq!(escalations.as_array().unwrap().len(), 2);
}

#[test]
fn time_with_an_agent_is_counted_over_attempts_and_drawn_as_bars() {
    let mut journal = Journal::new();
    journal.queue("t");
    journal.stages("t", 1, &["launching", "working", "failed:dead"]);
    journal.stages("t", 2, &["launching", "working"]);
    journal.queue("other");
    let summary = shown(&journal.run());
    let row = row(&summary, "t");
    assert_eq!((&row["attempts"], &row["ms"]), (&json!(2), &json!(4000)));
    let bars = json!([[0, 1000, 2000], [1, 2000, 3000], [3, 3000, 4000], [1, 5000, 6000], [3, 6000, 7000]]);
    assert_eq!(row["bars"], bars);
}

#[test]
fn commands_can_be_copied_and_name_a_branch_only_when_there_is_one() {
    let mut journal = Journal::new();
    journal.verified("t", json!({}));
    let commands = |run: &Run| -> Vec<String> {
        let commands = shown(run)["commands"].as_array().unwrap().clone();
        commands.iter().map(|command| command["command"].as_str().unwrap().to_owned()).collect()
    };
    let before = commands(&journal.run());
    assert_eq!(before[1], r"mngr tmr reintegrate '/runs/it'\''s one'");
    assert_eq!(before.len(), 2);
    journal.step("started", json!({}));
    journal.step("picked", json!({"tasks": ["t"], "commit": "p1"}));
    journal.step("finished", json!({"commit": "p1"}));
    assert_eq!(
        commands(&journal.run())[2..],
        ["git log --stat abc..tmr/7/integrated", "git switch tmr/7/integrated"]
    );
}

#[test]
fn everything_is_there_as_json_and_whole() {
    let mut journal = Journal::new();
    let long = "word ".repeat(5000);
    journal.verified("t", json!({"summary_markdown": long}));
    journal.stages("t", 1, &["unresolved"]);
    let run = journal.run();
    let failures = [FailureGroup {
        stage: "failed(launch)".into(),
        message: "m".into(),
        tasks: vec![run.tasks[0].id.clone()],
    }];
    let value = json(&run, &failures);
    let task = &value["tasks"][0];
    assert_eq!(task["attempts"][1]["outcome"]["summary_markdown"], long);
    assert_eq!((&task["section"], &task["branch"]), (&json!("unresolved"), &json!("tmr/7/t")));
    assert_eq!((&value["failures"][0]["tasks"], &value["totals"]["agents"]), (&json!(["t"]), &json!(1)));
}

/// A run with its folder, and a writer of its report.
struct World {
    dir: Artifacts,
    writer: ReportWriter,
}

impl World {
    fn new() -> Self {
        let dir = Artifacts::new();
        let writer = Self::writer(&dir);
        Self { dir, writer }
    }

    fn writer(dir: &Artifacts) -> ReportWriter {
        let host = Arc::new(LocalHost::open(dir.at("state")).unwrap());
        ReportWriter::new(host, dir.at("run"), dir.at("run/report"))
    }

    fn write(&mut self, run: &Run) -> Written {
        self.writer.write(run, &[]).unwrap()
    }

    fn piece(&self, name: &str) -> String {
        LocalFiles.read_text(&self.dir.at(&format!("run/report/data/{name}.js"))).unwrap()
    }

    fn value(&self, name: &str) -> Value {
        let script = self.piece(name);
        let json = script.strip_prefix(&format!("mngr.add(\"{name}\",")).unwrap();
        serde_json::from_str(json.strip_suffix(");\n").unwrap()).unwrap()
    }
}

const CAST: &str = "{\"version\":2,\"width\":10,\"height\":2}\n[0.5,\"o\",\"one\"]\n";

#[test]
fn only_what_changed_is_written_again_and_equal_recordings_once() {
    let mut world = World::new();
    let mut journal = Journal::new();
    for task in ["a", "b", "c"] {
        journal.verified(task, json!({}));
        world.dir.put(&format!("run/tasks/{task}/attempt-1/artifacts/e2e/t/a.cast"), CAST);
    }
    assert_eq!(world.write(&journal.run()), Written { tasks: 3, changed: 3, evidence: 1 });
    assert_eq!(world.write(&journal.run()), Written { tasks: 3, changed: 0, evidence: 0 });
    journal.stages("b", 1, &["unresolved"]);
    assert_eq!(world.write(&journal.run()), Written { tasks: 3, changed: 1, evidence: 0 });
    // What arrives after the last word of a task is found too.
    world.dir.put("run/tasks/c/attempt-1/screen.txt", "done\n");
    assert_eq!(world.write(&journal.run()), Written { tasks: 3, changed: 1, evidence: 0 });
    assert_eq!(world.value("task/c")["attempts"][1]["left"]["screen"], json!([["done"]]));
    // Somebody else goes on with the same page.
    world.writer = World::writer(&world.dir);
    assert_eq!(world.write(&journal.run()), Written { tasks: 3, changed: 3, evidence: 0 });
    assert!(world.dir.has("run/report/index.html") && world.dir.has("run/report/assets/report/main.js"));
}

#[test]
fn all_an_agent_left_is_named_and_what_is_too_large_or_unreadable_says_so() {
    let mut world = World::new();
    let mut journal = Journal::new();
    journal.verified("t", json!({}));
    let at = |name: &str| format!("run/tasks/t/attempt-1/{name}");
    world.dir.put(&at("artifacts/e2e/try_1/transcript.txt"), "$ ls\n? 0\n");
    world.dir.put(&at("artifacts/e2e/try_1/x.cast"), "nonsense");
    world.dir.put(&at("artifacts/loose.cast"), CAST);
    world.dir.put(&at("artifacts/deep/er/log.txt"), "x");
    world.dir.put(&at("transcript.jsonl"), "{\"type\":\"user_message\",\"content\":\"hi\"}\n");
    let huge = world.dir.at(&at("artifacts/huge.cast"));
    LocalFiles.write(&huge, &vec![b' '; 65 * 1024 * 1024], Access::Shared, Durability::Cached).unwrap();
    LocalFiles.link("/etc/passwd", &world.dir.at(&at("artifacts/link.cast"))).unwrap();
    let raw = world.dir.at(&at("screen.txt"));
    LocalFiles.write(&raw, b"\xff\xfe\x1b[2Jok\x1b]0;t\x07\n", Access::Shared, Durability::Cached).unwrap();
    world.write(&journal.run());
    let left = world.value("task/t")["attempts"][1]["left"].clone();
    assert_eq!(left["screen"], json!([["\u{fffd}\u{fffd}ok"]]));
    let sessions = left["sessions"].as_array().unwrap();
    let names: Vec<&Value> =
        sessions[0]["recordings"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["huge.cast", "loose.cast"]);
    assert!(sessions[0]["recordings"][0]["problem"].as_str().unwrap().contains("65 MiB"), "{sessions:?}");
    assert_eq!((&sessions[1]["run"], &sessions[1]["name"]), (&json!("e2e"), &json!("try_1")));
    assert!(
        world
            .piece(&format!("{}/map", sessions[1]["recordings"][0]["prefix"].as_str().unwrap()))
            .contains("problem")
    );
    let talk = left["conversation"]["prefix"].as_str().unwrap();
    assert!(world.piece(&format!("{talk}/0")).contains("hi"));
    assert_eq!(left["files"], json!(["deep/er/log.txt"]));
}

#[test]
fn nothing_an_agent_writes_leaves_its_string_or_is_endless() {
    let mut world = World::new();
    let mut journal = Journal::new();
    let hostile = format!("</script>\u{1b}[2J\u{2028}{}", "x".repeat(1_000_000));
    journal.verified(
        "t",
        json!({
            "summary_markdown": hostile, "reason": hostile,
            "escalations": [{"kind": "BLOCKER", "description_markdown": hostile, "locations": []}],
        }),
    );
    journal.step("started", json!({"reason": hostile, "any": {"deep": [hostile]}}));
    journal.step("expelled", json!({"tasks": ["t"], "reason": hostile, "output": hostile}));
    world.write(&journal.run());
    for name in ["report", "task/t"] {
        let script = world.piece(name);
        for forbidden in ["<", "\\u001b", "\u{1b}", "\u{2028}"] {
            assert!(!script.contains(forbidden), "{forbidden:?} in {name}");
        }
        assert!(script.len() < 300_000, "{name} has {} bytes", script.len());
    }
    assert!(world.value("report")["rows"][0]["summary"].as_str().unwrap().starts_with("</script>"));
}

#[test]
fn a_run_without_a_line_is_a_page_all_the_same() {
    let mut world = World::new();
    assert_eq!(world.write(&Run::default()), Written::default());
    assert_eq!(world.value("report")["rows"], json!([]));
}
