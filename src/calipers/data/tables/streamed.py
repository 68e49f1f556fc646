"""Large Parquet files: columns are chosen first, then read by batches into a mapped file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers import memmap
from calipers.data.tables.columnar import (
    as_column,
    is_number,
    opened_parquet,
    parquet,
    read_measured,
)
from calipers.data.tables.table import Column, Table
from calipers.io import FileError
from calipers.io.errors import reason


@dataclass(frozen=True)
class StreamedTable(Table):
    """A Parquet file of which only names and types have been read.

    Attributes
    ----------
    path : Path
        The file.
    n_rows : int
        Its rows.
    """

    path: Path = Path()
    n_rows: int = 0

    def _gather(self, columns: list[Column]) -> npt.NDArray[Any]:
        """Numbers of the columns, in a memory-mapped file without a name."""
        names = [column.name for column in columns if not column.text]
        if not names:
            raise FileError(f"{self.source} has no column of numbers to learn from: give some.")
        X = memmap.temporary_memmap((self.n_rows, len(names)), np.float64)
        size = max(1, memmap.BLOCK_ELEMENTS // len(names))
        first = 0
        for batch in _guarded(self.path, _batches(self.path, names, size)):
            for place, name in enumerate(names):
                column = as_column(name, batch.column(name), first_row=first)
                if column.gap:
                    raise FileError(
                        f"{self.source} has {column.gap} in the column {name!r}, where a finite "
                        "number is needed in a file of this size: fill or remove such rows first, "
                        "or leave the column out with --ignore."
                    )
                X[first : first + len(batch), place] = column.values
            first += len(batch)
            memmap.release(X)
        return X

    def _label_values(self, column: Column) -> npt.NDArray[Any]:
        name = column.name
        with opened_parquet(self.path) as file:
            (table,) = _guarded(self.path, map(read_measured, [self.path], [file], [[name]]))
        return super()._label_values(as_column(name, table[name], is_label=True))


def streamed_parquet(path: Path) -> StreamedTable | None:
    """A table that reads by batches, if the file is too large to be read as a whole."""
    reader = parquet()
    try:
        with opened_parquet(path) as file:
            n_rows, schema = file.metadata.num_rows, reader.read_schema(path)
    except FileError:
        raise
    except Exception as wrong:  # ArrowException has subclasses of every kind
        raise _unreadable(path, wrong) from wrong
    if 8 * n_rows * len(schema.names) <= memmap.LARGEST_READ:
        return None
    if len(set(schema.names)) < len(schema.names):
        raise FileError(f"{path} has columns of the same name: give each its own name.")
    columns = [
        Column(kind.name, np.empty(0), "" if is_number(kind.type) else f"type {kind.type}")
        for kind in schema
    ]
    return StreamedTable(str(path), columns, path=path, n_rows=n_rows)


def _batches(path: Path, names: list[str], size: int) -> Any:
    with parquet().ParquetFile(path) as file:
        yield from file.iter_batches(batch_size=size, columns=names)


def _guarded(path: Path, batches: Any) -> Any:
    """The same batches; what pyarrow cannot read is told in one sentence."""
    try:
        yield from batches
    except FileError:
        raise
    except Exception as wrong:
        raise _unreadable(path, wrong) from wrong


def _unreadable(path: Path, wrong: Exception) -> FileError:
    return FileError(f"Cannot read {str(path)!r} as Parquet ({reason(wrong)}): check its format.")
