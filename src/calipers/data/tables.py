"""A user's table from a file, by pandas, and images written as one.

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
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers.arrays import is_missing
from calipers.data.encoder import MISSING, listed, plain, text_of
from calipers.data.files import FileError, atomic_write, check_writable, needs_package, reason
from calipers.data.memmap import LARGEST_READ

if TYPE_CHECKING:
    from pandas import DataFrame, Series

STANDARD = "-"
"""The name of standard input, or output."""

OUTPUTS = (".csv", ".tsv", ".xlsx", ".npy", ".npz", ".parquet")

LONGEST_LABEL = 200
"""Characters of a label; a longer text is no name of a class."""

_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".data", ".dat"), "text"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **{".xlsx": "xlsx", ".parquet": "parquet", ".pq": "parquet", ".npy": "npy", ".npz": "npz"},
    **dict.fromkeys((".libsvm", ".svm", ".svmlight"), "libsvm"),
}
_PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_SAMPLED = 20  # lines by which the separator is found
WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")
"""A whole number of int64 as it is written without loss."""

Texts: TypeAlias = "Callable[[Sequence[str]], Collection[str]]"


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


@dataclass(frozen=True)
class Table:
    """Features, labels and the rest of a file.

    Attributes
    ----------
    X : DataFrame or ndarray of shape (n_rows, n_features)
        Columns to be encoded; or a matrix of numbers.
    y : ndarray of shape (n_labelled,) or None
        Labels of the rows that have one.
    has_label : ndarray of shape (n_rows,)
        Which rows these are.
    label : str or None
        Name of their column.
    others : DataFrame or None
        Columns that are no features, as they stand in the file: labels, IDs, texts.
    named : bool
        Whether the file names its columns.
    notes : list of str
        What was decided about the file and may be wrong.
    """

    X: Any
    y: npt.NDArray[Any] | None = None
    has_label: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    label: str | None = None
    others: DataFrame | None = None
    named: bool = False
    notes: list[str] = field(default_factory=list)


def read_table(
    path: str | Path,
    reader: Reader | None = None,
    *,
    label: str | None = None,
    ignore: Sequence[str] = (),
    features: Mapping[str, str] | None = None,
) -> Table:
    """Read a file of data.

    Parameters
    ----------
    path : str or Path
        The file, in the format of its ending; "-" is CSV from standard input.
    reader : Reader, optional
        How it is read.
    label : str, optional
        The column of labels by name, or by position from 1 (-1 is the last); or a file of labels
        beside an NPY file.
    ignore : sequence of str
        Columns that are no features.
    features : mapping of str to str, optional
        Names of the columns to take, in this order, and their types (as an encoder has them); by
        default all others.

    Raises
    ------
    FileError
        The file cannot be read, or has not these columns.
    """
    wanted = _Wanted(str(path), label, tuple(ignore), features)
    kind = format_of(path)
    if kind in ("npy", "npz", "libsvm"):
        with _sentences(path):
            matrix, labels = _ARRAYS[kind](Path(path), label)
        return _of_matrix(matrix, labels, wanted)
    frame, named, notes = read_frame(path, reader, texts=wanted.texts, is_header=wanted.knows)
    return _of_frame(frame, wanted, named=named, notes=notes)


def read_frame(
    path: str | Path,
    reader: Reader | None = None,
    *,
    texts: Texts = lambda names: (),
    is_header: Callable[[Sequence[str]], bool] = lambda names: False,
) -> tuple[DataFrame, bool, list[str]]:
    """Read a table of columns.

    Parameters
    ----------
    path : str or Path
        The file.
    reader : Reader, optional
        How it is read.
    texts : callable
        Names the columns, among all names, whose texts are wanted as they stand.
    is_header : callable
        Whether a first row with numbers names the columns.

    Returns
    -------
    frame : DataFrame
        The columns, with pandas' nullable types.
    named : bool
        Whether the file names them.
    notes : list of str
        What was decided about the file and may be wrong.
    """
    reader, kind = reader or Reader(), format_of(path)
    with _sentences(path):
        frame, named, notes = _FRAMES[kind](path, reader, texts, is_header)
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


def is_table(path: str | Path) -> bool:
    """Whether there is such a file of a table, by its ending."""
    return Path(path).is_file() and _suffix(Path(path)) in _FORMATS


def _suffix(path: Path) -> str:
    """Return the ending of a name, in front of that of a packed file."""
    return Path(path.stem if path.suffix.lower() in _PACKED else path).suffix.lower()


@contextmanager
def _sentences(path: str | Path) -> Iterator[None]:
    """Raise what pandas and others say about a file as `FileError`."""
    try:
        yield
    except FileError:
        raise
    except ImportError as missing:
        raise FileError(needs_package(f"Reading {path}", str(missing.name))) from missing
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


def _read_text(
    path: str | Path, reader: Reader, texts: Texts, is_header: Callable[..., bool]
) -> tuple[DataFrame, bool, list[str]]:
    """Read CSV and the like: numbers first, then columns of texts once more, as they stand."""
    import pandas as pd

    content, encoding, notes = _content(path, reader.encoding)
    lines = partial(_lines, content, encoding, reader.skiprows)
    is_tsv = _suffix(Path(path)) in (".tsv", ".tab")
    sep = reader.sep or ("\t" if is_tsv else _separator("".join(islice(lines(), _SAMPLED))))
    head = next(filter(any, _rows(lines(), sep)), None)
    if head is None:
        raise FileError(f"{path} is empty: give a table.")
    names, named = _names(path, head, reader, is_header)
    as_text = [*texts(names)]
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
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        how["float_precision"] = "round_trip"  # as of 3.1 without asking
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
        if row and len(row) < n_columns:
            raise FileError(
                f"{path} has {len(row)} cells in row {number} of its text, where the first row has "
                f"{n_columns}: give each row the same number of cells."
            )


def _names(
    path: str | Path, head: Sequence[Any], reader: Reader, is_header: Callable[..., bool]
) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the first row has them."""
    names = ["" if cell is None or cell != cell else str(cell).strip() for cell in head]
    if reader.header == "none":
        return [f"column {i + 1}" for i in range(len(names))], False
    number = next(filter(_is_number, names), None)
    if number is not None and reader.header is None and not is_header(names):
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


def _is_number(cell: str) -> bool:
    try:
        return isfinite(float(cell.replace(",", ".")))
    except ValueError:
        return False


def _read_json(
    path: str | Path, reader: Reader, texts: Texts, is_header: Callable[..., bool]
) -> tuple[DataFrame, bool, list[str]]:
    """Read objects of JSON, a list or one a line; pandas would guess dates and round numbers."""
    import pandas as pd

    content, encoding, notes = _content(path, reader.encoding)
    text = content.decode(encoding)
    loads = partial(json.loads, object_pairs_hook=_object)
    rows = loads(text) if text.lstrip().startswith("[") else []
    for number, line in enumerate([] if rows else text.splitlines(), 1):
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


def _read_xlsx(
    path: str | Path, reader: Reader, texts: Texts, is_header: Callable[..., bool]
) -> tuple[DataFrame, bool, list[str]]:
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
    frame.columns, named = _names(path, frame.iloc[0].tolist(), reader, is_header)
    return _typed(frame.iloc[int(named) :].reset_index(drop=True)), named, []


def _read_parquet(
    path: str | Path, reader: Reader, texts: Texts, is_header: Callable[..., bool]
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
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except Exception as wrong:  # parsers of foreign files raise anything
        raise FileError(
            f"Cannot read {str(path)!r} ({reason(wrong)}): give an array of numbers as np.save "
            "writes it."
        ) from wrong


def _read_npy(path: Path, label: str | None) -> tuple[npt.NDArray[Any], Any]:
    """Map a matrix; ``label`` may name a file of labels, NPY or a text with one in each line."""
    matrix = load_npy(path)
    if label is None or not (label.endswith(".npy") or Path(label).is_file()):
        return matrix, None
    if label.endswith(".npy"):
        return matrix, load_npy(Path(label))
    content, encoding, _ = _content(label, None)
    lines = content.decode(encoding).splitlines()
    return matrix, [line.strip() for line in lines[len(lines) == len(matrix) + 1 :]]


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


_ARRAYS = {"npy": _read_npy, "npz": _read_npz, "libsvm": _read_libsvm}
"""Readers of matrices, by format; labels are beside them."""


@dataclass(frozen=True)
class _Wanted:
    """Which columns of a file are the label, ignored and features; see `read_table`."""

    source: str
    label: str | None
    ignore: tuple[str, ...]
    features: Mapping[str, str] | None

    def knows(self, head: Sequence[str]) -> bool:
        """Whether a row has the names that are asked for."""
        if self.features is not None:
            return {*self.features} <= {*head}
        is_name = self.label is not None and not _is_number(self.label)
        return is_name and position_of(str(self.label), head) is not None

    def texts(self, names: Sequence[str]) -> list[str]:
        """Return the columns that are read as they stand: labels, categories, no features."""
        asked = [*self.ignore, *filter(None, [self.label])]
        places = {position_of(name, names) for name in asked}
        found = {name: position_of(name, names, by_name=True) for name in self.features or {}}
        if found and None not in found.values():
            types = {found[name]: kind for name, kind in (self.features or {}).items()}
            places |= {i for i in range(len(names)) if types.get(i) not in ("number", "boolean")}
        return [name for i, name in enumerate(names) if i in places]

    def place(self, column: str, names: Sequence[str], what: str, *, by_name: bool = False) -> int:
        """Return the index of a column.

        Raises
        ------
        FileError
            There is none of that name or position.
        """
        place = position_of(column, names, by_name=by_name)
        if place is not None:
            return place
        close = get_close_matches(column, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        where = "" if by_name else f", or a position from 1 to {len(names)}"
        raise FileError(
            f"{self.source} has no column {column!r} ({what}): give one of {listed(names)}{where}"
            f"{hint}"
        )

    def taken(self, names: Sequence[str], *, named: bool) -> list[int]:
        """Return the indices of the features."""
        features = self.features
        if features is not None and (named or {*features} <= {*names}):
            what = "a feature of the metric"
            return [self.place(name, names, what, by_name=True) for name in features]
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


def position_of(column: str, names: Sequence[str], *, by_name: bool = False) -> int | None:
    """Return the index of the column of that name or, unless ``by_name``, position; or None.

    Capitals make no difference where only one name fits. Where names are whole numbers a whole
    number is a name; only -1, -2 ... count from the end.

    >>> [position_of(column, ["a", "b", "c"]) for column in ("b", "B", "1", "-1", "0", "d")]
    [1, 1, 0, 2, None, None]
    >>> [position_of(column, ["0", "1", "2"]) for column in ("1", "3", "-1")]
    [1, None, 2]
    """
    if column in names:
        return names.index(column)
    same = [i for i, name in enumerate(names) if name.casefold() == column.strip().casefold()]
    if len(same) == 1:
        return same[0]
    places = [*range(1, len(names) + 1), *range(-len(names), 0)]
    if by_name or column not in map(str, places):
        return None
    place = int(column)
    if place > 0 and any(map(str.isdecimal, names)):
        return None
    return place - 1 if place > 0 else len(names) + place


def _of_frame(frame: DataFrame, wanted: _Wanted, *, named: bool, notes: list[str]) -> Table:
    """Choose features, labels and the rest among columns; a column of vectors is a matrix."""
    names = [*frame.columns]
    X = frame.iloc[:, wanted.taken(names, named=named)]
    vectors = [name for name in X if _has_vectors(X[name])]
    if len(vectors) > 1:
        raise FileError(
            f"{wanted.source} has vectors in {vectors[0]!r} and {vectors[1]!r}: leave one out with "
            "--ignore."
        )
    left_out = [name for name in X if vectors and name != vectors[0]]
    if left_out:
        notes = [*notes, f"Left out beside vectors: {listed(left_out)}."]
    others = frame.drop(columns=[name for name in X if name not in left_out])
    if vectors:
        features = stacked(wanted.source, X[vectors[0]])
    else:
        features = X if wanted.features is None else X.set_axis([*wanted.features], axis=1)
    table = Table(features, others=others, named=named and not vectors, notes=notes)
    if wanted.label is None:
        return table
    label = names[wanted.place(wanted.label, names, "--label")]
    y, has_label = _labels(frame[label].tolist(), f"{wanted.source}, column {label!r}")
    return replace(table, y=y, has_label=has_label, label=label if named else None)


def _has_vectors(column: Series) -> bool:
    given = column.dropna()
    return len(given) > 0 and isinstance(_vector(given.iloc[0]), list | np.ndarray)


def _vector(cell: Any) -> Any:
    """Return a cell, or the list of numbers that its text is."""
    if isinstance(cell, str) and cell.startswith("["):
        with suppress(ValueError):
            return json.loads(cell)
    return cell


def stacked(source: str, column: Series) -> npt.NDArray[Any]:
    """Return a column of vectors as a matrix."""
    try:
        matrix = np.array([*map(_vector, column)], dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2:
        raise FileError(
            f"{source} has vectors of different lengths, or other cells, in the column "
            f"{column.name!r}: leave out these rows, or the column."
        )
    return matrix


def numbers_of(frame: DataFrame, source: str) -> npt.NDArray[Any]:
    """Return columns of finite numbers as a matrix."""
    columns = [plain(frame[name]) for name in frame]
    for name, column in zip(frame, columns, strict=True):
        for row, cell in enumerate(column.tolist(), 1):
            if not isinstance(cell, float) or not isfinite(cell):
                raise FileError(
                    f"{source} has {cell!r} in row {row} of the column {name!r}, where a finite "
                    "number is needed: correct it, or leave such rows out."
                )
    return np.column_stack(columns)


def _of_matrix(matrix: npt.NDArray[Any], labels: Any, wanted: _Wanted) -> Table:
    """Choose features and labels among the columns of a matrix."""
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf" or 0 in matrix.shape:
        raise FileError(
            f"{wanted.source} has an array of shape {matrix.shape} and type {matrix.dtype}: give "
            "numbers in rows and columns, at least one of each."
        )
    names = [f"column {i + 1}" for i in range(matrix.shape[1])]
    if labels is not None:
        wanted = replace(wanted, label=None)
        if np.shape(labels) != (len(matrix),):
            raise FileError(
                f"{wanted.source} has labels of shape {np.shape(labels)}: give one for each of the "
                f"{len(matrix)} rows."
            )
    elif wanted.label is not None:
        labels = matrix[:, wanted.place(wanted.label, names, "--label")]
    taken = wanted.taken(names, named=False)
    is_block = taken == [*range(taken[0], taken[-1] + 1)]  # a slice copies nothing
    X = matrix[:, slice(taken[0], taken[-1] + 1) if is_block else taken]
    is_mapped = isinstance(matrix, np.memmap) and X.nbytes > LARGEST_READ
    if not is_mapped and (wanted.features is not None or np.isnan(X).any()):
        import pandas as pd

        columns = wanted.features or [names[i] for i in taken]
        X = pd.DataFrame(np.asarray(X, dtype=np.float64), columns=[*columns])
    if labels is None:
        return Table(X)
    cells = np.asarray(labels).tolist()
    y, has_label = _labels(cells, wanted.source)
    import pandas as pd

    return Table(X, y, has_label, others=pd.DataFrame({"label": pd.Series(cells, dtype=object)}))


def _labels(cells: list[Any], where: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return labels, and which rows have one: whole numbers if all are so written, else texts."""
    text_of_cell = {
        cell: "" if is_missing(cell) else text_of(cell).strip() for cell in dict.fromkeys(cells)
    }
    texts = np.array([text_of_cell[cell] for cell in cells], dtype=object)
    distinct = [text for text in text_of_cell.values() if text]
    if not distinct:
        raise FileError(f"{where}, has no label: name another column with --label.")
    if max(map(len, distinct)) > LONGEST_LABEL:
        raise FileError(
            f"{where}, has a text of {max(map(len, distinct)):,} characters: labels are names of "
            f"classes, at most {LONGEST_LABEL} characters long."
        )
    has_label = texts != ""
    is_whole = all(map(WHOLE.fullmatch, distinct))
    return texts[has_label].astype(np.int64 if is_whole else np.str_), has_label


def check_output(path: str | Path) -> None:
    """Raise `FileError`, before any work is done, if images cannot be written there."""
    suffix = Path(path).suffix.lower()
    if suffix not in OUTPUTS:
        raise FileError(f"The output must end in {', '.join(OUTPUTS)}, got {str(path)!r}.")
    package = {".parquet": "pyarrow", ".xlsx": "openpyxl"}.get(suffix, "numpy")
    if find_spec(package) is None:
        raise FileError(needs_package(f"Writing {path}", package))
    check_writable(path)


def write_table(
    path: str | Path,
    images: npt.NDArray[Any],
    names: Sequence[str],
    *,
    others: DataFrame | None = None,
    y: npt.NDArray[Any] | None = None,
) -> None:
    """Write images, with other columns in front; an NPY holds images only, an NPZ also ``y``.

    "-" is CSV to standard output.
    """
    suffix = Path(path).suffix.lower()
    if str(path) == STANDARD:
        _write_columns(sys.stdout.buffer, ".csv", _frame(images, names, others))
        return
    with atomic_write(path) as stream:
        if suffix == ".npy":
            np.save(stream, images, allow_pickle=False)
        elif suffix == ".npz":
            labels: dict[str, Any] = {} if y is None else {"y": y}
            np.savez(stream, X=images, **labels)
        else:
            _write_columns(stream, suffix, _frame(images, names, others))


def _frame(images: npt.NDArray[Any], names: Sequence[str], others: DataFrame | None) -> DataFrame:
    import pandas as pd

    columns = pd.DataFrame(images, columns=[*names])
    return columns if others is None else pd.concat([others, columns], axis=1)


def _write_columns(stream: IO[bytes], suffix: str, frame: DataFrame) -> None:
    try:
        if suffix == ".parquet":
            frame.to_parquet(stream, index=False)
            return
        harmless = frame.map(_harmless).rename(columns=_harmless)
        if suffix == ".xlsx":
            harmless.to_excel(stream, index=False)
        else:
            harmless.to_csv(stream, index=False, sep="\t" if suffix == ".tsv" else ",")
    except (TypeError, ValueError) as wrong:
        raise FileError(
            f"A file that ends in {suffix} cannot hold these columns ({reason(wrong)}): leave out "
            "columns, or write .csv."
        ) from wrong


def _harmless(cell: Any) -> Any:
    """Put an apostrophe in front of a text that a spreadsheet would take for a formula.

    >>> [_harmless(cell) for cell in ("=1+1", "-0.25", "-0,25", "a=b", -1)]
    ["'=1+1", '-0.25', '-0,25', 'a=b', -1]
    """
    is_formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if is_formula and not _is_number(cell) else cell
