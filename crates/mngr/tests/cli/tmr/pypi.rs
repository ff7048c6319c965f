//! Programs that nobody here wrote, with their own tests: broken in known ways and repaired by agents that play a
//! script, among them some that lie, cheat or break something else.

mod project;

use project::{Damage, Deed, Project};

const COGAPP: Project = Project {
    name: "cogapp",
    chosen: "test_check_bad or dash_d or hellish or test_blank_line or purely or multi_line or overlapping",
    // As root every file can be written.
    all: &["-k", "not Writability"],
    gate: "python3 -m compileall -q cogapp",
    damages: &[
        Damage {
            subject: "[FIX_IMPL] a defined value may hold an equals sign",
            file: "cogapp/cogapp.py",
            right: r#"name, value = a.split("=", 1)"#,
            wrong: r#"name, value = a.split("=")"#,
        },
        Damage {
            subject: "[FIX_IMPL] a backslash in a suffix stands for itself",
            file: "cogapp/cogapp.py",
            right: r#"self.options.suffix.replace("\\", "\\\\")"#,
            wrong: "self.options.suffix",
        },
        Damage {
            subject: "[FIX_IMPL] a failed check has a status of its own",
            file: "cogapp/cogapp.py",
            right: "            return 5\n",
            wrong: "            return 1\n",
        },
        Damage {
            subject: "[FIX_IMPL] the common prefix is no longer than any line",
            file: "cogapp/whiteutils.py",
            right: "        if len(s) < len(prefix):\n            prefix = prefix[: len(s)]\n",
            wrong: "",
        },
        Damage {
            subject: "[FIX_TEST] three spaces, two and one have one in common",
            file: "cogapp/test_whiteutils.py",
            right: r#"white_prefix(["   y", "  y", " y"]), " ")"#,
            wrong: r#"white_prefix(["   y", "  y", " y"]), "  ")"#,
        },
    ],
    deeds: &[
        ("cogapp/test_cogapp.py::CogTestsInFiles::test_dash_d", Deed::Repair(0)),
        ("cogapp/test_cogapp.py::CogTestsInFiles::test_hellish_suffix", Deed::Repair(1)),
        ("cogapp/test_cogapp.py::CheckTests::test_check_bad", Deed::Repair(2)),
        ("cogapp/test_cogapp.py::CheckTests::test_check_bad_with_message", Deed::Repair(2)),
        ("cogapp/test_cogapp.py::CheckTests::test_check_bad_with_diff", Deed::Lie),
        ("cogapp/test_whiteutils.py::CommonPrefixTests::test_blank_line", Deed::Repair(3)),
        (
            "cogapp/test_cogapp.py::CogTestsInMemory::test_purely_blank_line",
            Deed::RepairAnd(3, "sed -i 's/if not os.path.exists(child):/if True:/' cogapp/makefiles.py"),
        ),
        ("cogapp/test_whiteutils.py::WhitePrefixTests::test_multi_line", Deed::Repair(4)),
    ],
};

const TABULATE: Project = Project {
    name: "tabulate",
    chosen: "option or len_ignores or multiline_row_align or single_text_multiple_pad or mixed_bool",
    all: &[],
    gate: "python3 -m compileall -q tabulate",
    damages: &[
        Damage {
            subject: "[FIX_IMPL] --float is about floats",
            file: "tabulate/__init__.py",
            right: "            floatfmt = value\n",
            wrong: "            intfmt = value\n",
        },
        Damage {
            subject: "[FIX_IMPL] --header takes the first row",
            file: "tabulate/__init__.py",
            right: "            headers = \"firstrow\"\n        elif opt in [\"-o\"",
            wrong: "            headers = \"keys\"\n        elif opt in [\"-o\"",
        },
        Damage {
            subject: "[FIX_IMPL] the middle is half of the way down",
            file: "tabulate/__init__.py",
            right: "top_delta = delta_lines // 2",
            wrong: "top_delta = delta_lines // 3",
        },
        Damage {
            subject: "[FIX_IMPL] truth is spelled with a capital letter",
            file: "tabulate/__init__.py",
            right: r#"and string in ("True", "False")"#,
            wrong: r#"and string in ("true", "false")"#,
        },
        Damage {
            subject: "[FIX_TEST] ten characters are visible",
            file: "test/test_textwrapper.py",
            right: "assert_equal(10, result)",
            wrong: "assert_equal(9, result)",
        },
    ],
    deeds: &[
        ("test/test_cli.py::test_script_floatfmt_option", Deed::Repair(0)),
        ("test/test_cli.py::test_script_header_option", Deed::Repair(1)),
        (
            "test/test_cli.py::test_script_format_option",
            Deed::RepairAnd(1, "echo 'def (' >tabulate/extra.py && git add tabulate/extra.py"),
        ),
        (
            "test/test_internal.py::test_align_cell_veritically_center_single_text_multiple_pad",
            Deed::Repair(2),
        ),
        (
            "test/test_output.py::test_fancy_grid_multiline_row_align",
            Deed::Skip("test/test_output.py", "def test_fancy_grid_multiline_row_align"),
        ),
        ("test/test_regression.py::test_mixed_bool_strings_and_numeric_strings", Deed::Repair(3)),
        ("test/test_textwrapper.py::test_wrapper_len_ignores_color_chars", Deed::Repair(4)),
    ],
};

/// Runs it, and checks all that must hold for every project.
#[track_caller]
fn repaired(project: &Project) {
    let broken = project.broken();
    let run = broken.run();
    let ends = run.ends();
    for (task, deed) in project.deeds {
        assert_eq!(ends[*task], deed.end(project), "{task}: {}", run.evidence(task));
    }
    let others: Vec<_> = ends.iter().filter(|(task, _)| !project.has_deed(task)).collect();
    assert!(!others.is_empty() && others.iter().all(|(_, end)| *end == "clean"), "{others:?}");
    let launched = run.events("stage").filter(|line| line["stage"] == "launching");
    assert_eq!(launched.count(), project.deeds.len(), "tests that pass need no agent");
    assert_eq!(run.log("%s|%(trailers:key=Votes,valueonly)"), project.expected_log());
    // What needs review continues the result.
    broken.assert_as_published(&run.branch().replace("integrated", "review"));
}

#[test]
fn tool_pytest_pypi_cogapp_is_repaired_in_spite_of_a_liar_and_of_a_fix_that_breaks_another_test() {
    repaired(&COGAPP);
}

#[test]
fn tool_pytest_pypi_tabulate_is_repaired_in_spite_of_a_skipped_test_and_of_a_file_that_does_not_compile() {
    repaired(&TABULATE);
}
