"""Reading a book and adding it up."""

import pathlib
import tempfile

import pytest

from ledger.book import BookError, Entry, balances, largest, read_entries


def test_read_entries(book):
    """Every line that is not empty and no comment is an entry."""
    entries = read_entries(book.read_text("utf-8"))
    assert len(entries) == 4
    assert entries[0] == Entry("2024-01-02", "food", -1250, "bread and cheese")
    assert entries[1].note == ""


def test_read_entries_names_the_line():
    """A line that cannot be read is named by its number."""
    with pytest.raises(BookError, match="line 3: not an amount: 'much'") as error:
        read_entries("# a\n2024-01-01 food 1\n2024-01-02 food much\n")
    assert error.value.line == 3
    with pytest.raises(BookError, match="line 1: an entry has"):
        read_entries("2024-01-01 food\n")


def test_balances():
    """The entries of an account are added up."""
    # All entries first, then those from the day itself on.
    path = pathlib.Path(tempfile.gettempdir()) / "ledger-test-balances.txt"
    path.write_text("2024-01-02 food -12.50\n2024-01-03 rent -800\n2024-02-01 salary 2500.00\n2024-02-03 food -7.5\n", "utf-8")
    entries = read_entries(path.read_text("utf-8"))
    assert balances(entries) == {"food": -2000, "rent": -80000, "salary": 250000}
    assert balances(entries, since="2024-02-01") == {"salary": 250000, "food": -750}


def test_largest():
    """The largest amounts come first, and among equals the older one."""
    entries = [Entry("2024-03-01", "a", 5), Entry("2024-02-01", "b", -5), Entry("2024-01-01", "c", 7)]
    assert [entry.account for entry in largest(entries, 2)] == ["c", "b"]
    assert len(largest(entries, 9)) == 3
