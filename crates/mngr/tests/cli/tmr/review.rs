//! What needs review: its branch, what is said about it, taking it over, dropping it, leaving a test out.

use super::project::Project;
use crate::output_schemas::assert_output;
use crate::support::text;

/// Three tests: `one` is put right in the program, `two` passes and is made stronger, `three` is put right through a file
/// that other tests use.
fn project() -> Project {
    let project = Project::new();
    project.broken("one", "fix");
    improved(&project, "two");
    project.write("tests/common/answer", "no\n");
    project.test("three", "grep -qx yes tests/common/answer");
    project.part("three", "echo yes >tests/common/answer; commit '[FIX_TEST] three'; publish");
    project
}

/// A test of a small program, which passes and is made stronger.
fn improved(project: &Project, name: &str) {
    project.write(&format!("src/{name}.sh"), &format!("answer() {{\n    echo {name}\n}}\nanswer\n"));
    project.test(name, &format!("set -e\n[ \"$(sh src/{name}.sh)\" = {name} ]"));
    let more = format!("[ \"$(sh src/{name}.sh | wc -l)\" -eq 1 ]");
    project.part(name, &format!("echo '{more}' >>$MNGR_TMR_TASK; commit '[IMPROVE_TEST] {name}'; publish"));
}

/// The subjects on both branches, oldest first.
fn branches(project: &Project) -> [Vec<String>; 2] {
    let log = |range: &str| -> Vec<String> {
        let printed = project.git(&["log", "--reverse", "--format=%s", range]);
        printed.lines().map(str::to_owned).collect()
    };
    let has_review = !project.git(&["for-each-ref", "refs/heads/tmr/1/review"]).is_empty();
    let review = if has_review { log("tmr/1/integrated..tmr/1/review") } else { Vec::new() };
    [log("main..tmr/1/integrated"), review]
}

const MERGEABLE: &str = "Tests and docs: the changes of 1 agent";

#[test]
fn a_change_that_needs_review_is_on_its_own_branch_and_can_be_taken_or_dropped() {
    let project = project();
    let (run, output) = project.run(&["--all"], 0);
    assert_eq!(run.ends()["tests/three.sh"], "needs_review", "{output}");
    assert!(
        run.evidence("tests/three.sh")
            .contains(": it changes files that other tests use: `tests/common/answer`"),
        "{}",
        run.evidence("tests/three.sh")
    );
    let one = "[FIX_IMPL] one is good".to_owned();
    let (result, review) = (vec![MERGEABLE.to_owned(), one], vec!["[FIX_TEST] three".to_owned()]);
    assert_eq!(branches(&project), [result.clone(), review.clone()]);
    let first = output.stdout.lines().next().unwrap_or_default();
    assert_eq!(first, "2 of 3 tests pass on tmr/1/integrated; 1 does not: tests/three.sh", "{output}");
    for expected in ["   1 need review\n", "Needs review\n", "mngr tmr take COMMIT --run tmr_1"] {
        assert!(output.stdout.contains(expected), "{expected:?} in {output}");
    }
    let status = project.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    assert_eq!((&status["final"]["passed"], &status["final"]["failed"]), (&2.into(), &1.into()), "{status}");
    assert_eq!(status["final"]["tests"], serde_json::json!(["tests/three.sh"]));
    assert_eq!(status["integration"]["review_branch"], "tmr/1/review");
    let two = status["tasks"].as_array().unwrap().iter().find(|task| task["task"] == "tests/two.sh").unwrap();
    let (before, after) = (&two["mutants"]["before"], &two["mutants"]["after"]);
    assert!(
        before["killed"].as_u64() > Some(0) && before["killed"].as_u64() <= after["killed"].as_u64(),
        "{two}"
    );
    let shown = format!("{}/{} -> {}/{}", before["killed"], before["made"], after["killed"], after["made"]);
    assert_eq!(text(&two["strength"]), shown);
    let board = project.env.mngr(["tmr", "status"]).success().stdout;
    assert!(board.contains(&format!("strength of changed tests: {shown} (1 measured, 1 not)\n")), "{board}");
    let line = board.lines().find(|line| line.starts_with("tests/three.sh")).unwrap_or_default();
    assert!(line.contains("needs_review  not measur"), "{board}");
    assert_eq!(status["integration"]["review"][0]["reasons"][0]["kind"], "shared");
    let why = project.env.mngr(["tmr", "why", "tests/three.sh"]).success().stdout;
    assert!(why.contains("shared: it changes files that other tests use"), "{why}");
    let report = project.env.mngr(["tmr", "report", "--format", "json"]).success().json();
    assert_eq!(report["final"]["passed"], 2);

    let dropped = project.env.mngr(["tmr", "drop", "tests/three.sh", "--format", "json"]).success().json();
    assert_output(&project.env, "tmr drop", &dropped);
    assert_eq!(dropped["branch"], "tmr/1/review");
    assert_eq!(branches(&project), [result.clone(), vec![]]);
    let _ = project.env.mngr(["tmr", "take", "tests/three.sh"]).code(1);
    let _ = project.env.mngr(["tmr", "reintegrate"]).success();
    assert_eq!(branches(&project), [result.clone(), review.clone()], "both are back");

    let taken = project.env.mngr(["tmr", "take", "tests/three.sh", "--format", "json"]).success().json();
    assert_output(&project.env, "tmr take", &taken);
    assert_eq!((&taken["final"]["passed"], &taken["final"]["failed"]), (&3.into(), &0.into()), "{taken}");
    assert_eq!(branches(&project), [[result, review].concat(), vec![]]);
    let status = project.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    let stages = status["tasks"].as_array().unwrap().iter().map(|task| text(&task["stage"]));
    assert_eq!(stages.collect::<Vec<_>>(), ["integrated"; 3], "{status}");
    assert_eq!(status["integration"]["commits"].as_array().unwrap().len(), 3);
    project.assert_green_at_every_commit(&[]);
}

#[test]
fn one_test_of_the_mergeable_commit_is_dropped_or_left_out() {
    let project = project();
    improved(&project, "four");
    let (_, output) = project.run(&["--all"], 0);
    let both = "Tests and docs: the changes of 2 agents";
    assert_eq!(branches(&project)[0][0], both, "{output}");
    let dropped = project.env.mngr(["tmr", "drop", "tests/four.sh"]).success().stdout;
    assert!(
        dropped.contains("3 of 4 tests pass on tmr/1/integrated; 1 does not: tests/three.sh"),
        "{dropped}"
    );
    assert_eq!(branches(&project)[0][0], MERGEABLE);

    let _ = project.env.mngr(["tmr", "reintegrate", "--without", "tests/nobody.sh"]).code(2);
    let words = ["tmr", "reintegrate", "--without", "tests/two.sh", "--without", "tests/three.sh"];
    let again = project.env.mngr(words.iter().chain(&["--format", "json"])).success().json();
    assert_output(&project.env, "tmr reintegrate", &again);
    assert_eq!(branches(&project), [vec![MERGEABLE.to_owned(), "[FIX_IMPL] one is good".to_owned()], vec![]]);
    let end = again["tasks"].as_array().unwrap().iter().find(|task| task["task"] == "tests/two.sh").unwrap();
    assert_eq!(
        (text(&end["stage"]), text(&end["evidence"])),
        ("unresolved".into(), "left out by the user".into())
    );
    let _ = project.env.mngr(["tmr", "reintegrate"]).success();
    assert_eq!(branches(&project)[0][0], both, "all are back");
}

#[test]
fn a_test_that_passes_on_the_result_is_not_called_failed() {
    let project = Project::new();
    project.broken("one", "fix");
    project.test("same", "grep -qx good parts/one");
    project.part("same", "die");
    let (run, output) = project.run(&["--retries", "0"], 0);
    assert_eq!(run.ends()["tests/same.sh"], "failed(dead)", "that is what its agent did");
    assert!(output.stdout.starts_with("2 of 2 tests pass on tmr/1/integrated\n"), "{output}");
    assert!(output.stdout.contains("   1 pass on the result  (their agents failed)\n"), "{output}");
    assert!(!output.stdout.contains("failed\n"), "{output}");
    let status = project.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    let same =
        status["tasks"].as_array().unwrap().iter().find(|task| task["task"] == "tests/same.sh").unwrap();
    assert_eq!(same["stage"], "passes_on_result", "{status}");
}
