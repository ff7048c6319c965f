//! Putting results together: what is taken, what is left out and why, and what the user may do with it.

use std::fs;

use super::finished::Finished;
use super::project::Project;
use crate::support::{names, text};

const BRANCH: &str = "tmr/1/integrated";

#[test]
fn the_same_change_of_47_agents_is_one_commit_with_47_votes() {
    let project = Project::new();
    project.write("parts/shared", "bad\n");
    for number in 0..47 {
        let name = format!("t{number:02}");
        project.test(&name, "grep -qx good parts/shared");
        project.part(&name, "echo good >parts/shared; commit \"[FIX_IMPL] say good ($NAME)\"; publish");
    }
    let (run, output) = project.run(&["--max-parallel-agents", "12"], 0);
    assert!(run.ends().values().all(|end| end == "integrated"), "{output}");
    assert_eq!(run.log("%(trailers:key=Votes,valueonly)"), ["47"]);
    assert_eq!(run.log("%(trailers:key=Task,valueonly)")[0].lines().count(), 47);
    assert!(output.stdout.contains("1 commit\n"), "{output}");
}

#[test]
fn a_claim_that_does_not_hold_is_not_integrated() {
    let project = Project::new();
    project.broken("honest", "fix");
    project.broken("liar", "echo new >parts/other; commit '[FIX_IMPL] all is well'; publish");
    let (run, output) = project.run(&[], 0);
    assert_eq!(run.ends()["tests/liar.sh"], "failed(verification)", "{output}");
    assert_eq!(run.log("%s"), ["[FIX_IMPL] honest is good"]);
    let claims =
        run.events("measured").filter(|line| line["task"] == "tests/liar.sh" && line["what"] == "after");
    assert_eq!(claims.map(|line| text(&line["verdict"])).collect::<Vec<_>>(), ["failed"]);
}

#[test]
fn what_breaks_the_gate_or_another_test_is_expelled_and_the_rest_is_green_at_every_commit() {
    let project = Project::new();
    project.passing("guard");
    for name in ["one", "two", "three"] {
        project.broken(name, "fix");
    }
    project.test("wrong", "grep -qx nonsense parts/guard");
    project.part(
        "wrong",
        "echo 'grep -qx good parts/guard' >$MNGR_TMR_TASK; commit '[FIX_TEST] guard is good'; publish",
    );
    project.broken("breaker", "echo bad >parts/guard; mend; publish");
    project.broken("litter", "echo >litter; mend; publish");
    let (run, output) = project.run(&["--gate", "! test -e litter"], 0);
    let ends = run.ends();
    for (name, end) in [
        ("guard", "clean"),
        ("one", "integrated"),
        ("two", "integrated"),
        ("three", "integrated"),
        ("wrong", "needs_review"),
        ("breaker", "failed(gate)"),
        ("litter", "failed(gate)"),
    ] {
        assert_eq!(ends[&format!("tests/{name}.sh")], end, "{name}: {output}");
    }
    assert!(
        run.evidence("tests/breaker.sh").contains("tests/guard.sh"),
        "{}",
        run.evidence("tests/breaker.sh")
    );
    assert_eq!(run.log("%s").len(), 3);
    assert!(run.log("%s").iter().all(|subject| !subject.contains("litter")));
    project.assert_green_at_every_commit(&["tests/guard.sh"]);
}

/// Who ended how, of two whose changes do not fit beside each other.
fn left_and_right(run: &Finished<'_>) -> [String; 2] {
    let ends = run.ends();
    ["left", "right"].map(|name| ends[&format!("tests/{name}.sh")].clone())
}

#[test]
fn an_agent_resolves_what_a_machine_could_not() {
    let project = Project::new();
    project.conflict(
        "printf 'left\\nright\\n' >parts/shared
        commit \"$(printf '[FIX_IMPL] both sides\\n\\nTask: tests/right.sh')\"; publish",
    );
    let (run, output) = project.run(&[], 0);
    assert_eq!(left_and_right(&run), ["integrated"; 2], "{output}");
    assert_eq!(run.log("%s"), ["[FIX_IMPL] left", "[FIX_IMPL] both sides"]);
    project.assert_green_at_every_commit(&[]);
    assert_eq!(project.git(&["show", &format!("{BRANCH}:parts/shared")]), "left\nright\n");
    assert!(names(&project.env).contains(&"tmr-1-reducer".to_owned()));
    // Its order of importance is kept beside that of the formula, and told.
    let message = project.git(&["log", "-1", "--format=%B", BRANCH]);
    let line = "Importance: 1 of 2: Users see the right side first.";
    assert!(message.lines().any(|other| other == line), "{message}");
    let why = project.env.mngr(["tmr", "why", "tests/left.sh"]).success().stdout;
    assert!(why.contains("Rarely seen."), "{why}");
    let steps: Vec<_> = run.events("integration").filter(|line| line["step"] == "ranked_by_agent").collect();
    assert_eq!((&steps[0]["place"], &steps[1]["of"]), (&1.into(), &2.into()), "{steps:?}");
    assert_eq!(
        project.git(&["for-each-ref", "refs/mngr/tmr"]),
        "",
        "nothing of it is left in the repository"
    );
}

/// Brings the other change in by its ref, as a person would.
const BY_REF: &str = "candidate=refs/mngr/tmr/1/candidates/tests-right-sh
    git diff --quiet refs/mngr/tmr/1/base \"$candidate\" -- tests
    git cherry-pick --no-commit \"$candidate\" || true
    test \"$(git show \"$candidate:parts/shared\")\" = right
    printf 'left\\nright\\n' >parts/shared
    commit \"$(printf '[FIX_IMPL] both sides\\n\\nTask: tests/right.sh')\"; publish";

#[test]
fn the_integrator_has_the_changes_as_refs_in_worktrees_and_mirrors() {
    for transfer in ["git-worktree", "git-mirror"] {
        let project = Project::new();
        project.conflict(BY_REF);
        project.set("create_templates.own.transfer", transfer);
        let (run, output) = project.run(&["--agent-template", "own"], 0);
        assert_eq!(left_and_right(&run), ["integrated"; 2], "{transfer}: {output}");
        assert_eq!(run.log("%s"), ["[FIX_IMPL] left", "[FIX_IMPL] both sides"], "{transfer}");
        assert_eq!(project.git(&["for-each-ref", "refs/mngr/tmr"]), "", "{transfer}");
    }
}

#[test]
fn what_an_agent_resolves_badly_is_left_out() {
    let project = Project::new();
    project.conflict(
        "echo right >parts/shared; commit \"$(printf '[FIX_IMPL] my way\\n\\nTask: tests/right.sh')\"; publish",
    );
    let (run, output) = project.run(&[], 0);
    assert_eq!(left_and_right(&run), ["integrated", "failed(conflict)"], "{output}");
    assert_eq!(run.log("%s"), ["[FIX_IMPL] left"]);
    let expelled = run.events("integration").filter(|line| line["step"] == "expelled").last().unwrap();
    assert!(text(&expelled["reason"]).contains("tests/left.sh"), "{expelled}");
}

#[test]
fn what_an_agent_resolves_with_a_weaker_test_is_for_review_and_can_be_taken() {
    let project = Project::new();
    project.conflict(
        "printf 'left\\nright\\n' >parts/shared; echo 'test -s parts/shared' >tests/right.sh
        commit \"$(printf '[FIX_IMPL] both sides\\n\\nTask: tests/right.sh')\"; publish",
    );
    let (run, output) = project.run(&[], 0);
    assert_eq!(left_and_right(&run), ["integrated", "needs_review"], "{output}");
    assert_eq!(run.log("%s"), ["[FIX_IMPL] left"]);
    assert!(output.stdout.contains("Needs review\n"), "{output}");
    let message = project.git(&["log", "-1", "--format=%B", "tmr/1/review"]);
    for line in ["[FIX_IMPL] both sides", "Task: tests/right.sh", "Review: ", "Strength: "] {
        assert!(message.lines().any(|other| other.starts_with(line)), "{line} in {message}");
    }
    let status = project.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    let [review] = &status["integration"]["review"].as_array().unwrap()[..] else { panic!("{status}") };
    assert_eq!(review["tasks"], serde_json::json!(["tests/right.sh"]), "{status}");
    let why = project.env.mngr(["tmr", "why", "tests/right.sh"]).success().stdout;
    assert!(why.contains("Strength of tests/right.sh: "), "{why}");

    let taken = project.env.mngr(["tmr", "take", "tests/right.sh", "--format", "json"]).success().json();
    assert_eq!((&taken["final"]["passed"], &taken["final"]["failed"]), (&2.into(), &0.into()), "{taken}");
    let log = project.git(&["log", "--reverse", "--format=%s", &format!("main..{BRANCH}")]);
    assert_eq!(log, "[FIX_IMPL] left\n[FIX_IMPL] both sides\n");
    assert_eq!(project.git(&["for-each-ref", "refs/heads/tmr/1/review"]), "");
    let status = project.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    assert_eq!(status["integration"]["review"], serde_json::json!([]), "{status}");
    project.assert_green_at_every_commit(&[]);
}

#[test]
fn an_agent_that_moves_the_branch_itself_changes_nothing() {
    let project = Project::new();
    project.conflict(
        "echo right >parts/shared; git add --all
        forged=$(GIT_COMMITTER_EMAIL=tmr@mngr.invalid git commit-tree -p HEAD -m '[FIX_IMPL] mine' $(git write-tree))
        git update-ref refs/heads/tmr/1/integrated $forged
        git reset --quiet --hard; publish_clean",
    );
    let (run, output) = project.run(&[], 0);
    assert_eq!(left_and_right(&run), ["integrated", "failed(conflict)"], "{output}");
    assert_eq!(run.log("%s"), ["[FIX_IMPL] left"], "{output}");
}

#[test]
fn without_an_integrator_a_conflict_is_only_reported() {
    let project = Project::new();
    project.conflict("publish_clean");
    let (run, output) = project.run(&["--no-integrator"], 0);
    assert_eq!(left_and_right(&run), ["integrated", "failed(conflict)"], "{output}");
    assert_eq!(run.evidence("tests/right.sh"), "does not fit beside `tests/left.sh` in parts/shared");
    assert!(!names(&project.env).contains(&"tmr-1-reducer".to_owned()));
}

#[test]
fn a_commit_is_explained_taken_out_and_brought_back() {
    let project = Project::new();
    for name in ["one", "two", "three"] {
        project.broken(name, "fix");
    }
    // Two that do what `one` does, and more: they are more important.
    project.write("parts/late", "bad\n");
    for name in ["late", "later"] {
        project.test(name, "grep -qx good parts/late && grep -qx good parts/one");
        project.part(name, "echo good >parts/one; echo good >parts/late; commit '[FIX_IMPL] late'; publish");
    }
    let (run, output) = project.run(&[], 0);
    let commits = run.log("%H %s");
    let tip = project.git(&["rev-parse", BRANCH]);
    let commit_of = |subject: &str| {
        let line = commits.iter().find(|line| line.ends_with(subject));
        line.and_then(|line| line.split(' ').next())
            .unwrap_or_else(|| panic!("{subject} in {output}"))
            .to_owned()
    };

    let why =
        project.env.mngr(["tmr", "why", &commit_of("two is good"), "--format", "json"]).success().json();
    assert_eq!((&why["tasks"], &why["paths"]), (&["tests/two.sh"].into(), &["parts/two"].into()), "{why}");

    let _ = project.env.mngr(["tmr", "drop", &commit_of("two is good")]).success();
    let left: Vec<String> = commits.iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
    let left: Vec<String> = left.into_iter().filter(|subject| !subject.contains("two is good")).collect();
    assert_eq!(project.seen().log("%s"), left);
    project.assert_green_at_every_commit(&[]);

    let _ = project.env.mngr(["tmr", "reintegrate"]).success();
    assert_eq!(project.git(&["rev-parse", BRANCH]), tip, "the same commits once more");

    // What `one` has done is part of it, and lost with it.
    let _ = project.env.mngr(["tmr", "drop", &commit_of("] late")]).success();
    let status = project.env.mngr(["tmr", "status", "--format", "json"]).success().json();
    let tasks = status["tasks"].as_array().unwrap().iter();
    let stages: Vec<(String, String)> =
        tasks.map(|task| (text(&task["task"]), text(&task["stage"]))).collect();
    let open: Vec<&str> =
        stages.iter().filter(|(_, stage)| stage == "unresolved").map(|(task, _)| task.as_str()).collect();
    assert_eq!(open, ["tests/late.sh", "tests/later.sh", "tests/one.sh"], "{status}");
}

#[test]
fn what_the_user_has_checked_out_stays_as_it_is() {
    let project = Project::new();
    project.broken("one", "fix");
    project.commit();
    project.git(&["branch", "other"]);
    let begin = project.git(&["rev-parse", "HEAD"]);
    project.write("parts/one", "half done\n");
    project.write("untracked", "mine\n");
    project.write("staged", "mine\n");
    project.git(&["add", "staged"]);
    let status = project.git(&["status", "--porcelain=v2", "--branch"]);

    let output = project.start_here(&[]).finish().success();
    assert_eq!(project.seen().ends()["tests/one.sh"], "integrated", "{output}");
    assert_eq!(project.git(&["status", "--porcelain=v2", "--branch"]), status);
    assert_eq!(project.git(&["rev-parse", "HEAD", "main", "other"]), begin.repeat(3));
    assert_eq!(fs::read_to_string(project.env.work_dir().join("parts/one")).unwrap(), "half done\n");
    let branches = project.git(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(
        branches.lines().collect::<Vec<_>>(),
        [
            "refs/heads/main",
            "refs/heads/other",
            "refs/heads/tmr/1/integrated",
            "refs/heads/tmr/1/tests-one-sh"
        ]
    );
    let worktrees = project.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(worktrees.lines().filter(|line| line.starts_with("worktree ")).count(), 2, "{worktrees}");
}
