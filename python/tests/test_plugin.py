"""The plugin inside a pytest of its own."""

import json
import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs pytest on a test file; gives the result and the records by test name."""
    monkeypatch.delenv("MNGR_E2E_RUN", raising=False)

    def run(source, *options):
        pytester.makepyfile(source)
        out = pytester.path / "out"
        result = pytester.runpytest_subprocess(
            "-p", "mngr_e2e.plugin", "-p", "no:cacheprovider", f"--mngr-e2e-output={out}", *options
        )
        records = [json.loads(file.read_text()) for file in sorted(out.glob("*/*/test.json"))]
        return result, {record["name"]: record for record in records}

    return run


def test_each_test_leaves_a_record_of_how_it_ended(run):
    result, records = run(
        '''
        import pytest
        from mngr_e2e import expect

        def test_good(e2e):
            """What it is about.

            Tutorial block:
                # say it
                echo hello

            Scope:
                nothing
            """
            expect(e2e.run("echo hello")).to_succeed()

        def test_bad(e2e):
            expect(e2e.run("exit 3")).to_succeed()

        def test_skipped(e2e):
            pytest.skip("not today")

        @pytest.mark.xfail(reason="known")
        def test_expected(e2e):
            assert False

        @pytest.fixture
        def broken(e2e):
            raise RuntimeError("no")

        def test_error(broken):
            pass

        class TestClass:
            @pytest.mark.parametrize("n", [1, 2])
            def test_many(self, e2e, n):
                expect(e2e.run(f"test {n} -lt 3")).to_succeed()
        '''
    )
    result.assert_outcomes(passed=3, failed=1, skipped=1, xfailed=1, errors=1)
    statuses = {name: record["status"] for name, record in records.items()}
    assert statuses == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_skipped": "skipped",
        "test_expected": "skipped",
        "test_error": "error",
        "TestClass::test_many[1]": "passed",
        "TestClass::test_many[2]": "passed",
    }
    good = records["test_good"]
    assert good["blocks"] == [{"text": "# say it\necho hello", "title": "say it"}]
    assert good["docstring"].startswith("What it is about.")
    assert good["id"].endswith(".py::test_good") and good["line"] == 4 and good["duration_ms"] >= 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", good["ended_at"])
    assert "to succeed, but it ended with 3" in records["test_bad"]["message"]
    assert "not today" in records["test_skipped"]["message"]
    assert "known" in records["test_expected"]["message"]
    result.stdout.fnmatch_lines(["*artifacts: *test_bad*"])


def test_the_environment_of_a_failed_test_is_kept_on_request(run, pytester):
    result, records = run(
        """
        def test_good(e2e): pass
        def test_bad(e2e): assert False
        """,
        "--mngr-e2e-keep-env=on-failure",
        "--mngr-e2e-artifacts=on-failure",
        "--mngr-e2e-run-name=mine",
    )
    assert list(records) == ["test_bad"]
    folder = next((pytester.path / "out/mine").iterdir())
    assert Path(records["test_bad"]["environment"]).is_dir()
    assert pytester.run(str(folder / "destroy-env")).ret == 0
    assert not Path(records["test_bad"]["environment"]).exists()
    result.stdout.fnmatch_lines(["*its environment is kept*"])


def test_options_that_contradict_each_other_are_refused(run):
    result, _ = run("", "--mngr-e2e-keep-env=yes", "--mngr-e2e-artifacts=no")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*`yes` is wider than `no`*"])


def test_the_workers_of_one_run_write_into_one_folder(run, pytester):
    result, records = run(
        """
        import pytest
        @pytest.mark.parametrize("n", range(6))
        def test_many(e2e, n):
            e2e.run("echo hello")
        """,
        "-n2",
    )
    result.assert_outcomes(passed=6)
    assert len(records) == 6
    assert len(list((pytester.path / "out").iterdir())) == 1


def test_a_test_may_begin_without_a_repository(run):
    result, _ = run(
        """
        import pytest
        from mngr_e2e import expect
        @pytest.mark.mngr_e2e(repository=False)
        def test_empty(e2e):
            expect(e2e.run("ls -A").stdout).to_be_empty()
        def test_full(e2e):
            expect(e2e.run("ls").stdout).to_equal("README.md\\n")
        """
    )
    result.assert_outcomes(passed=2)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib")
def test_pytest_finds_the_plugin_by_its_entry_point():
    import tomllib

    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"mngr_e2e": "mngr_e2e.plugin"}
    assert project["dependencies"] == ["pytest>=7"]


def test_a_relative_folder_of_programs_is_found_although_commands_run_elsewhere(run, pytester):
    pytester.mkdir("tools")
    program = pytester.path / "tools/own-program"
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    source = """
        from mngr_e2e import expect

        def test_it(e2e):
            expect(e2e.run("own-program").stdout).to_equal("found\\n")
    """
    result, _ = run(source, "--mngr-e2e-bin=tools")
    result.assert_outcomes(passed=1)
