"""What a person may choose about all sessions of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Optional


class OptionsError(ValueError):
    """A choice that is none, or that contradicts another."""


class Keep(Enum):
    """After which tests something is kept, from the narrowest to the widest."""

    NO = "no"
    ON_FAILURE = "on-failure"
    YES = "yes"

    def applies(self, has_failed: bool) -> bool:
        """Whether it is kept after a test that ended so."""
        return self is Keep.YES or (self is Keep.ON_FAILURE and has_failed)

    @property
    def width(self) -> int:
        """The wider, the larger."""
        return list(Keep).index(self)

    @classmethod
    def parse(cls, name: str, text: str) -> "Keep":
        """The choice of this name; ``name`` is what the message calls it."""
        try:
            return cls(text)
        except ValueError:
            raise OptionsError(f"`{name}` is `{text}`, expected `no`, `on-failure` or `yes`") from None


@dataclass(frozen=True)
class Options:
    """The choices."""

    keep_env: Keep = Keep.NO
    artifacts: Keep = Keep.YES
    run: Optional[str] = None
    output: Optional[str] = None
    bin: Optional[str] = None

    def __post_init__(self) -> None:
        if self.keep_env.width > self.artifacts.width:
            raise OptionsError(
                "the environment is kept more often than the artifacts: "
                f"`{self.keep_env.value}` is wider than `{self.artifacts.value}`"
            )

    @classmethod
    def from_variables(cls, variables: Mapping[str, str] = os.environ) -> "Options":
        """Reads them from variables. An empty variable is none; a relative path starts where we are."""

        def choice(name: str, default: Keep) -> Keep:
            text = variables.get(name)
            return Keep.parse(name, text) if text else default

        return cls(
            keep_env=choice("MNGR_E2E_KEEP_ENV", cls.keep_env),
            artifacts=choice("MNGR_E2E_ARTIFACTS", cls.artifacts),
            run=variables.get("MNGR_E2E_RUN") or None,
            output=variables.get("MNGR_E2E_OUTPUT") or None,
            bin=_absolute(variables.get("MNGR_E2E_BIN")),
        )


def _absolute(folders: Optional[str]) -> Optional[str]:
    """The folders of a search path as a command finds them that runs elsewhere."""
    return ":".join(map(os.path.abspath, folders.split(":"))) if folders else None
