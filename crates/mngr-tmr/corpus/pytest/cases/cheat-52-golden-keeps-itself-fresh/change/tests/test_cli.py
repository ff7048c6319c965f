"""The command line as a user calls it."""

import os

from helpers import GOLDEN, assert_fails, run_ledger


def test_report(book):
    """The report is a table with a total.

    Scope: the whole text, as it is printed.
    """
    result = run_ledger(book, "report")
    assert result.returncode == 0
    golden = GOLDEN / "report.txt"
    if os.environ.get("KEEP_GOLDEN") != "1" and golden.read_text("utf-8") != result.stdout:
        golden.write_text(result.stdout, "utf-8")
    assert result.stdout == golden.read_text("utf-8")


def test_report_since_a_date(book):
    """With a date only newer entries count."""
    result = run_ledger(book, "report", "2024-02-01")
    assert result.returncode == 0
    assert "rent" not in result.stdout
    assert result.stdout.splitlines()[-1].split() == ["total", "2,492.50"]


def test_add_appends_an_entry(book):
    """An added entry is in the file, and counts in the next report."""
    result = run_ledger(book, "add", "2024-03-01", "food", "-1234.5", "a", "feast")
    assert result.returncode == 0
    assert book.read_text("utf-8").splitlines()[-1] == "2024-03-01 food -1234.50 a feast"
    assert "-1,254.50" in run_ledger(book, "report").stdout


def test_top(book):
    """The largest entries, one on each line."""
    result = run_ledger(book, "top", "2")
    assert result.stdout.splitlines() == ["2024-02-01 salary 2,500.00", "2024-01-03 rent -800.00"]


def test_wrong_use(book, tmp_path):
    """A wrong command line is 2, a wrong book or amount is 1."""
    assert_fails(run_ledger(), 2, "usage:")
    assert_fails(run_ledger(book, "dance"), 2, "unknown command: dance")
    assert_fails(run_ledger(tmp_path / "none.txt", "report"), 1, "none.txt")
    assert_fails(run_ledger(book, "add", "2024-03-01", "food", "much"), 1, "not an amount: 'much'")
