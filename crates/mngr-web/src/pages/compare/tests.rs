//! Tries compared.

use mngr_host::local::LocalFiles;

use super::*;
use crate::pages::piece::tests::value;
use crate::testing::{Artifacts, record};

#[test]
fn only_words_differ_and_the_try_before_and_the_last_good_one_are_worth_a_look() {
    let dir = Artifacts::new();
    for (number, status, word) in [(1, "passed", "fine"), (2, "failed", "bad"), (3, "failed", "worse")] {
        let started = format!("2026-01-0{number}T00:00:00Z");
        dir.put(&format!("run{number}/t/test.json"), &record("t", status, &started));
        let text = format!("$ make\n  took {number} ms\n  \u{1b}[31m{word}\u{1b}[0m\n? 0\n");
        dir.put(&format!("run{number}/t/transcript.txt"), &text);
    }
    let catalogue = dir.scan("");
    let tests = catalogue.tries().remove("t").unwrap();
    let runs = |test: &Test| -> Vec<String> {
        worth_comparing(&tests, test).iter().map(|other| other.run.clone()).collect()
    };
    assert_eq!(runs(tests[0]), [""; 0]);
    assert_eq!(runs(tests[1]), ["run1"]);
    assert_eq!(runs(tests[2]), ["run2", "run1"]);
    let diff = value(&compare(&LocalFiles, tests[0], tests[1]).unwrap());
    assert_eq!(
        diff["hunks"].to_string(),
        r#"[[[" ",1,1,"$ make"],[" ",2,2,"  took <DURATION>"],["-",3,null,"  fine"],["+",null,3,"  bad"],[" ",4,4,"? 0"]]]"#
    );
    assert_eq!(value(&compare(&LocalFiles, tests[1], tests[1]).unwrap())["hunks"], json!([]));
}
