"""CSV and TSV, with the standard library alone, in blocks of rows."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.data.tables.header import ROWS_COMPARED, decision, names_columns
from calipers.data.tables.numbers import MISSING, as_number, is_plain, labels_of_texts
from calipers.data.tables.packed import BoundedLines, opened
from calipers.data.tables.table import Column, Table, position_of
from calipers.io import FileError

MOST_COLUMNS = 1 << 20

_CELLS = 1 << 18  # whose texts are in memory at a time
_SEPARATORS = ",;\t|"
_OTHER_ENCODINGS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(
    path: Path,
    *,
    separator: str | None = None,
    label: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    names: Collection[str] | None = None,
) -> Table:
    """Read a table of text; see `calipers.data.tables.read`.

    Raises
    ------
    FileError
        Rows differ in length, names repeat, or the file is empty or not in `encoding`, which
        is UTF-8 if not given.
    """
    with opened(path) as stream:
        try:
            with _decoded(path, stream, encoding) as lines:
                return _table(path, lines, separator, label, _Header(header, names))
        except UnicodeError as wrong:
            why = (
                f"byte 0x{wrong.object[wrong.start]:02x} cannot be decoded"
                if isinstance(wrong, UnicodeDecodeError)
                else str(wrong)
            )
            raise FileError(
                f"{path} is not {encoding or 'UTF-8'} throughout ({why}): save it again as UTF-8, "
                "or name its encoding, for example --encoding cp1252."
            ) from wrong
        except csv.Error as wrong:
            raise FileError(f"{path} is not a table of text ({wrong}): check its format.") from None


def _decoded(path: Path, stream: IO[bytes], encoding: str | None) -> IO[str]:
    if encoding is not None:
        return io.TextIOWrapper(stream, encoding=encoding, newline="")
    start = stream.read(4)
    stream.seek(0)
    if start.startswith(_OTHER_ENCODINGS):
        raise FileError(f"{path} is in UTF-16: save it again as UTF-8, or say --encoding utf-16.")
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


class _Header(NamedTuple):
    """What is known about the first row before it is read."""

    given: bool | None
    names: Collection[str] | None

    def named(self, head: list[str], below: list[list[str]]) -> bool:
        """Decide whether the first row names the columns."""
        if self.given is not None:
            return self.given
        if (
            self.names is not None
            and len(self.names)
            and set(self.names) <= {cell.strip() for cell in head}
        ):
            return True
        return names_columns(head, below)

    def remark(self, path: Path, head: list[str], *, named: bool) -> str:
        """Return what was decided, where it may be wrong."""
        is_clear = self.given is not None or all(as_number(cell) is None for cell in head)
        return "" if is_clear else decision(str(path), named=named)


def _table(
    path: Path, lines: IO[str], separator: str | None, label: str | None, header: _Header
) -> Table:
    bounded = BoundedLines(path, lines)
    first_line = next((line for line in bounded if line.strip()), "")
    if not first_line:
        raise FileError(f"{path} is empty: give a table with a header and rows.")
    separator = separator or _separator(first_line)
    rows = _rows(csv.reader(chain([first_line], bounded), delimiter=separator), bounded)
    line, head = next(rows)
    if len(head) > MOST_COLUMNS:
        raise FileError(
            f"{path} has {len(head):,} columns of at most {MOST_COLUMNS:,}: reduce the features "
            "first, or check quotes and separators."
        )
    at_once = max(1, _CELLS // len(head))
    below = list(islice(rows, min(ROWS_COMPARED, at_once)))
    named = header.named(head, [row for _, row in below])
    names = _names(path, head) if named else [f"column {i + 1}" for i in range(len(head))]
    rows = chain(below if named else [(line, head), *below], rows)
    at = None if label is None else position_of(label, names)
    makers = [_Maker(name, is_label=i == at) for i, name in enumerate(names)]
    n_rows = 0
    while block := list(islice(rows, at_once)):
        _check_widths(path, block, len(names))
        places = [(n_rows + i + 1, line) for i, (line, _) in enumerate(block)]
        for maker, cells in zip(makers, zip(*(row for _, row in block), strict=True), strict=True):
            maker.add(cells, places)
        n_rows += len(block)
    if not n_rows:
        raise FileError(f"{path} has a header and no rows: give a table with rows.")
    columns = [maker.column() for maker in makers]
    return Table(str(path), columns, named=named, remark=header.remark(path, head, named=named))


def _rows(
    reader: csv._reader,  # type: ignore[name-defined]
    lines: BoundedLines[str],
) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with the number of their last line."""
    for row in reader:
        lines.begin_row()
        if row and any(map(str.strip, row)):
            yield reader.line_num, row


def _separator(line: str) -> str:
    counts = Counter(line)
    return max(_SEPARATORS, key=lambda sign: (counts[sign], sign == ","))


def _names(path: Path, head: list[str]) -> list[str]:
    names = [cell.strip() or f"column {i + 1}" for i, cell in enumerate(head)]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise FileError(f"{path} has {times} columns named {name!r}: give each its own name.")
    return names


def _check_widths(path: Path, block: list[tuple[int, list[str]]], width: int) -> None:
    for line, row in block:
        if len(row) != width:
            raise FileError(
                f"{path} has {len(row)} cells in line {line} where the first row has {width}: "
                "complete that row, or check quotes and separators."
            )


class _Maker:
    """Makes a column of blocks of cells; texts are kept for the label only."""

    def __init__(self, name: str, *, is_label: bool) -> None:
        self.name, self.is_label = name, is_label
        self.numbers: list[npt.NDArray[np.float64]] = []
        self.texts: list[str] = []
        self.text = self.gap = ""
        self.any_number = False

    def add(self, cells: Sequence[str], places: list[tuple[int, int]]) -> None:
        """Take the cells of a block, whose rows and lines are ``places``."""
        if self.is_label:
            self.texts += map(str.strip, cells)
            if not self.gap:
                missing = (i for i, cell in enumerate(cells) if cell.strip().lower() in MISSING)
                at = next(missing, None)
                self.gap = "" if at is None else _gap(cells[at], *places[at])
        if self.text:
            return
        try:
            numbers = np.array(cells if is_plain("".join(cells)) else ["?"], dtype=np.float64)
        except ValueError:
            numbers = self._one_by_one(cells, places)
        finite = np.isfinite(numbers)
        self.any_number |= bool(finite.any())
        if not (finite.all() or self.gap or self.text):
            at = int((~finite).argmax())
            self.gap = _gap(cells[at], *places[at])
        self.numbers.append(numbers)

    def column(self) -> Column:
        """Return the column that has come of it."""
        labels = labels_of_texts(self.texts) if self.is_label else None
        if self.text:
            return Column(self.name, np.empty(0, dtype="U1"), self.text, self.gap, labels)
        numbers = np.concatenate(self.numbers)
        return Column(self.name, numbers, "" if self.any_number else "empty", self.gap, labels)

    def _one_by_one(
        self, cells: Sequence[str], places: list[tuple[int, int]]
    ) -> npt.NDArray[np.float64]:
        numbers = np.full(len(cells), np.nan)
        for i, cell in enumerate(cells):
            if cell.strip().lower() in MISSING:
                continue
            number = as_number(cell)
            if number is not None:
                numbers[i] = number
            else:
                self.text = f"{cell[:30]!r} in row {places[i][0]}"
                self.numbers.clear()
                if not self.is_label:
                    self.gap = ""
                break
        return numbers


def _gap(cell: str, row: int, line: int) -> str:
    what = "no value" if cell.strip().lower() in MISSING else f"the value {cell.strip()!r}"
    return f"{what} in row {row} (line {line})"
