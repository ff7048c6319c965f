"""The pytest plugin: options, and the fixture ``e2e``."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any, Optional

import pytest

from mngr_e2e.options import Keep, Options, OptionsError
from mngr_e2e.place import TestPlace, fresh_run_name
from mngr_e2e.session import Session

_CHOICES = [keep.value for keep in Keep]
_OPTIONS = pytest.StashKey[Options]()
# By what they are about: setup, call, teardown.
_REPORTS = pytest.StashKey[dict[Optional[str], pytest.TestReport]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mngr-e2e", "end-to-end sessions")
    group.addoption(
        "--mngr-e2e-keep-env",
        choices=_CHOICES,
        help="after which tests the environment stays (default: no; MNGR_E2E_KEEP_ENV)",
    )
    group.addoption(
        "--mngr-e2e-artifacts",
        choices=_CHOICES,
        help="after which tests the artifacts stay (default: yes; MNGR_E2E_ARTIFACTS)",
    )
    group.addoption(
        "--mngr-e2e-run-name",
        metavar="NAME",
        help="the name of the run (default: the time in UTC; MNGR_E2E_RUN)",
    )
    group.addoption(
        "--mngr-e2e-output",
        metavar="DIR",
        help="where the folders of runs go (default: .test_output/e2e of the repository; MNGR_E2E_OUTPUT)",
    )
    group.addoption(
        "--mngr-e2e-bin",
        metavar="DIR",
        help="folders that come first on PATH inside a session (MNGR_E2E_BIN)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "mngr_e2e(repository=True): what the project folder of a session holds")
    try:
        config.stash[_OPTIONS] = _options(config)
    except OptionsError as error:
        raise pytest.UsageError(str(error)) from None


def _options(config: pytest.Config) -> Options:
    given = {
        "MNGR_E2E_KEEP_ENV": config.getoption("--mngr-e2e-keep-env"),
        "MNGR_E2E_ARTIFACTS": config.getoption("--mngr-e2e-artifacts"),
        "MNGR_E2E_RUN": config.getoption("--mngr-e2e-run-name"),
        "MNGR_E2E_OUTPUT": config.getoption("--mngr-e2e-output"),
        "MNGR_E2E_BIN": config.getoption("--mngr-e2e-bin"),
    }
    variables = {**os.environ, **{name: value for name, value in given.items() if value}}
    # All workers of one run, and all tests of one worker, write into one folder.
    workers_run = getattr(config, "workerinput", {}).get("mngr_e2e_run")
    variables["MNGR_E2E_RUN"] = workers_run or variables.get("MNGR_E2E_RUN") or fresh_run_name()
    return Options.from_variables(variables)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Called by pytest-xdist for each worker."""
    node.workerinput["mngr_e2e_run"] = node.config.stash[_OPTIONS].run


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    item.stash.setdefault(_REPORTS, {})[report.when] = report


@pytest.fixture
def e2e(request: pytest.FixtureRequest) -> Generator[Session, None, None]:
    """The session of this test."""
    node = request.node
    node.stash[_REPORTS] = {}
    marker = node.get_closest_marker("mngr_e2e")
    session = Session(
        _place(node),
        request.config.stash[_OPTIONS],
        with_repository=marker is None or marker.kwargs.get("repository", True),
        docstring=getattr(request.function, "__doc__", None),
    )
    yield session
    status, message = _verdict(node.stash[_REPORTS])
    session.finish(status, message)
    if status in ("failed", "error") and session.artifacts.exists():
        lines = [f"artifacts: {session.artifacts}"]
        if (session.artifacts / "reenter").exists():
            lines.append(f"its environment is kept: {session.artifacts}/reenter enters, destroy-env removes it")
        node.add_report_section("teardown", "mngr-e2e", "\n".join(lines))


def _place(node: pytest.Item) -> TestPlace:
    file, _, name = node.nodeid.partition("::")
    line = node.location[1]
    return TestPlace(file, name, None if line is None else line + 1, Path(node.config.rootpath))


def _verdict(reports: dict[Optional[str], pytest.TestReport]) -> tuple[str, Optional[str]]:
    """The status of the test, and why it did not pass."""
    call = reports.get("call")
    if call is None:
        # Another fixture failed, or asked for the test to be skipped, after this one was ready.
        setup = reports.get("setup")
        if setup is not None and setup.skipped:
            return "skipped", _reason(setup)
        return "error", setup.longreprtext if setup is not None else None
    if call.passed:
        return "passed", None
    if call.skipped:
        return "skipped", _reason(call)
    return "failed", call.longreprtext


def _reason(report: pytest.TestReport) -> str:
    expected = getattr(report, "wasxfail", None)
    if expected is not None:
        return f"failed as expected: {expected}" if expected else "failed as expected"
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
