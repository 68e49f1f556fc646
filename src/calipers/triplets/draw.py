"""Triplets for a solver, drawn from labels or given by a user, portion by portion.

However many triplets are asked for, only one portion is in memory, and the triplets do
not depend on the size of the portions.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Protocol

import numpy as np

from calipers.arrays import IndexArray
from calipers.triplets.rows import Rows, n_usable, usable

LARGEST_PORTION = 65_536


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
    stream, spawned from ``rng``. Anchors may be restricted to those ``among`` some row numbers.

    Examples
    --------
    >>> from calipers.triplets import RowsInMemory
    >>> rows = RowsInMemory(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]))
    >>> source = DrawnTriplets(rows, 3, n_neighbors=1, rng=np.random.default_rng(0))
    >>> next(source.portions(3)).tolist()
    [[3, 2, 1], [3, 2, 1], [0, 1, 2]]
    """

    def __init__(
        self,
        rows: Rows,
        n_triplets: int,
        *,
        n_neighbors: int,
        rng: np.random.Generator,
        among: IndexArray | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self._rows, self._among = rows, among
        self._streams = rng.spawn(3)
        self._distinct = _distinct(self._anchors(LARGEST_PORTION, deepcopy(self._streams[0])))
        self._same, self._other = rows.nearest(
            self._distinct, n_same=n_neighbors, n_other=n_neighbors
        )

    def __len__(self) -> int:
        return self.n_triplets

    def portions(self, size: int) -> Iterator[IndexArray]:
        """All triplets in order, ``size`` at a time."""
        anchor_rng, near_rng, far_rng = deepcopy(self._streams)
        for anchors in self._anchors(size, anchor_rng):
            places = np.searchsorted(self._distinct, anchors)
            near = _choose(self._same[places], near_rng)
            far = _choose(self._other[places], far_rng)
            yield np.column_stack([anchors, near, far])

    def _anchors(self, size: int, rng: np.random.Generator) -> Iterator[IndexArray]:
        for first in range(0, self.n_triplets, size):
            count = min(size, self.n_triplets - first)
            if self._among is None:
                yield usable(self._rows, rng.integers(n_usable(self._rows), size=count))
            else:
                yield self._among[rng.integers(len(self._among), size=count)]


class CrossedTriplets:
    """All triplets of one anchor after the other, the same ones each time they are asked for.

    Anchors are the rows whose class has another member, in random order, pass after pass. Each
    of an anchor's ``n_neighbors`` nearest rows of its class makes a triplet with each of its
    ``n_neighbors`` nearest rows of other classes: ``n_neighbors**2`` triplets in a row, near row
    by near row. Where there are fewer such rows, the same ones come again. Anchors may be
    restricted to those ``among`` some row numbers.

    Examples
    --------
    >>> from calipers.triplets import RowsInMemory
    >>> rows = RowsInMemory(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]))
    >>> source = CrossedTriplets(rows, 4, n_neighbors=2, rng=np.random.default_rng(0))
    >>> next(source.portions(4)).tolist()
    [[3, 4, 2], [3, 4, 1], [3, 5, 2], [3, 5, 1]]
    """

    def __init__(
        self,
        rows: Rows,
        n_triplets: int,
        *,
        n_neighbors: int,
        rng: np.random.Generator,
        among: IndexArray | None = None,
    ) -> None:
        self.n_triplets, self._k = n_triplets, n_neighbors
        among = usable(rows, np.arange(n_usable(rows))) if among is None else among
        n_anchors = -(-n_triplets // n_neighbors**2)
        passes = [rng.permutation(among) for _ in range(-(-n_anchors // len(among)))]
        self._anchors = np.concatenate(passes)[:n_anchors]
        self._distinct = np.unique(self._anchors)
        nearest = rows.nearest(self._distinct, n_same=n_neighbors, n_other=n_neighbors)
        self._same, self._other = (_filled(lists) for lists in nearest)

    def __len__(self) -> int:
        return self.n_triplets

    def portions(self, size: int) -> Iterator[IndexArray]:
        """All triplets in order, ``size`` at a time."""
        k = self._k
        for first in range(0, self.n_triplets, size):
            numbers = np.arange(first, min(first + size, self.n_triplets))
            anchors = self._anchors[numbers // k**2]
            places = np.searchsorted(self._distinct, anchors)
            near, far = self._same[places, numbers // k % k], self._other[places, numbers % k]
            yield np.column_stack([anchors, near, far])


def each_far_row_once(triplets: IndexArray, n_neighbors: int) -> IndexArray:
    """Of all triplets of one anchor after the other, one for each far row of an anchor.

    >>> each_far_row_once(np.array([[3, 4, 2], [3, 4, 1], [3, 5, 2], [3, 5, 1]]), 2).tolist()
    [[3, 4, 2], [3, 4, 1]]
    """
    of_anchor = n_neighbors**2
    whole = triplets[: len(triplets) // of_anchor * of_anchor].reshape(-1, of_anchor, 3)
    return whole[:, :n_neighbors].reshape(-1, 3)


def _filled(lists: IndexArray) -> IndexArray:
    """Lists whose ends of -1 are what they have, over again.

    >>> _filled(np.array([[4, 5, 6], [7, 8, -1], [9, -1, -1]])).tolist()
    [[4, 5, 6], [7, 8, 7], [9, 9, 9]]
    """
    n_found = np.count_nonzero(lists >= 0, axis=1)
    places = np.arange(lists.shape[1]) % n_found[:, None]
    return np.take_along_axis(lists, places, axis=1)


def _distinct(portions: Iterator[IndexArray]) -> IndexArray:
    """The numbers met, ascending; little more is held at a time than these and a portion."""
    known, others, n_others = np.empty(0, dtype=np.intp), list[IndexArray](), 0
    for portion in portions:
        others.append(np.unique(portion))
        n_others += len(others[-1])
        if n_others > len(known) + LARGEST_PORTION:
            known, others, n_others = np.unique(np.concatenate([known, *others])), [], 0
    return np.unique(np.concatenate([known, *others]))


def _choose(nearest: IndexArray, rng: np.random.Generator) -> IndexArray:
    """One row number per list, uniform among those found (-1 pads a short list)."""
    if nearest.shape[1] == 1:
        return nearest[:, 0]
    n_found = np.count_nonzero(nearest >= 0, axis=1)
    chosen: IndexArray = nearest[np.arange(len(nearest)), rng.integers(n_found)]
    return chosen
