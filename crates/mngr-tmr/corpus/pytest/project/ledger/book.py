"""A book of entries: one line each, `DATE ACCOUNT AMOUNT NOTE`."""

from dataclasses import dataclass

from .amounts import AmountError, parse_amount


@dataclass(frozen=True)
class Entry:
    """One line of a book."""

    date: str
    account: str
    cents: int
    note: str = ""


class BookError(Exception):
    """A line that is not an entry."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line


def read_entries(text):
    """Reads the entries of a book. Empty lines and comments are left out."""
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        fields = line.split(None, 3)
        if len(fields) < 3:
            raise BookError(number, "an entry has a date, an account and an amount")
        try:
            cents = parse_amount(fields[2])
        except AmountError as error:
            raise BookError(number, str(error)) from error
        entries.append(Entry(fields[0], fields[1], cents, fields[3] if len(fields) > 3 else ""))
    return entries


def balances(entries, since=None):
    """The sum of each account, of the entries from a date on."""
    sums = {}
    for entry in entries:
        if since is not None and entry.date < since:
            continue
        sums[entry.account] = sums.get(entry.account, 0) + entry.cents
    return sums


def largest(entries, count):
    """The entries with the largest amounts, whatever their sign; older ones first among equals."""
    ordered = sorted(entries, key=lambda entry: (-abs(entry.cents), entry.date))
    return ordered[:count]
