"""One end-to-end test: a world of its own, commands run in it, and artifacts that show what happened."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import threading
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional, Union

from mngr_e2e import place as places
from mngr_e2e import process
from mngr_e2e.environment import CONNECT_SETTING, Environment, delta
from mngr_e2e.options import Options
from mngr_e2e.place import TestPlace
from mngr_e2e.result import Capture, RunResult
from mngr_e2e.terminal import Terminal
from mngr_e2e.transcript import LINES_FILE, Pieces, TranscriptWriter, lines_of, now_ms, output_event

DEFAULT_TIMEOUT = 30.0
_LONGEST_MESSAGE = 64 * 1024


class Session:
    """A test at work. ``finish`` completes the artifacts and removes the environment."""

    def __init__(
        self,
        place: TestPlace,
        options: Optional[Options] = None,
        *,
        with_repository: bool = True,
        docstring: Optional[str] = None,
    ) -> None:
        self._options = options or Options.from_variables()
        self._started = datetime.now(timezone.utc)
        claim = places.claim(place, self._options.output, self._options.run)
        #: Where the artifacts of the test are.
        self.artifacts = claim.folder
        self._record = _first_record(place, claim.attempt, self._started)
        self._environment = Environment(self.artifacts, self._options.bin)
        self._variables = dict(self._environment.variables)
        #: The folder commands run in at first: a git repository with one commit, unless the test says otherwise.
        self.project = self._environment.project
        #: ``HOME`` of the test.
        self.home = self._environment.root / "home"
        self._cwd = self.project
        self._commands = 0
        self._counting = threading.Lock()
        self._terminals: list[Terminal] = []
        self._transcript = TranscriptWriter(self.artifacts)
        self._write_record()
        try:
            self._environment.fill(with_repository=with_repository)
        except BaseException as error:
            self.finish("error", str(error))
            raise
        if docstring:
            self._keep_docstring(docstring)

    def run(
        self,
        command: str,
        *,
        comment: Optional[str] = None,
        timeout: float = DEFAULT_TIMEOUT,
        stdin: Union[str, bytes, None] = None,
        env: Optional[Mapping[str, str]] = None,
        cwd: Union[str, Path, None] = None,
    ) -> RunResult:
        """Runs a command through ``sh`` and waits for its end."""
        number = self._next_number()
        variables = {**self._variables, **(env or {})}
        folder = self._cwd / (cwd or "")
        self._transcript.push(self._start_event(number, command, comment, timeout, variables, folder, None))
        pieces = {"stdout": Pieces(), "stderr": Pieces()}
        captures = {"stdout": Capture(), "stderr": Capture()}

        def on_output(stream: str, data: bytes) -> None:
            captures[stream].push(data)
            self._push_output(number, stream, pieces[stream].push(data))

        ended = process.run(
            command,
            cwd=folder,
            env=variables,
            timeout=timeout,
            stdin=stdin.encode() if isinstance(stdin, str) else stdin,
            on_output=on_output,
        )
        for stream, rest in pieces.items():
            self._push_output(number, stream, rest.finish())
        self._transcript.push(
            {
                "kind": "end",
                "id": number,
                "time": now_ms(),
                "exit_code": ended.exit_code,
                "timed_out": ended.timed_out,
                "duration_ms": int(ended.duration * 1000),
            }
        )
        whole = self.artifacts / LINES_FILE
        streams = (captures["stdout"].text(whole), captures["stderr"].text(whole))
        late = timeout if ended.timed_out else None
        return RunResult.of(command, ended.exit_code, streams, late, ended.duration, self.artifacts)

    def terminal(
        self,
        command: str,
        *,
        comment: Optional[str] = None,
        timeout: float = DEFAULT_TIMEOUT,
        env: Optional[Mapping[str, str]] = None,
        cwd: Union[str, Path, None] = None,
    ) -> Terminal:
        """Runs a command in a terminal, and returns at once. ``timeout`` is for each thing that is waited for."""
        number = self._next_number()
        variables = {**self._variables, **(env or {})}
        variables.pop(CONNECT_SETTING, None)
        folder = self._cwd / (cwd or "")
        recording = f"terminal-{number}.cast"
        self._transcript.push(self._start_event(number, command, comment, timeout, variables, folder, recording))
        terminal = Terminal(
            command,
            number=number,
            cwd=folder,
            env=variables,
            timeout=timeout,
            folder=self.artifacts,
            recording=recording,
            transcript=self._transcript,
        )
        self._terminals.append(terminal)
        return terminal

    def write_tutorial_block(self, text: str) -> None:
        """Says which block of the tutorial this test is about. A test may be about several."""
        self._record["blocks"].append(cited_block(text))
        texts = [block["text"] + "\n" for block in self._record["blocks"]]
        (self.artifacts / "tutorial_block.txt").write_text("\n".join(texts), encoding="utf-8")
        self._write_record()

    def set_env(self, name: str, value: str) -> None:
        """Sets a variable for all later commands."""
        self._variables[name] = value

    def unset_env(self, name: str) -> None:
        """Removes a variable for all later commands."""
        self._variables.pop(name, None)

    def cd(self, folder: Union[str, Path]) -> None:
        """All later commands run in this folder; a relative path starts at the present one."""
        self._cwd = self._cwd / folder

    def finish(self, status: str, message: Optional[str] = None) -> None:
        """Completes the artifacts and removes the environment. ``status`` is passed, failed, error or skipped."""
        has_failed = status in ("failed", "error")
        is_kept = self._options.keep_env.applies(has_failed)
        try:
            for terminal in self._terminals:
                terminal.end()
            self._transcript.close()
            if is_kept:
                self._environment.keep(self._variables)
        finally:
            # Recorders complete their files while the environment ends, so the list of recordings comes after it.
            try:
                self._environment.end(is_kept=is_kept)
            finally:
                self._complete_record(status, message, is_kept)
                if not self._options.artifacts.applies(has_failed):
                    shutil.rmtree(self.artifacts)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], _: object) -> None:
        self.finish("failed" if kind else "passed", str(error) if error else None)

    def _complete_record(self, status: str, message: Optional[str], is_kept: bool) -> None:
        ended = datetime.now(timezone.utc)
        self._record["status"] = status
        if message:
            self._record["message"] = message[:_LONGEST_MESSAGE]
        self._record["ended_at"] = _time(ended)
        self._record["duration_ms"] = int((ended - self._started).total_seconds() * 1000)
        if is_kept:
            self._record["environment"] = str(self._environment.root)
        self._record["recordings"] = sorted(file.name for file in self.artifacts.glob("*.cast"))
        self._write_record()

    def _keep_docstring(self, docstring: str) -> None:
        text = inspect.cleandoc(docstring)
        self._record["docstring"] = text
        (self.artifacts / "docstring.txt").write_text(text + "\n", encoding="utf-8")
        self._write_record()
        for block in tutorial_sections(text):
            self.write_tutorial_block(block)

    def _next_number(self) -> int:
        with self._counting:
            self._commands += 1
            return self._commands

    def _push_output(self, number: int, stream: str, data: bytes) -> None:
        if data:
            self._transcript.push(output_event(number, stream, data))

    def _start_event(
        self,
        number: int,
        command: str,
        comment: Optional[str],
        timeout: float,
        variables: Mapping[str, str],
        folder: Path,
        recording: Optional[str],
    ) -> dict[str, Any]:
        event: dict[str, Any] = {"kind": "command", "id": number, "time": now_ms(), "command": command}
        if comment:
            event["comment"] = comment
        event["cwd"] = str(folder)
        event["env"] = delta(self._environment.variables, variables)
        if recording:
            event["recording"] = recording
        event["timeout_ms"] = int(timeout * 1000)
        return event

    def _write_record(self) -> None:
        file = self.artifacts / places.TEST_FILE
        fresh = file.with_name(f".{places.TEST_FILE}.{os.getpid()}")
        text = json.dumps(self._record, ensure_ascii=False, separators=(",", ":"))
        fresh.write_text(text + "\n", encoding="utf-8")
        fresh.rename(file)


def cited_block(text: str) -> dict[str, str]:
    """The block in a text as a test writes it: common indentation, empty lines around it and trailing space are dropped."""
    lines = [line.rstrip() for line in lines_of(text)]
    indents = [len(line) - len(line.lstrip(" \t")) for line in lines if line]
    common = min(indents, default=0)
    block = {"text": "\n".join(line[common:] for line in lines).strip("\n")}
    title = next((line[1:].strip() for line in lines_of(block["text"]) if line.startswith("#")), "")
    if title:
        block["title"] = title
    return block


def tutorial_sections(docstring: str) -> list[str]:
    """The sections ``Tutorial block:`` of a cleaned docstring, each up to the next label such as ``Scope:``."""
    lines = [line.rstrip() for line in lines_of(docstring)]
    headers = [at for at, line in enumerate(lines) if line in ("Tutorial block:", "Tutorial blocks:")]
    label = re.compile(r"[A-Z][A-Za-z ]*:")
    found = []
    for header, end in zip(headers, headers[1:] + [len(lines)]):
        section = lines[header + 1 : end]
        stop = next((at for at, line in enumerate(section) if label.match(line)), len(section))
        text = "\n".join(section[:stop]).strip("\n")
        if text:
            found.append(text)
    return found


def _first_record(place: TestPlace, attempt: int, started: datetime) -> dict[str, Any]:
    record: dict[str, Any] = {"schema": 1, "id": place.id, "name": place.name, "file": place.file}
    if place.line is not None:
        record["line"] = place.line
    record.update(status="running", started_at=_time(started), blocks=[], recordings=[])
    record["try"] = attempt
    return record


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"
