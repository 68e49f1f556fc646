"""Files as tables of pandas, or as matrices, and which of their columns are features and labels.

A file is read right or refused: no row is cut or filled up, labels and categories are the text that
stands there, and numbers have their last bit. pandas is imported where a table is read.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.data.encoder import MISSING, listed
from calipers.data.files import FileError, needs_package, reason

if TYPE_CHECKING:
    from pandas import DataFrame

STANDARD = "-"
"""The name of standard input, or output."""

_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".data", ".dat"), "text"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **{".xlsx": "xlsx", ".parquet": "parquet", ".pq": "parquet", ".npy": "npy", ".npz": "npz"},
    **dict.fromkeys((".libsvm", ".svm", ".svmlight"), "libsvm"),
}
_PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_SAMPLED = 20  # lines by which the separator is found


@dataclass(frozen=True)
class Reader:
    """How a file is read; the names are those of pandas.

    Attributes
    ----------
    sep : str or None
        The character that separates cells, by default found among ``, ; tab |``.
    decimal : str
        Decimal sign.
    thousands : str or None
        What groups thousands.
    encoding : str or None
        How characters are coded; by default UTF-8, UTF-16 with its mark, or else cp1252.
    skiprows : int
        Lines above the table.
    header : {"none", "0"} or None
        Whether the first row is data or names the columns; by default it does, and must have no
        numbers.
    sheet : str or None
        Name of the sheet of a workbook, by default the first.
    """

    sep: str | None = None
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None
    skiprows: int = 0
    header: str | None = None
    sheet: str | None = None


@dataclass(frozen=True)
class Roles:
    """Which columns of a file are what: features, the label, and the rest.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    label : str or None
        The column of labels by name, or by position from 1 (-1 is the last).
    ignore : sequence of str
        Columns that are no features.
    features : mapping of str to str, or None
        Names of the columns to take, in this order, and their types as an encoder has them; None
        for all others.
    """

    source: str
    label: str | None = None
    ignore: Sequence[str] = ()
    features: Mapping[str, str] | None = None

    def texts(self, names: Sequence[str]) -> list[str]:
        """Return the columns that are read as they stand: labels, categories, no features."""
        asked = (*self.ignore, *filter(None, [self.label]))
        places = {position_of(column, names) for column in asked}
        kinds = self.features or {}
        if kinds and {*kinds} <= {*names}:
            is_text = [kinds.get(name) not in ("number", "boolean") for name in names]
            places.update(i for i, each in enumerate(is_text) if each)
        return [name for i, name in enumerate(names) if i in places]

    def place(self, column: str, names: Sequence[str], what: str) -> int:
        """Return the index of a column.

        Raises
        ------
        FileError
            There is none of that name or position.
        """
        place = position_of(column, names)
        if place is not None:
            return place
        close = get_close_matches(column, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise FileError(
            f"{self.source} has no column {column!r} ({what}): give one of {listed(names)}, or a "
            f"position from 1 to {len(names)}{hint}"
        )

    def taken(self, names: Sequence[str], *, named: bool) -> list[int]:
        """Return the indices of the features."""
        features = self.features
        if features is not None and (named or {*features} <= {*names}):
            missing = [name for name in features if name not in names]
            if missing:
                raise FileError(
                    f"{self.source} has no column {missing[0]!r}, a feature of the metric: give "
                    "the same columns."
                )
            return [names.index(name) for name in features]
        others = {self.place(name, names, "--ignore") for name in self.ignore}
        if self.label is not None:
            others.add(self.place(self.label, names, "--label"))
        taken = [i for i in range(len(names)) if i not in others]
        if features is not None and len(taken) != len(features):
            raise FileError(
                f"{self.source} has {len(taken)} columns beside the label, but the metric was "
                f"learned from {len(features)}: give the same columns, and name those that are "
                "none of them with --label or --ignore."
            )
        if not taken:
            raise FileError(f"{self.source} has no column to learn from: give more columns.")
        return taken


def position_of(column: str, names: Sequence[str]) -> int | None:
    """Return the index of the column of that name or position; or None.

    Where names are whole numbers a whole number is a name; only -1, -2 ... count from the end.

    >>> [position_of(column, ["a", "b", "c"]) for column in ("b", "1", "-1", "0", "d")]
    [1, 0, 2, None, None]
    >>> [position_of(column, ["0", "1", "2"]) for column in ("1", "3", "-1")]
    [1, None, 2]
    """
    if column in names:
        return names.index(column)
    n = len(names)
    index_of = {str(i - n): i for i in range(n)}
    if not any(map(str.isdecimal, names)):
        index_of |= {str(i + 1): i for i in range(n)}
    return index_of.get(column)


def is_number(cell: str) -> bool:
    """Whether a text is a finite number, with a decimal point or comma."""
    try:
        return isfinite(float(cell.replace(",", ".")))
    except ValueError:
        return False


def read_frame(
    path: str | Path, reader: Reader | None = None, roles: Roles | None = None
) -> tuple[DataFrame, bool, list[str]]:
    """Read a table of columns, with pandas' nullable types.

    Returns
    -------
    frame : DataFrame
        The columns.
    named : bool
        Whether the file names them.
    notes : list of str
        What was decided about the file and may be wrong.
    """
    read = _FRAMES[format_of(path)]
    frame, named, notes = read(path, reader or Reader(), roles or Roles(str(path)))
    if frame.empty:
        raise FileError(f"{path} has no rows: give a table with a row for each sample.")
    return frame, named, notes


def format_of(path: str | Path) -> str:
    """Return the format that the ending of a name tells of."""
    if str(path) == STANDARD:
        return "text"
    file = Path(path)
    is_packed = file.suffix.lower() in _PACKED
    kind = _FORMATS.get(Path(file.stem if is_packed else file).suffix.lower(), "")
    if not kind or (is_packed and kind not in ("text", "json", "libsvm")):
        raise FileError(
            f"The ending of {str(path)!r} names no format: end it in one of {', '.join(_FORMATS)} "
            f"(a text also in {', '.join(_PACKED)})."
        )
    return kind


@contextmanager
def sentences(path: str | Path) -> Iterator[None]:
    """Raise what pandas and others say about a file as `FileError`."""
    try:
        yield
    except FileError:
        raise
    except ImportError as missing:
        sentence = needs_package(f"Reading {path}", str(missing.name), "tables")
        raise FileError(sentence) from missing
    except Exception as wrong:  # parsers of foreign files raise anything
        raise FileError(f"Cannot read {str(path)!r} ({reason(wrong)}).") from wrong


def _opened(path: str | Path) -> Any:
    if str(path) == STANDARD:
        return sys.stdin.buffer
    return _PACKED.get(Path(path).suffix.lower(), open)(path, "rb")


def _content(path: str | Path, encoding: str | None) -> tuple[bytes, str, list[str]]:
    """Return what is in a text file, its encoding, and a note if that was guessed."""
    with _opened(path) as stream:
        content = stream.read()
    if encoding is not None:
        return content, encoding, []
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content, "utf-16", []
    if b"\0" in content[:4096]:
        raise FileError(f"{path} is no text: give the file its own ending, such as .xlsx.")
    try:
        _ = content.isascii() or content.decode()
    except UnicodeDecodeError:
        told = f"{path} is not UTF-8, so it is read as cp1252; if that is wrong, say --encoding."
        return content, "cp1252", [told]
    return content, "utf-8-sig", []


def _read_text(path: str | Path, reader: Reader, roles: Roles) -> tuple[DataFrame, bool, list[str]]:
    """Read CSV and the like: numbers first, then columns of texts once more, as they stand."""
    import pandas as pd

    content, encoding, notes = _content(path, reader.encoding)
    lines = io.TextIOWrapper(io.BytesIO(content), encoding, newline="")
    first = [*islice(lines, reader.skiprows, reader.skiprows + _SAMPLED)]
    is_tsv = not {".tsv", ".tab"}.isdisjoint(Path(path).suffixes)
    sep = reader.sep or ("\t" if is_tsv else _separator(first))
    rows = partial(csv.reader, delimiter=sep, skipinitialspace=True)
    head = next(filter(any, rows(first)), None)
    if head is None:
        raise FileError(f"{path} is empty: give a table.")
    names, named = _names(path, head, reader)
    as_text = roles.texts(names)
    how: dict[str, Any] = {
        "encoding": encoding,
        "sep": sep,
        "names": names,
        "header": 0 if named else None,
        "skiprows": reader.skiprows,
        "index_col": False,
        "decimal": reader.decimal,
        "thousands": reader.thousands,
        "skipinitialspace": True,
        "keep_default_na": False,
        "low_memory": False,
        "dtype_backend": "numpy_nullable",
    }
    missing = {name: [""] if name in as_text else [*MISSING] for name in names}
    dtypes = dict.fromkeys(as_text, "string")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows that are all too long
        try:
            frame = pd.read_csv(io.BytesIO(content), dtype=dtypes, na_values=missing, **how)
        except (pd.errors.ParserError, pd.errors.ParserWarning) as wrong:
            raise FileError(
                f"Cannot read {str(path)!r} with {sep!r} between cells ({reason(wrong)}): give "
                "each row the same number of cells, or say --sep."
            ) from wrong
    if len(frame) and frame.iloc[:, -1].isna().any():  # pandas fills up short rows
        lines.seek(0)
        for number, row in enumerate(rows(islice(lines, reader.skiprows, None)), 1):
            if any(row) and len(row) < len(names):
                raise FileError(
                    f"{path} has {len(row)} cells in row {number} of its text, where the first row "
                    f"has {len(names)}: give each row the same number of cells."
                )
    again = [name for name in frame.select_dtypes("string") if name not in as_text]
    if again:
        whole = pd.read_csv(
            io.BytesIO(content), dtype="string", na_values=[""], usecols=again, **how
        )
        frame[again] = whole[again]
    return frame, named, notes


def _separator(lines: list[str]) -> str:
    """Return what separates cells, by the first lines."""
    try:
        return csv.Sniffer().sniff("".join(lines), delimiters=",;\t|").delimiter
    except csv.Error:
        return max(",;\t|", key="".join(lines[:1]).count)


def _names(path: str | Path, head: Sequence[Any], reader: Reader) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the first row has them."""
    names = ["" if cell is None or cell != cell else str(cell).strip() for cell in head]
    if reader.header == "none":
        return [f"column {i + 1}" for i in range(len(names))], False
    number = next(filter(is_number, names), None)
    if number is not None and reader.header is None:
        raise FileError(
            f"{path} has the number {number} in its first row: say --header none if no row names "
            "the columns, or --header 0 if this one does."
        )
    names = [name or f"Unnamed: {i}" for i, name in enumerate(names)]
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise FileError(f"{path} has several columns named {doubled[0]!r}: give each its own name.")
    return names, True


def _read_json(path: str | Path, reader: Reader, roles: Roles) -> tuple[DataFrame, bool, list[str]]:
    """Read objects of JSON, a list or one a line; pandas would guess dates and round numbers."""
    import pandas as pd

    content, encoding, notes = _content(path, reader.encoding)
    text = content.decode(encoding).strip()
    if not text.startswith("["):
        text = "[" + ",\n".join(line for line in text.split("\n") if line.strip()) + "]"

    def with_each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise FileError(f"{path} has an object with a name twice: give each its own name.")
        return dict(pairs)

    rows = json.loads(text, object_pairs_hook=with_each_name_once)
    if not all(isinstance(row, dict) for row in rows):
        raise FileError(f"{path} has rows that are no objects of JSON: give one for each row.")
    return _typed(pd.DataFrame(rows, dtype=object)), True, notes


def _typed(frame: DataFrame) -> DataFrame:
    """Return columns of objects as pandas' nullable types."""
    with np.errstate(invalid="ignore"):  # where it asks whether huge numbers are whole
        return frame.convert_dtypes()


def _read_xlsx(path: str | Path, reader: Reader, roles: Roles) -> tuple[DataFrame, bool, list[str]]:
    """Read a sheet; cells are of the types that Excel has."""
    import pandas as pd

    frame = pd.read_excel(
        path,
        sheet_name=0 if reader.sheet is None else reader.sheet,
        header=None,
        skiprows=reader.skiprows,
        dtype=object,
        keep_default_na=False,
        na_values=[""],
        engine="openpyxl",
    ).dropna(how="all")
    if frame.empty:
        raise FileError(f"{path} has an empty sheet: name another with --sheet.")
    frame.columns, named = _names(path, frame.iloc[0].tolist(), reader)
    return _typed(frame.iloc[int(named) :].reset_index(drop=True)), named, []


def _read_parquet(
    path: str | Path, reader: Reader, roles: Roles
) -> tuple[DataFrame, bool, list[str]]:
    """Read Parquet; named levels of an index that pandas wrote are columns, others are left out."""
    import pandas as pd

    frame = pd.read_parquet(path, dtype_backend="numpy_nullable", engine="pyarrow")
    frame = frame.reset_index(level=[level for level in frame.index.names if level is not None])
    return frame.rename(columns=str).reset_index(drop=True), True, []


_FRAMES = {"text": _read_text, "json": _read_json, "xlsx": _read_xlsx, "parquet": _read_parquet}
"""Readers of columns, by format."""


def load_npy(path: str | Path) -> npt.NDArray[Any]:
    """Map the array in an NPY file."""
    with sentences(path):
        return np.lib.format.open_memmap(path, mode="r")


def read_matrix(path: str | Path, label: str | None = None) -> tuple[npt.NDArray[Any], Any]:
    """Read a matrix, and the labels beside it: in a file of theirs, or an array of their name."""
    kind = format_of(path)
    if kind == "libsvm":
        from sklearn.datasets import load_svmlight_file

        with _opened(path) as stream:
            X, y = load_svmlight_file(stream)
        return X.toarray(), y
    if kind == "npy":
        has_file = label is not None and label.endswith(".npy")
        return load_npy(path), load_npy(str(label)) if has_file else None
    with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return arrays["X"], arrays.get("y" if label is None else label)
