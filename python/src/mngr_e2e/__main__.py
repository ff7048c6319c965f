"""``python -m mngr_e2e``: looking at transcripts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Optional

from mngr_e2e import transcript


def main(arguments: Optional[list[str]] = None) -> int:
    """The exit code: 0 done or nothing differs, 1 something differs, 2 wrong usage or no such transcript."""
    parser = argparse.ArgumentParser(prog="python -m mngr_e2e", description="Look at transcripts of end-to-end tests.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    diff = verbs.add_parser("diff", help="what differs between two tries, ids, times and paths aside")
    diff.add_argument("old", type=Path, help="the folder of a test, or its transcript.jsonl")
    diff.add_argument("new", type=Path)
    text = verbs.add_parser("text", help="a transcript for people")
    text.add_argument("path", type=Path, help="the folder of a test, or its transcript.jsonl")
    given = parser.parse_args(arguments)
    try:
        if given.verb == "text":
            sys.stdout.buffer.write(transcript.read(given.path).to_text())
            return 0
        difference = transcript.diff(
            transcript.read(given.old), transcript.read(given.new), (str(given.old), str(given.new))
        )
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if difference:
        print(difference)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
