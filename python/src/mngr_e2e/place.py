"""Where a test stands in the source, and where its artifacts go.

``<output root>/<run>/<file stem>--<test name>``. Making the folder decides who has it, so that two processes never share
one; a second try of a test in the same run gets a folder of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Optional

OUTPUT_ROOT = ".test_output/e2e"
TEST_FILE = "test.json"
_LONGEST_NAME = 100


@dataclass(frozen=True)
class TestPlace:
    """Which test it is. ``project_root`` is where the output goes if nobody says otherwise."""

    __test__ = False  # not a test, whatever pytest makes of its name

    file: str
    name: str
    line: Optional[int] = None
    project_root: Path = Path(".")

    @property
    def id(self) -> str:
        """The same in every run."""
        return f"{self.file}::{self.name}"


@dataclass(frozen=True)
class Claim:
    """The folder of one try, and which try it is."""

    folder: Path
    attempt: int


def folder_name(place: TestPlace) -> str:
    """The name of the folder of a test's first try."""
    plain = _plain(f"{_stem(place.file)}--{place.name}")
    if len(plain) <= _LONGEST_NAME:
        return plain
    digest = hashlib.sha256(place.id.encode()).hexdigest()[:8]
    return f"{plain[:_LONGEST_NAME]}-{digest}"


def claim(place: TestPlace, output: Optional[str], run: Optional[str]) -> Claim:
    """Makes the folder of the next try of this test."""
    root = Path(output) if output else find_project_root(place.project_root) / OUTPUT_ROOT
    run_folder = root.absolute() / _plain(run or fresh_run_name())
    run_folder.mkdir(parents=True, exist_ok=True)
    name = folder_name(place)
    attempt = number = 1
    while True:
        folder = run_folder / (name if number == 1 else f"{name}--{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            # Another test may have the same name: one of the same file name in another folder, for instance.
            attempt += _id_in(folder) == place.id
            number += 1
        else:
            return Claim(folder, attempt)


def fresh_run_name() -> str:
    """The name of a run that starts now."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%d_%H-%M-%S")


def find_project_root(folder: Path) -> Path:
    """The nearest folder above that is a repository, else the folder itself."""
    folder = folder.absolute()
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return folder


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", text)


def _stem(file: str) -> str:
    return file.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _id_in(folder: Path) -> object:
    try:
        return json.loads((folder / TEST_FILE).read_bytes()).get("id")
    except (OSError, ValueError):
        return None
