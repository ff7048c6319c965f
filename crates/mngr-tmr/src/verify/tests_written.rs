//! Tests that were written for no task, honest and not, in a real repository with `sh` tests.

use mngr_host::git::Git;
use mngr_model::run::{ReviewKind, StrengthState};

use super::*;
use crate::strength::Driven;
use crate::testing::{Lab, Work, id};

const PROGRAM: &str = "add() {\n    echo $(($1 + $2))\n}\ngreet() {\n    echo \"hello $1\"\n}\n";
const TEST: &str = "set -e\n. ./src/lib.sh\n[ \"$(add 1 2)\" = 3 ]\n";
const HONEST: &str = "set -e\n. ./src/lib.sh\n[ \"$(greet you)\" = 'hello you' ]\n";
const HOLLOW: &str = "set -e\n. ./src/lib.sh\ngreet you >/dev/null\n[ 1 = 1 ]\n";

fn project() -> Lab {
    lab(&[("src/lib.sh", PROGRAM), ("tests/add.sh", TEST), ("tests/red.sh", "false\n")])
}

fn lab(files: &[(&str, &str)]) -> Lab {
    let mut lab = Lab::new(files);
    (lab.repeats, lab.mutants) = (2, 4);
    lab
}

fn judged(lab: &Lab, verifier: &Verifier<'_>, files: &[(&str, Option<&str>)]) -> WrittenTests {
    let works: [Work<'_>; 1] = [("Test the tutorial", files)];
    let tip = lab.commits(&works);
    let git = Git::new(lab.host.as_ref(), lab.repository());
    let commits = git.commits_between(&lab.base, &tip).unwrap();
    let commits: Vec<CommitFacts> =
        commits.iter().map(|commit| CommitFacts::new(commit, &lab.rules.paths)).collect();
    let written = Written { from: &lab.base, to: &tip, commits: &commits, script: "tutorial.sh" };
    verifier.judge_written(&written).unwrap()
}

fn written(files: &[(&str, Option<&str>)]) -> WrittenTests {
    let lab = project();
    judged(&lab, &lab.verifier(), files)
}

fn kinds(found: &WrittenTests) -> Vec<ReviewKind> {
    found.reasons.iter().map(|reason| reason.kind).collect()
}

#[test]
fn an_honest_new_test_holds_and_one_that_notices_nothing_is_refused() {
    let found = written(&[("tests/greet.sh", Some(HONEST))]);
    assert_eq!((kinds(&found), &found.refusals[..]), (vec![], &[][..]), "{found:?}");
    assert_eq!((found.added.as_slice(), found.changed.len()), (&[id("tests/greet.sh")][..], 0));
    let [strength] = &found.strength[..] else { panic!("{found:?}") };
    assert!(
        strength.before.is_none() && strength.after.is_some_and(|kills| kills.killed > 0),
        "{strength:?}"
    );

    let both = written(&[("tests/greet.sh", Some(HONEST)), ("tests/hollow.sh", Some(HOLLOW))]);
    assert_eq!(both.refusals, [Refusal::AddedNoticesNothing { test: id("tests/hollow.sh") }], "{both:?}");
    let fails = written(&[("tests/greet.sh", Some("false\n"))]);
    let test = id("tests/greet.sh");
    assert_eq!(fails.refusals, [Refusal::AddedFails { test, passed: 0, runs: 2 }]);
    let idle = written(&[("tests/idle.sh", Some("true\n"))]);
    assert_eq!(kinds(&idle), [ReviewKind::Unmeasured], "it does not run the program: {idle:?}");
}

#[test]
fn a_weaker_test_a_broken_one_and_one_that_turned_green_are_kept_back() {
    let weaker = TEST.replace("= 3", "!= 7");
    let found = written(&[("tests/add.sh", Some(&weaker)), ("tests/greet.sh", Some(HONEST))]);
    assert!(kinds(&found).contains(&ReviewKind::Weaker), "{found:?}");
    assert_eq!(found.changed, [id("tests/add.sh")]);
    let broken = written(&[("tests/add.sh", Some("false\n"))]);
    assert_eq!(broken.refusals, [Refusal::Breaks { test: id("tests/add.sh") }]);
    let green = written(&[("tests/red.sh", Some(TEST))]);
    assert!(kinds(&green).contains(&ReviewKind::RedToGreen), "{green:?}");
    let gone = written(&[("tests/add.sh", None)]);
    assert!(kinds(&gone).contains(&ReviewKind::Weaker), "{gone:?}");
}

#[test]
fn changes_of_shared_files_and_of_the_program_need_review() {
    let shared = lab(&[("src/lib.sh", PROGRAM), ("tests/add.sh", TEST), ("tests/common/data", "1\n")]);
    let found = judged(&shared, &shared.verifier(), &[("tests/common/data", Some("2\n"))]);
    assert!(kinds(&found).contains(&ReviewKind::Shared), "{found:?}");
    let program = PROGRAM.replace("hello", "hi");
    let honest = HONEST.replace("hello", "hi");
    let found = written(&[("src/lib.sh", Some(&program)), ("tests/greet.sh", Some(&honest))]);
    let text = "it changes the program, and only tests are measured here: `src/lib.sh`";
    assert!(found.reasons.iter().any(|reason| reason.text == text), "{found:?}");
    let nothing = written(&[("docs/more.md", Some("more\n"))]);
    assert_eq!(nothing, WrittenTests::default(), "documents need no strength");
}

#[test]
fn a_new_test_of_an_installed_command_has_to_notice_a_call_that_does_nothing() {
    // What the tests run is found on PATH, so no mutant of this checkout could be noticed.
    let lab = lab(&[("src/lib.sh", PROGRAM), ("tests/add.sh", TEST)]);
    let program = Driven::new("touch").unwrap();
    let verifier = || Verifier { program: Some(&program), ..lab.verifier() };
    let looks = judged(&lab, &verifier(), &[("tests/touch.sh", Some("set -e\ntouch made\n[ -f made ]\n"))]);
    assert_eq!((kinds(&looks), looks.refusals.len()), (vec![], 0), "{looks:?}");
    assert_eq!(looks.strength[0].state, StrengthState::Measured);
    assert!(looks.strength[0].why.contains("notices when call 1 does nothing"), "{looks:?}");
    let blind = judged(&lab, &verifier(), &[("tests/touch.sh", Some("set -e\ntouch made\n"))]);
    assert_eq!(blind.refusals, [Refusal::AddedNoticesNothing { test: id("tests/touch.sh") }], "{blind:?}");
}
