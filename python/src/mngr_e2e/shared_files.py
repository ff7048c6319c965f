"""The files that the Rust crate reads too, so that both do the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "shared"


def text(name: str) -> str:
    """The contents of one of them."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def data(name: str) -> Any:
    """The contents of a JSON file."""
    return json.loads(text(name))
