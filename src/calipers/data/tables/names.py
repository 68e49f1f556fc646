"""Columns by name or position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from calipers.data.files import FileError

MOST_TOLD = 20
"""Columns that a remark names."""


def listed(columns: Sequence[str]) -> str:
    """Return names of columns for a remark, not all of very many."""
    n_more = len(columns) - MOST_TOLD
    more = f", and {n_more:,} more" if n_more > 0 else ""
    return ", ".join(columns[:MOST_TOLD]) + more


def names_of(source: object, head: Sequence[str], *, named: bool) -> list[str]:
    """Return the names of columns: those of the first row, or "column 1", "column 2" ...

    Raises
    ------
    FileError
        Two columns have the same name.
    """
    names = [(cell.strip() if named else "") or f"column {i + 1}" for i, cell in enumerate(head)]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise FileError(f"{source} has {times} columns named {name!r}: give each its own name.")
    return names


def position_of(column: str, names: Sequence[str], *, by_name: bool = False) -> int | None:
    """Return the index of the column of that name or, unless ``by_name``, position; or None.

    Capitals make no difference where only one name fits. Where names are whole numbers a whole
    number is a name; only -1, -2 ... count from the end.

    Examples
    --------
    >>> [position_of(column, ["a", "b", "c"]) for column in ("b", "B", "1", "-1", "0", "d")]
    [1, 1, 0, 2, None, None]
    >>> [position_of(column, ["0", "1", "2"]) for column in ("1", "3", "-1")]
    [1, None, 2]
    """
    if column and column in names:
        return names.index(column)
    same = [i for i, name in enumerate(names) if name.casefold() == column.strip().casefold()]
    if len(same) == 1 and column.strip():
        return same[0]
    if by_name or not re.fullmatch("-?[1-9][0-9]{0,8}", column):
        return None
    position = int(column)
    if abs(position) > len(names) or (position > 0 and any(map(str.isdecimal, names))):
        return None
    return position - 1 if position > 0 else len(names) + position
