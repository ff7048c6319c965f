//! Whole integrations in a real repository with `sh` tests.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mngr_model::run::{Entry, Event, Integration, IntegrationStep};

use super::*;
use crate::testing::{Lab, fix, fix_test, id};
use crate::verify::{Decision, Parts};

/// Each `tests/N.sh` wants the word of its number in `src/N`; `tests/all.sh` wants nothing but that `src/lib` loads.
fn project(count: usize) -> Lab {
    let mut files: Vec<(String, String)> = vec![
        ("src/lib".to_owned(), "one=1\ntwo=2\n\n\n\n\n\n\n\nten=10\n".to_owned()),
        ("tests/lib.sh".to_owned(), ". ./src/lib\n[ $one = 1 ]\n".to_owned()),
        ("tests/common".to_owned(), "limit=1\n".to_owned()),
    ];
    for n in 0..count {
        files.push((format!("src/{n}"), "wrong\n".to_owned()));
        files.push((format!("tests/{n}.sh"), format!("[ \"$(cat src/{n})\" = right ]\n")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    Lab::new(&files)
}

/// Fails unless every file of the program can be loaded.
const GATE: &str = "for f in src/lib tests/common; do sh -n ./$f || exit 1; done";

fn integrate(lab: &Lab, gate: Option<&str>, inputs: Vec<Input>) -> (Integrated, Vec<Integration>) {
    let mut steps = Vec::new();
    let result = lab.integrator(gate).integrate(
        inputs,
        &Tests { guards: &[id("tests/lib.sh")], red: &[] },
        &mut |event| match event {
            Event::Integration(step) => steps.push(step),
            other => panic!("{other:?}"),
        },
    );
    (result.unwrap(), steps)
}

fn subjects(lab: &Lab, result: &Integrated) -> Vec<String> {
    let log = lab.git(&["log", "--reverse", "--format=%s", &format!("{}..{}", lab.base, result.branch)]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn forty_seven_agents_patching_one_file_are_one_commit_with_forty_seven_votes() {
    let mut lab = Lab::new(&[("src/lib", "a\n"), ("tests/lib.sh", "true\n")]);
    lab.repeats = 1;
    let check = |n: usize| format!("# {n}\n[ \"$(tr -d ' ' < src/lib)\" = b ]\n");
    // Every other one leaves white space at the end of the line.
    let inputs: Vec<Input> = (0..47)
        .map(|n| {
            let (task, test) = (format!("tests/{n:02}.sh"), check(n));
            let text = if n % 2 == 0 { "b\n" } else { "b \n" };
            let tests = [(task.as_str(), Some(test.as_str()))];
            let works = [("[FIX_TEST] new", &tests[..]), ("[FIX_IMPL] b", &[("src/lib", Some(text))])];
            lab.input(&task, &works)
        })
        .collect();
    let (result, steps) = integrate(&lab, None, inputs);
    assert_eq!(result.commits.len(), 1, "{:?}", result.expelled);
    let commit = &result.commits[0];
    assert_eq!((commit.votes, commit.tasks.len(), commit.kind), (47, 47, CommitKind::Implementation));
    assert_eq!(lab.git(&["show", &format!("{}:src/lib", result.branch)]), "b");
    let message = lab.git(&["log", "-1", "--format=%B", &result.branch]);
    assert!(message.contains("\nVotes: 47\n") && message.matches("\nTask: ").count() == 47, "{message}");
    let grouped = steps.iter().find(|step| step.step == IntegrationStep::Grouped).unwrap();
    assert_eq!(grouped.details["votes"], 47);
}

#[test]
fn agents_that_patch_the_same_shared_test_file_are_one_commit_too() {
    let lab = project(12);
    let inputs = (0..12).map(|n| fix_test(&lab, n, &[("tests/common", Some("limit=2\n"))])).collect();
    let (result, _) = integrate(&lab, Some(GATE), inputs);
    assert_eq!(subjects(&lab, &result), ["Tests and docs: the changes of 12 agents"]);
    assert_eq!((result.commits[0].votes, result.commits[0].kind), (12, CommitKind::TestsAndDocs));
    assert!(result.remaining.conflicts.is_empty());
}

#[test]
fn a_change_that_breaks_the_import_is_expelled_and_the_rest_goes_through() {
    let lab = project(9);
    let view = lab.users_view();
    let broken = [("tests/common", Some("limit=1\nif true; then\n"))];
    let mut inputs: Vec<Input> =
        (0..6).map(|n| fix_test(&lab, n, if n == 3 { &broken } else { &[] })).collect();
    inputs.push(fix(&lab, 6));
    let files = [("src/7", Some("right\n")), ("src/lib", Some("one=1\ntwo=(\n"))];
    inputs.push(lab.input("tests/7.sh", &[("[FIX_IMPL] breaks", &files)]));
    inputs.push(fix(&lab, 8));
    let (result, steps) = integrate(&lab, Some(GATE), inputs);
    assert_eq!(
        subjects(&lab, &result),
        ["Tests and docs: the changes of 5 agents", "[FIX_IMPL] put 6 right", "[FIX_IMPL] put 8 right"]
    );
    let expelled: Vec<String> = result.expelled.iter().map(|one| one.task.to_string()).collect();
    assert_eq!(expelled, ["tests/3.sh", "tests/7.sh"]);
    assert!(result.expelled.iter().all(|one| one.failure.check == Check::Gate));
    let reasons = steps.iter().filter(|step| step.step == IntegrationStep::Expelled);
    assert!(reasons.clone().all(|step| step.reason.starts_with("the gate fails (exit ")), "{steps:?}");
    assert_eq!(reasons.count(), 2);
    assert_every_commit_passes(&lab, &result);
    assert_eq!(lab.users_view(), view);
}

/// The gate and the tests of every commit so far, at every commit.
fn assert_every_commit_passes(lab: &Lab, result: &Integrated) {
    let mut tests: Vec<&str> = vec!["tests/lib.sh"];
    for commit in &result.commits {
        tests.extend(commit.tasks.iter().map(|task| task.as_str()));
        for test in &tests {
            let command = format!("{GATE} && sh {test}");
            let order = crate::verify::Order {
                commit: &commit.oid,
                command: &command,
                deadline: Duration::from_secs(20),
                keep: crate::verify::Keep::Tail,
            };
            let report = crate::verify::Runner::run(&lab.pool, &order).unwrap();
            assert!(report.is_pass(), "{test} at {}: {}", commit.subject, report.tail);
        }
    }
}

#[test]
fn a_change_that_breaks_a_test_of_others_is_found_and_expelled() {
    let lab = project(4);
    // It passes its own test and the gate, but the library no longer says what another test wants.
    let files = [("src/1", Some("right\n")), ("src/lib", Some("one=7\n"))];
    let bad = lab.input("tests/1.sh", &[("[FIX_IMPL] sly", &files)]);
    assert_eq!(bad.verification.decision, Decision::Integrate(Parts::All));
    let (result, _) = integrate(&lab, Some(GATE), vec![fix(&lab, 0), bad, fix(&lab, 2), fix(&lab, 3)]);
    assert_eq!(result.expelled.len(), 1);
    assert_eq!(result.expelled[0].task, id("tests/1.sh"));
    assert_eq!(result.expelled[0].failure.check, Check::Test(id("tests/lib.sh")));
    assert_eq!(subjects(&lab, &result).len(), 3);
    assert_every_commit_passes(&lab, &result);
}

#[test]
fn of_many_who_made_one_fix_only_the_one_whose_test_breaks_the_gate_is_expelled() {
    let lab = project(0);
    let inputs = (0..4)
        .map(|n| {
            let (task, more) = (format!("tests/{n}.sh"), if n == 2 { "if true; then\n" } else { "x=1\n" });
            let path = if n == 2 { "tests/common".to_owned() } else { format!("tests/{n}.cfg") };
            let tests = [(task.as_str(), Some(". ./src/lib\n[ $two = 3 ]\n")), (path.as_str(), Some(more))];
            let fixed = [("src/lib", Some("one=1\ntwo=3\n"))];
            lab.input(&task, &[("[FIX_TEST] t", &tests), ("[FIX_IMPL] three", &fixed)])
        })
        .collect();
    let (result, _) = integrate(&lab, Some(GATE), inputs);
    assert_eq!(result.commits[0].tasks, [id("tests/0.sh"), id("tests/1.sh"), id("tests/3.sh")]);
    assert_eq!((result.commits.len(), result.commits[0].votes), (1, 4));
    assert_eq!(result.expelled.len(), 1);
    assert_eq!(result.expelled[0].task, id("tests/2.sh"));
}

#[test]
fn a_guard_that_already_failed_at_the_base_expels_nobody() {
    let lab = project(3);
    let guards = [id("tests/2.sh")];
    let inputs = vec![fix(&lab, 0), fix_test(&lab, 1, &[])];
    let result = lab
        .integrator(Some(GATE))
        .integrate(inputs, &Tests { guards: &guards, red: &[] }, &mut |_| {})
        .unwrap();
    assert_eq!((result.commits.len(), result.expelled.len()), (2, 0));
}

#[test]
fn two_conflicting_fixes_leave_one_in_and_an_edge_in_the_graph() {
    let lab = project(4);
    let conflicting = |n: usize, text: &str| {
        let path = format!("src/{n}");
        let files = [(path.as_str(), Some("right\n")), ("src/lib", Some(text))];
        lab.input(&format!("tests/{n}.sh"), &[("[FIX_IMPL] both", &files)])
    };
    let inputs = vec![
        conflicting(0, "one=1\ntwo=two\n\n\n\n\n\n\n\nten=10\n"),
        conflicting(1, "one=1\ntwo=zwei\n\n\n\n\n\n\n\nten=10\n"),
        // The same file, far enough away.
        conflicting(2, "one=1\ntwo=2\n\n\n\n\n\n\n\nten=zehn\n"),
        fix(&lab, 3),
    ];
    let (result, steps) = integrate(&lab, Some(GATE), inputs);
    let conflict = Conflict {
        tasks: vec![id("tests/1.sh")],
        with: BTreeSet::from([id("tests/0.sh")]),
        files: BTreeSet::from(["src/lib".to_owned()]),
    };
    assert_eq!(result.remaining.conflicts, [conflict]);
    assert_eq!(result.commits.len(), 3);
    assert_eq!(
        lab.git(&["show", &format!("{}:src/lib", result.branch)]),
        "one=1\ntwo=two\n\n\n\n\n\n\n\nten=zehn"
    );
    assert!(steps.iter().any(|step| step.step == IntegrationStep::Conflict));
    assert_every_commit_passes(&lab, &result);
}

#[test]
fn conflicting_tests_leave_one_in_too() {
    let lab = project(3);
    let inputs = vec![
        fix_test(&lab, 0, &[("tests/common", Some("limit=5\n"))]),
        fix_test(&lab, 1, &[("tests/common", Some("limit=6\n"))]),
        fix_test(&lab, 2, &[]),
    ];
    let (result, _) = integrate(&lab, Some(GATE), inputs);
    assert_eq!(result.commits[0].tasks, [id("tests/0.sh"), id("tests/2.sh")]);
    assert_eq!(result.remaining.conflicts[0].tasks, [id("tests/1.sh")]);
    assert_eq!(result.remaining.conflicts[0].with, BTreeSet::from([id("tests/0.sh")]));
}

#[test]
fn what_was_refused_never_reaches_the_branch() {
    let lab = project(2);
    let lie = lab.input("tests/0.sh", &[("[FIX_IMPL] lie", &[("src/0", Some("nearly\n"))])]);
    assert!(matches!(lie.verification.decision, Decision::Refuse(_)));
    let (result, _) = integrate(&lab, Some(GATE), vec![lie]);
    assert!(result.commits.is_empty());
    assert_eq!(result.tip, lab.base);
    assert_eq!(lab.git(&["for-each-ref", "refs/heads/tmr"]), "");
}

#[test]
fn the_unproven_part_of_a_change_is_left_out() {
    let lab = project(1);
    let test = [("tests/0.sh", Some("[ \"$(cat src/0)\" != right ]\n"))];
    let works = [("[FIX_TEST] t", &test[..]), ("[FIX_IMPL] i", &[("src/lib", Some("one=1\nextra=1\n"))])];
    let (result, _) = integrate(&lab, Some(GATE), vec![lab.input("tests/0.sh", &works)]);
    assert_eq!(result.commits[0].kind, CommitKind::TestsAndDocs);
    assert_eq!(lab.git(&["diff", "--name-only", &lab.base, &result.branch]), "tests/0.sh");
    assert!(!lab.git(&["log", "-1", "--format=%B", &result.branch]).contains("FIX_IMPL"));
}

#[test]
fn a_test_that_needs_the_fix_goes_with_it_and_more_important_fixes_come_first() {
    let lab = project(3);
    let stricter = "[ \"$(cat src/2)\" = best ]\n";
    let works = [
        ("[IMPROVE_TEST] stricter", &[("tests/2.sh", Some(stricter))][..]),
        ("[FIX_IMPL] best", &[("src/2", Some("best\n"))]),
    ];
    // The same change of a program by two agents: more votes and more tests than a single one.
    let both = [("src/0", Some("right\n")), ("src/1", Some("right\n"))];
    let inputs = vec![
        lab.input("tests/2.sh", &works),
        lab.input("tests/1.sh", &[("[FIX_IMPL] both", &both)]),
        lab.input("tests/0.sh", &[("[FIX_IMPL] both too", &both)]),
    ];
    let (result, steps) = integrate(&lab, None, inputs);
    assert_eq!(subjects(&lab, &result), ["[FIX_IMPL] both too", "[FIX_IMPL] best"]);
    assert_eq!(result.commits[0].score.as_ref().unwrap().points, 23);
    let ranked: Vec<&str> = steps
        .iter()
        .filter(|step| step.step == IntegrationStep::Ranked)
        .map(|step| step.reason.as_str())
        .collect();
    assert_eq!(ranked, ["23: 2 test(s) unblocked +20, 2 vote(s) +3", "10: 1 test(s) unblocked +10"]);
    let changed = lab.git(&["show", "--format=", "--name-only", &result.tip]);
    assert_eq!(changed.lines().collect::<Vec<_>>(), ["src/2", "tests/2.sh"]);
    let message = lab.git(&["log", "-1", "--format=%B", &result.tip]);
    for line in [
        "Task: tests/2.sh",
        "Kind: IMPROVE_TEST",
        "Kind: FIX_IMPL",
        "Evidence: tests/2.sh: passed 0/3 before, 3/3 after, 0/3 without the fix, strength not measured",
        "Tests: 1 passed",
        "Cost: 1000 tokens, $0.25",
    ] {
        assert!(message.lines().any(|other| other == line), "{line} in {message}");
    }
}

#[test]
fn the_same_inputs_give_the_same_branch_in_any_order() {
    let lab = project(6);
    let mut inputs: Vec<Input> = (0..3).map(|n| fix(&lab, n)).collect();
    inputs.extend((3..6).map(|n| fix_test(&lab, n, &[])));
    let (first, steps) = integrate(&lab, Some(GATE), inputs.clone());
    inputs.reverse();
    lab.git(&["update-ref", "-d", &format!("refs/heads/{}", first.branch)]);
    let (second, again) = integrate(&lab, Some(GATE), inputs.clone());
    assert_eq!(first, second);
    assert_eq!(steps, again);
    // With the branch already there, as after a kill between the move and the last line of the journal.
    let (third, _) = integrate(&lab, Some(GATE), inputs.clone());
    assert_eq!(third.tip, first.tip);
    let (fewer, _) = integrate(&lab, Some(GATE), inputs.split_off(3));
    assert_eq!(lab.git(&["rev-parse", &fewer.branch]), fewer.tip);
    assert_ne!(fewer.tip, first.tip);
}

#[test]
fn work_of_others_on_the_branch_is_kept() {
    let lab = project(2);
    let inputs = vec![fix(&lab, 0)];
    let (result, _) = integrate(&lab, Some(GATE), inputs.clone());
    let failed = |inputs: Vec<Input>| {
        lab.integrator(Some(GATE)).integrate(inputs, &Tests::default(), &mut |_| {}).unwrap_err()
    };
    lab.git(&["checkout", "--quiet", &result.branch]);
    assert!(matches!(failed(vec![fix_from(&lab, &result.branch)]), IntegrateError::BranchInUse { .. }));
    lab.git(&["commit", "--quiet", "--allow-empty", "-m", "by hand"]);
    lab.git(&["checkout", "--quiet", "main"]);
    let by_hand = lab.git(&["rev-parse", &result.branch]);
    assert!(matches!(failed(inputs), IntegrateError::BranchHasOtherWork { commit, .. } if commit == by_hand));
    assert_eq!(lab.git(&["rev-parse", &result.branch]), by_hand);
}

/// Another fix, made while the branch is checked out; it stays checked out.
fn fix_from(lab: &Lab, branch: &str) -> Input {
    let input = fix(lab, 1);
    lab.git(&["checkout", "--quiet", branch]);
    input
}

#[test]
fn a_gate_that_fails_on_the_base_is_said_before_anything_is_done() {
    let lab = project(1);
    let error = lab
        .integrator(Some("echo no >&2; exit 3"))
        .integrate(vec![], &Tests::default(), &mut |_| {})
        .unwrap_err();
    assert_eq!(error.to_string(), "the gate already fails on the base commit (exit 3)");
}

#[test]
fn a_commit_is_dropped_and_the_rest_stays_green() {
    let lab = project(3);
    let inputs = vec![fix(&lab, 0), fix(&lab, 1), fix_test(&lab, 2, &[])];
    let (result, _) = integrate(&lab, Some(GATE), inputs);
    let integrator = lab.integrator(Some(GATE));
    let request = |what| DropRequest { what, guards: &[], integrated: &[], inputs: &|_| Vec::new() };
    let none = integrator.drop_commit(&request("0000"), &mut |_| {}).unwrap_err();
    assert!(matches!(none, IntegrateError::NoSuchCommit { .. }), "{none}");
    let mut events = Vec::new();
    let short = &result.commits[1].oid[..12];
    let tip = integrator.drop_commit(&request(short), &mut |event| events.push(event)).unwrap().tip;
    assert_eq!(lab.git(&["rev-parse", &result.branch]), tip);
    assert_eq!(subjects(&lab, &result), ["Tests and docs: the changes of 1 agent", "[FIX_IMPL] put 1 right"]);
    assert_eq!(lab.git(&["show", &format!("{tip}:src/0")]), "wrong");
    assert!(matches!(&events[..], [Event::Integration(step)] if step.step == IntegrationStep::Dropped));
}

#[test]
fn a_commit_that_others_need_is_not_dropped() {
    let lab = project(3);
    // The second one's test also reads what the first one put right.
    let needs = "[ \"$(cat src/0)$(cat src/1)\" = rightright ]\n";
    let works = [
        ("[FIX_TEST] t", &[("tests/1.sh", Some(needs))][..]),
        ("[FIX_IMPL] uses", &[("src/1", Some("right\n")), ("src/0", Some("right\n"))]),
    ];
    let (result, _) = integrate(&lab, Some(GATE), vec![fix(&lab, 0), lab.input("tests/1.sh", &works)]);
    assert_eq!(result.commits.len(), 2, "{:?}", result.expelled);
    let what = &result.commits[0].oid;
    let request = DropRequest { what, guards: &[], integrated: &[], inputs: &|_| Vec::new() };
    let error = lab.integrator(Some(GATE)).drop_commit(&request, &mut |_| {}).unwrap_err();
    assert!(
        matches!(&error, IntegrateError::BreaksLater { later, .. } if later == "[FIX_IMPL] uses"),
        "{error}"
    );
    assert_eq!(lab.git(&["rev-parse", &result.branch]), result.tip);
}

#[test]
fn a_commit_says_why_it_is_there() {
    let lab = project(2);
    let (result, steps) = integrate(&lab, Some(GATE), vec![fix(&lab, 0), fix(&lab, 1)]);
    let entries: Vec<Entry> = (1..)
        .zip(steps)
        .map(|(seq, step)| Entry { time: Timestamp::UNIX_EPOCH, seq, event: Event::Integration(step) })
        .collect();
    let why = lab.why(&result.commits[1].oid[..10], &entries);
    assert_eq!((why.subject.as_str(), &why.tasks[..]), ("[FIX_IMPL] put 1 right", &[id("tests/1.sh")][..]));
    assert_eq!(why.paths, ["src/1"]);
    assert!(why.trailers.contains(&("Kind".to_owned(), "FIX_IMPL".to_owned())));
    let steps: Vec<IntegrationStep> = why.steps.iter().map(|step| step.step).collect();
    assert!(
        steps.contains(&IntegrationStep::Ranked) && steps.contains(&IntegrationStep::Picked),
        "{steps:?}"
    );
    assert!(why.steps.iter().all(|step| !step.tasks.contains(&id("tests/0.sh"))));
}

#[test]
fn the_same_edit_in_many_files_is_named_for_the_integrator() {
    let lab = project(4);
    let same = |n: usize| {
        let text = format!("limit=9\n[ \"$(cat src/{n})\" = wrong ]\n");
        let task = format!("tests/{n}.sh");
        let works = [("[FIX_TEST] t", &[(task.as_str(), Some(text.as_str()))][..])];
        lab.input(&task, &works)
    };
    let extra = |n: usize| {
        let (task, path) = (format!("tests/{n}.sh"), format!("tests/{n}.cfg"));
        let test = format!("[ -f {path} ]\n");
        let works =
            [("[FIX_TEST] t", &[(task.as_str(), Some(test.as_str())), (&path, Some("timeout=90\n"))][..])];
        lab.input(&task, &works)
    };
    let (result, _) = integrate(&lab, None, vec![extra(0), extra(1), extra(2), same(3)]);
    let groups = &result.remaining.repeated_groups;
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!((groups[0].lines.clone(), groups[0].places.len()), (vec!["+timeout=90".to_owned()], 3));
}

#[test]
fn soak_a_hundred_candidates_are_verified_and_integrated_in_half_a_minute() {
    let lab = project(100);
    let candidates: Vec<_> = (0..100)
        .map(|n| {
            let (task, path) = (format!("tests/{n}.sh"), format!("src/{n}"));
            let text = format!("[ \"$(cat src/{n})\" = wrong ]\n");
            match n % 4 {
                0 => lab.candidate(&task, &[("[FIX_IMPL] i", &[(&path, Some("right\n"))])]),
                _ => lab.candidate(&task, &[("[FIX_TEST] t", &[(&task, Some(&text))])]),
            }
        })
        .collect();
    let started = Instant::now();
    let inputs = mngr_ops::fanout::fan_out_within(2, candidates, |candidate| Input {
        verification: lab.verify(&candidate),
        candidate,
    });
    let verified = started.elapsed();
    let (result, _) = integrate(&lab, Some(GATE), inputs);
    let took = started.elapsed();
    assert_eq!(result.commits.len(), 26);
    assert_eq!(result.commits.iter().map(|commit| commit.tasks.len()).sum::<usize>(), 100);
    assert!(took < Duration::from_secs(30), "verified in {verified:?}, all in {took:?}");
}
