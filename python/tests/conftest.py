import os

import pytest

from mngr_e2e import Options, Session, TestPlace

pytest_plugins = ["pytester"]


@pytest.fixture
def session(tmp_path):
    """A session whose artifacts go to a folder of the test."""
    place = TestPlace("tests/test_some.py", "test_some", 3)
    session = Session(place, Options(output=str(tmp_path), run="run", bin=os.environ.get("MNGR_E2E_BIN")))
    yield session
    if not session.artifacts.exists() or '"running"' in (session.artifacts / "test.json").read_text():
        session.finish("passed")
