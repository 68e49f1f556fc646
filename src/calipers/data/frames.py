"""Files as tables of pandas, or as matrices.

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
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.data.encoder import MISSING
from calipers.data.files import FileError, needs_package, reason
from calipers.data.roles import Roles, is_number

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
    r"""How a file is read; the names are those of pandas.

    Attributes
    ----------
    sep : str or None
        What separates cells: a character, or ``\s+`` for blanks; by default found among
        ``, ; tab |``.
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
    kind = format_of(path)
    with sentences(path):
        frame, named, notes = _FRAMES[kind](path, reader or Reader(), roles or Roles(str(path)))
    if frame.empty:
        raise FileError(f"{path} has no rows: give a table with a row for each sample.")
    return frame, named, notes


def format_of(path: str | Path) -> str:
    """Return the format that the ending of a name tells of."""
    if str(path) == STANDARD:
        return "text"
    file = Path(path)
    if not file.is_file():
        what = "is not a file" if file.exists() else "does not exist"
        raise FileError(f"{str(path)!r} {what}: give the name of a data file.")
    kind = _FORMATS.get(_suffix(file), "")
    if not kind or (file.suffix.lower() in _PACKED and kind not in ("text", "json", "libsvm")):
        raise FileError(
            f"The ending of {str(path)!r} names no format: end it in one of {', '.join(_FORMATS)} "
            f"(a text also in {', '.join(_PACKED)})."
        )
    return kind


def _suffix(path: Path) -> str:
    """Return the ending of a name, in front of that of a packed file."""
    return Path(path.stem if path.suffix.lower() in _PACKED else path).suffix.lower()


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
    lines = partial(_lines, content, encoding, reader.skiprows)
    is_tsv = _suffix(Path(path)) in (".tsv", ".tab")
    sep = reader.sep or ("\t" if is_tsv else _separator("".join(islice(lines(), _SAMPLED))))
    head = next(filter(any, _rows(lines(), sep)), None)
    if head is None:
        raise FileError(f"{path} is empty: give a table.")
    names, named = _names(path, head, reader, roles)
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
    if len(frame) and frame.iloc[:, -1].isna().any():
        _check_short_rows(path, _rows(lines(), sep), len(names))
    again = [name for name in frame.select_dtypes("string") if name not in as_text]
    if again:
        whole = pd.read_csv(
            io.BytesIO(content), dtype="string", na_values=[""], usecols=again, **how
        )
        frame[again] = whole[again]
    return frame, named, notes


def _lines(content: bytes, encoding: str, skiprows: int) -> Iterator[str]:
    return islice(io.TextIOWrapper(io.BytesIO(content), encoding, newline=""), skiprows, None)


def _separator(sample: str) -> str:
    """Return what separates cells, by the first lines."""
    try:
        return csv.Sniffer().sniff(sample, delimiters=",;\t|").delimiter
    except csv.Error:
        return max(",;\t|", key=sample.partition("\n")[0].count)


def _rows(lines: Iterator[str], sep: str) -> Iterator[list[str]]:
    if sep == r"\s+":
        return map(str.split, lines)
    return csv.reader(lines, delimiter=sep, skipinitialspace=True)


def _check_short_rows(path: str | Path, rows: Iterator[list[str]], n_columns: int) -> None:
    """Raise if a row has too few cells, which pandas would fill up."""
    for number, row in enumerate(rows, 1):
        if any(row) and len(row) < n_columns:
            raise FileError(
                f"{path} has {len(row)} cells in row {number} of its text, where the first row has "
                f"{n_columns}: give each row the same number of cells."
            )


def _names(
    path: str | Path, head: Sequence[Any], reader: Reader, roles: Roles
) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the first row has them."""
    names = ["" if cell is None or cell != cell else str(cell).strip() for cell in head]
    if reader.header == "none":
        return [f"column {i + 1}" for i in range(len(names))], False
    number = next(filter(is_number, names), None)
    if number is not None and reader.header is None and not roles.knows(names):
        raise FileError(
            f"{path} has the number {number} in its first row: say --header none if no row names "
            "the columns, or --header 0 if this one does."
        )
    return _distinct(path, [name or f"Unnamed: {i}" for i, name in enumerate(names)]), True


def _distinct(path: str | Path, names: list[str]) -> list[str]:
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise FileError(f"{path} has {times} columns named {name!r}: give each its own name.")
    return names


def _read_json(path: str | Path, reader: Reader, roles: Roles) -> tuple[DataFrame, bool, list[str]]:
    """Read objects of JSON, a list or one a line; pandas would guess dates and round numbers."""
    import pandas as pd

    content, encoding, notes = _content(path, reader.encoding)
    text = content.decode(encoding)
    loads = partial(json.loads, object_pairs_hook=_object)
    rows = loads(text) if text.lstrip().startswith("[") else []
    for number, line in enumerate([] if rows else text.split("\n"), 1):
        try:
            rows += [loads(line)] if line.strip() else []
        except (ValueError, RecursionError) as wrong:
            raise FileError(f"{path} is not JSON in line {number} ({reason(wrong)}).") from None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise FileError(f"{path} has no object of JSON in row {number}: give one for each row.")
    return _typed(pd.DataFrame(rows, dtype=object)), True, notes


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("it names a value twice")
    return named


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
    frame.columns, named = _names(path, frame.iloc[0].tolist(), reader, roles)
    return _typed(frame.iloc[int(named) :].reset_index(drop=True)), named, []


def _read_parquet(
    path: str | Path, reader: Reader, roles: Roles
) -> tuple[DataFrame, bool, list[str]]:
    """Read Parquet; named levels of an index that pandas wrote are columns, others are left out."""
    import pandas as pd

    frame = pd.read_parquet(path, dtype_backend="numpy_nullable", engine="pyarrow")
    frame = frame.reset_index(level=[level for level in frame.index.names if level is not None])
    frame.columns = _distinct(path, [*map(str, frame.columns)])
    return frame.reset_index(drop=True), True, []


_FRAMES = {"text": _read_text, "json": _read_json, "xlsx": _read_xlsx, "parquet": _read_parquet}
"""Readers of columns, by format."""


def load_npy(path: Path) -> npt.NDArray[Any]:
    """Map the array in an NPY file."""
    with sentences(path):
        return np.lib.format.open_memmap(path, mode="r")


def _read_npy(path: Path, label: str | None) -> tuple[npt.NDArray[Any], Any]:
    """Map a matrix; ``label`` may name a file of labels."""
    matrix = load_npy(path)
    if label is None or not label.endswith(".npy"):
        return matrix, None
    return matrix, load_npy(Path(label))


def _read_npz(path: Path, label: str | None) -> tuple[npt.NDArray[Any], Any]:
    """Read the arrays X and y, or that of the label's name."""
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        if "X" not in arrays:
            found = ", ".join(arrays) or "nothing"
            raise FileError(
                f"{path} has no array 'X', only {found}: save it with np.savez(path, X=X, y=y)."
            )
        name = "y" if label is None else label
        return arrays["X"], arrays.get(name)


def _read_libsvm(path: Path, label: str | None) -> tuple[npt.NDArray[Any], Any]:
    from sklearn.datasets import load_svmlight_file

    with _opened(path) as stream:
        X, y = load_svmlight_file(stream)
    return X.toarray(), y


MATRICES = {"npy": _read_npy, "npz": _read_npz, "libsvm": _read_libsvm}
"""Readers of matrices, by format; labels are beside them."""


def read_matrix(path: str | Path, label: str | None = None) -> tuple[npt.NDArray[Any], Any]:
    """Read a matrix, and the labels beside it if there are any of that name."""
    return MATRICES[format_of(path)](Path(path), label)
