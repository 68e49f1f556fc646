"""Numbers, booleans and dates as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-nan", "#n/a", "<na>"})
"""What stands for a missing value, in any case."""

BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
"""Words for true and false, in any case."""

DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%d-%m-%Y",
    "%d %b %Y",
    "%b %d, %Y",
)
"""Formats of dates, in the order in which they are tried."""

_DAY = 86_400.0
_GROUPS = "[{separator}'\u2019 \u00a0\u202f]"
_PATTERNS = {
    decimal: re.compile(
        r"([+-]?)((?:\d{1,3}(?:"
        + _GROUPS.format(separator=separator)
        + r"\d{3})+|\d*)(?:"
        + re.escape(decimal)
        + r"\d*)?(?:[eE][+-]?\d+)?)"
    )
    for decimal, separator in ((".", ","), (",", "."))
}
_GROUPING = re.compile(r"['\u2019 \u00a0\u202f]")


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number that a text stands for, or None.

    Thousands may be grouped, by a comma where the decimal sign is a point and by a point where it
    is a comma, by an apostrophe or a space. A number with a per cent sign is divided by 100.

    >>> number("6,891"), number("1.9 %"), number("1e-3"), number("red")
    (6891.0, 0.019, 0.001, None)
    >>> number("6.891,5", decimal=","), number("0,25", decimal=","), number("0,25")
    (6891.5, 0.25, None)
    """
    plain = text.strip().replace("\u2212", "-")
    unit = 1.0
    if plain.endswith("%"):
        plain, unit = plain[:-1].rstrip(), 100.0
    found = _PATTERNS[decimal].fullmatch(plain)
    try:
        if found is None:  # infinities, which their reader refuses by their place
            return float(plain) / unit if decimal == "." else None
        digits = _GROUPING.sub("", found[2])
        if decimal == ",":
            digits = digits.replace(".", "").replace(",", ".")
        return float(found[1] + digits.replace(",", "")) / unit
    except ValueError:
        return None


def decimal_sign(texts: Iterable[str]) -> str:
    """Return the decimal sign of a table: a comma where some text is a number only with one.

    >>> decimal_sign(["6,891", "12"]), decimal_sign(["6,891", "0,5"])
    ('.', ',')
    """
    for text in texts:
        if "," in text and number(text) is None and number(text, ",") is not None:
            return ","
    return "."


def date_format(texts: list[str]) -> str | None:
    """Return the first format of dates that all texts have, or None.

    >>> date_format(["2024-01-31", "1999-12-01"]), date_format(["3/4/2024", "25/4/2024"])
    ('%Y-%m-%d', '%d/%m/%Y')
    """
    if not texts or not any(sign.isdigit() for sign in texts[0]):
        return None
    fitting = (
        style for style in DATE_FORMATS if all(days(text, style) is not None for text in texts)
    )
    return next(fitting, None)


def days(text: str, style: str) -> float | None:
    """Return the days since 1970 of a date of that format, or None.

    >>> days("1970-01-02 12:00", "%Y-%m-%d %H:%M")
    1.5
    """
    try:
        moment = datetime.strptime(text, style)
    except ValueError:
        return None
    return days_of(moment)


def days_of(moment: datetime) -> float:
    """Return the days since 1970; a time without a zone counts as UTC."""
    known = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return known.timestamp() / _DAY
