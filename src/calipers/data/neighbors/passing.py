"""Nearest neighbours of anchors among samples that come block by block.

The lists equal those of :func:`~calipers.data.neighbors.search.nearest_same_and_other`. Neighbours
are ordered by (squared distance, index), and a distance depends on its two samples only. The
lists therefore do not depend on the blocks, and the lists of several blocks can be merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors._product import AnchorBlock, Anchors, Frame, anchor_blocks
from calipers.threads import parallel_map, single_threaded_blas


class Found(NamedTuple):
    """Indices of each anchor's nearest neighbours, and the squared distances to them."""

    same: IndexArray  # (anchors, n_same), -1 where there are no more
    other: IndexArray
    to_same: FloatArray  # infinite where there are no more
    to_other: FloatArray


class Passing:
    """Anchors and their nearest neighbours among all blocks offered so far.

    >>> anchors = Anchors(np.array([[0.0]]), np.array([0]), np.array([0]))
    >>> passing = Passing(anchors, n_same=1, n_other=1)
    >>> passing.offer(np.array([[0.0], [1.0]]), np.array([0, 1]), 0)
    >>> passing.offer(np.array([[3.0], [4.0]]), np.array([0, 1]), 2)
    >>> passing.found().same, passing.found().other
    (array([[2]]), array([[1]]))
    """

    def __init__(self, anchors: Anchors, *, n_same: int, n_other: int) -> None:
        frame = Frame.of(anchors.samples)
        self._blocks = [
            AnchorBlock(Anchors(*(part[block] for part in anchors)), frame, (n_same, n_other))
            for block in anchor_blocks(np.arange(len(anchors.samples)), anchors.samples.shape[1])
            if len(block)
        ]

    def offer(self, X: npt.NDArray[Any], labels: IndexArray, first_index: int) -> None:
        """Search a block of samples whose indices begin at ``first_index``."""
        with single_threaded_blas():
            parallel_map(lambda block: block.offer_all(X, labels, first_index), self._blocks)

    def found(self) -> Found:
        """Return the neighbours of all anchors, in the order of the anchors."""
        same = [block.same for block in self._blocks]
        other = [block.other for block in self._blocks]
        return Found(
            same=np.concatenate([lists.indices for lists in same]),
            other=np.concatenate([lists.indices for lists in other]),
            to_same=np.concatenate([lists.squared_distances for lists in same]),
            to_other=np.concatenate([lists.squared_distances for lists in other]),
        )


def merge(several: Sequence[Found]) -> Found:
    """Return the nearest of the neighbours that were found in several blocks.

    >>> one = Found(np.array([[1]]), np.array([[2]]), np.array([[4.0]]), np.array([[9.0]]))
    >>> two = Found(np.array([[7]]), np.array([[-1]]), np.array([[1.0]]), np.array([[np.inf]]))
    >>> merge([one, two]).same, merge([one, two]).other
    (array([[7]]), array([[2]]))
    """
    same, to_same = _nearest_of([(f.same, f.to_same) for f in several])
    other, to_other = _nearest_of([(f.other, f.to_other) for f in several])
    return Found(same, other, to_same, to_other)


def _nearest_of(several: list[tuple[IndexArray, FloatArray]]) -> tuple[IndexArray, FloatArray]:
    """Return the first of each anchor's lists by (distance, index), as many as one list holds."""
    size = several[0][0].shape[1]
    indices = np.concatenate([indices for indices, _ in several], axis=1)
    distances = np.concatenate([distances for _, distances in several], axis=1)
    order = np.lexsort((indices, distances), axis=1)[:, :size]
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)
