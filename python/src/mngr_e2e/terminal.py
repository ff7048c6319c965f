"""A command in a terminal: typed into, read, recorded.

What is on the screen is asked of ``mngr``, which emulates it from the recording. Without it, the text that was printed
can be waited for, without its escape sequences, in the order in which it came.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Optional

from mngr_e2e import keys, process
from mngr_e2e.cast import Cast
from mngr_e2e.result import Capture, RunResult, shown
from mngr_e2e.transcript import LINES_FILE, Pieces, TranscriptWriter, now_ms, output_event, seconds

SIZE = (100, 30)
_GRACE = 2.0
_LOOK = 0.1
# How long no key follows other typing.
_BETWEEN_KEYS = 0.01
_READ_SIZE = 16 * 1024
# Operating system commands and the like with their text, control sequences, and escapes of two or three characters.
_SEQUENCES = re.compile(
    r"\x1b[\]PX^_].*?(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\x00-\x08\x0b\x0c\x0e-\x1a\x7f]",
    re.DOTALL,
)


def plain(text: str) -> str:
    """The text without escape sequences and control characters, lines ending with a newline only."""
    return _SEQUENCES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


class Terminal:
    """A terminal with a program in it. Made by ``e2e.terminal``."""

    def __init__(
        self,
        command: str,
        *,
        number: int,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        folder: Path,
        recording: str,
        transcript: TranscriptWriter,
    ) -> None:
        self.command = command
        self._number = number
        self._timeout = timeout
        self._folder = folder
        self._env = dict(env)
        self._recording = recording
        self._transcript = transcript
        self._cast = Cast(folder / recording, SIZE, command)
        self._pieces = Pieces()
        self._capture = Capture()
        self._printed = bytearray()
        self._seen = 0
        self._typed = bytearray()
        self._wants_end = False
        self._is_late = False
        self._exit_code: Optional[int] = None
        self._started = time.monotonic()
        self._duration = 0.0
        self._changed = threading.Condition()
        self._master, slave = pty.openpty()
        self._set_size(*SIZE)
        self._process = subprocess.Popen(
            ["sh", "-c", command],
            cwd=cwd,
            env=dict(env),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_begin_in_terminal,
        )
        os.close(slave)
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def send(self, text: str) -> None:
        """Types a text as it is."""
        self._type(text.encode())

    def press(self, key: str) -> None:
        """Presses a key: ``Enter``, ``Escape``, ``C-c``, ``M-x``, ``Up``, ``F1``; or any one character."""
        data = keys.bytes_of(key)
        if data is None:
            raise ValueError(f"there is no key `{key}`")
        # tmux takes what comes within a millisecond of other typing for a paste, and no paste is a key binding.
        time.sleep(_BETWEEN_KEYS)
        self._type(data)

    def resize(self, cols: int, rows: int) -> None:
        """Gives the terminal another size."""
        with self._changed:
            if self._exit_code is None:
                self._set_size(cols, rows)
                self._cast.resize(cols, rows)

    def text(self) -> str:
        """All that was printed so far, without escape sequences."""
        with self._changed:
            return self._text()

    def expect_text(self, text: str) -> None:
        """Waits until this text is printed. Text up to the last one that was found does not count again."""
        __tracebackhide__ = True
        self._expect(f"{text!r}", lambda printed: _end_of(printed.find(text), len(text)))

    def expect_text_to_match(self, pattern: str) -> None:
        """Waits until text is printed that matches this regular expression."""
        __tracebackhide__ = True
        regex = re.compile(pattern)

        def find(printed: str) -> Optional[int]:
            found = regex.search(printed)
            return found.end() if found else None

        self._expect(f"a match of /{pattern}/", find)

    def screen(self) -> str:
        """What is on the screen now: its rows without the space at their ends and the empty ones at the bottom."""
        with self._changed:
            return self._screen()

    def expect_screen(self, text: str) -> None:
        """Waits until the screen shows this text."""
        __tracebackhide__ = True
        self._expect_screen(f"contain {text!r}", lambda screen: text in screen)

    def expect_screen_without(self, text: str) -> None:
        """Waits until the screen no longer shows this text."""
        __tracebackhide__ = True
        self._expect_screen(f"be without {text!r}", lambda screen: text not in screen)

    def expect_screen_to_match(self, pattern: str) -> None:
        """Waits until something on the screen matches this regular expression."""
        __tracebackhide__ = True
        regex = re.compile(pattern)
        self._expect_screen(f"match /{pattern}/", lambda screen: regex.search(screen) is not None)

    def wait(self) -> RunResult:
        """Waits for the program's end. One that takes too long is ended, with 124."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._exit_code is not None, self._timeout):
                self._is_late = True
        return self.end()

    def end(self) -> RunResult:
        """Ends the program as a closed terminal does: hangs up, and kills what does not heed it."""
        self._wants_end = True
        self._wake_up()
        self._thread.join()
        assert self._exit_code is not None
        printed = self._capture.text(self._folder / LINES_FILE).replace("\r\n", "\n")
        timeout = self._timeout if self._is_late else None
        return RunResult.of(self.command, self._exit_code, (printed, ""), timeout, self._duration, self._folder)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _expect(self, what: str, find: Callable[[str], Optional[int]]) -> None:
        __tracebackhide__ = True
        deadline = time.monotonic() + self._timeout
        with self._changed:
            while True:
                found = find(self._text()[self._seen :])
                if found is not None:
                    self._seen += found
                    return
                left = deadline - time.monotonic()
                if self._exit_code is not None or left <= 0:
                    break
                self._changed.wait(left)
            text = self._text()[self._seen :]
        raise AssertionError(
            f"expected the terminal to print {what}, but {self._why_not()}\n"
            f"command: {self.command}\nprinted:{shown(text)}\nartifacts: {self._folder}"
        )

    def _expect_screen(self, what: str, holds: Callable[[str], bool]) -> None:
        __tracebackhide__ = True
        deadline = time.monotonic() + self._timeout
        with self._changed:
            while True:
                screen = self._screen()
                if holds(screen):
                    return
                left = deadline - time.monotonic()
                if self._exit_code is not None or left <= 0:
                    break
                self._changed.wait(left)
        raise AssertionError(
            f"expected the screen to {what}, but {self._why_not()}\n"
            f"command: {self.command}\nscreen:{shown(screen)}\nartifacts: {self._folder}"
        )

    def _why_not(self) -> str:
        if self._exit_code is not None:
            return f"the program ended with {self._exit_code}"
        return f"it did not within {seconds(self._timeout * 1000)} s"

    def _screen(self) -> str:
        mngr = shutil.which("mngr", path=self._env.get("PATH"))
        if mngr is None:
            raise RuntimeError("what is on a screen is asked of `mngr`, which is not on the PATH of the session")
        asked = subprocess.run(
            [mngr, "replay", "--screen", "--format", "json", str(self._folder / self._recording)],
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if asked.returncode != 0:
            raise RuntimeError(f"`mngr replay --screen` failed:{shown(asked.stderr.decode(errors='replace'))}")
        return "\n".join(json.loads(asked.stdout)["rows"])

    def _text(self) -> str:
        return plain(self._printed.decode(errors="replace"))

    def _type(self, data: bytes) -> None:
        with self._changed:
            self._typed += data
        self._wake_up()

    def _wake_up(self) -> None:
        with self._changed:
            if self._exit_code is None:
                os.write(self._waker, b"!")

    def _set_size(self, cols: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def _serve(self) -> None:
        """The thread that reads, so that the program never waits for the test and the recording has the right times."""
        while True:
            with self._changed:
                writers = [self._master] if self._typed else []
            readable, writable, _ = select.select([self._master, self._wake], writers, [], _LOOK)
            if self._wake in readable:
                os.read(self._wake, 64)
            if self._wants_end and self._process.poll() is None:
                self._hang_up()
            if writable:
                self._type_on()
            is_open = self._read() if self._master in readable else True
            if self._process.poll() is not None:
                while is_open and select.select([self._master], [], [], 0)[0]:
                    is_open = self._read()
                break
            if not is_open:
                # The program lives without its terminal; a select would return at once for ever.
                time.sleep(_LOOK)
        self._finish()

    def _read(self) -> bool:
        """Takes what is there; whether the terminal is still open."""
        try:
            data = os.read(self._master, _READ_SIZE)
        except OSError:
            # Linux says EIO when the last program on the other side has gone.
            return False
        if not data:
            return False
        self._capture.push(data)
        piece = self._pieces.push(data)
        if piece:
            self._transcript.push(output_event(self._number, "terminal", piece))
        with self._changed:
            self._cast.output(data)
            self._printed += data
            self._changed.notify_all()
        return True

    def _type_on(self) -> None:
        with self._changed:
            try:
                count = os.write(self._master, self._typed[:1024])
            except OSError:
                count = len(self._typed)
            del self._typed[:count]

    def _hang_up(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGHUP)
            self._process.wait(_GRACE)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            process.end_group(self._process)

    def _finish(self) -> None:
        rest = self._pieces.finish()
        if rest:
            self._transcript.push(output_event(self._number, "terminal", rest))
        self._duration = time.monotonic() - self._started
        code = process.TIMED_OUT if self._is_late else process.shell_code(self._process.returncode)
        self._transcript.push(
            {
                "kind": "end",
                "id": self._number,
                "time": now_ms(),
                "exit_code": code,
                "timed_out": self._is_late,
                "duration_ms": int(self._duration * 1000),
            }
        )
        with self._changed:
            self._exit_code = code
            self._cast.close()
            for file in (self._master, self._wake, self._waker):
                os.close(file)
            self._changed.notify_all()


def _begin_in_terminal() -> None:
    """Takes the terminal, with the signals that a program in a new terminal has.

    A shell cannot trap what was ignored when it began, and under ``nohup`` or in a job of a CI server some are.
    """
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            # Reserved by the system for itself.
            pass
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _end_of(start: int, length: int) -> Optional[int]:
    return None if start < 0 else start + length
