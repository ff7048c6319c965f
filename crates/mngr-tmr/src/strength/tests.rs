//! Changes of tests, honest and not, against real mutants of a small program in `sh`, and of one in Python.

use mngr_model::run::{Fate, Mutant, ReviewKind, StrengthState};

use super::Driven;
use crate::collect::{Collector, Selection};
use crate::testing::Lab;
use crate::verify::{Decision, Refusal, Verification, Verifier};

const PROGRAM: &str = "\
add() {
    echo $(($1 + $2))
}
sign() {
    if [ \"$1\" -lt 0 ]; then
        echo negative
    else
        echo positive
    fi
}
greet() {
    echo \"hello $1\"
}
";

const TEST: &str = "\
set -e
. ./src/lib.sh
[ \"$(add 1 2)\" = 3 ]
[ \"$(sign -5)\" = negative ]
[ \"$(sign 5)\" = positive ]
";

const PROJECT: &[(&str, &str)] = &[("src/lib.sh", PROGRAM), ("tests/lib.sh", TEST)];

/// What is measured when the test becomes this.
fn changed_to(test: &str) -> Verification {
    changed(&[("tests/lib.sh", Some(test))])
}

fn lab(files: &[(&str, &str)]) -> Lab {
    let mut lab = Lab::new(files);
    lab.repeats = 1;
    lab.mutants = 8;
    lab
}

fn changed(files: &[(&str, Option<&str>)]) -> Verification {
    let lab = lab(PROJECT);
    lab.verify(&lab.candidate("tests/lib.sh", &[("[IMPROVE_TEST] better", files)]))
}

fn kinds(found: &Verification) -> Vec<ReviewKind> {
    match &found.decision {
        Decision::Review { reasons, .. } => reasons.iter().map(|reason| reason.kind).collect(),
        Decision::Integrate(_) => Vec::new(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stronger_test_is_merged_with_its_strength_before_and_after() {
    let found = changed_to(&format!("{TEST}[ \"$(greet you)\" = 'hello you' ]\n"));
    assert_eq!(kinds(&found), [], "{:?}", found.decision);
    let strength = found.strength.unwrap();
    assert_eq!(strength.state, StrengthState::Measured);
    let (before, after) = (strength.before.unwrap(), strength.after.unwrap());
    assert!(before.killed > 0 && after.killed >= before.killed, "{strength}");
    let new = strength.mutants.iter().filter(|mutant| mutant.before.is_none());
    assert!(new.clone().any(|mutant| mutant.after == Some(Fate::Killed)), "{:?}", strength.mutants);
    assert!(strength.mutants.iter().all(|mutant| mutant.diff.contains("src/lib.sh")));
}

#[test]
fn the_same_change_has_the_same_mutants_every_time() {
    let lab = lab(PROJECT);
    let better = format!("{TEST}[ \"$(greet you)\" = 'hello you' ]\n");
    let works = [("[IMPROVE_TEST] better", &[("tests/lib.sh", Some(better.as_str()))][..])];
    let candidate = lab.candidate("tests/lib.sh", &works);
    assert_eq!(lab.verify(&candidate).strength, lab.verify(&candidate).strength);
}

#[test]
fn a_test_that_notices_less_needs_review() {
    for cheat in [
        "set -e\n. ./src/lib.sh\n[ \"$(add 1 2)\" = 3 ]\n",
        "set -e\n. ./src/lib.sh\n[ \"$(add 1 2)\" = 3 ]\n[ -n \"$(sign -5)\" ]\n[ -n \"$(sign 5)\" ]\n",
        "exit 0\nset -e\n. ./src/lib.sh\n[ \"$(add 1 2)\" = 3 ]\n[ \"$(sign -5)\" = negative ]\n[ \"$(sign 5)\" = positive ]\n",
        "set -e\nadd() { echo 3; }\nsign() { [ $1 = 5 ] && echo positive || echo negative; }\n[ \"$(add 1 2)\" = 3 ]\n[ \"$(sign -5)\" = negative ]\n[ \"$(sign 5)\" = positive ]\n",
    ] {
        let found = changed_to(cheat);
        let kinds = kinds(&found);
        let is_told = kinds.iter().any(|kind| matches!(kind, ReviewKind::Weaker | ReviewKind::Assertion));
        assert!(is_told, "{kinds:?} for {cheat}");
    }
}

#[test]
fn an_added_test_passes_and_notices_something_or_the_change_is_refused() {
    let red = changed(&[("tests/new.sh", Some("exit 1\n"))]);
    assert!(matches!(red.decision, Decision::Refuse(Refusal::AddedFails { .. })), "{:?}", red.decision);
    let idle = changed(&[("tests/new.sh", Some(". ./src/lib.sh\n[ 1 = 1 ]\n"))]);
    let refused = matches!(idle.decision, Decision::Refuse(Refusal::AddedNoticesNothing { .. }));
    assert!(refused, "{:?}", idle.decision);
    let good = changed(&[("tests/new.sh", Some(". ./src/lib.sh\n[ \"$(greet you)\" = 'hello you' ]\n"))]);
    assert_eq!(kinds(&good), [], "{:?}", good.decision);
}

#[test]
fn a_test_that_reads_the_program_is_measured_as_any_other() {
    // While functions write down that they were called, their first lines are others.
    let reads =
        format!("{TEST}grep -qx 'add() {{' src/lib.sh\ngrep -qx '    echo $(($1 + $2))' src/lib.sh\n");
    let lab = lab(&[("src/lib.sh", PROGRAM), ("tests/lib.sh", &reads)]);
    let better = format!("{reads}[ \"$(greet you)\" = 'hello you' ]\n");
    let works = [("[IMPROVE_TEST] better", &[("tests/lib.sh", Some(better.as_str()))][..])];
    let found = lab.verify(&lab.candidate("tests/lib.sh", &works));
    assert_eq!(kinds(&found), [], "{:?}", found.decision);
    let strength = found.strength.unwrap();
    assert_eq!(strength.state, StrengthState::Measured);
    assert!(strength.before.unwrap().killed > 0, "{strength}");
}

#[test]
fn a_test_that_does_not_run_the_checkout_is_not_measurable() {
    let lab = lab(&[("src/lib.sh", PROGRAM), ("tests/idle.sh", "set -e\n[ 1 = 1 ]\n")]);
    let works = [("[IMPROVE_TEST] more", &[("tests/idle.sh", Some("set -e\n[ 1 = 1 ]\n[ 2 = 2 ]\n"))][..])];
    let found = lab.verify(&lab.candidate("tests/idle.sh", &works));
    assert_eq!(found.strength.as_ref().unwrap().state, StrengthState::NotMeasurable);
    assert_eq!(kinds(&found), [ReviewKind::Unmeasured]);
}

#[test]
fn red_to_green_without_a_change_of_the_program_needs_review() {
    let wrong = TEST.replace("= 3", "= 4");
    let lab = lab(&[("src/lib.sh", PROGRAM), ("tests/lib.sh", &wrong)]);
    let works = [("[FIX_TEST] right", &[("tests/lib.sh", Some(TEST))][..])];
    let found = lab.verify(&lab.candidate("tests/lib.sh", &works));
    assert!(kinds(&found).contains(&ReviewKind::RedToGreen), "{:?}", found.decision);
}

#[test]
fn nothing_is_left_behind_and_the_users_repository_is_as_it_was() {
    let lab = lab(PROJECT);
    let candidate = lab.candidate(
        "tests/lib.sh",
        &[(
            "[IMPROVE_TEST] x",
            &[("tests/lib.sh", Some("set -e\n. ./src/lib.sh\n[ \"$(add 1 2)\" = 3 ]\n"))],
        )],
    );
    let before = lab.users_view();
    lab.verify(&candidate);
    assert_eq!(lab.users_view(), before);
}

/// A command that adds a line to a file and says so, and a test that looks at the file.
const COMMAND: &str = "#!/bin/sh\nkeep() {\n    echo \"$1\" >>kept\n}\nkeep \"$1\"\necho \"kept $1\"\n";

#[test]
fn a_test_that_no_longer_looks_at_effects_needs_review() {
    let both = "set -e\n[ \"$(sh bin/keep a)\" = 'kept a' ]\ngrep -qx a kept\n";
    let lab = lab(&[("bin/keep", COMMAND), ("tests/keep.sh", both)]);
    let words = "set -e\n[ \"$(sh bin/keep a)\" = 'kept a' ]\n";
    let works = [("[IMPROVE_TEST] shorter", &[("tests/keep.sh", Some(words))][..])];
    let candidate = lab.candidate("tests/keep.sh", &works);
    let program = Driven::new("bin/keep").unwrap();
    let found = Verifier { program: Some(&program), ..lab.verifier() }.verify(&candidate).unwrap();
    assert!(kinds(&found).contains(&ReviewKind::NoEffect), "{:?}", found.decision);
    assert!(
        !kinds(&lab.verify(&candidate)).contains(&ReviewKind::NoEffect),
        "only where the program is known"
    );
}

/// Runs test functions and reports as pytest does, in a tenth of the time.
const RUNNER: &str = r#"
import glob, importlib.util, os, re, sys, traceback
sys.dont_write_bytecode = True
sys.path.insert(0, os.getcwd())
if len(sys.argv) == 1:
    for path in sorted(glob.glob("tests/test_*.py")):
        print(*(f"{path}::{name}" for name in re.findall(r"(?m)^def (test_\w+)", open(path).read())), sep="\n")
    sys.exit()
path, _, name = sys.argv[1].partition("::")
os.environ["PYTEST_CURRENT_TEST"] = sys.argv[1]
spec = importlib.util.spec_from_file_location("tested", path)
module = importlib.util.module_from_spec(spec)
said = ""
try:
    spec.loader.exec_module(module)
    getattr(module, name)()
except BaseException as error:
    steps = traceback.extract_tb(error.__traceback__)
    lines = [f"{os.path.relpath(step.filename)}:{step.lineno}: in {step.name}" for step in steps[1:]]
    said = "<failure message='x'>" + "\n".join(lines) + "</failure>"
with open(sys.argv[2], "w") as report:
    case = f"classname='{path[:-3].replace('/', '.')}' name='{name}' file='{path}'"
    report.write(f"<testsuite><testcase {case}>{said}</testcase></testsuite>")
sys.exit(1 if said else 0)
"#;

/// The last of these is met by no mutant that holds for every call: the first one notices them all.
const CALLS: &str = "\
from shop import price

def test_price():
    assert price(1) == 3
    assert price(10) == 30
    assert price(100) == 250
";

/// A program in Python with a test.
fn shop(program: &str, test: &str) -> Lab {
    let said = "[py]\ncollect = 'python3 tests/run.py'\nids = 'lines'\none = 'python3 tests/run.py {id}'\nreport = 'junit'\nreport_flags = '{report}'\n";
    let tests = Collector::named("py", &toml::from_str(said).unwrap(), Selection::default()).unwrap();
    let files = [("shop.py", program), ("tests/test_shop.py", test), ("tests/run.py", RUNNER)];
    let mut lab = Lab::with(&files, tests);
    (lab.repeats, lab.mutants) = (1, 4);
    lab
}

#[test]
fn an_added_test_that_only_lets_the_program_run_needs_review() {
    let mut lab = shop(
        "PRICES = {1: 3}\n\ndef price(count):\n    if count not in PRICES:\n        raise ValueError(count)\n    return PRICES[count]\n",
        "from shop import price\n\ndef test_price():\n    assert price(1) == 3\n",
    );
    lab.mutants = 2;
    let added = |check: &str| {
        let text = format!("from shop import price\n\ndef test_more():\n    {check}\n");
        let files = [("tests/test_more.py", Some(text.as_str()))];
        lab.verify(&lab.candidate("tests/test_shop.py::test_price", &[("[IMPROVE_TEST] more", &files)]))
    };
    let runs = added("price(1)");
    assert_eq!(kinds(&runs), [ReviewKind::Assertion], "{:?} {:?}", runs.decision, runs.strength);
    let checks = added("assert price(1) == 3");
    assert_eq!(kinds(&checks), [], "{:?} {:?}", checks.decision, checks.strength);
}

#[test]
fn assertions_that_became_a_table_are_still_checked_row_by_row() {
    let lab = shop(
        "def price(count):\n    total = count * 3\n    if total > 99:\n        total = total - 50\n    return total\n",
        CALLS,
    );
    let changed_to = |test: &str| {
        let files = [("tests/test_shop.py", Some(test))];
        lab.verify(&lab.candidate("tests/test_shop.py::test_price", &[("[IMPROVE_TEST] a table", &files)]))
    };
    let table = |rows: &str, check: &str| {
        changed_to(&format!(
            "from shop import price\n\ndef test_price():\n    for count, expected in [{rows}]:\n        {check}\n"
        ))
    };
    let same = table("(1, 3), (10, 30), (100, 250)", "assert price(count) == expected");
    assert_eq!(kinds(&same), [], "{:?} {:?}", same.decision, same.strength);
    let is_needed = |mutant: &Mutant| mutant.rule.contains("only for arguments");
    assert!(same.strength.unwrap().mutants.iter().any(is_needed), "a mutant for some arguments was needed");
    for (rows, check) in [
        ("(1, 3), (10, 30), (100, price(100))", "assert price(count) == expected"),
        ("(1, 3), (10, 30), (100, 1)", "assert price(count) >= expected"),
    ] {
        let cheat = table(rows, check);
        assert!(!kinds(&cheat).is_empty(), "{rows} {check}: {:?}", cheat.decision);
    }
    let moved = CALLS.replace("    assert price(100)", "\ndef never_called():\n    assert price(100)");
    let moved = kinds(&changed_to(&moved));
    assert!(matches!(moved[..], [ReviewKind::Assertion | ReviewKind::Weaker, ..]), "{moved:?}");
}
