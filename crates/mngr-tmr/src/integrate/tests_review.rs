//! What needs review, in a real repository with `sh` tests: where it goes, how it is taken over or dropped, and what
//! never reaches the mergeable commit.

use std::collections::{BTreeMap, BTreeSet};

use mngr_model::run::{
    AttemptNumber, Event, Integration, IntegrationStep, Kills, ReviewKind, ReviewReason, Strength,
    StrengthState, TaskId,
};

use super::*;
use crate::testing::{Lab, fix, fix_test, id};
use crate::verify::{Decision, Parts};

/// Each `tests/N.sh` wants `src/N` to be right; `tests/lib.sh` passes.
fn project(count: usize) -> Lab {
    let mut files: Vec<(String, String)> = vec![
        ("src/lib".to_owned(), "one=1\ntwo=2\nthree=3\n".to_owned()),
        ("tests/lib.sh".to_owned(), ". ./src/lib\n[ $one = 1 ]\n".to_owned()),
    ];
    for n in 0..count {
        files.push((format!("src/{n}"), "wrong\n".to_owned()));
        files.push((format!("tests/{n}.sh"), format!("[ \"$(cat src/{n})\" = right ]\n")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let mut lab = Lab::new(&files);
    lab.repeats = 1;
    lab
}

/// The same, with a reason for review.
fn reviewed(mut input: Input, kind: ReviewKind, text: &str) -> Input {
    let reasons = vec![ReviewReason { kind, text: text.to_owned() }];
    input.verification.decision = Decision::Review { parts: Parts::All, reasons };
    input
}

struct Both {
    integrated: Integrated,
    reviewed: Reviewed,
    steps: Vec<Integration>,
}

fn both(lab: &Lab, inputs: Vec<Input>, red: &[TaskId]) -> Both {
    let mut steps = Vec::new();
    let mut note = |event| match event {
        Event::Integration(step) => steps.push(step),
        other => panic!("{other:?}"),
    };
    let integrator = lab.integrator(None);
    let guards = [id("tests/lib.sh")];
    let integrated = integrator.integrate(inputs, &Tests { guards: &guards, red }, &mut note).unwrap();
    let strength = Strength {
        task: id("tests/1.sh"),
        attempt: AttemptNumber(1),
        state: StrengthState::Measured,
        why: String::new(),
        before: Some(Kills { killed: 8, made: 12 }),
        after: Some(Kills { killed: 3, made: 12 }),
        mutants: Vec::new(),
    };
    let strengths = BTreeMap::from([(id("tests/1.sh"), strength)]);
    let (start, changes) = (integrated.tip.as_str(), &integrated.needs_review[..]);
    let request = ReviewRequest { start, changes, strengths: &strengths, of_integrator: &[] };
    let reviewed = integrator.review(&request, &mut note).unwrap();
    Both { integrated, reviewed, steps }
}

fn subjects(lab: &Lab, range: &str) -> Vec<String> {
    lab.git(&["log", "--reverse", "--format=%s", range]).lines().map(str::to_owned).collect()
}

fn of_both(lab: &Lab) -> [Vec<String>; 2] {
    let base = &lab.base;
    [format!("{base}..tmr/1/integrated"), "tmr/1/integrated..tmr/1/review".to_owned()]
        .map(|range| subjects(lab, &range))
}

#[test]
fn what_needs_review_continues_the_result_on_a_branch_of_its_own() {
    let lab = project(4);
    let view = lab.users_view();
    let weaker =
        |n: usize| reviewed(fix_test(&lab, n, &[]), ReviewKind::Weaker, "it no longer\nnotices\u{1b} x");
    let inputs = || vec![weaker(2), fix(&lab, 0), weaker(1), fix_test(&lab, 3, &[])];
    let Both { integrated, reviewed, steps } = both(&lab, inputs(), &[]);
    let [result, review] = of_both(&lab);
    assert_eq!(result, ["Tests and docs: the changes of 1 agent", "[FIX_IMPL] put 0 right"]);
    assert_eq!(review, ["[FIX_TEST] 1 is wrong", "[FIX_TEST] 2 is wrong"], "ordered by task");
    let message = lab.git(&["log", "-1", "--format=%B", "tmr/1/review~1"]);
    for line in ["Task: tests/1.sh", "Review: weaker: it no longer notices x", "Strength: 8/12 -> 3/12"] {
        assert!(message.lines().any(|other| other == line), "{line} in {message}");
    }
    let [first, _] = &reviewed.commits[..] else { panic!("{reviewed:?}") };
    assert!(first.evidence().starts_with(&format!("{}: it no longer", first.oid)));
    let noted: Vec<_> = steps.iter().filter(|step| step.step == IntegrationStep::Reviewed).collect();
    assert_eq!((noted.len(), &noted[0].commit), (2, &Some(first.oid.clone())));
    assert_eq!(noted[0].details["reasons"][0]["kind"], "weaker");
    // The same once more, as after a kill; then without anything to review.
    let tips = || lab.git(&["rev-parse", "tmr/1/integrated", "tmr/1/review"]);
    let before = tips();
    assert_eq!(both(&lab, inputs(), &[]).reviewed, reviewed);
    assert_eq!(tips(), before);
    assert_eq!(integrated.needs_review.len(), 2);
    assert_eq!(both(&lab, vec![fix(&lab, 0)], &[]).reviewed.commits, []);
    assert_eq!(lab.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/tmr"]), "tmr/1/integrated");
    assert_eq!(lab.users_view(), view);
}

#[test]
fn a_review_commit_that_does_not_apply_or_pass_is_left_out_with_its_reason() {
    let lab = project(3);
    let shared = |n: usize, text: &str| {
        reviewed(fix_test(&lab, n, &[("tests/note", Some(text))]), ReviewKind::Assertion, "changed")
    };
    // The result has what this test calls wrong.
    let stale = reviewed(fix_test(&lab, 2, &[]), ReviewKind::Weaker, "weaker");
    let right = lab.input("tests/lib.sh", &[("[FIX_IMPL] two", &[("src/2", Some("right\n"))])]);
    let mut right = right;
    right.verification.decision = Decision::Integrate(Parts::All);
    let Both { reviewed, .. } = both(&lab, vec![shared(0, "a\n"), shared(1, "b\n"), stale, right], &[]);
    assert_eq!(
        reviewed.commits.iter().flat_map(|commit| &commit.tasks).collect::<Vec<_>>(),
        [&id("tests/0.sh")]
    );
    assert_eq!(reviewed.conflicts[0].tasks, [id("tests/1.sh")]);
    assert_eq!(reviewed.expelled[0].task, id("tests/2.sh"));
}

#[test]
fn files_that_other_tests_load_never_reach_the_mergeable_commit() {
    let lab = project(3);
    let inputs = vec![
        fix_test(&lab, 0, &[("tests/conftest.py", Some("x = 1\n"))]),
        fix_test(&lab, 1, &[("tests/pytest.ini", Some("[pytest]\n"))]),
        fix_test(&lab, 2, &[("tests/fixtures/new", Some("only mine\n"))]),
    ];
    assert!(inputs.iter().all(|input| input.verification.decision == Decision::Integrate(Parts::All)));
    let Both { integrated, reviewed, .. } = both(&lab, inputs, &[]);
    assert_eq!(integrated.commits[0].tasks, [id("tests/2.sh")], "a new file is used by nobody else");
    let kinds: Vec<ReviewKind> = reviewed.commits.iter().map(|commit| commit.reasons[0].kind).collect();
    assert_eq!(kinds, [ReviewKind::Shared, ReviewKind::Configuration]);
}

#[test]
fn a_change_of_tests_that_turns_others_green_needs_review() {
    let mut files = vec![("tests/env".to_owned(), "want=right\n".to_owned())];
    for n in 0..3 {
        files.push((format!("tests/{n}.sh"), ". ./tests/env\n[ wrong = $want ]\n".to_owned()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let lab = Lab::new(&files);
    let sly = lab.input("tests/0.sh", &[("[FIX_TEST] sly", &[("tests/env", Some("want=wrong\n"))])]);
    let honest = lab.input("tests/1.sh", &[("[FIX_TEST] honest", &[("tests/1.sh", Some("true\n"))])]);
    let red: Vec<TaskId> = (0..3).map(|n| id(&format!("tests/{n}.sh"))).collect();
    let integrator = lab.integrator(None);
    let green = integrator.turns_green(&sly.candidate.tip, &red[1..]).unwrap();
    assert_eq!(green, [id("tests/1.sh"), id("tests/2.sh")]);
    assert_eq!(integrator.turns_green(&honest.candidate.tip, &red[2..]).unwrap(), []);
    let tests = Tests { guards: &[], red: &red };
    let integrated = integrator.integrate(vec![sly, honest], &tests, &mut |_| {}).unwrap();
    assert_eq!(integrated.commits[0].tasks, [id("tests/1.sh")]);
    let [needs] = &integrated.needs_review[..] else { panic!("{integrated:?}") };
    assert_eq!(needs.reasons[0].kind, ReviewKind::TurnsOthersGreen);
    assert!(needs.reasons[0].text.ends_with("`tests/1.sh`, `tests/2.sh` (2 in all)"), "{}", needs.reasons[0]);
}

#[test]
fn a_change_is_taken_over_after_the_same_checks_and_the_rest_is_put_on_top() {
    let lab = project(4);
    let weaker = |n: usize| reviewed(fix_test(&lab, n, &[]), ReviewKind::Weaker, "weaker");
    let breaking = fix_test(&lab, 3, &[("src/lib", Some("one=7\n"))]);
    let breaking = reviewed(breaking, ReviewKind::Weaker, "weaker");
    let Both { reviewed, .. } = both(&lab, vec![fix(&lab, 0), weaker(1), weaker(2), breaking], &[]);
    assert_eq!(reviewed.commits.len(), 3);
    let (integrator, tasks) = (lab.integrator(None), [id("tests/0.sh"), id("tests/lib.sh")]);
    let take = |what: &str| {
        let mut steps = Vec::new();
        let taken = integrator.take_commit(&TakeRequest { what, tasks: &tasks }, &mut |event| match event {
            Event::Integration(step) => steps.push(step),
            other => panic!("{other:?}"),
        });
        (taken, steps)
    };
    let tips = || lab.git(&["rev-parse", "tmr/1/integrated", "tmr/1/review"]);
    let before = tips();
    let breaks = take("tests/3.sh").0.unwrap_err();
    assert!(
        matches!(&breaks, IntegrateError::CannotTake { failure, .. }
        if failure.check == Check::Test(id("tests/lib.sh"))),
        "{breaks}"
    );
    assert!(matches!(take("tests/0.sh").0.unwrap_err(), IntegrateError::NotForReview { .. }));
    assert!(matches!(take("tests/9.sh").0.unwrap_err(), IntegrateError::NoSuchCommit { .. }));
    assert_eq!(tips(), before, "nothing has changed");

    let (taken, steps) = take(&reviewed.commits[1].oid[..12]);
    let taken = taken.unwrap();
    assert_eq!((&taken.tasks[..], &taken.left_out[..]), (&[id("tests/2.sh")][..], &[][..]));
    let [result, review] = of_both(&lab);
    assert_eq!(result, ["[FIX_IMPL] put 0 right", "[FIX_TEST] 2 is wrong"]);
    assert_eq!(review, ["[FIX_TEST] 1 is wrong", "[FIX_TEST] 3 is wrong"]);
    assert_eq!(lab.git(&["rev-parse", "tmr/1/integrated"]), taken.commit);
    let message = lab.git(&["log", "-1", "--format=%B", "tmr/1/integrated"]);
    assert!(message.ends_with("\nTaken: by the user, after review"), "{message}");
    let [step] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!((step.step, step.commit.as_ref()), (IntegrationStep::Taken, Some(&taken.commit)));
    let rewritten = step.details["rewritten"].as_object().unwrap();
    let old: BTreeSet<&String> = reviewed.commits.iter().map(|commit| &commit.oid).collect();
    assert_eq!(rewritten.keys().collect::<BTreeSet<_>>(), old);
    // Taken is part of the result, and can be dropped from it.
    let request = DropRequest { what: "tests/2.sh", guards: &[], integrated: &[], inputs: &|_| Vec::new() };
    let dropped = integrator.drop_commit(&request, &mut |_| {}).unwrap();
    assert_eq!((dropped.commit, dropped.branch.as_str()), (Some(taken.commit), "tmr/1/integrated"));
    assert_eq!(of_both(&lab), [vec![result[0].clone()], review]);
}

#[test]
fn one_task_of_the_mergeable_commit_or_any_commit_is_dropped() {
    let lab = project(5);
    let inputs = vec![
        fix_test(&lab, 0, &[]),
        fix_test(&lab, 1, &[]),
        fix(&lab, 2),
        reviewed(fix_test(&lab, 3, &[]), ReviewKind::Weaker, "weaker"),
        reviewed(fix_test(&lab, 4, &[]), ReviewKind::Weaker, "weaker"),
    ];
    both(&lab, inputs.clone(), &[]);
    let integrator = lab.integrator(None);
    let of = |tasks: &[TaskId]| -> Vec<Input> {
        inputs.iter().filter(|input| tasks.contains(&input.candidate.task)).cloned().collect()
    };
    let drop = |what: &str| {
        let request = DropRequest { what, guards: &[], integrated: &[], inputs: &of };
        let mut events = Vec::new();
        let dropped = integrator.drop_commit(&request, &mut |event| events.push(event));
        (dropped, events)
    };
    let (dropped, events) = drop("tests/0.sh");
    let dropped = dropped.unwrap();
    assert_eq!((dropped.commit, dropped.tasks), (None, vec![id("tests/0.sh")]));
    let Event::Integration(step) = &events[0] else { panic!("{events:?}") };
    assert_eq!(step.details["rewritten"].as_object().unwrap().len(), 4, "all later ones have new names");
    let [result, review] = of_both(&lab);
    assert_eq!(result, ["Tests and docs: the changes of 1 agent", "[FIX_IMPL] put 2 right"]);
    assert_eq!(review, ["[FIX_TEST] 3 is wrong", "[FIX_TEST] 4 is wrong"]);
    assert_eq!(lab.git(&["diff", "--name-only", &lab.base, "tmr/1/integrated~1"]), "tests/1.sh");

    let dropped = drop("tests/3.sh").0.unwrap();
    assert_eq!((dropped.branch.as_str(), dropped.tasks), ("tmr/1/review", vec![id("tests/3.sh")]));
    let squash = lab.git(&["rev-parse", "tmr/1/integrated~1"]);
    drop(&squash).0.unwrap();
    assert_eq!(
        of_both(&lab),
        [vec!["[FIX_IMPL] put 2 right".to_owned()], vec!["[FIX_TEST] 4 is wrong".to_owned()]]
    );
    drop("tests/4.sh").0.unwrap();
    drop("tests/2.sh").0.unwrap();
    assert_eq!(lab.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/tmr"]), "tmr/1/integrated");
    assert_eq!(lab.git(&["rev-parse", "tmr/1/integrated"]), lab.base, "nothing is left");
}

#[test]
fn a_task_that_shares_its_commit_is_not_dropped_alone() {
    let lab = project(2);
    let files = [("src/0", Some("right\n")), ("src/1", Some("right\n"))];
    let same = |n: usize| lab.input(&format!("tests/{n}.sh"), &[("[FIX_IMPL] both", &files)]);
    both(&lab, vec![same(0), same(1)], &[]);
    let request = DropRequest { what: "tests/1.sh", guards: &[], integrated: &[], inputs: &|_| Vec::new() };
    let error = lab.integrator(None).drop_commit(&request, &mut |_| {}).unwrap_err();
    assert!(matches!(error, IntegrateError::SharedCommit { others: 1, .. }), "{error}");
}

#[test]
fn what_is_left_of_a_change_stays_only_if_its_test_needs_it() {
    let lab = project(3);
    let binary = |n: usize| format!("{n}\0\0");
    let with = |n: usize, more: &[(&str, Option<&str>)]| {
        let (task, test) = (format!("tests/{n}.sh"), format!("# {n}\n[ \"$(cat src/0)\" = right ]\n"));
        let files: Vec<(&str, Option<&str>)> =
            [("src/0", Some("right\n"))].into_iter().chain(more.iter().copied()).collect();
        let tests = [(task.as_str(), Some(test.as_str()))];
        lab.input(&task, &[("[FIX_TEST] t", &tests[..]), ("[FIX_IMPL] put 0 right", &files)])
    };
    let (blob, settings) = (binary(0), "[tmr]\ngate = 'true'\n");
    let inputs = vec![
        with(0, &[("cache.bin", Some(&blob))]),
        with(1, &[(".mngr/settings.toml", Some(settings))]),
        with(2, &[]),
    ];
    let Both { integrated, steps, .. } = both(&lab, inputs, &[]);
    let [commit] = &integrated.commits[..] else { panic!("{integrated:?}") };
    assert_eq!((commit.votes, commit.tasks.len()), (3, 3));
    let changed = lab.git(&["show", "--format=", "--name-only", "tmr/1/integrated"]);
    assert_eq!(changed.lines().collect::<Vec<_>>(), ["src/0", "tests/0.sh", "tests/1.sh", "tests/2.sh"]);
    let named: Vec<&str> = steps
        .iter()
        .filter(|step| step.step == IntegrationStep::Unneeded)
        .map(|step| step.reason.as_str())
        .collect();
    assert_eq!(named, ["no test needs `cache.bin`", "no test needs `.mngr/settings.toml`"]);
}

#[test]
fn the_rest_of_a_file_whose_shared_hunk_is_in_has_its_own_votes() {
    let text = |first: &str, last: &str| format!("{first}\n\n\n\n\n\n\n\n\n{last}\n");
    let base = text("one=1", "ten=10");
    let wants = |what: &str| format!(". ./src/lib\n[ $one = 2 ] && {what}\n");
    let tests: Vec<String> = ["true", "true # again", "[ $ten = 11 ]", "true # 3"].map(wants).to_vec();
    let names: Vec<String> = (0..4).map(|n| format!("tests/{n}.sh")).collect();
    let mut files = vec![("src/lib", base.as_str())];
    files.extend(names.iter().zip(&tests).map(|(name, test)| (name.as_str(), test.as_str())));
    let mut lab = Lab::new(&files);
    lab.repeats = 1;
    let fixed = |n: usize, last: &str| {
        let text = text("one=2", last);
        lab.input(&names[n], &[("[FIX_IMPL] one is two", &[("src/lib", Some(&text))])])
    };
    let inputs = vec![fixed(0, "ten=10"), fixed(1, "ten=10"), fixed(2, "ten=11"), fixed(3, "ten=10 # mine")];
    let result = lab.integrator(None).integrate(inputs, &Tests::default(), &mut |_| {}).unwrap();
    let votes: Vec<(usize, usize)> =
        result.commits.iter().map(|commit| (commit.tasks.len(), commit.votes)).collect();
    assert_eq!(votes, [(2, 4), (1, 1)], "{:?}", result.commits);
    assert_eq!(result.contained, [id("tests/3.sh")], "its test passes without what is left");
    assert_eq!(result.unneeded[0].task, id("tests/3.sh"));
    assert_eq!(lab.git(&["show", "tmr/1/integrated:src/lib"]), text("one=2", "ten=11").trim_end());
    let message = lab.git(&["log", "-1", "--format=%B", "tmr/1/integrated"]);
    assert!(message.contains("\nVotes: 1\n"), "{message}");
}

#[test]
fn fixes_of_neighbouring_lines_are_both_kept_if_the_tests_of_both_pass() {
    let wants = |name: &str, value: &str| format!(". ./src/lib\n[ ${name} = {value} ]\n");
    let (one, two) = (wants("one", "A"), wants("two", "B"));
    let picky = ". ./src/lib\n[ $three = C ] && [ $one$two != AB ]\n";
    let lab = Lab::new(&[
        ("src/lib", "one=1\ntwo=2\nthree=3\n"),
        ("tests/1.sh", &one),
        ("tests/2.sh", &two),
        ("tests/3.sh", picky),
    ]);
    let fixed = |n: usize, text: &str| {
        lab.input(&format!("tests/{n}.sh"), &[(&format!("[FIX_IMPL] {n}"), &[("src/lib", Some(text))])])
    };
    let inputs = vec![
        fixed(1, "one=A\ntwo=2\nthree=3\n"),
        fixed(2, "one=1\ntwo=B\nthree=3\n"),
        // Right by itself, but its test does not like the other two together.
        fixed(3, "one=1\ntwo=2\nthree=C\n"),
    ];
    let result = lab.integrator(None).integrate(inputs, &Tests::default(), &mut |_| {}).unwrap();
    assert_eq!(lab.git(&["show", "tmr/1/integrated:src/lib"]), "one=A\ntwo=B\nthree=3");
    let [conflict] = &result.remaining.conflicts[..] else { panic!("{result:?}") };
    assert_eq!(conflict.tasks, [id("tests/3.sh")]);
    assert_eq!(conflict.files, BTreeSet::from(["src/lib".to_owned()]));
    assert_eq!(result.expelled, []);
}

#[test]
fn the_final_run_covers_every_test_of_the_tip() {
    let lab = project(3);
    let new = fix_test(&lab, 1, &[("tests/new.sh", Some("true\n")), ("tests/bad.sh", Some("false\n"))]);
    let gone = lab.input("tests/2.sh", &[("[FIX_TEST] t", &[("tests/2.sh", Some("true\n"))])]);
    let Both { integrated, .. } = both(&lab, vec![new, gone], &[]);
    let tasks = [id("tests/0.sh"), id("tests/1.sh"), id("tests/2.sh"), id("tests/never.sh")];
    let run = lab.integrator(None).final_run(&integrated.tip, &tasks).unwrap();
    assert_eq!((run.passed, run.failed, run.skipped), (4, 2, 0));
    assert_eq!(run.tests, [id("tests/0.sh"), id("tests/bad.sh")]);
    assert_eq!(run.absent, [id("tests/never.sh")]);
    assert!(
        run.to_string().starts_with("4 of 6 tests pass on tmr/1/integrated; 2 do not: tests/0.sh"),
        "{run}"
    );
}
