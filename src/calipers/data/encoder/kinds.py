"""What a column holds: numbers, booleans, dates, categories, or nothing to learn from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data.encoder.texts import BOOLEANS, date_formats
from calipers.data.tables.numbers import (
    DASHES,
    as_number,
    bare_number,
    is_code,
    number_and_unit,
    reading,
)

FEWEST_NUMBERED = 10
"""Rows from which on consecutive whole numbers are taken for row numbers."""

_ID_NAME = re.compile(
    r"(?:^|[\W_])(?i:id|uuid|guid|index|key|nr|no|number)\.?$|(?i:nummer)$|[a-z](?:Id|ID|Nr|No)$"
    r"|^(?i:unnamed: 0)$"
)


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
        Texts among numbers, dates or booleans, which count as missing values.
    unit : str
        What each number has, such as ``kg``, ``%`` or a currency.
    reading : str
        How a text is read that may be no number.
    may_be_id : bool
        Whether each row has a different whole number.
    """

    type: str = ""
    format: str | None = None
    reason: str = ""
    is_ambiguous: bool = False
    missing: tuple[str, ...] = ()
    unit: str = ""
    reading: str = ""
    may_be_id: bool = False

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield what was decided about a column that is used, and how it shows there."""
        if self.missing:
            told = ", ".join(map(repr, self.missing[:3]))
            yield f"Texts among {self.type}s count as missing", told
        if self.unit:
            yield "Read as numbers with a unit", self.unit
        if self.reading:
            yield "Texts read as numbers", self.reading
        if self.may_be_id:
            why = "a different whole number in each row: use --ignore if it is an ID"
            yield "Used as numbers", why
        if self.is_ambiguous:
            yield "Read as month/day/year; if the day comes first, write year-month-day", ""


def kind_of(name: str, column: npt.NDArray[Any], *, decimal: str, drop_ids: bool) -> Kind:
    """Say what a column of `plain` holds, and why it is left out if it is.

    Where nine of ten rows and of ten different texts are numbers, all with the same unit or all
    without one, the others are missing values; a dash is one beside two numbers or more. Other
    texts are categories unless more than half of them are different.

    >>> from calipers.data.tables.columns import plain
    >>> kind_of("n", plain([float(i) for i in range(20)]), decimal=".", drop_ids=True).reason
    'row numbers'
    >>> kind_of("size", plain(["S", "L", "S", "S"]), decimal=".", drop_ids=True).type
    'category'
    >>> kind_of("size", plain([*map(str, range(9)), "k. A."]), decimal=".", drop_ids=False).missing
    ('k. A.',)
    >>> kind_of("size", plain(["5 kg", "12 kg", "5 kg"]), decimal=".", drop_ids=False).unit
    'kg'
    """
    if column.dtype == np.float64:
        return _number_kind(name, column, drop_ids=drop_ids)
    rows = Counter(cell for cell in column.tolist() if cell is not None)
    if not rows:
        return Kind(reason="empty")
    types = {type(cell) for cell in rows}
    if types == {bool}:
        return Kind("boolean")
    if all(issubclass(each, datetime) for each in types):
        return Kind("date")
    texts = [text_of(cell) for cell in rows]
    values = [text for text in texts if text not in DASHES]
    dashes = tuple(text for text in texts if text in DASHES)
    if {BOOLEANS.get(text.lower()) for text in values} == {0.0, 1.0}:
        return Kind("boolean", missing=dashes)
    styles = date_formats(values)
    if styles:
        return Kind("date", styles[0], is_ambiguous=len(styles) > 1, missing=dashes)
    kind = _kind_of_texts(name, column, rows, decimal=decimal, drop_ids=drop_ids)
    if kind is not None:
        return kind
    if len(texts) == 1 and rows.total() == len(column):
        return Kind(reason="the same text in each row")
    if len(texts) > max(2, rows.total() / 2):
        return Kind(reason=_why_text(texts, rows.total(), decimal))
    return Kind("category")


def _kind_of_texts(
    name: str, column: npt.NDArray[Any], rows: Counter[Any], *, decimal: str, drop_ids: bool
) -> Kind | None:
    """Return the kind of a column of which ``rows`` counts the cells, if these are numbers."""
    texts = {cell: text_of(cell) for cell in rows}
    given = {cell: n for cell, n in rows.items() if texts[cell] not in DASHES}
    units = Counter(number_and_unit(texts[cell])[1] for cell in given)
    if any(map(is_code, texts.values())):
        return None
    for unit in ("", *(unit for unit, _ in units.most_common(1))):
        numbers = {cell: number_of(cell, decimal, unit) for cell in rows}
        odd = [n for cell, n in given.items() if numbers[cell] is None]
        if len(given) < len(rows) and len({*numbers.values()} - {None}) == 1:
            return None  # a dash beside one number is the other category
        if 10 * len(odd) <= len(given) and 10 * sum(odd) <= sum(given.values()):
            codes = (np.nan if cell is None else numbers[cell] for cell in column.tolist())
            kind = _number_kind(name, np.array([*codes], dtype=np.float64), drop_ids=drop_ids)
            missing = tuple(texts[cell] for cell, number in numbers.items() if number is None)
            readings = (reading(texts[c], n) for c, n in numbers.items() if n is not None)
            told = next(filter(None, readings), "")
            return replace(kind, missing=missing, unit=unit, reading=told)
    return None


def number_of(cell: Any, decimal: str, unit: str = "") -> float | None:
    """Return a cell of `plain` as a number, or None; a text must have that unit."""
    if not unit:
        return cell if isinstance(cell, float) else bare_number(str(cell), decimal)
    number, found = number_and_unit(str(cell))
    return as_number(number, decimal) if found == unit else None


def text_of(cell: Any) -> str:
    """Return a cell of `plain` as a text: whole numbers have no point."""
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def _why_text(texts: list[str], n_rows: int, decimal: str) -> str:
    """Say why a column of different texts is left out; most of them may be meant as numbers.

    >>> _why_text(["1,5", "2,5", "3,5", "k.A."], 9, ",")
    "'k.A.' stands among numbers: write it as a number, or leave it empty"
    >>> _why_text(["1 m", "2 m", "3 ft", "4 ft"], 9, ".")
    "numbers with different units, such as 'm' and 'ft'"
    >>> _why_text(["1.5", "2.75"], 9, ",")
    "numbers such as '1.5', where the decimal sign is ','"
    """
    if texts[0].startswith("[") and "..." in texts[0]:
        return "vectors that were shortened to '...': save them as NPY, Parquet or JSON lines"
    if texts[0].startswith("[") and texts[0].endswith("]"):
        return f"lists such as {texts[0][:40]!r}: give vectors as an array, without other columns"
    if any(map(is_code, texts)):
        return f"codes such as {next(filter(is_code, texts))[:40]!r}"
    split = [number_and_unit(text) for text in texts]
    is_number = [as_number(number, decimal) is not None for number, _ in split]
    units = {unit for (_, unit), known in zip(split, is_number, strict=True) if known}
    if 2 * sum(is_number) > len(texts) >= 2 * len(units):
        if len(units) > 1:
            some = [repr(unit) if unit else "none" for unit in sorted(units, reverse=True)]
            return f"numbers with different units, such as {' and '.join(some[:2])}"
        odd = texts[is_number.index(False)]
        return f"{odd[:40]!r} stands among numbers: write it as a number, or leave it empty"
    other = {".": ",", ",": "."}[decimal]
    in_other = [as_number(number, other) is not None for number, _ in split]
    if 2 * sum(in_other) > len(texts) > 2 * sum(is_number):
        return f"numbers such as {texts[0][:40]!r}, where the decimal sign is {decimal!r}"
    return f"text with {len(texts)} different values in {n_rows} rows"


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
    return Kind(reason="row numbers") if is_consecutive else Kind("number", may_be_id=True)
