"""Saying what should hold, in the words of the Rust crate."""

from __future__ import annotations

import re
from typing import Union, overload

from mngr_e2e.result import Printed, RunResult, shown


@overload
def expect(subject: RunResult) -> "ExpectResult": ...
@overload
def expect(subject: str) -> "ExpectText": ...
def expect(subject: Union[RunResult, str]) -> Union["ExpectResult", "ExpectText"]:
    """Begins an expectation about a result or a text."""
    if isinstance(subject, RunResult):
        return ExpectResult(subject)
    if isinstance(subject, str):
        return ExpectText(subject)
    raise TypeError(f"expect() takes a result or a text, not {type(subject).__name__}")


class ExpectResult:
    """Expectations about how a command ended."""

    def __init__(self, result: RunResult) -> None:
        self._result = result

    def to_succeed(self) -> "ExpectResult":
        """It returned 0."""
        __tracebackhide__ = True
        return self._check(self._result.exit_code == 0, "succeed")

    def to_fail(self) -> "ExpectResult":
        """It returned something else than 0."""
        __tracebackhide__ = True
        return self._check(self._result.exit_code != 0, "fail")

    def to_have_exit_code(self, code: int) -> "ExpectResult":
        """It returned this code."""
        __tracebackhide__ = True
        return self._check(self._result.exit_code == code, f"end with {code}")

    def _check(self, holds: bool, what: str) -> "ExpectResult":
        __tracebackhide__ = True
        if not holds:
            code, report = self._result.exit_code, self._result.report
            raise AssertionError(f"expected the command to {what}, but it ended with {code}\n{report}")
        return self


class ExpectText:
    """Expectations about a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def to_contain(self, part: str) -> "ExpectText":
        """This is somewhere in it."""
        __tracebackhide__ = True
        return self._check(part in self._text, f"to contain {part!r}")

    def not_to_contain(self, part: str) -> "ExpectText":
        """This is nowhere in it."""
        __tracebackhide__ = True
        return self._check(part not in self._text, f"not to contain {part!r}")

    def to_match(self, pattern: str) -> "ExpectText":
        """Something in it matches this regular expression."""
        __tracebackhide__ = True
        return self._check(re.search(pattern, self._text) is not None, f"to match /{pattern}/")

    def not_to_match(self, pattern: str) -> "ExpectText":
        """Nothing in it matches this regular expression."""
        __tracebackhide__ = True
        return self._check(re.search(pattern, self._text) is None, f"not to match /{pattern}/")

    def to_equal(self, other: str) -> "ExpectText":
        """It is exactly this."""
        __tracebackhide__ = True
        return self._check(self._text == other, f"to equal {other!r}")

    def not_to_equal(self, other: str) -> "ExpectText":
        """It is not exactly this."""
        __tracebackhide__ = True
        return self._check(self._text != other, f"not to equal {other!r}")

    def to_be_empty(self) -> "ExpectText":
        """There is nothing in it."""
        __tracebackhide__ = True
        return self._check(not self._text, "to be empty")

    def not_to_be_empty(self) -> "ExpectText":
        """There is something in it."""
        __tracebackhide__ = True
        return self._check(bool(self._text), "not to be empty")

    def _check(self, holds: bool, what: str) -> "ExpectText":
        __tracebackhide__ = True
        if holds:
            return self
        if isinstance(self._text, Printed):
            raise AssertionError(f"expected {self._text.stream} {what}\n{self._text.report}")
        raise AssertionError(f"expected the text {what}\ntext:{shown(self._text)}")
