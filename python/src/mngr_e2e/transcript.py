"""What the commands of one test printed, in the order it came.

The truth is a file of JSON lines that grows while the test runs and loses no byte; the text for people is derived from
it, event by event::

    # <line of the comment>
    $ <command>
      <line of standard output or of the terminal>
    ! <line of standard error>
    ? <exit code>
"""

from __future__ import annotations

import base64
import difflib
import json
import os
import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from mngr_e2e.normalise import normalise

LINES_FILE = "transcript.jsonl"
TEXT_FILE = "transcript.txt"
Event = dict[str, Any]


def lines_of(text: str) -> list[str]:
    """The lines of a text. Unlike ``splitlines`` this knows only newlines, as the Rust crate does."""
    lines = re.split(r"\r?\n", text)
    return lines if lines[-1] else lines[:-1]


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Pieces:
    """Cuts a stream of bytes so that no character is split. Bytes that can never become one are not held back."""

    def __init__(self) -> None:
        self._held = b""

    def push(self, data: bytes) -> bytes:
        """Takes what was read and returns what may be handed on."""
        data = self._held + data
        cut = len(data) - _unfinished(data)
        self._held = data[cut:]
        return data[:cut]

    def finish(self) -> bytes:
        """What is left when the stream has ended."""
        rest, self._held = self._held, b""
        return rest


def _unfinished(data: bytes) -> int:
    # A character has at most four bytes, so only the last three can be an unfinished one.
    tail = data[-3:]
    for at, byte in enumerate(tail):
        if byte & 0b1100_0000 != 0b1100_0000:
            continue
        try:
            tail[at:].decode()
        except UnicodeDecodeError as error:
            if error.start == 0 and error.reason == "unexpected end of data":
                return len(tail) - at
    return 0


def output_event(number: int, stream: str, data: bytes) -> Event:
    """The event for these bytes."""
    event: Event = {"kind": "output", "id": number, "time": now_ms(), "stream": stream}
    try:
        event["text"] = data.decode()
    except UnicodeDecodeError:
        event["base64"] = base64.b64encode(data).decode()
    return event


def output_bytes(event: Event) -> bytes:
    """The bytes of an output event, as they were printed."""
    text = event.get("text")
    return text.encode() if text is not None else base64.b64decode(event.get("base64", ""))


@dataclass
class _Open:
    """A command whose text is not complete."""

    timeout_ms: Optional[int]
    text: bytearray = field(default_factory=bytearray)
    partial: dict[str, bytearray] = field(default_factory=dict)
    has_ended: bool = False

    def line(self, prefix: bytes, line: bytes) -> None:
        self.text += prefix + line + b"\n"

    def output(self, stream: str, data: bytes) -> None:
        *complete, rest = data.split(b"\n")
        partial = self.partial.setdefault(stream, bytearray())
        for piece in complete:
            partial += piece
            self._finish_line(stream)
        partial += rest

    def flush_lines(self) -> None:
        for stream in ("stdout", "stderr", "terminal"):
            if self.partial.get(stream):
                self._finish_line(stream)

    def _finish_line(self, stream: str) -> None:
        line = bytes(self.partial[stream])
        self.partial[stream].clear()
        # The terminal itself makes CR LF of a newline.
        if stream == "terminal" and line.endswith(b"\r"):
            line = line[:-1]
        self.line(b"! " if stream == "stderr" else b"  ", line)


class TextRenderer:
    """Turns events into text as they come. Commands that run at the same time stand one after the other."""

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}

    def push(self, event: Event) -> bytes:
        """Takes the next event and returns the text that is now settled."""
        kind = event.get("kind")
        if kind == "command":
            entry = self._open[event["id"]] = _Open(event.get("timeout_ms"))
            for line in lines_of(event.get("comment") or ""):
                entry.line(b"# ", line.encode())
            entry.line(b"$ ", event["command"].encode())
        elif kind == "output" and event["id"] in self._open:
            self._open[event["id"]].output(event["stream"], output_bytes(event))
        elif kind == "end" and event["id"] in self._open:
            self._end(self._open[event["id"]], event)
        return self._take_settled()

    def finish(self) -> bytes:
        """The rest: what commands printed whose end is unknown."""
        text = b""
        for number in sorted(self._open):
            self._open[number].flush_lines()
            text += bytes(self._open[number].text)
        self._open.clear()
        return text

    def _end(self, entry: _Open, event: Event) -> None:
        entry.flush_lines()
        if event.get("timed_out"):
            after = entry.timeout_ms if entry.timeout_ms is not None else event.get("duration_ms", 0)
            entry.line(b"! ", f"timed out after {seconds(after)} s".encode())
        entry.line(b"? ", str(event["exit_code"]).encode())
        entry.has_ended = True

    def _take_settled(self) -> bytes:
        text = b""
        for number in sorted(self._open):
            entry = self._open[number]
            text += bytes(entry.text)
            entry.text.clear()
            if not entry.has_ended:
                break
            del self._open[number]
        return text


def seconds(milliseconds: float) -> str:
    """``200`` as ``0.2``, ``30000`` as ``30``."""
    value = milliseconds / 1000
    return str(int(value)) if value == int(value) else repr(value)


class TranscriptWriter:
    """Writes both forms while the test runs. Several threads may write."""

    def __init__(self, folder: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._lines = os.open(folder / LINES_FILE, flags, 0o666)
        self._text = os.open(folder / TEXT_FILE, flags, 0o666)
        self._renderer = TextRenderer()
        self._lock = threading.Lock()

    def push(self, event: Event) -> None:
        """Appends one event."""
        line = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            _write_all(self._lines, line)
            _write_all(self._text, self._renderer.push(event))

    def close(self) -> None:
        """Writes what is left of the text form."""
        with self._lock:
            _write_all(self._text, self._renderer.finish())
            os.close(self._lines)
            os.close(self._text)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


@dataclass
class Transcript:
    """A whole transcript. A killed test leaves a last line that is torn, and a command without an end."""

    events: list[Event] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)

    def to_text(self) -> bytes:
        """The transcript for people."""
        renderer = TextRenderer()
        return b"".join([*map(renderer.push, self.events), renderer.finish()])

    def output(self, number: int, stream: str) -> bytes:
        """All that one command wrote to one stream."""
        wanted = (e for e in self.events if e.get("kind") == "output" and e["id"] == number and e["stream"] == stream)
        return b"".join(map(output_bytes, wanted))


def parse_lines(data: bytes) -> Transcript:
    """Reads JSON lines."""
    transcript = Transcript()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            transcript.events.append(json.loads(line))
        except ValueError:
            transcript.damaged.append(number)
    return transcript


def read(path: Path) -> Transcript:
    """Reads the transcript in the folder of a test, or in a file."""
    return parse_lines((path / LINES_FILE if path.is_dir() else path).read_bytes())


def diff(old: Transcript, new: Transcript, names: tuple[str, str] = ("old", "new")) -> str:
    """What differs between two runs, once all that differs by nature is out of the way; empty when nothing does."""
    old_lines, new_lines = (
        lines_of(normalise(transcript.to_text().decode(errors="replace"))) for transcript in (old, new)
    )
    return "\n".join(difflib.unified_diff(old_lines, new_lines, *names, lineterm=""))
