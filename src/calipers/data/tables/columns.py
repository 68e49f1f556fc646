"""Named columns of equal length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray


class Columns:
    """Named columns of equal length: as much of a data frame as `TableEncoder` needs.

    Parameters
    ----------
    columns : mapping of str to ndarray
        The columns by name.
    """

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._columns = dict(columns)
        self.columns = list(self._columns)
        self.shape = (len(next(iter(self._columns.values()))), len(self.columns))

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name]

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: npt.NDArray[Any]) -> Columns:
        """Return some of the rows."""
        return Columns({name: column[rows] for name, column in self._columns.items()})

    def select(self, names: Sequence[str]) -> Columns:
        """Return some of the columns, in this order."""
        return Columns({name: self._columns[name] for name in names})

    def renamed(self, names: Sequence[str]) -> Columns:
        """Return the same columns under other names."""
        return Columns(dict(zip(names, self._columns.values(), strict=True)))

    def numbers(self) -> FloatArray:
        """Return all columns as one matrix.

        Raises
        ------
        ValueError
            A column has a text, or a value that is missing or not finite.
        """
        for name, column in self._columns.items():
            if column.dtype.kind == "O":
                text = next(str(cell) for cell in column if cell is not None)
                raise ValueError(
                    f"the column {name!r} has {text[:40]!r}, where a number is needed: correct it, "
                    "or fit the metric again from a table."
                )
            finite = np.isfinite(column)
            if not finite.all():
                row = int((~finite).argmax()) + 1
                raise ValueError(
                    f"the column {name!r} has no finite number in row {row}: fill or remove such "
                    "rows first."
                )
        return np.column_stack(list(self._columns.values())).astype(np.float64, copy=False)
