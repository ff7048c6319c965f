"""End-to-end tests of a command line: isolated sessions, transcripts, recordings.

The words and the files on disk are those of the Rust crate ``mngr-e2e``. Only ``mngr_e2e.plugin`` needs pytest.
"""

from mngr_e2e.expect import expect
from mngr_e2e.options import Keep, Options
from mngr_e2e.place import TestPlace
from mngr_e2e.result import Printed, RunResult
from mngr_e2e.session import Session
from mngr_e2e.terminal import Terminal

__all__ = ["Keep", "Options", "Printed", "RunResult", "Session", "Terminal", "TestPlace", "expect"]
