"""Rows and their classes, wherever they are: what triplets are drawn from.

Drawing and learning ask few things of the rows, so that they can be in memory, in a file or
on a cluster. A row is known by its number, and all answers are exact: none depends on where
the rows are or in which blocks they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.triplets.search import nearest_same_and_other

RowMap: TypeAlias = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
"""A map of rows, each by itself: the image of a row must not depend on those beside it."""


@dataclass(frozen=True)
class Chain:
    """One map after another."""

    first: RowMap
    second: RowMap

    def __call__(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Rows through both."""
        return self.second(self.first(rows))


def chained(first: RowMap | None, second: RowMap) -> RowMap:
    """``second`` after ``first``, if there is one."""
    if first is None:
        return second
    return Chain(first, second)


class Rows(Protocol):
    """Rows of shape (n, d), in float64 or float32, with class codes 0 .. C-1 if there are any."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows, and of how many features."""
        ...

    @property
    def class_sizes(self) -> IndexArray:
        """Rows of each class; empty where the rows have no labels."""
        ...

    @property
    def lonely(self) -> IndexArray:
        """Numbers, ascending, of the rows whose class has no other."""
        ...

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The lowest and the highest value of each feature."""
        ...

    def take(self, numbers: IndexArray) -> npt.NDArray[Any]:
        """The rows of these numbers, in this order."""
        ...

    def labels_of(self, numbers: IndexArray) -> IndexArray:
        """Their class codes."""
        ...

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """As :func:`~calipers.triplets.search.nearest_same_and_other`."""
        ...

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """An array with the rows of all examples, and the examples as rows of it.

        The first ``n_columns`` of an example are row numbers.
        """
        ...

    def mapped(self, row_map: RowMap) -> Self:
        """The images of these rows, with the same numbers and classes."""
        ...


class RowsInMemory:
    """Rows that are an array.

    >>> rows = RowsInMemory(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1]))
    >>> rows.class_sizes, rows.lonely
    (array([2, 1]), array([2]))
    """

    def __init__(self, X: npt.NDArray[Any], labels: IndexArray | None = None) -> None:
        self.X = X
        self.labels = np.empty(0, dtype=np.intp) if labels is None else labels
        self.class_sizes: IndexArray = np.bincount(self.labels)
        self.lonely: IndexArray = np.flatnonzero(self.class_sizes[self.labels] == 1)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows, and of how many features."""
        return self.X.shape[0], self.X.shape[1]

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The lowest and the highest value of each feature."""
        return self.X.min(axis=0), self.X.max(axis=0)

    def take(self, numbers: IndexArray) -> npt.NDArray[Any]:
        """The rows of these numbers, in this order."""
        taken: npt.NDArray[Any] = self.X[numbers]
        return taken

    def labels_of(self, numbers: IndexArray) -> IndexArray:
        """Their class codes."""
        return self.labels[numbers]

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """As :func:`~calipers.triplets.search.nearest_same_and_other`."""
        return nearest_same_and_other(self.X, self.labels, anchors, n_same=n_same, n_other=n_other)

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """All rows, and the examples as they are."""
        return self.X, examples

    def mapped(self, row_map: RowMap) -> RowsInMemory:
        """The images of these rows, with the same numbers and classes."""
        return RowsInMemory(row_map(self.X), self.labels)


def usable(rows: Rows, places: IndexArray) -> IndexArray:
    """Numbers of rows by their places among those whose class has another.

    >>> rows = RowsInMemory(np.zeros((5, 1)), np.array([0, 1, 0, 2, 0]))
    >>> usable(rows, np.arange(n_usable(rows)))
    array([0, 2, 4])
    """
    passed = np.searchsorted(rows.lonely - np.arange(len(rows.lonely)), places, side="right")
    return np.asarray(places + passed, dtype=np.intp)


def n_usable(rows: Rows) -> int:
    """How many rows have another of their class."""
    return rows.shape[0] - len(rows.lonely)


def gathered(
    rows: Rows, examples: IndexArray, n_columns: int
) -> tuple[npt.NDArray[Any], IndexArray]:
    """Fetch the rows of examples, each once; and the examples as rows of what was fetched."""
    numbers, places = np.unique(examples[:, :n_columns], return_inverse=True)
    local = examples.copy()
    local[:, :n_columns] = places.reshape(len(examples), n_columns)
    return rows.take(numbers), local
