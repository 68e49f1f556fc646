"""Exact nearest neighbours of an anchor, in its own class and in the other classes.

For samples a, b the product form |a|^2 - 2 a'b + |b|^2 of the squared distance is fast but
noisy. With unit roundoff u and d features its error is at most (d + 16) u (|a|^2 + |b|^2), see
`error_bound`. A candidate whose product form, less that error, exceeds the last distance of the
list cannot enter the list. The distances of all other candidates are summed directly.

Neighbours are ordered by (sum_f (x_af - x_bf)^2, index), where the sum is taken in float64 from
the first feature to the last. The lists therefore depend neither on blocks nor on threads, and
the lists of several blocks of samples can be merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers._core.compiled import Lists, offer_tile
from calipers.arrays import FloatArray, IndexArray
from calipers.threads import n_threads, parallel_map, single_threaded_blas

_TILE_ELEMENTS = 2**20  # of a block of anchors or a tile of samples, 8 MB each in float64
_MAX_ANCHORS = 8192
_MAX_TILE = 1024
_PRODUCT_ANCHORS = 512  # one product then fills 2 MB, which stays in a core's cache
_SUMMED_SHARE = 0.02  # of a tile; if more candidates are summed, the products are too coarse


class Anchors(NamedTuple):
    """Samples whose neighbours are searched, their class codes, and their indices in X."""

    samples: npt.NDArray[Any]
    labels: IndexArray
    indices: IndexArray


class Found(NamedTuple):
    """Indices of each anchor's nearest neighbours, and the squared distances to them."""

    same: IndexArray  # (anchors, n_same), -1 where there are no more
    other: IndexArray
    to_same: FloatArray  # infinite where there are no more
    to_other: FloatArray


def nearest_same_and_other(
    X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, *, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray]:
    """Find each anchor's nearest neighbours in its own class and in the other classes.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite float64 or float32 samples; may be read-only or memory-mapped.
    labels : array of shape (n,)
        Class codes 0 .. C-1.
    anchors : array of shape (m,)
        Indices of samples.
    n_same, n_other : int
        The number of neighbours in the anchor's class (itself excluded) and in the others.

    Returns
    -------
    same : array of shape (m, n_same)
        Indices, nearest first, the lowest first among ties; -1 where the class has no more.
    other : array of shape (m, n_other)
        Likewise for the other classes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0], [9.0]])
    >>> labels = np.array([0, 0, 1, 0, 1])
    >>> same, other = nearest_same_and_other(X, labels, np.array([0, 2]), n_same=2, n_other=1)
    >>> same
    array([[ 1,  3],
           [ 4, -1]])
    >>> other
    array([[2],
           [3]])
    """

    def search(block: IndexArray) -> Found:
        found = _Block(Anchors(X[block], labels[block], block), n_same, n_other)
        found.offer(X, labels, 0)
        return found.lists()

    with single_threaded_blas():
        found = _joined(parallel_map(search, _blocks(np.asarray(anchors, np.intp), X.shape[1])), 0)
    return found.same, found.other


class Passing:
    """Anchors and their nearest neighbours among all blocks of samples offered so far.

    >>> anchors = Anchors(np.array([[0.0]]), np.array([0]), np.array([0]))
    >>> passing = Passing(anchors, n_same=1, n_other=1)
    >>> passing.offer(np.array([[0.0], [1.0]]), np.array([0, 1]), 0)
    >>> passing.offer(np.array([[3.0], [4.0]]), np.array([0, 1]), 2)
    >>> passing.found().same, passing.found().other
    (array([[2]]), array([[1]]))
    """

    def __init__(self, anchors: Anchors, *, n_same: int, n_other: int) -> None:
        self._searches = [
            _Block(Anchors(*(part[block] for part in anchors)), n_same, n_other)
            for block in _blocks(np.arange(len(anchors.samples)), anchors.samples.shape[1])
        ]

    def offer(self, X: npt.NDArray[Any], labels: IndexArray, first_index: int) -> None:
        """Search a block of samples whose indices begin at ``first_index``."""
        with single_threaded_blas():
            parallel_map(lambda search: search.offer(X, labels, first_index), self._searches)

    def found(self) -> Found:
        """Return the neighbours of all anchors, in the order of the anchors."""
        return _joined([search.lists() for search in self._searches], 0)


def merge(several: Sequence[Found]) -> Found:
    """Return the nearest of the neighbours that were found in several blocks of samples.

    >>> one = Found(np.array([[1]]), np.array([[2]]), np.array([[4.0]]), np.array([[9.0]]))
    >>> two = Found(np.array([[7]]), np.array([[-1]]), np.array([[1.0]]), np.array([[np.inf]]))
    >>> merge([one, two]).same, merge([one, two]).other
    (array([[7]]), array([[2]]))
    """
    same, other, to_same, to_other = _joined(several, 1)
    first = np.lexsort((same, to_same), axis=1)[:, : several[0].same.shape[1]]
    second = np.lexsort((other, to_other), axis=1)[:, : several[0].other.shape[1]]
    return Found(
        np.take_along_axis(same, first, 1),
        np.take_along_axis(other, second, 1),
        np.take_along_axis(to_same, first, 1),
        np.take_along_axis(to_other, second, 1),
    )


def vote(labels: IndexArray) -> IndexArray:
    """Return the majority class of each sample's neighbours; the nearest neighbour breaks ties.

    Parameters
    ----------
    labels : array of shape (n, k)
        Class codes of the k nearest neighbours of n samples, nearest first.

    Examples
    --------
    >>> vote(np.array([[0, 1, 1], [2, 0, 1]]))
    array([1, 2])
    """
    votes = np.zeros(labels.shape, dtype=np.intp)
    for neighbor in range(labels.shape[1]):
        votes += labels == labels[:, neighbor, None]
    # argmax takes the first, hence nearest, neighbour among those with most votes
    winner: IndexArray = labels[np.arange(len(labels)), votes.argmax(axis=1)]
    return winner


def error_bound(d: int, dtype: type[np.floating[Any]]) -> float:
    """Return e such that |product form - squared distance| <= e (|a|^2 + |b|^2).

    A product of d terms errs by at most 1.01 d u |a| |b| in any order of summation (so
    twice it by d u (|a|^2 + |b|^2)) as long as d u < 0.01. Subtracting the centre, the norms
    and the addition add less than 16 u.

    >>> error_bound(100, np.float32) < 1e-5
    True
    """
    return 1.01 * (d + 16) * float(np.finfo(dtype).eps) / 2


class _Block:
    """A block of anchors and the lists of their nearest neighbours so far.

    Products are taken in float32, at twice the speed of float64, until they leave too many
    candidates to sum, as for clusters that are far apart and very tight; then in float64.
    Distances do not depend on the origin, but the errors of products do, so that they are taken
    of differences from the anchors' mean.
    """

    def __init__(self, anchors: Anchors, n_same: int, n_other: int) -> None:
        self.samples = np.ascontiguousarray(anchors.samples, dtype=np.float64)
        self.labels, self.indices = anchors.labels, anchors.indices
        n, d = self.samples.shape
        self.centre = self.samples.sum(axis=0) / max(n, 1)
        self.same, self.other = Lists(n, n_same), Lists(n, n_other)
        self.n_offered = 0
        self.take_products_in(np.float32 if d <= 2**16 else np.float64)

    def take_products_in(self, dtype: type[np.floating[Any]]) -> None:
        """Choose the type of the products and set the limits of the lists accordingly."""
        self.dtype = dtype
        self.placed, norms = self.place(self.samples)
        self.placed *= -2
        underflow = 8 * (len(self.centre) + 1) * float(np.finfo(dtype).tiny)
        for lists in (self.same, self.other):
            lists.set_limits(norms, float(np.finfo(dtype).eps), underflow, len(self.centre))

    def place(self, samples: FloatArray) -> tuple[npt.NDArray[Any], FloatArray]:
        """Differences from the centre, and their squared norms less the error of products.

        A norm is -inf, so that the sample is always summed, where products may overflow.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            placed = (samples - self.centre).astype(self.dtype, copy=False)
            norms: FloatArray = np.einsum("ij,ij->i", placed, placed, dtype=np.float64)
        norms *= 1.0 - error_bound(len(self.centre), self.dtype)
        norms[~(norms < 0.03 * float(np.finfo(self.dtype).max))] = -np.inf
        return placed, norms

    def offer(self, X: npt.NDArray[Any], labels: IndexArray, first_index: int) -> None:
        """Offer all tiles of X, whose indices begin at ``first_index``."""
        size = max(64, min(_MAX_TILE, _TILE_ELEMENTS // max(X.shape[1], 1)))
        n_kept = self.same.indices.shape[1] + self.other.indices.shape[1]
        for start in range(0, len(X), size):
            part = X[start : start + size]
            summed = self.offer_tile(part, labels[start : start + size], first_index + start)
            # samples that enter the lists whatever the order of X are no sign of coarse products
            share = _SUMMED_SHARE + 4 * n_kept / max(self.n_offered, 1)
            if self.dtype is np.float32 and summed > share * len(self.samples) * len(part):
                self.take_products_in(np.float64)
            self.n_offered += len(part)

    def offer_tile(self, X: npt.NDArray[Any], labels: IndexArray, first_index: int) -> int:
        """Offer a tile, in the order of its classes; return the number of distances summed."""
        order = np.argsort(labels, kind="stable")
        samples, labels = X[order].astype(np.float64, order="C", copy=False), labels[order]
        placed, norms = self.place(samples)
        tile = samples, first_index + order, norms.astype(self.dtype)
        begins = np.searchsorted(labels, self.labels, side="left")
        ends = np.searchsorted(labels, self.labels, side="right")
        anchors = self.samples, self.indices, begins, ends
        products = np.empty((_PRODUCT_ANCHORS, len(placed)), self.dtype)
        summed = 0
        for first in range(0, len(self.samples), _PRODUCT_ANCHORS):
            some = self.placed[first : first + _PRODUCT_ANCHORS]
            with np.errstate(invalid="ignore", over="ignore"):
                part = np.matmul(some, placed.T, out=products[: len(some)])
            summed += offer_tile(part, first, anchors, tile, self.same, self.other)
        return summed

    def lists(self) -> Found:
        """The neighbours of all anchors."""
        to_same, to_other = self.same.squared_distances, self.other.squared_distances
        return Found(self.same.indices, self.other.indices, to_same, to_other)


def _blocks(anchors: IndexArray, n_features: int) -> list[IndexArray]:
    """Split anchors into blocks, as many for every thread; each of them reads all samples."""
    size = max(64, min(_MAX_ANCHORS, _TILE_ELEMENTS // max(n_features, 1)))
    rounds = -(-len(anchors) // (size * n_threads()))
    blocks = np.array_split(anchors, max(rounds * n_threads(), 1))
    return [block for block in blocks if len(block)] or [anchors]


def _joined(several: Sequence[Found], axis: int) -> Found:
    return Found(*(np.concatenate(parts, axis=axis) for parts in zip(*several, strict=True)))
