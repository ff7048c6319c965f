"""Amounts as texts and as cents.

Scope: reading and writing amounts, without any book.
"""

import pytest

from ledger.amounts import AmountError, format_amount, parse_amount, split_amount


@pytest.mark.parametrize(
    "text, cents",
    [
        ("12", 1200),
        ("12.5", 1250),
        ("-0.05", -5),
        (" 7.25 ", 725),
    ],
)
def test_parse_amount(text, cents):
    """An amount is read as cents, with or without decimals."""
    assert parse_amount(text) == cents


def test_parse_amount_refuses_other_texts():
    """What is not an amount is refused, and the message repeats it."""
    for text in ["", "abc", "1.234", "1,000", "--5"]:
        with pytest.raises(AmountError) as error:
            parse_amount(text)
        assert repr(text) in str(error.value)


# The separators matter to people who read the report.
def test_format_amount():
    """Two digits always, a separator at each thousand, the sign first.

    Scope: amounts below and above one thousand, negative ones and zero.
    """
    assert format_amount(0) == "0.00"
    assert format_amount(5) == "0.05"
    assert format_amount(-1250) == "-12.50"
    assert format_amount(123456789) == "1,234,567.89"


def test_split_amount():
    """Nothing is lost when an amount is split."""
    parts = split_amount(1000, 3)
    assert parts == [334, 333, 333]
    assert sum(parts) == 1000
    with pytest.raises(AmountError):
        split_amount(1000, 0)


def test_split_amount_into_many_parts():
    """Many parts are possible, too."""
    split_amount(1000, 7)
    split_amount(999, 12)
