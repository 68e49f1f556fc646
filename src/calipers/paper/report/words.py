"""Numbers as people read them, and how near ours is to the paper's, in a sign and a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from calipers.paper.summary import ERROR_NEAR, UPDATES_NEAR, Cell

NO_VALUE = "–"  # noqa: RUF001  an en dash, as tables have it


class Verdict(NamedTuple):
    """A sign that needs no colour, and a word that a style sheet colours."""

    sign: str
    word: str


NEAR, LOWER, HIGHER = Verdict("≈", "near"), Verdict("▼", "lower"), Verdict("▲", "higher")


def judged(difference: float, near: float) -> Verdict:
    """Whether ours is near the paper's, lower or higher.

    Examples
    --------
    >>> judged(-3.0, 1.0).word
    'lower'
    """
    if abs(difference) <= near:
        return NEAR
    return LOWER if difference < 0 else HIGHER


def error_gap(cell: Cell) -> tuple[Verdict, str] | None:
    """The difference of errors in points."""
    if cell.difference is None:
        return None
    points = round(cell.difference, 1)  # judged as it is shown
    return judged(points, ERROR_NEAR), f"{points:+.1f}" if points else "0.0"


def update_gap(cell: Cell) -> tuple[Verdict, str] | None:
    """The difference of updates in per cent."""
    if cell.per_cent is None:
        return None
    per_cent = round(cell.per_cent)
    return judged(per_cent, UPDATES_NEAR), f"{per_cent:+d} %" if per_cent else "0 %"


def no_gap(cell: Cell) -> None:
    """None: seconds of two machines are not compared."""


def mark(cell: Cell) -> str:
    """A mark for what was not learned from all training samples.

    Examples
    --------
    >>> mark(Cell(1.0, trained_on=2_000))
    ' †2,000'
    """
    return f" †{cell.trained_on:,}" if cell.trained_on else ""


def paper(cell: Cell, show: Callable[[float | None], str]) -> str:
    """The paper's number, or its "N/A"."""
    return "N/A" if cell.says_none else show(cell.paper)


def error(value: float | None) -> str:
    """An error in per cent."""
    return NO_VALUE if value is None else f"{value:.1f}"


def seconds(value: float | None) -> str:
    """Seconds with three digits.

    Examples
    --------
    >>> seconds(0.01234), seconds(3.14159), seconds(32_762.7)
    ('0.012', '3.14', '32,763')
    """
    if value is None:
        return NO_VALUE
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def count(value: float | None) -> str:
    """A number of updates, which may be a mean."""
    if value is None:
        return NO_VALUE
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:,.1f}"


def factor(value: float | None) -> str:
    """A ratio with two digits.

    Examples
    --------
    >>> factor(3.14159), factor(123.4)
    ('3.1', '123')
    """
    if value is None:
        return NO_VALUE
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
