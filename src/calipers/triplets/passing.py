"""Nearest rows of anchors while blocks of rows pass by, from a file or on a cluster.

The lists are those of :func:`~calipers.triplets.search.nearest_same_and_other`: they are
ordered by (squared distance, row number), and a distance depends on its two rows only. So
they do not depend on the blocks, and lists of some rows can be merged with those of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.threads import single_threaded_blas, spread
from calipers.triplets._product import AnchorBlock, Anchors, Frame, anchor_blocks


class Found(NamedTuple):
    """The nearest rows of every anchor, with their distances: of its class, and of others."""

    same: IndexArray  # (anchors, n_same), -1 where there are no more
    other: IndexArray
    to_same: FloatArray  # squared distances, infinite where there is no row
    to_other: FloatArray


class Passing:
    """Anchors whose nearest rows are searched among all that pass by.

    >>> anchors = Anchors(np.array([[0.0]]), np.array([0]), np.array([0]))
    >>> passing = Passing(anchors, n_same=1, n_other=1)
    >>> passing.offer(np.array([[0.0], [1.0]]), np.array([0, 1]), 0)
    >>> passing.offer(np.array([[3.0], [4.0]]), np.array([0, 1]), 2)
    >>> passing.found().same, passing.found().other
    (array([[2]]), array([[1]]))
    """

    def __init__(self, anchors: Anchors, *, n_same: int, n_other: int) -> None:
        frame = Frame.of(anchors.rows)
        self._blocks = [
            AnchorBlock(Anchors(*(part[block] for part in anchors)), frame, (n_same, n_other))
            for block in anchor_blocks(np.arange(len(anchors.rows)), anchors.rows.shape[1])
            if len(block)
        ]

    def offer(self, X: npt.NDArray[Any], labels: IndexArray, first_number: int) -> None:
        """Let a block of rows pass, numbered from ``first_number``."""
        with single_threaded_blas():
            spread(lambda block: block.pass_by(X, labels, first_number), self._blocks)

    def found(self) -> Found:
        """The lists of all anchors, in their order."""
        lists = [block.lists for block in self._blocks]
        return Found(
            same=np.concatenate([same.numbers for same, _ in lists]),
            other=np.concatenate([other.numbers for _, other in lists]),
            to_same=np.concatenate([same.squared_distances for same, _ in lists]),
            to_other=np.concatenate([other.squared_distances for _, other in lists]),
        )


def merge(several: Sequence[Found]) -> Found:
    """The nearest of what was found among several sets of rows.

    >>> one = Found(np.array([[1]]), np.array([[2]]), np.array([[4.0]]), np.array([[9.0]]))
    >>> two = Found(np.array([[7]]), np.array([[-1]]), np.array([[1.0]]), np.array([[np.inf]]))
    >>> merge([one, two]).same, merge([one, two]).other
    (array([[7]]), array([[2]]))
    """
    same, to_same = _nearest_of([(f.same, f.to_same) for f in several])
    other, to_other = _nearest_of([(f.other, f.to_other) for f in several])
    return Found(same, other, to_same, to_other)


def _nearest_of(several: list[tuple[IndexArray, FloatArray]]) -> tuple[IndexArray, FloatArray]:
    """Row by row the first by (distance, number), as many as a list has."""
    size = several[0][0].shape[1]
    numbers = np.concatenate([numbers for numbers, _ in several], axis=1)
    distances = np.concatenate([distances for _, distances in several], axis=1)
    order = np.lexsort((numbers, distances), axis=1)[:, :size]
    return np.take_along_axis(numbers, order, 1), np.take_along_axis(distances, order, 1)
