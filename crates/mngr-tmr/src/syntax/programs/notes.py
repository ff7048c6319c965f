#!/usr/bin/env python3
"""Notes in a file, one on each line."""

import contextlib
import os
import sys

LIMIT = 3


class Full(Exception):
    """There is no room for another note."""


# Where the notes are.
@contextlib.contextmanager
def opened(path, mode):
    """A file that is closed again."""
    try:
        with open(path, mode, encoding="utf-8") as file:
            yield file
    except FileNotFoundError:
        yield None


class Notes:
    """All notes."""

    def __init__(self, path):
        self.path = path

    def all(self) -> list:
        with opened(self.path, "r") as file:
            if file is None:
                return []
            return [line.rstrip("\n") for line in file if line.strip() != ""]

    def add(self, text: str) -> int:
        if len(self.all()) >= LIMIT and not os.environ.get("NO_LIMIT"):
            raise Full(
                f"no room for {text}",
            )
        with opened(self.path, "a") as file: file.write(text + "\n")
        return len(self.all())

    def __repr__(self): return f"Notes({self.path})"


def numbered(notes):
    for number, note in enumerate(notes, 1):
        yield f"{number}: {note}"


def twice(function):
    def inner(*args):
        return function(*args) * 2

    return inner


def kind(text):
    match text:
        case "":
            return "empty"
        case _:
            return "text" if text.isalpha() else "other"


def main(args):
    notes = Notes(args[0])
    if args[1] == "add":
        print(notes.add(args[2]))
    elif args[1] == "kind": print(kind(args[2]), twice(len)(args[2]))
    else:
        for line in numbered(notes.all()):
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
