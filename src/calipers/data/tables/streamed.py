"""Large Parquet files: columns are chosen first, then read by batches into a mapped file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data import memmap
from calipers.data.files import FileError
from calipers.data.tables.columnar import (
    as_column,
    batches,
    explained,
    is_nested,
    is_number,
    parquet,
    parquet_facts,
    read_measured,
)
from calipers.data.tables.table import Chosen, Column, Table, first_gap


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
        first = 0
        for batch in self._batches(names):
            last = first + len(batch)
            self._check_rows(last <= self.n_rows)
            for place, name in enumerate(names):
                numbers = as_column(name, batch.column(name)).values
                gap = first_gap(numbers[:, None])
                if gap is not None:
                    what = "no value" if np.isnan(numbers[gap[0]]) else f"{numbers[gap[0]]}"
                    raise FileError(
                        f"{self.source} has {what} in row {first + gap[0] + 1} in the column "
                        f"{name!r}, where a finite number is needed in a file of this size: fill "
                        "or remove such rows first, or leave the column out with --ignore."
                    )
                X[first:last, place] = numbers
            first = last
            memmap.release(X)
        self._check_rows(first == self.n_rows)
        return X

    def carried(self, chosen: Chosen, ignore: Sequence[str] = ()) -> list[Column]:
        """Read the label, ``ignore``, and as many other columns as a small file may have."""
        named = {self.columns[self._position(name, "--ignore")].name for name in ignore}
        if chosen.label is not None:
            named.add(chosen.label)
        with self._named(), explained(self.path):
            schema, _ = parquet_facts(self.path)
            flat = [c.name for c in chosen.others if not is_nested(schema.field(c.name).type)]
            n_more = memmap.LARGEST_READ // (8 * self.n_rows) - len(named)
            more = [name for name in flat if name not in named][: max(0, n_more)]
            read = [*(named & {*flat}), *more]
            table = read_measured(self.path, read)
            found = {name: as_column(name, table[name], "carried") for name in read}
        for name in {*flat} - {*found}:
            found[name] = Column(
                name, np.empty(0), f"the file is large; --ignore {name} carries it"
            )
        return [found.get(column.name, column) for column in chosen.others]

    def _batches(self, names: list[str]) -> Iterator[Any]:
        with self._named():
            yield from batches(self.path, names)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Errors name the source, which may be standard input, and not the file it was put into."""
        try:
            yield
        except FileError as wrong:
            raise FileError(str(wrong).replace(str(self.path), self.source)) from wrong

    def _check_rows(self, are_declared: bool) -> None:
        if not are_declared:
            raise FileError(
                f"{self.source} has not the {self.n_rows:,} rows that it declares: write it again."
            )

    def _label_values(
        self, column: Column
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        with self._named(), explained(self.path):
            table = read_measured(self.path, [column.name])
            found = as_column(column.name, table[column.name], "label")
        return super()._label_values(found)


def streamed_parquet(path: Path) -> StreamedTable | None:
    """A table that reads by batches, if the file is too large to be read as a whole."""
    parquet()
    with explained(path):
        schema, n_rows = parquet_facts(path)
    if 8 * n_rows * len(schema.names) <= memmap.LARGEST_READ:
        return None
    columns = [
        Column(kind.name, np.empty(0), "" if is_number(kind.type) else f"type {kind.type}")
        for kind in schema
    ]
    return StreamedTable(str(path), columns, path=path, n_rows=n_rows)
