//! What an agent makes of the rest, judged in a real repository with `sh` tests.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mngr_model::run::{Entry, Event, FailureKind, Integration, IntegrationStep, ReviewKind, TaskId};

use super::*;
use crate::candidate::Cost;
use crate::testing::{Lab, Work, id};
use crate::verify::Refusal;

/// `tests/N.sh` wants `N` to be right; two agents put it right so that only one of them fits, and `tests/lib.sh` passes.
struct Case {
    lab: Lab,
    inputs: Vec<Input>,
    integrated: Integrated,
}

const GATE: &str = "sh -n ./src/lib";

/// The library with the values of `one` and `two`, on one line: two changes of it never fit beside each other.
fn lib(one: &str, two: &str) -> String {
    format!("one={one} two={two}\n")
}

impl Case {
    fn new() -> Self {
        let wants = |name: &str| format!(". ./src/lib\n[ ${name} = right ]\n");
        let (one, two, base) = (wants("one"), wants("two"), lib("wrong", "wrong"));
        let lab = Lab::new(&[
            ("src/lib", &base),
            ("tests/lib.sh", ". ./src/lib\n[ ! -f src/extra ]\n"),
            ("tests/old.sh", "false\n"),
            ("tests/1.sh", &one),
            ("tests/2.sh", &two),
        ]);
        let fix = |task: &str, text: &str| {
            lab.input(task, &[(&format!("[FIX_IMPL] for {task}"), &[("src/lib", Some(text))])])
        };
        let inputs =
            vec![fix("tests/1.sh", &lib("right", "wrong")), fix("tests/2.sh", &lib("wrong", "right"))];
        let guards = [id("tests/lib.sh")];
        let integrated = lab
            .integrator(Some(GATE))
            .integrate(inputs.clone(), &Tests { guards: &guards, red: &[] }, &mut |_| {})
            .unwrap();
        assert_eq!(integrated.commits.len(), 1);
        assert_eq!(integrated.remaining.conflicts[0].tasks, [id("tests/2.sh")]);
        Self { lab, inputs, integrated }
    }

    /// The agent's commits on the result.
    fn offer(&self, works: &[Work<'_>]) -> String {
        self.lab.commits_on(&self.integrated.tip, works)
    }

    fn adopt(&self, tip: &str) -> (Adopted, Vec<Integration>) {
        let mut steps = Vec::new();
        let guards = [id("tests/lib.sh"), id("tests/old.sh")];
        let cost = Cost { tokens: Some(70), dollars: None };
        let request = AdoptRequest {
            integrated: &self.integrated,
            tip,
            guards: &guards,
            red: &[],
            cost,
            outcome: None,
        };
        let adopted = self.lab.integrator(Some(GATE)).adopt(&request, &mut |event| match event {
            Event::Integration(step) => steps.push(step),
            other => panic!("{other:?}"),
        });
        (adopted.unwrap(), steps)
    }

    /// Why the only commit of the agent is left out.
    fn refused(&self, work: Work<'_>) -> NotAdopted {
        let (adopted, steps) = self.adopt(&self.offer(&[work]));
        assert_eq!((&adopted.tip, adopted.commits.len()), (&self.integrated.tip, 0));
        assert_eq!(self.lab.git(&["rev-parse", &self.integrated.branch]), self.integrated.tip);
        let kinds: Vec<IntegrationStep> = steps.iter().map(|step| step.step).collect();
        assert_eq!(kinds, [IntegrationStep::Expelled]);
        let [left_out] = &adopted.left_out[..] else { panic!("{adopted:?}") };
        assert_eq!((steps[0].commit.as_ref(), &steps[0].tasks), (Some(&left_out.commit), &left_out.tasks));
        left_out.reason.clone()
    }
}

#[test]
fn a_conflict_that_the_agent_resolved_becomes_a_commit_of_the_run() {
    let case = Case::new();
    let view = case.lab.users_view();
    let both = lib("right", "right");
    let message = "[FIX_IMPL] two, too\n\nBoth are kept.\n\nTask: tests/2.sh\n\nMade-By: somebody";
    let tip = case.offer(&[(message, &[("src/lib", Some(&both))])]);
    let (adopted, steps) = case.adopt(&tip);
    assert_eq!(adopted.left_out, []);
    let [commit] = &adopted.commits[..] else { panic!("{adopted:?}") };
    assert_eq!((commit.kind, &commit.tasks[..]), (CommitKind::Implementation, &[id("tests/2.sh")][..]));
    assert_eq!(case.lab.git(&["rev-parse", &case.integrated.branch]), adopted.tip);
    assert_eq!(case.lab.git(&["rev-parse", &format!("{}^", adopted.tip)]), case.integrated.tip);
    let wanted = "[FIX_IMPL] two, too\n\nTask: tests/2.sh\nKind: FIX_IMPL\n\
        Evidence: tests/2.sh: passed 0/1 before, 1/1 after\nTests: 2 passed\n\
        Rank: by the integrator, after all others\nCost: 70 tokens for all commits of the integrator";
    assert_eq!(case.lab.git(&["log", "-1", "--format=%B", &adopted.tip]), wanted);
    assert_eq!(case.lab.git(&["log", "-1", "--format=%cn", &adopted.tip]), "mngr tmr");
    let kinds: Vec<IntegrationStep> = steps.iter().map(|step| step.step).collect();
    assert_eq!(kinds, [IntegrationStep::Picked, IntegrationStep::Finished]);
    // The same commits again, as after a kill before the last line of the journal.
    assert_eq!(case.adopt(&tip).0, adopted);
    assert_eq!(case.lab.users_view(), view);
}

#[test]
fn an_adopted_commit_is_explained_and_can_be_dropped() {
    let case = Case::new();
    let both = lib("right", "right");
    let (adopted, steps) =
        case.adopt(&case.offer(&[("[FIX_IMPL] x\n\nTask: tests/2.sh", &[("src/lib", Some(&both))])]));
    let entry = |(seq, step)| Entry { time: Timestamp::UNIX_EPOCH, seq, event: Event::Integration(step) };
    let journal: Vec<Entry> = (1..).zip(steps).map(entry).collect();
    let integrator = case.lab.integrator(Some(GATE));
    let why = case.lab.why(&adopted.tip, &journal);
    assert_eq!((why.steps.len(), why.steps[0].reason.as_str()), (1, "made by the integrator"));
    let what = &adopted.tip;
    let request = DropRequest { what, guards: &[], integrated: &[], inputs: &|_| Vec::new() };
    assert_eq!(integrator.drop_commit(&request, &mut |_| {}).unwrap().tip, case.integrated.tip);
}

#[test]
fn a_commit_that_does_not_pass_is_left_out_with_its_reason() {
    let case = Case::new();
    let both = lib("right", "right");
    let fails = |message: &str, files: &[(&str, Option<&str>)]| match case.refused((message, files)) {
        NotAdopted::Fails { failure } => failure.check,
        other => panic!("{other:?}"),
    };
    let task = "[FIX_IMPL] x\n\nTask: tests/2.sh";
    assert_eq!(fails(task, &[("src/lib", Some("if true; then\n"))]), Check::Gate);
    let other = lib("wrong", "right");
    assert_eq!(fails(task, &[("src/lib", Some(&other))]), Check::Test(id("tests/1.sh")));
    assert_eq!(fails(task, &[("src/new", Some("x"))]), Check::Test(id("tests/2.sh")));
    let files = [("src/lib", Some(both.as_str())), ("src/extra", Some("x"))];
    assert_eq!(fails(task, &files), Check::Test(id("tests/lib.sh")));
}

#[test]
fn the_rules_of_all_agents_hold_for_it_too() {
    let case = Case::new();
    let both = lib("right", "right");
    let files = [("src/lib", Some(both.as_str()))];
    assert_eq!(case.refused(("[FIX_IMPL] x", &files)), NotAdopted::NoTask);
    assert_eq!(case.refused(("[FIX_IMPL] x\n\nTask: tests/nobody.sh", &files)), NotAdopted::NoTask);
    let sly = case.refused(("[FIX_TEST] x\n\nTask: tests/2.sh", &files));
    assert!(matches!(sly, NotAdopted::Refused(Refusal::Understated { .. })), "{sly:?}");
    let marked = [("tests/2.sh", Some("# @pytest.mark.skip\n"))];
    let skips = case.refused(("[FIX_TEST] x\n\nTask: tests/2.sh", &marked));
    assert!(matches!(skips, NotAdopted::Refused(Refusal::Contract(_))), "{skips:?}");
    assert_eq!(skips.kind(), FailureKind::Contract);
}

#[test]
fn what_needs_a_commit_that_was_left_out_goes_with_it_and_the_rest_is_taken() {
    let case = Case::new();
    let (broken, repaired) = (lib("wrong", "right"), lib("right # again", "right"));
    let tip = case.offer(&[
        ("[FIX_IMPL] breaks\n\nTask: tests/2.sh", &[("src/lib", Some(&broken))]),
        ("[FIX_IMPL] builds on it\n\nTask: tests/2.sh", &[("src/lib", Some(&repaired))]),
        ("[FIX_IMPL] apart\n\nTask: tests/1.sh", &[("src/apart", Some("x"))]),
    ]);
    let (adopted, _) = case.adopt(&tip);
    let subjects: Vec<&str> = adopted.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["[FIX_IMPL] apart"]);
    assert!(matches!(adopted.left_out[0].reason, NotAdopted::Fails { .. }));
    let files = vec!["src/lib".to_owned()];
    assert_eq!(adopted.left_out[1].reason, NotAdopted::DoesNotApply { files });
    let changed = case.lab.git(&["diff", "--name-only", &case.integrated.tip, &case.integrated.branch]);
    assert_eq!(changed, "src/apart");
}

#[test]
fn commits_that_do_not_follow_the_result_are_an_error() {
    let case = Case::new();
    let elsewhere = case.lab.commits(&[("[FIX_IMPL] x\n\nTask: tests/2.sh", &[("src/apart", Some("x"))])]);
    let (integrated, cost) = (&case.integrated, Cost::default());
    let request = AdoptRequest { integrated, tip: &elsewhere, guards: &[], red: &[], cost, outcome: None };
    let error = case.lab.integrator(Some(GATE)).adopt(&request, &mut |_| {}).unwrap_err();
    assert!(matches!(error, IntegrateError::NotInLine { commit } if commit == elsewhere));
}

#[test]
fn the_agent_is_told_what_is_left_by_commit() {
    let mut case = Case::new();
    let place = |n: usize| (format!("tests/{n}.cfg"), id("tests/1.sh"));
    case.integrated.remaining.repeated_groups = vec![RepeatedGroup {
        lines: vec!["+a\u{1b}b".to_owned()],
        places: BTreeSet::from([place(1), place(2)]),
    }];
    let left = case.integrated.left(&case.inputs);
    let [conflict] = &left.conflicts[..] else { panic!("{left:?}") };
    assert_eq!(conflict.task, "tests/2.sh");
    assert_eq!(conflict.commit, case.inputs[1].candidate.tip);
    assert_eq!(conflict.subject, "[FIX_IMPL] for tests/2.sh");
    assert_eq!(conflict.paths, ["src/lib"]);
    assert_eq!(conflict.against, [case.integrated.tip.clone()]);
    assert_eq!((left.repeated[0].summary.as_str(), left.repeated[0].tasks.len()), ("`+a b`", 1));
    assert_eq!(left.repeated[0].paths, ["tests/1.cfg", "tests/2.cfg"]);
    assert!(!left.is_empty() && Left::default().is_empty());
}

/// Both values are right, and the test of the second looks at less.
const WEAKER: [(&str, Option<&str>); 2] =
    [("src/lib", Some("one=right two=right\n")), ("tests/2.sh", Some(". ./src/lib\n[ -n \"$two\" ]\n"))];

impl Case {
    /// What is made of the agent's commits where tests are measured.
    fn measured(&self, tip: &str, red: &[TaskId]) -> Adopted {
        let request = AdoptRequest {
            integrated: &self.integrated,
            tip,
            guards: &[],
            red,
            cost: Cost::default(),
            outcome: None,
        };
        let lab = &self.lab;
        let integrator = Integrator { measuring: Some(lab.verifier()), ..lab.integrator(Some(GATE)) };
        integrator.adopt(&request, &mut |_| ()).unwrap()
    }

    /// The review branch that follows from it.
    fn reviewed(&self, adopted: &Adopted) -> (Reviewed, Vec<Integration>) {
        let mut steps = Vec::new();
        let strengths = BTreeMap::new();
        let (start, of_integrator) = (adopted.tip.as_str(), &adopted.for_review[..]);
        let request = ReviewRequest { start, changes: &[], strengths: &strengths, of_integrator };
        let reviewed = self.lab.integrator(Some(GATE)).review(&request, &mut |event| match event {
            Event::Integration(step) => steps.push(step),
            other => panic!("{other:?}"),
        });
        (reviewed.unwrap(), steps)
    }
}

#[test]
fn tests_that_the_integrator_makes_weaker_go_to_the_review_branch() {
    let case = Case::new();
    let tip = case.offer(&[("[FIX_IMPL] both\n\nTask: tests/2.sh", &WEAKER)]);
    let adopted = case.measured(&tip, &[]);
    assert_eq!((adopted.commits.len(), adopted.left_out.len()), (0, 0), "{adopted:?}");
    assert_eq!(adopted.tip, case.integrated.tip);
    let (reviewed, steps) = case.reviewed(&adopted);
    let [commit] = &reviewed.commits[..] else { panic!("{reviewed:?}") };
    assert_eq!((commit.subject.as_str(), &commit.tasks[..]), ("[FIX_IMPL] both", &[id("tests/2.sh")][..]));
    assert!(!commit.reasons.is_empty() && commit.strength.is_some(), "{commit:?}");
    let log = |format: &str| case.lab.git(&["log", "-1", &format!("--format={format}"), "tmr/1/review"]);
    assert_eq!(log("%H %P"), format!("{} {}", commit.oid, case.integrated.tip), "it continues the result");
    let message = log("%B");
    for line in
        ["Task: tests/2.sh", "Review: unmeasured: ", "Strength: not measured", "Rank: by the integrator"]
    {
        assert!(message.lines().any(|other| other.starts_with(line)), "{line} in {message}");
    }
    let [step] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!((step.step, &step.commit), (IntegrationStep::Reviewed, &Some(commit.oid.clone())));
    assert_eq!(step.details["strength"]["state"], "not_measured");

    // From there it is taken over like any other.
    let integrator = case.lab.integrator(Some(GATE));
    let tasks = [id("tests/1.sh"), id("tests/lib.sh")];
    let mut steps = steps;
    let request = TakeRequest { what: "tests/2.sh", tasks: &tasks };
    let taken = integrator.take_commit(&request, &mut |event| match event {
        Event::Integration(step) => steps.push(step),
        other => panic!("{other:?}"),
    });
    let taken = taken.unwrap();
    assert_eq!((&taken.from, &taken.tasks[..]), (&commit.oid, &[id("tests/2.sh")][..]));
    assert_eq!(case.lab.git(&["rev-parse", &case.integrated.branch]), taken.commit);
    let entry = |(seq, step)| Entry { time: Timestamp::UNIX_EPOCH, seq, event: Event::Integration(step) };
    let journal: Vec<Entry> = (1..).zip(steps).map(entry).collect();
    let why = case.lab.why(&taken.commit, &journal);
    assert_eq!(why.strength, commit.strength.iter().cloned().collect::<Vec<_>>(), "known under its new name");
    // Dropping it opens its task again.
    let request = DropRequest { what: &taken.commit, guards: &[], integrated: &[], inputs: &|_| Vec::new() };
    assert_eq!(integrator.drop_commit(&request, &mut |_| {}).unwrap().tasks, [id("tests/2.sh")]);

    let request = AdoptRequest {
        integrated: &case.integrated,
        tip: &tip,
        guards: &[],
        red: &[],
        cost: Cost::default(),
        outcome: None,
    };
    let unmeasured = case.lab.integrator(Some(GATE)).adopt(&request, &mut |_| ()).unwrap();
    assert_eq!(unmeasured.commits.len(), 1, "the checks alone take it");
}

#[test]
fn a_commit_for_review_keeps_what_builds_on_it_out_and_no_other_commit() {
    let case = Case::new();
    let more = lib("right # more", "right");
    let tip = case.offer(&[
        ("[FIX_IMPL] both\n\nTask: tests/2.sh", &WEAKER),
        ("[FIX_IMPL] builds on it\n\nTask: tests/2.sh", &[("src/lib", Some(&more))]),
        ("[FIX_IMPL] apart\n\nTask: tests/1.sh", &[("src/apart", Some("x"))]),
    ]);
    let adopted = case.measured(&tip, &[]);
    let subjects: Vec<&str> = adopted.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!((subjects, adopted.for_review.len()), (vec!["[FIX_IMPL] apart"], 1));
    let [left_out] = &adopted.left_out[..] else { panic!("{adopted:?}") };
    assert_eq!(left_out.reason, NotAdopted::DoesNotApply { files: vec!["src/lib".to_owned()] });
    let (reviewed, _) = case.reviewed(&adopted);
    assert_eq!(reviewed.commits.len(), 1, "it applies on top of what was taken later");
}

#[test]
fn dropping_a_review_commit_for_a_task_of_the_result_opens_nothing() {
    let case = Case::new();
    let integrator = case.lab.integrator(Some(GATE));
    let improve = [("tests/1.sh", Some(". ./src/lib\n[ -n \"$one\" ]\n"))];
    let tip = case.offer(&[("[IMPROVE_TEST] one\n\nTask: tests/1.sh", &improve)]);
    let adopted = case.measured(&tip, &[]);
    let (reviewed, _) = case.reviewed(&adopted);
    let what = &reviewed.commits[0].oid;
    let request = DropRequest { what, guards: &[], integrated: &[], inputs: &|_| Vec::new() };
    let dropped = integrator.drop_commit(&request, &mut |_| {}).unwrap();
    assert_eq!((dropped.tasks, dropped.branch.as_str()), (Vec::new(), "tmr/1/review"));
}

#[test]
fn a_commit_of_the_integrator_that_turns_other_tests_green_needs_review() {
    let case = Case::new();
    let files = [("tests/2.sh", Some(". ./src/lib\n[ -n \"$two\" ]\n")), ("tests/old.sh", Some("true\n"))];
    let tip = case.offer(&[("[FIX_TEST] both\n\nTask: tests/2.sh", &files)]);
    let adopted = case.measured(&tip, &[id("tests/old.sh"), id("tests/2.sh")]);
    let [found] = &adopted.for_review[..] else { panic!("{adopted:?}") };
    let reason = found.reasons.iter().find(|reason| reason.kind == ReviewKind::TurnsOthersGreen);
    let text = reason.map(|reason| reason.text.as_str()).unwrap_or_default();
    assert_eq!(text, "with it alone other tests turn green: `tests/old.sh` (1 in all)", "{found:?}");
}

#[test]
fn each_test_that_a_commit_turns_green_is_judged_by_itself() {
    let case = Case::new();
    // The first task passes; the second failed, and only its test was changed.
    let files = [("tests/2.sh", Some(". ./src/lib\n[ \"$two\" = wrong ]\n"))];
    let message = "[FIX_TEST] two\n\nTask: tests/1.sh\nTask: tests/2.sh";
    let mut lab = case.lab;
    (lab.mutants, lab.repeats) = (2, 1);
    let case = Case { lab, ..case };
    let adopted = case.measured(&case.offer(&[(message, &files)]), &[]);
    let [found] = &adopted.for_review[..] else { panic!("{adopted:?}") };
    assert!(found.reasons.iter().any(|reason| reason.kind == ReviewKind::RedToGreen), "{found:?}");
}
