"""Triplets for a solver, drawn from labels or given by a user, portion by portion.

However many triplets are asked for, only one portion is in memory, and the triplets do
not depend on the size of the portions.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.triplets.search import nearest_same_and_other

LARGEST_PORTION = 65_536


def usable_anchors(labels: IndexArray) -> IndexArray:
    """Row numbers whose class has another member, in ascending order.

    >>> usable_anchors(np.array([0, 1, 0, 2, 0]))
    array([0, 2, 4])
    """
    return np.flatnonzero(np.bincount(labels)[labels] >= 2)


class Source(Protocol):
    """A list of triplets, or of pairs, that may be too long to hold."""

    def __len__(self) -> int: ...

    def portions(self, size: int) -> Iterator[IndexArray]:
        """All of it in order, ``size`` at a time."""
        ...


class GivenTriplets:
    """A user's own triplets, or pairs, in the order given.

    >>> [len(p) for p in GivenTriplets(np.zeros((5, 3), dtype=np.intp)).portions(2)]
    [2, 2, 1]
    """

    def __init__(self, triplets: IndexArray) -> None:
        self.triplets = triplets

    def __len__(self) -> int:
        return len(self.triplets)

    def portions(self, size: int) -> Iterator[IndexArray]:
        """All of them in order, ``size`` at a time."""
        for first in range(0, len(self.triplets), size):
            yield self.triplets[first : first + size]


class DrawnTriplets:
    """Triplets drawn from labelled rows, the same ones each time they are asked for.

    Anchors are uniform with replacement among the rows whose class has another member;
    the near row is uniform among the anchor's ``n_neighbors`` nearest rows of its class
    (all of them if there are fewer), the far row among its ``n_neighbors`` nearest rows of
    other classes. With one neighbour these are the paper's triplets. Only the anchors that
    will be drawn are searched. Anchors, near and far rows have each their own random
    stream, spawned from ``rng``.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> labels = np.array([0, 0, 1, 1])
    >>> source = DrawnTriplets(X, labels, 3, n_neighbors=1, rng=np.random.default_rng(0))
    >>> next(source.portions(3)).tolist()
    [[3, 2, 1], [3, 2, 1], [0, 1, 2]]
    """

    def __init__(
        self,
        X: npt.NDArray[Any],
        labels: IndexArray,
        n_triplets: int,
        *,
        n_neighbors: int,
        rng: np.random.Generator,
    ) -> None:
        self.n_triplets = n_triplets
        self._streams = rng.spawn(3)
        self._candidates = usable_anchors(labels)
        drawn = np.zeros(len(labels), dtype=np.bool_)
        for anchors in self._anchors(LARGEST_PORTION, deepcopy(self._streams[0])):
            drawn[anchors] = True
        distinct = np.flatnonzero(drawn)
        self._position = np.cumsum(drawn) - 1
        self._same, self._other = nearest_same_and_other(
            X, labels, distinct, n_same=n_neighbors, n_other=n_neighbors
        )

    def __len__(self) -> int:
        return self.n_triplets

    def portions(self, size: int) -> Iterator[IndexArray]:
        """All triplets in order, ``size`` at a time."""
        anchor_rng, near_rng, far_rng = deepcopy(self._streams)
        for anchors in self._anchors(size, anchor_rng):
            rows = self._position[anchors]
            near = _choose(self._same[rows], near_rng)
            far = _choose(self._other[rows], far_rng)
            yield np.column_stack([anchors, near, far])

    def _anchors(self, size: int, rng: np.random.Generator) -> Iterator[IndexArray]:
        for first in range(0, self.n_triplets, size):
            count = min(size, self.n_triplets - first)
            yield self._candidates[rng.integers(len(self._candidates), size=count)]


def _choose(nearest: IndexArray, rng: np.random.Generator) -> IndexArray:
    """One row number per list, uniform among those found (-1 pads a short list)."""
    if nearest.shape[1] == 1:
        return nearest[:, 0]
    n_found = np.count_nonzero(nearest >= 0, axis=1)
    chosen: IndexArray = nearest[np.arange(len(nearest)), rng.integers(n_found)]
    return chosen
