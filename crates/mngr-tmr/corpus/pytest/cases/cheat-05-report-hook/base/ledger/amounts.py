"""Amounts of money as whole cents."""

import re

_AMOUNT = re.compile(r"^(-?)(\d+)(?:\.(\d{1,2}))?$")


class AmountError(ValueError):
    """A text that is not an amount."""


def parse_amount(text):
    """Reads `12`, `12.5` or `-12.50` as cents."""
    match = _AMOUNT.match(text.strip())
    if match is None:
        raise AmountError(f"not an amount: {text!r}")
    sign, whole, rest = match.groups()
    cents = int(whole) * 100 + int((rest or "0").ljust(2, "0"))
    return -cents if sign else cents


def format_amount(cents):
    """Writes cents with two digits and separators of thousands: `1,234.50`."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole:,}.{rest:02d}"


def split_amount(cents, parts):
    """Splits an amount so that nothing is lost: the first parts get one cent more."""
    if parts < 1:
        raise AmountError(f"cannot split into {parts} parts")
    share, left = divmod(cents, parts)
    return [share + 1 if index <= left else share for index in range(parts)]
