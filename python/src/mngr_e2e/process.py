"""Running one command: its own process group, both streams read as they come, a timeout that ends all of it."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Optional

TIMED_OUT = 124
_READ_SIZE = 64 * 1024
# How often a pipe is read after the command's end: as much as the largest pipe holds, and no more, because a process
# left in the background may go on filling it.
_READS_AT_END = 16
# Nothing wakes us when the command ends while a process in the background holds its pipes.
_LOOK = 0.1


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    exit_code: int
    timed_out: bool
    duration: float


def run(
    command: str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    stdin: Optional[bytes],
    on_output: Callable[[str, bytes], None],
) -> Ended:
    """Runs it through ``sh`` and hands on what it prints, piece by piece as it comes."""
    started = time.monotonic()
    process = subprocess.Popen(
        ["sh", "-c", command],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        with selectors.DefaultSelector() as selector:
            is_late = _drive(process, selector, stdin or b"", started + timeout, on_output)
    finally:
        if process.returncode is None:
            end_group(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            _close(pipe)
    duration = time.monotonic() - started
    return Ended(TIMED_OUT if is_late else shell_code(process.returncode), is_late, duration)


def shell_code(returncode: int) -> int:
    """The status as a shell reports it: 128 + n for signal n."""
    return returncode if returncode >= 0 else 128 - returncode


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kills the process and everything in its group. It must not be waited for yet: its number is its own till then."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _drive(
    process: subprocess.Popen[bytes],
    selector: selectors.BaseSelector,
    pending: bytes,
    deadline: float,
    on_output: Callable[[str, bytes], None],
) -> bool:
    """Feeds and drains the pipes until the command has ended; whether it was too late."""
    assert process.stdout and process.stderr
    for pipe, name in ((process.stdout, "stdout"), (process.stderr, "stderr")):
        os.set_blocking(pipe.fileno(), False)
        selector.register(pipe, selectors.EVENT_READ, name)
    if process.stdin:
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE, "stdin")
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return True
        if selector.get_map():
            events = selector.select(min(left, _LOOK))
        else:
            events = []
            _wait(process, left)
        for key, _ in events:
            if key.data == "stdin":
                pending = _feed(key.fd, pending)
                if not pending:
                    selector.unregister(key.fileobj)
                    _close(process.stdin)
            elif _drain(key.fd, key.data, 1, on_output):
                selector.unregister(key.fileobj)
        # Only after the reads of a round: what the command printed before it ended is there by then.
        if process.poll() is not None:
            for key in list(selector.get_map().values()):
                if key.data != "stdin":
                    _drain(key.fd, key.data, _READS_AT_END, on_output)
            return False


def _wait(process: subprocess.Popen[bytes], limit: float) -> None:
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        pass


def _drain(file: int, name: str, reads: int, on_output: Callable[[str, bytes], None]) -> bool:
    """Reads what is there, at most so often; whether the pipe has ended."""
    for _ in range(reads):
        try:
            data = os.read(file, _READ_SIZE)
        except BlockingIOError:
            return False
        if not data:
            return True
        on_output(name, data)
    return False


def _feed(file: int, pending: bytes) -> bytes:
    """Writes what there is room for; what is left."""
    try:
        return pending[os.write(file, pending) :]
    except BlockingIOError:
        return pending
    except BrokenPipeError:
        # The command does not want to read more; its exit code will say whether that is a failure.
        return b""


def _close(pipe: Optional[IO[bytes]]) -> None:
    try:
        if pipe:
            pipe.close()
    except BrokenPipeError:
        pass
