"""What a command came to, with all that a failure message has to say about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mngr_e2e.transcript import lines_of, seconds

_HALF = 4 * 1024 * 1024
_SHOWN_HALF = 2_000


class Capture:
    """What is held in memory of a stream, however much was printed: its beginning and its end."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def push(self, data: bytes) -> None:
        """Takes the next bytes."""
        room = _HALF - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        over = len(self._tail) - _HALF
        # Cutting at every piece would copy the tail again and again.
        if over > _HALF:
            self._cut(over)

    def text(self, whole: Path) -> str:
        """As text, with a line in the place of what was too much. What is not UTF-8 is replaced."""
        self._cut(max(0, len(self._tail) - _HALF))
        if not self._left_out:
            return (self._head + self._tail).decode(errors="replace")
        marker = f"\n[... {self._left_out} bytes left out here, all of them are in {whole} ...]\n"
        return self._head.decode(errors="replace") + marker + self._tail.decode(errors="replace")

    def _cut(self, over: int) -> None:
        del self._tail[:over]
        self._left_out += over


class Printed(str):
    """A text that remembers which command printed it."""

    stream: str
    report: str

    def __new__(cls, text: str, stream: str, report: str) -> "Printed":
        printed = super().__new__(cls, text)
        printed.stream = stream
        printed.report = report
        return printed


@dataclass(frozen=True)
class RunResult:
    """What a command printed and how it ended."""

    command: str
    exit_code: int
    stdout: Printed
    stderr: Printed
    timed_out: bool
    duration: float
    report: str

    @classmethod
    def of(
        cls,
        command: str,
        exit_code: int,
        streams: tuple[str, str],
        timeout: Optional[float],
        duration: float,
        artifacts: Path,
    ) -> "RunResult":
        """``timeout`` is there if the command was ended for it."""
        late = "" if timeout is None else f" (timed out after {seconds(timeout * 1000)} s)"
        report = (
            f"command: {command}\nexit code: {exit_code}{late}\n"
            f"stdout:{shown(streams[0])}\nstderr:{shown(streams[1])}\nartifacts: {artifacts}"
        )
        stdout, stderr = Printed(streams[0], "stdout", report), Printed(streams[1], "stderr", report)
        return cls(command, exit_code, stdout, stderr, timeout is not None, duration, report)


def shown(text: str) -> str:
    """A stream as a failure message shows it: indented, and cut in the middle when it is long."""
    if len(text) > 3 * _SHOWN_HALF:
        left_out = len(text) - 2 * _SHOWN_HALF
        text = f"{text[:_SHOWN_HALF]}\n[... {left_out} characters ...]\n{text[-_SHOWN_HALF:]}"
    return "".join(f"\n  {line}" for line in lines_of(text)) or " (empty)"
