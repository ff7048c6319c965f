//! Claims against measurements, on a real repository with `sh` tests.

use std::sync::Arc;
use std::time::Duration;

use mngr_host::git::{Git, RepoPath};
use mngr_model::run::{ChangeKind, Event, FailureKind, ReviewKind, TaskId, Verdict};
use regex::Regex;

use super::*;
use crate::candidate::Candidate;
use crate::collect::{Collector, Selection};
use crate::testing::{Lab, Work, id};

/// `add` is wrong, and two tests say so in different words.
const PROJECT: &[(&str, &str)] = &[
    ("src/lib.sh", "add() { echo $(($1 - $2)); }\nname() { echo lib; }\n"),
    ("tests/add.sh", ". ./src/lib.sh\n[ \"$(add 1 2)\" = 3 ]\n"),
    ("tests/name.sh", "# Scope:\n# the name\n# end\n. ./src/lib.sh\n[ \"$(name)\" = lib ]\n"),
    ("tests/wrong.sh", ". ./src/lib.sh\n[ \"$(name)\" = other ]\n"),
];

/// What holds of a change whose tests were changed: the lab makes no mutants, so how strong they are is not known.
fn unmeasured(decision: &Decision) -> Option<Parts> {
    let Decision::Review { parts, reasons } = decision else { return None };
    let [reason] = &reasons[..] else { return None };
    (reason.kind == ReviewKind::Unmeasured).then_some(*parts)
}

const FIXED: &str = "add() { echo $(($1 + $2)); }\nname() { echo lib; }\n";

#[test]
fn a_fix_of_the_program_is_proven_by_the_test_that_failed_before() {
    let lab = Lab::new(PROJECT);
    let found =
        lab.verify(&lab.candidate("tests/add.sh", &[("[FIX_IMPL] add", &[("src/lib.sh", Some(FIXED))])]));
    assert_eq!(found.decision, Decision::Integrate(Parts::All));
    assert_eq!((found.before.verdict, found.after.verdict), (Verdict::Failed, Verdict::Passed));
    assert_eq!(found.mutation, Mutation::SameAsBefore);
    assert_eq!(found.evidence(), "passed 0/3 before, 3/3 after, 0/3 without the fix");
    let events = found.events();
    let Event::Classified(classified) = &events[3] else { panic!("{events:?}") };
    assert_eq!(classified.commits[0].claimed, Some(ChangeKind::FixImpl));
    assert_eq!(classified.commits[0].measured, Some(ChangeKind::FixImpl));
}

#[test]
fn what_was_measured_is_kept_and_read_back_equal() {
    let lab = Lab::new(PROJECT);
    let test = ("tests/add.sh", Some(". ./src/lib.sh\n[ \"$(add 2 2)\" = 4 ]\n"));
    let works = [("[FIX_IMPL] add", &[("src/lib.sh", Some(FIXED)), test][..])];
    let mut found = lab.verify(&lab.candidate("tests/add.sh", &works));
    found.commits[0].paths.push(RepoPath::new(b"src/\xff".to_vec()));
    let breach = Breach { rule: "scope".to_owned(), path: "a".to_owned(), line: None, at: None };
    for decision in [
        found.decision.clone(),
        Decision::Clean,
        Decision::Refuse(breach.into()),
        Decision::Refuse(Refusal::Flaky { passed: 1, runs: 3 }),
        Decision::Refuse(Refusal::NotOnBase),
    ] {
        found.decision = decision;
        let kept = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Verification>(&kept).unwrap(), found, "{kept}");
    }
    let kept = serde_json::to_value(&found).unwrap();
    assert_eq!(kept["decision"]["refuse"], "not_on_base");
    assert_eq!(kept["mutation"]["run"]["passed"], 0);
    assert_eq!(kept["commits"][0]["paths"][1], "tests/add.sh");
}

#[test]
fn a_changed_test_is_run_without_the_fix_and_has_to_fail_there() {
    let lab = Lab::new(PROJECT);
    let stricter = ". ./src/lib.sh\n[ \"$(add 1 2)\" = 3 ] && [ \"$(add 2 2)\" = 4 ]\n";
    let works = [
        ("[IMPROVE_TEST] more", &[("tests/add.sh", Some(stricter))][..]),
        ("[FIX_IMPL] add", &[("src/lib.sh", Some(FIXED))]),
    ];
    let found = lab.verify(&lab.candidate("tests/add.sh", &works));
    assert_eq!(unmeasured(&found.decision), Some(Parts::All));
    let Mutation::Run(runs) = &found.mutation else { panic!("{:?}", found.mutation) };
    assert_eq!((runs.verdict, runs.passed), (Verdict::Failed, 0));
}

#[test]
fn a_change_of_the_program_that_the_test_does_not_need_is_not_proven() {
    let lab = Lab::new(PROJECT);
    let test = ("tests/wrong.sh", Some(". ./src/lib.sh\n[ \"$(name)\" = lib ]\n"));
    let both = [("[FIX_TEST] t", &[test][..]), ("[FIX_IMPL] i", &[("src/lib.sh", Some(FIXED))])];
    let found = lab.verify(&lab.candidate("tests/wrong.sh", &both));
    assert_eq!(unmeasured(&found.decision), Some(Parts::WithoutImplementation));
    let alone = [("[FIX_IMPL] i", &[("src/lib.sh", Some(FIXED))][..])];
    let found = lab.verify(&lab.candidate("tests/name.sh", &alone));
    assert_eq!(found.decision, Decision::Refuse(Refusal::Unproven));
}

#[test]
fn a_change_of_tests_only_needs_review_where_their_strength_is_not_measured() {
    let lab = Lab::new(PROJECT);
    let works =
        [("[FIX_TEST] t", &[("tests/wrong.sh", Some(". ./src/lib.sh\n[ \"$(name)\" = lib ]\n"))][..])];
    let found = lab.verify(&lab.candidate("tests/wrong.sh", &works));
    assert_eq!(unmeasured(&found.decision), Some(Parts::All));
    assert_eq!(found.mutation, Mutation::NotMeasurable(Unmeasurable::NoFix));
}

#[test]
fn a_lying_agent_is_caught() {
    let lab = Lab::new(PROJECT);
    let works = [("[FIX_IMPL] done", &[("src/lib.sh", Some("add() { echo 4; }\n"))][..])];
    let mut lie = lab.candidate("tests/add.sh", &works);
    let found = lab.verify(&lie);
    let Decision::Refuse(refusal) = &found.decision else { panic!("{:?}", found.decision) };
    assert_eq!(refusal, &Refusal::ClaimedGreenIsRed { runs: 3 });
    assert_eq!(refusal.kind(), FailureKind::Verification);
    lie.claims.passing_after = Some(false);
    assert_eq!(lab.verify(&lie).decision, Decision::Unresolved);
}

#[test]
fn a_test_that_passes_only_sometimes_is_refused() {
    let lab = Lab::new(PROJECT);
    // The count lies outside the checkout: inside, it would be gone after each run.
    let counter = lab.outside("counter");
    let flaky = format!("echo x >> {counter}\n[ $(wc -l < {counter}) -eq 2 ]\n");
    let works = [("[FIX_TEST] t", &[("tests/wrong.sh", Some(flaky.as_str()))][..])];
    let found = lab.verify(&lab.candidate("tests/wrong.sh", &works));
    assert_eq!(found.decision, Decision::Refuse(Refusal::Flaky { passed: 1, runs: 3 }));
}

#[test]
fn a_test_that_is_gone_does_not_pass_whatever_its_status() {
    let lab = Lab::new(PROJECT);
    let works = [("[FIX_TEST] t", &[("tests/wrong.sh", Some("echo no such test\n"))][..])];
    let found = lab.verify(&lab.candidate("tests/wrong.sh", &works));
    assert_eq!(found.after.runs[0].exit, Some(0));
    assert_eq!(found.decision, Decision::Refuse(Refusal::ClaimedGreenIsRed { runs: 3 }));
}

#[test]
fn no_change_is_clean_when_green_and_unresolved_when_honestly_red() {
    let lab = Lab::new(PROJECT);
    let mut candidate = lab.candidate("tests/name.sh", &[]);
    assert_eq!(candidate.tip, lab.base);
    assert_eq!(lab.verify(&candidate).decision, Decision::Clean);
    candidate.task = id("tests/add.sh");
    assert!(matches!(lab.verify(&candidate).decision, Decision::Refuse(_)));
    candidate.claims.passing_after = None;
    assert_eq!(lab.verify(&candidate).decision, Decision::Unresolved);
}

#[test]
fn a_commit_that_hides_a_change_of_the_program_is_refused() {
    let lab = Lab::new(PROJECT);
    let works = [("[FIX_TEST] only a test", &[("src/lib.sh", Some(FIXED))][..])];
    let found = lab.verify(&lab.candidate("tests/add.sh", &works));
    let Decision::Refuse(refusal) = &found.decision else { panic!("{:?}", found.decision) };
    assert_eq!(
        refusal.to_string(),
        "the commit `[FIX_TEST] only a test` also changes the implementation: `src/lib.sh`"
    );
    assert_eq!(refusal.kind(), FailureKind::Contract);
    assert_eq!(found.after.verdict, Verdict::Passed);
}

#[test]
fn the_contract_is_compared_and_marks_that_skip_are_refused() {
    let mut lab = Lab::new(PROJECT);
    lab.rules.read_only.clear();
    lab.rules.contract.push(ContractRule {
        name: "scope".to_owned(),
        paths: Glob::all(["tests/"]).unwrap(),
        protected: Protected::Blocks {
            begin: Regex::new("^# Scope:").unwrap(),
            end: Regex::new("^# end").unwrap(),
        },
        except: vec![ChangeKind::FixTutorial],
    });
    let original = PROJECT[2].1;
    let reason = |subject: &str, text: &str| {
        let works = [(subject, &[("tests/name.sh", Some(text))][..])];
        match lab.verify(&lab.candidate("tests/name.sh", &works)).decision {
            Decision::Refuse(refusal) => refusal.to_string(),
            other => format!("{:?}", unmeasured(&other)),
        }
    };
    let reworded = original.replace("the name", "some name");
    assert_eq!(reason("[FIX_TEST] t", &reworded), "`tests/name.sh` breaks the rule `scope`: `# Scope:`");
    assert_eq!(reason("[FIX_TUTORIAL] t", &reworded), "Some(All)");
    assert_eq!(reason("[IMPROVE_TEST] t", &format!("set -e\n{original}")), "Some(All)");
    let marked = reason("[FIX_TEST] t", &format!("{original}# @pytest.mark.skip\n"));
    assert!(marked.contains("`escape_marks`") && marked.ends_with(": `# @pytest.mark.skip`"), "{marked}");
}

#[test]
fn a_branch_that_does_not_start_at_the_base_is_refused() {
    let mut lab = Lab::new(PROJECT);
    let other = lab.commits(&[("elsewhere", &[("x", Some("x"))])]);
    let base = std::mem::replace(&mut lab.base, other);
    let candidate = lab.candidate("tests/name.sh", &[("[FIX_TEST] t", &[("tests/new", Some("x"))])]);
    lab.base = lab.commits(&[("sibling", &[("y", Some("y"))])]);
    let found = lab.verify(&candidate);
    assert_eq!(found.decision, Decision::Refuse(Refusal::NotOnBase), "{base}");
}

#[test]
fn every_run_finds_a_clean_checkout_whatever_the_one_before_did() {
    let lab = Lab::new(PROJECT);
    let view = lab.users_view();
    let run = |command: &str, deadline| {
        lab.pool.run(&Order { commit: &lab.base, command, deadline, keep: Keep::Tail }).unwrap()
    };
    let long = Duration::from_secs(20);
    for damage in [
        "touch left.tmp tests/new; mkdir -p deep/er.tmp; echo x > src/lib.sh; rm tests/add.sh",
        "rm .git",
        "echo 'gitdir: /nonexistent' > .git",
        "git init -q inner; touch inner/file",
        "mkdir locked; touch locked/file; chmod 500 locked",
        "git checkout -q -b mine; touch \"$(git rev-parse --git-dir)/index.lock\"",
    ] {
        assert!(run(damage, long).is_pass(), "{damage}");
        let seen = run("git status --porcelain --ignored && ls -A && cat src/lib.sh", long);
        assert_eq!(
            seen.tail,
            format!(".git\n.gitignore\nsrc\ntests\n{}", PROJECT[0].1.trim_end()),
            "after {damage}"
        );
    }
    lab.git(&["branch", "-D", "mine"]);
    let late = run("echo begun; sleep 30", Duration::from_millis(200));
    assert_eq!((late.run.exit, late.tail.as_str()), (None, "begun"));
    assert_eq!(run("kill -9 $$", long).run.exit, Some(137));
    assert_eq!(lab.users_view(), view);
}

#[test]
fn what_a_killed_orchestrator_left_is_removed_and_nothing_stays_after_the_end() {
    let lab = Lab::new(PROJECT);
    let view = lab.users_view();
    let folder = lab.outside("checkouts");
    let git = Git::new(lab.host.as_ref(), lab.repository());
    git.add_pristine(&folder.join("1"), &lab.base).unwrap();
    lab.host.files().make_folder(&folder.join("half-made")).unwrap();
    let pool = WorktreePool::open(lab.host.clone(), lab.repository(), folder.clone(), 2).unwrap();
    let order =
        Order { commit: &lab.base, command: "ls tests", deadline: Duration::from_secs(20), keep: Keep::Tail };
    assert!(pool.run(&order).unwrap().is_pass());
    pool.close().unwrap();
    assert!(!lab.host.files().exists(&folder).unwrap());
    assert_eq!(lab.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(lab.users_view(), view);
}

#[test]
fn no_more_run_at_once_than_there_are_places() {
    let lab = Lab::new(PROJECT);
    let running = lab.outside("running");
    let command = format!(
        "mkdir -p {running}; touch {running}/$$; n=$(ls {running} | wc -l); sleep 0.1; rm {running}/$$; [ $n -le 2 ]"
    );
    let order =
        Order { commit: &lab.base, command: &command, deadline: Duration::from_secs(20), keep: Keep::Tail };
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(|| lab.pool.run(&order).unwrap())).collect();
        for run in runs {
            assert!(run.join().unwrap().is_pass());
        }
    });
    assert_eq!(lab.git(&["worktree", "list"]).lines().count(), 3);
}

/// Tests that run in one process, where each leaves something behind for the next.
const ORDERED: &[(&str, &str)] = &[
    ("src/lib.sh", "name() { echo ${NAME:-lib}; }\n"),
    ("tests/a.sh", "NAME=other\n"),
    ("tests/b.sh", ". ./src/lib.sh\n[ \"$(name)\" = lib ]\n"),
    ("all.sh", "for t in \"$@\"; do if . ./$t; then echo \"$t ok\"; else echo \"$t FAILED\"; fi; done\n"),
];
const ORDERED_TESTS: &str = "[c]\ncollect = 'ls tests/*.sh'\none = 'sh {id}'\nmany = 'sh all.sh {ids}'\npassed = ['ok']\n\
    result_pattern = '^(?<id>\\S+) (?<status>\\w+)$'";

#[test]
fn a_test_that_only_the_order_hides_is_not_clean_and_its_fix_holds_in_both_orders() {
    let tests = Collector::named("c", &toml::from_str(ORDERED_TESTS).unwrap(), Selection::default()).unwrap();
    let lab = Lab::with(ORDERED, tests);
    let together: Arc<[TaskId]> = ["tests/a.sh", "tests/b.sh"].map(id).into();
    let ordered = |works: &[Work<'_>]| Candidate {
        together: Some(together.clone()),
        ..lab.candidate("tests/b.sh", works)
    };
    let unchanged = lab.verify(&ordered(&[]));
    assert_eq!(unchanged.decision, Decision::Refuse(Refusal::ClaimedGreenIsRed { runs: 3 }));
    let alone = lab.verify(&Candidate { together: None, ..ordered(&[]) });
    assert_eq!(alone.decision, Decision::Clean);
    let fix: Work<'_> = ("[FIX_IMPL] a name of its own", &[("src/lib.sh", Some("name() { echo lib; }\n"))]);
    let mended = lab.verify(&ordered(&[fix]));
    assert_eq!(mended.decision, Decision::Integrate(Parts::All), "{mended:?}");
    assert_eq!((mended.before.verdict, mended.after.verdict), (Verdict::Failed, Verdict::Passed));
}
