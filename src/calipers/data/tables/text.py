"""CSV and TSV, with the standard library alone, in blocks of rows."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO

from calipers.data.files import FileError
from calipers.data.tables.header import ROWS_COMPARED, beginning
from calipers.data.tables.making import ColumnMaker
from calipers.data.tables.names import listed, names_of
from calipers.data.tables.numbers import (
    are_grouped,
    as_number,
    decimal_sign,
    grouped_by_points,
    number_and_unit,
)
from calipers.data.tables.options import ReadOptions
from calipers.data.tables.packed import BoundedLines, opened, plain_suffix
from calipers.data.tables.table import Table

MOST_COLUMNS = 1 << 20
_LINES_COMPARED = 30
_CELLS = 1 << 18  # whose texts are in memory at a time
_CHARACTERS = 1 << 24  # of these texts, about
_SEPARATORS = ",;\t|"
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
    rows, separator = _separated(path, lines, options, separator)
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
        ColumnMaker(name, decimal, role, is_text=i in texts)
        for i, (name, role) in enumerate(zip(names, roles, strict=True))
    ]
    _fill(path, makers, first, rows)
    remarks = [begins.remark]
    if not options.decimal:
        remarks.append(_about_decimals(path, decimal, separator, shown))
    remarks.append(_about_readings(makers))
    return Table(
        str(path),
        [maker.column() for maker in makers],
        named=begins.named,
        remark=" ".join(filter(None, remarks)),
        left_out=begins.left_out,
        decimal=decimal,
    )


def _separated(
    path: Path, lines: IO[str], options: ReadOptions, separator: str | None
) -> tuple[Iterator[tuple[int, list[str]]], str]:
    """Return the rows, with the number of their last line, and what separates their cells."""
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
    return _rows(csv.reader(source, delimiter=separator), bounded), separator


def _fill(
    path: Path,
    makers: list[ColumnMaker],
    first: list[tuple[int, list[str]]],
    rows: Iterator[tuple[int, list[str]]],
) -> None:
    """Give the cells of all rows to the makers of columns, a block of rows at a time."""
    longest = max((sum(map(len, row)) for _, row in first), default=0)
    at_once = max(1, min(_CELLS // len(makers), _CHARACTERS // max(1, longest)))
    n_rows, rows = 0, chain(first, rows)
    while block := list(islice(rows, at_once)):
        _check_widths(path, block, len(makers))
        for maker, cells in zip(makers, zip(*(row for _, row in block), strict=True), strict=True):
            maker.add(cells, n_rows)
        n_rows += len(block)
    if not n_rows:
        raise FileError(f"{path} has a header and no rows: give a table with rows.")
    lost = frozenset(i for i, maker in enumerate(makers) if maker.has_lost_texts)
    if lost:
        raise _TextsLostError(lost)


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


def _about_decimals(path: Path, decimal: str, separator: str, cells: list[str]) -> str:
    """Say how commas in numbers were read, or points that may group, for only the user knows."""
    with_comma = (cell.strip() for cell in cells if "," in cell)
    numbers = ((cell, number_and_unit(cell)[0]) for cell in with_comma)
    example = next((cell for cell, n in numbers if as_number(n, decimal) is not None), "")
    sign, what, other = "comma", "the decimal sign", "."
    if decimal == ".":
        what, other = "grouping thousands", ","
    if not example and separator == ";" and decimal == "." and are_grouped(cells, ","):
        example = next(cell.strip() for cell in cells if "." in cell)
        sign, what = "point", "the decimal sign"
    elif not example and decimal == ",":
        example = grouped_by_points(cells)
        sign, what = "point", "grouping thousands"
    return example and (
        f"The {sign} of {path} is read as {what}, as in {example!r}; if that is wrong, say "
        f"--decimal {other!r}."
    )


def _about_readings(makers: list[ColumnMaker]) -> str:
    """Say how texts were read that may be no numbers."""
    found = [f"{maker.name} ({maker.reading})" for maker in makers if maker.reading]
    return f"Texts read as numbers: {listed(found)}." if found else ""


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
