//! Runs that an earlier binary recorded, before the strength of tests was measured: they open, and what it would have
//! merged unmeasured is measured first. See `earlier/README.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::project::Project;
use crate::output_schemas::assert_output;
use crate::support::text;

fn recorded() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/tmr/earlier")
}

/// The repository with both runs, and agents that play the same parts.
#[track_caller]
fn unpacked() -> Project {
    let project = Project::new();
    let mut import = project.env.command("git");
    import.args(["fast-import", "--quiet", "--force"]);
    import.stdin(Stdio::from(fs::File::open(recorded().join("repository")).unwrap()));
    assert!(import.status().unwrap().success());
    project.git(&["reset", "--quiet", "--hard", "main"]);
    for entry in fs::read_dir(recorded().join("parts")).unwrap() {
        let part = entry.unwrap();
        fs::copy(part.path(), project.stage().join("parts").join(part.file_name())).unwrap();
    }
    for run in ["done", "cut"] {
        let folder = project.env.work_dir().join(format!("tmr_{run}"));
        unpack(&recorded().join(run), &folder, project.env.root().to_str().unwrap());
        fs::write(folder.join(".gitignore"), "*\n").unwrap();
    }
    fs::write(project.stage().join("go"), "").unwrap();
    project
}

#[track_caller]
fn unpack(from: &Path, to: &Path, root: &str) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, place) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            unpack(&path, &place, root);
        } else {
            // Bundles are no text.
            let bytes = fs::read(&path).unwrap();
            let bytes = match String::from_utf8(bytes) {
                Ok(text) => text.replace("@ROOT@", root).into_bytes(),
                Err(other) => other.into_bytes(),
            };
            fs::write(place, bytes).unwrap();
        }
    }
}

/// What the tasks of a run have come to.
#[track_caller]
fn stages(project: &Project, run: &str) -> Vec<String> {
    let status = project.env.mngr(["tmr", "status", run, "--format", "json"]).success().json();
    assert_output(&project.env, "tmr status", &status);
    let stage = |task: &serde_json::Value| format!("{} {}", text(&task["task"]), text(&task["stage"]));
    status["tasks"].as_array().unwrap().iter().map(stage).collect()
}

#[track_caller]
fn subjects(project: &Project, range: &str) -> Vec<String> {
    project.git(&["log", "--reverse", "--format=%s", range]).lines().map(str::to_owned).collect()
}

/// How both runs end when today's binary has put them together.
#[track_caller]
fn assert_measured(project: &Project, run: &str) {
    let integrated = format!("tmr/{run}/integrated");
    let expected =
        ["Tests and docs: the changes of 1 agent", "[FIX_IMPL] good is good", "[FIX_IMPL] late is good"];
    assert_eq!(subjects(project, &format!("main..{integrated}")), expected);
    let review = subjects(project, &format!("{integrated}..tmr/{run}/review"));
    assert_eq!(review, ["[IMPROVE_TEST] the words do not matter"]);
    let expected = [
        "tests/good.sh integrated",
        "tests/late.sh integrated",
        "tests/liar.sh failed",
        "tests/stronger.sh integrated",
        "tests/weaker.sh needs_review",
    ];
    assert_eq!(stages(project, run), expected);
    let why = project.env.mngr(["tmr", "why", "tests/weaker.sh", "--run", run]).success().stdout;
    assert!(why.contains("weaker"), "{why}");
    let why = project.env.mngr(["tmr", "why", "tests/stronger.sh", "--run", run]).success().stdout;
    assert!(why.contains("strength"), "{why}");
}

#[test]
fn a_finished_run_is_shown_as_it_was_and_measured_when_it_is_put_together_again() {
    let project = unpacked();
    let before = project.git(&["rev-parse", "tmr/done/integrated"]);
    let expected = [
        "tests/good.sh integrated",
        "tests/late.sh integrated",
        "tests/liar.sh failed",
        "tests/stronger.sh integrated",
        "tests/weaker.sh integrated",
    ];
    assert_eq!(stages(&project, "done"), expected);
    let _ = project.env.mngr(["tmr", "resume", "done"]).success();
    assert_eq!(stages(&project, "done"), expected, "a finished run stays as it is");
    assert_eq!(project.git(&["rev-parse", "tmr/done/integrated"]), before);

    let report = project.env.mngr(["tmr", "report", "done", "--format", "json"]).success().json();
    assert_output(&project.env, "tmr report", &report);
    assert_eq!(report["tasks"].as_array().unwrap().len(), 5, "{report}");
    assert!(project.env.work_dir().join("tmr_done/report/index.html").exists());
    let shown = project.env.mngr(["tmr", "status", "done"]).success().stdout;
    assert!(shown.contains("claimed to pass, but failed in all 1 runs"), "{shown}");
    let why = project.env.mngr(["tmr", "why", "tests/stronger.sh", "--run", "done"]).success().stdout;
    assert!(why.contains("Tests and docs: the changes of 2 agents"), "{why}");
    let why = ["tmr", "why", "tests/weaker.sh", "--run", "done", "--format", "json"];
    let why = project.env.mngr(why).success().json();
    assert_output(&project.env, "tmr why", &why);

    let again = project.env.mngr(["tmr", "reintegrate", "done", "--format", "json"]).success().json();
    assert_output(&project.env, "tmr reintegrate", &again);
    assert_measured(&project, "done");
}

#[test]
fn a_run_that_was_killed_goes_on_and_what_was_not_measured_is_measured() {
    let project = unpacked();
    let expected = [
        "tests/good.sh verified",
        "tests/late.sh working",
        "tests/liar.sh failed",
        "tests/stronger.sh verified",
        "tests/weaker.sh verified",
    ];
    assert_eq!(stages(&project, "cut"), expected);
    let shown = project.env.mngr(["tmr", "status", "cut"]).success().stdout;
    assert!(shown.contains("abandoned: its mngr was killed"), "{shown}");
    let report = project.env.mngr(["tmr", "report", "cut", "--format", "json"]).success().json();
    assert_output(&project.env, "tmr report", &report);
    let why = project.env.mngr(["tmr", "why", "tests/liar.sh", "--run", "cut"]).code(1).stderr;
    assert!(
        why.contains("it ended as failed(verification): claimed to pass, but failed in all 1 runs"),
        "{why}"
    );

    let resumed = project.env.mngr(["tmr", "resume", "cut", "--format", "json"]).success().json();
    assert_output(&project.env, "tmr resume", &resumed);
    assert_measured(&project, "cut");
    let _ = project.env.mngr(["tmr", "report", "cut"]).success();
    project.assert_nothing_runs();
}
