//! Finding runs and tests, and what a second look reads.

use mngr_host::files::Files as _;
use mngr_host::local::LocalFiles;

use super::*;
use crate::testing::{Artifacts, record};

fn look(dir: &Artifacts, below: &str, before: &Catalogue) -> Catalogue {
    scan(&LocalFiles, &dir.at(below), before).unwrap()
}

fn two_runs() -> Artifacts {
    let dir = Artifacts::new();
    dir.put("old/t--a/test.json", &record("t::a", "failed", "2026-01-01T00:00:00Z"));
    dir.put("new/t--a/test.json", &record("t::a", "running", "2026-01-02T00:00:00Z"));
    dir.put("new/t--a/transcript.jsonl", "");
    dir.put("new/t--a/x.cast", "");
    dir.put("new/plain/transcript.txt", "$ ls\n");
    dir.put("new/plain/docstring.txt", "said");
    dir.put("new/nothing/notes.txt", "");
    dir
}

#[test]
fn runs_are_newest_first_and_folders_without_artifacts_are_no_tests() {
    let catalogue = look(&two_runs(), "", &Catalogue::default());
    let names: Vec<(&str, usize)> =
        catalogue.runs.iter().map(|run| (run.name.as_str(), run.tests.len())).collect();
    assert_eq!(names, [("new", 2), ("old", 1)]);
    let test = catalogue.tests().find(|test| test.id() == "t::a").unwrap();
    assert_eq!(
        (test.transcript, test.recordings.as_slice()),
        (Some(TranscriptForm::Lines), &["x.cast".to_owned()][..])
    );
    let plain = catalogue.tests().find(|test| test.name == "plain").unwrap();
    assert_eq!(
        (plain.status(), plain.text.as_deref(), plain.transcript),
        (None, Some("said"), Some(TranscriptForm::Text))
    );
}

#[test]
fn a_run_or_a_test_can_be_named_itself_and_keeps_its_key() {
    let dir = two_runs();
    let all = look(&dir, "", &Catalogue::default());
    let key = &all.tests().find(|test| test.run == "old").unwrap().key;
    assert_eq!(&look(&dir, "old", &Catalogue::default()).tests().next().unwrap().key, key);
    assert_eq!(&look(&dir, "old/t--a", &Catalogue::default()).tests().next().unwrap().key, key);
}

#[test]
fn links_inside_are_not_followed() {
    let dir = two_runs();
    LocalFiles.link("/etc/passwd", &dir.at("new/t--a/secret.cast")).unwrap();
    LocalFiles.link(dir.at("old").as_str(), &dir.at("again")).unwrap();
    let catalogue = look(&dir, "", &Catalogue::default());
    assert_eq!(catalogue.runs.len(), 2);
    assert_eq!(catalogue.tests().map(|test| test.recordings.len()).sum::<usize>(), 1);
}

#[test]
fn a_second_look_sees_what_changed_and_keeps_the_rest() {
    let dir = two_runs();
    let first = look(&dir, "", &Catalogue::default());
    assert_eq!(look(&dir, "", &first), first);
    dir.put("new/t--a/transcript.jsonl", "{}\n");
    let second = look(&dir, "", &first);
    assert_ne!(second.runs[0].version(), first.runs[0].version());
    assert_eq!(second.runs[1].version(), first.runs[1].version());
    assert!(Arc::ptr_eq(&second.runs[1].tests[0], &first.runs[1].tests[0]), "it was read again");
    dir.put("old/t--a/test.json", &record("t::a", "passed", "2026-01-01T00:00:00Z"));
    assert_eq!(look(&dir, "", &second).runs[1].tests[0].status(), Some(TestStatus::Passed));
}

#[test]
fn a_damaged_record_is_a_test_without_one() {
    let dir = Artifacts::new();
    dir.put("run/t/test.json", "{\"schema\":1,\"id");
    let catalogue = look(&dir, "", &Catalogue::default());
    assert_eq!((catalogue.count(), catalogue.runs[0].tests[0].status()), (1, None));
}

#[test]
fn the_tries_of_a_test_are_in_order() {
    let catalogue = look(&two_runs(), "", &Catalogue::default());
    let runs: Vec<&str> = catalogue.tries()["t::a"].iter().map(|test| test.run.as_str()).collect();
    assert_eq!(runs, ["old", "new"]);
}

#[test]
fn a_folder_that_is_not_there_and_a_file_are_told_apart() {
    let dir = two_runs();
    let of = |below: &str| scan(&LocalFiles, &dir.at(below), &Catalogue::default()).unwrap_err();
    assert!(matches!(of("nope"), ScanError::Missing { .. }));
    assert!(matches!(of("new/plain/docstring.txt"), ScanError::NotAFolder { .. }));
}
