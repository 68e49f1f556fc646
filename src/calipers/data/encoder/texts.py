"""Booleans, dates and times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

_TRUE = "true yes y t ja j wahr oui vrai sí si sì verdadero vero sim verdadeiro tak prawda"
_FALSE = "false no n f nein nej nee falsch non faux falso não nao nie fałsz"
BOOLEANS = dict.fromkeys(_TRUE.split(), 1.0) | dict.fromkeys(_FALSE.split(), 0.0)
"""Words for true and false, in any case."""

_DAYS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d-%m-%Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
_HOURS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
_MONTHS = ("%Y-%m", "%m/%Y", "%b %Y", "%B %Y")
CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
"""Formats of times of day, which are no dates."""

_ISO_TIMES = [
    f"{between}{clock}{zone}"
    for zone in ("", "%z")
    for between in "T "
    for clock in ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
]

_DATES = dict.fromkeys(  # each once
    [
        *(day + time for day in _DAYS for time in _HOURS),
        *(_DAYS[0] + time for time in _ISO_TIMES),
        *_MONTHS,
    ]
)
DATE_FORMATS = (*_DATES, *CLOCKS)
"""Formats of dates, months and times, in the order in which they are tried."""

_DAY = 86_400.0


def date_formats(texts: list[str]) -> list[str]:
    """Return the formats of dates that all texts have.

    >>> date_formats(["2024-01-31", "1999-12-01"]), date_formats(["3/4/2024", "25/4/2024"])
    (['%Y-%m-%d'], ['%d/%m/%Y'])
    >>> date_formats(["3/4/2024"])
    ['%m/%d/%Y', '%d/%m/%Y']
    """
    if not texts or not any(sign.isdigit() for sign in texts[0]):
        return []
    return [style for style in DATE_FORMATS if all(days(text, style) is not None for text in texts)]


def days_in_any_form(text: str, style: str) -> float | None:
    """Return the days since 1970 of a date of that or of another format, or None.

    Another format is none in which day and month may be the other way round; a time of day is no
    date, and a date no time of day.

    >>> days_in_any_form("02.01.1970", "%Y-%m-%d"), days_in_any_form("1/2/1970", "%Y-%m-%d")
    (1.0, None)
    >>> days_in_any_form("6:00 pm", "%H:%M"), days_in_any_form("18:00", "%Y-%m-%d")
    (0.75, None)
    """
    alike = CLOCKS if style in CLOCKS else _DATES
    others = (other for other in alike if not other.startswith(("%m/%d", "%d/%m")))
    found = (days(text, each) for each in (style, *others))
    return next((number for number in found if number is not None), None)


def days(text: str, style: str) -> float | None:
    """Return the days since 1970 of a date, or since midnight of a time, of that format, or None.

    >>> days("1970-01-02 12:00", "%Y-%m-%d %H:%M"), days("12:00", "%H:%M")
    (1.5, 0.5)
    """
    try:
        moment = datetime.strptime(text, style)
    except ValueError:
        return None
    return days_of(moment.replace(year=1970) if style in CLOCKS else moment)


def days_of(moment: datetime) -> float:
    """Return the days since 1970; a time without a zone counts as UTC."""
    known = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return known.timestamp() / _DAY
