"""Whether the first row of a table of text names the columns."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.data.tables.numbers import MISSING, as_number

ROWS_COMPARED = 100
"""Rows below the first one that it is compared with."""


def names_columns(head: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row looks like names of columns.

    It does if it has no number, if a text stands over numbers only, if its numbers count 0, 1, 2,
    ... or 1, 2, 3, ..., or if they are whole where all numbers below have a decimal point.

    Examples
    --------
    >>> names_columns(["0", "1", "2"], [["5.1", "3.5", "0"]])
    True
    >>> names_columns(["5.1", "3.5", "setosa"], [["4.9", "3.0", "setosa"]])
    False
    """
    columns = list(zip(*(row for row in below if len(row) == len(head)), strict=True))
    columns = columns or [()] * len(head)
    numbers = [i for i, cell in enumerate(head) if as_number(cell) is not None]
    if not numbers:
        return True
    texts = [i for i, cell in enumerate(head) if cell.strip().lower() not in MISSING]
    for i in set(texts) - set(numbers):
        if columns[i] and all(as_number(cell) is not None for cell in columns[i]):
            return True
    cells = [head[i].strip() for i in numbers]
    counted = range(len(cells))
    if len(cells) >= 3 and cells in ([str(i) for i in counted], [str(i + 1) for i in counted]):
        return True
    is_whole = all(map(str.isdecimal, cells)) and len(set(cells)) == len(cells)
    return is_whole and all(columns[i] and all("." in cell for cell in columns[i]) for i in numbers)


def decision(source: str, *, named: bool) -> str:
    """Return what was decided about a first row with numbers in it, as a remark."""
    as_what = "names of the columns" if named else "data"
    other = "no" if named else "yes"
    return (
        f"The first row of {source} is read as {as_what}; if that is wrong, say --header {other}."
    )
