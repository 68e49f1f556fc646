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
from calipers.data.tables.numbers import (
    MISSING,
    as_number,
    decimal_sign,
    is_plain,
    labels_of_texts,
)
from calipers.data.tables.packed import BoundedLines, opened
from calipers.data.tables.table import Column, Table, position_of
from calipers.io import FileError

MOST_COLUMNS = 1 << 20
MOST_DISTINCT = 10_000
"""Different texts of a column that are kept; beyond, only if each is there twice on average."""

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
    decimal: str | None = None,
) -> Table:
    """Read a table of text; see `calipers.data.tables.read`.

    Raises
    ------
    FileError
        Rows differ in length, names repeat, or the file is empty or not in `encoding`, which
        is UTF-8 if not given.
    """
    form = _Form(separator, label, _Header(header, names), decimal)
    try:
        return _read(path, encoding, form)
    except _TextsLostError as lost:  # a column of numbers turned out to be one of texts
        return _read(path, encoding, form._replace(texts=lost.places))


def _read(path: Path, encoding: str | None, form: _Form) -> Table:
    with opened(path) as stream:
        try:
            with _decoded(path, stream, encoding) as lines:
                return _table(path, lines, form)
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


class _Form(NamedTuple):
    """How a text is read: what the user has said, and places of columns of texts."""

    separator: str | None
    label: str | None
    header: _Header
    decimal: str | None
    texts: frozenset[int] = frozenset()


class _TextsLostError(Exception):
    """Columns turned out to be of texts after texts of theirs had been read as numbers."""

    def __init__(self, places: frozenset[int]) -> None:
        super().__init__()
        self.places = places


def _table(path: Path, lines: IO[str], form: _Form) -> Table:
    bounded = BoundedLines(path, lines)
    first_line = next((line for line in bounded if line.strip()), "")
    if not first_line:
        raise FileError(f"{path} is empty: give a table with a header and rows.")
    separator = form.separator or separator_of(first_line)
    rows = _rows(csv.reader(chain([first_line], bounded), delimiter=separator), bounded)
    line, head = next(rows)
    if len(head) > MOST_COLUMNS:
        raise FileError(
            f"{path} has {len(head):,} columns of at most {MOST_COLUMNS:,}: reduce the features "
            "first, or check quotes and separators."
        )
    at_once = max(1, _CELLS // len(head))
    below = list(islice(rows, min(ROWS_COMPARED, at_once)))
    named = form.header.named(head, [row for _, row in below])
    names = _names(path, head) if named else [f"column {i + 1}" for i in range(len(head))]
    rows = chain(below if named else [(line, head), *below], rows)
    at = None if form.label is None else position_of(form.label, names)
    shown = [cell for _, row in below for i, cell in enumerate(row) if i != at]
    decimal = form.decimal or decimal_sign(shown, likely="," if separator == ";" else ".")
    makers = [
        _Maker(name, decimal, is_label=i == at, is_text=i in form.texts)
        for i, name in enumerate(names)
    ]
    n_rows = 0
    while block := list(islice(rows, at_once)):
        _check_widths(path, block, len(names))
        places = [(n_rows + i + 1, line) for i, (line, _) in enumerate(block)]
        for maker, cells in zip(makers, zip(*(row for _, row in block), strict=True), strict=True):
            maker.add(cells, places)
        n_rows += len(block)
    if not n_rows:
        raise FileError(f"{path} has a header and no rows: give a table with rows.")
    lost = frozenset(i for i, maker in enumerate(makers) if maker.has_lost_texts)
    if lost:
        raise _TextsLostError(lost)
    remarks = [form.header.remark(path, head, named=named)]
    if form.decimal is None:
        remarks.append(_about_commas(path, decimal, shown))
    return Table(
        str(path),
        [maker.column() for maker in makers],
        named=named,
        remark=" ".join(filter(None, remarks)),
        decimal=decimal,
    )


def _about_commas(path: Path, decimal: str, cells: list[str]) -> str:
    """Say how commas in numbers were read, for only the user knows; empty without commas."""
    example = next(
        (cell.strip() for cell in cells if "," in cell and as_number(cell, decimal) is not None), ""
    )
    if not example:
        return ""
    what, other = ("the decimal sign", ".") if decimal == "," else ("grouping thousands", ",")
    return (
        f"The comma of {path} is read as {what}, as in {example!r}; if that is wrong, say "
        f"--decimal {other!r}."
    )


def _rows(
    reader: csv._reader,  # type: ignore[name-defined]
    lines: BoundedLines[str],
) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with the number of their last line."""
    for row in reader:
        lines.begin_row()
        if row and any(map(str.strip, row)):
            yield reader.line_num, row


def separator_of(line: str) -> str:
    """Return what separates the cells of a line: the sign of which it has most."""
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
    """Makes a column of blocks of cells: numbers as long as all cells are numbers, else texts."""

    def __init__(self, name: str, decimal: str, *, is_label: bool, is_text: bool) -> None:
        self.name, self.decimal, self.is_label = name, decimal, is_label
        self.text = "text" if is_text else ""
        self.gap = ""
        self.numbers: list[npt.NDArray[np.float64]] = []
        self.texts: list[str | None] | None = []  # None: too many different ones to keep
        self.labels: list[str] = []
        self.distinct: dict[str, str] = {}
        self.any_number = self.has_lost_texts = False

    def add(self, cells: Sequence[str], places: list[tuple[int, int]]) -> None:
        """Take the cells of a block, whose rows and lines are ``places``."""
        if self.is_label:
            self.labels += map(str.strip, cells)
            if not self.gap:
                missing = (i for i, cell in enumerate(cells) if cell.strip().lower() in MISSING)
                at = next(missing, None)
                self.gap = "" if at is None else _gap(cells[at], *places[at])
        if not self.text:
            self._add_numbers(cells, places)
        if self.text:
            self._add_texts(cells)

    def _add_numbers(self, cells: Sequence[str], places: list[tuple[int, int]]) -> None:
        is_plain_block = self.decimal == "." and is_plain("".join(cells))
        try:
            numbers = np.array(cells if is_plain_block else ["?"], dtype=np.float64)
        except ValueError:
            numbers = self._one_by_one(cells, places)
        self.any_number |= bool(np.isfinite(numbers).any())
        self.numbers.append(numbers)

    def _add_texts(self, cells: Sequence[str]) -> None:
        if self.numbers:  # texts of earlier blocks are gone
            self.has_lost_texts = self.any_number or self.has_lost_texts
            self.texts = [None] * sum(map(len, self.numbers))
            self.numbers.clear()
        if self.texts is None:
            return
        for cell in map(str.strip, cells):
            known = None if cell.lower() in MISSING else self.distinct.setdefault(cell, cell)
            self.texts.append(known)
        if len(self.distinct) > max(MOST_DISTINCT, len(self.texts) // 2):
            self.texts = None
            self.distinct.clear()

    def column(self) -> Column:
        """Return the column that has come of it."""
        labels = labels_of_texts(self.labels) if self.is_label else None
        if self.text:
            kept = np.array([] if self.texts is None else self.texts, dtype=object)
            return Column(self.name, kept, self.text, self.gap, labels)
        return Column(self.name, np.concatenate(self.numbers), "", self.gap, labels)

    def _one_by_one(
        self, cells: Sequence[str], places: list[tuple[int, int]]
    ) -> npt.NDArray[np.float64]:
        numbers = np.full(len(cells), np.nan)
        for i, cell in enumerate(cells):
            if cell.strip().lower() in MISSING:
                continue
            number = as_number(cell, self.decimal)
            if number is None:
                self.text = f"{cell[:30]!r} in row {places[i][0]}"
                return np.empty(0)
            numbers[i] = number
        return numbers


def _gap(cell: str, row: int, line: int) -> str:
    what = "no value" if cell.strip().lower() in MISSING else f"the value {cell.strip()!r}"
    return f"{what} in row {row} (line {line})"
