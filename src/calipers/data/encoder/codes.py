"""Cells of a column as numbers, by how the column was encoded in training."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.data.encoder.kinds import number_of, text_of
from calipers.data.encoder.texts import BOOLEANS, CLOCKS, days_in_any_form, days_of
from calipers.data.tables.numbers import DASHES, PER_CENT, number_and_unit

ISO = "%Y-%m-%d"
"""Format of dates where a column of training had dates that were no texts."""

_UNKNOWN = -1.0  # code of a category that is missing or was not seen


def as_texts(column: npt.NDArray[Any]) -> list[str]:
    """Return every cell of a column of `plain` as a text; nothing for a missing one."""
    cells: list[Any] = column.tolist()
    return ["" if cell is None or cell != cell else text_of(cell) for cell in cells]


def codes_of(entry: Mapping[str, Any], column: npt.NDArray[Any], decimal: str) -> FloatArray:
    """Return a column as numbers: NaN is missing, a category is its position."""
    if entry["type"] == "category":
        known = {str(text): float(i) for i, text in enumerate(entry["categories"])}
        known[""] = known.get(str(entry["fill"]), _UNKNOWN)
        cells = as_texts(column)
        return np.array([known.get(cell, _UNKNOWN) for cell in cells], dtype=np.float64)
    if column.dtype == np.float64:
        numbers = column
        if entry.get("unit") == PER_CENT and not np.isnan(numbers).all():
            row = int((~np.isnan(numbers)).argmax())
            raise _wrong_cell(entry, text_of(float(numbers[row])), row)
    else:
        missing = {*entry.get("missing", ())} | DASHES
        distinct = {
            cell: np.nan if text_of(cell) in missing else _code(cell, entry, decimal)
            for cell in {*column.tolist()} - {None}
        }
        numbers = np.array([distinct.get(cell, np.nan) for cell in column], dtype=np.float64)
        wrong = [i for i, cell in enumerate(column) if cell is not None and distinct[cell] is None]
        if wrong:
            raise _wrong_cell(entry, str(column[wrong[0]]), wrong[0])
    if np.isinf(numbers).any():
        row = int(np.isinf(numbers).argmax()) + 1
        raise ValueError(
            f"Input X contains infinity: the column {entry['name']!r} has {numbers[row - 1]} "
            f"in row {row}, where a finite number is needed."
        )
    return numbers


def _wrong_cell(entry: Mapping[str, Any], cell: str, row: int) -> ValueError:
    """Return the error for a cell that is not of the column's type."""
    needed = entry["type"]
    if "unit" in entry:
        needed += f" in {entry['unit']!r}"
    elif needed == "number" and number_and_unit(cell)[1]:
        needed += " without a unit"
    if needed == "date":
        style = entry.get("format") or ISO
        needed = "time of day" if style in CLOCKS else "date"
        needed += f" such as {datetime(2024, 12, 31).strftime(style)}"
    return ValueError(
        f"The column {entry['name']!r} has {cell[:40]!r} in row {row + 1}, where a {needed} is "
        "needed: correct it, or leave the cell empty."
    )


def _code(cell: Any, entry: Mapping[str, Any], decimal: str) -> float | None:
    """Return the number that a cell stands for, or None if it is not of the column's type."""
    if isinstance(cell, bool):
        return float(cell)
    if entry["type"] == "date":
        style = entry.get("format") or ISO
        if isinstance(cell, datetime):
            return None if style in CLOCKS else days_of(cell)
        return days_in_any_form(str(cell), style)
    if entry["type"] == "boolean":
        return BOOLEANS.get(str(cell).lower())
    return number_of(cell, decimal, entry.get("unit", ""))
