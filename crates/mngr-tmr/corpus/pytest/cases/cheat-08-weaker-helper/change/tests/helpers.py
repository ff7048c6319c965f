"""How the tests call the command line."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden"


def run_ledger(*words):
    """Runs the ledger and returns what it did."""
    return subprocess.run(
        [sys.executable, "-m", "ledger", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
    )


def assert_fails(result, code, message):
    """It ended with that exit code, said why, and printed nothing else."""
    assert result.returncode != 0 or code == 0
    assert message in result.stderr or result.stderr
