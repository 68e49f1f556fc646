"""Tables whose cells have types of their own: Excel's .xlsx, and lines of JSON."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from calipers.data.encoding.kinds import plain
from calipers.data.tables.header import ROWS_COMPARED, decision, names_columns
from calipers.data.tables.numbers import as_number, labels_of_texts
from calipers.data.tables.packed import MOST_TEXT, BoundedLines, check_growth, opened
from calipers.data.tables.table import Column, Table, position_of
from calipers.io import FileError
from calipers.io.errors import reason

MOST_SHEET_ROWS = 1 << 20
"""Rows that a sheet of Excel can have."""

_NESTED = (dict, list)
_CELL_BYTES = 8  # at least, of a cell in memory


def read_xlsx(path: Path, *, label: str | None = None, header: bool | None = None) -> Table:
    """Read the first sheet of a workbook, by openpyxl; formulas count with their last values.

    Raises
    ------
    FileError
        openpyxl is not installed, or the file is no workbook with rows.
    """
    try:
        import openpyxl
    except ImportError as missing:
        raise FileError(
            "An .xlsx file needs the package openpyxl: pip install 'calipers[tables]', or save it "
            "as CSV."
        ) from missing
    try:
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            check_growth(path, sum(part.file_size for part in archive.infolist()), most=MOST_TEXT)
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            rows = _sheet_rows(path, book.worksheets[0])
    except FileError:
        raise
    except Exception as wrong:  # whatever the parsers of archives and XML raise
        raise FileError(
            f"Cannot read {str(path)!r} as .xlsx ({reason(wrong)}): save it again, or as CSV."
        ) from wrong
    if not rows:
        raise FileError(f"{path} has no rows: give a table with a header and rows.")
    width = max(map(len, rows))
    rows = [row + [None] * (width - len(row)) for row in rows]
    head, below = _shown(rows[0]), [_shown(row) for row in rows[1 : 1 + ROWS_COMPARED]]
    named = names_columns(head, below) if header is None else header
    is_clear = header is not None or all(as_number(cell) is None for cell in head)
    names = [cell.strip() or f"column {i + 1}" for i, cell in enumerate(head)]
    if not named:
        names = [f"column {i + 1}" for i in range(width)]
    cells = zip(*rows[named:], strict=True)
    remark = "" if is_clear else decision(str(path), named=named)
    return _table(path, names, list(cells), label, named=named, remark=remark)


def _sheet_rows(path: Path, sheet: Any) -> list[list[Any]]:
    """Rows that are not blank, without the blank cells at their ends."""
    rows: list[list[Any]] = []
    width = 0
    sheet.reset_dimensions()  # some writers do not say how large a sheet is
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > MOST_SHEET_ROWS:
            raise FileError(f"{path} has more rows than Excel knows: save it again, or as CSV.")
        cells = list(row)
        while cells and (cells[-1] is None or cells[-1] == ""):
            cells.pop()
        if cells:
            rows.append(cells)
            width = max(width, len(cells))
            _check_cells(path, len(rows), width)
    return rows


def _check_cells(path: Path, n_rows: int, n_columns: int) -> None:
    """Raise if few cells that are there make a table of many that are not."""
    check_growth(path, _CELL_BYTES * n_rows * n_columns, when="as a full table")


def _shown(row: Sequence[Any]) -> list[str]:
    return ["" if cell is None else str(cell) for cell in row]


def read_jsonl(path: Path, *, label: str | None = None) -> Table:
    """Read a table of one JSON object per line; a key that an object has not is a missing value.

    Raises
    ------
    FileError
        A line is no object, or there is none.
    """
    columns: dict[str, list[Any]] = {}
    n_rows = 0
    for row in json_objects(path):
        new = [name for name in row if name not in columns]
        if new:
            _check_cells(path, n_rows, len(columns) + len(new))
        for name, value in row.items():
            cells = columns.setdefault(name, [])
            cells += [None] * (n_rows - len(cells))
            cells.append(value)
        n_rows += 1
    if not columns:
        raise FileError(f"{path} has no rows: give one JSON object per line.")
    _check_cells(path, n_rows, len(columns))
    for cells in columns.values():
        cells += [None] * (n_rows - len(cells))
    return _table(path, list(columns), list(columns.values()), label)


def json_objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object of each line that is not blank; a value such as NaN is None.

    Raises
    ------
    FileError
        A line is no object, or names a value twice.
    """
    with opened(path) as stream:
        lines = BoundedLines(path, stream)
        for number, line in enumerate(lines, 1):
            lines.begin_row()
            if line.strip():
                yield _object(path, line, number)


def _object(path: Path, line: bytes, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_constant=lambda _: None, object_pairs_hook=_named_once)
    except (ValueError, RecursionError) as wrong:
        raise FileError(
            f"{path} is not JSON in line {number} ({reason(wrong)}): give one JSON object per line."
        ) from wrong
    if not isinstance(found, dict):
        raise FileError(f"{path} has no object in line {number}: give one JSON object per line.")
    return found


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {name.strip(): value for name, value in pairs}
    if len(found) < len(pairs):
        raise ValueError("an object names a value twice")
    return found


def _table(
    path: Path,
    names: list[str],
    cells: list[Sequence[Any]],
    label: str | None,
    *,
    named: bool = True,
    remark: str = "",
) -> Table:
    twice = next((name for i, name in enumerate(names) if name in islice(names, i)), None)
    if twice is not None:
        raise FileError(f"{path} has two columns named {twice!r}: give each its own name.")
    if not len(cells) or not len(cells[0]):
        raise FileError(f"{path} has a header and no rows: give a table with rows.")
    at = None if label is None else position_of(label, names)
    columns = [
        _column(name, column, is_label=i == at)
        for i, (name, column) in enumerate(zip(names, cells, strict=True))
    ]
    return Table(str(path), columns, named=named, remark=remark)


def _column(name: str, cells: Sequence[Any], *, is_label: bool) -> Column:
    if any(isinstance(cell, _NESTED) for cell in cells):
        return Column(name, np.empty(0), "lists or objects")
    values = np.empty(len(cells), dtype=object)
    values[:] = [
        str(cell) if isinstance(cell, int) and abs(cell) > 2**53 else cell for cell in cells
    ]
    column = plain(values)
    is_text = column.dtype != np.float64
    missing = [cell is None for cell in column] if is_text else np.isnan(column).tolist()
    gap = f"no value in row {missing.index(True) + 1}" if any(missing) else ""
    labels = None
    if is_label and not gap:
        labels = labels_of_texts([str(cell).strip() for cell in cells])
    return Column(name, column, "text" if is_text else "", gap, labels)
