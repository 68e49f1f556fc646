"""Nearest neighbours by matrix products, which rule candidates out, and sums, which decide.

For samples a, b the product form |a|^2 - 2 a'b + |b|^2 of the squared distance is fast but
noisy. With unit roundoff u and d features its error is at most (d + 16) u (|a|^2 + |b|^2), see
`error_bound`. A candidate whose product form, less that error, exceeds the last distance of the
list cannot enter the list. The distances of all other candidates are summed directly.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers._core.compiled import Lists, offer_tile, set_limits
from calipers.arrays import FloatArray, IndexArray
from calipers.threads import n_threads, parallel_map, single_threaded_blas

ProductArray: TypeAlias = npt.NDArray[np.floating[Any]]

_TILE_ELEMENTS = 2**20  # of a block of anchors or a tile of samples, 8 MB each in float64
_MAX_ANCHORS = 8192
_MAX_TILE = 1024
_PRODUCT_ANCHORS = 512  # one product then fills 2 MB, which stays in a core's cache
_LARGEST_NORM = 1e37  # squared; products of longer samples may overflow float32
_SUMMED_SHARE = 0.02  # of a tile; if more candidates are summed, the products are too coarse


class Frame(NamedTuple):
    """The coordinates in which products are taken: (X - centre) times a power of two.

    Distances do not depend on the origin, but the error of the product form grows with the
    norms: far from the origin it would exceed the distances. The scale keeps squares inside
    the range of float32.
    """

    centre: FloatArray
    scale: float

    @classmethod
    def of(cls, X: npt.NDArray[Any]) -> Frame:
        """Return a frame from evenly spaced samples; every frame is correct, a good one is fast."""
        size = max(2, min(len(X), 1024, _TILE_ELEMENTS // (4 * max(X.shape[1], 1))))
        some = X[np.linspace(0, len(X) - 1, size).astype(np.intp)]
        centre = some.mean(axis=0, dtype=np.float64)
        exponent = np.frexp(np.abs(some - centre).max(initial=0.0))[1]
        return cls(centre, float(np.ldexp(1.0, -int(np.clip(exponent, -500, 500)))))

    def place(self, samples: FloatArray, dtype: type[np.floating[Any]]) -> ProductArray:
        """Map samples into this frame; what overflows float32 is infinite and always summed."""
        placed = samples - self.centre
        placed *= self.scale
        with np.errstate(over="ignore"):
            return placed.astype(dtype, copy=False)


def error_bound(d: int, dtype: type[np.floating[Any]]) -> float:
    """Return e such that |product form - squared distance| <= e (|a|^2 + |b|^2).

    A product of d terms errs by at most 1.01 d u |a| |b| in any order of summation (so
    twice it by d u (|a|^2 + |b|^2)) as long as d u < 0.01. Mapping samples into the frame,
    the norms and the addition add less than 16 u.

    >>> error_bound(100, np.float32) < 1e-5
    True
    """
    return 1.01 * (d + 16) * float(np.finfo(dtype).eps) / 2


def search_by_products(
    X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, *, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray]:
    """Return both lists of every anchor; blocks of anchors are searched in parallel.

    Every block reads all of X, so blocks are large, and as many for each thread. The lists are
    exact and do not depend on the limits of the blocks.
    """
    frame = Frame.of(X)

    def search(block: IndexArray) -> tuple[IndexArray, IndexArray]:
        queries = Anchors(X[block], labels[block], block)
        found = AnchorBlock(queries, frame, (n_same, n_other))
        found.offer_all(X, labels)
        return found.same.indices, found.other.indices

    with single_threaded_blas():
        parts = parallel_map(search, anchor_blocks(anchors, X.shape[1]))
    same, other = zip(*parts, strict=True)
    return np.concatenate(same), np.concatenate(other)


def anchor_blocks(anchors: IndexArray, n_features: int) -> list[IndexArray]:
    """Split the anchors into blocks, as many for every thread."""
    size = max(64, min(_MAX_ANCHORS, _TILE_ELEMENTS // max(n_features, 1)))
    rounds = -(-len(anchors) // (size * n_threads()))
    return np.array_split(anchors, max(rounds * n_threads(), 1))


class Anchors(NamedTuple):
    """Samples whose neighbours are searched, their class codes, and their indices in X."""

    samples: npt.NDArray[Any]
    labels: IndexArray
    indices: IndexArray


class AnchorBlock:
    """A block of anchors and the lists of their nearest neighbours so far.

    Products are taken in float32, at twice the speed of float64, until they leave too many
    candidates to sum, as for clusters that are far apart and very tight; then in float64.
    """

    def __init__(self, anchors: Anchors, frame: Frame, sizes: tuple[int, int]) -> None:
        self.labels, self.indices, self.frame = anchors.labels, anchors.indices, frame
        self.samples = np.ascontiguousarray(anchors.samples, dtype=np.float64)
        n, d = self.samples.shape
        self.same, self.other = Lists(n, sizes[0]), Lists(n, sizes[1])
        self.n_offered = 0
        self.take_products_in(np.float32 if d <= 2**16 else np.float64)

    def take_products_in(self, dtype: type[np.floating[Any]]) -> None:
        """Choose the type of the products and set the limits of the lists accordingly."""
        d = self.samples.shape[1]
        error = error_bound(d, dtype)
        self.dtype = dtype
        self.placed = self.frame.place(self.samples, dtype)
        self.squared_norms = (1.0 - error) * _squared_norms(self.placed)
        self.squared_norms[~(self.squared_norms < _LARGEST_NORM)] = np.inf
        self.placed *= -2
        self.bound = {
            "squared_scale": self.frame.scale**2,
            "distance_slack": (d + 8) * float(np.finfo(np.float64).eps),
            "rounding": float(np.finfo(dtype).eps),
            "underflow": 8 * (d + 1) * float(np.finfo(dtype).tiny),
        }
        for lists in (self.same, self.other):
            set_limits(lists, self.squared_norms, self.bound)

    def offer_all(self, X: npt.NDArray[Any], labels: IndexArray, first_index: int = 0) -> None:
        """Offer all tiles of X, whose indices begin at ``first_index``."""
        n, d = X.shape
        tile_size = max(64, min(_MAX_TILE, _TILE_ELEMENTS // max(d, 1)))
        n_kept = sum(lists.indices.shape[1] for lists in (self.same, self.other))
        for start in range(0, n, tile_size):
            part = slice(start, min(start + tile_size, n))
            summed = self.offer(X[part], labels[part], first_index + start)
            # samples that enter the lists whatever the order of X are no sign of coarse products
            share = _SUMMED_SHARE + 4 * n_kept / max(self.n_offered, 1)
            size = part.stop - part.start
            if self.dtype is np.float32 and summed > share * len(self.samples) * size:
                self.take_products_in(np.float64)
            self.n_offered += size

    def offer(self, X: npt.NDArray[Any], labels: IndexArray, first_index: int) -> int:
        """Offer the samples of a tile to all lists; return the number of distances summed."""
        tile, placed, tile_labels = self.tile(X, labels, first_index)
        begins = np.searchsorted(tile_labels, self.labels, side="left")
        ends = np.searchsorted(tile_labels, self.labels, side="right")
        anchors = self.samples, self.indices, self.squared_norms, begins, ends
        products = np.empty((_PRODUCT_ANCHORS, len(placed)), self.dtype)
        summed = 0
        for first in range(0, len(self.samples), _PRODUCT_ANCHORS):
            some = self.placed[first : first + _PRODUCT_ANCHORS]
            part = products[: len(some)]
            with np.errstate(invalid="ignore", over="ignore"):
                np.matmul(some, placed.T, out=part)
            summed += offer_tile(part, first, anchors, tile, self.same, self.other, self.bound)
        return summed

    def tile(
        self, X: npt.NDArray[Any], labels: IndexArray, first_index: int
    ) -> tuple[tuple[FloatArray, IndexArray, ProductArray], ProductArray, IndexArray]:
        """Return samples in class order (with indices and norms), their images, their labels."""
        order = np.argsort(labels, kind="stable")
        samples = X[order].astype(np.float64, copy=False)
        placed = self.frame.place(samples, self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = (1.0 - error_bound(samples.shape[1], self.dtype)) * _squared_norms(placed)
            norms = norms.astype(self.dtype)
        norms[~(norms < _LARGEST_NORM)] = -np.inf
        tile = np.ascontiguousarray(samples), first_index + order, norms
        return tile, placed, labels[order]


def _squared_norms(placed: ProductArray) -> FloatArray:
    """Return the squared norm of each sample, summed in float64."""
    squared_norms: FloatArray = np.einsum("ij,ij->i", placed, placed, dtype=np.float64)
    return squared_norms
