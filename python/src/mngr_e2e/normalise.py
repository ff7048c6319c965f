"""Makes two runs of the same test look the same: what differs by nature becomes a placeholder."""

from __future__ import annotations

import re
from functools import lru_cache

from mngr_e2e import shared_files


@lru_cache(maxsize=None)
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    # The Rust crate reads the same file; `${1}` is its way of writing what a group matched.
    return tuple(
        (re.compile(rule["pattern"]), re.sub(r"\$\{(\d+)\}", r"\\g<\1>", rule["replace"]))
        for rule in shared_files.data("normalise.json")
    )


def normalise(text: str) -> str:
    """The text with ids, times, durations, ports, process ids and temporary paths as placeholders."""
    for pattern, replacement in _rules():
        text = pattern.sub(replacement, text)
    return text
