//! What describes a test is read-only, without any setting: an agent that changes it is told while it can still mend it,
//! and what it does not mend is not integrated.

use std::fs;

use super::finished::Finished;
use super::project::Project;

/// What an agent is told about the description below.
const TOLD: &str = "- `tests/odd.sh` breaks the rule `leading comments` in line 1: `Odd has to be good.`\n";

/// Rewrites the description of the test, and mends the program beside it.
const REWRITE: &str = r#"sed -i 's/^# Odd.*/# Odd may be anything./' "$MNGR_TMR_TASK"; mend; publish"#;

/// A test with a description, and an agent that does this with each message.
fn described(part: &str) -> Project {
    let project = Project::new();
    project.broken("odd", part);
    project.test("odd", "# Odd has to be good.\ngrep -qx good parts/odd");
    project
}

/// Runs it without second tries, and checks how it ended.
#[track_caller]
fn run<'p>(project: &'p Project, end: &str, words: &str) -> Finished<'p> {
    let code = i32::from(end.starts_with("failed"));
    let (run, output) = project.run(&["--retries", "0", "--no-integrator"], code);
    assert_eq!(run.ends()["tests/odd.sh"], end, "{}\n{output}", run.evidence("tests/odd.sh"));
    assert!(run.evidence("tests/odd.sh").contains(words), "{}", run.evidence("tests/odd.sh"));
    project.assert_nothing_runs();
    run
}

/// What the agent was told the second time; empty if nothing.
fn told(project: &Project) -> String {
    fs::read_to_string(project.stage().join("told")).unwrap_or_default()
}

/// Keeps the messages where the test finds them, then does one thing the first time and another one then.
fn by_turns(first: &str, then: &str) -> String {
    let keep = r#"cat "$MNGR_AGENT_STATE_DIR"/plugin/scripted/message-* >"$STAGE/told""#;
    format!("if [ $TURN = 1 ]; then {first}; else {keep}; {then}; fi")
}

#[test]
fn an_agent_is_told_which_description_it_changed_and_can_mend_it() {
    let mend = r#"git checkout --quiet HEAD~1 -- "$MNGR_TMR_TASK"; commit '[FIX_IMPL] as it was'; publish"#;
    let project = described(&by_turns(REWRITE, mend));
    let run = run(&project, "integrated", "");
    let told = told(&project);
    assert!(told.contains(TOLD) && told.contains("publish once more with:"), "{told}");
    let launches = run.events("stage").filter(|line| line["stage"] == "launching").count();
    assert_eq!(launches, 1);
    let branch = "tmr/1/integrated";
    assert!(project.git(&["show", &format!("{branch}:tests/odd.sh")]).starts_with("# Odd has to be good.\n"));
}

/// It is refused, and what was measured is kept with it.
#[track_caller]
fn assert_refused(part: &str) -> Project {
    let project = described(part);
    let run = run(&project, "failed(contract)", "breaks the rule `leading comments` in line 1");
    let after = run.events("measured").filter(|line| line["what"] == "after");
    assert_eq!(after.map(|line| line["verdict"].clone()).collect::<Vec<_>>(), ["passed"]);
    project
}

#[test]
fn a_description_that_is_published_again_as_it_was_is_refused() {
    let project = assert_refused(&by_turns(REWRITE, "publish"));
    assert!(told(&project).contains(TOLD));
}

#[test]
fn an_agent_that_does_not_answer_is_refused_for_what_it_published() {
    let project = assert_refused(&by_turns(REWRITE, ":"));
    assert!(told(&project).contains(TOLD));
}

#[test]
fn an_agent_that_cannot_be_told_any_more_is_refused_for_what_it_published() {
    let _ = assert_refused(&format!("{REWRITE}; die"));
}

#[test]
fn a_description_is_free_where_settings_say_so() {
    let project = described(REWRITE);
    project.set("tmr.read_only__assign", r#"["doc_strings"]"#);
    // How strong such a test is cannot be measured: its program is a line of text.
    let _ = run(&project, "needs_review", "");
}

/// A tutorial at the root, of which a test cites one block.
fn with_tutorial(part: &str) -> Project {
    let project = described(part);
    project.write("tutorial.sh", "# Make it\ntodo make it\n\n# Chek it\ntodo check it\n");
    let test = "def test_a(e):\n    e.write_tutorial_block(\"# Make it\\ntodo make it\")\n";
    project.write("tests/test_a.py", test);
    project
}

#[test]
fn a_tutorial_is_documentation_and_has_to_agree_with_its_tests_as_much_as_before() {
    let both = r#"say '{"result": "fixed", "summary_markdown": "Done.", "tests_passing_before": false,
        "tests_passing_after": true, "changes": [{"kind": "FIX_IMPL", "summary_markdown": "Done."},
        {"kind": "FIX_TUTORIAL", "summary_markdown": "Done."}]}'"#;
    let correct =
        |edit: &str| format!("sed -i '{edit}' tutorial.sh; commit '[FIX_TUTORIAL] words'; mend; {both}");
    let project = with_tutorial(&correct("s/Chek/Check/"));
    let _ = run(&project, "integrated", "");

    let project = with_tutorial(&by_turns(&correct("s/Make/Do/"), both));
    let _ = run(&project, "failed(contract)", "breaks the rule `tutorial`");
    let told = told(&project);
    assert!(
        told.contains("- `tests/test_a.py` breaks the rule `tutorial` in line 2: `# Make it`\n"),
        "{told}"
    );
}
