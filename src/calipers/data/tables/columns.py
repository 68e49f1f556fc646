"""A column as numbers or objects, and named columns of equal length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, missing_labels
from calipers.data.tables.numbers import MISSING

_IN_MICROSECONDS = {"M": "datetime64[us]", "m": "timedelta64[us]"}


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
    if array.dtype.kind in _IN_MICROSECONDS:
        array = array.astype(_IN_MICROSECONDS[array.dtype.kind])
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
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time()) if isinstance(value, date) else str(value)


class Columns:
    """Named columns of equal length: as much of a data frame as `TableEncoder` needs.

    Parameters
    ----------
    columns : mapping of str to ndarray
        The columns by name.
    """

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._columns = dict(columns)
        self.columns = list(self._columns)
        self.shape = (len(next(iter(self._columns.values()))), len(self.columns))

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name]

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: npt.NDArray[Any]) -> Columns:
        """Return some of the rows."""
        return Columns({name: column[rows] for name, column in self._columns.items()})

    def select(self, names: Sequence[str]) -> Columns:
        """Return some of the columns, in this order."""
        return Columns({name: self._columns[name] for name in names})

    def renamed(self, names: Sequence[str]) -> Columns:
        """Return the same columns under other names."""
        return Columns(dict(zip(names, self._columns.values(), strict=True)))

    def numbers(self) -> FloatArray:
        """Return all columns as one matrix.

        Raises
        ------
        ValueError
            A column has a text, or a value that is missing or not finite.
        """
        for name, column in self._columns.items():
            if column.dtype.kind == "O":
                text = next(str(cell) for cell in column if cell is not None)
                raise ValueError(
                    f"the column {name!r} has {text[:40]!r}, where a number is needed: correct it, "
                    "or fit the metric again from a table."
                )
            finite = np.isfinite(column)
            if not finite.all():
                row = int((~finite).argmax()) + 1
                raise ValueError(
                    f"the column {name!r} has no finite number in row {row}: fill or remove such "
                    "rows first."
                )
        return np.column_stack(list(self._columns.values())).astype(np.float64, copy=False)
