"""Nearest rows by matrix products, which rule rows out, and sums, which decide.

For a pair of rows a, b the product form |a|^2 - 2 a'b + |b|^2 of the squared distance is
fast but noisy.  With unit roundoff u and d columns its error is at most
(d + 16) u (|a|^2 + |b|^2), see `error_bound`; a row whose product form, less that error,
lies above the list's last distance cannot enter the list.  All others are summed directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.threads import n_threads, single_threaded_blas, spread

if TYPE_CHECKING:
    from calipers.triplets._select import ProductArray, Tile

_BLOCK_ELEMENTS = 2**20  # of an anchor block or a row tile, 8 MB each in float64
_MAX_ANCHORS = 4096
_MAX_TILE = 2048
_PRODUCT_ANCHORS = 256  # one product then fills 2 MB, which stays in a core's cache
_LARGEST_NORM = 1e37  # squared; products of larger rows may overflow float32 and rule nothing out
_SUMMED_SHARE = 0.02  # of a tile; beyond it the products are too coarse to be of use


class Frame(NamedTuple):
    """Where products are taken: X less its centre, times a power of two.

    Distances do not depend on the origin, but the error of the product form grows with
    the norms: far from the origin it would drown the distances.  The scale keeps squares
    inside the range of float32.
    """

    centre: FloatArray
    scale: float

    @classmethod
    def of(cls, X: npt.NDArray[Any]) -> Frame:
        """Frame from an even sample of rows; any frame is right, a good one is fast."""
        size = max(2, min(len(X), 1024, _BLOCK_ELEMENTS // (4 * max(X.shape[1], 1))))
        sample = X[np.linspace(0, len(X) - 1, size).astype(np.intp)]
        centre = sample.mean(axis=0, dtype=np.float64)
        exponent = np.frexp(np.abs(sample - centre).max(initial=0.0))[1]
        return cls(centre, float(np.ldexp(1.0, -int(np.clip(exponent, -500, 500)))))

    def place(self, rows: FloatArray, dtype: type[np.floating[Any]]) -> ProductArray:
        """Rows in this frame; what overflows float32 becomes infinite and is always summed."""
        placed = rows - self.centre
        placed *= self.scale
        with np.errstate(over="ignore"):
            return placed.astype(dtype, copy=False)


def error_bound(d: int, dtype: type[np.floating[Any]]) -> float:
    """Relative error e such that |product form - squared distance| <= e (|a|^2 + |b|^2).

    A product of d terms errs by at most 1.01 d u |a| |b| in any order of summation (so
    twice it by d u (|a|^2 + |b|^2)) as long as d u < 0.01; placing rows in the frame, the
    norms, and the addition take less than 16 u.

    >>> error_bound(100, np.float32) < 1e-5
    True
    """
    return 1.01 * (d + 16) * float(np.finfo(dtype).eps) / 2


def search_by_products(
    X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, *, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray]:
    """Both lists of every anchor, block by block of anchors over the cores.

    Large blocks pass over X less often; each core should have as many as the others.  The
    lists, being exact, do not depend on where blocks end.
    """
    frame = Frame.of(X)

    def search(block: IndexArray) -> tuple[IndexArray, IndexArray]:
        queries = Anchors(X[block], labels[block], block)
        found = AnchorBlock(queries, frame, (n_same, n_other))
        found.pass_by(X, labels)
        return found.lists[0].numbers, found.lists[1].numbers

    with single_threaded_blas():
        parts = spread(search, anchor_blocks(anchors, X.shape[1]))
    return np.concatenate([same for same, _ in parts]), np.concatenate([far for _, far in parts])


def anchor_blocks(anchors: IndexArray, n_features: int) -> list[IndexArray]:
    """Anchors in blocks, as many for every core."""
    size = max(64, min(_MAX_ANCHORS, _BLOCK_ELEMENTS // max(n_features, 1)))
    rounds = -(-len(anchors) // (size * n_threads()))
    return np.array_split(anchors, max(rounds * n_threads(), 1))


class Anchors(NamedTuple):
    """Rows whose neighbours are searched, their classes, and their numbers in X."""

    rows: npt.NDArray[Any]
    labels: IndexArray
    numbers: IndexArray


class AnchorBlock:
    """A block of anchors and their running lists, by which every tile of X passes.

    Products are taken in float32, at twice the speed of float64, until they leave too many
    rows to sum, as with clusters far tighter than the data are wide; then in float64.
    """

    def __init__(self, anchors: Anchors, frame: Frame, sizes: tuple[int, int]) -> None:
        from calipers.triplets._select import empty_lists

        self.labels, self.numbers, self.frame = anchors.labels, anchors.numbers, frame
        self.rows = np.ascontiguousarray(anchors.rows, dtype=np.float64)
        n, d = self.rows.shape
        self.lists = empty_lists(n, sizes[0]), empty_lists(n, sizes[1])
        self.n_passed = 0
        self.take_products_in(np.float32 if d <= 2**16 else np.float64)

    def take_products_in(self, dtype: type[np.floating[Any]]) -> None:
        """Choose the type of the products and set the limits of the lists accordingly."""
        from calipers.triplets._select import Bound, Queries, limited

        d = self.rows.shape[1]
        error = error_bound(d, dtype)
        self.dtype = dtype
        self.placed = self.frame.place(self.rows, dtype)
        squared_norms = (1.0 - error) * _squared_norms(self.placed)
        squared_norms[~(squared_norms < _LARGEST_NORM)] = np.inf
        self.queries = Queries(self.rows, self.numbers, squared_norms)
        self.placed *= -2
        self.bound = Bound(
            squared_scale=self.frame.scale**2,
            distance_slack=(d + 8) * float(np.finfo(np.float64).eps),
            rounding=float(np.finfo(dtype).eps),
            underflow=8 * (d + 1) * float(np.finfo(dtype).tiny),
        )
        same, other = self.lists
        self.lists = (
            limited(same, np.empty(len(same.limits), dtype), squared_norms, self.bound),
            limited(other, np.empty(len(other.limits), dtype), squared_norms, self.bound),
        )

    def pass_by(self, X: npt.NDArray[Any], labels: IndexArray, first_number: int = 0) -> None:
        """Let all tiles of X pass, whose rows are numbered from ``first_number``."""
        n, d = X.shape
        tile_size = max(64, min(_MAX_TILE, _BLOCK_ELEMENTS // max(d, 1)))
        n_kept = sum(nearest.numbers.shape[1] for nearest in self.lists)
        for start in range(0, n, tile_size):
            part = slice(start, min(start + tile_size, n))
            summed = self.offer(X[part], labels[part], first_number + start)
            # rows that enter the lists in any order of rows are no sign of coarse products
            share = _SUMMED_SHARE + 4 * n_kept / max(self.n_passed, 1)
            size = part.stop - part.start
            if self.dtype is np.float32 and summed > share * len(self.rows) * size:
                self.take_products_in(np.float64)
            self.n_passed += size

    def offer(self, X: npt.NDArray[Any], labels: IndexArray, first_number: int) -> int:
        """Offer the rows of a tile to all lists; return how many pairs were summed."""
        from calipers.triplets._select import offer_tile

        tile, placed, tile_labels = self.tile(X, labels, first_number)
        same_columns = (
            np.searchsorted(tile_labels, self.labels, side="left"),
            np.searchsorted(tile_labels, self.labels, side="right"),
        )
        products = np.empty((_PRODUCT_ANCHORS, len(placed)), self.dtype)
        summed = 0
        for first in range(0, len(self.rows), _PRODUCT_ANCHORS):
            some = self.placed[first : first + _PRODUCT_ANCHORS]
            part = products[: len(some)]
            with np.errstate(invalid="ignore", over="ignore"):
                np.matmul(some, placed.T, out=part)
            lists = (*self.lists, self.bound)
            summed += offer_tile(part, first, tile, same_columns, self.queries, lists)
        return summed

    def tile(
        self, X: npt.NDArray[Any], labels: IndexArray, first_number: int
    ) -> tuple[Tile, ProductArray, IndexArray]:
        """Rows in class order, the same in the frame, and their labels."""
        from calipers.triplets._select import Tile

        order = np.argsort(labels, kind="stable")
        rows = X[order].astype(np.float64, copy=False)
        placed = self.frame.place(rows, self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = (1.0 - error_bound(rows.shape[1], self.dtype)) * _squared_norms(placed)
            norms = norms.astype(self.dtype)
        norms[~(norms < _LARGEST_NORM)] = -np.inf
        tile = Tile(rows, first_number + order, norms)
        return tile, placed, labels[order]


def _squared_norms(placed: ProductArray) -> FloatArray:
    """Squared norms of the rows, summed in float64."""
    squared_norms: FloatArray = np.einsum("ij,ij->i", placed, placed, dtype=np.float64)
    return squared_norms
