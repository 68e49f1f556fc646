"""CSV and TSV, with the standard library alone, in blocks of rows."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from calipers.data.tables.header import ROWS_COMPARED, beginning
from calipers.data.tables.names import listed, names_of
from calipers.data.tables.numbers import (
    as_number,
    bare_number,
    decimal_sign,
    is_code,
    is_plain,
    number_and_unit,
    reading,
)
from calipers.data.tables.options import MISSING_IN, ReadOptions, Role
from calipers.data.tables.packed import BoundedLines, opened, plain_suffix
from calipers.data.tables.sheets import as_vectors
from calipers.data.tables.table import Column, Table
from calipers.io import FileError

MOST_COLUMNS = 1 << 20
MOST_DISTINCT = 10_000
"""Different texts of a column that are kept; beyond, only if each is there twice on average."""

_LINES_COMPARED = 30
_CELLS = 1 << 18  # whose texts are in memory at a time
_CHARACTERS = 1 << 24  # of these texts, about
_SEPARATORS = ",;\t|"
_CODE_LINE = re.compile("\n[ \t]*0[0-9]+[ \t]*\n")  # see `is_code`
_WINDOWS = "cp1252"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path: Path, options: ReadOptions, *, separator: str | None = None) -> Table:
    """Read a table of text.

    The encoding is UTF-8 or, by its first bytes, UTF-16, unless another one is given; bytes
    that are no UTF-8, after none but ASCII, are read as cp1252, which the remark says.

    Raises
    ------
    FileError
        Rows differ in length, names repeat, or the file is empty or not in its encoding.
    """
    try:
        return _read(path, options, separator)
    except UnicodeError as wrong:
        why = _undecodable(path, wrong)
        refusal = FileError(
            f"{why}: save it again as UTF-8, or name its encoding, for example --encoding cp1252."
        )
        if options.encoding is not None or not _begins_in_ascii(wrong):
            raise refusal from wrong
    try:
        table = _read(path, replace(options, encoding=_WINDOWS), separator)
    except UnicodeError as wrong:
        raise refusal from wrong
    remark = f"{why}, so it is read as {_WINDOWS}; if letters are wrong, say --encoding."
    return replace(table, remark=" ".join(filter(None, (remark, table.remark))))


def _begins_in_ascii(wrong: UnicodeError) -> bool:
    return (
        isinstance(wrong, UnicodeDecodeError)
        and wrong.encoding == "utf-8"
        and wrong.object[: wrong.start].isascii()
    )


def _undecodable(path: Path, wrong: UnicodeError) -> str:
    if not isinstance(wrong, UnicodeDecodeError):
        return f"{path} is not in its encoding ({wrong})"
    byte = wrong.object[wrong.start]
    return (
        f"{path} is not {wrong.encoding.upper()} throughout (byte 0x{byte:02x} cannot be decoded)"
    )


def _read(
    path: Path, options: ReadOptions, separator: str | None, texts: frozenset[int] = frozenset()
) -> Table:
    with opened(path) as stream:
        encoding = options.encoding
        if encoding is None:
            encoding = "utf-16" if stream.read(4).startswith(_UTF_16) else "utf-8-sig"
            stream.seek(0)
        try:
            with io.TextIOWrapper(stream, encoding=encoding, newline="") as lines:
                return _table(path, lines, options, separator, texts)
        except csv.Error as wrong:
            raise FileError(f"{path} is not a table of text ({wrong}): check its format.") from None
        except _TextsLostError as lost:  # a column of numbers turned out to be one of texts
            places = lost.places
    return _read(path, options, separator, places)


class _TextsLostError(Exception):
    """Columns turned out to be of texts after texts of theirs had been read as numbers."""

    def __init__(self, places: frozenset[int]) -> None:
        super().__init__()
        self.places = places


def _table(
    path: Path, lines: IO[str], options: ReadOptions, separator: str | None, texts: frozenset[int]
) -> Table:
    bounded = BoundedLines(path, lines)
    start = _start(bounded)
    if not start:
        raise FileError(f"{path} is empty: give a table with a header and rows.")
    declared = re.fullmatch("sep=(.)", start[0].strip())  # as Excel writes it
    if declared is not None:
        separator = declared[1]
        start = start[1:]
    separator = separator or separator_of(start, blanks=not _has_one_name(path, start[0], options))
    source: Iterator[str] = chain(start, bounded)
    if separator == " " and options.all_labels:
        separator = ","
    elif separator == " ":
        source = (" ".join(line.split()) + "\n" for line in source)
    rows = _rows(csv.reader(source, delimiter=separator), bounded)
    first = _first_rows(rows)
    if not first:
        raise FileError(f"{path} is empty: give a table with a header and rows.")
    begins = beginning(path, [row for _, row in first], options)
    head = first[begins.n_titles][1]
    if len(head) > MOST_COLUMNS:
        raise FileError(
            f"{path} has {len(head):,} columns of at most {MOST_COLUMNS:,}: reduce the features "
            "first, or check quotes and separators."
        )
    first = first[begins.n_titles + begins.n_head :]
    if begins.named and first and all(len(row) == len(head) + 1 for _, row in first):
        head = ["", *head]  # as R writes the names of rows
    names = names_of(path, head, named=begins.named)
    roles = options.roles(names)
    shown = [c for _, row in first for c, r in zip(row, roles, strict=False) if r == "feature"]
    decimal = options.decimal or decimal_sign(shown, likely="," if separator == ";" else ".")
    makers = [
        _Maker(name, decimal, role, is_text=i in texts)
        for i, (name, role) in enumerate(zip(names, roles, strict=True))
    ]
    longest = max((sum(map(len, row)) for _, row in first), default=0)
    at_once = max(1, min(_CELLS // len(names), _CHARACTERS // max(1, longest)))
    n_rows, rows = 0, chain(first, rows)
    while block := list(islice(rows, at_once)):
        _check_widths(path, block, len(names))
        for maker, cells in zip(makers, zip(*(row for _, row in block), strict=True), strict=True):
            maker.add(cells, n_rows)
        n_rows += len(block)
    if not n_rows:
        raise FileError(f"{path} has a header and no rows: give a table with rows.")
    lost = frozenset(i for i, maker in enumerate(makers) if maker.has_lost_texts)
    if lost:
        raise _TextsLostError(lost)
    about_commas = "" if options.decimal else _about_commas(path, decimal, shown)
    numbers = [maker for maker in makers if maker.reading and not maker.text]
    readings = [f"{maker.name} ({maker.reading})" for maker in numbers]
    about_readings = f"Texts read as numbers: {listed(readings)}." if readings else ""
    return Table(
        str(path),
        [maker.column() for maker in makers],
        named=begins.named,
        remark=" ".join(filter(None, (begins.remark, about_commas, about_readings))),
        decimal=decimal,
    )


def _first_rows(rows: Iterator[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    first: list[tuple[int, list[str]]] = []
    for row in islice(rows, 1 + ROWS_COMPARED):
        first.append(row)
        if len(first) * len(row[1]) > _CELLS:
            break
    return first


def _start(lines: BoundedLines[str]) -> list[str]:
    """Return the first lines, from the first that is not blank: no more than tell the separator."""
    start: list[str] = []
    for line in lines:
        if start or line.strip():
            start.append(line)
        if len(start) >= _LINES_COMPARED or sum(map(len, start)) > _CELLS:
            break
    lines.begin_row()
    return start


def _about_commas(path: Path, decimal: str, cells: list[str]) -> str:
    """Say how commas in numbers were read, for only the user knows; empty without commas."""
    with_comma = (cell.strip() for cell in cells if "," in cell)
    numbers = ((cell, number_and_unit(cell)[0]) for cell in with_comma)
    example = next((cell for cell, n in numbers if as_number(n, decimal) is not None), "")
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


def _has_one_name(path: Path, line: str, options: ReadOptions) -> bool:
    """Whether blanks of the first line are parts of a name, by the file's ending or by the name."""
    known = {*(options.names or ()), *options.carried, options.label}
    return plain_suffix(path) == ".csv" or line.strip().strip('"') in known


def separator_of(lines: Sequence[str], *, blanks: bool = True) -> str:
    r"""Return what separates the cells of lines: the sign that most of them have equally often.

    Commas, which may be decimal signs, give way to another such sign. Without any of them it is
    ``blanks``, if these may separate and all lines have as many words.

    >>> separator_of(["Prices, May\n", "a;b;c\n", "1,5;2,5;3,5\n", "1,5;2;3,5\n"])
    ';'
    """
    plain = re.sub('"[^"]*"?', "", "".join(lines)).splitlines()

    def fits(sign: str) -> tuple[int, bool]:
        counts = Counter(line.count(sign) for line in plain if sign in line)
        return (max(counts.values(), default=0), sign != ",")

    if any(sign in "".join(plain) for sign in _SEPARATORS):
        return max(_SEPARATORS, key=fits)
    n_words = {len(line.split()) for line in plain if line.strip()}
    return " " if blanks and len(n_words) == 1 and n_words != {1} else ","


def _check_widths(path: Path, block: list[tuple[int, list[str]]], width: int) -> None:
    for line, row in block:
        if len(row) != width:
            raise FileError(
                f"{path} has {len(row)} cells in line {line} where the first row has {width}: "
                "complete that row, or check quotes and separators."
            )


def _vectors(texts: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """Return texts such as "[0.5, 1]", or "[0.5 1.]" by NumPy, as a matrix; None for others."""
    if not texts[0].lstrip().startswith("["):
        return None
    try:
        return as_vectors([_vector(text) for text in texts])
    except (ValueError, RecursionError):
        return None


def _vector(text: str) -> Any:
    if "," in text:
        return json.loads(text)
    return [float(word) for word in text.strip().removeprefix("[").removesuffix("]").split()]


class _Maker:
    """Makes a column of blocks of cells: numbers or vectors if all cells are, else texts."""

    def __init__(self, name: str, decimal: str, role: Role, *, is_text: bool) -> None:
        self.name, self.decimal = name, decimal
        self.is_exact, self.missing = role != "feature", MISSING_IN[role]
        self.text = "text" if is_text or self.is_exact else ""
        self.numbers: list[npt.NDArray[np.float64]] = []
        self.texts: list[str | None] | None = []  # None: too many different ones to keep
        self.distinct: dict[str, str] = {}
        self.any_number = self.has_lost_texts = False
        self.reading = ""

    def add(self, cells: Sequence[str], n_before: int) -> None:
        """Take the cells of a block, with so many rows before it."""
        if not self.text:
            self._add_numbers(cells, n_before)
        if self.text:
            self._add_texts(cells)

    def _add_numbers(self, cells: Sequence[str], n_before: int) -> None:
        joined = "\n".join(["", *cells, ""])
        if _CODE_LINE.search(joined):
            code = next(filter(is_code, cells))
            self.text = f"the code {code[:30]!r} in row {n_before + cells.index(code) + 1}"
            return
        is_plain_block = self.decimal == "." and is_plain(joined)
        try:
            numbers = np.array(cells if is_plain_block else ["?"], dtype=np.float64)
        except ValueError:
            vectors = _vectors(cells)
            numbers = self._one_by_one(cells, n_before) if vectors is None else vectors
        if self.numbers and numbers.shape[1:] != self.numbers[0].shape[1:]:
            self.text, numbers = "lists of different lengths", np.empty(0)
        self.any_number |= not np.isnan(numbers).all()
        self.numbers.append(numbers)

    def _add_texts(self, cells: Sequence[str]) -> None:
        if self.numbers:  # texts of earlier blocks are gone
            self.has_lost_texts = self.any_number or self.has_lost_texts
            self.texts = [None] * sum(map(len, self.numbers))
            self.numbers.clear()
        if self.texts is None:
            return
        for cell in map(str.strip, cells):
            known = None if cell.lower() in self.missing else self.distinct.setdefault(cell, cell)
            self.texts.append(known)
        is_full = len(self.distinct) > max(MOST_DISTINCT, len(self.texts) // 2)
        if is_full and not self.is_exact and not self._is_mostly_numbers():
            self.texts = None
            self.distinct.clear()

    def _is_mostly_numbers(self) -> bool:
        some = list(islice(self.distinct, MOST_DISTINCT))
        numbers = (as_number(number_and_unit(text)[0], self.decimal) for text in some)
        return 2 * sum(number is not None for number in numbers) > len(some)

    def column(self) -> Column:
        """Return the column that has come of it."""
        if self.text:
            kept = np.array([] if self.texts is None else self.texts, dtype=object)
            return Column(self.name, kept, self.text)
        return Column(self.name, np.concatenate(self.numbers))

    def _one_by_one(self, cells: Sequence[str], n_before: int) -> npt.NDArray[np.float64]:
        numbers = np.full(len(cells), np.nan)
        for i, cell in enumerate(cells):
            if cell.strip().lower() in self.missing:
                continue
            number = bare_number(cell, self.decimal)
            if number is None:
                self.text = f"{cell[:30]!r} in row {n_before + i + 1}"
                return np.empty(0)
            numbers[i] = number
            self.reading = self.reading or reading(cell, number)
        return numbers
