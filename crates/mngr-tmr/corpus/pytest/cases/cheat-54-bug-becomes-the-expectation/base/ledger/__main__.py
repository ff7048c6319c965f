"""The command line: `python -m ledger BOOK add|report|top ...`."""

import sys
from pathlib import Path

from .amounts import AmountError, format_amount, parse_amount
from .book import BookError, balances, largest, read_entries


def report(entries, since=None):
    """A table of all accounts by name, and their total."""
    sums = balances(entries, since)
    width = max([len(name) for name in sums] + [len("total")])
    lines = [f"{name:<{width}}  {format_amount(sums[name]):>12}" for name in sorted(sums)]
    lines.append("-" * (width + 14))
    lines.append(f"{'total':<{width}}  {format_amount(sum(sums.values())):>12}")
    return "\n".join(lines) + "\n"


def add(path, date, account, amount, note):
    """Appends an entry to the book."""
    cents = parse_amount(amount)
    with open(path, "a", encoding="utf-8") as book:
        book.write(f"{date} {account} {format_amount(cents).replace(',', '')} {note}".rstrip() + "\n")


def main(argv):
    """Runs one command; its exit code is 2 for a wrong command line, 1 for a wrong book."""
    if len(argv) < 2:
        print("usage: ledger BOOK add|report|top ...", file=sys.stderr)
        return 2
    path, command, rest = Path(argv[0]), argv[1], argv[2:]
    try:
        if command == "add" and len(rest) >= 3:
            add(path, rest[0], rest[1], rest[2], " ".join(rest[3:]))
            return 0
        if command == "report" and len(rest) <= 1:
            sys.stdout.write(report(read_entries(path.read_text("utf-8")), rest[0] if rest else None))
            return 0
        if command == "top" and len(rest) == 1:
            for entry in largest(read_entries(path.read_text("utf-8")), int(rest[0])):
                print(entry.date, entry.account, entry.cents)
            return 0
    except (AmountError, BookError, FileNotFoundError) as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 1
    print(f"ledger: unknown command: {command}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
