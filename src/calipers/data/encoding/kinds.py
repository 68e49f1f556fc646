"""What a column holds: numbers, booleans, dates, categories, or nothing to learn from."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import missing_labels
from calipers.data.encoding.texts import BOOLEANS, date_formats
from calipers.data.tables.numbers import MISSING, as_number

FEWEST_NUMBERED = 10
"""Rows from which on consecutive whole numbers are taken for row numbers."""

_ID_NAME = re.compile(r"(?:^|[\W_])(?i:id|uuid|guid|index)$|[a-z](?:Id|ID)$|^(?i:unnamed: 0)$")
_UNIT = re.compile(r"\s?[^\d\s]{1,3}$")


@dataclass(frozen=True)
class Kind:
    """What a column holds.

    Attributes
    ----------
    type : {"number", "boolean", "date", "category", ""}
        Empty for a column that is left out.
    format : str or None
        Format of the dates, where they are texts.
    reason : str
        Why the column is left out.
    is_ambiguous : bool
        Whether the dates have another format, too: day and month may be the other way round.
    missing : tuple of str
        Texts among numbers, which count as missing values.
    """

    type: str = ""
    format: str | None = None
    reason: str = ""
    is_ambiguous: bool = False
    missing: tuple[str, ...] = ()


def plain(values: Any) -> npt.NDArray[Any]:
    """Return a column as float64 (NaN is missing), or as objects (None is missing).

    Objects are texts, booleans, datetimes, and numbers among these.

    >>> plain(["a", " ", None, "NA"])
    array(['a', None, None, None], dtype=object)
    >>> plain([1, None, 2.5])
    array([1. , nan, 2.5])
    """
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
    objects = array.astype(object)
    missing = missing_labels(objects)
    cells = [None if gone else _cell(v) for v, gone in zip(objects.tolist(), missing, strict=True)]
    given = [cell for cell in cells if cell is not None]
    if given and all(isinstance(cell, float) for cell in given):
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def _cell(value: Any) -> float | str | bool | datetime | None:
    if isinstance(value, str):
        stripped = value.strip()
        return None if stripped.lower() in MISSING else stripped
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Real | Decimal):
        return float(value)
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time()) if isinstance(value, date) else str(value)


def kind_of(name: str, column: npt.NDArray[Any], *, decimal: str, drop_ids: bool) -> Kind:
    """Say what a column of `plain` holds, and why it is left out if it is.

    Texts are categories unless more than half of them are different. Where nine of ten different
    texts are numbers, the others are missing values.

    >>> kind_of("n", plain([float(i) for i in range(20)]), decimal=".", drop_ids=True).reason
    'row numbers'
    >>> kind_of("size", plain(["S", "L", "S", "S"]), decimal=".", drop_ids=True)
    Kind(type='category', format=None, reason='', is_ambiguous=False, missing=())
    >>> kind_of("size", plain([*map(str, range(9)), "k. A."]), decimal=".", drop_ids=False).missing
    ('k. A.',)
    """
    if column.dtype == np.float64:
        return _number_kind(name, column, drop_ids=drop_ids)
    cells = [cell for cell in column.tolist() if cell is not None]
    if not cells:
        return Kind(reason="empty")
    distinct = list(dict.fromkeys(cells))
    types = {type(cell) for cell in distinct}
    if types == {bool}:
        return Kind("boolean")
    if all(issubclass(each, datetime) for each in types):
        return Kind("date")
    texts = [text_of(cell) for cell in distinct]
    numbers = {cell: number_of(cell, decimal) for cell in distinct}
    others = tuple(text_of(cell) for cell, number in numbers.items() if number is None)
    if 10 * len(others) <= len(distinct):
        codes = (np.nan if cell is None else numbers[cell] for cell in column.tolist())
        kind = _number_kind(name, np.array([*codes], dtype=np.float64), drop_ids=drop_ids)
        return replace(kind, missing=others)
    if len(texts) > 1 and {text.lower() for text in texts} <= BOOLEANS.keys():
        return Kind("boolean")
    styles = date_formats(texts)
    if styles:
        return Kind("date", styles[0], is_ambiguous=len(styles) > 1)
    if len(texts) == 1 and len(cells) == len(column):
        return Kind(reason="the same text in each row")
    if len(texts) > max(2, len(cells) / 2):
        return Kind(reason=_why_text([str(cell) for cell in cells], decimal))
    return Kind("category")


def number_of(cell: Any, decimal: str) -> float | None:
    """Return a cell of `plain` as a number, or None."""
    return cell if isinstance(cell, float) else as_number(str(cell), decimal)


def text_of(cell: Any) -> str:
    """Return a cell of `plain` as a text: whole numbers have no point."""
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def _why_text(cells: list[str], decimal: str) -> str:
    """Say why a column of texts is left out; most of its cells may be meant as numbers.

    >>> _why_text(["1,5", "2,5", "3,5", "k.A."], ",")
    "3 of 4 cells are numbers, 'k.A.' is not: write it as a number, or leave it empty"
    """
    others = [cell for cell in cells if as_number(cell, decimal) is None]
    bare = [_UNIT.sub("", cell) for cell in others]
    with_unit = [cell for cell in bare if any(as_number(cell, sign) is not None for sign in ".,")]
    n_numbers = len(cells) - len(others)
    if n_numbers + len(with_unit) > len(cells) / 2:
        return (
            f"{n_numbers} of {len(cells)} cells are numbers, {others[0][:40]!r} is not: write it "
            "as a number, or leave it empty"
        )
    return f"text with {len(set(cells))} different values in {len(cells)} rows"


def _number_kind(name: str, numbers: npt.NDArray[Any], *, drop_ids: bool) -> Kind:
    given = numbers[~np.isnan(numbers)]
    if not len(given):
        return Kind(reason="empty")
    if not drop_ids or len(given) < max(len(numbers), FEWEST_NUMBERED):
        return Kind("number")
    distinct = np.unique(given)
    whole = np.isfinite(given).all() and (given == np.rint(given)).all()
    if not whole or len(distinct) < len(given):
        return Kind("number")
    if _ID_NAME.search(name):
        return Kind(reason="an ID by its name, with a different number in each row")
    is_consecutive = distinct[-1] - distinct[0] == len(distinct) - 1
    return Kind(reason="row numbers") if is_consecutive else Kind("number")
