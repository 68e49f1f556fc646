"""Rows in a file: read block by block, never held as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.mapped import blocks_of, release
from calipers.triplets._product import Anchors
from calipers.triplets.passing import Passing
from calipers.triplets.rows import RowMap, RowsInMemory, chained, gathered

_ROWS_AT_ONCE = 16  # scattered rows, each of which may bring 2 MB of pages


class RowsOnDisk:
    """Rows of a mapped file, with the answers of :class:`RowsInMemory`.

    Parameters
    ----------
    X : memmap of shape (n, d)
        Rows of numbers; those that are neither float64 nor float32 are taken as float64.
    labels : array of shape (n,), optional
        Class codes 0 .. C-1, in memory.
    row_map : function, optional
        What is done to every block of rows that is read.
    """

    def __init__(
        self,
        X: npt.NDArray[Any],
        labels: IndexArray | None = None,
        row_map: RowMap | None = None,
    ) -> None:
        self.X, self.row_map = X, row_map
        of_labels = RowsInMemory(np.empty((0, 0)), labels)
        self.labels, self.class_sizes = of_labels.labels, of_labels.class_sizes
        self.lonely = of_labels.lonely

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows, and of how many features."""
        return self.X.shape[0], self.X.shape[1]

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """The number of a block's first row, and its rows, mapped."""
        for first, block in blocks_of(self.X):
            yield first, self._read(block)

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The lowest and the highest value of each feature."""
        low, high = np.full(self.shape[1], np.inf), np.full(self.shape[1], -np.inf)
        for _, block in self.blocks():
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        return low, high

    def take(self, numbers: IndexArray) -> npt.NDArray[Any]:
        """The rows of these numbers, in this order; they are read in the file's."""
        order = np.argsort(numbers, kind="stable")
        parts = np.split(order, range(_ROWS_AT_ONCE, len(order), _ROWS_AT_ONCE))
        taken = np.empty((len(numbers), self.shape[1]), dtype=_kind(self.X))
        for part in parts:
            taken[part] = self.X[numbers[part]]
            release(self.X)
        return taken if self.row_map is None else self.row_map(taken)

    def labels_of(self, numbers: IndexArray) -> IndexArray:
        """Their class codes."""
        return self.labels[numbers]

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """As that of rows in memory, by one pass over the file."""
        queries = Anchors(self.take(anchors), self.labels[anchors], anchors)
        passing = Passing(queries, n_same=n_same, n_other=n_other)
        for first, block in self.blocks():
            passing.offer(block, self.labels[first : first + len(block)], first)
        found = passing.found()
        return found.same, found.other

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """The rows of the examples only."""
        return gathered(self, examples, n_columns)

    def mapped(self, row_map: RowMap) -> RowsOnDisk:
        """The images of these rows; they are computed when a block is read."""
        return RowsOnDisk(self.X, self.labels, chained(self.row_map, row_map))

    def _read(self, block: npt.NDArray[Any]) -> npt.NDArray[Any]:
        rows = np.array(block, dtype=_kind(block), order="C")
        return rows if self.row_map is None else self.row_map(rows)


def _kind(X: npt.NDArray[Any]) -> type[np.floating[Any]]:
    return np.float32 if X.dtype == np.float32 else np.float64
