//! The report of a run in the browser.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mngr_host::local::LocalHost;
use mngr_model::HostPath;
use mngr_model::run::{Entry, Run, TaskId, read_lines};
use mngr_web::report::{FailureGroup, ReportWriter};
use serde_json::json;
use tempfile::TempDir;

use super::{HERE, run, scenario};

/// The folder of a run, and a writer of its report.
struct Reported {
    dir: TempDir,
    entries: Vec<Entry>,
    writer: ReportWriter,
}

impl Reported {
    fn new(kind: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("tmr_20260502093000");
        run(Command::new("node").arg(format!("{HERE}/report_fixture.mjs")).arg(kind).arg(&folder));
        let lines = read_lines(&std::fs::read(folder.join("run.jsonl")).unwrap());
        assert_eq!((lines.damaged, lines.torn), (0, 0));
        let path = |path: &Path| HostPath::new(path.to_str().unwrap());
        let host = Arc::new(LocalHost::open(path(&dir.path().join("state"))).unwrap());
        let writer = ReportWriter::new(host, path(&folder), path(&folder.join("report")));
        Self { dir, entries: lines.entries, writer }
    }

    fn run(&self) -> Run {
        let run = Run::fold(&self.entries);
        assert_eq!(run.irregular, 0);
        run
    }

    /// Writes the report, and says where it is.
    fn write(&mut self) -> String {
        let run = self.run();
        self.writer.write(&run, &failures(&run)).unwrap();
        format!("file://{}", self.page().join("index.html").display())
    }

    fn page(&self) -> std::path::PathBuf {
        self.dir.path().join("tmr_20260502093000/report")
    }
}

/// Failures with the same words.
fn failures(run: &Run) -> Vec<FailureGroup> {
    let mut groups: BTreeMap<(String, String), Vec<TaskId>> = BTreeMap::new();
    for task in run.tasks.iter().filter(|task| task.stage().name() == "failed") {
        let said = task.latest().unwrap().evidence.clone();
        groups.entry((task.stage().to_string(), said)).or_default().push(task.id.clone());
    }
    groups.into_iter().map(|((stage, message), tasks)| FailureGroup { stage, message, tasks }).collect()
}

#[test]
fn browser_a_report_shows_every_section_and_all_an_agent_left() {
    let mut reported = Reported::new("usual");
    run(&mut scenario("report.mjs", &reported.write()));
}

#[test]
fn browser_a_report_fits_a_phone_and_the_dark() {
    let mut reported = Reported::new("usual");
    run(&mut scenario("report_looks.mjs", &reported.write()));
}

#[test]
fn browser_hostile_text_in_a_report_stays_text() {
    let mut reported = Reported::new("hostile");
    run(&mut scenario("report_hostile.mjs", &reported.write()));
}

/// The limits are several times what was measured.
#[test]
fn browser_500_tasks_with_recordings_are_written_and_shown_at_once() {
    let mut reported = Reported::new("large");
    let mut run_now = reported.run();
    let start = Instant::now();
    let page = reported.write();
    let first = start.elapsed();
    let size = folder_size(&reported.page());

    let last = reported.entries.last().unwrap();
    let open = run_now.tasks.iter().find(|task| task.stage().name() == "verified").unwrap();
    let event = json!({
        "time": last.time, "seq": last.seq + 1, "event": "stage", "task": open.id, "attempt": 1, "stage": "unresolved",
    });
    run_now.apply(&serde_json::from_value(event).unwrap());
    let start = Instant::now();
    let written = reported.writer.write(&run_now, &[]).unwrap();
    let second = start.elapsed();
    assert_eq!((written.tasks, written.changed, written.evidence), (500, 1, 0));

    let told = run(&mut scenario("report_large.mjs", &page));
    println!(
        "500 tasks: first write {first:?}, second {second:?}, {} KiB; in the browser {told}",
        size / 1024
    );
    assert!(second < Duration::from_secs(1), "{second:?}");
    assert!(told["shown"].as_f64().unwrap() < 5000.0, "{told}");
    assert!(told["filtered"].as_f64().unwrap() < 1000.0, "{told}");
}

fn folder_size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let size = |entry: std::fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => folder_size(&entry.path()),
        false => entry.metadata().unwrap().len(),
    };
    entries.map(size).sum()
}
