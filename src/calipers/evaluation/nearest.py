"""The exact nearest rows, in blocks of bounded memory.

Squared distances of a block come from one matrix product,
``|a - b|^2 = |a|^2 + |b|^2 - 2 a.b``. Where all features are whole numbers this is exact,
so that equal distances tie exactly. Elsewhere the product only proposes candidates, with a
slack that covers its rounding, and ``sum (a - b)^2`` decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.threads import single_threaded_blas, spread

_TEST_BLOCK = 256
_TRAIN_BLOCK = 4096
_GROUP = 64
_DIRECT_NUMBERS = 1 << 20  # coordinates gathered at a time: 8 MB on each side
_LARGEST_WHOLE = 2.0**53  # sums of whole numbers below it are exact


@dataclass(frozen=True)
class _Search:
    """Rows as given (``train``, ``test``) and moved near the origin for the products."""

    train: FloatArray
    test: FloatArray
    near_train: FloatArray
    near_test: FloatArray
    train_norms: FloatArray
    test_norms: FloatArray
    slack: FloatArray
    exact: bool


def nearest_rows(X_train: npt.ArrayLike, X_test: npt.ArrayLike, *, n_neighbors: int) -> IndexArray:
    """Find the rows of X_train nearest to each row of X_test.

    Parameters
    ----------
    X_train : array-like of shape (n_train, d)
        Rows to search.
    X_test : array-like of shape (n_test, d)
        Rows to search for.
    n_neighbors : int
        Number of neighbours, at most n_train.

    Returns
    -------
    ndarray of shape (n_test, n_neighbors)
        Row numbers of X_train, ordered by (Euclidean distance, row number).

    Examples
    --------
    >>> nearest_rows([[0.0], [2.0], [5.0]], [[1.0]], n_neighbors=2)
    array([[0, 1]])
    """
    train, test = _checked(X_train, "X_train"), _checked(X_test, "X_test")
    if train.shape[1] != test.shape[1]:
        raise ValueError(
            f"X_train and X_test must have the same features, "
            f"got {train.shape[1]} and {test.shape[1]} columns."
        )
    if not 1 <= n_neighbors <= len(train):
        raise ValueError(
            f"n_neighbors must be between 1 and the {len(train)} rows of X_train, "
            f"got {n_neighbors}."
        )
    search = _prepared(train, test)
    starts = range(0, len(test), _TEST_BLOCK)
    with single_threaded_blas():
        blocks = spread(lambda start: _nearest_of_block(search, start, n_neighbors), starts)
    return np.concatenate([np.empty((0, n_neighbors), np.intp), *blocks])


def _checked(values: npt.ArrayLike, name: str) -> FloatArray:
    X = np.ascontiguousarray(values, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got {X.ndim}.")
    if not np.isfinite(X).all():
        raise ValueError(f"{name} contains NaN or infinity: clean or fill it first.")
    return X


def _prepared(train: FloatArray, test: FloatArray) -> _Search:
    """Choose how products are made, and what their rounding can amount to."""
    largest = float(max(np.abs(train).max(initial=0), np.abs(test).max(initial=0)))
    if largest and not 1e-100 < largest < 1e100:  # a power of two changes no order
        exponent = -int(np.frexp(largest)[1])
        train, test = np.ldexp(train, exponent), np.ldexp(test, exponent)
    d = train.shape[1]
    whole = all(bool((np.rint(X) == X).all()) for X in (train, test))
    exact = whole and 2 * largest < (_LARGEST_WHOLE / max(d, 1)) ** 0.5
    origin = np.zeros(d) if exact else train.mean(axis=0)
    near_train, near_test = train - origin, test - origin
    train_norms = np.einsum("ij,ij->i", near_train, near_train)
    test_norms = np.einsum("ij,ij->i", near_test, near_test)
    # Product and direct sum each err by less than (d + 8) eps (|a| + |b|)^2, which is at most
    # 2 (d + 8) eps (|a|^2 + |b|^2); two of each stand between a candidate and the limit.
    rounding = 0.0 if exact else 8 * (d + 8) * float(np.finfo(np.float64).eps)
    slack = rounding * (test_norms + train_norms.max())
    return _Search(train, test, near_train, near_test, train_norms, test_norms, slack, exact)


def _nearest_of_block(search: _Search, start: int, k: int) -> IndexArray:
    """Find the neighbours of the test rows from ``start`` on, one training block at a time."""
    rows = slice(start, start + _TEST_BLOCK)
    near, norms, slack = search.near_test[rows], search.test_norms[rows], search.slack[rows]
    distances = np.full((len(near), k), np.inf)
    neighbors = np.full((len(near), k), len(search.train), dtype=np.intp)
    for first in range(0, len(search.train), _TRAIN_BLOCK):
        columns = slice(first, first + _TRAIN_BLOCK)
        squared = near @ search.near_train[columns].T
        squared *= -2
        squared += norms[:, None]
        squared += search.train_norms[columns]
        limit = np.minimum(_bound_on_kth(squared, k), distances[:, -1]) + slack
        row, column = np.divmod(np.flatnonzero(squared <= limit[:, None]), squared.shape[1])
        if search.exact:
            found = squared[row, column]
        else:
            found = _direct(search, start + row, first + column)
        distances, neighbors = _merged(distances, neighbors, (row, found, first + column))
    return neighbors


def _bound_on_kth(squared: FloatArray, k: int) -> FloatArray:
    """Bound the k-th smallest of each row from above.

    The k-th smallest of the minima of groups will do, at a fifteenth of the price of the
    k-th smallest itself: k different numbers of the row are no larger.
    """
    n_groups = squared.shape[1] // _GROUP
    if n_groups > k:
        groups = squared[:, : n_groups * _GROUP].reshape(len(squared), _GROUP, n_groups)
        squared = groups.min(axis=1)
    if squared.shape[1] < k:
        return np.full(len(squared), np.inf)
    kth: FloatArray = np.partition(squared, k - 1, axis=1)[:, k - 1]
    return kth


def _direct(search: _Search, test_rows: IndexArray, train_rows: IndexArray) -> FloatArray:
    """Sum squared differences of the given pairs of rows, a bounded number at a time."""
    step = max(1, _DIRECT_NUMBERS // max(1, search.train.shape[1]))
    squared = np.empty(len(test_rows))
    for start in range(0, len(test_rows), step):
        part = slice(start, start + step)
        difference = search.test[test_rows[part]] - search.train[train_rows[part]]
        squared[part] = np.einsum("ij,ij->i", difference, difference)
    return squared


def _merged(
    distances: FloatArray,
    neighbors: IndexArray,
    found: tuple[IndexArray, FloatArray, IndexArray],
) -> tuple[FloatArray, IndexArray]:
    """Keep the first k by (distance, index) of those kept so far and those found."""
    n, k = distances.shape
    row = np.concatenate([np.repeat(np.arange(n), k), found[0]])
    distance = np.concatenate([distances.ravel(), found[1]])
    neighbor = np.concatenate([neighbors.ravel(), found[2]])
    order = np.lexsort((neighbor, distance, row))
    first_of_row = np.searchsorted(row[order], np.arange(n))
    kept = order[(first_of_row[:, None] + np.arange(k)).ravel()]
    return distance[kept].reshape(n, k), neighbor[kept].reshape(n, k)
