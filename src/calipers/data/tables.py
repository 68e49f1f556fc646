"""A user's table from a file: features, labels and the rest; and images written as one."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.data.encoder import listed, text_of
from calipers.data.files import FileError, atomic_write, check_writable, needs_package
from calipers.data.frames import (
    STANDARD,
    Reader,
    Roles,
    format_of,
    is_number,
    read_frame,
    read_matrix,
    sentences,
)
from calipers.data.samples import LARGEST_READ, is_missing

if TYPE_CHECKING:
    from pandas import DataFrame, Series

OUTPUTS = (".csv", ".tsv", ".xlsx", ".npy", ".npz", ".parquet")

WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")
"""A whole number of int64 as it is written without loss."""


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
    roles = Roles(str(path), label, ignore, features)
    with sentences(path):
        if format_of(path) in ("npy", "npz", "libsvm"):
            return _of_matrix(*read_matrix(path, label), roles)
        frame, named, notes = read_frame(path, reader, roles)
        return _of_frame(frame, roles, named=named, notes=notes)


def _of_frame(frame: DataFrame, roles: Roles, *, named: bool, notes: list[str]) -> Table:
    """Choose features, labels and the rest among columns; a column of vectors is a matrix."""
    names = [*frame.columns]
    X = frame.iloc[:, roles.taken(names, named=named)]
    vectors = [name for name in X if isinstance(X[name].iloc[0], list | np.ndarray)][:1]
    left_out = [name for name in X if vectors and name not in vectors]
    if left_out:
        notes = [*notes, f"Left out beside vectors: {listed(left_out)}."]
    if vectors:
        features = stacked(roles.source, X[vectors[0]])
    else:
        features = X if roles.features is None else X.set_axis([*roles.features], axis=1)
    others = frame.drop(columns=vectors or [*X])
    table = Table(features, others=others, named=named and not vectors, notes=notes)
    if roles.label is None:
        return table
    label = names[roles.place(roles.label, names, "--label")]
    y, has_label = _labels(frame[label].tolist(), f"{roles.source}, column {label!r}")
    return replace(table, y=y, has_label=has_label, label=label if named else None)


def stacked(source: str, column: Series) -> npt.NDArray[Any]:
    """Return a column of vectors as a matrix."""
    try:
        matrix = np.array([*column], dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2:
        raise FileError(
            f"{source} has vectors of different lengths, or other cells, in the column "
            f"{column.name!r}: leave out these rows, or the column."
        )
    return matrix


def _of_matrix(matrix: npt.NDArray[Any], labels: Any, roles: Roles) -> Table:
    """Choose features and labels among the columns of a matrix."""
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf" or 0 in matrix.shape:
        raise FileError(
            f"{roles.source} has an array of shape {matrix.shape} and type {matrix.dtype}: give "
            "numbers in rows and columns, at least one of each."
        )
    names = [f"column {i + 1}" for i in range(matrix.shape[1])]
    if labels is not None:
        roles = replace(roles, label=None)
        if np.shape(labels) != (len(matrix),):
            raise FileError(
                f"{roles.source} has labels of shape {np.shape(labels)}: give one for each of the "
                f"{len(matrix)} rows."
            )
    elif roles.label is not None:
        labels = matrix[:, roles.place(roles.label, names, "--label")]
    taken = roles.taken(names, named=False)
    is_block = taken == [*range(taken[0], taken[-1] + 1)]  # a slice copies nothing
    X = matrix[:, slice(taken[0], taken[-1] + 1) if is_block else taken]
    is_mapped = isinstance(matrix, np.memmap) and X.nbytes > LARGEST_READ
    if not is_mapped and (roles.features is not None or np.isnan(X).any()):
        import pandas as pd

        columns = roles.features or [names[i] for i in taken]
        X = pd.DataFrame(np.asarray(X, dtype=np.float64), columns=[*columns])
    if labels is None:
        return Table(X)
    cells = np.asarray(labels).tolist()
    y, has_label = _labels(cells, roles.source)
    import pandas as pd

    return Table(X, y, has_label, others=pd.DataFrame({"label": pd.Series(cells, dtype=object)}))


def _labels(cells: list[Any], where: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return labels, and which rows have one: whole numbers if all are so written, else texts."""
    text_of_cell = {cell: "" if is_missing(cell) else text_of(cell).strip() for cell in {*cells}}
    texts = np.array([text_of_cell[cell] for cell in cells], dtype=object)
    has_label = texts != ""
    if not has_label.any():
        raise FileError(f"{where}, has no label: name another column with --label.")
    is_whole = all(map(WHOLE.fullmatch, {*texts[has_label]}))
    return texts[has_label].astype(np.int64 if is_whole else np.str_), has_label


def check_output(path: str | Path) -> None:
    """Raise `FileError`, before any work is done, if images cannot be written there."""
    suffix = Path(path).suffix.lower()
    if suffix not in OUTPUTS:
        raise FileError(f"The output must end in {', '.join(OUTPUTS)}, got {str(path)!r}.")
    package = {".parquet": "pyarrow", ".xlsx": "openpyxl"}.get(suffix, "numpy")
    if find_spec(package) is None:
        raise FileError(needs_package(f"Writing {path}", package, "tables"))
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
    with nullcontext(sys.stdout.buffer) if str(path) == STANDARD else atomic_write(path) as stream:
        if suffix == ".npy":
            np.save(stream, images, allow_pickle=False)
        elif suffix == ".npz":
            labels: dict[str, Any] = {} if y is None else {"y": y}
            np.savez(stream, X=images, **labels)
        else:
            import pandas as pd

            columns = pd.DataFrame(images, columns=[*names])
            _write_columns(stream, suffix, pd.concat([others, columns], axis=1))


def _write_columns(stream: IO[bytes], suffix: str, frame: DataFrame) -> None:
    if suffix == ".parquet":
        frame.to_parquet(stream, index=False)
        return
    harmless = frame.map(_harmless).rename(columns=_harmless)
    if suffix == ".xlsx":
        harmless.to_excel(stream, index=False)
    else:
        harmless.to_csv(stream, index=False, sep="\t" if suffix == ".tsv" else ",")


def _harmless(cell: Any) -> Any:
    """Put an apostrophe in front of a text that a spreadsheet would take for a formula.

    >>> [_harmless(cell) for cell in ("=1+1", "-0.25", "-0,25", "a=b", -1)]
    ["'=1+1", '-0.25', '-0,25', 'a=b', -1]
    """
    is_formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if is_formula and not is_number(cell) else cell
