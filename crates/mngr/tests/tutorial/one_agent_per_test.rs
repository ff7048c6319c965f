//! Section "One agent per test".

use mngr_e2e::session::Session;
use mngr_e2e::{expect, session};

use crate::support::{json, names, succeed, write};

const TESTS: &str = r#"mkdir -p checks
for word in hello bye; do echo "grep -q $word words/$word.txt" >checks/$word.sh; done
echo 'test -d checks' >checks/here.sh
git add --all && git commit --quiet -m 'Three tests'"#;

const COLLECTOR: &str =
    r#"mngr config set tmr.collectors.checks '{"collect": "ls checks/*.sh", "one": "sh {id}"}' --scope user"#;

const MEND: &str = r#"word=$(basename "$MNGR_TMR_TASK" .sh)
mkdir -p words && echo "$word" >"words/$word.txt"
git add --all && git commit --quiet -m "[FIX_IMPL] Say $word"
said=$MNGR_AGENT_STATE_DIR/said.json
echo '{"result": "fixed", "summary_markdown": "The word was missing.", "tests_passing_before": false,
  "tests_passing_after": true, "changes": [{"kind": "FIX_IMPL", "summary_markdown": "It is there."}]}' >"$said"
"$MNGR_AGENT_STATE_DIR/commands/publish" "$said"
"#;

const MENDER: &str = r#"mngr config set agent_types.mender '{"parent_type": "scripted", "cli_args": ["read", "run sh ~/tutorial/mend.sh", "read"]}' --scope user"#;

const RUN: &str = "mngr tmr --collector checks --agent-type mender --max-cost 5 --run-name first";

/// The project, its tests, and who mends them.
#[track_caller]
fn project(e2e: &Session) {
    succeed(e2e, TESTS);
    succeed(e2e, COLLECTOR);
    write(&e2e.home().join("tutorial/mend.sh"), MEND);
    succeed(e2e, MENDER);
}

/// A run that has ended.
#[track_caller]
fn finished(e2e: &Session) {
    project(e2e);
    succeed(e2e, RUN);
}

/// The subjects on its branch.
#[track_caller]
fn subjects(e2e: &Session) -> String {
    succeed(e2e, "git log --format=%s HEAD..tmr/first/integrated").stdout.to_string()
}

#[test]
fn two_of_three_tests_fail() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The tests of this project are scripts here. Two of three fail
        mkdir -p checks
        for word in hello bye; do echo "grep -q $word words/$word.txt" >checks/$word.sh; done
        echo 'test -d checks' >checks/here.sh
        git add --all && git commit --quiet -m 'Three tests'
        "#,
    );
    succeed(&e2e, TESTS);
    let results =
        succeed(&e2e, "for test in checks/*.sh; do sh $test 2>/dev/null && echo good || echo bad; done");
    expect(&results.stdout).to_equal("bad\nbad\ngood\n");
}

#[test]
fn any_command_can_find_and_run_tests() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # How are tests found and run? pytest, cargo-nextest, go test, Vitest and Jest are known; any command will do
        mngr config set tmr.collectors.checks '{"collect": "ls checks/*.sh", "one": "sh {id}"}' --scope user
        "#,
    );
    succeed(&e2e, TESTS);
    let unknown =
        e2e.comment("nobody said how").run("mngr tmr --collector checks --agent-type scripted --dry-run");
    expect(&unknown).to_have_exit_code(2);
    succeed(&e2e, COLLECTOR);
    let known = succeed(&e2e, "mngr tmr --collector checks --agent-type scripted --dry-run --format json");
    expect(&json(&known.stdout)["agents"].to_string()).to_equal("2");
}

#[test]
fn a_script_can_play_who_mends() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Who mends them? Usually --agent-type claude. A script plays it here: it changes a file, commits, and publishes what it did
        cat >~/tutorial/mend.sh <<'END'
        word=$(basename "$MNGR_TMR_TASK" .sh)
        mkdir -p words && echo "$word" >"words/$word.txt"
        git add --all && git commit --quiet -m "[FIX_IMPL] Say $word"
        said=$MNGR_AGENT_STATE_DIR/said.json
        echo '{"result": "fixed", "summary_markdown": "The word was missing.", "tests_passing_before": false,
          "tests_passing_after": true, "changes": [{"kind": "FIX_IMPL", "summary_markdown": "It is there."}]}' >"$said"
        "$MNGR_AGENT_STATE_DIR/commands/publish" "$said"
        END
        mngr config set agent_types.mender '{"parent_type": "scripted", "cli_args": ["read", "run sh ~/tutorial/mend.sh", "read"]}' --scope user
        "#,
    );
    project(&e2e);
    let run = e2e.run(RUN);
    expect(&run).to_succeed();
    expect(&subjects(&e2e)).to_equal("[FIX_IMPL] Say hello\n[FIX_IMPL] Say bye\n");
}

#[test]
fn a_dry_run_launches_nothing() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What would be done, and what would it probably use? Nothing is launched
        mngr tmr --collector checks --agent-type mender --dry-run
        "#,
    );
    project(&e2e);
    let plan = e2e.run("mngr tmr --collector checks --agent-type mender --dry-run");
    expect(&plan).to_succeed();
    expect(&plan.stdout).to_contain("3 tests, 2 of them for an agent").to_contain("Forecast: 2 agents");
    assert!(names(&e2e).is_empty());
}

#[test]
fn a_test_that_is_named_gets_an_agent_even_if_it_passes() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Only some tests? A test that you name gets an agent even if it passes
        mngr tmr checks/here.sh --collector checks --agent-type mender --dry-run
        "#,
    );
    project(&e2e);
    let plan = e2e.run("mngr tmr checks/here.sh --collector checks --agent-type mender --dry-run");
    expect(&plan).to_succeed();
    expect(&plan.stdout).to_contain("checks/here.sh").to_contain("Forecast: 1 agent");
    expect(&plan.stdout).not_to_contain("checks/hello.sh");
}

#[test]
fn a_run_ends_with_what_was_measured() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Do it: one agent per failing test, for 5 US dollars at most. What they hand over is measured before it counts.
        # Ctrl-c once: those at work may finish; twice: all are stopped
        mngr tmr --collector checks --agent-type mender --max-cost 5 --run-name first
        "#,
    );
    project(&e2e);
    let run = e2e.run(RUN);
    expect(&run).to_succeed();
    expect(&run.stdout).to_contain("2 integrated").to_contain("Branch tmr/first/integrated, 2 commits");
    expect(&succeed(&e2e, "git status --short").stdout).to_be_empty();
}

#[test]
fn a_fix_that_does_not_fix_is_not_believed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Do it: one agent per failing test, for 5 US dollars at most. What they hand over is measured before it counts.
        # Ctrl-c once: those at work may finish; twice: all are stopped
        mngr tmr --collector checks --agent-type mender --max-cost 5 --run-name first
        "#,
    );
    project(&e2e);
    succeed(&e2e, "sed -i 's/echo \"$word\"/echo nothing/' ~/tutorial/mend.sh");
    let run = e2e.comment("the agents lie").run(&format!("{RUN} --retries 0"));
    expect(&run.stdout).to_contain("2 failed").to_contain("claimed to pass").not_to_contain("Branch");
}

#[test]
fn status_tells_how_far_it_is() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # How far is it? From another terminal, until it ends; or test by test
        mngr tmr status --watch
        mngr tmr status --format '{stage} {task}'
        "#,
    );
    finished(&e2e);
    let status = e2e.run("mngr tmr status --watch");
    expect(&status).to_succeed();
    expect(&status.stdout).to_contain("Run first: finished").to_contain("2 integrated");
    let tests = succeed(&e2e, "mngr tmr status --format '{stage} {task}'");
    expect(&tests.stdout).to_match(r"(?m)^integrated \S*checks/hello\.sh$");
}

#[test]
fn the_result_is_a_branch() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What came of it is a branch: reviewed like any other
        git log --format='%h %s' HEAD..tmr/first/integrated
        "#,
    );
    finished(&e2e);
    let log = e2e.run("git log --format='%h %s' HEAD..tmr/first/integrated");
    expect(&log.stdout).to_match(r"(?m)^[0-9a-f]+ \[FIX_IMPL\] Say hello$");
    succeed(&e2e, "git merge --quiet tmr/first/integrated");
    expect(&succeed(&e2e, "sh checks/hello.sh && sh checks/bye.sh && echo both").stdout).to_equal("both\n");
}

#[test]
fn a_commit_can_be_explained() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Where does a commit come from? Its tests, what was measured, how many agents made the same change
        mngr tmr why "$(git rev-parse tmr/first/integrated)"
        "#,
    );
    finished(&e2e);
    let why = e2e.run(r#"mngr tmr why "$(git rev-parse tmr/first/integrated)""#);
    expect(&why).to_succeed();
    expect(&why.stdout).to_contain("checks/hello.sh").to_match("passed 0/3 before, 3/3 after");
    expect(&e2e.comment("not of this run").run("mngr tmr why \"$(git rev-parse HEAD)\"")).to_fail();
}

#[test]
fn a_change_can_be_taken_out() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A change you do not want? The others are checked again without it
        mngr tmr drop "$(git rev-parse tmr/first/integrated)"
        "#,
    );
    finished(&e2e);
    let dropped = e2e.run(r#"mngr tmr drop "$(git rev-parse tmr/first/integrated)""#);
    expect(&dropped).to_succeed();
    expect(&subjects(&e2e)).to_equal("[FIX_IMPL] Say bye\n");
}

#[test]
fn and_put_back() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # You do want it? The same results, put together once more
        mngr tmr reintegrate first
        "#,
    );
    finished(&e2e);
    succeed(&e2e, r#"mngr tmr drop "$(git rev-parse tmr/first/integrated)""#);
    let again = e2e.run("mngr tmr reintegrate first");
    expect(&again).to_succeed();
    expect(&subjects(&e2e)).to_equal("[FIX_IMPL] Say hello\n[FIX_IMPL] Say bye\n");
}

#[test]
fn what_needs_review_is_taken_over() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Some changes need your eye first: files that many tests use, tests that may have become weaker. They wait on a branch of
        # their own, with the reasons. Take one over to the result, or drop it
        mkdir -p tests/common && echo no >tests/common/answer && echo 'grep -q yes tests/common/answer' >checks/answer.sh
        git add --all && git commit --quiet -m 'A fourth test'
        sed -e 's|^mkdir.*|echo yes >tests/common/answer|' -e 's/FIX_IMPL/FIX_TEST/' ~/tutorial/mend.sh >~/tutorial/answer.sh
        mngr config set agent_types.answerer '{"parent_type": "scripted", "cli_args": ["read", "run sh ~/tutorial/answer.sh", "read"]}' --scope user
        mngr tmr checks/answer.sh --collector checks --agent-type answerer --run-name second
        git log HEAD..tmr/second/review
        mngr tmr take checks/answer.sh --run second
        mngr list --label mapreduce_run_name=second --ids | mngr destroy --force -
        rm -r tmr_second
        mngr config unset agent_types.answerer --scope user
        "#,
    );
    project(&e2e);
    succeed(
        &e2e,
        r#"mkdir -p tests/common && echo no >tests/common/answer && echo 'grep -q yes tests/common/answer' >checks/answer.sh
git add --all && git commit --quiet -m 'A fourth test'
sed -e 's|^mkdir.*|echo yes >tests/common/answer|' -e 's/FIX_IMPL/FIX_TEST/' ~/tutorial/mend.sh >~/tutorial/answer.sh"#,
    );
    succeed(
        &e2e,
        r#"mngr config set agent_types.answerer '{"parent_type": "scripted", "cli_args": ["read", "run sh ~/tutorial/answer.sh", "read"]}' --scope user"#,
    );
    let run = e2e.run("mngr tmr checks/answer.sh --collector checks --agent-type answerer --run-name second");
    expect(&run).to_succeed();
    expect(&run.stdout).to_contain("Needs review\n").to_contain("tests/common/answer");
    let review = e2e.run("git log HEAD..tmr/second/review");
    expect(&review.stdout).to_contain("Review: ").to_contain("Task: checks/answer.sh");
    let taken = e2e.run("mngr tmr take checks/answer.sh --run second");
    expect(&taken).to_succeed();
    let result = succeed(&e2e, "git log --format=%s HEAD..tmr/second/integrated");
    expect(&result.stdout).to_equal("[FIX_TEST] Say answer\n");
    expect(&e2e.comment("nothing is left to review").run("git rev-parse --verify tmr/second/review"))
        .to_fail();
    succeed(&e2e, "mngr list --label mapreduce_run_name=second --ids | mngr destroy --force -");
    succeed(&e2e, "rm -r tmr_second");
    succeed(&e2e, "mngr config unset agent_types.answerer --scope user");
    assert!(names(&e2e).is_empty());
}

#[test]
fn the_page_opens_from_disk() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The whole story as a page that opens from disk: claims and measurements, costs, every transcript
        mngr tmr report first
        "#,
    );
    finished(&e2e);
    succeed(&e2e, "rm -r tmr_first/report");
    let report = e2e.run("mngr tmr report first");
    expect(&report).to_succeed();
    expect(&report.stdout).to_contain("tmr_first/report/index.html");
    let page = succeed(&e2e, "cat tmr_first/report/index.html");
    expect(&page.stdout).to_contain("<script src=").not_to_contain("https://");
}

#[test]
fn a_finished_run_has_nothing_to_stop_and_nothing_to_go_on_with() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Enough for today? From another terminal: no new agents, or with --now none at all. Later it goes on where it was,
        # even if the power went out
        mngr tmr stop first
        mngr tmr resume first
        "#,
    );
    finished(&e2e);
    let stop = e2e.run("mngr tmr stop first");
    expect(&stop).to_succeed();
    expect(&stop.stdout).to_contain("Nobody works on this run");
    let before = names(&e2e);
    let resume = e2e.run("mngr tmr resume first");
    expect(&resume).to_succeed();
    expect(&resume.stdout).to_contain("2 integrated");
    assert_eq!(names(&e2e), before, "no further agent");
}

#[test]
fn agents_and_folder_go_away() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Its agents are stopped and kept. Away with them, and with the folder of the run
        mngr list --label mapreduce_run_name=first --ids | mngr destroy --force -
        rm -r tmr_first
        mngr config unset tmr.collectors.checks --scope user
        mngr config unset agent_types.mender --scope user
        "#,
    );
    finished(&e2e);
    assert_eq!(names(&e2e).len(), 2);
    succeed(&e2e, "mngr list --label mapreduce_run_name=first --ids | mngr destroy --force -");
    assert!(names(&e2e).is_empty());
    succeed(&e2e, "rm -r tmr_first");
    succeed(&e2e, "mngr config unset tmr.collectors.checks --scope user");
    succeed(&e2e, "mngr config unset agent_types.mender --scope user");
    expect(&e2e.comment("it is gone").run("mngr tmr status first")).to_have_exit_code(9);
}
