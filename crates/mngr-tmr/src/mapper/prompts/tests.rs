//! That the packaged texts say what they must, and that a broken template is found before an agent is launched.

use std::sync::LazyLock;

use super::*;
use crate::test_sources::TestSource;

fn mapper_text() -> MapperText<'static> {
    MapperText {
        task: "tests/test_a.py::test_<b> & \"c\"",
        command: "pytest 'tests/test_a.py::test_b'",
        branch: "tmr/run/a",
        base_commit: "0123456789",
        run: "run",
        reason: "You have this test because it fails.",
        failure: "E   assert 1 == 2\n\ntests/test_a.py:3: AssertionError",
        order_command: "",
        source: Some(&SOURCE),
        blocks: &[],
        test_paths: &[],
        doc_paths: &[],
        mutants: 12,
        minutes: 30,
        tokens: 400_000,
        agents: 4,
    }
}

static SOURCE: LazyLock<TestSource> = LazyLock::new(|| TestSource {
    path: "tests/test_a.py".to_owned(),
    line: 2,
    text: "def test_b():\n    assert 1 == 2\n".to_owned(),
    is_cut: false,
});

fn mapper(own: &str) -> Result<String, PromptError> {
    Prompt::<MapperText<'_>>::own(own.to_owned())?.render(&mapper_text())
}

#[test]
fn the_mapper_is_told_its_task_and_the_whole_contract_as_plain_text() {
    let text = Prompt::packaged().unwrap().render(&mapper_text()).unwrap();
    for part in [
        "You look after one test: tests/test_a.py::test_<b> & \"c\"\n",
        "    pytest 'tests/test_a.py::test_b'\n",
        "`tmr/run/a`",
        "- `[FIX_IMPL] ...`\n",
        "\"$MNGR_AGENT_STATE_DIR/commands/publish\" OUTCOME.json [ARTIFACT_DIR]\n",
        "- `tests_passing_after` (",
        "every paragraph that begins with `Scope:`",
        "Whatever the old tests noticed, the new ones have to notice.",
        "not merged until a person has looked at them",
        "the configuration of the test runner are\n  a change of their own",
        "`HARNESS_DEFECT`: ",
        "\"result\": \"fixed\"",
        "You have this test because it fails.\n\nThis is the end of what it printed when it failed:\n\n    E   assert 1 == 2\n",
        "This is the test (tests/test_a.py, from line 2):\n\n    def test_b():\n        assert 1 == 2\n",
        "You have 30 minutes; agents of this run use about 400000 tokens each. Up to 4 agents",
        "- `tests_added` (",
        "  - `severity` (",
        "Never drop a check of a promise.",
        "An effect is seen by a second look",
        "A way to succeed and a way to fail are two tests.",
        "`$MNGR_E2E_OUTPUT`",
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
    assert!(!text.contains("{{") && !text.contains("{%"), "{text}");
}

#[test]
fn what_is_not_known_is_not_spoken_of() {
    let bare = MapperText { failure: "", source: None, mutants: 0, ..mapper_text() };
    let text = Prompt::packaged().unwrap().render(&bare).unwrap();
    for part in
        ["when it failed", "This is the test", "together with other tests", "of the tutorial (", "mutants"]
    {
        assert!(!text.contains(part), "{part} in:\n{text}");
    }
}

#[test]
fn a_test_that_depends_on_the_order_gets_the_command_that_shows_it() {
    let unstable = MapperText { order_command: "pytest tests", failure: "", ..mapper_text() };
    let text = Prompt::packaged().unwrap().render(&unstable).unwrap();
    assert!(
        text.contains("It fails in this command, together with other tests:\n\n    pytest tests\n"),
        "{text}"
    );
}

#[test]
fn one_block_of_the_packaged_text_can_be_replaced() {
    let own = "{% extends \"mapper.j2\" %}{% block work %}Only run {{ task }} in {{ run }}.{% endblock %}";
    let text = mapper(own).unwrap();
    assert!(text.contains("Only run tests/test_a.py") && text.contains("## Commits"), "{text}");
    assert!(!text.contains("## What to do"), "{text}");
    let more = "{% extends \"mapper.j2\" %}{% block work %}{{ super() }}\n7. Sing.{% endblock %}";
    let text = mapper(more).unwrap();
    assert!(text.contains("## What to do") && text.contains("7. Sing."), "{text}");
}

#[test]
fn a_template_of_ones_own_need_not_extend_anything() {
    assert_eq!(mapper("Do {{ task }}").unwrap(), "Do tests/test_a.py::test_<b> & \"c\"");
}

#[test]
fn what_is_not_there_is_found_at_load_time() {
    let rows = [
        ("{{ taks }}", "the own template uses `taks`, known are `agents`, `base_commit`, `blocks`, `branch`"),
        ("{% if run == 'x' %}{{ secret }}{% endif %}", "the own template uses `secret`"),
        ("{% extends \"mapper.j2\" %}{% block work %}{{ gate }}{% endblock %}", "uses `gate`"),
        ("{{ task | nonsense }}", "the own template cannot be used"),
        ("{{ task.nothing }}", "the own template cannot be used"),
        ("{% extends \"other.j2\" %}", "the own template cannot be used"),
        ("{% include \"/etc/passwd\" %}", "the own template cannot be used"),
        ("{% if %}", "the own template cannot be used"),
    ];
    for (own, expected) in rows {
        let error = Prompt::<MapperText<'_>>::own(own.to_owned()).unwrap_err().to_string();
        assert!(error.contains(expected), "{own}: {error}");
    }
}

#[test]
fn the_integrator_is_told_only_what_is_left() {
    let conflicts = [ConflictText {
        task: "t1".to_owned(),
        commit: "abc".to_owned(),
        reference: "refs/t1".to_owned(),
        subject: "[FIX_IMPL] x".to_owned(),
        paths: vec!["a.c".to_owned(), "b.c".to_owned()],
        against: vec!["def".to_owned()],
        evidence: "passed 0/1 before, 1/1 after".to_owned(),
        command: "make t1".to_owned(),
        failure: "boom".to_owned(),
        diff: "--- a.c\n+x".to_owned(),
    }];
    let result = [ResultText {
        commit: "def".to_owned(),
        subject: "[FIX_IMPL] y".to_owned(),
        tasks: vec!["t2".to_owned()],
        rank: "10: 1 test(s) unblocked +10".to_owned(),
    }];
    let text = IntegratorText {
        branch: "tmr/run/integrated",
        base_commit: "0",
        run: "run",
        run_base: "9",
        run_base_ref: "refs/base",
        gate: "",
        all_tests: "make tests",
        result: &result,
        conflicts: &conflicts,
        repeated: &[],
    };
    let said = Prompt::packaged().unwrap().render(&text).unwrap();
    for part in [
        "### t1\n\n- Change: abc, [FIX_IMPL] x\n- Ref: `refs/t1`\n- Meets def in a.c, b.c\n",
        "passed 0/1 before, 1/1 after\n- Run its test: `make t1`\n",
        "prints now:\n\n    boom\n",
        "(`git diff refs/base refs/t1` shows all of it):\n\n    --- a.c\n    +x\n",
        "- def: [FIX_IMPL] y\n  for t2; importance by formula: 10: 1 test(s) unblocked +10",
        "\n    make tests\n",
        "- `merged` (",
        "- `importance` (",
        "\"reviewer_markdown\": ",
    ] {
        assert!(said.contains(part), "{part} in:\n{said}");
    }
    assert!(!said.contains("`tests_passing_after`"), "{said}");
    assert!(said.contains("\n    Task: <name of the test>\n"), "{said}");
    assert!(!said.contains("The same change") && !said.contains("has to pass this check"), "{said}");
    let said = Prompt::packaged().unwrap().render(&IntegratorText { gate: "make check", ..text }).unwrap();
    assert!(said.contains("    make check\n"), "{said}");
}

#[test]
fn the_short_messages_name_the_task_and_the_way_out() {
    let said = nudge(&NudgeText { task: "t" }).unwrap();
    assert!(
        said.contains("task t is not finished") && said.contains("commands/publish\" OUTCOME.json"),
        "{said}"
    );
    let problems = ["`result`: is missing".to_owned(), "{{ run }}".to_owned()];
    let said = errors_back(&ErrorsBackText { task: "t", problems: &problems }).unwrap();
    assert!(said.contains("\n- `result`: is missing\n- {{ run }}\n"), "{said}");
}
