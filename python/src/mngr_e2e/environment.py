"""A world of its own for one test: home, git identity, tmux servers, host dir, temporary files, a project to work in.

Of this machine it sees the programs on ``PATH`` and nothing else; what is started in it ends with it. The cleaning is
done by a process that waits for our end, because a test may be killed.
"""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from mngr_e2e import shared_files

# Not `TMPDIR`: the path of a tmux socket has to fit into 108 bytes.
_PARENT = Path("/tmp")
_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"
_CLEANING_SECONDS = 60
_MAKE_REPOSITORY = (
    "git init --quiet && echo '# A project' >README.md && git add . && git commit --quiet -m 'First commit'"
)
# Makes mngr record an agent's terminal in the place of attaching to it. A command in a terminal is recorded anyway, and
# attaches.
CONNECT_SETTING = "MNGR__CONNECT_COMMAND"
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
_MASK = "***"


class IsolationError(RuntimeError):
    """The environment cannot be made or removed."""


def looks_secret(name: str) -> bool:
    """Whether the value of a variable of this name is kept out of files."""
    return any(word in name.upper() for word in _SECRET_WORDS)


def delta(start: Mapping[str, str], now: Mapping[str, str]) -> dict[str, object]:
    """What has changed since the session started, with secrets masked."""
    changed = {name: value for name, value in sorted(now.items()) if start.get(name) != value}
    return {
        "set": {name: _MASK if looks_secret(name) else value for name, value in changed.items()},
        "unset": sorted(name for name in start if name not in now),
    }


class Environment:
    """The environment of one test."""

    def __init__(self, artifacts: Path, first_on_path: Optional[str]) -> None:
        self.root = _PARENT / f"e2e-{secrets.token_hex(4)}"
        self.root.mkdir(mode=0o700)
        self._artifacts = artifacts
        self.variables = self._variables(first_on_path)
        self._guard = subprocess.Popen(
            ["sh", "-c", shared_files.text("clean_up.sh"), "clean_up", str(self.root), str(artifacts)],
            cwd="/",
            env={"PATH": self.variables["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def project(self) -> Path:
        """The folder commands run in."""
        return self.root / "project"

    def fill(self, *, with_repository: bool) -> None:
        """Makes its folders and files."""
        for folder in ("home", "host", "project", "t", "tmp"):
            (self.root / folder).mkdir(mode=0o700)
        (self.root / "home/.gitconfig").write_text(shared_files.text("gitconfig"))
        self._write_variables(self.variables)
        if with_repository:
            made = subprocess.run(
                ["sh", "-c", _MAKE_REPOSITORY], cwd=self.project, env=self.variables, capture_output=True, text=True
            )
            if made.returncode:
                raise IsolationError(f"cannot make the repository `{self.project}`: {made.stderr.strip()}")

    def keep(self, variables: Mapping[str, str]) -> None:
        """Leaves it for a person to look at, with the scripts to enter and to remove it among the artifacts."""
        self._write_variables(variables)
        root, artifacts = shlex.quote(str(self.root)), shlex.quote(str(self._artifacts))
        reenter = f'#!/bin/sh\nset -- {root} "$@"\n{shared_files.text("reenter.sh")}'
        destroy = f"#!/bin/sh\nset -- {root} {artifacts}\nexec </dev/null\n{shared_files.text('clean_up.sh')}"
        for name, text in (("reenter", reenter), ("destroy-env", destroy)):
            script = self._artifacts / name
            script.write_text(text)
            script.chmod(0o700)

    def end(self, *, is_kept: bool) -> None:
        """Lets the cleaner do its work, or go without it."""
        try:
            self._guard.communicate(b"keep\n" if is_kept else b"", timeout=_CLEANING_SECONDS)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()
        if self._guard.returncode:
            raise IsolationError(f"the environment `{self.root}` could not be cleaned up")

    def _variables(self, first_on_path: Optional[str]) -> dict[str, str]:
        inherited = os.environ.get("PATH", _USUAL_PATH)
        return {
            "PATH": f"{first_on_path}:{inherited}" if first_on_path else inherited,
            "HOME": f"{self.root}/home",
            "TMPDIR": f"{self.root}/tmp",
            "TMUX_TMPDIR": f"{self.root}/t",
            "MNGR_HOST_DIR": f"{self.root}/host",
            "MNGR_E2E_OUTPUT_DIR": str(self._artifacts),
            "GIT_CONFIG_GLOBAL": f"{self.root}/home/.gitconfig",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "SHELL": "/bin/sh",
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            CONNECT_SETTING: "mngr record --connect",
        }

    def _write_variables(self, variables: Mapping[str, str]) -> None:
        lines = [f"export {n}={shlex.quote(v)}\n" for n, v in sorted(variables.items()) if not looks_secret(n)]
        file = self.root / "env.sh"
        file.write_text("".join(lines))
        file.chmod(0o600)
