"""Mapped rows as a file: CSV, TSV, NPY, NPZ or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from calipers.data.tables.columnar import parquet
from calipers.io import FileError, atomic_write, check_writable

OUTPUTS = (".csv", ".tsv", ".npy", ".npz", ".parquet")
_BLOCK = 4096


def check_output(path: Path) -> None:
    """Raise `FileError`, before any work is done, if rows cannot be written there."""
    if path.suffix.lower() not in OUTPUTS:
        raise FileError(f"The output must end in {', '.join(OUTPUTS)}, got {str(path)!r}.")
    if path.suffix.lower() == ".parquet":
        parquet()
    check_writable(path)


def write(
    path: Path,
    X: npt.NDArray[Any],
    names: list[str],
    *,
    carried: Mapping[str, npt.NDArray[Any]] | None = None,
    y: npt.NDArray[Any] | None = None,
) -> None:
    """Write rows, with other columns in front; an NPY holds the rows only, an NPZ also ``y``."""
    suffix = path.suffix.lower()
    with atomic_write(path) as stream:
        if suffix == ".npy":
            np.save(stream, X, allow_pickle=False)
        elif suffix == ".npz":
            arrays: dict[str, Any] = {"X": X} if y is None else {"X": X, "y": y}
            np.savez(stream, **arrays)
        elif suffix == ".parquet":
            import pyarrow as pa

            columns = {name: pa.array(cells.tolist()) for name, cells in (carried or {}).items()}
            columns |= {name: pa.array(X[:, i]) for i, name in enumerate(names)}
            parquet().write_table(pa.table(columns), stream)
        else:
            write_text(stream, X, names, carried=carried, tabs=suffix == ".tsv")


def write_text(
    stream: IO[bytes],
    X: npt.NDArray[Any],
    names: list[str],
    *,
    carried: Mapping[str, npt.NDArray[Any]] | None = None,
    tabs: bool = False,
) -> None:
    """Write rows as text, with other columns in front."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter="\t" if tabs else ",", lineterminator="\n")
    others = carried or {}
    writer.writerow(map(_harmless, [*others, *names]))
    for start in range(0, len(X), _BLOCK):
        block = slice(start, start + _BLOCK)
        cells = [map(_harmless, column[block].tolist()) for column in others.values()]
        rows = X[block].tolist()
        writer.writerows(
            [[*front, *row] for front, row in zip(zip(*cells, strict=True), rows, strict=True)]
            if others
            else rows
        )
    text.flush()
    text.detach()


def _harmless(cell: Any) -> Any:
    """Put an apostrophe in front of a text that a spreadsheet would take for a formula.

    >>> [_harmless(cell) for cell in ("=1+1", "-", -1, "a=b")]
    ["'=1+1", "'-", -1, 'a=b']
    """
    is_formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if is_formula else cell
