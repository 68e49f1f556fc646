"""Mapped rows as a file: CSV, TSV, .xlsx, NPY, NPZ or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import date, time
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from calipers.data.files import FileError, atomic_write, check_writable
from calipers.data.files.errors import escaped
from calipers.data.tables.columnar import parquet
from calipers.data.tables.numbers import as_number
from calipers.data.tables.options import MISSING_IN
from calipers.data.tables.sheets import MOST_SHEET_COLUMNS, MOST_SHEET_ROWS, openpyxl

OUTPUTS = (".csv", ".tsv", ".xlsx", ".npy", ".npz", ".parquet")
_BLOCK = 4096
_MOST_IN_A_CELL = 32_767  # characters of Excel
_BEYOND_EXCEL = 10**15  # which keeps 15 digits
_FIRST_YEAR_OF_EXCEL = 1900


def check_output(path: Path) -> None:
    """Raise `FileError`, before any work is done, if rows cannot be written there."""
    if path.suffix.lower() not in OUTPUTS:
        raise FileError(f"The output must end in {', '.join(OUTPUTS)}, got {str(path)!r}.")
    if path.suffix.lower() == ".parquet":
        parquet()
    if path.suffix.lower() == ".xlsx":
        openpyxl()
    check_writable(path)


def write(
    path: Path,
    X: npt.NDArray[Any],
    names: list[str],
    *,
    carried: Mapping[str, npt.NDArray[Any]] | None = None,
    y: npt.NDArray[Any] | None = None,
) -> None:
    """Write rows, with other columns in front; an NPY holds the rows only, an NPZ also ``y``."""
    suffix = path.suffix.lower()
    with atomic_write(path) as stream:
        if suffix == ".npy":
            np.save(stream, X, allow_pickle=False)
        elif suffix == ".npz":
            arrays: dict[str, Any] = {"X": X} if y is None else {"X": X, "y": y}
            np.savez(stream, **arrays)
        elif suffix == ".parquet":
            import pyarrow as pa

            columns = {name: _arrow(cells.tolist()) for name, cells in (carried or {}).items()}
            columns |= {name: pa.array(X[:, i]) for i, name in enumerate(names)}
            parquet().write_table(pa.table(columns), stream)
        elif suffix == ".xlsx":
            _write_sheet(stream, X, names, carried or {})
        else:
            write_text(stream, X, names, carried=carried, tabs=suffix == ".tsv")


def _write_sheet(
    stream: IO[bytes], X: npt.NDArray[Any], names: list[str], others: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Write rows as a workbook of one sheet; dates, booleans and numbers are those of Excel."""
    n_columns = len(others) + len(names)
    if len(X) >= MOST_SHEET_ROWS or n_columns > MOST_SHEET_COLUMNS:
        raise FileError(
            f"A sheet has no place for {len(X):,} rows and {n_columns:,} columns: write .csv or "
            ".parquet."
        )
    columns = [_column_of_a_sheet(name, cells.tolist()) for name, cells in others.items()]
    book = openpyxl().Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append([_harmless(escaped(name)) for name in [*others, *names]])
    for row in zip(*columns, X.tolist(), strict=True):
        sheet.append([*row[:-1], *row[-1]])
    book.save(stream)


def _column_of_a_sheet(name: str, cells: list[Any]) -> list[Any]:
    """Return cells as Excel knows them; whole numbers are texts where one has too many digits.

    Raises
    ------
    FileError
        A text is too long for a cell.
    """
    numbers = _as_numbers(cells)
    if any(isinstance(cell, int) and abs(cell) >= _BEYOND_EXCEL for cell in numbers):
        numbers = [str(cell) if type(cell) is int else cell for cell in numbers]
    column = [_in_a_sheet(cell) for cell in numbers]
    longest = max((len(cell) for cell in column if isinstance(cell, str)), default=0)
    if longest > _MOST_IN_A_CELL:
        raise FileError(
            f"A cell of .xlsx has at most {_MOST_IN_A_CELL:,} characters, and one of the column "
            f"{name!r} has {longest:,}: write .csv or .parquet."
        )
    return column


def _in_a_sheet(cell: Any) -> Any:
    """Return a cell as Excel knows it: no zones of time, and texts without control characters."""
    is_known = cell is None or isinstance(cell, bool | int | float | date | time)
    is_early = isinstance(cell, date) and cell.year < _FIRST_YEAR_OF_EXCEL
    if is_known and not is_early and getattr(cell, "tzinfo", None) is None:
        return None if cell != cell else cell
    return _harmless(escaped(cell))


def _arrow(cells: list[Any]) -> Any:
    """Return an array of one type; cells of several types are texts, NaN is null."""
    import pyarrow as pa

    try:
        return pa.array(_as_numbers(cells), from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.array([None if cell is None else str(cell) for cell in cells])


def write_text(
    stream: IO[bytes],
    X: npt.NDArray[Any],
    names: list[str],
    *,
    carried: Mapping[str, npt.NDArray[Any]] | None = None,
    tabs: bool = False,
) -> None:
    """Write rows as text, with other columns in front."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter="\t" if tabs else ",", lineterminator="\n")
    others = carried or {}
    writer.writerow(map(_harmless, [*others, *names]))
    for start in range(0, len(X), _BLOCK):
        block = slice(start, start + _BLOCK)
        cells = [map(_written, column[block].tolist()) for column in others.values()]
        rows = X[block].tolist()
        writer.writerows(
            [[*front, *row] for front, row in zip(zip(*cells, strict=True), rows, strict=True)]
            if others
            else rows
        )
    text.flush()
    text.detach()


def _written(cell: Any) -> Any:
    """Return a cell for a text file: a missing number is nothing, and no text is a formula."""
    if isinstance(cell, str):
        return _harmless(cell)
    return None if cell != cell else cell


def _harmless(text: str) -> str:
    """Put an apostrophe in front of a text that a spreadsheet would take for a formula.

    >>> [_harmless(text) for text in ("=1+1", "-", "-0.25", "-0,25", "a=b")]
    ["'=1+1", "'-", '-0.25', '-0,25', 'a=b']
    """
    if not text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return text
    is_number = any(as_number(text, decimal) is not None for decimal in ".,")
    return text if is_number else f"'{text}"


def _as_numbers(cells: list[Any]) -> list[Any]:
    """Return texts as whole or other numbers, unless one would lose a character or is no text.

    >>> _as_numbers(["1", "", "-2.5"]), _as_numbers(["1", "07"]), _as_numbers(["1.9", "NA"])
    ([1.0, None, -2.5], ['1', '07'], ['1.9', 'NA'])
    """
    if not all(isinstance(cell, str) or cell is None for cell in cells):
        return cells
    given = {cell for cell in cells if cell is not None} - MISSING_IN["carried"]
    for kind in (int, float):
        if given and all(_is_written_so(cell, kind) for cell in given):
            return [kind(cell) if cell in given else None for cell in cells]
    return cells


def _is_written_so(cell: Any, kind: type[float]) -> bool:
    """Whether a cell is the text of an int64 or float64."""
    try:
        number = kind(cell)
    except (ValueError, OverflowError):
        return False
    is_held = kind is float or -(2**63) <= number < 2**63
    return is_held and cell in (str(number), f"{number:.15g}")
