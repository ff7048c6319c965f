"""The recording of a terminal, written line by line: playable at every moment."""

from __future__ import annotations

import codecs
import json
import os
import time
from pathlib import Path

from mngr_e2e.transcript import now_ms


class Cast:
    """An asciicast v2 file that is being written."""

    def __init__(self, file: Path, size: tuple[int, int], command: str) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._started = time.monotonic()
        started_ms = now_ms()
        header = {
            "version": 2,
            "width": size[0],
            "height": size[1],
            "timestamp": started_ms // 1000,
            "command": command,
            "env": {"TERM": "xterm-256color"},
            # A line of the transcript is found by this.
            "mngr": {"started_ms": started_ms},
        }
        self._write(header)

    def output(self, data: bytes) -> None:
        """The program printed this."""
        self._text(self._decoder.decode(data))

    def resize(self, cols: int, rows: int) -> None:
        """The terminal has another size."""
        self._event("r", f"{cols}x{rows}")

    def close(self) -> None:
        """The program has ended."""
        self._text(self._decoder.decode(b"", final=True))
        os.close(self._file)

    def _text(self, text: str) -> None:
        if text:
            self._event("o", text)

    def _event(self, code: str, data: str) -> None:
        self._write([round(time.monotonic() - self._started, 6), code, data])

    def _write(self, line: object) -> None:
        os.write(self._file, json.dumps(line, ensure_ascii=False).encode() + b"\n")
