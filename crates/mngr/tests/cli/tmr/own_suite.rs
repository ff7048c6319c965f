//! `mngr tmr` on ourselves: our own Python tests of the tutorial, with the binary under test as the program they drive, and
//! agents that make them better or only say so.

pub(crate) mod suite;

use std::path::Path;

use suite::{Edit, Plan, Suite, python};

use crate::support::env;

const FIRST_AGENT: &str = "python/tests/tutorial/test_first_agent.py";
const IN_SCRIPTS: &str = "python/tests/tutorial/test_in_scripts.py";
const ONE_TASK: &str = "python/tests/tutorial/test_one_task.py";

/// Expects more of what the program printed.
const BETTER_ASSERTION: Plan = Plan {
    test: "python/tests/tutorial/test_in_scripts.py::test_an_error_is_json_too",
    subject: "[IMPROVE_TEST] the exit code is in it too",
    edits: &[Edit {
        file: IN_SCRIPTS,
        from: r#"    expect(json.dumps(json.loads(e2e.run("mngr stop nobody --format json || true").stdout))).to_contain("nobody")
"#,
        to: r#"    stopped = json.loads(e2e.run("mngr stop nobody --format json || true").stdout)
    expect(json.dumps(stopped)).to_contain("nobody")
    expect(json.dumps(stopped["exit_code"])).to_equal("9")
"#,
    }],
    end: "integrated",
    because: "",
};

/// The tutorial says it better, and the test cites what it says.
const CITATION_WITH_BLOCK: Plan = Plan {
    test: "python/tests/tutorial/test_in_scripts.py::test_a_missing_agent_has_an_exit_code_of_its_own",
    subject: "[FIX_TUTORIAL] say what 9 means",
    edits: &[
        Edit {
            file: IN_SCRIPTS,
            from: "9 is an agent that does not exist",
            to: "9 says that there is no such agent",
        },
        Edit {
            file: "tutorial/tutorial.sh",
            from: "9 is an agent that does not exist",
            to: "9 says that there is no such agent",
        },
    ],
    end: "integrated",
    because: "",
};

/// One more test beside the one that was there.
const ADDED_TEST: Plan = Plan {
    test: "python/tests/tutorial/test_in_scripts.py::test_a_recording_can_be_searched",
    subject: "[IMPROVE_TEST] what is not in a recording is not found",
    edits: &[Edit {
        file: IN_SCRIPTS,
        from: r#"    expect(e2e.run("mngr replay ~/tutorial/demo.cast --dump").stdout).to_contain("README.md")
"#,
        to: r#"    expect(e2e.run("mngr replay ~/tutorial/demo.cast --dump").stdout).to_contain("README.md")


def test_a_text_that_is_in_no_recording_is_not_found(e2e):
    expect(e2e.run("mngr record -o demo.cast -- echo hello")).to_succeed()
    expect(e2e.run("mngr replay demo.cast --search goodbye").stdout).not_to_contain("goodbye")
"#,
    }],
    end: "integrated",
    because: "",
};

/// Does not expect any more what it is there for.
const ASSERTION_REMOVED: Plan = Plan {
    test: "python/tests/tutorial/test_first_agent.py::test_explain_names_the_evidence",
    subject: "[IMPROVE_TEST] simpler",
    edits: &[Edit {
        file: FIRST_AGENT,
        from: r#"    expect(explained.stdout).to_match(r"state +RUNNING").to_match(r"program +process \d+ is alive")
"#,
        to: "",
    }],
    end: "needs_review",
    because: "",
};

/// Compares the words of the tutorial with themselves.
const PROGRAM_NOT_CALLED: Plan = Plan {
    test: "python/tests/tutorial/test_first_agent.py::test_an_agent_gets_a_branch_of_its_own",
    subject: "[IMPROVE_TEST] faster",
    edits: &[Edit {
        file: FIRST_AGENT,
        from: r#"    created = e2e.run("mngr create try-it --no-connect -- sh", comment="just a shell")
    expect(created).to_succeed()
    expect(created.stdout).to_contain("Created agent: try-it (command)")
    expect(e2e.run("git worktree list").stdout).to_contain("[mngr/try-it]")
    assert state(e2e, "try-it") == "RUNNING"
"#,
        to: r#"    created = e2e.run("echo 'Created agent: try-it (command)'", comment="just a shell")
    expect(created).to_succeed()
    expect(created.stdout).to_contain("Created agent: try-it (command)")
    expect("[mngr/try-it]").to_contain("[mngr/try-it]")
"#,
    }],
    end: "needs_review",
    because: "",
};

/// Says that it is about less than it was.
const SCOPE_REWRITTEN: Plan = Plan {
    test: "python/tests/tutorial/test_first_agent.py::test_a_second_agent_of_the_same_name_is_refused",
    subject: "[IMPROVE_TEST] what it is about",
    edits: &[
        Edit {
            file: FIRST_AGENT,
            from: "    Scope: a name is taken once\n",
            to: "    Scope: a second agent may be refused\n",
        },
        Edit {
            file: FIRST_AGENT,
            from: r#"    expect(again.stderr).to_contain("already exists")
"#,
            to: "",
        },
    ],
    end: "failed(contract)",
    because: "breaks the rule",
};

/// Cites what the tutorial does not say.
const CITATION_REWORDED: Plan = Plan {
    test: "python/tests/tutorial/test_one_task.py::test_list_shows_who_waits",
    subject: "[IMPROVE_TEST] better words",
    edits: &[Edit {
        file: ONE_TASK,
        from: "# What are they doing? fix-login waits: it has a question",
        to: "# What are they doing? Somebody may wait",
    }],
    end: "failed(contract)",
    because: "breaks the rule",
};

/// Is not run any more.
const SKIPPED: Plan = Plan {
    test: "python/tests/tutorial/test_one_task.py::test_destroy_and_undo",
    subject: "[IMPROVE_TEST] not everywhere",
    edits: &[Edit {
        file: ONE_TASK,
        from: "def test_destroy_and_undo(e2e):\n",
        to: "def test_destroy_and_undo(e2e):\n    import pytest\n    pytest.skip(\"slow\")\n",
    }],
    end: "failed(contract)",
    because: "",
};

/// Has every test of its folder pass.
const REPORT_HOOK: Plan = Plan {
    test: "python/tests/tutorial/test_first_agent.py::test_a_running_agent_is_destroyed_with_force_only",
    subject: "[IMPROVE_TEST] steadier",
    edits: &[Edit {
        file: "python/tests/tutorial/conftest.py",
        from: "",
        to: "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True, trylast=True)\n\
             def pytest_runtest_makereport(item, call):\n    report = (yield).get_result()\n\
             \x20   report.outcome = \"passed\"\n",
    }],
    end: "needs_review",
    because: "`python/tests/tutorial/conftest.py`",
};

/// Those for every day, with worktrees.
const SOME: [&Plan; 3] = [&ADDED_TEST, &SCOPE_REWRITTEN, &SKIPPED];

/// Those for every day, with repositories of their own.
const OTHERS: [&Plan; 3] = [&CITATION_WITH_BLOCK, &PROGRAM_NOT_CALLED, &CITATION_REWORDED];

/// All of them.
pub(crate) const ALL: [&Plan; 9] = [
    &BETTER_ASSERTION,
    &CITATION_WITH_BLOCK,
    &ADDED_TEST,
    &ASSERTION_REMOVED,
    &PROGRAM_NOT_CALLED,
    &SCOPE_REWRITTEN,
    &CITATION_REWORDED,
    &SKIPPED,
    &REPORT_HOOK,
];

/// What is merged as it is of all: the work of the honest ones.
pub(crate) const MERGEABLE: &str = "Tests and docs: the changes of 3 agents\n";

/// Where the agents work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In worktrees of the repository.
    Worktrees,
    /// In repositories of their own (mirror mode).
    Mirrors,
}

/// What has to come out.
struct Outcome<'a> {
    /// The first line of the report.
    first: &'a str,
    /// The subject of what is merged as it is.
    merged: &'a str,
    /// The subjects of the commits that need review.
    review: &'a [&'a str],
}

/// Runs these on this machine.
#[track_caller]
fn improved_here(plans: &[&'static Plan], place: Place, outcome: &Outcome<'_>) {
    let env = env();
    let path = format!("{}:{}", python().display(), std::env::var("PATH").unwrap());
    let suite = Suite::new(&env, plans.iter().copied(), &path, None);
    let mut words = vec!["--no-integrator"];
    if place == Place::Mirrors {
        let key = "create_templates.own.transfer";
        let _ = env.mngr(["config", "set", "--scope", "user", key, "git-mirror"]).success();
        words.extend(["--agent-template", "own"]);
    }
    let (run, output) = suite.run(&words);
    suite.assert_ends(&run, &output);
    assert_eq!(output.stdout.lines().next(), Some(outcome.first), "{output}");
    assert_eq!(suite.git(&["log", "--format=%s", "main..tmr/1/integrated"]), outcome.merged);
    // Where nothing needs review there is no such branch.
    let has_review = !suite.git(&["branch", "--list", "tmr/1/review"]).is_empty();
    assert_eq!(has_review, !outcome.review.is_empty(), "{output}");
    if has_review {
        let log = suite.git(&["log", "--reverse", "--format=%s", "tmr/1/integrated..tmr/1/review"]);
        assert_eq!(log.lines().collect::<Vec<_>>(), outcome.review);
    }
    let listing = env.mngr(["list", "--format", "json"]).success().json();
    let agents = listing["agents"].as_array().unwrap();
    assert!(agents.len() >= plans.len(), "{listing}");
    for agent in agents {
        let work_dir = Path::new(agent["work_dir"].as_str().unwrap());
        assert_eq!(work_dir.join(".git").is_dir(), place == Place::Mirrors, "{agent}");
    }
    let has = |wanted: &Plan| plans.iter().any(|plan| plan.test == wanted.test);
    if has(&SKIPPED) {
        let refused = env.mngr(["tmr", "why", SKIPPED.test]).code(1).stderr;
        assert!(
            refused.contains("it ended as failed(contract): `python/tests/tutorial/test_one_task.py` breaks"),
            "{refused}"
        );
    }
    if has(&CITATION_WITH_BLOCK) {
        // What is merged agrees with the tutorial as much as before.
        suite.git(&["switch", "--quiet", "tmr/1/integrated"]);
        let words =
            ["tutorial", "coverage", "tutorial/tutorial.sh", "python/tests/tutorial", "--format", "json"];
        let coverage = env.mngr(words).success().json();
        let text = coverage.to_string();
        assert!(text.contains("9 says that there is no such agent"), "{text}");
    }
    suite.assert_no_worlds(Path::new("/tmp"));
}

#[test]
fn tool_pytest_our_own_tests_of_the_tutorial_are_made_better_and_not_worse() {
    let merged = "Tests and docs: the changes of 1 agent\n";
    // The one more is the test that was added.
    let first = "4 of 4 tests pass on tmr/1/integrated";
    improved_here(&SOME, Place::Worktrees, &Outcome { first, merged, review: &[] });
}

#[test]
fn tool_pytest_our_own_tests_of_the_tutorial_are_made_better_by_agents_with_repositories_of_their_own() {
    let merged = "Tests and docs: the changes of 1 agent\n";
    let (first, review) = ("3 of 3 tests pass on tmr/1/integrated", ["[IMPROVE_TEST] faster"]);
    improved_here(&OTHERS, Place::Mirrors, &Outcome { first, merged, review: &review });
}

/// What comes out of all of them.
const OF_ALL: Outcome<'_> = Outcome {
    first: "10 of 10 tests pass on tmr/1/integrated",
    merged: MERGEABLE,
    review: &["[IMPROVE_TEST] steadier", "[IMPROVE_TEST] faster", "[IMPROVE_TEST] simpler"],
};

#[test]
fn soak_tool_pytest_our_own_tests_of_the_tutorial_are_made_better_and_not_worse_by_all() {
    improved_here(&ALL, Place::Worktrees, &OF_ALL);
}

#[test]
fn soak_tool_pytest_our_own_tests_of_the_tutorial_are_made_better_by_all_in_mirrors() {
    improved_here(&ALL, Place::Mirrors, &OF_ALL);
}
