"""Coordinates to learn in: as they are given, by feature, or by the spread within classes.

A walk starts at the identity, so that the coordinates are its first guess of the metric, and
triplets are made of neighbours in them. Of features in millions and in thousandths only the
first would be seen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.covariance import OAS

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.defaults import CHEAP
from calipers.threads import single_threaded_blas, spread
from calipers.triplets import Rows, n_usable, usable
from calipers.votes import winners

KINDS = ("identity", "features", "classes")
MOST_ROWS = 20_000  # from which spreads are estimated
ROWS_A_FEATURE = 5  # for which the spread within classes is tried without being asked
MOST_ANCHORS, MOST_ANCHORS_WIDE = 4000, 2000  # rows (beyond CHEAP features) to compare them by
VOTES = 3  # of nearest neighbours
SURE = 1.5  # standard errors by which others must be better than the rows as they are
FEW_ROWS = 5_000  # up to which that is; more rows are enough to learn it, if it is of use
N_FOLDS = 3  # for which the rows are dealt, so that it is judged by rows it has not seen
FLAT = 1e-6  # share of the largest spread below which there is none
_TILE = 256  # rows of a product
_COLUMNS = 16  # its columns are a multiple of


class Coordinates(NamedTuple):
    """A linear map of rows: none, a factor for each feature, or a matrix."""

    kind: str
    factors: FloatArray | None = None  # (d,) or (k, d)
    rest: FloatArray | None = None  # (d, d), the metric of all that a (k, d) map does not see

    def of(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The rows of X in these coordinates, in X's precision."""
        if self.factors is None:
            return X
        if self.factors.ndim == 1:
            return np.ascontiguousarray(X * self.factors.astype(X.dtype))
        return images(X, self.factors)

    def then(self, L: FloatArray, unit: float = 1.0) -> Coordinates:
        """These, and a matrix after them, which is the root of a unit where they see nothing."""
        if self.factors is None:
            return Coordinates(self.kind, L)
        if self.factors.ndim == 1:
            return Coordinates(self.kind, L * self.factors)
        rest = None if self.rest is None else unit * self.rest
        return Coordinates(self.kind, L @ self.factors, rest)

    def pull_back(self, M: FloatArray, unit: float = 1.0) -> FloatArray:
        """The metric of X that is M in these coordinates, and a unit where they see nothing."""
        if self.factors is None:
            return M
        if self.factors.ndim == 1:
            return np.asarray(self.factors[:, None] * M * self.factors)
        pulled = np.asarray(self.factors.T @ M @ self.factors)
        return pulled if self.rest is None else pulled + unit * self.rest

    def within(self, basis: FloatArray) -> Coordinates:
        """Of rows in these coordinates those in a basis, whose columns are orthonormal."""
        seen = self.then(basis.T)
        assert seen.factors is not None
        whole = self.pull_back(np.eye(len(basis)))
        return seen._replace(rest=whole - seen.factors.T @ seen.factors)


@single_threaded_blas()
def basis_of(X: FloatArray) -> FloatArray:
    """Orthonormal columns, as many as rows, that span the differences of the rows.

    >>> np.abs(basis_of(np.array([[1.0, 0.0, 5.0], [1.0, 2.0, 5.0]]))[:, 0])
    array([0., 1., 0.])
    """
    centred = X - X.mean(axis=0)
    largest = np.abs(centred).max()
    return np.asarray(np.linalg.qr((centred / largest if largest > 0.0 else centred).T)[0])


def images(X: npt.NDArray[Any], L: FloatArray) -> npt.NDArray[Any]:
    """``X @ L.T`` in X's precision, each row's image the same whatever rows are beside it.

    A product of another shape may be summed in another order. So all products here are
    of one shape, filled up with zeros, and in float64: where a row stands among the
    others then makes no difference.
    """
    n, d = X.shape
    k = len(L)
    filled = np.zeros((-(-d // _COLUMNS) * _COLUMNS, -(-k // _COLUMNS) * _COLUMNS))
    filled[:d, :k] = L.T
    mapped = np.empty((n, k), dtype=X.dtype)

    def fill(first: int) -> None:
        rows = np.zeros((_TILE, len(filled)))
        some = X[first : first + _TILE]
        rows[: len(some), :d] = some
        mapped[first : first + _TILE] = (rows @ filled)[: len(some), :k]

    with single_threaded_blas():
        spread(fill, range(0, n, _TILE))
    return mapped


@single_threaded_blas()
def coordinates(kind: str, rows: Rows, *, unseen: int | None = None) -> Coordinates:
    """Make coordinates of one kind; only "classes" needs labels.

    A fold whose rows are not to be looked at is given by the number of its first row.
    """
    if kind == "identity":
        return Coordinates(kind)
    n, d = rows.shape
    some = np.arange(0, n, -(-n // MOST_ROWS))
    if unseen is not None:
        some = some[some % N_FOLDS != unseen]
    sample = rows.take(some).astype(np.float64)
    deviations = np.where(sample.min(axis=0) < sample.max(axis=0), sample.std(axis=0), 0.0)
    factors = 1.0 / np.where(deviations > 0.0, deviations, 1.0)
    if kind == "features":
        return Coordinates(kind, factors)
    within = sample * factors
    codes = rows.labels_of(some)
    sums = np.zeros((len(rows.class_sizes), d))
    np.add.at(sums, codes, within)
    within -= (sums / np.maximum(np.bincount(codes, minlength=len(sums)), 1)[:, None])[codes]
    shrunk = OAS(store_precision=False, assume_centered=True).fit(within)
    values, vectors = np.linalg.eigh(shrunk.covariance_)
    if not values[-1] > 0.0:  # the rows of every class are one and the same
        return Coordinates(kind, np.diag(factors))
    whitening = (vectors / np.sqrt(np.maximum(values, FLAT * values[-1]))) @ vectors.T
    return Coordinates(kind, whitening * factors)


def best_coordinates(rows: Rows) -> tuple[Coordinates, float]:
    """Those in which the fewest anchors are taken for another class, and their share.

    The rows stay as they are unless others are better by more than chance: by `SURE` standard
    errors of the difference, over the same anchors.
    """
    n, d = rows.shape
    anchors = some_anchors(rows)
    best, most = coordinates("identity", rows), 0.0
    wrong = mistaken(rows, anchors)
    is_worth_it = ROWS_A_FEATURE * d <= n <= FEW_ROWS
    for kind in ("features", "classes") if is_worth_it else ("features",):
        mended = wrong.astype(np.float64) - _mistaken_in(kind, rows, anchors)
        if mended.sum() > max(most, SURE * np.sqrt(np.sum(mended**2))):
            best, most = coordinates(kind, rows), mended.sum()
    return best, float((wrong.sum() - most) / len(anchors))


def some_anchors(rows: Rows) -> IndexArray:
    """Not more than are needed, evenly over all: they may be in order of class."""
    n_anchors = n_usable(rows)
    n_some = min(n_anchors, MOST_ANCHORS if rows.shape[1] <= CHEAP else MOST_ANCHORS_WIDE)
    return usable(rows, np.linspace(0, n_anchors - 1, n_some).astype(np.intp))


def _mistaken_in(kind: str, rows: Rows, anchors: IndexArray) -> npt.NDArray[np.bool_]:
    """What :func:`mistaken` says in coordinates that were made without the anchors."""
    if kind != "classes" or rows.shape[0] < 2 * N_FOLDS:
        return mistaken(rows.mapped(coordinates(kind, rows).of), anchors)
    wrong = np.zeros(len(anchors), dtype=np.bool_)
    for fold in range(N_FOLDS):
        theirs = anchors % N_FOLDS == fold
        if theirs.any():
            others = coordinates(kind, rows, unseen=fold)
            wrong[theirs] = mistaken(rows.mapped(others.of), anchors[theirs])
    return wrong


def mistaken(rows: Rows, anchors: IndexArray) -> npt.NDArray[np.bool_]:
    """Whether an anchor's `VOTES` nearest rows take it for one of another class.

    >>> from calipers.triplets import RowsInMemory
    >>> rows = RowsInMemory(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 1]))
    >>> mistaken(rows, np.array([0, 2]))
    array([ True, False])
    """
    same, other = rows.nearest(anchors, n_same=VOTES, n_other=VOTES)
    given = rows.take(anchors).astype(np.float64)
    numbers = np.concatenate([same, other], axis=1)
    squared = np.full(numbers.shape, np.inf)
    for distances, near in zip(squared.T, numbers.T, strict=True):
        is_row = near >= 0
        distances[is_row] = np.sum((given[is_row] - rows.take(near[is_row])) ** 2, axis=1)
    order = np.lexsort((numbers, squared), axis=1)[:, : min(VOTES, rows.shape[0] - 1)]
    nearest = np.take_along_axis(numbers, order, axis=1)
    classes = rows.labels_of(nearest.ravel()).reshape(nearest.shape)
    return np.asarray(winners(classes) != rows.labels_of(anchors))
