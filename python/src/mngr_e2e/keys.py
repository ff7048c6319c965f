"""Keys by their names, spelled as tmux spells them: ``Enter``, ``C-c``, ``M-x``, ``Up``."""

from __future__ import annotations

from typing import Optional

from mngr_e2e import shared_files


def bytes_of(key: str) -> Optional[bytes]:
    """What a terminal sends for a key; nothing for a name that is none."""
    named: dict[str, str] = shared_files.data("keys.json")
    if key in named:
        return named[key].encode()
    if key.startswith("M-"):
        rest = bytes_of(key[2:])
        return None if rest is None else b"\x1b" + rest
    if key.startswith("C-"):
        letter = key[2:].upper()
        return bytes([ord(letter) & 0x1F]) if len(letter) == 1 and "@" <= letter <= "_" else None
    return key.encode() if len(key) == 1 else None
