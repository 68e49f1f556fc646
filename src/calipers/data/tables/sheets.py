"""Tables whose cells have types of their own: Excel's .xlsx, and lines of JSON."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data.files import FileError
from calipers.data.files.errors import needs_package, reason
from calipers.data.tables.columns import plain
from calipers.data.tables.header import ROWS_COMPARED, Beginning, beginning
from calipers.data.tables.names import names_of
from calipers.data.tables.options import MISSING_IN, ReadOptions, Role
from calipers.data.tables.packed import MOST_TEXT, BoundedLines, check_growth, opened
from calipers.data.tables.table import Column, Table

MOST_SHEET_ROWS, MOST_SHEET_COLUMNS = 1 << 20, 1 << 14
"""Rows and columns that a sheet of Excel can have."""

_BETWEEN = re.compile(r"\s*[,\[]\s*")  # items of a list
_CELL_BYTES = 8  # at least, of a cell in memory


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {name.strip(): value for name, value in pairs}
    if len(found) < len(pairs):
        raise ValueError("an object names a value twice")
    return found


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, object_pairs_hook=_named_once)


def openpyxl() -> Any:
    """Return the package that reads and writes .xlsx files.

    Raises
    ------
    FileError
        It is not installed.
    """
    try:
        import openpyxl
    except ImportError as missing:
        raise FileError(needs_package("An .xlsx file", "openpyxl")) from missing
    return openpyxl


def read_xlsx(path: Path, options: ReadOptions) -> Table:
    """Read a sheet of a workbook, by openpyxl; formulas count with their last values.

    It is the first one with the column of labels or the metric's columns, else the first one of
    several columns.

    Raises
    ------
    FileError
        openpyxl is not installed, or the file is no workbook with rows.
    """
    excel = openpyxl()
    try:
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            check_growth(path, sum(part.file_size for part in archive.infolist()), most=MOST_TEXT)
            book = excel.load_workbook(stream, read_only=True, data_only=True)
            sheets = {sheet.title: _sheet_rows(path, sheet) for sheet in book.worksheets}
    except FileError:
        raise
    except Exception as wrong:  # whatever the parsers of archives and XML raise
        raise FileError(
            f"Cannot read {str(path)!r} as .xlsx ({reason(wrong)}): save it again, or as CSV."
        ) from wrong
    sheets = {title: _padded(rows) for title, rows in sheets.items() if rows}
    if not sheets:
        raise FileError(f"{path} has no rows: give a table with a header and rows.")
    title, begins = _chosen_sheet(path, sheets, options)
    rows = sheets[title][begins.n_titles :]
    names = names_of(path, _shown(rows[0]), named=begins.named)
    remarks = [begins.remark]
    if len(sheets) > 1:
        remarks.append(f"The sheet {title!r} of {path} is read, of {len(sheets)} sheets.")
    cells = [list(column) for column in zip(*rows[begins.n_head :], strict=True)]
    table = _table(path, names, cells, options, begins.named, " ".join(filter(None, remarks)))
    return replace(table, left_out=begins.left_out)


def _chosen_sheet(
    path: Path, sheets: dict[str, list[list[Any]]], options: ReadOptions
) -> tuple[str, Beginning]:
    several = []
    for title, rows in sheets.items():
        shown = [_shown(row) for row in rows[: 1 + ROWS_COMPARED]]
        begins = beginning(path, shown, options)
        head = [cell.strip() for cell in shown[begins.n_titles]]
        if options.has_names_in(head) or options.has_label_in(head):
            return title, begins
        several.append((len(head) < 2, title, begins))
    _, title, begins = min(several, key=lambda found: found[0])
    return title, begins


def _padded(rows: list[list[Any]]) -> list[list[Any]]:
    width = max(map(len, rows))
    return [row + [None] * (width - len(row)) for row in rows]


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


def read_jsonl(path: Path, options: ReadOptions) -> Table:
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
            cells.append(None if options.leaves_out(name) else value)
        n_rows += 1
    if not columns:
        raise FileError(f"{path} has no rows: give one JSON object per line.")
    _check_cells(path, n_rows, len(columns))
    for cells in columns.values():
        cells += [None] * (n_rows - len(cells))
    return _table(path, list(columns), list(columns.values()), options)


def json_objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object of each line that is not blank, or those of one list.

    A value such as NaN is None.

    Raises
    ------
    FileError
        A line is no object, or names a value twice.
    """
    with opened(path) as stream:
        lines = BoundedLines(path, stream)
        for number, line in enumerate(lines, 1):
            if number == 1 and line.lstrip().startswith(b"["):
                yield from _listed(path, b"".join([line, *lines]))
                return
            lines.begin_row()
            if line.strip():
                where = f"line {number}"
                yield _object(path, _parsed(path, line, where), where)


def _listed(path: Path, whole: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list one by one, for all of them may take far more memory."""
    found: Any = None
    with _explained(path, "its list"):
        text = whole.decode("utf-8-sig")
        at = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    for number in count(1):
        with _explained(path, f"item {number}"):
            found, at = _DECODER.raw_decode(text, at)
        yield _object(path, found, f"item {number}")
        between = _BETWEEN.match(text, at)
        if between is None:
            break
        at = between.end()
    if text[at:].strip() != "]":
        raise FileError(f"{path} has a list of JSON that does not end: copy it anew.")


def _parsed(path: Path, line: bytes, where: str) -> Any:
    with _explained(path, where):
        return _DECODER.decode(line.decode("utf-8-sig"))


@contextmanager
def _explained(path: Path, where: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, RecursionError) as wrong:
        raise FileError(
            f"{path} is not JSON in {where} ({reason(wrong)}): give one JSON object per line."
        ) from wrong


def _object(path: Path, found: Any, where: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise FileError(f"{path} has no object in {where}: give one JSON object per line.")
    return found


def _table(
    path: Path,
    names: list[str],
    cells: list[list[Any]],
    options: ReadOptions,
    named: bool = True,
    remark: str = "",
) -> Table:
    if not cells or not cells[0]:
        raise FileError(f"{path} has a header and no rows: give a table with rows.")
    columns = [
        _column(name, column, role)
        for name, column, role in zip(names, cells, options.roles(names), strict=True)
    ]
    return Table(str(path), columns, named=named, remark=remark)


def _column(name: str, cells: list[Any], role: Role) -> Column:
    if any(isinstance(cell, dict | list) for cell in cells):
        vectors = as_vectors(cells)
        if vectors is None:
            lengths = [len(cell) if isinstance(cell, list) else None for cell in cells]
            return Column(name, np.empty(0), why_no_vectors(lengths))
        return Column(name, vectors)
    values = np.empty(len(cells), dtype=object)
    if role != "feature":
        exact = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
        values[:] = [None if str(cell).lower() in MISSING_IN[role] else cell for cell in exact]
        return Column(name, values, "text")
    values[:] = [
        str(cell) if isinstance(cell, int) and abs(cell) > 2**53 else cell for cell in cells
    ]
    column = plain(values)
    return Column(name, column, "" if column.dtype == np.float64 else "text")


def why_no_vectors(lengths: Sequence[int | None]) -> str:
    """Say why lists of these lengths are no vectors; None is for a row without a list.

    >>> why_no_vectors([2, 2, 3]), why_no_vectors([2, None])
    ('lists, of 2 in row 1 and of 3 in row 3', 'lists, none in row 2')
    """
    for row, length in enumerate(lengths, 1):
        if length is None and any(lengths):
            return f"lists, none in row {row}"
        if length != lengths[0]:
            return f"lists, of {lengths[0]} in row 1 and of {length} in row {row}"
    return "lists or objects"


def as_vectors(cells: Sequence[Any]) -> npt.NDArray[np.float64] | None:
    """Return lists of numbers, all of one length, as a matrix; None for anything else.

    >>> as_vectors([[1, 2.5], [3, 4]]).tolist(), as_vectors([[1, 2], [3]]), as_vectors([["a"]])
    ([[1.0, 2.5], [3.0, 4.0]], None, None)
    """
    try:
        vectors = np.array(cells)
    except (ValueError, OverflowError):  # lists of different lengths
        return None
    is_matrix = vectors.ndim == 2 and vectors.size and vectors.dtype.kind in "iuf"
    return vectors.astype(np.float64) if is_matrix else None
