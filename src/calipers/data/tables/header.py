"""Where a table begins, and whether its first row names the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from calipers.data.tables.numbers import DASHES, MISSING, as_number
from calipers.data.tables.options import ReadOptions

ROWS_COMPARED = 100
"""Rows below the first one that it is compared with."""


class Beginning(NamedTuple):
    """How a table begins.

    Attributes
    ----------
    n_titles : int
        Rows above the table.
    n_head : int
        Rows above its data: 1 of names, 2 of names and units, 0 without names.
    remark : str
        What was decided and may be wrong; empty for nothing.
    left_out : str
        Which row is no data and may be, which is told even if remarks are not.
    """

    n_titles: int
    n_head: int
    remark: str
    left_out: str = ""

    @property
    def named(self) -> bool:
        """Whether a row names the columns."""
        return self.n_head > 0


def beginning(source: object, rows: Sequence[Sequence[str]], options: ReadOptions) -> Beginning:
    """Find out how a table begins by its first rows.

    It begins with the row that has the metric's names or the label's, else below the titles.
    """
    known = next((i for i in range(len(rows)) if _has_known_names(rows, i, options)), None)
    n_titles = _n_titles(rows) if known is None else known
    if options.header is False:
        n_titles = 0
    head, below = rows[n_titles], rows[n_titles + 1 :]
    remarks = []
    if n_titles:
        what = "row is" if n_titles == 1 else f"{n_titles} rows are"
        remarks.append(f"The first {what} read as a title above the table in {source}.")
    if options.header is not None:
        named = options.header
    else:
        named = known is not None or names_columns(head, below)
        if any(map(_is_number, head)):
            as_what, other = ("names of the columns", "no") if named else ("data", "yes")
            remarks.append(
                f"The first row of {source} is read as {as_what}; if that is wrong, say --header "
                f"{other}."
            )
    unit = _unit(below, options) if named and options.header is None else ""
    left_out = unit and (
        f"The row below the names in {source} is read as units, as in {unit!r}; if that is wrong, "
        "say --header yes."
    )
    return Beginning(n_titles, named + bool(unit), " ".join(remarks), left_out)


def _is_number(cell: str) -> bool:
    """Whether a cell is a number, with a decimal point or a decimal comma."""
    return as_number(cell) is not None or as_number(cell, ",") is not None


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING | DASHES


def _unit(rows: Sequence[Sequence[str]], options: ReadOptions) -> str:
    """Return the first text of a row of units, or nothing.

    None are texts that may be values: known as missing, the same in all columns, or bounds.

    >>> _unit([["kg", "cm"], ["70.5", "180"]], ReadOptions())
    'kg'
    >>> [_unit([cells, ["70.5", "180"]], ReadOptions()) for cells in (["n.d."] * 2, ["<9", ""])]
    ['', '']
    """
    texts = _above_numbers(rows, elsewhere=False)
    is_same = len(texts) > 1 and len({*texts}) == 1
    is_value = any(text in options.missing or text[0] in "<>" for text in texts)
    return texts[0] if texts and not is_same and not is_value else ""


def _above_numbers(rows: Sequence[Sequence[str]], *, elsewhere: bool) -> list[str]:
    """Return the texts of the first row that stand above numbers only.

    None if the row has a number, or has texts ``elsewhere`` that may not be there.

    >>> rows = [["", "kg", "cm"], ["a", "70.5", "180"], ["b", "", "175"]]
    >>> _above_numbers(rows, elsewhere=False)
    ['kg', 'cm']
    >>> rows = [["a", "n/k", "n/k"], ["b", "70.5", "180"]]
    >>> _above_numbers(rows, elsewhere=False)
    []
    """
    above = []
    for cell, *below in zip(*(row for row in rows if len(row) == len(rows[0])), strict=True):
        given = [other for other in below if not _is_missing(other)]
        is_above = bool(given) and all(map(_is_number, given))
        if _is_number(cell) or not (is_above or elsewhere or _is_missing(cell)):
            return []
        if is_above and not _is_missing(cell):
            above.append(cell.strip())
    return above


def _has_known_names(rows: Sequence[Sequence[str]], at: int, options: ReadOptions) -> bool:
    """Whether a row has the names of the metric's columns or, without a metric, the label's."""
    if options.names is not None:
        return options.has_names_in(rows[at])
    has_label = options.has_label_in(rows[at])
    return has_label and (at == 0 or names_columns(rows[at], rows[at + 1 :]))


def _n_titles(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows are titles.

    A title is a row above the table of which only the first cell is filled, with a text; or it
    names groups of columns: a cell beyond the first is empty, and a row of more texts follows,
    which stand above numbers.

    >>> _n_titles([["Sales 2023"], ["As of May", "", ""], ["id", "size", "kind"], ["1", "2", "a"]])
    2
    >>> _n_titles([["", "Body", ""], ["name", "weight", "height"], ["Ann", "60.5", "170"]])
    1
    """
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]

    def is_title(n: int) -> bool:
        if any(map(_is_number, rows[n])):
            return False
        if filled[n] < min(2, max(filled)) and rows[n][0].strip():
            return True
        is_less = n + 1 < len(rows) and filled[n] < filled[n + 1]
        is_less &= not all(map(str.strip, rows[n][1:]))  # names of rows have no name
        return is_less and bool(_above_numbers(rows[n + 1 :], elsewhere=True))

    return next(n for n in range(len(rows)) if not is_title(n))


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
    numbers = [i for i, cell in enumerate(head) if _is_number(cell)]
    if not numbers:
        return True
    texts = [i for i, cell in enumerate(head) if not _is_missing(cell)]
    for i in set(texts) - set(numbers):
        if columns[i] and all(map(_is_number, columns[i])):
            return True
    cells = [head[i].strip() for i in numbers]
    counted = range(len(cells))
    if len(cells) >= 3 and cells in ([str(i) for i in counted], [str(i + 1) for i in counted]):
        return True
    is_whole = all(map(str.isdecimal, cells)) and len(set(cells)) == len(cells)
    has_fraction = re.compile("[.,]").search
    return is_whole and all(columns[i] and all(map(has_fraction, columns[i])) for i in numbers)
